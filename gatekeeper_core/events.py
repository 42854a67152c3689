"""Every event that the library tells of its work, and the meaning of each fact.

A name means the same everywhere: in a log record (``gatekeeper_tokens``), in an event of LangChain or LlamaIndex
(``tokens``) and in an attribute of a span (``gatekeeper.tokens``). Facts are counts, places and fixed words: never text
of a conversation, of a memory or of an error, and no name of a thread, a tenant or a user.

Who tells them, and to whom: :mod:`gatekeeper_core.observation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple, cast

from gatekeeper_core.data_files import rows

__all__ = ["EVENTS", "Event", "Fact", "Kind", "Level", "fact_table"]

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
        facts: names of its facts, see :func:`fact_table`.
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


@cache
def fact_table() -> Mapping[str, Fact]:
    """Return what each fact means, by its name (``data/facts.tsv``)."""
    table = rows("facts.tsv")
    return {name: Fact(cast("Kind", kind), unit.strip("-"), meaning) for name, kind, unit, meaning in table}


_VIEW = (
    "cause status reason decision messages_kept messages_pinned message_count messages_folded messages_replaced "
    "turns_kept turn_count turn_ids tokens history_tokens fixed_tokens budget_tokens counter margin"
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
    "margin squeezed safety_net prefix_tokens prefix_share"
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
GATE = _stage("selection.gate", "selection", "topic judged", "decision reason need link topics")
CANDIDATES = _stage("selection.candidates", "selection", "turns scored", "turn_count candidates")
COVER = _stage("selection.cover", "selection", "turns taken", "turns_kept tokens")
ENCODER_FAILED = _event(
    "selection.embedder_failed", "selection", "an embedder failed; words decide alone", "reason", "WARNING"
)
"""Once for each call that lacks vectors."""

MEANING_USED = _event(
    "selection.meaning",
    "selection",
    "turns are also found by meaning (extra `meaning`); embedder=None leaves it out",
    "embedder",
    "INFO",
)
"""Once for each process: an adapter that names no embedder embeds for the first time."""

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

CHEAPER = _event(
    "history.cheaper",
    "history",
    'strategy="%(cheaper)s" would have cost $%(cheaper_dollars)s so far, strategy="%(strategy)s" has cost '
    "$%(paid_dollars)s",
    "strategy cheaper cheaper_dollars paid_dollars",
    "INFO",
)
"""Once for each thread whose prices are known: another strategy is cheaper by more than a tenth."""

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

ANSWER = _event("model.answer", "chat", "model answered", "finish_reason input_tokens output_tokens", "INFO")
RETRY = _event(
    "model.retry",
    "chat",
    "request to the model is tried again",
    "attempt wait_seconds http_status code",
    "WARNING",
)

OBSERVER_FAILED = _event("observer_failed", "observation", "an observer failed", "error", "WARNING")

EVENTS: tuple[Event, ...] = tuple(value for value in tuple(globals().values()) if isinstance(value, Event))
"""Every event, in the order of this page."""
