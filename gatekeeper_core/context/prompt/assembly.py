"""A prompt put together within its budget: what must be sent, what is optional in its order, and the turns beside it.

::

    available = budget − margin − reserved
    must be sent      system prompt · tools · head · question · calls that wait       more than available: BudgetError
    optional          constraints > pin > steps, summary > memories                   the last gives way first
    turns             whatever is left (or the share): the current run gives way as in compaction/run.py, then the past

Where all that is optional has gone and the current run is still too long, a ``ContextCompressor`` makes it fit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from gatekeeper_core.context.compaction.conversation import ContextCompressor
from gatekeeper_core.context.history.account import Around
from gatekeeper_core.context.prompt.budget import ContextBudget
from gatekeeper_core.context.prompt.rendering import OPENING
from gatekeeper_core.context.prompt.request import Request
from gatekeeper_core.context.prompt.result import (
    BuildMetadata,
    BuildTrace,
    BuiltContext,
    BuiltPart,
    Fate,
    Part,
    TokenStats,
    fates_of,
)
from gatekeeper_core.context.thread.thread import messages_digest
from gatekeeper_core.errors import BudgetError
from gatekeeper_core.messages import Message
from gatekeeper_core.text import Locale
from gatekeeper_core.token_budget import TokenBudgetTracker
from gatekeeper_core.token_estimate import budget_for, budget_within
from gatekeeper_core.tokens import TokenCounter, count_messages, describe_counter

if TYPE_CHECKING:
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.context.prompt.budget import ContextBuilderConfig

__all__ = ["Assembly", "Chosen", "Material"]

_JOIN_TOKENS = 2
"""What is kept free for each optional part, where a provider takes one system message and they are joined."""

_STATUS_TOKENS = 400
"""What is kept free for what the pin says of the task, beside the request itself. Source: ours; a dozen lines."""

_BOOKED_AS = {"steps": "summary", "head": "recent_messages"}
"""Parts that ``TokenStats`` counts with others."""


class Material(NamedTuple):
    """What one build has to put together.

    Attributes:
        system: the system prompt, stable part first; no, one or two messages.
        request: the messages of the thread and the question.
        thread_length: messages of the thread.
        repeated: sequence numbers of messages that say the system prompt again: they are sent with it.
        tools_tokens: what the schemas of tools cost.
        constraints: what the user has laid down for good.
        steps: what stands for finished steps.
        cleared: sequence numbers that it stands for.
        summary: gives the summary within a limit of tokens, None where there is none.
        upto_seq: sequence number of the newest message that the summary covers, -1 for none.
        covered_messages: how many it covers.
        memories: gives memories within a limit of tokens, and how many, but for those that messages with some sequence
            numbers say anyway.
        pin: the pin without the status of the task, "" for no pin.
        found_memories: how many memories were found.
    """

    system: tuple[Message, ...]
    request: Request
    thread_length: int
    repeated: tuple[int, ...]
    tools_tokens: int
    constraints: Message | None
    steps: Message | None
    cleared: tuple[int, ...]
    summary: Callable[[int], Message | None]
    upto_seq: int
    covered_messages: int
    memories: Callable[[int, Collection[int]], tuple[Message | None, int]]
    pin: str
    found_memories: int = 0


class _Entry(NamedTuple):
    """A message of the result."""

    part: Part
    message: Message
    seq: int | None = None
    told_tokens: int = 0  # what earlier turns, told before the question in it, cost


class Chosen(NamedTuple):
    """What is sent of the thread.

    Attributes:
        entries: the messages, in order; those from ``start`` on are the current turn.
        start: where the current turn begins among them.
        fates: what became of messages of the thread.
        view: the selection behind it.
        squeezed: how the current run was made to fit, "" where that was not needed.
    """

    entries: list[_Entry]
    start: int
    fates: list[tuple[int, Fate]]
    view: HistoryView | None
    squeezed: str = ""


class Assembly:
    """One build's books.

    Raises:
        BudgetError: what must be sent is over the budget by itself.
    """

    def __init__(
        self,
        material: Material,
        *,
        config: ContextBuilderConfig,
        shares: ContextBudget,
        locale: Locale,
        token_counter: TokenCounter,
    ) -> None:
        self._material = material
        self._config = config
        self._shares = shares
        self._locale: Locale = locale
        self._count = token_counter
        self._available = budget_within(token_counter, config.total_budget) - shares.reserved
        request = material.request
        self._head = request.head
        joins = max(0, len(material.system) + len(self._head) - 1)  # what the form of a provider may add
        self._rendering = joins * _JOIN_TOKENS + (self._count(OPENING) if request.messages and not request.asked else 0)
        self._must = self._cost(material.system) + material.tools_tokens + self._rendering
        if self._must > self._available:
            self._refuse(self._must)
        self._optional: dict[Part, tuple[Message | None, int]] = {}
        self._given_up: list[str] = []
        self._memories = 0
        self._choose_optional()

    # --- what is optional -------------------------------------------------------------------------------------------

    def _choose_optional(self) -> None:
        """Take the optional parts for which there is room beside what must be sent, the most valuable first.

        Summary and memories may cost their shares, and of little room a part like theirs.
        """
        material, request, shares = self._material, self._material.request, self._shares
        asked = self._cost(request.messages[at] for at in {*self._head, *request.asked})
        left = self._available - self._must - asked
        left = self._take("constraints", material.constraints, left)
        if material.pin:
            tokens = self._cost([Message("system", material.pin)])
            tokens += min(_STATUS_TOKENS, max(0, left - tokens) // 10)
            left = self._take("pinned", None, left, tokens=tokens)
        left = self._take("steps", material.steps, left)
        for_summary, for_memories = shares.summary, shares.retrieved
        if self._config.redistribute:
            whole = max(1, shares.summary + shares.retrieved + shares.recent_messages)
            for_summary = min(for_summary, max(0, left) * for_summary // whole)
            for_memories = min(for_memories, max(0, left) * for_memories // whole)
        summary = material.summary(for_summary)
        if summary is None and material.covered_messages:
            self._given_up.append("summary")
        left = self._take("summary", summary, left)
        memories, self._memories = material.memories(for_memories, ())
        if memories is None and material.found_memories:
            self._given_up.append("retrieved")
        self._take("retrieved", memories, left)

    def _take(self, part: Part, message: Message | None, left: int, *, tokens: int = 0) -> int:
        """Note an optional part where it has room, and return what is left."""
        tokens = self._cost([message]) if message else tokens
        if message is None and not tokens:
            return left
        if tokens + _JOIN_TOKENS > left:
            self._given_up.append(part)
            return left
        self._optional[part] = message, tokens
        return left - tokens - _JOIN_TOKENS

    def give_up(self) -> bool:
        """Give up the least valuable optional part; False where none is left."""
        if not self._optional:
            return False
        self._given_up.append(self._optional.popitem()[0])
        return True

    # --- turns ------------------------------------------------------------------------------------------------------

    def fixed_tokens(self) -> int:
        """Return what is sent beside the turns: where nothing may be lent, the turns get their share and no more."""
        fixed = self._must + self._shares.reserved + sum(cost + _JOIN_TOKENS for _, cost in self._optional.values())
        if self._config.redistribute:
            return fixed
        asked = self._cost(self._material.request.messages[at] for at in self._material.request.asked)
        return max(fixed, self._available + self._shares.reserved - self._shares.recent_messages - asked)

    def around(self) -> Around:
        """Return which of the fixed tokens stand where, and what of them moves.

        The pin counts as free: nothing is read from a cache behind it, and it costs the same whatever turns are sent.
        """
        material, optional = self._material, self._optional
        costs = {part: cost + _JOIN_TOKENS for part, (_, cost) in optional.items()}
        pin, summary = costs.get("pinned", 0), costs.get("summary", 0)
        volatile = self._cost(material.system[1:])
        moving = volatile + sum(costs.get(part, 0) for part in ("summary", "steps", "retrieved"))
        sent = self._must + self._shares.reserved + sum(costs.values())
        is_tail = self._config.cache_friendly
        firm = [*material.system[: 1 if is_tail else None], optional.get("constraints", (None, 0))[0]]
        firm += [] if is_tail else [optional.get(part, (None, 0))[0] for part in ("steps", "retrieved")]
        told = optional.get("summary", (None, 0))[0]
        return Around(
            ahead_tokens=0 if is_tail else moving,
            behind_tokens=moving if is_tail else 0,
            free_tokens=pin + self.fixed_tokens() - sent + self._config.shares.of(self._config.total_budget).reserved,
            stand_in_tokens=summary if material.request.says_all(material.upto_seq) else 0,
            ahead=messages_digest(message for message in firm if message),
            stand_in="" if is_tail or told is None else messages_digest([told]),
        )

    def window_from(self) -> int:
        """Return the first position that no summary covers: a summary that is not sent covers nothing."""
        if "summary" not in self._optional:
            return 0
        return self._material.request.first_behind(self._material.upto_seq)

    def kept(self, view: HistoryView) -> Chosen:
        """Return what a view keeps; a summary of messages that are all sent as they were said is left out."""
        request, replaced, folded = self._material.request, dict(view.replaced), frozenset(view.folded)
        entries: list[_Entry] = []
        fates: list[tuple[int, Fate]] = []
        told_in = next((at for at, message in view.replaced if view.told and message.text.startswith(view.told)), None)
        for at in view.kept:
            entry = self._entry(at, replaced.get(at, request.messages[at]))
            if at == told_in:
                told_tokens = self._cost([entry.message]) - self._cost([request.messages[at]])
                entry = entry._replace(told_tokens=told_tokens)
            entries.append(entry._replace(seq=None) if at in folded else entry)
        recalled = view.bill.recalled if view.bill and told_in is not None else ()
        told = {at for turn in recalled for at in range(request.starts[turn], request.starts[turn + 1])}
        for at in {*view.kept, *folded, *told}:
            fate: Fate = "changed" if at in request.changed or (at in replaced and at != told_in) else "sent"
            fate = "folded" if at in folded else "recalled" if at in told else fate
            seq = request.seqs[at]
            if seq is not None:
                fates.append((seq, fate))
        sent = {seq for seq, fate in fates if fate == "sent"}
        covered = range(self._material.upto_seq + 1)
        if 0 < len(covered) <= len(sent) and sent.issuperset(covered):
            self._optional.pop("summary", None)
        before, cost = self._optional.pop("retrieved", (None, 0))
        if before:  # but for the memories that messages say which are sent
            said = {seq for seq, fate in fates if fate in ("sent", "recalled")}
            memories, self._memories = self._material.memories(cost, said)
            self._take("retrieved", memories, cost + _JOIN_TOKENS)
        return Chosen(entries, sum(at < request.start for at in view.kept), fates, view)

    def _entry(self, at: int, message: Message) -> _Entry:
        request = self._material.request
        part: Part = "recent_messages"
        if at in self._head:
            part = "head"
        elif at >= request.start and message.role == "user":
            part = "current_input"
        return _Entry(part, message, request.seqs[at])

    def squeezed(self, view: HistoryView) -> Chosen:
        """Return the head and the current turn alone, made to fit by folding and cutting.

        Raises:
            BudgetError: the question and the calls that wait are over the budget by themselves.
        """
        material, request = self._material, self._material.request
        places = (*self._head, *range(request.start, len(request.messages)))
        limit = budget_for(self._count, max(1, self._available - material.tools_tokens - self._rendering))
        compressor = ContextCompressor(limit, token_counter=self._count, locale=self._locale)
        try:
            made = compressor.explain([*material.system, *(request.messages[at] for at in places)])
        except BudgetError:
            self._refuse_turn(places)
        entries, sent = [], dict[int, Fate]()
        for message, source in zip(made.messages, made.sources, strict=True):
            if source is None:
                entries.append(_Entry("recent_messages", message))
            elif source >= len(material.system):
                at = places[source - len(material.system)]
                if at in request.asked[-1:] and message is not request.messages[at]:
                    self._refuse_turn(places)  # the question itself is sent whole or not at all
                entries.append(self._entry(at, message))
                sent[at] = "sent" if message.text == request.messages[at].text else "changed"
        seqs = ((at, request.seqs[at]) for at in places)
        fates: list[tuple[int, Fate]] = [(seq, sent.get(at, "folded")) for at, seq in seqs if seq is not None]
        return Chosen(entries, sum(entry.part == "head" for entry in entries), fates, view, made.strategy)

    def _refuse_turn(self, places: Sequence[int]) -> NoReturn:
        """Refuse what must be sent at the least: head, question, and calls that wait."""
        request = self._material.request
        waiting = [at for at in places if request.messages[at].tool_calls][-1:] if request.waits else []
        least = {*self._head, *request.asked[-1:], *waiting}
        self._refuse(self._must + self._cost(request.messages[at] for at in least))

    def _refuse(self, needed: int) -> NoReturn:
        needed_tokens = budget_for(self._count, needed + self._shares.reserved)
        raise BudgetError(needed_tokens=needed_tokens, available_tokens=self._config.total_budget)

    # --- the result -------------------------------------------------------------------------------------------------

    def pin_limit(self) -> int:
        """Return what the pin may cost; 0 where there is none."""
        return self._optional.get("pinned", (None, 0))[1]

    def context(self, chosen: Chosen, pin: Message | None) -> BuiltContext:
        """Return the prompt, every token of it accounted for."""
        entries = self._in_order(chosen, pin)
        costs = [self._cost([entry.message]) for entry in entries]
        parts = tuple(BuiltPart(entry.part, entry.seq, cost) for entry, cost in zip(entries, costs, strict=True))
        used_summary = "summary" in self._optional
        known: list[tuple[int, Fate]] = [*chosen.fates, *((seq, "sent") for seq in self._material.repeated)]
        known += ((seq, "step") for seq in self._material.cleared if "steps" in self._optional)
        metadata = BuildMetadata(
            included_message_count=sum(part.seq is not None for part in parts),
            summarized_message_count=self._material.covered_messages if used_summary else 0,
            used_summary=used_summary,
            retrieved_memory_count=self._memories if "retrieved" in self._optional else 0,
        )
        trace = BuildTrace(
            parts=parts,
            fates=fates_of(
                self._material.thread_length,
                known,
                summarized=self._material.upto_seq + 1 if used_summary else 0,
            ),
            shares=self._shares,
            budget_tokens=self._config.total_budget,
            available_tokens=self._available,
            view=chosen.view,
            safety_net=self._material.request.added,
            given_up=tuple(self._given_up),
            squeezed=chosen.squeezed,
            **describe_counter(self._count),
        )
        books = TokenBudgetTracker(max(1, self._config.total_budget))
        books.allocate("tools", self._material.tools_tokens)
        for entry, part in zip(entries, parts, strict=True):
            books.allocate(_BOOKED_AS.get(part.part, part.part), part.tokens - entry.told_tokens)
            books.allocate("recent_messages", entry.told_tokens)
        stats = TokenStats(**books.breakdown, total=books.used)
        return BuiltContext(tuple(entry.message for entry in entries), stats, metadata, trace)

    def _in_order(self, chosen: Chosen, pin: Message | None) -> list[_Entry]:
        entries, start = chosen.entries, chosen.start
        system = [_Entry("system_prompt", message) for message in self._material.system]
        taken = {part: [_Entry(part, message)] for part, (message, _) in self._optional.items() if message}
        summary, steps, memories = (taken.get(part, []) for part in ("summary", "steps", "retrieved"))
        volatile = [*system[1:], *summary, *steps, *memories]
        head = [entry for entry in entries[:start] if entry.part == "head"]
        past = [entry for entry in entries[:start] if entry.part != "head"]
        middle = [*past, *volatile] if self._config.cache_friendly else [*volatile, *past]
        last = [_Entry("pinned", pin)] if pin else []
        return [*system[:1], *taken.get("constraints", []), *head, *middle, *entries[start:], *last]

    def _cost(self, messages: Iterable[Message]) -> int:
        return count_messages(messages, token_counter=self._count)
