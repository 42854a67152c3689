"""What a model wrote and nobody said is found; what was said otherwise is not."""

from __future__ import annotations

import time

import pytest

from gatekeeper_core.context.summary.check import MAX_UNSUPPORTED, unsupported

SAID = [
    "The cache listens on port 6380. Marta keeps the minutes in docs/minutes.md.",
    "我们决定用 Redis 7.2 做缓存，预算 10,000 元，李雷负责。发布定在 5月3日。",
]


@pytest.mark.parametrize(
    ("text", "made_up"),
    [
        ("The cache listens on port 6381.", ("6381",)),
        ("They use Redis 7.4.", ("7.4",)),
        ("See docs/other.md.", ("docs/other.md",)),
        ("It calls `getUser` first.", ("getUser",)),
        ("The minutes are kept by Pavel.", ("Pavel",)),
        ("Alice approved the port.", ("Alice",)),
        ("Alice chose the port.", ("Alice",)),
        ("缓存监听 6381 端口。", ("6381",)),
        ("王芳负责缓存。", ("王芳",)),
        ("预算是 20,000 元。", ("20000", "20000 元")),
    ],
)
def test_what_nobody_said_is_found(text: str, made_up: tuple[str, ...]) -> None:
    """004-60: numbers, identifiers and names of a model come from the source."""
    assert unsupported(text, SAID) == made_up


@pytest.mark.parametrize(
    "text",
    [
        "Redis 7.2 listens on port 6380; Marta keeps docs/minutes.md.",
        "The budget is 10000.",
        "## Key Decisions\n1. Marta keeps the minutes.\n2. Port: 6380\n**Open Questions:**",
        "- A well-known follow-up.",
        "Gladly to the port.",
        "Pavel",
        "邓先生来了。",
        "缓存用 Redis 7.2，李雷负责，预算 10000 元，5月3号发布。",
        "",
        "\ud800\x00\u202e",
    ],
)
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
