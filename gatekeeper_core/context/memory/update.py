"""Updates of long-term memory from a conversation: each new message is extracted once, then remembered or forgotten.

A derived record ("extraction") tells how far a conversation was read. Two workers that read the same messages add
nothing twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from gatekeeper_core.context.memory.extraction import (
    CLAUSE_BORDER,
    MAX_READ_CHARACTERS,
    Extracted,
    ForgetRequest,
    extract,
    masked,
    user_texts,
)
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.records import NewRecord, update_record
from gatekeeper_core.events import EXTRACTION
from gatekeeper_core.observation import stage
from gatekeeper_core.selection.anchors import count_terms, folded
from gatekeeper_core.storage.base import MEMORY_CATEGORIES, Memory, MemoryScope
from gatekeeper_core.text import LazyPattern, is_question, sentences

if TYPE_CHECKING:
    from gatekeeper_core.context.memory.thread import Thread
    from gatekeeper_core.storage.base import DerivedRecord, RecordStore

EXTRACTION_KIND = "extraction"
"""The kind of the derived record that says how far a conversation was read."""

_MAX_FROM_MODEL = 200


class MemoryExtractor(Protocol):
    """A model that extracts what is worth remembering; a plain function fits.

    It may word things its own way, but what it gives is checked: see :func:`is_supported`.
    """

    def __call__(self, thread: Thread, after_seq: int, /) -> Iterable[Extracted]:
        """Return what the user said behind a sequence number that is worth remembering."""
        ...


class Remembered(NamedTuple):
    """The result of reading a conversation.

    Attributes:
        memories: the memories that hold what was extracted, in the order in which it was said.
        forgotten: ids of the memories that were deleted because the user asked for it.
        dropped: number of items left out: secrets, and what a model gave that the user's messages do not support.
        upto_seq: sequence number of the newest message that was read, -1 for none.
        status: ``"rules"``, ``"model"``, ``"fallback"`` (the model failed, the rules were read), or ``"nothing_new"``.
        reason: why it is a fallback, else None.
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
    """Read what is new in a conversation into its user's memory.

    What the user asks to be forgotten is deleted where memories name it (``LongTermMemory.naming``), in the order in
    which it was said. A conversation without a user is not read.

    ``store`` keeps the record of how far it was read. Without a model as ``extractor`` the rules of
    :func:`~gatekeeper_core.context.memory.extraction.extract` are used; requests to forget are read by rules in any
    case.

    Raises:
        StorageError: a store could not do what it was asked.
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

    def read_to_the_end(old: DerivedRecord | None) -> NewRecord | None:
        # Where another worker has read further, its record stays.
        return None if old and old.upto_seq >= thread.last_seq else NewRecord("{}", thread.last_seq)

    update_record(store, thread, EXTRACTION_KIND, read_to_the_end)
    return Remembered(tuple(memories.values()), tuple(forgotten), dropped, thread.last_seq, status, reason)


# --- a model's extractor --------------------------------------------------------------------------------------------


def _is_usable(item: Any, texts: dict[int, str]) -> bool:
    """Return whether an item of a model's has the shape that it should have, and was said."""
    if not isinstance(item, Extracted) or item.category not in MEMORY_CATEGORIES:
        return False
    words: tuple[object, ...] = (item.text, "key" if item.key is None else item.key)
    if not all(isinstance(word, str) and word.strip() for word in words) or len(item.text) > _MAX_CHARACTERS:
        return False
    if not all(isinstance(number, int) for number in (item.seq, item.start)):
        return False
    messages = [texts[item.seq]] if item.seq in texts else [] if item.seq >= 0 else texts.values()
    return any(is_supported(item.text, message) for message in messages)


_MAX_CHARACTERS = 500
_MARKS = " .。!！~～;；,，"
_NEGATION = LazyPattern(
    r"\b(?:not|no|never|none|cannot|without|hardly|hates?|dislikes?)\b|n't\b|[不没非无别]|讨厌", re.IGNORECASE
)
_NARRATOR = frozenset(
    "user prefer lik lov enjoy want us hav ha nam liv lif work call person 用 户 喜 欢 偏 好 他 她".split()  # noqa: SIM905 - a list
)


def is_supported(text: str, message: str) -> bool:
    """Return whether a message of the user's (its first 20,000 characters) says what a text says.

    It does word for word, or where one sentence holds every term of the text (of Chinese, every character), except for
    those that a narrator adds ("the user prefers"), and both negate or neither does.

    >>> is_supported("User prefers green tea", "I love green tea"), is_supported("User owns a dog", "I love green tea")
    (True, False)
    >>> is_supported("用户喜欢绿茶", "我不喜欢喝绿茶")
    False
    """
    prose = masked(message[:MAX_READ_CHARACTERS])
    stated = [prose[start:stop] for start, stop in sentences(prose) if not is_question(prose[start:stop])]
    parts = [text[start:stop] for start, stop in sentences(text)]
    return bool(parts) and all(any(_says(sentence, part) for sentence in stated) for part in parts)


def _says(sentence: str, part: str) -> bool:
    """Return whether a sentence says a part: word for word with no negation before it, or with all of its terms."""
    clean_sentence, clean_part = (" ".join(folded(each).split()).rstrip(_MARKS) for each in (sentence, part))
    at = clean_sentence.find(clean_part)
    if at >= 0 and clean_part:
        begins = [match.end() for match in CLAUSE_BORDER.finditer(clean_sentence, 0, at)]
        return _NEGATION.search(clean_sentence, max(begins, default=0), at) is None
    # Of a script without spaces the single characters.
    terms, stated = (
        {term for term in count_terms(text) if term.isascii() or len(term) == 1} for text in (part, sentence)
    )
    same = (_NEGATION.search(sentence) is None) == (_NEGATION.search(part) is None)
    return same and bool(terms - _NARRATOR) and terms - _NARRATOR <= stated
