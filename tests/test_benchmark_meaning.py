"""The benchmark of meaning measures words alone and with an embedder, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks import meaning
from benchmarks.data import Block
from benchmarks.meaning import DIMENSIONS, WITH_MODEL, WORDS, cost_tables, drawn_vectors, everyday_tables, within_limits
from benchmarks.talks import Question as Labelled
from benchmarks.talks import Talk
from gatekeeper_core.tokens import estimate_text_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

SUBJECTS = (("puppy", "小狗", "canine"), ("bread", "馍馍", "loaf"), ("flight", "航班", "aeroplane"))


def by_subject(texts: Sequence[str]) -> list[list[float]]:
    """Return vectors that are near each other where texts are about one of the subjects, in whatever words."""
    vectors = drawn_vectors(texts)
    for text, vector in zip(texts, vectors, strict=True):
        for place, words in enumerate(SUBJECTS):
            if any(word in text for word in words):
                vector[place] += 3000.0
    return vectors


BLOCKS = (
    Block(("0",), "We adopted a puppy called Biscuit.", "How sweet!"),
    Block(("1",), "How long do I bake bread?", "For 45 minutes."),
    Block(("2",), "When does my flight to Oslo leave?", "On Friday at nine."),
    Block(("3",), "Which film won the prize?", "The one about the lighthouse."),
)
TALK = Talk(
    "mixed-01",
    "mixed",
    BLOCKS,
    (
        Labelled(4, "Tell me the canine name", "paraphrase", ((0,),)),
        Labelled(4, "馍馍多久", "cross_lingual", ((1,),)),
        Labelled(4, "Is gold heavier than lead?", "off_topic", ()),
    ),
)


def test_each_kind_of_question_is_asked_by_words_alone_and_with_the_embedder() -> None:
    tables = everyday_tables([TALK], estimate_text_tokens, 300, within_limits(by_subject))
    groups = {row["group"]: row for row in tables["everyday, gate"]}
    for kind in ("paraphrase", "cross_lingual"):
        assert (groups[kind]["hit, words"], groups[kind]["hit, with model"]) == (0.0, 100.0)
    assert groups["off_topic"]["info, words"] is None
    assert [row["method"] for row in tables["everyday, fill"]] == [WORDS, WITH_MODEL]


@pytest.mark.adapters  # numpy comes with LlamaIndex
def test_cost_is_measured_at_each_size_and_the_vectors_are_what_is_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "QUICK_SIZES", (30, 60))
    tables = cost_tables(quick=True, model=by_subject)
    assert [(row["turns"], row["call"]) for row in tables["cost, time"]] == [
        (size, call) for size in (30, 60) for call in ("selection", "turn added")
    ]
    for row in tables["cost, size"]:
        assert DIMENSIONS + 4 <= int(row["bytes a turn"]) < int(row["with the encoder's cache"].replace(",", ""))
    assert tables["cost, model"][0]["turns read"] == 60
    assert {*tables} <= {*meaning.TITLES}
