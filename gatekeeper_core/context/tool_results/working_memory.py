"""Working memory: storage for long tool results, with a pointer to each in the conversation.

::

    result ──offload──> blob store (scope, id)      conversation: [[wm:<id>]] type=… size=… preview="…"
    model ──read(pointer, bytes | lines | query)──> a text within a budget of tokens, with marks for omissions

    secret · tenant · thread ──HMAC-SHA256──> session key ──> working memory: a scope and ids of its own

With one session key per thread and tenant, no thread can read or probe the texts of another.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from threading import RLock
from typing import NamedTuple

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.tool_results.digest import gap, shortened, with_gaps, with_neighbours
from gatekeeper_core.context.tool_results.pointers import Pointer, check_key, defused, keyed_id, one_line, pointer_id
from gatekeeper_core.context.tool_results.query_match import QueryMatcher
from gatekeeper_core.errors import ConfigError, check_str, check_type
from gatekeeper_core.storage.base import BlobStore, Store, thread_blobs
from gatekeeper_core.storage.codec import decode_text, encode_text
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter
from gatekeeper_core.truncation import truncate_to_tokens

READ_TOOL_NAME = "read_working_memory"
RECALL_TOOL_NAME = "recall_earlier"
"""The tool with which agents read earlier turns; see :mod:`gatekeeper_core.context.history.recall`."""

READING_TOOLS = frozenset({READ_TOOL_NAME, RECALL_TOOL_NAME})
"""Tools whose results are never compressed or offloaded."""

UNKNOWN_POINTER = "[working memory: nothing is kept under this pointer]"
"""The answer to a wrong, foreign or evicted pointer."""

READ_BUDGET_TOKENS = 2_000
"""Token budget of one reading. Source: ours; about the 8,000 bytes from which results are offloaded."""

READ_TOOL_DESCRIPTION = (
    "Read a part of a long tool result that was put aside. `pointer` is the [[wm:...]] mark that stands in its place. "
    "Give `query` (words to look for), or `first_line` and `last_line`."
)

_QUOTA_BYTES = 64 * 1024 * 1024  # for all texts of one memory. Source: ours
_KEY_LABEL = b"gatekeeper session key"
_SCOPE_LABEL = b"gatekeeper working memory scope"
_MATCHES = 20
_CONTEXT_LINES = 1
_LINE_CHARS = 2_000
_LINES_AT_ONCE = 200


class Reading(NamedTuple):
    """The text read for a pointer.

    Attributes:
        text: text for the model, within its budget: a head line, the content, and marks for omissions.
        found: whether the pointer belongs to this memory.
        complete: whether all of the requested part is in the text.
    """

    text: str
    found: bool
    complete: bool


@with_suggestions()
class WorkingMemory:
    r"""The offloaded texts of one thread, with pointers that only this thread can create and follow.

    The least recently used text is evicted first, but never one with a pointer in the window. Thread-safe. Another
    object with the same key, even in another process, finds all texts; only their times of use are not stored.

    Args:
        blobs: the store; several memories may share it.
        session_key: the secret of the thread, 16 bytes or more (``secrets.token_bytes(32)``); keep it with the thread.
        quota_bytes: size limit of all texts together in UTF-8, at least 1.
        ttl_seconds: texts unused for longer are evicted by the next new text; None evicts only for room.
        clock: returns the time in seconds; required with ``ttl_seconds``.
        token_counter: counts readings; None: the library's own.

    Raises:
        ConfigError: an argument is out of range, or ``ttl_seconds`` comes without a clock.
        TypeError: an argument has the wrong type.

    >>> from gatekeeper_core.storage.in_memory import InMemoryBlobStore
    >>> memory = WorkingMemory(InMemoryBlobStore(), b"0123456789abcdef")
    >>> pointer = memory.offload("one\ntwo\nthree\n", kind="prose")
    >>> print(memory.read(pointer.text, lines=(2, 3)).text)
    [working memory: lines 2-3 of 4]
    two
    three
    """

    def __init__(
        self,
        blobs: BlobStore,
        session_key: bytes,
        quota_bytes: int = _QUOTA_BYTES,
        *,
        ttl_seconds: float | None = None,
        clock: Callable[[], float] | None = None,
        token_counter: TokenCounter | None = None,
    ) -> None:
        _check_limits(quota_bytes, ttl_seconds, clock)
        self._blobs = blobs
        self._key = check_key(session_key)
        self._quota_bytes = quota_bytes
        self._ttl_seconds = ttl_seconds
        self._clock = clock or (lambda: 0.0)
        self._counter = checked_counter(token_counter)
        self._scope = keyed_id(self._key, _SCOPE_LABEL)
        self._lock = RLock()
        self._used_at: dict[str, float] = {}  # by id, least recently used first
        self._catch_up()

    def __contains__(self, pointer: object) -> bool:
        """Return whether a text is stored under this id; this does not count as a use."""
        return pointer in self._used_at

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the texts; those of other processes as of the last text offloaded here."""
        with self._lock:
            return frozenset(self._used_at)

    @property
    def used_bytes(self) -> int:
        """Total size of the stored texts in bytes."""
        return self._blobs.used_bytes(self._scope)

    def pointer_to(self, text: str, *, kind: str = "text") -> Pointer:
        """Return the pointer of a text in this thread, stored or not."""
        data = encode_text(check_str("text", text))
        check_str("kind", kind)
        word = "".join(char for char in kind if char.isascii() and (char.isalnum() or char in "-_"))[:32]
        return Pointer(keyed_id(self._key, data), word or "text", len(data), one_line(text))

    def offload(self, text: str, *, live: Iterable[str] = (), kind: str = "text") -> Pointer | None:
        """Store a text once; return its pointer, or None if there is no room.

        Args:
            text: the text; lone surrogates are allowed.
            live: ids or pointers in the prompt; their targets are never evicted.
            kind: kind of text, for the pointer.
        """
        pointer = self.pointer_to(text, kind=kind)
        pinned = {found for each in live if (found := pointer_id(each)) is not None}
        with self._lock:
            sizes = self._catch_up()
            if pointer.id not in sizes:
                limit = float("-inf") if self._ttl_seconds is None else self._clock() - self._ttl_seconds
                free = [found for found in self._used_at if found not in pinned]
                free.sort(key=lambda found: self._used_at[found] >= limit)
                used = pointer.size_bytes + sum(sizes.values())
                fits = used - sum(sizes[found] for found in free) <= self._quota_bytes
                for found in free:
                    if self._used_at[found] >= limit and (used <= self._quota_bytes or not fits):
                        break
                    self._blobs.delete(self._scope, found)
                    del self._used_at[found]
                    used -= sizes[found]
                if not fits:
                    return None
                self._blobs.put(self._scope, pointer.id, encode_text(text))
            self._use(pointer.id)
        return pointer

    def load(self, pointer: str) -> str | None:
        """Return a stored text in full, or None; for programs, not for models."""
        data = self._get(pointer)
        return None if data is None else decode_text(data)

    def read(
        self,
        pointer: str,
        *,
        start: int | None = None,
        end: int | None = None,
        lines: tuple[int, int] | None = None,
        query: str | None = None,
        budget_tokens: int = READ_BUDGET_TOKENS,
    ) -> Reading:
        """Return a part of a text for a model, within a budget, with marks for omissions.

        Anything like a pointer inside the text is defused (``[[wm:`` becomes ``[ [wm:``); nothing else is changed.

        Args:
            pointer: the pointer as it appears in the prompt, or only its id.
            start: first byte of the UTF-8 text, at least 0; inside a character, the next one is the first.
            end: byte after the last one; defaults to the end, as far as the budget allows.
            lines: first and last line, 1-based.
            query: selects the lines that share its rarest words, each with a line before and after.
            budget_tokens: token budget of the text, at least 1.

        Raises:
            ConfigError: a number is out of range, or more than one of bytes, lines and query is given.
            TypeError: an argument has the wrong type.
        """
        check_tokens("budget_tokens", budget_tokens, at_least=1)
        check_tokens("start", start or 0)
        check_tokens("end", end or 0)
        check_type("query", query, str, None)
        if lines is not None:
            if len(lines) != 2:
                raise TypeError("lines must be a (first, last) tuple")
            check_tokens("lines[0]", lines[0], at_least=1)
            check_tokens("lines[1]", lines[1], at_least=lines[0])
        if sum((start is not None or end is not None, lines is not None, query is not None)) > 1:
            raise ConfigError("choose one: bytes (start, end), lines or query")
        data = self._get(pointer)
        if data is None:
            unknown = truncate_to_tokens(UNKNOWN_POINTER, budget_tokens, token_counter=self._counter)
            return Reading(unknown, False, False)
        if lines is None and query is None:
            begin = border(data, start or 0)
            stop = max(begin, border(data, len(data) if end is None else min(end, len(data)), step=-1))
            return self._read_bytes(data[begin:stop], begin, len(data), budget_tokens)
        numbered = dict(enumerate(decode_text(data).split("\n"), 1))
        if lines is not None:
            part = range(lines[0], min(lines[1], len(numbered)) + 1)
            head = f"[working memory: lines {part.start}-{part.stop - 1} of {len(numbered)}]"
            return self._fitted(head, {number: numbered[number] for number in part}, part, budget_tokens)
        matcher = QueryMatcher(query)
        best = [index + 1 for index in matcher.ranked(list(numbered.values()), limit=_MATCHES, share=0.4)]
        part = range(1, len(numbered) + 1)
        shown = dict.fromkeys((*best, *with_neighbours(best, _CONTEXT_LINES, within=part)))  # the best are dropped last
        kept = {at: shortened(numbered[at], _LINE_CHARS, around=matcher.places(numbered[at])) for at in shown}
        head = f"[working memory: {len(best)} matching of {len(numbered)} lines]"
        return self._fitted(head, kept, part, budget_tokens)

    def answer(
        self,
        pointer: str,
        *,
        first_line: int | None = None,
        last_line: int | None = None,
        query: str | None = None,
        budget_tokens: int = READ_BUDGET_TOKENS,
    ) -> str:
        """Return the text for a tool call with any numbers; a query takes precedence, the default is the beginning."""
        if query:
            return self.read(pointer, query=query, budget_tokens=budget_tokens).text
        first = max(1, first_line or 1)
        last = max(first, last_line or first + _LINES_AT_ONCE - 1)
        return self.read(pointer, lines=(first, last), budget_tokens=budget_tokens).text

    def touch(self, pointer: str) -> bool:
        """Return whether a text is stored under a pointer; this counts as a use."""
        return self._get(pointer, 0) is not None

    def clear(self) -> None:
        """Delete all texts of this thread."""
        with self._lock:
            self._blobs.delete(self._scope)
            self._used_at.clear()

    def _catch_up(self) -> dict[str, int]:
        """Return the sizes of all texts by id; texts that other processes stored meanwhile count as used now."""
        sizes = dict(self._blobs.records(self._scope))
        for gone in self._used_at.keys() - sizes.keys():
            del self._used_at[gone]
        for found in sizes:
            if found not in self._used_at:
                self._use(found)
        return sizes

    def _use(self, found: str) -> None:
        self._used_at.pop(found, None)
        self._used_at[found] = self._clock()

    def _get(self, pointer: str, end: int | None = None) -> bytes | None:
        """Return a text up to byte ``end`` and mark it as used; None if it is not stored."""
        found = pointer_id(check_str("pointer", pointer))
        if found is None:
            return None
        with self._lock:
            try:
                data = self._blobs.get(self._scope, found, 0, end)
            except KeyError:  # it never existed, or another process evicted it
                self._used_at.pop(found, None)
                return None
            self._use(found)
            return data

    def _read_bytes(self, data: bytes, begin: int, total: int, budget_tokens: int) -> Reading:
        text, stop = decode_text(data), begin + len(data)

        def rendered(part: str) -> str:
            upto = begin + len(encode_text(part))
            shown = f"[working memory: bytes {begin}-{max(begin, upto - 1)} of {total}]\n{defused(part)}"
            return f"{shown}\n{gap(stop - upto, 'bytes', upto, stop - 1)}" if upto < stop else shown

        part = truncate_to_tokens(text, budget_tokens, token_counter=lambda part: self._counter(rendered(part)))
        shown = truncate_to_tokens(rendered(part), budget_tokens, token_counter=self._counter)
        return Reading(shown, True, part == text)

    def _fitted(self, head: str, kept: Mapping[int, str], part: range, budget_tokens: int) -> Reading:
        """Return as many of the kept lines as fit the budget; the first one is cut if necessary."""
        numbers = list(kept)

        def rendered(some: Mapping[int, str]) -> str:
            safe = {number: defused(line) for number, line in some.items()}
            return "\n".join([head, *with_gaps(safe, len(part), first=part.start)])

        def first_ones(count: int) -> str:
            return rendered({number: kept[number] for number in numbers[:count]})

        counts = range(1, len(numbers) + 1)
        fitting = bisect_right(counts, budget_tokens, key=lambda count: self._counter(first_ones(count)))
        text = first_ones(fitting)
        if numbers and not fitting:
            first = kept[numbers[0]]
            limits = (len(first) >> halvings for halvings in range(1, len(first).bit_length()))
            cuts = (rendered({numbers[0]: shortened(first, limit)}) for limit in limits)
            text = next((cut for cut in cuts if self._counter(cut) <= budget_tokens), head)
        shown = truncate_to_tokens(text, budget_tokens, token_counter=self._counter)
        return Reading(shown, True, fitting == len(numbers))


@with_suggestions()
class ThreadMemories:
    """The working memories of many threads, built on demand, the most recently used cached; thread-safe.

    Args:
        blobs: the store. A ``Store`` forgets texts with their thread; another ``BlobStore`` keeps them until cleared.
        secret: root of all session keys, 16 bytes or more (``secrets.token_bytes(32)``). Without it, no text is found.
        quota_bytes, ttl_seconds, clock, token_counter: as for ``WorkingMemory``, for each thread.
        max_ready: number of cached memories, at least 1. Source: ours; each takes a few hundred bytes per stored text.

    Raises:
        ConfigError: a number is out of range, the secret is too short, or ``ttl_seconds`` comes without a clock.
        TypeError: an argument has the wrong type.

    >>> from gatekeeper_core.storage.in_memory import InMemoryBlobStore
    >>> memories = ThreadMemories(InMemoryBlobStore(), b"0123456789abcdef")
    >>> pointer = memories.of("t1").offload("a log")
    >>> memories.of("t1").load(pointer.text), memories.of("t2").load(pointer.text)
    ('a log', None)
    >>> memories.of("t1", tenant="other").load(pointer.text) is None
    True
    """

    def __init__(
        self,
        blobs: BlobStore | Store,
        secret: bytes,
        *,
        quota_bytes: int = _QUOTA_BYTES,
        ttl_seconds: float | None = None,
        clock: Callable[[], float] | None = None,
        token_counter: TokenCounter | None = None,
        max_ready: int = 1_000,
    ) -> None:
        _check_limits(quota_bytes, ttl_seconds, clock)
        check_tokens("max_ready", max_ready, at_least=1)
        self._secret = check_key(secret, name="secret")
        self._blobs = blobs
        self._make = partial(
            WorkingMemory,
            quota_bytes=quota_bytes,
            ttl_seconds=ttl_seconds,
            clock=clock,
            token_counter=checked_counter(token_counter),
        )
        self._ready: LruCache[tuple[str, str, int], WorkingMemory] = LruCache(max_entries=max_ready)

    def of(self, thread_id: str, *, tenant: str = "default") -> WorkingMemory:
        """Return the working memory of a thread; ``.clear()`` on it deletes the thread's texts.

        Raises:
            ConfigError: a name is empty.
            TypeError: a name is not a str.
        """
        for what, name in (("tenant", tenant), ("thread_id", thread_id)):
            if not check_str(what, name):
                raise ConfigError(f"{what} must not be empty: unnamed threads would share one memory")
        place = (tenant, thread_id, os.getpid())  # a memory in use at a fork stays locked in the child
        memory = self._ready.get(place)
        if memory is None:
            import hmac  # imported here, because most conversations offload nothing

            # One key for each use of a secret, as in RFC 5869; HMAC-SHA256 as in RFC 2104. The form is ours: each name
            # after its length, so that no two pairs of names are encoded alike.
            sized = (len(name).to_bytes(8, "big") + name for name in map(encode_text, (tenant, thread_id)))
            key = hmac.digest(self._secret, _KEY_LABEL + b"".join(sized), "sha256")
            memory = self._make(thread_blobs(self._blobs, tenant, thread_id), key)
            self._ready.put(place, memory)
        return memory


def border(data: bytes, at: int, *, step: int = 1) -> int:
    """Return the UTF-8 character border next to a byte: at or after it, or at or before it with ``step=-1``.

    >>> border("é!".encode(), 1), border("é!".encode(), 1, step=-1)
    (2, 0)
    """
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at += step
    return at


def _check_limits(quota_bytes: int, ttl_seconds: float | None, clock: Callable[[], float] | None) -> None:
    check_tokens("quota_bytes", quota_bytes, at_least=1)
    if ttl_seconds is not None and (clock is None or not ttl_seconds > 0):
        raise ConfigError("ttl_seconds must be above 0 and needs clock=time.monotonic or another clock")
