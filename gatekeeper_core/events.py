"""The events that the library reports: name, logger and constant log message of each.

``docs/api/events.md`` lists their facts. A fact has one name everywhere: in a log record (``gatekeeper_tokens``), in an
event of LangChain or LlamaIndex (``tokens``) and in a span's attributes (``gatekeeper.tokens``). Facts are counts,
positions and fixed words, never text of a conversation, memory or error, or the name of a thread, tenant or user.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, cast

from gatekeeper_core.data_files import rows

Level = Literal["DEBUG", "INFO", "WARNING"]


class Event(NamedTuple):
    """A kind of event.

    Attributes:
        key: dotted name, also that of its span.
        logger: logger of its records.
        message: message of its records; ``%(name)s`` becomes a fact, or "?" if the stage failed before it was known.
        level: the usual level of its records.
        is_stage: whether it takes time. Its record, at the end, has an ``outcome``; unless "ok", facts may be missing.
    """

    key: str
    logger: str
    message: str
    level: Level = "DEBUG"
    is_stage: bool = False


_EVENTS = {
    key: Event(key, f"gatekeeper.{logger}", message, cast("Level", level), kind == "stage")
    for key, kind, logger, level, message in rows("events.tsv")
}

SELECTION = _EVENTS["selection"]
GATE = _EVENTS["selection.gate"]
CANDIDATES = _EVENTS["selection.candidates"]
COVER = _EVENTS["selection.cover"]
ENCODER_FAILED = _EVENTS["selection.embedder_failed"]
MEANING_USED = _EVENTS["selection.meaning"]

PAST = _EVENTS["history.past"]
HISTORY = _EVENTS["history"]
LEFT_OUT = _EVENTS["history.left_out"]
CHEAPER = _EVENTS["history.cheaper"]
EDIT = _EVENTS["history.edit"]
USAGE = _EVENTS["history.usage"]
NO_ROOM = _EVENTS["history.no_room"]
WINDOW_UNKNOWN = _EVENTS["history.window_unknown"]
STATE_LOST = _EVENTS["history.state_lost"]

REQUEST = _EVENTS["request"]
OVER_BUDGET = _EVENTS["request.over_budget"]
BUILD = _EVENTS["build"]
BUILD_STARTED = _EVENTS["build.started"]
LOOK_UPS = _EVENTS["build.look_ups"]
ASSEMBLY = _EVENTS["build.assembly"]
SAFETY_NET = _EVENTS["build.safety_net"]
PART = _EVENTS["build.part"]
MISS = _EVENTS["build.miss"]

SUMMARY = _EVENTS["summary"]
SUMMARY_MODEL = _EVENTS["summary.model"]
MEMORY_SEARCH = _EVENTS["memory.search"]
MEMORY_WRITE = _EVENTS["memory.write"]
MEMORY_FORGET = _EVENTS["memory.forget"]
EXTRACTION = _EVENTS["memory.extraction"]
EMBEDDER_FAILED = _EVENTS["memory.embedder_failed"]

COMPRESSION = _EVENTS["compression"]
COMPRESSION_STEP = _EVENTS["compression.step"]
TOOL_RESULT = _EVENTS["tool_result"]

STORE_CALL = _EVENTS["store.call"]
STORE_OPENED = _EVENTS["store.opened"]
STORE_FORGOT = _EVENTS["store.forgot"]
STORE_CHECKED = _EVENTS["store.checked"]
NO_VECTORS = _EVENTS["store.no_vectors"]
VECTORS_UNINDEXED = _EVENTS["store.vectors_unindexed"]
PURGE_FAILED = _EVENTS["store.purge_failed"]

ANSWER = _EVENTS["model.answer"]
RETRY = _EVENTS["model.retry"]

OBSERVER_FAILED = _EVENTS["observer_failed"]

EVENTS: tuple[Event, ...] = tuple(_EVENTS.values())
"""Every event, in the order of the table."""
