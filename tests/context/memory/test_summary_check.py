"""What a model wrote and nobody said is found; what was said otherwise is not."""

from __future__ import annotations

import time

from gatekeeper_core.context.memory.summary_model import MAX_UNSUPPORTED, unsupported
from tests.case_files import from_file

SAID = [
    "The cache listens on port 6380. Marta keeps the minutes in docs/minutes.md.",
    "我们决定用 Redis 7.2 做缓存，预算 10,000 元，李雷负责。发布定在 5月3日。",
]


@from_file("text", "made_up")
def test_what_nobody_said_is_found(text: str, made_up: list[str]) -> None:
    """004-60: numbers, identifiers and names of a model come from the source."""
    assert [*unsupported(text, SAID)] == made_up


@from_file("text")
def test_what_was_said_is_not_flagged(text: str) -> None:
    assert unsupported(text, SAID) == ()


def test_each_thing_is_named_once_and_the_list_is_bounded() -> None:
    assert unsupported("7777 and 7777", SAID) == ("7777",)
    assert len(unsupported(" ".join(str(number) for number in range(20_000, 30_000)), SAID)) == MAX_UNSUPPORTED


def test_a_hostile_text_takes_linear_time() -> None:
    for text in ("王" * 50_000, "A" * 50_000, "1," * 50_000, "A b" * 20_000, "- " * 50_000, "**" * 50_000):
        start = time.process_time()
        unsupported(text, SAID)
        assert time.process_time() - start < 5
