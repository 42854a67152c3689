"""The result of a build: the messages, the cost of each part, and the fate of every message of the thread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.context.prompt.budget import ContextBudget
from gatekeeper_core.context.prompt.rendering import PinRole, Rendered, render_parts
from gatekeeper_core.messages import Message, Provider
from gatekeeper_core.notebook import notebook_table

Part = Literal[
    "system_prompt",
    "constraints",
    "summary",
    "steps",
    "retrieved",
    "head",
    "recent_messages",
    "current_input",
    "pinned",
]
Fate = Literal["sent", "changed", "recalled", "folded", "summary", "step", "left_out"]


class TokenStats(NamedTuple):
    """The cost of each part, in tokens by the builder's counter.

    Attributes:
        system_prompt: the system prompt, stable and volatile.
        summary: the summary of the thread, and those of finished steps.
        retrieved: the long-term memories.
        recent_messages: messages of the thread and of the current run, and earlier turns inside the question.
        current_input: the question, without such turns.
        pinned: the pin.
        tools: the tool schemas, which are sent with the messages.
        constraints: the user's standing instructions.
        total: all of it.
    """

    system_prompt: int = 0
    summary: int = 0
    retrieved: int = 0
    recent_messages: int = 0
    current_input: int = 0
    pinned: int = 0
    tools: int = 0
    constraints: int = 0
    total: int = 0


class BuildMetadata(NamedTuple):
    """Counts of what is sent: messages of the thread, messages in the summary, and long-term memories."""

    included_message_count: int = 0
    summarized_message_count: int = 0
    used_summary: bool = False
    retrieved_memory_count: int = 0


class Miss(NamedTuple):
    """A part that was unavailable or late.

    Attributes:
        part: ``summary``, ``summary_model``, ``retrieved``, ``extraction``, ``task``, ``constraints``,
            ``policy``, ``tool_results``, ``history``, ``meaning``.
        status: ``late``, ``failed``, ``busy``, ``degraded`` (a fallback was used).
        reason: type of an error, or one word; never text of the conversation.
    """

    part: str
    status: str
    reason: str = ""


class BuiltPart(NamedTuple):
    """A message of the result: its part, its sequence number in the thread (None if the build added it), its tokens."""

    part: Part
    seq: int | None
    tokens: int


class MessageFate(NamedTuple):
    """The fate of consecutive messages of the thread.

    Attributes:
        start: sequence number of the first.
        stop: sequence number after the last.
        fate: ``sent``; ``changed`` (sent, compressed or cut); ``recalled`` (their turn is inside the question);
            ``folded`` (a placeholder in the run counts them); ``summary`` or ``step`` (one covers them); ``left_out``.
    """

    start: int
    stop: int
    fate: Fate


class BuildTrace(NamedTuple):
    """The record of a build: parts, fates, shares and misses.

    Attributes:
        parts: one entry for each message of the result, in its order.
        fates: fate of every message of the thread, oldest first, without gaps.
        shares: the parts of the budget.
        budget_tokens: the whole budget.
        counter: name of the token counter.
        margin: share by which a prompt may exceed its estimate.
        view: the selection from the thread, None without messages.
        safety_net: whether the prompt was missing at the end of the thread and was added.
        given_up: optional parts that did not fit, the first dropped first.
        squeezed: the strategy of the ``ContextCompressor`` that made the current run fit, "" if none was needed.
        misses: parts that were unavailable.
        prefix_tokens: tokens of the leading messages that match the previous build.
    """

    parts: tuple[BuiltPart, ...]
    fates: tuple[MessageFate, ...]
    shares: ContextBudget
    budget_tokens: int
    counter: str
    margin: float
    view: HistoryView | None = None
    safety_net: bool = False
    given_up: tuple[str, ...] = ()
    squeezed: str = ""
    misses: tuple[Miss, ...] = ()
    prefix_tokens: int = 0

    @property
    def available_tokens(self) -> int:
        """The usable part of the budget, without the margin of an estimate and reserved tokens."""
        return math.floor(self.budget_tokens / (1 + self.margin)) - self.shares.reserved

    @property
    def prefix_share(self) -> float:
        """``prefix_tokens`` as a share of the messages, 0..1."""
        return self.prefix_tokens / max(1, sum(part.tokens for part in self.parts))

    @property
    def left_out(self) -> tuple[tuple[int, int], ...]:
        """The messages neither sent nor summarised, as ranges: first sequence number, and the one after the last."""
        return tuple((one.start, one.stop) for one in self.fates if one.fate == "left_out")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values: counts and ids, never text."""
        return {
            **self._asdict(),
            **{name: [one._asdict() for one in getattr(self, name)] for name in ("parts", "fates", "misses")},
            "given_up": list(self.given_up),
            "shares": self.shares._asdict(),
            "view": self.view.facts() if self.view else None,
            "available_tokens": self.available_tokens,
            "prefix_share": self.prefix_share,
        }


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """A prompt, ready to be rendered for a provider.

    Attributes:
        messages: all messages, in order.
        token_stats: cost of each part.
        metadata: counts of what was included.
        trace: record of the build.
    """

    messages: tuple[Message, ...]
    token_stats: TokenStats
    metadata: BuildMetadata
    trace: BuildTrace

    def render(self, *, provider: Provider = "openai", pin_as: PinRole | None = None) -> tuple[Message, ...]:
        """Return the messages in the form that a provider accepts; see ``rendering.render_parts``.

        Args:
            provider: name of the provider.
            pin_as: ``system``, ``developer`` or ``user_suffix``; defaults to what the provider accepts.

        Raises:
            ConfigError: the provider or the role is unknown, or they do not go together.
        """
        return tuple(one.message for one in self.rendered_parts(provider=provider, pin_as=pin_as))

    def rendered_parts(self, *, provider: Provider = "openai", pin_as: PinRole | None = None) -> tuple[Rendered, ...]:
        """Return the messages of :meth:`render`, each with its source positions in ``messages`` and ``trace.parts``."""
        pin = next((at for at, one in enumerate(self.trace.parts) if one.part == "pinned"), None)
        return render_parts(self.messages, provider=provider, pin=pin, pin_as=pin_as)

    def to_dicts(self, *, provider: Provider = "openai", pin_as: PinRole | None = None) -> list[dict[str, Any]]:
        """Return the rendered messages as dicts in OpenAI's chat format, ready to send; otherwise as :meth:`render`."""
        return [message.to_dict(for_provider=True) for message in self.render(provider=provider, pin_as=pin_as)]

    def facts(self) -> dict[str, Any]:
        """Return flat JSON-ready facts for logs and events: counts and ids, never text."""
        trace, view, fates = self.trace, self.trace.view, Counter[str]()
        for one in trace.fates:
            fates[one.fate] += one.stop - one.start
        figures = "budget_tokens available_tokens counter margin squeezed safety_net prefix_tokens prefix_share"
        return {
            **{f"{part}_tokens": tokens for part, tokens in self.token_stats._asdict().items()},
            **self.metadata._asdict(),
            **{f"messages_{fate}": fates[fate] for fate in get_args(Fate)},
            "history_status": view.status if view else None,
            "decision": view.selection.gate.decision if view and view.selection else None,
            "given_up": list(trace.given_up),
            "misses": [f"{miss.part} {miss.status}" for miss in trace.misses],
            **{name: getattr(trace, name) for name in figures.split()},
            **(view.bill.facts() if view and view.bill else {}),
        }

    def _repr_html_(self) -> str:
        """Return the messages as a table for a notebook: plain HTML, escaped, without script."""
        trace, stats = self.trace, self.token_stats
        left_out = sum(stop - start for start, stop in trace.left_out)
        caption = (
            f"{len(self.messages):,} messages, {stats.total:,} of {trace.budget_tokens:,} tokens; of the thread "
            f"{self.metadata.included_message_count:,} sent, {left_out:,} left out"
        )
        texts = [one.text or ", ".join(f"{call.name}()" for call in one.tool_calls) for one in self.messages]
        rows = [
            (part.part, "" if part.seq is None else part.seq, message.role, part.tokens, text)
            for part, message, text in zip(trace.parts, self.messages, texts, strict=True)
        ]
        return notebook_table(caption, ("part", "seq", "role", "tokens", "begins with"), rows)


def fates_of(count: int, fates: Mapping[int, Fate], *, summarized: int = 0) -> tuple[MessageFate, ...]:
    """Return the fates of ``count`` messages, equal neighbours joined; the first ``summarized`` default to ``summary``.

    >>> [tuple(one) for one in fates_of(5, {0: "sent", 1: "sent", 4: "step"}, summarized=3)]
    [(0, 2, 'sent'), (2, 3, 'summary'), (3, 4, 'left_out'), (4, 5, 'step')]
    """
    listed = [fates.get(seq, "summary" if seq < summarized else "left_out") for seq in range(count)]
    starts = [seq for seq in range(count) if not seq or listed[seq] != listed[seq - 1]]
    return tuple(MessageFate(start, stop, listed[start]) for start, stop in pairwise([*starts, count]))
