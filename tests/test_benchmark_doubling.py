"""The benchmark of growth finds the public functions, tells a linear one from a quadratic one, and fails on the latter."""

from __future__ import annotations

import random
from collections import defaultdict
from functools import partial

import pytest

from benchmarks import doubling
from benchmarks.doubling import TEXTS, Case, cases


def test_texts_and_histories_of_every_kind_are_given_to_the_public_functions() -> None:
    kinds = defaultdict(set)
    for case in cases():
        kinds[case.name].add(case.kind)
    assert kinds["text.sentences"] == kinds["context.tool_results.compressor.compress_tool_result"] == TEXTS.keys()
    assert kinds["messages.group_turns"] == {"talk", "a run of tools"}
    assert {"ContextGatekeeper.select", "ContextBuilder.build, again", "chat events"} <= kinds.keys()


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_is_about_as_long_as_asked_for_and_the_same_for_a_seed(kind: str) -> None:
    text = TEXTS[kind](random.Random(1), 8_000)
    assert 6_000 <= len(text) <= 12_000
    assert text == TEXTS[kind](random.Random(1), 8_000)


def work(power: int, rng: random.Random, size: int) -> partial[object]:
    del rng
    return partial(sum, range((size // 10) ** power))


def test_a_quadratic_function_is_told_from_a_linear_one(monkeypatch: pytest.MonkeyPatch) -> None:
    linear, quadratic = (Case(f"power {power}", "talk", "characters", partial(work, power)) for power in (1, 2))
    monkeypatch.setattr(doubling, "cases", lambda: [linear])
    assert doubling.main(["--limit", "1.5"]) == 0
    monkeypatch.setattr(doubling, "cases", lambda: [quadratic])
    monkeypatch.setattr(doubling, "_REPEATED", 1)
    assert doubling.main(["--limit", "1.5"]) == 1
