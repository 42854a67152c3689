"""One build: from a thread and a question to a context."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from gatekeeper_core.context.history.modes import HistoryMode
from gatekeeper_core.context.history.selector import PASSTHROUGH_BELOW
from gatekeeper_core.context.prompt.assembly import Assembly, Material
from gatekeeper_core.context.prompt.budget import BudgetShares
from gatekeeper_core.context.prompt.lookups import Derived, DerivedRecords, MemorySearch
from gatekeeper_core.context.prompt.parts import Sections, SystemPrompt
from gatekeeper_core.context.prompt.request import Request, make_request, needs_prompt
from gatekeeper_core.context.task.pin_text import pin_text
from gatekeeper_core.context.task.steps import ClearedStep, cleared_steps, stand_in_text
from gatekeeper_core.context.task.task import status_text
from gatekeeper_core.context.thread.index_snapshots import MIN_TURNS, Fetched
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.events import ASSEMBLY, BUILD_STARTED, LOOK_UPS, PART, SAFETY_NET
from gatekeeper_core.messages import Message, group_turns
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.text import Locale
from gatekeeper_core.tokens import TokenCounter, count_message, count_messages
from gatekeeper_core.truncation import truncate_middle, truncate_to_tokens

if TYPE_CHECKING:
    from gatekeeper_core.context.compaction.run import RunConfig
    from gatekeeper_core.context.history.select import HistoryView
    from gatekeeper_core.context.history.selector import Restore, ThreadSelector
    from gatekeeper_core.context.prompt.lookups import LookUp
    from gatekeeper_core.context.prompt.result import BuiltContext
    from gatekeeper_core.context.prompt.workers import BoundedCalls
    from gatekeeper_core.context.task.task import ActiveTask
    from gatekeeper_core.context.thread.index_snapshots import IndexOrigin, IndexSnapshots
    from gatekeeper_core.messages import Turn
    from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
    from gatekeeper_core.selection.planner import GatekeeperConfig

__all__ = ["Build", "ContextBuilderConfig"]

_INPUT_TOKENS = 500
"""What a question may cost where its share is 0 and nothing may be lent. Source: requirement 001-37."""

_CUT = "…[cut]"

_NOBODY = Thread("-")
"""Stands for the thread where there is none: it has no messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBuilderConfig:
    """How prompts are built.

    Attributes:
        total_budget: tokens of the whole prompt, >= 1. Source: specification 001-55.
        sliding_window_size: most turns of the window in mode ``window``, >= 0. Source: specification 001-56.
        enable_summary: whether the thread is summarised. Source: specification 001-57, as the next three.
        enable_memory_retrieval: whether long-term memories are searched, and made from what the user says.
        enable_tool_result_compression: whether tool results are made smaller: past ones always, those of the current
            run where they have no room.
        enable_instruction_pinning: whether what the user asks is said again at the end.
        shares: the parts of the budget.
        history: ``hybrid`` sends the newest turns and what the question needs of the others; ``gated`` what it needs
            alone; ``window`` the newest turns alone. Source: requirement C5.
        recent_turns: newest turns that ``hybrid`` always sends where they fit, >= 0. Source: ours; as many rounds as
            compaction keeps.
        passthrough_below: tokens up to which the whole history is sent, where it fits, >= 0. Source: as in
            ``HistoryConfig``.
        trim: whether long messages of the turns that are neither among the newest nor the current one are cut to what
            matters. Source: specification 3.5.
        redistribute: whether unused shares flow to the turns, and the system prompt and the question borrow what they
            need. False: each part is cut to its share, and the cut is marked. Source: requirement 001-49.
        cache_friendly: whether what changes from build to build (volatile system parts, summary, memories) stands
            between the turns and the question, so that the beginning stays the same. Source: requirement C9.
        fencing: whether what others wrote is fenced. Source: requirement 001-76.
        locale: language of headings and placeholders, ``zh`` or ``en``. Source: requirement C17.
        max_message_tokens: longest text of a past message; a longer one is cut in the middle. None: a quarter of the
            share of the turns. Source: requirement 004-48.
        memory_limit: memories asked for, >= 1. Source: specification 001-24, as the next three.
        memory_min_similarity: least similarity, 0..1; None: 0.6 for an embedder, a measured value without.
        memory_categories: categories that are searched; empty: all.
        call_timeout_ms: how long a build waits for stores and models in all, >= 0.
        gatekeeper: settings of the selection; None: the defaults.
    """

    total_budget: int = 48_000
    sliding_window_size: int = 20
    enable_summary: bool = True
    enable_memory_retrieval: bool = True
    enable_tool_result_compression: bool = True
    enable_instruction_pinning: bool = True
    shares: BudgetShares = field(default_factory=BudgetShares)
    history: HistoryMode = "hybrid"
    recent_turns: int = 3
    passthrough_below: int = PASSTHROUGH_BELOW
    trim: bool = True
    redistribute: bool = True
    cache_friendly: bool = False
    fencing: bool = True
    locale: Locale = "zh"
    max_message_tokens: int | None = None
    memory_limit: int = 3
    memory_min_similarity: float | None = None
    memory_categories: tuple[str, ...] = ("user_preference",)
    call_timeout_ms: int = 500
    gatekeeper: GatekeeperConfig | None = None

    def __post_init__(self) -> None:
        check_range(self, "total_budget", "memory_limit", low=1, whole=True)
        check_range(self, "sliding_window_size", "recent_turns", "passthrough_below", low=0, whole=True)
        check_range(self, "call_timeout_ms", low=0, whole=True)
        if self.max_message_tokens is not None:
            check_range(self, "max_message_tokens", low=1, whole=True)
        if self.memory_min_similarity is not None:
            check_range(self, "memory_min_similarity", low=0, high=1)
        for name, words in (("history", get_args(HistoryMode)), ("locale", get_args(Locale))):
            if getattr(self, name) not in words:
                raise ConfigError(
                    f"ContextBuilderConfig.{name} must be one of {', '.join(words)}, got {getattr(self, name)!r}"
                )
        flags = ("trim", "redistribute", "cache_friendly", "fencing")
        for name in (*flags, *(name for name in self.__slots__ if name.startswith("enable_"))):
            if not isinstance(getattr(self, name), bool):
                got = type(getattr(self, name)).__name__
                raise TypeError(f"ContextBuilderConfig.{name} must be a bool, got {got}")
        if not isinstance(self.shares, BudgetShares):
            raise TypeError(f"ContextBuilderConfig.shares must be BudgetShares, got {type(self.shares).__name__}")


class _Steps(NamedTuple):
    """What stands for finished steps, and for which messages."""

    message: Message | None = None
    cleared: tuple[int, ...] = ()


class Build:
    """What one build works with; the arguments are the builder's own."""

    def __init__(
        self,
        config: ContextBuilderConfig,
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
        self._records = records
        self._selector = selector
        self._count = count
        self._run = run
        shares = config.shares.of(config.total_budget)
        self._shares = shares._replace(reserved=shares.reserved + reserve_tokens)
        self._sections = Sections(
            locale=config.locale, fencing=config.fencing, session_key=session_key, token_counter=count
        )
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
        tell(BUILD_STARTED, budget_tokens=config.total_budget, history=config.history, log=self._debug)
        restore = self._fetch_index(named)
        system = self._system(system_prompt)
        with stage(LOOK_UPS, thread=named.id if thread else None, log=self._debug) as seen:
            known = self._known(named, prompt)
            seen.tell(lambda: {**known.facts(), "misses": [f"{miss.part} {miss.status}" for miss in self._look.misses]})
        steps = self._steps(named, known.task)
        request, repeated = self._request(named, prompt, system, steps.cleared, included=included)
        assembly = Assembly(
            Material(
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
            ),
            select=lambda fixed, first: self._selected(named, request, fixed, first, restore),
            pin=lambda view, limit: self._pin(named, prompt, request, known.task, view, limit),
            budget_tokens=config.total_budget,
            shares=self._shares,
            redistribute=config.redistribute,
            cache_friendly=config.cache_friendly,
            locale=config.locale,
            token_counter=self._count,
        )
        with stage(ASSEMBLY, log=self._debug) as seen:
            context = assembly.built()
            seen.tell(lambda: _assembled(context))
        context = replace(
            context, trace=context.trace._replace(misses=self._look.misses, index_origin=self._index_origin)
        )
        self._report(context)
        return context

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
        search = MemorySearch(config.memory_limit, config.memory_min_similarity, config.memory_categories or None)
        known = self._records.look_up(
            self._look,
            thread,
            prompt,
            summary_before=start if config.enable_summary else None,
            task=config.enable_instruction_pinning,
            search=search if config.enable_memory_retrieval else None,
        )
        sent_from = start if config.history != "gated" else self._window_start(thread, turns=0)
        news = (hit for hit in known.memories if hit.memory.thread != thread.id or (hit.memory.seq or 0) < sent_from)
        return known._replace(memories=tuple(news))

    def _window_start(self, thread: Thread, *, turns: int | None = None) -> int:
        """Return where the turns begin that the window shows anyway: a summary is made of what falls out of it.

        Args:
            thread: the conversation.
            turns: finished turns of the window; None: as many as the settings say.
        """
        config = self._config
        most = config.sliding_window_size if config.history == "window" else config.recent_turns
        most = most if turns is None else turns
        left, start = self._shares.recent_messages, len(thread.messages)
        last = thread.messages[-1:]
        closed = bool(last) and last[0].role == "assistant" and not last[0].tool_calls
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
            message = self._sections.steps([stand_in_text(one, locale=self._config.locale) for one in chosen])
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
        view = self._selector.view(
            request.messages,
            thread=(thread.tenant, thread.id),
            fixed_tokens=fixed_tokens,
            window_from=window_from,
            floor_turns=self._floor_turns(request, window_from),
            run=self._run,
            restore=restore,
        )
        if view.status == "fallback":
            self._look.miss("history", "degraded", view.reason)
        return view

    def _floor_turns(self, request: Request, uncovered_from: int) -> int | None:
        """Return how many of the newest turns a hybrid history always sends: those that wait for the summary as well.

        Where there is none, the oldest of many turns wait longer than for a summary that can be had.
        """
        config = self._config
        if config.history != "hybrid" or not config.enable_summary:
            return None
        waiting = self._records.summaries.config.message_threshold
        turns = group_turns(request.messages[: request.start])
        for count, turn in enumerate(reversed(turns)):
            if count >= config.recent_turns:
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
            lines = status_text(task, locale=self._config.locale).splitlines() if task else []
        for count in range(len(lines), -1, -1):
            status = self._sections.fenced("\n".join(lines[:count]), "task") if count > 1 else ""
            message = Message("system", pin_text(prompt, status=status))
            if count_message(message, token_counter=self._count) <= limit:
                return message
        return None

    # --- what is told -----------------------------------------------------------------------------------------------

    def _report(self, context: BuiltContext) -> None:
        """Log what each part cost. Source: requirement 001-65."""
        for number, (part, tokens) in enumerate(context.token_stats._asdict().items(), start=1):
            tell(PART, number=number, part=part, tokens=tokens, log=self._debug)


def _assembled(context: BuiltContext) -> dict[str, Any]:
    return {
        "messages": len(context.messages),
        "total_tokens": context.token_stats.total,
        "squeezed": context.trace.squeezed,
    }
