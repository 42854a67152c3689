"""Every event that the library tells of its work, and the meaning of each fact.

A name means the same everywhere: in a log record (``gatekeeper_tokens``), in an event of LangChain or LlamaIndex
(``tokens``) and in an attribute of a span (``gatekeeper.tokens``). Facts are counts, places and fixed words: never text
of a conversation, of a memory or of an error, and no name of a thread, a tenant or a user.

Who tells them, and to whom: :mod:`gatekeeper_core.observation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

__all__ = ["EVENTS", "FACTS", "Event", "Fact", "Kind", "Level"]

Level = Literal["DEBUG", "INFO", "WARNING"]
Kind = Literal["int", "int | None", "float", "bool", "str", "str | None", "list[int]", "list[str]"]


class Fact(NamedTuple):
    """The type of a fact, the unit of a number ("" for anything else), and what it says."""

    kind: Kind
    unit: str
    meaning: str


class Event(NamedTuple):
    """Something that the library tells.

    Attributes:
        key: its name, with dots; also that of its span.
        logger: the logger of its records.
        message: the constant message of its records; ``%(name)s`` stands for a fact, "?" where a stage
            failed before it.
        levels: the levels of its records, the usual one first.
        facts: names of its facts, see ``FACTS``.
        optional: those of them that are not always there.
        is_stage: whether it is work that takes time: its record comes at its end and has the fact ``outcome`` as well;
            unless that is "ok", it may have no other.
    """

    key: str
    logger: str
    message: str
    levels: tuple[Level, ...]
    facts: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()
    is_stage: bool = False


FACTS: Mapping[str, Fact] = {
    # how it went
    "outcome": Fact("str", "", "`ok`, or the type of the error that the stage raised"),
    "status": Fact("str", "", "a fixed word of the stage, see its page"),
    "reason": Fact("str", "", "a fixed word, or the type (and place) of an error; empty where there is nothing to say"),
    "cause": Fact(
        "str", "", "how the past was chosen and why, in fixed words: `kept: same_run`, `fallback: KeyError at a.py:7`"
    ),
    "error": Fact("str", "", "the type of an error"),
    "shadow": Fact("bool", "", "whether the choice is only reported, and something else is sent"),
    "counter": Fact("str", "", "what counted the tokens: a profile, or the name of another counter"),
    "margin": Fact("float", "share", "how far a prompt may lie over its estimate: so much of the budget is kept free"),
    # tokens
    "tokens": Fact("int", "token", "what is sent, or what a step leaves"),
    "tokens_before": Fact("int", "token", "before something was made smaller"),
    "tokens_after": Fact("int", "token", "after it"),
    "saved": Fact("int", "token", "the one less the other"),
    "ratio": Fact("float", "share", "the other through the one, to four digits"),
    "history_tokens": Fact("int", "token", "what all of the history would cost"),
    "fixed_tokens": Fact("int", "token", "what else the budget has to carry"),
    "budget_tokens": Fact("int", "token", "the budget"),
    "setting": Fact("str", "", "the name of the caller's own setting"),
    "available_tokens": Fact("int", "token", "what of the budget may be used"),
    "needed_tokens": Fact("int", "token", "what must be sent costs by itself"),
    "system_prompt_tokens": Fact("int", "token", "the system prompt"),
    "summary_tokens": Fact("int", "token", "the summary, and what stands for finished steps"),
    "retrieved_tokens": Fact("int", "token", "long-term memories"),
    "recent_messages_tokens": Fact("int", "token", "messages of the thread"),
    "current_input_tokens": Fact("int", "token", "what the user asks now"),
    "pinned_tokens": Fact("int", "token", "the pin"),
    "tools_tokens": Fact("int", "token", "schemas of tools"),
    "constraints_tokens": Fact("int", "token", "constraints"),
    "total_tokens": Fact("int", "token", "the whole prompt"),
    "prefix_tokens": Fact("int", "token", "what begins as the prompt of the build before did"),
    "prefix_share": Fact("float", "share", "the same, as a share of the prompt"),
    "input_tokens": Fact("int | None", "token", "of a request, as the provider counts; None where it does not say"),
    "output_tokens": Fact("int | None", "token", "of an answer, as the provider counts; None where it does not say"),
    # money and caches
    "policy_action": Fact(
        "str", "", "what is sent of the past: `everything`, a body that was `kept` or `rebuilt`, or `fresh` turns alone"
    ),
    "policy_reason": Fact("str", "", "why, as a fixed word; all of them are in docs/savings.md"),
    "dollars": Fact("float", "USD", "what a call costs: its input as expected or, once reported, all of it"),
    "everything_dollars": Fact("float", "USD", "what it would cost to send everything"),
    "paid_dollars": Fact("float", "USD", "what the calls of the thread have cost so far"),
    "everything_paid_dollars": Fact("float", "USD", "what they would have cost, had everything been sent"),
    "cached_tokens": Fact("int", "token", "of a request, read from the provider's cache, as expected or as reported"),
    "cache_written_tokens": Fact("int", "token", "of a request, written to that cache, as reported"),
    "turns_recalled": Fact("int", "turn", "past turns sent inside the question"),
    # turns and messages
    "turn_count": Fact("int", "turn", "past turns of the conversation"),
    "turns_kept": Fact("int", "turn", "of them sent"),
    "turn_ids": Fact("list[int]", "", "their 0-based positions, ascending"),
    "turns_left_out": Fact("int", "turn", "past turns that the model does not get to read"),
    "left_out": Fact("str", "", "their 0-based positions, ascending: `0-17, 19`"),
    "topics": Fact("int", "topic", "topics of the conversation"),
    "candidates": Fact("int", "turn", "turns that compete"),
    "messages": Fact("int", "message", "messages of the request, or those that were deleted"),
    "message_count": Fact("int", "message", "messages of the history; of a compression, those of its result"),
    "messages_kept": Fact("int", "message", "messages that are sent"),
    "messages_replaced": Fact("int", "message", "of them in another form"),
    "messages_folded": Fact("int", "message", "messages that a placeholder stands for"),
    "messages_sent": Fact("int", "message", "messages of the thread that are sent as they are"),
    "messages_changed": Fact("int", "message", "sent, compressed or cut"),
    "messages_recalled": Fact("int", "message", "whose turn is told inside the question"),
    "messages_summary": Fact("int", "message", "that the summary covers"),
    "messages_step": Fact("int", "message", "that the summary of a finished step covers"),
    "messages_left_out": Fact("int", "message", "neither sent nor stood for"),
    "included_message_count": Fact("int", "message", "of the thread that are sent"),
    "summarized_message_count": Fact("int", "message", "that the summary covers, where it is sent"),
    "covered_messages": Fact("int", "message", "that the summary covers"),
    # the choice
    "decision": Fact("str | None", "", "the gate's: `continue` or `switch`; None where nothing was asked of it"),
    "staying": Fact("float", "share", "how likely the question stays with the active topic"),
    "link": Fact("float", "share", "how firmly the question hangs on the newest turn"),
    "coverage": Fact("float", "share", "how far the cover came"),
    "strategy": Fact("str", "", "how something was made smaller"),
    "history": Fact("str", "", "how past turns are chosen: `hybrid`, `gated` or `window`"),
    "history_status": Fact("str | None", "", "`status` of the history inside a build; None where there was none"),
    # the parts of a build
    "part": Fact("str", "", "a part of the prompt, or of what it is made of"),
    "number": Fact("int", "", "1-based place of a part"),
    "misses": Fact("list[str]", "", "parts that could not be had, each with its status"),
    "given_up": Fact("list[str]", "", "what had to give way"),
    "squeezed": Fact("str", "", "the strategy that made the current run fit in the end; empty where none was needed"),
    "safety_net": Fact("bool", "", "whether the question was missing at the end of the thread"),
    "used_summary": Fact("bool", "", "whether there is a summary"),
    "has_task": Fact("bool", "", "whether the thread is at work on something"),
    "constraints": Fact("int", "constraint", "constraints of the thread"),
    "retrieved_memory_count": Fact("int", "memory", "long-term memories that are sent"),
    "index_origin": Fact("str", "", "where the index of the thread comes from; empty where it was known"),
    # memories and stores
    "memories": Fact("int", "memory", "long-term memories: found, written or deleted"),
    "forgotten": Fact("int", "memory", "of them deleted, because the user asked for it"),
    "dropped": Fact("int", "memory", "of them not taken: secrets, and what nobody said"),
    "backend": Fact("str", "", "the kind of the store"),
    "access": Fact("str", "", "`read`, `write` or `bare` (outside of a transaction)"),
    "what": Fact("str", "", "`thread`, `user`, `tenant` or `source`"),
    "records": Fact("int", "record", "derived records"),
    "blobs": Fact("int", "blob", "blobs"),
    "is_purged": Fact("bool", "", "whether the bytes are gone, too"),
    "problems": Fact("int", "problem", "what is wrong with the store"),
    "found_version": Fact("int", "", "version of the tables as they were found, 0 for a new store"),
    "schema_version": Fact("int", "", "version of the tables now"),
    # a model over the network
    "finish_reason": Fact("str | None", "", "why the answer ended, as the provider says it"),
    "attempt": Fact("int", "", "1-based number of the attempt that failed"),
    "wait_seconds": Fact("float", "s", "how long the next one waits"),
    "http_status": Fact("int | None", "", "the provider's HTTP status; None where there was none"),
    "code": Fact("int | None", "", "the provider's own code; None where there was none"),
}
"""What each fact means, by its name."""

_VIEW = (
    "cause status reason decision messages_kept message_count messages_folded messages_replaced turns_kept turn_count "
    "turn_ids tokens history_tokens fixed_tokens budget_tokens counter margin"
)
_BILL = (
    "policy_action policy_reason dollars everything_dollars paid_dollars everything_paid_dollars cached_tokens "
    "turns_recalled"
)
_CONTEXT = (
    "system_prompt_tokens summary_tokens retrieved_tokens recent_messages_tokens current_input_tokens pinned_tokens "
    "tools_tokens constraints_tokens total_tokens included_message_count summarized_message_count used_summary "
    "retrieved_memory_count messages_sent messages_changed messages_recalled messages_folded messages_summary "
    "messages_step messages_left_out history_status decision given_up misses budget_tokens available_tokens counter "
    "margin squeezed safety_net prefix_tokens prefix_share index_origin"
)


def _event(key: str, logger: str, message: str, facts: str = "", *levels: Level) -> Event:
    return Event(key, f"gatekeeper.{logger}", message, levels or ("DEBUG",), tuple(facts.split()))


def _stage(key: str, logger: str, message: str, facts: str, *levels: Level, optional: str = "") -> Event:
    event = _event(key, logger, message, facts, *levels)
    return event._replace(optional=frozenset(optional.split()), is_stage=True)


SELECTION = _stage(
    "selection",
    "selection",
    "turns selected",
    "decision reason turn_count turns_kept turn_ids tokens history_tokens budget_tokens coverage counter margin",
)
GATE = _stage("selection.gate", "selection", "topic judged", "decision reason staying link topics")
CANDIDATES = _stage("selection.candidates", "selection", "turns scored", "turn_count candidates")
COVER = _stage("selection.cover", "selection", "turns taken", "turns_kept tokens")
ENCODER_FAILED = _event(
    "selection.embedder_failed", "selection", "an embedder failed; words decide alone", "reason", "WARNING"
)
"""Once for each call that lacks vectors."""

PAST = _stage("history.past", "history", "past chosen", f"{_VIEW} {_BILL}", optional=_BILL)
HISTORY = _stage(
    "history",
    "history",
    "history selected: %(messages_kept)s of %(message_count)s messages, %(tokens)s of %(budget_tokens)s tokens "
    "(%(cause)s)",
    f"{_VIEW} {_BILL} shadow",
    "INFO",
    "WARNING",
    optional=_BILL,
)
"""INFO; WARNING where the selection failed, or where what must be sent is over the budget.

Those of the bill are there where the policy decides; they are estimates.
"""

LEFT_OUT = _event(
    "history.left_out",
    "history",
    "turns left out for the first time: %(turns_left_out)s of %(turn_count)s, ids %(left_out)s (%(cause)s)",
    "turns_left_out turn_count left_out cause",
    "INFO",
)
"""Once for each thread, as long as this process remembers it."""

USAGE = _event(
    "history.usage",
    "history",
    "usage reported",
    "input_tokens cached_tokens cache_written_tokens output_tokens dollars",
)
"""Each time that the provider's own counts of a call are given to the thread."""

NO_ROOM = _event(
    "history.no_room",
    "history",
    "%(setting)s is %(budget_tokens)s tokens, and what is sent before any turn needs %(needed_tokens)s: raise it",
    "setting needed_tokens budget_tokens",
    "WARNING",
)
"""Once for each object: the system message, the tools and the reserve alone use the budget up."""

WINDOW_UNKNOWN = _event(
    "history.window_unknown",
    "history",
    "the model's window is unknown: the budget is %(budget_tokens)s tokens; set %(setting)s",
    "setting budget_tokens",
    "WARNING",
)
"""Once for each object."""

STATE_LOST = _event(
    "history.state_lost", "history", "what a prompt policy remembers was not shared", "error", "WARNING"
)
"""The thread goes on with what this process knows."""

_ONE_BUILD = f"needed_tokens {_CONTEXT} {_BILL}"
REQUEST = _stage("request", "builder", "request built", f"status messages {_ONE_BUILD}", optional=_ONE_BUILD)
"""A built one has the facts of a build, one over the budget ``needed_tokens`` and ``available_tokens``."""

OVER_BUDGET = _event(
    "request.over_budget", "builder", "context over budget", "needed_tokens available_tokens", "WARNING"
)
BUILD = _stage("build", "builder", "context build finished", f"{_CONTEXT} {_BILL}", optional=_BILL)
BUILD_STARTED = _event("build.started", "builder", "context build started", "budget_tokens history")
LOOK_UPS = _stage("build.look_ups", "builder", "records looked up", "constraints used_summary has_task memories misses")
ASSEMBLY = _stage("build.assembly", "builder", "context assembled", "messages total_tokens squeezed")
SAFETY_NET = _event("build.safety_net", "builder", "safety net: the prompt was missing at the end of the thread")
PART = _event("build.part", "builder", "[%(number)s] %(part)s: %(tokens)s tokens", "number part tokens")
MISS = _event("build.miss", "builder", "context part missing", "part status reason", "WARNING")

_SUMMARY = "status reason covered_messages tokens"
SUMMARY = _stage("summary", "summary", "summary brought up to date", _SUMMARY, "DEBUG", "WARNING")
SUMMARY_MODEL = _stage("summary.model", "summary", "summary model asked", _SUMMARY, "DEBUG", "WARNING")
"""WARNING where the store or the model failed; the same for the extraction."""

MEMORY_SEARCH = _stage("memory.search", "memory", "memories searched", "status reason memories")
MEMORY_WRITE = _stage("memory.write", "memory", "memory written", "memories")
MEMORY_FORGET = _stage("memory.forget", "memory", "memories forgotten", "memories")
EXTRACTION = _stage(
    "memory.extraction",
    "memory",
    "thread read into memory",
    "status reason memories forgotten dropped",
    "DEBUG",
    "WARNING",
)
EMBEDDER_FAILED = _event(
    "memory.embedder_failed", "memory", "an embedder failed; terms are compared instead", "reason", "WARNING"
)

COMPRESSION = _stage(
    "compression",
    "compression",
    "context compressed",
    "tokens_before tokens_after ratio saved message_count strategy",
    "INFO",
    "DEBUG",
)
"""INFO; DEBUG where nothing was to be done."""

COMPRESSION_STEP = _event("compression.step", "compression", "compression step", "strategy tokens")
TOOL_RESULT = _stage("tool_result", "compression", "tool result compressed", "strategy tokens_before tokens_after")

STORE_CALL = _stage("store.call", "storage", "store called", "backend access")
STORE_OPENED = _event("store.opened", "storage", "store opened", "backend found_version schema_version")
STORE_FORGOT = _event(
    "store.forgot", "storage", "forgotten for good", "backend what messages records memories blobs is_purged", "INFO"
)
STORE_CHECKED = _event("store.checked", "storage", "store checked", "backend problems", "INFO", "WARNING")
"""INFO; WARNING where something is wrong."""

NO_VECTORS = _event(
    "store.no_vectors", "storage", "the extension vector was not installed: the role may not", "", "INFO"
)
VECTORS_UNINDEXED = _event("store.vectors_unindexed", "storage", "vectors have no index", "error", "WARNING")
PURGE_FAILED = _event("store.purge_failed", "storage", "purge of the store failed", "error", "WARNING")

ANSWER = _event("model.answer", "minimax", "model answered", "finish_reason input_tokens output_tokens", "INFO")
RETRY = _event(
    "model.retry",
    "minimax",
    "request to the model is tried again",
    "attempt wait_seconds http_status code",
    "WARNING",
)

OBSERVER_FAILED = _event("observer_failed", "observation", "an observer failed", "error", "WARNING")

EVENTS: tuple[Event, ...] = tuple(value for value in tuple(globals().values()) if isinstance(value, Event))
"""Every event, in the order of this page."""
