"""One build: from a thread and a question to a context."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.context.history.modes import RECENT_TURNS
from gatekeeper_core.context.prompt.assembly import Assembly, Material
from gatekeeper_core.context.prompt.lookups import Derived, DerivedRecords, MemorySearch
from gatekeeper_core.context.prompt.parts import Sections, SystemPrompt
from gatekeeper_core.context.prompt.request import Request, make_request, needs_prompt
from gatekeeper_core.context.task.pin_text import pin_text
from gatekeeper_core.context.task.steps import ClearedStep, cleared_steps, stand_in_text
from gatekeeper_core.context.task.task import status_text
from gatekeeper_core.context.thread.index_snapshots import MIN_TURNS, Fetched
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.events import ASSEMBLY, BUILD_STARTED, LOOK_UPS, PART, SAFETY_NET
from gatekeeper_core.messages import Message, group_turns, is_answered
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.tokens import TokenCounter, count_message, count_messages
from gatekeeper_core.truncation import truncate_middle, truncate_to_tokens

if TYPE_CHECKING:
    from gatekeeper_core.context.compaction.run import RunConfig
    from gatekeeper_core.context.history.select import HistoryView
    from gatekeeper_core.context.history.selector import Restore, ThreadSelector
    from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
    from gatekeeper_core.context.prompt.lookups import LookUp
    from gatekeeper_core.context.prompt.result import BuiltContext
    from gatekeeper_core.context.prompt.workers import BoundedCalls
    from gatekeeper_core.context.task.task import ActiveTask
    from gatekeeper_core.context.thread.index_snapshots import IndexOrigin, IndexSnapshots
    from gatekeeper_core.messages import Turn
    from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
    from gatekeeper_core.text import Locale

__all__ = ["Build"]

_INPUT_TOKENS = 500
"""What a question may cost where its share is 0 and nothing may be lent. Source: requirement 001-37."""

_CUT = "…[cut]"

_NOBODY = Thread("-")
"""Stands for the thread where there is none: it has no messages."""


class _Steps(NamedTuple):
    """What stands for finished steps, and for which messages."""

    message: Message | None = None
    cleared: tuple[int, ...] = ()


class Build:
    """What one build works with; the arguments are the builder's own."""

    def __init__(
        self,
        config: ContextBuilderConfig,
        locale: Locale,
        records: DerivedRecords,
        selector: ThreadSelector[Message],
        count: TokenCounter,
        run: RunConfig,
        session_key: bytes | None,
        look: LookUp,
        *,
        snapshots: IndexSnapshots | None,
        lane: BoundedCalls,
        reserve_tokens: int,
        debug: bool,
    ) -> None:
        self._config = config
        self._locale = locale
        self._records = records
        self._selector = selector
        self._count = count
        self._run = run
        shares = config.shares.of(config.total_budget)
        self._shares = shares._replace(reserved=shares.reserved + reserve_tokens)
        self._sections = Sections(locale=locale, fencing=config.fencing, session_key=session_key, token_counter=count)
        self._look = look
        self._debug = debug
        self._snapshots = snapshots
        self._lane = lane
        self._index_origin: IndexOrigin = ""

    def context(
        self,
        thread: Thread | None,
        prompt: str,
        system_prompt: str | SystemPrompt,
        *,
        included: bool | None,
        tools: Sequence[Mapping[str, Any] | str],
    ) -> BuiltContext:
        """Return the prompt for a question; see ``ContextBuilder.build``."""
        config, named = self._config, thread or _NOBODY
        tell(BUILD_STARTED, budget_tokens=config.total_budget, history=config.history.mode, log=self._debug)
        restore = self._fetch_index(named)
        system = self._system(system_prompt)
        with stage(LOOK_UPS, thread=named.id if thread else None, log=self._debug) as seen:
            known = self._known(named, prompt)
            seen.tell(lambda: {**known.facts(), "misses": [f"{miss.part} {miss.status}" for miss in self._look.misses]})
        steps = self._steps(named, known.task)
        request, repeated = self._request(named, prompt, system, steps.cleared, included=included)
        material = Material(
            system=system,
            request=request,
            thread_length=len(named.messages),
            repeated=repeated,
            tools_tokens=self._tools_tokens(tools),
            constraints=self._sections.constraints(known.constraints),
            steps=steps.message,
            cleared=steps.cleared,
            summary=lambda limit: self._sections.summary(known.summary, limit=limit),
            upto_seq=known.summary.upto_seq if known.summary else -1,
            covered_messages=known.summary.covered_messages if known.summary else 0,
            memories=lambda limit: self._sections.memories(known.memories, limit=limit),
            found_memories=len(known.memories),
            pin_tokens=self._count(pin_text(prompt)) if config.enable_instruction_pinning else 0,
        )
        with stage(ASSEMBLY, log=self._debug) as seen:
            assembly = Assembly(
                material, config=config, shares=self._shares, locale=self._locale, token_counter=self._count
            )
            chosen = assembly.choose(lambda fixed, first: self._selected(named, request, fixed, first, restore))
            limit = assembly.pin_limit()
            pin = self._pin(named, prompt, request, known.task, chosen.view, limit) if limit else None
            context = assembly.context(chosen, pin)
            seen.tell(lambda: _assembled(context))
        trace = context.trace._replace(misses=self._look.misses, index_origin=self._index_origin)
        for number, (part, tokens) in enumerate(context.token_stats._asdict().items(), start=1):
            tell(PART, number=number, part=part, tokens=tokens, log=self._debug)  # source: requirement 001-65
        return replace(context, trace=trace)

    # --- what goes in -----------------------------------------------------------------------------------------------

    def _system(self, prompt: str | SystemPrompt) -> tuple[Message, ...]:
        """Return the system prompt, cut to its share where nothing may be lent."""
        stable, volatile = (prompt, "") if isinstance(prompt, str) else prompt
        if not self._config.redistribute:
            stable = self._within(stable, self._shares.system_prompt)
            volatile = self._within(volatile, max(0, self._shares.system_prompt - self._count(stable)))
        return tuple(Message("system", text) for text in (stable, volatile) if text.strip())

    def _within(self, text: str, limit: int) -> str:
        return truncate_to_tokens(text, limit, token_counter=self._count, marker=_CUT)

    def _known(self, thread: Thread, prompt: str) -> Derived:
        config = self._config
        if thread is _NOBODY:
            return Derived()
        start = self._window_start(thread)
        search = MemorySearch(config.memory_limit, config.memory_categories or None)
        known = self._records.look_up(
            self._look,
            thread,
            prompt,
            summary_before=start if config.enable_summary else None,
            task=config.enable_instruction_pinning,
            search=search if config.enable_memory_retrieval else None,
        )
        sent_from = start if config.history.mode != "gated" else self._window_start(thread, turns=0)
        news = (hit for hit in known.memories if hit.memory.thread != thread.id or (hit.memory.seq or 0) < sent_from)
        return known._replace(memories=tuple(news))

    def _window_start(self, thread: Thread, *, turns: int | None = None) -> int:
        """Return where the turns begin that the window shows anyway: a summary is made of what falls out of it.

        Args:
            thread: the conversation.
            turns: finished turns of the window; None: as many as the settings say.
        """
        history = self._selector.config
        most = turns if turns is not None else RECENT_TURNS if history.floor_turns is None else history.floor_turns
        left, start = self._shares.recent_messages, len(thread.messages)
        closed = is_answered(thread.messages)
        for turn in group_turns(thread.messages)[::-1][: most if closed else most + 1]:  # an open turn counts besides
            left -= count_messages(turn.messages, token_counter=self._count)
            if left < 0:
                break
            start = turn.start
        return start

    def _steps(self, thread: Thread, task: ActiveTask | None) -> _Steps:
        """Return what stands for the newest finished steps, as many as have room in the share of the summary."""
        chosen: list[ClearedStep] = []
        made = _Steps()
        for step in reversed(cleared_steps(thread, task) if task else ()):
            chosen.insert(0, step)
            message = self._sections.steps([stand_in_text(one, locale=self._locale) for one in chosen])
            if count_message(message, token_counter=self._count) > self._shares.summary:
                break
            made = _Steps(message, tuple(seq for one in chosen for seq in one.seqs))
        return made

    def _request(
        self, thread: Thread, prompt: str, system: Sequence[Message], cleared: Sequence[int], *, included: bool | None
    ) -> tuple[Request, tuple[int, ...]]:
        """Return the messages to choose from, and the one that says the system prompt again, if there is one."""
        first = thread.messages[:1]
        repeated = (0,) if first and first[0].role == "system" and first[0].text in [one.text for one in system] else ()
        needed = included is not None and needs_prompt(thread.messages, prompt, included=included)
        if needed and not included:
            tell(SAFETY_NET, log=self._debug)
        config = self._config
        limit = config.max_message_tokens or max(1, self._shares.recent_messages // 4)
        request = make_request(
            thread.messages,
            Message("user", self._question(prompt)) if needed else None,
            without={*cleared, *repeated},
            compress_result=self._run.compress_result,
            max_message_tokens=limit,
            token_counter=self._count,
        )
        return request, repeated

    def _question(self, prompt: str) -> str:
        if self._config.redistribute:
            return prompt
        return truncate_middle(prompt, self._shares.current_input or _INPUT_TOKENS, token_counter=self._count)

    def _tools_tokens(self, tools: Sequence[Mapping[str, Any] | str]) -> int:
        """Return what schemas of tools cost: their text, or compact JSON."""
        texts = (
            one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in tools
        )
        return sum(map(self._count, texts))

    # --- what is chosen ---------------------------------------------------------------------------------------------

    def _fetch_index(self, thread: Thread) -> Restore | None:
        """Ask for the index of a long thread that is unknown here, before anything else is waited for."""
        snapshots = self._snapshots
        known = thread is _NOBODY or self._selector.view_of((thread.tenant, thread.id)) is not None
        if snapshots is None or known or len(thread.messages) < MIN_TURNS:
            return None
        call = self._look.start(self._lane, partial(snapshots.fetch, thread))

        def restore(past: tuple[Turn, ...]) -> ContextGatekeeper | None:
            fetched: Fetched | None = self._look.result("index", call)
            gatekeeper, self._index_origin = snapshots.restored(thread, fetched or Fetched("unavailable"), past)
            return gatekeeper

        return restore

    def _selected(
        self, thread: Thread, request: Request, fixed_tokens: int, window_from: int, restore: Restore | None
    ) -> HistoryView:
        floor_turns = self._floor_turns(request, window_from)
        config = replace(self._selector.config, run=self._run)
        view = self._selector.view(
            request.messages,
            thread=(thread.tenant, thread.id),
            config=config if floor_turns is None else replace(config, floor_turns=floor_turns),
            fixed_tokens=fixed_tokens,
            window_from=window_from,
            restore=restore,
        )
        if view.status == "fallback":
            self._look.miss("history", "degraded", view.reason)
        return view

    def _floor_turns(self, request: Request, uncovered_from: int) -> int | None:
        """Return how many of the newest turns a hybrid history always sends: those that wait for the summary as well.

        Where there is none, the oldest of many turns wait longer than for a summary that can be had.
        """
        floor = self._selector.config.floor
        if self._config.history.mode != "hybrid" or not self._config.enable_summary:
            return None
        waiting = self._records.summaries.config.message_threshold
        turns = group_turns(request.messages[: request.start])
        for count, turn in enumerate(reversed(turns)):
            if count >= floor:
                waiting -= len(turn.messages)
                if waiting < 0 or turn.start < uncovered_from:
                    return count
        return len(turns)

    def _pin(
        self,
        thread: Thread,
        prompt: str,
        request: Request,
        known: ActiveTask | None,
        view: HistoryView | None,
        limit: int,
    ) -> Message | None:
        """Return the pin, with as many lines on the task as have room; a task that cannot be read on is as it was."""
        lines: list[str] = []
        if thread is not _NOBODY:
            asked = thread.continued(request.messages[-1:]) if request.added else thread
            verdict = view.selection.gate if view and view.selection else None
            task = self._records.update_task(self._look, asked, verdict) or known
            lines = status_text(task, locale=self._locale).splitlines() if task else []
        for count in range(len(lines), -1, -1):
            status = self._sections.fenced("\n".join(lines[:count]), "task") if count > 1 else ""
            message = Message("system", pin_text(prompt, status=status))
            if count_message(message, token_counter=self._count) <= limit:
                return message
        return None


def _assembled(context: BuiltContext) -> dict[str, Any]:
    return {
        "messages": len(context.messages),
        "total_tokens": context.token_stats.total,
        "squeezed": context.trace.squeezed,
    }
