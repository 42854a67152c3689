"""Sparse retrieval: how well each earlier turn answers the query, by shared terms.

::

    score(turn, query) = 1.5 * lex(user text) + 0.7 * lex(assistant text) + 1.0 * exact_match + 0.2 * recency

``lex`` is BM25 on its raw scale, ``exact_match`` the idf of what the turn holds word for word, ``recency`` runs from 0
to 1 and only breaks ties. The lexical part also counts related terms, a share of the evidence in the turns on either
side (neighbours), how much of the query a turn and its neighbours hold together (reach), and who speaks (speakers). It
is computed for all turns that share a term; the best are scored in full. A turn that shares nothing, not even a related
term, has no score, however new, unless an embedder finds it near.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from operator import attrgetter
from typing import NamedTuple

from gatekeeper_core.selection.anchors import (
    MAX_SCANNED_CHARACTERS,
    Anchor,
    count_terms,
    extract_anchors,
    folded,
    has_whole,
)
from gatekeeper_core.selection.dates import spoken_dates
from gatekeeper_core.selection.expansion import Related, related_terms
from gatekeeper_core.selection.index import Hits, Scan, TurnIndex, highest
from gatekeeper_core.selection.meaning import Meaning
from gatekeeper_core.selection.settings import GatekeeperConfig

SCORED_IN_FULL = 40
"""Minimum number of turns scored in full. Source: ours, twice the candidates that the specification takes."""

# Ours, fitted; a weight of 0 switches its part off for a measurement. A gain is the evidence recall lost without the
# part, in points: the mean over 250 to 4,000 tokens in ``fill`` mode on LoCoMo (benchmarks.selection --ablate).
_NEIGHBOUR_WEIGHT = 0.3  # share of its neighbours' weighted ``lex`` that a turn gets; gain 2.7
_REACH_WEIGHT = 0.7  # share of the score that depends on what a turn and its neighbours hold, 0..1; gain 1.0
_SPEAKER_WEIGHT = 1.0  # extra weight of messages by a speaker that the query names; gain 0.7
_MEANING_WEIGHT = 0.1  # of the best score, or of twice the query's mass, for a strength of 1.0
_WORDLESS_MASS = 5.0  # of a query without words: that of a rare word, so that meaning outweighs recency
_POSTING_BUDGET = 2500  # postings read in full, rarest terms first

_INDEXED_KINDS = frozenset({"word", "number", "identifier", "version", "pair", "character", "date", "amount"})
_LONG_BITS = 14  # a conversation of 16,384 turns or more is long
_MOST_DOUBLINGS = 3
_READ_GROWTH = 1.6  # of the posting budget, with each doubling of a long conversation
_LEADING_GROWTH = 1.25  # of the leading turns, likewise
_LEADING = 4  # leading turns for each turn scored in full
_READ = 20  # best turns whose texts are searched for exact matches, at least
_TRIPLE_SHARE = 0.25
_WORD_SHARE = 0.5
_RANK = attrgetter("total", "turn_id")


class Query(NamedTuple):
    """A query as the stages read it.

    Attributes:
        text: the question.
        anchors: all its anchors, in order.
        idf: idf in this conversation times weight, by term of the indexed anchors.
        related: terms of the conversation that may replace its own; see :func:`expand_query`.
    """

    text: str
    anchors: tuple[Anchor, ...]
    idf: dict[str, float]
    related: tuple[Related, ...] = ()

    @property
    def mass(self) -> float:
        """The sum of ``idf`` over the terms, to six digits."""
        return round(math.fsum(self.idf.values()), 6)


class MatchedTerms(NamedTuple):
    """The part of a query that a turn holds.

    Attributes:
        share: share of the query's idf, 0..1; a related term counts its credit.
        matched: terms of the query.
        related: related terms.
        credits: credit of each query term: 1.0, or that of a related term that replaces it.
    """

    share: float
    matched: frozenset[str]
    related: frozenset[str]
    credits: tuple[tuple[str, float], ...] = ()


_NOTHING = MatchedTerms(0.0, frozenset(), frozenset())


class Score(NamedTuple):
    """The score of a turn for a query; turns are ranked by ``total``.

    ::

        total = fit * (1.5 * lex_user + 0.7 * lex_assistant + neighbour) + 1.0 * exact + 0.2 * recency + meaning

    Attributes:
        turn_id: 0-based position of the turn.
        lex_user: BM25 of the user's text, unweighted; between two named people both sides count alike.
        lex_assistant: the same for the assistant's text.
        exact: idf of the exact matches, unweighted.
        recency: 0.0 (first turn) to 1.0 (last).
        neighbour: share of the evidence in the turns before and after it, weighted.
        fit: factor for the share of the query that it and its neighbours hold together, > 0 to 1.
        total: the sum above, rounded to six digits.
        terms: the part of the query that it holds.
        whole: the query's quotes, code, versions, and identifiers and numbers of 3 or more characters, held verbatim.
        meaning: the part from its similarity in meaning, weighted; 0.0 without an embedder.
    """

    turn_id: int
    lex_user: float
    lex_assistant: float
    exact: float
    recency: float
    neighbour: float
    fit: float
    total: float
    terms: MatchedTerms
    whole: frozenset[str]
    meaning: float = 0.0

    @property
    def matched(self) -> frozenset[str]:
        """The query terms that the turn holds."""
        return self.terms.matched

    @property
    def related(self) -> frozenset[str]:
        """The related terms that the turn holds."""
        return self.terms.related


def read_query(text: str, index: TurnIndex, *, about: str | None = None) -> Query:
    """Return a query with its anchors and their weights in this conversation.

    Args:
        text: the question.
        index: the conversation.
        about: the part of the text to take anchors from; None: all of it.
    """
    anchors = extract_anchors(text if about is None else about)
    idf = {term: round(weight * index.idf(term), 6) for term, _, kind, weight in anchors if kind in _INDEXED_KINDS}
    return Query(text, anchors, idf)


def expand_query(query: Query, index: TurnIndex, asked_on: date | None = None) -> Query:
    """Return a query with the related terms that occur in the conversation, and the dates that it names.

    A date on which the conversation has turns counts at full weight. It identifies the turns, so the words that name it
    ("last week") are no longer searched, nor are they anchors: the text of a turn need not contain them.

    Args:
        query: the query as read.
        index: the conversation.
        asked_on: the day from which "yesterday" and "last week" count; None: dates are not resolved.
    """
    if asked_on is not None:
        named = {anchor.term: anchor.text for anchor in query.anchors if anchor.kind == "date"}
        named |= {date.term: date.text for date in spoken_dates(folded(query.text[:MAX_SCANNED_CHARACTERS]), asked_on)}
        dates = {term: text for term, text in named.items() if index.document_frequency(term)}
        words = {term for text in dates.values() for term in count_terms(text)}
        idf = {term: weight for term, weight in query.idf.items() if term not in words}
        idf |= {term: index.idf(term) for term in dates}
        anchors = tuple(anchor for anchor in query.anchors if anchor.term not in words)
        query = query._replace(anchors=anchors, idf=idf)
    return query._replace(related=related_terms(query.idf, index))


def recency(position: int, turn_count: int) -> float:
    """Return the relative position of a turn in its conversation, 0.0 (first) to 1.0 (last)."""
    return position / (turn_count - 1) if turn_count > 1 else 1.0


def score_turns(
    query: Query,
    index: TurnIndex,
    *,
    config: GatekeeperConfig,
    depth: int,
    texts: Callable[[int], tuple[str, str]],
    meaning: Meaning | None = None,
) -> tuple[Score, ...]:
    """Return the scores of the best turns, best first; of equal turns the newer first.

    Args:
        query: the query, expanded or not.
        index: the turns.
        config: the weights.
        depth: maximum number of turns to score in full and return; raised to ``SCORED_IN_FULL``.
        texts: returns the user's and the assistant's text of a turn.
        meaning: similarities by an embedder; they add to the scores, and near turns need no shared term.
    """
    depth = max(depth, SCORED_IN_FULL)
    scores = [*_Scoring(query, index, config, texts).best(depth)]
    if meaning is None:
        return tuple(scores)
    unit = _MEANING_WEIGHT * max(scores[0].total if scores else 0.0, 2 * (query.mass or _WORDLESS_MASS))
    by_words = {score.turn_id for score in scores}
    for turn in meaning.nearest:
        if turn not in by_words:
            late = recency(turn, len(index))
            total = round(config.recency_weight * late, 6)
            scores.append(Score(turn, 0.0, 0.0, 0.0, late, 0.0, 1.0, total, _NOTHING, frozenset()))
    for at, score in enumerate(scores):
        added = round(unit * meaning.strength(score.turn_id), 6)
        scores[at] = score._replace(meaning=added, total=round(score.total + added, 6))
    return tuple(sorted(scores, key=_RANK, reverse=True)[:depth])


class _Scoring:
    def __init__(
        self, query: Query, index: TurnIndex, config: GatekeeperConfig, texts: Callable[[int], tuple[str, str]]
    ) -> None:
        self._query = query
        self._index = index
        self._config = config
        self._texts = texts
        self._matched: dict[int, MatchedTerms] = {}
        self._named = index.speakers.named(query.idf) if _SPEAKER_WEIGHT else frozenset()
        user, assistant = config.user_weight, config.assistant_weight
        if user and assistant and index.speakers.are_two_people():  # between two people both sides weigh alike
            user = assistant = (user + assistant) / 2
        self._sides = user, assistant
        self._phrases = [phrase for phrase in _phrases(query) if phrase[-1] > 0]

    def best(self, depth: int) -> tuple[Score, ...]:
        weighted = [*self._query.idf.items(), *((related.term, related.weight) for related in self._query.related)]
        longer = min(_MOST_DOUBLINGS, max(0, len(self._index).bit_length() - _LONG_BITS))
        budget = round(_POSTING_BUDGET * _READ_GROWTH**longer)
        scan = Scan(weighted, self._index, sides=self._sides, budget=budget)
        leading = scan.leading(round(_LEADING * depth * _LEADING_GROWTH**longer) * (2 if self._named else 1))
        hits = scan.hits(leading if self._named else highest(leading, 2 * depth))
        (user, assistant), own = self._sides, leading
        for turn, (of_user, of_assistant, _) in hits.items():
            by_user, by_assistant = self._speaker_factors(turn)
            own[turn] = user * by_user * of_user + assistant * by_assistant * of_assistant
        lexical = (own if len(own) == len(scan.sums) else {**scan.sums, **own}).get  # others: from the terms read
        near = {turn: _NEIGHBOUR_WEIGHT * (lexical(turn - 1, 0.0) + lexical(turn + 1, 0.0)) for turn in own}
        best = highest({turn: value + near[turn] for turn, value in own.items()}, depth)
        beside = {turn + step for turn in best for step in (-1, 1)}
        hits |= scan.hits((beside & scan.sums.keys() | {*best}) - hits.keys())
        scores = sorted(self._parts(best, hits, near), key=_RANK, reverse=True)
        read = max(_READ, (len(scores) + 1) // 2)  # of many scores, at least half
        scores[:read] = map(self._read, scores[:read])
        return tuple(sorted(scores, key=_RANK, reverse=True))

    def _speaker_factors(self, turn: int) -> tuple[float, float]:
        """Return the factor of each side of a turn for its speaker, 1.0 unless the query names them."""
        if not self._named:
            return 1.0, 1.0
        user, assistant = (name in self._named for name in self._index.speakers.of(turn))
        return 1.0 + _SPEAKER_WEIGHT * user, 1.0 + _SPEAKER_WEIGHT * assistant

    def _parts(self, turns: Iterable[int], hits: Mapping[int, Hits], near: Mapping[int, float]) -> Iterator[Score]:
        """Yield the scores of some turns, as far as the index alone gives them."""
        config, turn_count, exact_terms = self._config, len(self._index), frozenset[str]()
        # The ratio of the weights in use to the configured ones.
        user_factor = self._sides[0] / config.user_weight if config.user_weight else 1.0
        assistant_factor = self._sides[1] / config.assistant_weight if config.assistant_weight else 1.0
        for turn in turns:
            user, assistant, bits = hits[turn]
            around = bits
            for beside in (turn - 1, turn + 1):
                if beside in hits:
                    around |= hits[beside][2]
            fit = 1.0 - _REACH_WEIGHT * (1.0 - self._terms_of(around).share)
            late = recency(turn, turn_count)
            by_user, by_assistant = self._speaker_factors(turn)
            lex_user, lex_assistant = by_user * user_factor * user, by_assistant * assistant_factor * assistant
            lexical = config.user_weight * lex_user + config.assistant_weight * lex_assistant
            total = round(fit * (lexical + near[turn]) + config.recency_weight * late, 6)
            parts = lex_user, lex_assistant, 0.0, late, near[turn], fit, total, self._terms_of(bits), exact_terms
            yield Score(turn, *parts)

    def _read(self, score: Score) -> Score:
        exact, exact_terms, text = 0.0, set(), ""
        for needs, phrase, has_borders, written, idf in self._phrases:
            if needs and needs not in score.matched:
                continue
            if phrase:
                text = text or folded("\n".join(side[:MAX_SCANNED_CHARACTERS] for side in self._texts(score.turn_id)))
                if not (has_whole(phrase, text) if has_borders else phrase in text):
                    continue
            exact += idf
            if written:
                exact_terms.add(written)
        total = round(score.total + self._config.exact_weight * exact, 6)
        return score._replace(exact=exact, whole=frozenset(exact_terms), total=total) if exact else score

    def _terms_of(self, bits: int) -> MatchedTerms:
        if bits not in self._matched:
            query, mass = self._query, self._query.mass
            terms = [*query.idf, *(each.term for each in query.related)]
            hits = [term for place, term in enumerate(terms) if bits >> place & 1]
            matched = frozenset(hits).intersection(query.idf)
            related = frozenset(hits) - matched
            credit_of = dict.fromkeys(matched, 1.0)
            for each in query.related:
                for term in each.query_terms if each.term in related else ():
                    credit_of[term] = max(credit_of.get(term, 0.0), each.credit)
            worth = math.fsum(query.idf[term] * credit for term, credit in credit_of.items())
            share = round(min(1.0, worth / mass), 6) if mass else 0.0
            self._matched[bits] = MatchedTerms(share, matched, related, tuple(credit_of.items()))
        return self._matched[bits]


def _phrases(query: Query) -> Iterator[tuple[str, str, bool, str, float]]:
    """Yield the anchors to search for in the text of a turn.

    These are English words as written (not only their stem; half their idf), numbers, identifiers, versions, quoted
    phrases and back-tick code; a triple of characters counts a quarter of the idf of its commoner pair. Each has: the
    indexed term that must match ("" if any turn may hold it); its form in a folded text ("" if that term is enough);
    whether it must be a whole token; its name in the result, "" for none; the worth of a hit.
    """
    for term, text, kind, _ in query.anchors:
        idf = query.idf.get(term, 0.0)
        if kind == "triple":
            pairs = term[:2], term[1:]
            yield pairs[0], term, False, "", _TRIPLE_SHARE * min(query.idf.get(pair, 0.0) for pair in pairs)
        elif kind == "word":
            yield term, folded(text), True, "", _WORD_SHARE * idf
        elif kind in ("quote", "code"):
            parts = [term] if term in query.idf else {part.term for part in extract_anchors(text)}
            yield "", folded(text), True, text, math.fsum(query.idf.get(part, 0.0) for part in parts)
        elif kind in ("identifier", "version", "number"):
            yield term, "", True, text if len(term) > 2 else "", idf
