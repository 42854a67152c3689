"""The turns of a thread in a build: where the newest begin, what a selection keeps of them, and their fates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.context.history.conversation import ContextCompressor
from gatekeeper_core.context.history.request import PromptOverhead
from gatekeeper_core.context.memory.thread import messages_digest
from gatekeeper_core.context.prompt.parts import JOIN_TOKENS, OptionalPart
from gatekeeper_core.errors import BudgetError
from gatekeeper_core.messages import Message
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_for
from gatekeeper_core.tokens import TokenCounter, count_message, count_messages

if TYPE_CHECKING:
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.context.prompt.request import Request
    from gatekeeper_core.context.prompt.result import Fate, Part

__all__ = ["PromptMessage", "SentTurns", "in_order", "kept_turns", "overhead", "squeeze"]


class PromptMessage(NamedTuple):
    """A message of the prompt; ``recalled_tokens`` of it are earlier turns before the question."""

    part: Part
    message: Message
    seq: int | None = None
    recalled_tokens: int = 0


class SentTurns(NamedTuple):
    """The messages of the thread that are sent.

    Attributes:
        past: the head, and past turns.
        run: the current turn.
        fates: of messages of the thread, by sequence number.
        squeezed: see ``BuildTrace``.
    """

    past: Sequence[PromptMessage] = ()
    run: Sequence[PromptMessage] = ()
    fates: Mapping[int, Fate] = {}  # never changed
    squeezed: str = ""


def overhead(
    system: Sequence[Message],
    optional: Mapping[Part, OptionalPart],
    *,
    cache_friendly: bool,
    unsent_tokens: int,
    includes_summarized: bool,
    count: TokenCounter,
) -> PromptOverhead:
    """Return which of the fixed tokens may change; ``cache_friendly``: they come after the turns.

    The pin counts as unsent: nothing is read from a cache behind it, and it costs the same whatever turns are sent.
    """
    costs = {name: part.tokens + JOIN_TOKENS for name, part in optional.items()}
    volatile = count_messages(system[1:], token_counter=count)
    volatile += sum(costs.get(name, 0) for name in ("summary", "steps", "retrieved"))
    names: tuple[Part, ...] = ("constraints",) if cache_friendly else ("constraints", "steps", "retrieved")
    before = [*system[: 1 if cache_friendly else None], *(optional[name].message for name in names if name in optional)]
    summary = [optional["summary"].message] if "summary" in optional and not cache_friendly else []
    return PromptOverhead(
        before_tokens=0 if cache_friendly else volatile,
        after_tokens=volatile if cache_friendly else 0,
        unsent_tokens=costs.get("pinned", 0) + unsent_tokens,
        summary_tokens=costs.get("summary", 0) if includes_summarized else 0,
        before_digest=messages_digest(filter(None, before)),
        summary_digest=messages_digest(filter(None, summary)) if summary else "",
    )


def kept_turns(request: Request, view: HistoryView, *, count: TokenCounter) -> SentTurns:
    """Return the messages that a view keeps."""
    replaced, folded = dict(view.replaced), frozenset(view.folded)
    recalling = (at for at, message in view.replaced if view.told and message.text.startswith(view.told))
    question_at = next(recalling, None)  # with earlier turns before it
    turns = view.bill.recalled if view.bill and question_at is not None else ()
    recalled = {at for turn in turns for at in range(request.starts[turn], request.starts[turn + 1])}
    messages: list[PromptMessage] = []
    fates: dict[int, Fate] = {}
    for at in view.kept:
        entry = _prompt_message(request, at, replaced.get(at, request.messages[at]))
        if at == question_at:
            tokens = [count_message(one, token_counter=count) for one in (entry.message, request.messages[at])]
            entry = entry._replace(recalled_tokens=tokens[0] - tokens[1])
        messages.append(entry._replace(seq=None) if at in folded else entry)
    for at in {*view.kept, *folded, *recalled}:
        is_changed = at in request.changed or (at in replaced and at != question_at)
        fate: Fate = "folded" if at in folded else "recalled" if at in recalled else "changed" if is_changed else "sent"
        seq = request.seqs[at]
        if seq is not None:
            fates[seq] = fate
    past = sum(at < request.start for at in view.kept)
    return SentTurns(messages[:past], messages[past:], fates)


def squeeze(
    request: Request, system: Sequence[Message], *, room_tokens: int, locale: Locale, count: TokenCounter
) -> SentTurns | None:
    """Return the head and the current turn alone, folded and cut to fit a room with the system prompt.

    None if the question and the open calls are too long by themselves.
    """
    positions = (*request.head, *range(request.start, len(request.messages)))
    compressor = ContextCompressor(budget_for(count, max(1, room_tokens)), token_counter=count, locale=locale)
    try:
        compressed = compressor.explain([*system, *(request.messages[at] for at in positions)])
    except BudgetError:
        return None
    fates: dict[int, Fate] = {seq: "folded" for at in positions if (seq := request.seqs[at]) is not None}
    messages = list[PromptMessage]()
    for message, source in zip(compressed.messages, compressed.sources, strict=True):
        if source is None:
            messages.append(PromptMessage("recent_messages", message))
        elif source >= len(system):
            at = positions[source - len(system)]
            if at in request.query[-1:] and message is not request.messages[at]:
                return None  # the question itself is sent in full or not at all
            entry = _prompt_message(request, at, message)
            messages.append(entry)
            if entry.seq is not None:
                fates[entry.seq] = "sent" if message.text == request.messages[at].text else "changed"
    past = sum(entry.part == "head" for entry in messages)
    return SentTurns(messages[:past], messages[past:], fates, compressed.strategy)


def in_order(
    system: Sequence[Message],
    optional: Mapping[Part, OptionalPart],
    turns: SentTurns,
    pin: Message | None,
    *,
    cache_friendly: bool,
) -> list[PromptMessage]:
    """Return the messages of a prompt in their order; ``cache_friendly``: volatile parts come after the turns."""

    def part(name: Part) -> list[PromptMessage]:
        message = optional[name].message if name in optional else None
        return [PromptMessage(name, message)] if message else []

    rules = [PromptMessage("system_prompt", message) for message in system]
    volatile = [*rules[1:], *part("summary"), *part("steps"), *part("retrieved")]
    head = [entry for entry in turns.past if entry.part == "head"]
    past = [entry for entry in turns.past if entry.part != "head"]
    middle = [*past, *volatile] if cache_friendly else [*volatile, *past]
    last = [PromptMessage("pinned", pin)] if pin else []
    return [*rules[:1], *part("constraints"), *head, *middle, *turns.run, *last]


def _prompt_message(request: Request, at: int, message: Message) -> PromptMessage:
    part: Part = "recent_messages"
    if at in request.head:
        part = "head"
    elif at >= request.start and message.role == "user":
        part = "current_input"
    return PromptMessage(part, message, request.seqs[at])
