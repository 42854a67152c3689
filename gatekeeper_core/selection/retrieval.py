"""Sparse retrieval: how well each earlier turn answers the query, by the terms that they share.

::

    score(turn, query) = 1.5 * lex(user text) + 0.7 * lex(assistant text) + 1.0 * exact_match + 0.2 * recency

``lex`` is BM25 on its raw scale, ``exact_match`` the idf of what the turn holds word for word, ``recency`` runs from 0
to 1 and only breaks ties. A conversation goes on from turn to turn, so a turn that shares something also gets a small
part (0.15) of the lexical evidence of the turns right before and after it. All turns that share a term are scored by
the two ``lex`` parts; the best of them are scored in full. A turn that shares nothing has no score at all, however new.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.errors import check_range
from gatekeeper_core.selection.anchors import MAX_SCANNED_CHARACTERS, Anchor, extract_anchors, has_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["Query", "RetrievalConfig", "Score", "lex", "read_query", "recency", "score_turns"]

SCORED_IN_FULL = 60
"""How many turns are at least scored in full. Source: ours, three times the candidates that the specification takes."""

_EXACT_KINDS = frozenset({"word", "number", "identifier", "version", "quote", "code"})
_INDEXED_KINDS = frozenset({"word", "number", "identifier", "version", "pair", "character"})
_TRIPLE_SHARE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalConfig:
    """The weights of the score and the number of candidates.

    Attributes:
        user_weight: weight of ``lex`` on the user's text, >= 0. Source: specification 3.3.
        assistant_weight: weight of ``lex`` on the assistant's text, >= 0. Source: specification 3.3.
        exact_weight: weight of whole hits, >= 0. Source: specification 3.3.
        recency_weight: weight of recency, >= 0; on the raw BM25 scale 0.2 only breaks ties. Source: specification 3.3.
        candidates: turns that selection chooses from in ``minimal`` mode, >= 1. Source: specification 3.3 (top 20).
        neighbour_weight: share of the weighted ``lex`` of the turns before and after that a turn gets, 0..0.5. Source:
            ours; recall at 250 to 4,000 tokens rises by 1 to 5 points on LoCoMo (``benchmarks.selection``).
        k1: how fast repeated terms stop to count, >= 0. Source: Lucene's default.
        b: how much long texts are damped, 0..1. Source: Lucene's default.
    """

    user_weight: float = 1.5
    assistant_weight: float = 0.7
    exact_weight: float = 1.0
    recency_weight: float = 0.2
    neighbour_weight: float = 0.15
    candidates: int = 20
    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        check_range(self, "user_weight", "assistant_weight", "exact_weight", "recency_weight", "k1", low=0)
        check_range(self, "neighbour_weight", low=0, high=0.5)
        check_range(self, "b", low=0, high=1)
        check_range(self, "candidates", low=1, whole=True)


class Query(NamedTuple):
    """A query as the stages read it.

    Attributes:
        text: what was asked.
        anchors: all its anchors, in the order in which they stand.
        idf: by term of an indexed anchor, its idf in this conversation times its weight.
        mass: sum of ``idf`` over the terms.
    """

    text: str
    anchors: tuple[Anchor, ...]
    idf: dict[str, float]
    mass: float


class Score(NamedTuple):
    """How well one turn answers a query; ``total`` is what turns are ranked by.

    Attributes:
        turn_id: 0-based position of the turn.
        lex_user: BM25 of the user's text, unweighted.
        lex_assistant: BM25 of the assistant's text, unweighted.
        exact: idf of the whole hits, unweighted.
        recency: 0.0 (first turn) to 1.0 (last).
        neighbour: what the turn gets of the evidence of the turns before and after it, weighted.
        total: the weighted sum, rounded to six digits.
        share: which part of the query's idf the turn holds, 0..1.
        matched: terms of the query that the turn holds.
        whole: the identifiers, versions, quoted phrases, code and numbers of the query that the turn holds word for
            word, identifiers and numbers of one or two characters left out.
    """

    turn_id: int
    lex_user: float
    lex_assistant: float
    exact: float
    recency: float
    neighbour: float
    total: float
    share: float
    matched: frozenset[str]
    whole: frozenset[str]


def read_query(text: str, index: TurnIndex, *, about: str | None = None) -> Query:
    """Return a query with its anchors and what each of them weighs in this conversation.

    Args:
        text: what was asked.
        index: the conversation.
        about: the part of the text that anchors are taken from; None takes all of it.
    """
    anchors = extract_anchors(text if about is None else about)
    idf = {a.term: round(a.weight * index.idf(a.term), 6) for a in anchors if a.kind in _INDEXED_KINDS}
    return Query(text=text, anchors=anchors, idf=idf, mass=round(sum(idf.values()), 6))


def recency(position: int, turn_count: int) -> float:
    """Return how late a turn stands in its conversation, 0.0 (first) to 1.0 (last).

    Args:
        position: index of the turn, 0 to ``turn_count - 1``.
        turn_count: turns in the conversation, at least 1.

    Raises:
        ValueError: ``position`` lies outside the conversation.

    Source: specification 3.3 (a weak prior, weight 0.2); the linear form is ours.

    >>> recency(3, 4)
    1.0
    """
    if not 0 <= position < turn_count:
        raise ValueError(f"position {position} lies outside a conversation of {turn_count} turns")
    return position / (turn_count - 1) if turn_count > 1 else 1.0


def lex(count: int, length: int, mean_length: float, idf: float, *, k1: float, b: float) -> float:
    """Return the BM25 weight of one term in one field.

    Args:
        count: occurrences of the term in the field.
        length: terms in the field.
        mean_length: terms in this field on average over the conversation, > 0.
        idf: the term's inverse document frequency.
        k1: saturation.
        b: length normalisation, 0..1.

    Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", formula 3.15.

    >>> round(lex(1, 10, 10.0, 2.0, k1=1.2, b=0.75), 3)
    2.0
    """
    return idf * count * (k1 + 1) / (count + k1 * (1 - b + b * length / mean_length)) if count else 0.0


def score_turns(
    query: Query,
    index: TurnIndex,
    *,
    config: RetrievalConfig,
    depth: int,
    texts: Callable[[int], tuple[str, str]],
) -> tuple[Score, ...]:
    """Return the best turns with their scores, best first; of equal turns the newer one first.

    Args:
        query: what is looked for.
        index: the turns.
        config: the weights.
        depth: how many turns are scored in full and returned at most; at least ``SCORED_IN_FULL`` are.
        texts: gives the user's and the assistant's text of a turn.
    """
    own = _lexical_scores(query, index, config)
    near = {turn: config.neighbour_weight * (own.get(turn - 1, 0.0) + own.get(turn + 1, 0.0)) for turn in own}
    best = nlargest(max(depth, SCORED_IN_FULL), ((round(score + near[turn], 6), turn) for turn, score in own.items()))
    phrases = _phrases(query)
    scores = [_full_score(turn, query, phrases, index, config, texts(turn), near[turn]) for _, turn in best]
    return tuple(sorted(scores, key=lambda score: (-score.total, -score.turn_id)))


def _lexical_scores(query: Query, index: TurnIndex, config: RetrievalConfig) -> dict[int, float]:
    """Return the weighted sum of both ``lex`` parts for every turn that shares a term with the query."""
    scores: dict[int, float] = {}
    get = scores.get
    user_lengths, assistant_lengths = index.user_lengths, index.assistant_lengths
    k1, flat = config.k1, config.k1 * (1 - config.b)
    user_slope = config.k1 * config.b / index.mean_user_length
    assistant_slope = config.k1 * config.b / index.mean_assistant_length
    for term, idf in query.idf.items():
        user_factor, assistant_factor = config.user_weight * idf * (k1 + 1), config.assistant_weight * idf * (k1 + 1)
        for posting in index.postings(term):
            turn_id, user_count, assistant_count = posting >> 8, posting >> 4 & 15, posting & 15
            score = get(turn_id, 0.0)
            if user_count:
                score += user_factor * user_count / (user_count + flat + user_slope * user_lengths[turn_id])
            if assistant_count:
                norm = flat + assistant_slope * assistant_lengths[turn_id]
                score += assistant_factor * assistant_count / (assistant_count + norm)
            scores[turn_id] = score
    return scores


def _full_score(
    turn_id: int,
    query: Query,
    phrases: Sequence[tuple[Anchor, float]],
    index: TurnIndex,
    config: RetrievalConfig,
    texts: tuple[str, str],
    neighbour: float,
) -> Score:
    lex_user = lex_assistant = known = 0.0
    matched = set()
    user_mean, assistant_mean = index.mean_user_length, index.mean_assistant_length
    user_length, assistant_length = index.user_lengths[turn_id], index.assistant_lengths[turn_id]
    for term, idf in query.idf.items():
        posting = index.posting(term, turn_id)
        if posting is None:
            continue
        matched.add(term)
        known += idf
        lex_user += lex(posting.user_count, user_length, user_mean, idf, k1=config.k1, b=config.b)
        lex_assistant += lex(posting.assistant_count, assistant_length, assistant_mean, idf, k1=config.k1, b=config.b)
    exact, whole = _exact_match(phrases, frozenset(matched), texts)
    late = recency(turn_id, len(index))
    total = config.user_weight * lex_user + config.assistant_weight * lex_assistant
    total += config.exact_weight * exact + config.recency_weight * late + neighbour
    return Score(
        turn_id=turn_id,
        lex_user=round(lex_user, 6),
        lex_assistant=round(lex_assistant, 6),
        exact=round(exact, 6),
        recency=round(late, 6),
        neighbour=round(neighbour, 6),
        total=round(total, 6),
        share=round(known / query.mass, 6) if query.mass else 0.0,
        matched=frozenset(matched),
        whole=whole,
    )


def _phrases(query: Query) -> list[tuple[Anchor, float]]:
    """Return the anchors that are looked for in the text, each with what a hit is worth."""
    worth = []
    for anchor in query.anchors:
        if anchor.kind == "triple":
            pairs = (query.idf.get(anchor.term[:2], 0.0), query.idf.get(anchor.term[1:], 0.0))
            worth.append((anchor, _TRIPLE_SHARE * min(pairs)))
        elif anchor.kind in _EXACT_KINDS:
            worth.append((anchor, _phrase_idf(anchor, query)))
    return [(anchor, idf) for anchor, idf in worth if idf > 0]


def _phrase_idf(anchor: Anchor, query: Query) -> float:
    if anchor.term in query.idf:
        return query.idf[anchor.term]
    parts = dict.fromkeys(part.term for part in extract_anchors(anchor.text))
    return sum(query.idf.get(part, 0.0) for part in parts)


def _exact_match(
    phrases: Sequence[tuple[Anchor, float]], matched: frozenset[str], texts: tuple[str, str]
) -> tuple[float, frozenset[str]]:
    """Return the idf of the whole hits, and which identifiers, versions, quotes and code were hit.

    Whole hits are English words as they were written (not only their stem), numbers, identifiers, versions, quoted
    phrases and back-tick code; a run of three characters of a script without spaces adds a quarter of its rarer pair.
    """
    exact, whole = 0.0, set()
    folded = "\n".join(text[:MAX_SCANNED_CHARACTERS] for text in texts).casefold()
    for anchor, idf in phrases:
        if anchor.kind in ("identifier", "version", "number"):
            hit = anchor.term in matched
        elif anchor.kind == "triple":
            hit = anchor.term in folded
        else:
            possible = anchor.kind in ("quote", "code") or anchor.term in matched
            hit = possible and has_whole(anchor.text.casefold(), folded)
        if hit:
            exact += idf
            if anchor.kind in ("quote", "code") or (anchor.kind not in ("word", "triple") and len(anchor.term) > 2):
                whole.add(anchor.text)
    return exact, frozenset(whole)
