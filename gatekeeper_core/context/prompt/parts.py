"""The parts of a prompt that are not messages of the thread: their texts, fenced and within their limits.

Third-party text (summaries, memories, results of steps) is in a fence that nothing inside can close; its heading is
outside. With a session key, nobody else can compute the fence's name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.memory.memory import MemoryHit
from gatekeeper_core.context.memory.summary_record import Summary, fit_summary
from gatekeeper_core.context.memory.task import ActiveTask
from gatekeeper_core.context.memory.task_text import cleared_steps, pin_text, stand_in_text, status_text
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.result import Part
from gatekeeper_core.fences import fence
from gatekeeper_core.messages import Message
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_for
from gatekeeper_core.tokens import TokenCounter, count_message
from gatekeeper_core.truncation import truncate_to_tokens

Heading = Literal["summary", "retrieved", "steps"]

HEADINGS: dict[Locale, dict[Heading, str]] = {
    "zh": {"summary": "[对话背景摘要]", "retrieved": "[相关历史记忆]", "steps": "[已完成的步骤]"},
    "en": {"summary": "[Conversation summary]", "retrieved": "[Related memories]", "steps": "[Finished steps]"},
}
_RELEVANCE: dict[Locale, str] = {"zh": "相关度", "en": "relevance"}
_CUT = "…[cut]"
_LEAST_BODY = 16
"""Minimum tokens of a body, without its heading. Source: requirement 001-78."""

_STATUS_TOKENS = 400
"""Kept free for the task status in the pin. Source: ours; a dozen lines."""

JOIN_TOKENS = 2
"""Tokens kept free for each optional part and system message: for providers that take only one, they are joined."""


@with_suggestions()
class SystemPrompt(NamedTuple):
    """A system prompt in two parts, so that the provider can cache the first.

    Attributes:
        stable: part that never changes, such as roles and rules.
        volatile: part that may change, such as the time or the user's location.
    """

    stable: str
    volatile: str = ""


class OptionalPart(NamedTuple):
    """The message of a part that fits, and the tokens it may take."""

    message: Message
    tokens: int


def reserve(
    messages: Mapping[Part, Message | None], room_tokens: int, *, count: TokenCounter
) -> tuple[dict[Part, OptionalPart], int]:
    """Return the parts that fit, in the given order (most valuable first), and the remaining room."""
    reserved: dict[Part, OptionalPart] = {}
    for name, message in messages.items():
        if message:
            tokens = count_message(message, token_counter=count)
            if name == "pinned":  # may grow by the status of the task
                tokens += min(_STATUS_TOKENS, max(0, room_tokens - tokens) // 10)
            if tokens + JOIN_TOKENS <= room_tokens:
                reserved[name] = OptionalPart(message, tokens)
                room_tokens -= tokens + JOIN_TOKENS
    return reserved, room_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRenderer:
    """A renderer of the parts of one build; the session key is a secret in the names of the fences."""

    locale: Locale
    session_key: bytes | None = field(repr=False)
    count: TokenCounter

    def system(self, prompt: str | SystemPrompt, *, limit: int | None) -> tuple[Message, ...]:
        """Return the parts of a system prompt, the stable one first, cut to a limit (None: uncut)."""
        stable, volatile = (prompt, "") if isinstance(prompt, str) else prompt
        if limit is not None:
            stable = truncate_to_tokens(stable, limit, token_counter=self.count, marker=_CUT)
            room = max(0, limit - self.count(stable))
            volatile = truncate_to_tokens(volatile, room, token_counter=self.count, marker=_CUT)
        return tuple(Message("system", text) for text in (stable, volatile) if text.strip())

    def constraints(self, constraints: Mapping[str, str]) -> Message | None:
        """Return the user's standing instructions, or None."""
        text = render_constraints(constraints, fenced=lambda lines: self._fenced(lines, "constraints"))
        return Message("system", text) if text else None

    def pin(self, prompt: str, task: ActiveTask | None, *, limit: int) -> Message | None:
        """Return the pin with as many status lines as the limit allows; None for a blank prompt."""
        lines = status_text(task, locale=self.locale).splitlines() if task else []
        for count in range(len(lines), 1, -1):
            status = self._fenced("\n".join(lines[:count]), "task")
            message = Message("system", pin_text(prompt, status=status))
            if count_message(message, token_counter=self.count) <= limit:
                return message
        text = pin_text(prompt)
        return Message("system", text) if text else None

    def steps(self, thread: Thread, task: ActiveTask | None, *, limit: int) -> tuple[Message | None, tuple[int, ...]]:
        """Return the summaries of the newest finished steps that fit, oldest first, and the messages they cover."""
        steps, message = [*cleared_steps(thread, task).items()] if task else [], None
        first = len(steps)
        while first:
            texts = [stand_in_text(step, len(seqs), locale=self.locale) for step, seqs in steps[first - 1 :]]
            longer = self._message("steps", "\n".join(texts))
            if count_message(longer, token_counter=self.count) > limit:
                break
            first, message = first - 1, longer
        return message, tuple(seq for _, seqs in steps[first:] for seq in seqs)

    def summary(self, summary: Summary, *, limit: int) -> Message | None:
        """Return a summary with as many of its sentences as the limit allows; None if hardly any fits."""
        if not summary.text:
            return None
        room = limit - self.count(self._message("summary", "").text)
        while room >= _LEAST_BODY:
            # The builder already keeps the margin of an estimate free, for the whole prompt.
            body = fit_summary(summary, budget_for(self.count, room), token_counter=self.count).text
            message = self._message("summary", body)
            excess = self.count(message.text) - limit
            if excess <= 0:
                return message if body else None
            room -= excess  # the cost of a join shows only in the joined text
        return None

    def memories(self, hits: Sequence[MemoryHit], *, limit: int) -> tuple[Message | None, int]:
        """Return the most similar memories that fit, and their number. Source: specification 001-27, 001-29."""
        label = _RELEVANCE[self.locale]
        lines = [f"- {' '.join(hit.memory.text.split())} ({label}: {hit.similarity:.2f})" for hit in hits]
        for count in range(len(lines), 0, -1):
            message = self._message("retrieved", "\n".join(lines[:count]))
            if self.count(message.text) <= limit:
                return message, count
        return None, 0

    def _fenced(self, text: str, name: str) -> str:
        return fence(text, tag=name, key=self.session_key or b"")

    def _message(self, name: Heading, body: str) -> Message:
        return Message("system", f"{HEADINGS[self.locale][name]}\n{self._fenced(body, name)}")
