"""One build: gather what is known, choose what has room, assemble the prompt, report."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.context.compaction.run import RunConfig
from gatekeeper_core.context.history.modes import RECENT_TURNS
from gatekeeper_core.context.prompt.assembly import Assembly, Chosen, Material
from gatekeeper_core.context.prompt.lookups import BoundedCompressor, Derived, DerivedRecords, LookUp
from gatekeeper_core.context.prompt.parts import Sections, SystemPrompt
from gatekeeper_core.context.prompt.request import Request, make_request, needs_prompt
from gatekeeper_core.context.task.pin_text import pin_text
from gatekeeper_core.context.task.steps import ClearedStep, cleared_steps, stand_in_text
from gatekeeper_core.context.task.task import ActiveTask, status_text
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.encoder import waiting_within
from gatekeeper_core.events import ASSEMBLY, BUILD_STARTED, LOOK_UPS, PART, SAFETY_NET
from gatekeeper_core.messages import Message, conversation_locale, is_answered, last_turns
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.tokens import TokenCounter, count_message, count_messages
from gatekeeper_core.truncation import truncate_middle, truncate_to_tokens

if TYPE_CHECKING:
    from gatekeeper_core.context.history.policy import PolicyState
    from gatekeeper_core.context.history.selector import ThreadSelector
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.context.memory.search import MemoryHit
    from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
    from gatekeeper_core.context.prompt.result import BuiltContext
    from gatekeeper_core.context.tool_results.context import ResultCompressor
    from gatekeeper_core.pricing.prices import ModelPrices

__all__ = ["NO_THREAD", "Build", "Setup"]

_INPUT_TOKENS = 500
"""What a question may cost where its share is 0 and nothing may be lent. Source: requirement 001-37."""

_CUT = "…[cut]"

NO_THREAD = Thread("-")
"""Stands for the thread where there is none: it has no messages."""


class Setup(NamedTuple):
    """What all builds with the same settings share.

    Attributes:
        config: the settings.
        records: what is kept of threads beside their messages.
        selector: chooses among their turns.
        count: counts the tokens of a text.
        session_key: names the fences, None where they are named by what they hold.
        tool_results: makes tool results smaller.
    """

    config: ContextBuilderConfig
    records: DerivedRecords
    selector: ThreadSelector[Message]
    count: TokenCounter
    session_key: bytes | None
    tool_results: ResultCompressor


class Build:
    """What one build works with.

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
        self._config = setup.config
        self._count = setup.count
        self._thread = thread
        floor = setup.selector.config.floor_turns
        self._recent = RECENT_TURNS if floor is None else floor
        self._turns = last_turns(thread.messages, self._recent + 1)  # an open turn counts besides
        self._prompt = prompt
        self._look = LookUp(timeout_seconds=setup.config.call_timeout_ms / 1000)
        self._locale = setup.config.locale or conversation_locale(thread.messages, prompt)
        self._run = RunConfig(
            locale=self._locale, thread_id=None if thread is NO_THREAD else thread.id, tenant=thread.tenant
        )
        if setup.config.enable_tool_result_compression:
            bounded = BoundedCompressor(
                setup.tool_results, self._look, thread_id=self._run.thread_id, tenant=thread.tenant
            )
            has_memory = getattr(setup.tool_results, "working_memory", None) is not None
            self._run = replace(self._run, compress_result=bounded, working_memory=bounded if has_memory else None)
        shares = setup.config.shares.of(setup.config.total_budget)
        self._shares = shares._replace(reserved=shares.reserved + reserve_tokens)
        self._sections = Sections(
            locale=self._locale, fencing=setup.config.fencing, session_key=setup.session_key, token_counter=setup.count
        )
        self._debug = debug
        self._prices = prices
        self._stored: PolicyState | None = None
        self._recall = recall
        self._tracks_task = setup.config.enable_instruction_pinning is not False

    def context(
        self,
        system_prompt: str | SystemPrompt,
        *,
        included: bool | None,
        tools: Sequence[Mapping[str, Any] | str],
        pin: bool | None,
    ) -> BuiltContext:
        """Return the prompt for a question; see ``ContextBuilder.build``."""
        config = self._config
        tell(BUILD_STARTED, budget_tokens=config.total_budget, history=config.history.mode, log=self._debug)
        known = self._known()
        self._stored = known.policy
        system = self._system(system_prompt)
        steps, cleared = self._steps(known.task)
        request, repeated = self._request(system, cleared, included=included)
        material = Material(
            system=system,
            request=request,
            thread_length=len(self._thread.messages),
            repeated=repeated,
            tools_tokens=sum(self._count(one if isinstance(one, str) else _compact(one)) for one in tools),
            constraints=self._sections.constraints(known.constraints),
            steps=steps,
            cleared=cleared,
            summary=lambda limit: self._sections.summary(known.summary, limit=limit),
            upto_seq=known.summary.upto_seq if known.summary else -1,
            covered_messages=known.summary.covered_messages if known.summary else 0,
            memories=lambda limit, told: self._sections.memories(self._untold(known.memories, told), limit=limit),
            found_memories=len(known.memories),
            pin=self._pinned(request) if pin or (pin is None and self._tracks_task) else "",
        )
        with stage(ASSEMBLY, log=self._debug) as seen:
            assembly = Assembly(
                material, config=config, shares=self._shares, locale=self._locale, token_counter=self._count
            )
            chosen = self._chosen(assembly, request)
            task = self._task(request, known.task, chosen.view)
            limit = assembly.pin_limit()
            context = assembly.context(chosen, self._pin(material.pin, task, limit) if limit else None)
            total, squeezed = context.token_stats.total, context.trace.squeezed
            seen.tell(lambda: {"messages": len(context.messages), "total_tokens": total, "squeezed": squeezed})
        for number, (part, tokens) in enumerate(context.token_stats._asdict().items(), start=1):
            tell(PART, number=number, part=part, tokens=tokens, log=self._debug)  # source: requirement 001-65
        trace = context.trace._replace(misses=self._look.misses)
        return replace(context, trace=trace)

    # --- gather -----------------------------------------------------------------------------------------------------

    def _known(self) -> Derived:
        """Return what is kept of the thread; memories of what its turns say anyway are left out."""
        config, thread = self._config, self._thread
        with stage(LOOK_UPS, thread=None if thread is NO_THREAD else thread.id, log=self._debug) as seen:
            known = Derived()
            if thread is not NO_THREAD:
                start = self._window_start(self._recent)
                known = self._setup.records.look_up(self._look, thread, self._prompt, config, window_start=start)
                sent_from = start if config.history.mode != "gated" else self._window_start(0)
                newest = range(sent_from, len(thread.messages))
                known = known._replace(memories=self._untold(known.memories, newest))
            seen.tell(lambda: {**known.facts(), "misses": [f"{miss.part} {miss.status}" for miss in self._look.misses]})
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

    def _system(self, prompt: str | SystemPrompt) -> tuple[Message, ...]:
        """Return the system prompt, cut to its share where nothing may be lent."""
        stable, volatile = (prompt, "") if isinstance(prompt, str) else prompt
        if not self._config.redistribute:
            cut = partial(truncate_to_tokens, token_counter=self._count, marker=_CUT)
            stable = cut(stable, self._shares.system_prompt)
            volatile = cut(volatile, max(0, self._shares.system_prompt - self._count(stable)))
        return tuple(Message("system", text) for text in (stable, volatile) if text.strip())

    def _steps(self, task: ActiveTask | None) -> tuple[Message | None, tuple[int, ...]]:
        """Return what stands for the newest finished steps that fit the share of the summary, and their messages."""
        chosen: list[ClearedStep] = []
        stands: Message | None = None
        for step in reversed(cleared_steps(self._thread, task) if task else ()):
            message = self._sections.steps([stand_in_text(one, locale=self._locale) for one in (step, *chosen)])
            if count_message(message, token_counter=self._count) > self._shares.summary:
                break
            chosen.insert(0, step)
            stands = message
        return stands, tuple(seq for one in chosen for seq in one.seqs)

    def _request(
        self, system: Sequence[Message], cleared: Sequence[int], *, included: bool | None
    ) -> tuple[Request, tuple[int, ...]]:
        """Return the messages to choose from, and the one that says the system prompt again, if there is one."""
        config, messages, prompt = self._config, self._thread.messages, self._prompt
        says_again = messages and messages[0].role == "system" and messages[0].text in [one.text for one in system]
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
            without={*cleared, *repeated},
            compress_result=self._run.compress_result,
            max_message_tokens=config.max_message_tokens or max(1, self._shares.recent_messages // 4),
            token_counter=self._count,
        )
        return request, repeated

    # --- choose -----------------------------------------------------------------------------------------------------

    def _chosen(self, assembly: Assembly, request: Request) -> Chosen:
        """Return what is sent of the thread; optional parts give way before a turn that must be sent."""
        if not request.messages:
            return Chosen([], 0, [], None)
        view = self._view(assembly, request)
        while view.status == "over_budget":
            if not assembly.give_up():
                return assembly.squeezed(view)
            view = self._view(assembly, request, again=True)
        if view.status == "fallback":
            self._look.miss("history", "degraded", view.reason)
        missed = view.selection.embedder_missed if view.selection else ""
        if missed:
            self._look.miss("meaning", *((missed,) if missed in ("late", "busy") else ("degraded", missed)))
        return assembly.kept(view)

    def _view(self, assembly: Assembly, request: Request, *, again: bool = False) -> HistoryView:
        window_from = assembly.window_from()
        selector, thread = self._setup.selector, self._thread
        config = replace(selector.config, run=self._run)
        if config.mode == "hybrid" and self._config.enable_summary:
            config = replace(config, floor_turns=self._floor_turns(request, window_from, config.floor))
        with waiting_within(self._look.waits):
            return selector.view(
                request.messages,
                thread=thread.id,
                tenant=thread.tenant,
                config=config,
                fixed_tokens=assembly.fixed_tokens(),
                window_from=window_from,
                prices=self._prices,
                can_recall=self._recall,
                around=assembly.around(),
                stored=None if again else self._stored,
                again=again,
            )

    def _floor_turns(self, request: Request, uncovered_from: int, floor: int) -> int:
        """Return how many of the newest turns a hybrid history always sends: those that wait for the summary as well.

        Where there is none, the oldest of many turns wait longer than for a summary that can be had.
        """
        waiting = self._setup.records.summaries.config.message_threshold
        starts = request.starts
        for count in range(floor, len(starts) - 1):
            start = starts[-2 - count]
            waiting -= starts[-1 - count] - start
            if waiting < 0 or start < uncovered_from:
                return count
        return max(0, len(starts) - 1)

    # --- the pin ----------------------------------------------------------------------------------------------------

    def _pinned(self, request: Request) -> str:
        """Return the pin without the status of the task; "" where the model does not reply to the user or a tool.

        That is so where calls wait for results, and where an answer comes last, which the model is to continue.
        """
        if not request.asked or request.waits or is_answered(request.messages):
            return ""
        least = self._config.history.passthrough_below
        if least and count_messages(request.messages, token_counter=self._count) < least:
            return ""
        return pin_text(self._prompt)

    def _task(self, request: Request, known: ActiveTask | None, view: HistoryView | None) -> ActiveTask | None:
        """Return the task with the question read; one that cannot be read on is as it was."""
        if self._thread is NO_THREAD or not self._tracks_task or not self._prompt.strip():
            return known
        asked = self._thread.continued([request.messages[request.start]]) if request.added else self._thread
        verdict = view.selection.gate if view and view.selection else None
        update = partial(self._setup.records.tasks.update, asked, verdict=verdict)
        updated: ActiveTask | None = self._look.ask("task", update)
        return updated or known

    def _pin(self, pin: str, task: ActiveTask | None, limit: int) -> Message:
        """Return the pin, with as many lines on the task as have room."""
        lines = status_text(task, locale=self._locale).splitlines() if task else []
        for count in range(len(lines), 1, -1):
            status = self._sections.fenced("\n".join(lines[:count]), "task")
            message = Message("system", pin_text(self._prompt, status=status))
            if count_message(message, token_counter=self._count) <= limit:
                return message
        return Message("system", pin)


def _compact(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
