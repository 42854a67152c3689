"""What a model wrote is used where it was said."""

from __future__ import annotations

from gatekeeper_core.context.memory.support import is_supported, unsupported
from tests.case_files import from_file

MESSAGES = [
    "The cache listens on port 6380. Marta keeps the minutes in docs/minutes.md.",
    "我们决定用 Redis 7.2 做缓存，预算 10,000 元，李雷负责。发布定在 5月3日。",
]


@from_file("text", "made_up")
def test_what_nobody_said_is_found(text: str, made_up: list[str]) -> None:
    """004-60: numbers, identifiers and names of a model come from the source."""
    assert [*unsupported(text, MESSAGES)] == made_up


def test_each_thing_is_named_once() -> None:
    assert unsupported("7777 and 7777", MESSAGES) == ("7777",)


@from_file("text", "message", "supported")
def test_a_text_is_supported_by_what_was_said(text: str, message: str, supported: bool) -> None:
    assert is_supported(text, message) is supported
