"""The parts of a context that are no messages of the thread: what they say, fenced, and within their limit.

What others wrote (summaries, memories, results of steps) stands in a fence that nothing inside it can close; its
heading stands outside. With a session key nobody else can compute the fence's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from gatekeeper_core.context.memory.summary_record import fit_summary
from gatekeeper_core.fences import fence
from gatekeeper_core.messages import Message
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_for
from gatekeeper_core.tokens import TokenCounter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper_core.context.memory.search import MemoryHit
    from gatekeeper_core.context.memory.summary_record import Summary

__all__ = ["Sections", "SystemPrompt"]

Heading = Literal["summary", "retrieved", "steps"]

HEADINGS: dict[Locale, dict[Heading, str]] = {
    "zh": {"summary": "[对话背景摘要]", "retrieved": "[相关历史记忆]", "steps": "[已完成的步骤]"},
    "en": {"summary": "[Conversation summary]", "retrieved": "[Related memories]", "steps": "[Finished steps]"},
}
_RELEVANCE: dict[Locale, str] = {"zh": "相关度", "en": "relevance"}
_LEAST_BODY = 16
"""Tokens that a body needs beside its heading. Source: requirement 001-78."""


class SystemPrompt(NamedTuple):
    """A system prompt in two parts, so that a cache of the prompt's prefix can hold the first.

    Attributes:
        stable: what is the same at every build: roles, rules.
        volatile: what changes: the time, the user's place.
    """

    stable: str
    volatile: str = ""


class Sections:
    """Makes the parts of one build; the session key is a secret in the names of the fences."""

    def __init__(
        self, *, locale: Locale, fencing: bool, session_key: bytes | None, token_counter: TokenCounter
    ) -> None:
        self._locale = locale
        self._fencing = fencing
        self._key = session_key
        self._count = token_counter

    def summary(self, summary: Summary | None, *, limit: int) -> Message | None:
        """Return a summary with as many of its sentences as the limit allows; None where hardly any fits."""
        if summary is None or not summary.text:
            return None
        room = limit - self._count(self._message("summary", "").text)
        while room >= _LEAST_BODY:
            # The builder keeps the margin of an estimate free once, for the whole prompt.
            body = fit_summary(summary, budget_for(self._count, room), token_counter=self._count).text
            message = self._message("summary", body)
            over = self._count(message.text) - limit
            if over <= 0:
                return message if body else None
            room -= over  # what a join costs is seen when it is made
        return None

    def memories(self, hits: Sequence[MemoryHit], *, limit: int) -> tuple[Message | None, int]:
        """Return memories, and how many: the most similar ones that fit. Source: specification 001-27, 001-29."""
        label = _RELEVANCE[self._locale]
        lines = [f"- {' '.join(hit.memory.text.split())} ({label}: {hit.similarity:.2f})" for hit in hits]
        for count in range(len(lines), 0, -1):
            message = self._message("retrieved", "\n".join(lines[:count]))
            if self._count(message.text) <= limit:
                return message, count
        return None, 0

    def steps(self, texts: Sequence[str]) -> Message:
        """Return what stands for finished steps, oldest first."""
        return self._message("steps", "\n".join(texts))

    def constraints(self, constraints: Mapping[str, str]) -> Message | None:
        """Return what the user has laid down for good, None where that is nothing."""
        text = render_constraints(constraints, fenced=lambda lines: self.fenced(lines, "constraints"))
        return Message("system", text) if text else None

    def fenced(self, text: str, name: str) -> str:
        """Return a text in a fence, or as it is where fencing is off."""
        return fence(text, tag=name, key=self._key or b"") if self._fencing else text

    def _message(self, name: Heading, body: str) -> Message:
        return Message("system", f"{HEADINGS[self._locale][name]}\n{self.fenced(body, name)}")
