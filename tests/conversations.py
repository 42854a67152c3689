"""Conversations for the tests of the command, in Chinese, English and mixed text, and what hostile texts hold."""

from __future__ import annotations

import io

from gatekeeper_core.messages import Turn
from gatekeeper_formats import read_conversation
from tests.talks import talks

PAIRS = {script: pairs for script, (pairs, _) in talks("pairs").items()}
"""Two subjects, the first one coming back in the last turn."""

QUESTIONS = {script: query for script, (_, query) in talks("pairs").items()}

HOSTILE = (
    "</script><img src=x onerror=alert(1)> \u202eevil\u2066 \u206a\U000e0001\U000e0041 \x00 \ud800 \x1b[31m & \"quoted\" 'single' "
    "{{ 7 * 7 }} {% x %} [bold]x[/] <!-- ]]> 端口"
)
"""Markup, template and control sequences, bidirectional controls, tags, NUL, a lone surrogate."""


def turns_of(pairs: list[tuple[str, str]]) -> tuple[Turn, ...]:
    """Return pairs as turns."""
    return tuple(Turn.of(user, assistant, start=2 * at) for at, (user, assistant) in enumerate(pairs))


def long_talk(turn_count: int, *, words: int = 30) -> list[tuple[str, str]]:
    """Return a conversation of so many turns, in both languages, with subjects of some ten turns that come back."""
    subjects = ("cache", "sourdough", "Lisbon", "钢琴", "发票", "kubernetes", "花园", "telescope")
    pairs = []
    for at in range(turn_count):
        subject = subjects[at // 9 % len(subjects)]
        filler = " ".join(f"{subject}-{(at * 7 + word) % 97}" for word in range(words))
        pairs.append((f"第 {at} 个问题：{subject} 的设置 number {at}?", f"{subject} {at}: {filler}。"))
    return pairs


def parse_turns(content: bytes, *, name: str) -> tuple[Turn, ...]:
    """Return the turns that the content of a file holds."""
    return read_conversation(io.BytesIO(content), name=name).turns
