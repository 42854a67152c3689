"""The index finds what the specification's formula finds over every turn that shares a term: a second implementation.

It takes from the library how texts become terms and what a term weighs, and scores by itself.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from benchmarks.corpus import generate_questions, generate_turns
from benchmarks.speed_methods import specification_formula
from gatekeeper_core.selection.anchors import count_terms, extract_anchors, folded, has_whole
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.retrieval import read_query, score_turns
from gatekeeper_core.selection.settings import GatekeeperConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper_core.selection.anchors import Anchor
    from gatekeeper_core.selection.retrieval import Query

K1, B = 1.2, 0.75
MAX_COUNT = 15  # what a posting can hold
SURE_KINDS = ("identifier", "version", "number")
PHRASES = ("word", *SURE_KINDS, "quote", "code", "triple")
CONFIG = GatekeeperConfig()
SEED = 20_261_121


def exhaustive(query: Query, texts: Sequence[tuple[str, str]]) -> list[tuple[float, int]]:
    """Return every turn that shares a term as (score, position), best first; of equal turns the newer one first."""
    counts = [tuple(map(count_terms, pair)) for pair in texts]
    means = [fmean(sum(sides[side].values()) for sides in counts) for side in (0, 1)]
    scored = []
    for turn, sides in enumerate(counts):
        shared = {term for term in query.idf if term in sides[0] or term in sides[1]}
        if not shared:
            continue
        lexical = 0.0
        for side, weight in enumerate((CONFIG.user_weight, CONFIG.assistant_weight)):
            length = sum(sides[side].values()) / means[side]
            norm = K1 * (1 - B + B * length)
            for term in shared:
                count = min(MAX_COUNT, sides[side].get(term, 0))
                lexical += weight * query.idf[term] * (K1 + 1) * count / (count + norm)
        text = folded("\n".join(texts[turn]))
        exact = sum(worth for anchor, worth in phrases(query) if is_whole(anchor, text, shared))
        recency = turn / max(1, len(texts) - 1)
        scored.append((round(lexical + CONFIG.exact_weight * exact + CONFIG.recency_weight * recency, 6), turn))
    return sorted(scored, reverse=True)


def phrases(query: Query) -> Iterator[tuple[Anchor, float]]:
    """Yield exact matches with their worth: of a word half its idf, of a triple a quarter of its rarer pair's."""
    for anchor in query.anchors:
        if anchor.kind == "triple":
            yield anchor, 0.25 * min(query.idf.get(anchor.term[:2], 0.0), query.idf.get(anchor.term[1:], 0.0))
        elif anchor.kind in PHRASES and anchor.term in query.idf:
            yield anchor, query.idf[anchor.term] / (2 if anchor.kind == "word" else 1)
        elif anchor.kind in PHRASES:
            worth = sum(query.idf.get(term, 0.0) for term in {part.term for part in extract_anchors(anchor.text)})
            yield anchor, worth / (2 if anchor.kind == "word" else 1)


def is_whole(anchor: Anchor, text: str, shared: set[str]) -> bool:
    if anchor.kind in SURE_KINDS:
        return anchor.term in shared
    if anchor.kind == "triple":
        return anchor.term in text
    return (anchor.kind in ("quote", "code") or anchor.term in shared) and has_whole(folded(anchor.text), text)


@pytest.mark.parametrize("language", ["en", "zh", "mixed"])
def test_the_index_scores_as_the_formula_does_over_every_turn(language: str) -> None:
    """000-26: Robertson's term weight with Lucene's idf, k1 = 1.2 and b = 0.75."""
    long = generate_turns(400, seed=SEED)
    turns = [turn for each in ("en", "zh", "mixed") for turn in [t for t in long if t.language == each][:20]]
    texts, index = [(turn.user, turn.assistant) for turn in turns], TurnIndex()
    for user, assistant in texts:
        index.add(count_terms(user), count_terms(assistant), texts=(user, assistant))
    questions = [q for q in generate_questions(turns, len(turns), 60, seed=SEED) if q.language == language]
    assert len(questions) > 3
    for question in questions:
        query = read_query(question.text, index)
        with specification_formula():
            scores = score_turns(query, index, config=CONFIG, depth=20, texts=texts.__getitem__)[:20]
        best = exhaustive(query, texts)[:20]
        assert [turn for _, turn in best] == [score.turn_id for score in scores]
        assert [total for total, _ in best] == pytest.approx([score.total for score in scores], abs=1e-4)
