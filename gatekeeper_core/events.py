"""Every event that the library reports: its name, its logger and the constant message of its records.

The facts of each event are listed in ``docs/api/events.md``. A fact has one name everywhere: in a log record
(``gatekeeper_tokens``), in an event of LangChain or LlamaIndex (``tokens``) and in an attribute of a span
(``gatekeeper.tokens``). Facts are counts, places and fixed words: never text of a conversation, of a memory or of an
error, and no name of a thread, a tenant or a user.

:mod:`gatekeeper_core.observation` delivers them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Level = Literal["DEBUG", "INFO", "WARNING"]


class Event(NamedTuple):
    """A kind of event.

    Attributes:
        key: dotted name, also that of its span.
        logger: logger of its records.
        message: message of its records; ``%(name)s`` is replaced by a fact, by "?" if a stage failed before it.
        level: the usual level of its records.
        is_stage: whether it is work that takes time. Its record is written at the end, with the fact ``outcome``;
            unless that is "ok", other facts may be missing.
    """

    key: str
    logger: str
    message: str
    level: Level = "DEBUG"
    is_stage: bool = False


def _event(key: str, logger: str, message: str, level: Level = "DEBUG") -> Event:
    return Event(key, f"gatekeeper.{logger}", message, level)


def _stage(key: str, logger: str, message: str, level: Level = "DEBUG") -> Event:
    return Event(key, f"gatekeeper.{logger}", message, level, is_stage=True)


SELECTION = _stage("selection", "selection", "turns selected")
GATE = _stage("selection.gate", "selection", "topic judged")
CANDIDATES = _stage("selection.candidates", "selection", "turns scored")
COVER = _stage("selection.cover", "selection", "turns chosen")
ENCODER_FAILED = _event(
    "selection.embedder_failed", "selection", "an embedder failed; using words only", "WARNING"
)  # once for each call that lacks vectors
MEANING_USED = _event(
    "selection.meaning",
    "selection",
    "turns are also found by meaning (extra `meaning`); embedder=None turns this off",
    "INFO",
)  # once for each process: an adapter that names no embedder embeds for the first time

PAST = _stage("history.past", "history", "past chosen")
HISTORY = _stage(
    "history",
    "history",
    "history selected: %(messages_kept)s of %(message_count)s messages, %(tokens)s of %(budget_tokens)s tokens "
    "(%(cause)s)",
    "INFO",
)  # WARNING where the selection failed, or where what must be sent is over the budget
LEFT_OUT = _event(
    "history.left_out",
    "history",
    "turns left out for the first time: %(turns_left_out)s of %(turn_count)s, ids %(left_out)s (%(cause)s)",
    "INFO",
)  # once for each thread, as long as this process remembers it
CHEAPER = _event(
    "history.cheaper",
    "history",
    'strategy="%(cheaper)s" would have cost $%(cheaper_dollars)s so far, strategy="%(strategy)s" has cost '
    "$%(paid_dollars)s",
    "INFO",
)  # once for each thread whose prices are known: another strategy is cheaper by more than a tenth
EDIT = _event(
    "history.edit",
    "history",
    "%(editor)s would save %(saved_tokens)s tokens and rewrite %(rewritten_tokens)s cached ones: $%(extra_dollars)s; "
    "%(verdict)s (%(reason)s)",
    "INFO",
)  # DEBUG where the verdict on an edit is the one of the call before
USAGE = _event("history.usage", "history", "usage reported")
NO_ROOM = _event(
    "history.no_room",
    "history",
    "%(setting)s is %(budget_tokens)s tokens, but the prompt without any turn needs %(needed_tokens)s: raise it",
    "WARNING",
)  # once for each object: the system message, the tools and the reserve alone use the budget up
WINDOW_UNKNOWN = _event(
    "history.window_unknown",
    "history",
    "the model's window is unknown: the budget is %(budget_tokens)s tokens; set %(setting)s",
    "WARNING",
)  # once for each object
STATE_LOST = _event("history.state_lost", "history", "prompt policy state was not shared", "WARNING")

REQUEST = _stage("request", "builder", "request built")
OVER_BUDGET = _event("request.over_budget", "builder", "context over budget", "WARNING")
BUILD = _stage("build", "builder", "context build finished")
BUILD_STARTED = _event("build.started", "builder", "context build started")
LOOK_UPS = _stage("build.look_ups", "builder", "records looked up")
ASSEMBLY = _stage("build.assembly", "builder", "context assembled")
SAFETY_NET = _event("build.safety_net", "builder", "safety net: added the prompt missing at the end of the thread")
PART = _event("build.part", "builder", "[%(number)s] %(part)s: %(tokens)s tokens")
MISS = _event("build.miss", "builder", "context part missing", "WARNING")

SUMMARY = _stage("summary", "summary", "summary updated")  # WARNING where the store or the model failed,
SUMMARY_MODEL = _stage("summary.model", "summary", "summary model called")  # here as well, and in an extraction
MEMORY_SEARCH = _stage("memory.search", "memory", "memories searched")
MEMORY_WRITE = _stage("memory.write", "memory", "memory written")
MEMORY_FORGET = _stage("memory.forget", "memory", "memories forgotten")
EXTRACTION = _stage("memory.extraction", "memory", "memories extracted from a thread")
EMBEDDER_FAILED = _event("memory.embedder_failed", "memory", "an embedder failed; comparing words instead", "WARNING")

COMPRESSION = _stage("compression", "compression", "context compressed", "INFO")  # DEBUG where nothing was to be done
COMPRESSION_STEP = _event("compression.step", "compression", "compression step")
TOOL_RESULT = _stage("tool_result", "compression", "tool result compressed")

STORE_CALL = _stage("store.call", "storage", "store called")
STORE_OPENED = _event("store.opened", "storage", "store opened")
STORE_FORGOT = _event("store.forgot", "storage", "data deleted for good", "INFO")
STORE_CHECKED = _event("store.checked", "storage", "store checked", "INFO")  # WARNING where something is wrong
NO_VECTORS = _event("store.no_vectors", "storage", "extension vector not installed: the role lacks permission", "INFO")
VECTORS_UNINDEXED = _event("store.vectors_unindexed", "storage", "vectors are not indexed", "WARNING")
PURGE_FAILED = _event("store.purge_failed", "storage", "purge of the store failed", "WARNING")

ANSWER = _event("model.answer", "chat", "model answered", "INFO")
RETRY = _event("model.retry", "chat", "retrying a request to the model", "WARNING")

OBSERVER_FAILED = _event("observer_failed", "observation", "an observer failed", "WARNING")

EVENTS: tuple[Event, ...] = tuple(value for value in tuple(globals().values()) if isinstance(value, Event))
"""Every event, in the order of this page."""
