"""One build, read from top to bottom.

::

    gather      records: summary · constraints · task · memories; request: the messages to choose from
    must        system prompt · tools · head · question · open calls    over budget − margin − reserved: BudgetError
    optional    constraints > pin > steps, summary > memories           the last gives way first
    turns       the rest (or the share): the current run gives way as in history/run.py, then the past
    render      all of it in order, every token and every message accounted for

If no optional part remains and the current run is still too long, a ``ContextCompressor`` squeezes it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from gatekeeper_core.context.history.conversation import ContextCompressor
from gatekeeper_core.context.history.request import HistoryRequest, PromptOverhead
from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBudget
from gatekeeper_core.context.prompt.parts import JOIN_TOKENS, OptionalPart, PartRenderer, SystemPrompt, reserve
from gatekeeper_core.context.prompt.records import NO_THREAD, BoundedCalls, BoundedCompressor, BuilderParts
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
from gatekeeper_core.context.tool_results.context import ThreadCompressor
from gatekeeper_core.encoder import waiting_within
from gatekeeper_core.errors import BudgetError
from gatekeeper_core.events import ASSEMBLY, BUILD_STARTED, PART, SAFETY_NET
from gatekeeper_core.messages import Message, conversation_locale, is_answered, messages_digest
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_for, budget_within
from gatekeeper_core.tokens import TokenCounter, count_message, count_messages, describe_counter
from gatekeeper_core.truncation import truncate_middle

_INPUT_TOKENS = 500
"""Limit of a question whose share is 0, if nothing may be lent. Source: requirement 001-37."""

_BOOKED_AS = {"steps": "summary", "head": "recent_messages"}
"""Parts that ``TokenStats`` counts under another name."""


class PromptMessage(NamedTuple):
    """A message of the prompt, with its part and its sequence number in the thread."""

    part: Part
    message: Message
    seq: int | None = None


class SentTurns(NamedTuple):
    """The sent messages of the thread.

    Attributes:
        past: the head, and past turns.
        run: messages of the current turn.
        fates: fates of messages of the thread, by sequence number.
        recalled_tokens: tokens of earlier turns inside the question.
        squeezed: see ``BuildTrace``.
    """

    past: Sequence[PromptMessage] = ()
    run: Sequence[PromptMessage] = ()
    fates: Mapping[int, Fate] = {}  # never changed
    recalled_tokens: int = 0
    squeezed: str = ""


class BuildOptions(NamedTuple):
    """The options of one build; see ``ContextBuilder.build``. ``included`` None: the question is never added."""

    included: bool | None
    debug: bool
    tools: Sequence[Mapping[str, Any] | str]
    reserve_tokens: int
    pin: bool | None
    prices: ModelPrices | None
    recall: bool


def build_prompt(
    parts: BuilderParts, thread: Thread | None, prompt: str, system_prompt: str | SystemPrompt, options: BuildOptions
) -> BuiltContext:
    """Return the prompt for a question; arguments and errors as for ``ContextBuilder.build``."""
    config, count, log = parts.config, parts.count, options.debug
    tell(BUILD_STARTED, budget_tokens=config.total_budget, history=config.history.strategy, log=log)
    cost = partial(count_messages, token_counter=count)
    shares = config.shares.of(config.total_budget)
    shares = shares._replace(reserved=shares.reserved + options.reserve_tokens)
    available = budget_within(count, config.total_budget) - shares.reserved
    talk = thread or NO_THREAD
    locale = config.locale or conversation_locale(talk.messages, prompt)
    renderer = PartRenderer(locale=locale, session_key=parts.session_key, count=count)

    # gather: the stored records, and the messages to choose from
    calls = BoundedCalls(timeout_seconds=config.call_timeout_ms / 1000)
    records = parts.gather(calls, thread, prompt, room_tokens=shares.recent_messages, log=log)
    is_cut = not config.redistribute  # without lending, system prompt and question are cut to their shares
    system = renderer.system(system_prompt, limit=shares.system_prompt if is_cut else None)
    steps, step_seqs = renderer.steps(talk, records.task, limit=shares.summary)
    first = next(iter(talk.messages), None)  # may be the system prompt itself
    is_repeated = first is not None and first.role == "system" and first.text in [one.text for one in system]
    question_tokens = shares.current_input or _INPUT_TOKENS
    query = truncate_middle(prompt, question_tokens, token_counter=count) if is_cut else prompt
    included = options.included
    is_missing = included is not None and needs_prompt(talk.messages, prompt, included=included)
    question = Message("user", query) if is_missing else None
    if is_missing and not included:
        tell(SAFETY_NET, log=log)
    shrink = BoundedCompressor(ThreadCompressor(parts.tool_results, thread.id if thread else None, talk.tenant), calls)
    run = RunConfig(compress_result=shrink if config.enable_tool_result_compression else None)
    request = make_request(
        talk.messages,
        question,
        without={*step_seqs, *([0] if is_repeated else [])},
        compress_result=run.compress_result,
        max_message_tokens=config.max_message_tokens or max(1, shares.recent_messages // 4),
        token_counter=count,
    )

    with stage(ASSEMBLY, log=log) as assembly:
        # must: including tokens that a provider's format may add
        compact = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
        tools_tokens = sum(count(tool if isinstance(tool, str) else compact(tool)) for tool in options.tools)
        form_tokens = max(0, len(system) + len(request.head) - 1) * JOIN_TOKENS
        form_tokens += count(OPENING) if request.messages and not request.query else 0
        must_tokens = cost(system) + tools_tokens + form_tokens
        if must_tokens > available:
            raise _over_budget(must_tokens, parts, shares)

        # optional: the most valuable first; in a smaller room, summary and memories keep their relative shares
        room = available - must_tokens - cost(request.messages[at] for at in {*request.head, *request.query})
        has_pin = config.enable_instruction_pinning is not False if options.pin is None else options.pin
        is_reply = request.query and not request.has_open_calls and not is_answered(request.messages)
        pin = renderer.pin(prompt, None, limit=0) if has_pin and is_reply else None
        constraints = renderer.constraints(records.constraints)
        optional, room = reserve({"constraints": constraints, "pinned": pin, "steps": steps}, room, count=count)
        shared = shares.summary + shares.retrieved + shares.recent_messages
        usable = max(0, min(room, shared))
        summary = renderer.summary(records.summary, limit=usable * shares.summary // max(1, shared))
        memories, memory_count = renderer.memories(records.memories, limit=usable * shares.retrieved // max(1, shared))
        optional |= reserve({"summary": summary, "retrieved": memories}, room, count=count)[0]
        contents: dict[Part, object] = {"constraints": constraints, "pinned": pin, "steps": steps}
        contents |= {"summary": summary or records.summary.covered_messages, "retrieved": records.memories}
        given_up = [name for name, content in contents.items() if content and name not in optional]

        # turns: optional parts give way to mandatory ones
        view: HistoryView | None = None
        while request.messages:
            fixed = sent = must_tokens + shares.reserved + sum(part.tokens + JOIN_TOKENS for part in optional.values())
            if is_cut:  # the turns get their share and no more
                query_tokens = cost(request.messages[at] for at in request.query)
                fixed = max(sent, available + shares.reserved - shares.recent_messages - query_tokens)
            unsent = fixed - sent + shares.reserved - options.reserve_tokens
            # a summary that is not sent covers nothing
            window_from = request.first_after(records.summary.upto_seq) if "summary" in optional else 0
            history = HistoryRequest(
                fixed_tokens=fixed,
                overhead=overhead(
                    system,
                    optional,
                    cache_friendly=config.cache_friendly,
                    unsent_tokens=unsent,
                    includes_summarized=request.contains(records.summary.upto_seq),
                    count=count,
                ),
                prices=options.prices,
                window_from=window_from,
                can_recall=options.recall,
                locale=locale,
                cut_results=False,  # a build cuts them itself, when the optional parts have gone
            )
            with waiting_within(calls.waits):
                view = parts.selector.view(
                    request.messages,
                    history,
                    thread=talk.id,
                    tenant=talk.tenant,
                    config=parts.history_config(run, request.starts, uncovered_from=window_from),
                    stored=None if view else records.policy,
                    again=view is not None,
                )
            if view.status != "over_budget" or not optional:
                break
            given_up.append(optional.popitem()[0])
        turns = SentTurns()
        if view and view.status == "over_budget":
            limit, least = available - tools_tokens - form_tokens, [request.messages[at] for at in request.least]
            refusal = _over_budget(must_tokens + cost(least), parts, shares)
            turns = squeeze(request, system, room_tokens=limit, locale=locale, count=count, refusal=refusal)
        elif view:
            calls.miss_of(view)
            turns = kept_turns(request, view, count=count)
        fates: dict[int, Fate] = dict(turns.fates)

        # render: drop a summary of messages that are all sent unchanged, and memories from messages that are sent
        covered = range(records.summary.upto_seq + 1)
        if {*map(fates.get, covered)} == {"sent"}:
            optional.pop("summary", None)
        if view and (memory_part := optional.pop("retrieved", None)):
            seqs = [seq for seq, fate in fates.items() if fate in ("sent", "recalled")]
            hits = records.memories_beside(talk, seqs)
            memories, memory_count = renderer.memories(hits, limit=memory_part.tokens)
            optional |= {"retrieved": memory_part._replace(message=memories)} if memories else {}
        continued = thread.continued([question]) if thread and question else thread
        task = parts.update_task(calls, continued, prompt, view) or records.task
        pin = renderer.pin(prompt, task, limit=optional["pinned"].tokens) if "pinned" in optional else None
        optional |= {"pinned": optional["pinned"]._replace(message=pin)} if pin else {}
        messages = in_order(system, optional, turns, cache_friendly=config.cache_friendly)
        fates |= {0: "sent"} if is_repeated else {}
        fates |= dict.fromkeys(step_seqs, "step") if "steps" in optional else {}
        built = tuple(BuiltPart(one.part, one.seq, cost([one.message])) for one in messages)
        recalled = turns.recalled_tokens
        books = Counter(tools=tools_tokens, current_input=-recalled, recent_messages=recalled)
        for part in built:
            books[_BOOKED_AS.get(part.part, part.part)] += part.tokens
        stats = TokenStats(**books, total=books.total())
        has_summary = "summary" in optional
        metadata = BuildMetadata(
            included_message_count=sum(part.seq is not None for part in built),
            summarized_message_count=records.summary.covered_messages if has_summary else 0,
            used_summary=has_summary,
            retrieved_memory_count=memory_count if "retrieved" in optional else 0,
        )
        trace = BuildTrace(
            parts=built,
            fates=fates_of(len(talk.messages), fates, summarized=len(covered) if has_summary else 0),
            shares=shares,
            budget_tokens=config.total_budget,
            view=view,
            safety_net=is_missing,
            given_up=tuple(given_up),
            squeezed=turns.squeezed,
            misses=calls.misses,
            **describe_counter(count),
        )
        assembly.tell(lambda: {"messages": len(messages), "total_tokens": stats.total, "squeezed": turns.squeezed})
    for number, (name, tokens) in enumerate(stats._asdict().items(), start=1):
        tell(PART, number=number, part=name, tokens=tokens, log=log)  # source: requirement 001-65
    return BuiltContext(tuple(one.message for one in messages), stats, metadata, trace)


def _over_budget(needed_tokens: int, parts: BuilderParts, shares: ContextBudget) -> BudgetError:
    needed_tokens = budget_for(parts.count, needed_tokens + shares.reserved)
    return BudgetError(needed_tokens=needed_tokens, available_tokens=parts.config.total_budget)


def overhead(
    system: Sequence[Message],
    optional: Mapping[Part, OptionalPart],
    *,
    cache_friendly: bool,
    unsent_tokens: int,
    includes_summarized: bool,
    count: TokenCounter,
) -> PromptOverhead:
    """Return which of the fixed tokens may change; with ``cache_friendly``, these come after the turns."""
    costs = {name: part.tokens + JOIN_TOKENS for name, part in optional.items()}
    volatile = count_messages(system[1:], token_counter=count)
    volatile += sum(costs.get(name, 0) for name in ("summary", "steps", "retrieved"))
    first = ("constraints",) if cache_friendly else ("constraints", "steps", "retrieved")
    before = [*system[: 1 if cache_friendly else None], *(optional[name].message for name in optional if name in first)]
    summary = [optional["summary"].message] if "summary" in optional and not cache_friendly else []
    # The pin counts as unsent: nothing after it is read from a cache, and it costs the same for any turns.
    return PromptOverhead(
        before_tokens=0 if cache_friendly else volatile,
        after_tokens=volatile if cache_friendly else 0,
        unsent_tokens=costs.get("pinned", 0) + unsent_tokens,
        summary_tokens=costs.get("summary", 0) if includes_summarized else 0,
        before_digest=messages_digest(before),
        summary_digest=messages_digest(summary) if summary else "",
    )


def kept_turns(request: Request, view: HistoryView, *, count: TokenCounter) -> SentTurns:
    """Return the messages that a view keeps."""
    replaced, folded, block = dict(view.replaced), frozenset(view.folded), view.recalled_text
    question_at = next((at for at, message in view.replaced if block and message.text.startswith(block)), None)
    turns = view.recalled if question_at is not None else ()
    recalled = {at for turn in turns for at in range(request.starts[turn], request.starts[turn + 1])} - {*view.kept}
    changed = request.changed | replaced.keys() - {question_at}
    at_fates: dict[int, Fate] = {at: "changed" if at in changed else "sent" for at in view.kept}
    at_fates |= dict.fromkeys(recalled, "recalled")
    at_fates |= dict.fromkeys(folded, "folded")
    messages = [
        _prompt_message(request, at, replaced.get(at, request.messages[at]), is_placeholder=at in folded)
        for at in view.kept
    ]
    recalled_tokens = 0
    if question_at is not None:
        recalled_tokens = count_message(replaced[question_at], token_counter=count)
        recalled_tokens -= count_message(request.messages[question_at], token_counter=count)
    past = sum(at < request.start for at in view.kept)
    fates: dict[int, Fate] = {seq: fate for at, fate in at_fates.items() if (seq := request.seqs[at]) is not None}
    return SentTurns(messages[:past], messages[past:], fates, recalled_tokens)


def squeeze(
    request: Request,
    system: Sequence[Message],
    *,
    room_tokens: int,
    locale: Locale,
    count: TokenCounter,
    refusal: BudgetError,
) -> SentTurns:
    """Return the head and the current turn alone, cut to fit beside the system prompt; or raise ``refusal``."""
    positions = (*request.head, *range(request.start, len(request.messages)))
    compressor = ContextCompressor(budget_for(count, max(1, room_tokens)), token_counter=count, locale=locale)
    try:
        compressed = compressor.explain([*system, *(request.messages[at] for at in positions)])
    except BudgetError:
        raise refusal from None  # head, question and open calls alone are too long
    fates: dict[int, Fate] = {seq: "folded" for at in positions if (seq := request.seqs[at]) is not None}
    messages = list[PromptMessage]()
    for message, source in zip(compressed.messages, compressed.sources, strict=True):
        if source is None:
            messages.append(PromptMessage("recent_messages", message))
        elif source >= len(system):
            at = positions[source - len(system)]
            if at in request.query[-1:] and message is not request.messages[at]:
                raise refusal  # the question itself is sent in full or not at all
            entry = _prompt_message(request, at, message)
            messages.append(entry)
            if entry.seq is not None:
                fates[entry.seq] = "sent" if message.text == request.messages[at].text else "changed"
    past = sum(entry.part == "head" for entry in messages)
    return SentTurns(messages[:past], messages[past:], fates, squeezed=compressed.strategy)


def in_order(
    system: Sequence[Message],
    optional: Mapping[Part, OptionalPart],
    turns: SentTurns,
    *,
    cache_friendly: bool,
) -> list[PromptMessage]:
    """Return the messages of a prompt in order; with ``cache_friendly``, volatile parts come after the turns."""

    def some(*names: Part) -> list[PromptMessage]:
        return [PromptMessage(name, optional[name].message) for name in names if name in optional]

    rules = [PromptMessage("system_prompt", message) for message in system]
    volatile = [*rules[1:], *some("summary", "steps", "retrieved")]
    head = [entry for entry in turns.past if entry.part == "head"]
    past = [entry for entry in turns.past if entry.part != "head"]
    middle = [*past, *volatile] if cache_friendly else [*volatile, *past]
    return [*rules[:1], *some("constraints"), *head, *middle, *turns.run, *some("pinned")]


def _prompt_message(request: Request, at: int, message: Message, *, is_placeholder: bool = False) -> PromptMessage:
    part: Part = "recent_messages"
    if at in request.head:
        part = "head"
    elif at >= request.start and message.role == "user" and not is_placeholder:
        part = "current_input"
    return PromptMessage(part, message, None if is_placeholder else request.seqs[at])
