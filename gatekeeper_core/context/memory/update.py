"""Updates of long-term memory from a conversation: each new message is extracted once, then remembered or forgotten.

Workers that read the same messages add nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from gatekeeper_core.context.memory.extraction import Extracted, ForgetRequest, extract, user_texts
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.support import is_supported
from gatekeeper_core.context.memory.thread import Thread, update_record
from gatekeeper_core.events import EXTRACTION
from gatekeeper_core.observation import stage
from gatekeeper_core.storage.base import MEMORY_CATEGORIES, DerivedRecord, Memory, MemoryScope, RecordStore

EXTRACTION_KIND = "extraction"  # the derived record of how far a conversation was read
_MAX_FROM_MODEL, _MAX_CHARACTERS = 200, 500  # items of one model call, and characters of an item


MemoryExtractor = Callable[[Thread, int], Iterable[Extracted]]
"""A model that returns what is worth remembering from the user's messages after a sequence number. It may rephrase, but
its results are checked: see :func:`is_supported`."""


class Remembered(NamedTuple):
    """The result of reading a conversation.

    Attributes:
        memories: the memories that hold the extracted facts, in the order of the conversation.
        forgotten: ids of the memories deleted at the user's request.
        dropped: number of omitted items: secrets, or items from a model that the user's messages do not support.
        upto_seq: sequence number of the newest message that was read, -1 for none.
        status: ``"rules"``, ``"model"``, ``"fallback"`` (the model failed, the rules were read), or ``"nothing_new"``.
        reason: cause of a fallback, else None.
    """

    memories: tuple[Memory, ...]
    forgotten: tuple[str, ...]
    dropped: int
    upto_seq: int
    status: Literal["rules", "model", "fallback", "nothing_new"]
    reason: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return flat JSON-ready facts for logs and events: counts and fixed words, never text."""
        return {
            "status": self.status,
            "reason": self.reason or "",
            "memories": len(self.memories),
            "forgotten": len(self.forgotten),
            "dropped": self.dropped,
        }


def remember_thread(
    memory: LongTermMemory, thread: Thread, store: RecordStore, *, extractor: MemoryExtractor | None = None
) -> Remembered:
    """Read the new messages of a conversation into its user's memory.

    A request to forget deletes the memories that it names (``LongTermMemory.naming``), in order; rules read it in any
    case. A conversation without a user is not read. ``store`` keeps how far it was read; an ``extractor`` replaces the
    rules of :func:`~gatekeeper_core.context.memory.extraction.extract`.

    Raises:
        StorageError: a store failed.
    """
    with stage(EXTRACTION, thread=thread.id) as seen:
        result = _remember(memory, thread, store, extractor)
        seen.tell(result.facts, level="WARNING" if result.status == "fallback" else None)
    return result


def _remember(
    memory: LongTermMemory, thread: Thread, store: RecordStore, extractor: MemoryExtractor | None
) -> Remembered:
    record = store.load_record(thread.tenant, thread.id, EXTRACTION_KIND)
    upto_seq = record.upto_seq if record else -1
    if thread.user is None or thread.last_seq <= upto_seq:
        return Remembered((), (), 0, upto_seq, "nothing_new")
    extracted, forget, dropped = extract(thread, upto_seq)
    status: Literal["rules", "model", "fallback"] = "rules"
    reason = None
    if extractor is not None:
        try:
            items = list(islice(iter(extractor(thread, upto_seq)), _MAX_FROM_MODEL))
        except Exception as error:  # noqa: BLE001 - a model of the caller's: it may raise anything
            status, reason = "fallback", f"error: {type(error).__name__}"
        else:
            texts = dict(user_texts(thread, upto_seq))
            extracted = tuple(item for item in items if _is_usable(item, texts))
            status, dropped = "model", len(items) - len(extracted)
    scope = MemoryScope(thread.tenant, thread.user)
    memories: dict[str, Memory] = {}
    forgotten: dict[str, None] = {}
    in_order: list[Extracted | ForgetRequest] = sorted((*extracted, *forget), key=attrgetter("seq", "start"))
    for item in in_order:
        if isinstance(item, Extracted):
            seq = item.seq if item.seq >= 0 else thread.last_seq
            added = memory.add(scope, item.text, category=item.category, key=item.key, thread=thread.id, seq=seq)
            memories[added.id] = added
            continue
        for named in memory.naming(scope, item.text):
            memory.forget(scope, named.id)
            memories.pop(named.id, None)
            forgotten[named.id] = None

    def read_to_the_end(old: DerivedRecord | None) -> tuple[None, tuple[str, int] | None]:
        # If another worker has read further, its record stays.
        return None, None if old and old.upto_seq >= thread.last_seq else ("{}", thread.last_seq)

    update_record(store, thread, EXTRACTION_KIND, read_to_the_end)
    return Remembered(tuple(memories.values()), tuple(forgotten), dropped, thread.last_seq, status, reason)


def _is_usable(item: Any, texts: dict[int, str]) -> bool:
    if not isinstance(item, Extracted) or item.category not in MEMORY_CATEGORIES:
        return False
    words: tuple[object, ...] = (item.text, "key" if item.key is None else item.key)
    if not all(isinstance(word, str) and word.strip() for word in words) or len(item.text) > _MAX_CHARACTERS:
        return False
    if not all(isinstance(number, int) for number in (item.seq, item.start)):
        return False
    messages = [texts[item.seq]] if item.seq in texts else [] if item.seq >= 0 else texts.values()
    return any(is_supported(item.text, message) for message in messages)
