"""The judge's rubric: fixed texts (``rubric.en.md``, ``rubric.zh.md``); a changed text needs a new version."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from gatekeeper_core.fences import fence
from gatekeeper_core.text import LazyPattern

RUBRIC_VERSION = 1

Preference = Literal["first", "second", "equal"]

RUBRIC: dict[str, str] = {
    language: Path(__file__).with_name(f"rubric.{language}.md").read_text(encoding="utf-8").rstrip("\n")
    for language in ("en", "zh")
}
"""The instructions of the judge, by language."""

_LABELS = {
    "en": ("Conversation", "Last message of the user", "Answer 1", "Answer 2"),
    "zh": ("对话", "用户的最后一条消息", "回答 1", "回答 2"),
}
_VERDICT = LazyPattern(
    r"(?:verdict|结论)\W{0,4}[:：]\W{0,4}(?P<verdict>1|2|equal|tie|相同|平局)(?![\d.])", re.IGNORECASE
)


def judge_prompt(
    transcript: str, question: str, answers: tuple[str, str], *, language: Literal["en", "zh"]
) -> list[dict[str, str]]:
    """Return the judge's prompt: all text fenced, the transcript first, so that both orders share a cached prefix."""
    tags = ("conversation", "question", "answer-1", "answer-2")
    texts = (transcript, question, *answers)
    parts = [
        f"{label}:\n{fence(text, tag=tag)}" for label, tag, text in zip(_LABELS[language], tags, texts, strict=True)
    ]
    return [{"role": "system", "content": RUBRIC[language]}, {"role": "user", "content": "\n\n".join(parts)}]


def read_verdict(text: str) -> Preference | None:
    """Return the last verdict in a judge's answer, or None.

    >>> read_verdict("Answer 2 makes up a port. **VERDICT: 1**"), read_verdict("一致。结论：相同"), read_verdict("1")
    ('first', 'equal', None)
    """
    verdicts = [match["verdict"].lower() for match in _VERDICT.finditer(text)]
    if not verdicts:
        return None
    return "first" if verdicts[-1] == "1" else "second" if verdicts[-1] == "2" else "equal"
