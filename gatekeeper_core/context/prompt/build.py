"""One build: gather what is known, choose what has room, assemble the prompt, report.

::

    available = budget − margin − reserved
    must be sent      system prompt · tools · head · question · calls that wait       more than available: BudgetError
    optional          constraints > pin > steps, summary > memories                   the last gives way first
    turns             whatever is left (or the share): the current run gives way as in compaction/run.py, then the past

Where all that is optional has gone and the current run is still too long, a ``ContextCompressor`` makes it fit.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from gatekeeper_core.context.history.conversation import ContextCompressor
from gatekeeper_core.context.history.request import HistoryRequest, PromptOverhead
from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.strategies import RECENT_TURNS
from gatekeeper_core.context.memory.pin_text import pin_text
from gatekeeper_core.context.memory.steps import ClearedStep, cleared_steps, stand_in_text
from gatekeeper_core.context.memory.task import ActiveTask, status_text
from gatekeeper_core.context.memory.thread import Thread, messages_digest
from gatekeeper_core.context.prompt.lookups import BoundedCompressor, Derived, LookUp, Setup
from gatekeeper_core.context.prompt.parts import Sections, SystemPrompt
from gatekeeper_core.context.prompt.rendering import OPENING
from gatekeeper_core.context.prompt.request import Request, make_request, needs_prompt
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
from gatekeeper_core.encoder import waiting_within
from gatekeeper_core.errors import BudgetError
from gatekeeper_core.events import ASSEMBLY, BUILD_STARTED, LOOK_UPS, PART, SAFETY_NET
from gatekeeper_core.messages import Message, conversation_locale, is_answered, last_turns
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.token_budget import TokenBudgetTracker
from gatekeeper_core.token_estimate import budget_for, budget_within
from gatekeeper_core.tokens import count_message, count_messages, describe_counter
from gatekeeper_core.truncation import truncate_middle, truncate_to_tokens

if TYPE_CHECKING:
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.context.memory.search import MemoryHit
    from gatekeeper_core.pricing.prices import ModelPrices

__all__ = ["NO_THREAD", "Build"]

_INPUT_TOKENS = 500
"""What a question may cost where its share is 0 and nothing may be lent. Source: requirement 001-37."""

_JOIN_TOKENS = 2
"""What is kept free for each optional part, where a provider takes one system message and they are joined."""

_STATUS_TOKENS = 400
"""What is kept free for what the pin says of the task, beside the request itself. Source: ours; a dozen lines."""

_BOOKED_AS = {"steps": "summary", "head": "recent_messages"}
"""Parts that ``TokenStats`` counts with others."""

_CUT = "…[cut]"

NO_THREAD = Thread("-")
"""Stands for the thread where there is none: it has no messages."""


class _Entry(NamedTuple):
    """A message of the result."""

    part: Part
    message: Message
    seq: int | None = None
    told_tokens: int = 0  # what earlier turns, told before the question in it, cost


class Build:
    """One build; its methods follow its way: gather, reserve, choose, assemble.

    Args:
        setup: what it shares with others.
        thread: the conversation, or ``NO_THREAD``.
        prompt: what the user asks now.
        reserve_tokens: part of the budget kept free.
        debug: whether each stage writes a log record.
        prices: of the model that reads the prompt, None where they are not known.
        recall: whether earlier turns may be told inside the question.
    """

    def __init__(
        self,
        setup: Setup,
        thread: Thread,
        prompt: str,
        *,
        reserve_tokens: int,
        debug: bool,
        prices: ModelPrices | None,
        recall: bool,
    ) -> None:
        self._setup = setup
        self._config = config = setup.config
        self._count = setup.count
        self._thread = thread
        newest = setup.selector.config.keep_newest
        self._recent = RECENT_TURNS if newest is None else newest
        self._turns = last_turns(thread.messages, self._recent + 1)  # an open turn counts besides
        self._prompt = prompt
        self._look = LookUp(timeout_seconds=config.call_timeout_ms / 1000)
        self._locale = config.locale or conversation_locale(thread.messages, prompt)
        thread_id = None if thread is NO_THREAD else thread.id
        self._run = RunConfig(locale=self._locale, thread_id=thread_id, tenant=thread.tenant)
        if config.enable_tool_result_compression:
            bounded = BoundedCompressor(setup.tool_results, self._look, thread_id=thread_id, tenant=thread.tenant)
            has_memory = getattr(setup.tool_results, "working_memory", None) is not None
            self._run = replace(self._run, compress_result=bounded, working_memory=bounded if has_memory else None)
        shares = config.shares.of(config.total_budget)
        self._shares = shares._replace(reserved=shares.reserved + reserve_tokens)
        self._available = budget_within(setup.count, config.total_budget) - self._shares.reserved
        self._sections = Sections(
            locale=self._locale, fencing=config.fencing, session_key=setup.session_key, token_counter=setup.count
        )
        self._debug = debug
        self._prices = prices
        self._recall = recall
        self._tracks_task = config.enable_instruction_pinning is not False
        self._optional: dict[Part, tuple[Message | None, int]] = {}
        self._given_up: list[str] = []
        self._memories = 0
        self._history: HistoryView | None = None  # the selection, where there was something to select from
        self._fates: list[tuple[int, Fate]] = []
        self._squeezed = ""

    def context(
        self,
        system_prompt: str | SystemPrompt,
        *,
        included: bool | None,
        tools: Sequence[Mapping[str, Any] | str],
        pin: bool | None,
    ) -> BuiltContext:
        """Return the prompt for a question; see ``ContextBuilder.build``.

        Raises:
            BudgetError: what must be sent is over the budget by itself.
        """
        config = self._config
        tell(BUILD_STARTED, budget_tokens=config.total_budget, history=config.history.strategy, log=self._debug)
        self._known = self._look_up()
        self._upto_seq = self._known.summary.upto_seq if self._known.summary else -1
        self._covered = self._known.summary.covered_messages if self._known.summary else 0
        self._system = self._system_prompt(system_prompt)
        self._steps, self._cleared = self._finished_steps()
        self._request, self._repeated = self._with_question(included=included)
        compact = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
        self._tools_tokens = sum(self._count(one if isinstance(one, str) else compact(one)) for one in tools)
        self._pin = self._pinned() if pin or (pin is None and self._tracks_task) else ""
        with stage(ASSEMBLY, log=self._debug) as seen:
            self._reserve()
            past, run = self._chosen()
            context = self._assembled(past, run, self._pin_with_task())
            total = context.token_stats.total
            seen.tell(lambda: {"messages": len(context.messages), "total_tokens": total, "squeezed": self._squeezed})
        for number, (part, tokens) in enumerate(context.token_stats._asdict().items(), start=1):
            tell(PART, number=number, part=part, tokens=tokens, log=self._debug)  # source: requirement 001-65
        return context

    # --- gather -----------------------------------------------------------------------------------------------------

    def _look_up(self) -> Derived:
        """Return what is kept of the thread; memories of what its turns say anyway are left out."""
        config, thread = self._config, self._thread
        with stage(LOOK_UPS, thread=None if thread is NO_THREAD else thread.id, log=self._debug) as seen:
            known = Derived()
            if thread is not NO_THREAD:
                start = self._window_start(self._recent)
                known = self._setup.look_up(self._look, thread, self._prompt, window_start=start)
                keeps_newest = config.history.strategy == "window" or config.history.keep_newest
                sent_from = start if keeps_newest else self._window_start(0)
                newest = range(sent_from, len(thread.messages))
                known = known._replace(memories=self._untold(known.memories, newest))
            seen.tell(
                lambda: {
                    "constraints": len(known.constraints),
                    "used_summary": known.summary is not None,
                    "has_task": known.task is not None,
                    "memories": len(known.memories),
                    "misses": [f"{miss.part} {miss.status}" for miss in self._look.misses],
                }
            )
        return known

    def _untold(self, memories: Sequence[MemoryHit], told: Collection[int]) -> tuple[MemoryHit, ...]:
        """Return the memories but for those that messages of this thread say."""
        thread = self._thread.id
        return tuple(hit for hit in memories if hit.memory.thread != thread or (hit.memory.seq or 0) not in told)

    def _window_start(self, most: int) -> int:
        """Return where the newest turns begin, at most so many finished ones and as many as their share holds.

        Where room is lent, the run of an open turn takes theirs only once it needs it: so they stay while it grows.
        """
        cost = partial(count_messages, token_counter=self._count)
        start, turns, left = len(self._thread.messages), list(self._turns[::-1]), self._shares.recent_messages
        if turns and not is_answered(self._thread.messages):  # an open turn counts besides
            run = cost(turns[0].messages)
            if self._config.redistribute:
                left = min(left - cost(turns[0].messages[:1]), self._config.total_budget - run)
            else:
                left -= run
            if left < 0:
                return start
            start = turns.pop(0).start
        for turn in turns[:most]:
            left -= cost(turn.messages)
            if left < 0:
                break
            start = turn.start
        return start

    def _system_prompt(self, prompt: str | SystemPrompt) -> tuple[Message, ...]:
        """Return the system prompt, cut to its share where nothing may be lent."""
        stable, volatile = (prompt, "") if isinstance(prompt, str) else prompt
        if not self._config.redistribute:
            cut = partial(truncate_to_tokens, token_counter=self._count, marker=_CUT)
            stable = cut(stable, self._shares.system_prompt)
            volatile = cut(volatile, max(0, self._shares.system_prompt - self._count(stable)))
        return tuple(Message("system", text) for text in (stable, volatile) if text.strip())

    def _finished_steps(self) -> tuple[Message | None, tuple[int, ...]]:
        """Return what stands for the newest finished steps that fit the share of the summary, and their messages."""
        task = self._known.task
        chosen: list[ClearedStep] = []
        stands: Message | None = None
        for step in reversed(cleared_steps(self._thread, task) if task else ()):
            message = self._sections.steps([stand_in_text(one, locale=self._locale) for one in (step, *chosen)])
            if count_message(message, token_counter=self._count) > self._shares.summary:
                break
            chosen.insert(0, step)
            stands = message
        return stands, tuple(seq for one in chosen for seq in one.seqs)

    def _with_question(self, *, included: bool | None) -> tuple[Request, tuple[int, ...]]:
        """Return the messages to choose from, and the one that says the system prompt again, if there is one."""
        config, messages, prompt = self._config, self._thread.messages, self._prompt
        says_again = (
            messages and messages[0].role == "system" and messages[0].text in [one.text for one in self._system]
        )
        repeated = (0,) if says_again else ()
        question = None
        if included is not None and needs_prompt(self._turns, prompt, included=included):
            if not included:
                tell(SAFETY_NET, log=self._debug)
            if not config.redistribute:
                prompt = truncate_middle(prompt, self._shares.current_input or _INPUT_TOKENS, token_counter=self._count)
            question = Message("user", prompt)
        request = make_request(
            messages,
            question,
            without={*self._cleared, *repeated},
            compress_result=self._run.compress_result,
            max_message_tokens=config.max_message_tokens or max(1, self._shares.recent_messages // 4),
            token_counter=self._count,
        )
        return request, repeated

    def _pinned(self) -> str:
        """Return the pin without the status of the task; "" where the model does not reply to the user or a tool.

        That is so where calls wait for results, and where an answer comes last, which the model is to continue.
        """
        request = self._request
        if not request.asked or request.waits or is_answered(request.messages):
            return ""
        return pin_text(self._prompt)

    # --- reserve ----------------------------------------------------------------------------------------------------

    def _reserve(self) -> None:
        """Reserve what must be sent, then the optional parts that have room beside it, the most valuable first.

        Summary and memories may cost their shares, and of little room a part like theirs.
        """
        request, shares = self._request, self._shares
        joins = max(0, len(self._system) + len(request.head) - 1)  # what the form of a provider may add
        self._form = joins * _JOIN_TOKENS + (self._count(OPENING) if request.messages and not request.asked else 0)
        self._must = self._cost(self._system) + self._tools_tokens + self._form
        if self._must > self._available:
            self._refuse(self._must)
        asked = self._cost(request.messages[at] for at in {*request.head, *request.asked})
        left = self._available - self._must - asked
        left = self._take("constraints", self._sections.constraints(self._known.constraints), left)
        if self._pin:
            tokens = self._cost([Message("system", self._pin)])
            tokens += min(_STATUS_TOKENS, max(0, left - tokens) // 10)
            left = self._take("pinned", None, left, tokens=tokens)
        left = self._take("steps", self._steps, left)
        for_summary, for_memories = shares.summary, shares.retrieved
        if self._config.redistribute:
            whole = max(1, shares.summary + shares.retrieved + shares.recent_messages)
            for_summary = min(for_summary, max(0, left) * for_summary // whole)
            for_memories = min(for_memories, max(0, left) * for_memories // whole)
        summary = self._sections.summary(self._known.summary, limit=for_summary)
        if summary is None and self._covered:
            self._given_up.append("summary")
        left = self._take("summary", summary, left)
        memories, self._memories = self._sections.memories(self._known.memories, limit=for_memories)
        if memories is None and self._known.memories:
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

    # --- choose -----------------------------------------------------------------------------------------------------

    def _chosen(self) -> tuple[list[_Entry], list[_Entry]]:
        """Return what is sent of the past and of the current turn; optional parts give way before what must be sent."""
        if not self._request.messages:
            return [], []
        view = self._history = self._view()
        while view.status == "over_budget":
            if not self._optional:
                return self._folded()
            self._given_up.append(self._optional.popitem()[0])
            view = self._history = self._view(again=True)
        if view.status == "fallback":
            self._look.miss("history", "degraded", view.reason)
        missed = view.selection.embedder_missed if view.selection else ""
        if missed:
            self._look.miss("meaning", *((missed,) if missed in ("late", "busy") else ("degraded", missed)))
        return self._kept(view)

    def _view(self, *, again: bool = False) -> HistoryView:
        # A summary that is not sent covers nothing.
        window_from = self._request.first_behind(self._upto_seq) if "summary" in self._optional else 0
        selector, thread = self._setup.selector, self._thread
        config = replace(selector.config, run=self._run)
        if config.strategy != "window" and config.keep_newest and self._config.enable_summary:
            config = replace(config, keep_newest=self._keep_newest(window_from, config.keep_newest))
        with waiting_within(self._look.waits):
            return selector.view(
                self._request.messages,
                HistoryRequest(
                    fixed_tokens=self._fixed_tokens(),
                    overhead=self._overhead(),
                    prices=self._prices,
                    window_from=window_from,
                    can_recall=self._recall,
                ),
                thread=thread.id,
                tenant=thread.tenant,
                config=config,
                stored=None if again else self._known.policy,
                again=again,
            )

    def _keep_newest(self, uncovered_from: int, least: int) -> int:
        """Return how many of the newest turns are always sent: those that wait for the summary as well.

        Where there is none, the oldest of many turns wait longer than for a summary that can be had.
        """
        waiting = self._setup.summaries.config.message_threshold
        starts = self._request.starts
        for count in range(least, len(starts) - 1):
            start = starts[-2 - count]
            waiting -= starts[-1 - count] - start
            if waiting < 0 or start < uncovered_from:
                return count
        return max(0, len(starts) - 1)

    def _fixed_tokens(self) -> int:
        """Return what is sent beside the turns: where nothing may be lent, the turns get their share and no more."""
        fixed = self._must + self._shares.reserved + sum(cost + _JOIN_TOKENS for _, cost in self._optional.values())
        if self._config.redistribute:
            return fixed
        asked = self._cost(self._request.messages[at] for at in self._request.asked)
        return max(fixed, self._available + self._shares.reserved - self._shares.recent_messages - asked)

    def _overhead(self) -> PromptOverhead:
        """Return which of the fixed tokens stand where, and what of them moves.

        The pin counts as free: nothing is read from a cache behind it, and it costs the same whatever turns are sent.
        """
        optional = self._optional
        costs = {part: cost + _JOIN_TOKENS for part, (_, cost) in optional.items()}
        pin, summary = costs.get("pinned", 0), costs.get("summary", 0)
        volatile = self._cost(self._system[1:])
        moving = volatile + sum(costs.get(part, 0) for part in ("summary", "steps", "retrieved"))
        sent = self._must + self._shares.reserved + sum(costs.values())
        is_tail = self._config.cache_friendly
        firm = [*self._system[: 1 if is_tail else None], optional.get("constraints", (None, 0))[0]]
        firm += [] if is_tail else [optional.get(part, (None, 0))[0] for part in ("steps", "retrieved")]
        told = optional.get("summary", (None, 0))[0]
        reserved = self._config.shares.of(self._config.total_budget).reserved
        return PromptOverhead(
            before_tokens=0 if is_tail else moving,
            after_tokens=moving if is_tail else 0,
            unsent_tokens=pin + self._fixed_tokens() - sent + reserved,
            summary_tokens=summary if self._request.says_all(self._upto_seq) else 0,
            before_digest=messages_digest(message for message in firm if message),
            summary_digest="" if is_tail or told is None else messages_digest([told]),
        )

    def _kept(self, view: HistoryView) -> tuple[list[_Entry], list[_Entry]]:
        """Return what a view keeps; a summary of messages that are all sent as they were said is left out."""
        request, replaced, folded = self._request, dict(view.replaced), frozenset(view.folded)
        entries, fates = list[_Entry](), self._fates
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
        covered = range(self._upto_seq + 1)
        if 0 < len(covered) <= len(sent) and sent.issuperset(covered):
            self._optional.pop("summary", None)
        before, cost = self._optional.pop("retrieved", (None, 0))
        if before:  # but for the memories that messages say which are sent
            said = {seq for seq, fate in fates if fate in ("sent", "recalled")}
            memories, self._memories = self._sections.memories(self._untold(self._known.memories, said), limit=cost)
            self._take("retrieved", memories, cost + _JOIN_TOKENS)
        start = sum(at < request.start for at in view.kept)
        return entries[:start], entries[start:]

    def _entry(self, at: int, message: Message) -> _Entry:
        request = self._request
        part: Part = "recent_messages"
        if at in request.head:
            part = "head"
        elif at >= request.start and message.role == "user":
            part = "current_input"
        return _Entry(part, message, request.seqs[at])

    def _folded(self) -> tuple[list[_Entry], list[_Entry]]:
        """Return the head and the current turn alone, made to fit by folding and cutting.

        Raises:
            BudgetError: the question and the calls that wait are over the budget by themselves.
        """
        request = self._request
        places = (*request.head, *range(request.start, len(request.messages)))
        limit = budget_for(self._count, max(1, self._available - self._tools_tokens - self._form))
        compressor = ContextCompressor(limit, token_counter=self._count, locale=self._locale)
        try:
            made = compressor.explain([*self._system, *(request.messages[at] for at in places)])
        except BudgetError:
            self._refuse_turn(places)
        entries, sent = [], dict[int, Fate]()
        for message, source in zip(made.messages, made.sources, strict=True):
            if source is None:
                entries.append(_Entry("recent_messages", message))
            elif source >= len(self._system):
                at = places[source - len(self._system)]
                if at in request.asked[-1:] and message is not request.messages[at]:
                    self._refuse_turn(places)  # the question itself is sent whole or not at all
                entries.append(self._entry(at, message))
                sent[at] = "sent" if message.text == request.messages[at].text else "changed"
        seqs = ((at, request.seqs[at]) for at in places)
        self._fates += [(seq, sent.get(at, "folded")) for at, seq in seqs if seq is not None]
        self._squeezed = made.strategy
        start = sum(entry.part == "head" for entry in entries)
        return entries[:start], entries[start:]

    def _refuse_turn(self, places: Sequence[int]) -> NoReturn:
        """Refuse what must be sent at the least: head, question, and calls that wait."""
        request = self._request
        waiting = [at for at in places if request.messages[at].tool_calls][-1:] if request.waits else []
        least = {*request.head, *request.asked[-1:], *waiting}
        self._refuse(self._must + self._cost(request.messages[at] for at in least))

    def _refuse(self, needed: int) -> NoReturn:
        needed_tokens = budget_for(self._count, needed + self._shares.reserved)
        raise BudgetError(needed_tokens=needed_tokens, available_tokens=self._config.total_budget)

    # --- assemble ---------------------------------------------------------------------------------------------------

    def _task(self) -> ActiveTask | None:
        """Return the task with the question read; one that cannot be read on is as it was."""
        request, known = self._request, self._known.task
        if self._thread is NO_THREAD or not self._tracks_task or not self._prompt.strip():
            return known
        asked = self._thread.continued([request.messages[request.start]]) if request.added else self._thread
        selection = self._history.selection if self._history else None
        verdict = selection.gate if selection else None
        update = partial(self._setup.tasks.update, asked, verdict=verdict)
        updated: ActiveTask | None = self._look.ask("task", update)
        return updated or known

    def _pin_with_task(self) -> Message | None:
        """Return the pin, with as many lines on the task as have room; None where it has none."""
        task = self._task()
        _, limit = self._optional.get("pinned", (None, 0))
        if not limit:
            return None
        lines = status_text(task, locale=self._locale).splitlines() if task else []
        for count in range(len(lines), 1, -1):
            status = self._sections.fenced("\n".join(lines[:count]), "task")
            message = Message("system", pin_text(self._prompt, status=status))
            if count_message(message, token_counter=self._count) <= limit:
                return message
        return Message("system", self._pin)

    def _assembled(self, past: list[_Entry], run: list[_Entry], pin: Message | None) -> BuiltContext:
        """Return the prompt, every token of it accounted for."""
        entries = self._in_order(past, run, pin)
        costs = [self._cost([entry.message]) for entry in entries]
        parts = tuple(BuiltPart(entry.part, entry.seq, cost) for entry, cost in zip(entries, costs, strict=True))
        used_summary = "summary" in self._optional
        known: list[tuple[int, Fate]] = [*self._fates, *((seq, "sent") for seq in self._repeated)]
        known += ((seq, "step") for seq in self._cleared if "steps" in self._optional)
        metadata = BuildMetadata(
            included_message_count=sum(part.seq is not None for part in parts),
            summarized_message_count=self._covered if used_summary else 0,
            used_summary=used_summary,
            retrieved_memory_count=self._memories if "retrieved" in self._optional else 0,
        )
        trace = BuildTrace(
            parts=parts,
            fates=fates_of(
                len(self._thread.messages),
                known,
                summarized=self._upto_seq + 1 if used_summary else 0,
            ),
            shares=self._shares,
            budget_tokens=self._config.total_budget,
            available_tokens=self._available,
            view=self._history,
            safety_net=self._request.added,
            given_up=tuple(self._given_up),
            squeezed=self._squeezed,
            misses=self._look.misses,
            **describe_counter(self._count),
        )
        books = TokenBudgetTracker(max(1, self._config.total_budget))
        books.allocate("tools", self._tools_tokens)
        for entry, part in zip(entries, parts, strict=True):
            books.allocate(_BOOKED_AS.get(part.part, part.part), part.tokens - entry.told_tokens)
            books.allocate("recent_messages", entry.told_tokens)
        stats = TokenStats(**books.breakdown, total=books.used)
        return BuiltContext(tuple(entry.message for entry in entries), stats, metadata, trace)

    def _in_order(self, past: list[_Entry], run: list[_Entry], pin: Message | None) -> list[_Entry]:
        system = [_Entry("system_prompt", message) for message in self._system]
        taken = {part: [_Entry(part, message)] for part, (message, _) in self._optional.items() if message}
        summary, steps, memories = (taken.get(part, []) for part in ("summary", "steps", "retrieved"))
        volatile = [*system[1:], *summary, *steps, *memories]
        head = [entry for entry in past if entry.part == "head"]
        turns = [entry for entry in past if entry.part != "head"]
        middle = [*turns, *volatile] if self._config.cache_friendly else [*volatile, *turns]
        last = [_Entry("pinned", pin)] if pin else []
        return [*system[:1], *taken.get("constraints", []), *head, *middle, *run, *last]

    def _cost(self, messages: Iterable[Message]) -> int:
        return count_messages(messages, token_counter=self._count)
