"""A bounded cache that drops the entry used longest ago, and an estimate of what a message takes in memory."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from threading import RLock
from typing import Generic, TypeVar

from gatekeeper_core.messages import Message, TextPart

__all__ = ["LruCache", "estimated_bytes"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_MESSAGE_BYTES = 300
_INDEXED_MESSAGE_BYTES = 500
_INDEXED_CHARACTER_BYTES = 8
_INDEXED_BEYOND_ASCII_BYTES = 60  # for each further byte of UTF-8: an ideograph begins a word, and is part of several


class LruCache(Generic[Key, Value]):
    """The entries used last, within a number of entries or of bytes; thread-safe. A copy or a pickle of it is empty.

    Args:
        max_entries: most entries at once, at least 1.
        max_bytes: what all entries may take together, as :meth:`put` is told, at least 0.
        keeps_newest: whether an entry over ``max_bytes`` is kept, alone; False: it is not stored at all.

    >>> cache = LruCache[str, int](max_entries=2)
    >>> for number, name in enumerate("abac"):
    ...     cache.put(name, number)
    >>> [cache.get(name) for name in "abc"], len(cache)
    ([2, None, 3], 2)
    """

    __slots__ = ("_entries", "_limits", "_lock", "_used_bytes")

    def __init__(
        self, *, max_entries: int = sys.maxsize, max_bytes: int = sys.maxsize, keeps_newest: bool = False
    ) -> None:
        self._limits = (max_entries, max_bytes, keeps_newest)
        self._lock = RLock()
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()  # the one used longest ago first
        self._used_bytes = 0

    def __reduce__(self) -> tuple[Callable[[], LruCache[Key, Value]], tuple[()]]:
        """Return how an empty copy is made."""
        max_entries, max_bytes, keeps_newest = self._limits
        return partial(LruCache, max_entries=max_entries, max_bytes=max_bytes, keeps_newest=keeps_newest), ()

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    @property
    def used_bytes(self) -> int:
        """What all entries take together, as :meth:`put` was told."""
        return self._used_bytes

    def get(self, key: Key) -> Value | None:
        """Return a value and make it the one used last; None where there is none."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self.peek(key)

    def peek(self, key: Key) -> Value | None:
        """Return a value, or None, without using it."""
        with self._lock:
            entry = self._entries.get(key)
            return entry[0] if entry else None

    def newest(self) -> Value | None:
        """Return the value used last, None where the cache is empty."""
        with self._lock:
            return next((value for value, _ in reversed(self._entries.values())), None)

    def put(self, key: Key, value: Value, size_bytes: int = 0) -> None:
        """Store a value as the one used last, and drop those used longest ago beyond the bounds."""
        max_entries, max_bytes, keeps_newest = self._limits
        with self._lock:
            self.pop(key)
            if size_bytes > max_bytes and not keeps_newest:
                return
            self._entries[key] = value, size_bytes
            self._used_bytes += size_bytes
            while len(self._entries) > max_entries or (self._used_bytes > max_bytes and len(self._entries) > 1):
                self._used_bytes -= self._entries.popitem(last=False)[1][1]

    def get_or_put(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return a value, a new one where there is none: it takes nothing until :meth:`settle`."""
        with self._lock:
            if key not in self._entries:
                self.put(key, make())
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def settle(self, key: Key, value: Value, size_bytes: int) -> None:
        """Note what a value takes by now; one that was dropped or replaced meanwhile stays so."""
        with self._lock:
            if self.peek(key) is value:
                self.put(key, value, size_bytes)

    def pop(self, key: Key) -> Value | None:
        """Drop an entry and return its value, None where there is none."""
        with self._lock:
            entry = self._entries.pop(key, None)
            self._used_bytes -= entry[1] if entry else 0
            return entry[0] if entry else None

    def discard(self, key: Key, value: Value) -> None:
        """Drop an entry, unless its key has another value by now."""
        with self._lock:
            if self.peek(key) is value:
                self.pop(key)

    def clear(self) -> None:
        """Drop all entries."""
        with self._lock:
            self._entries.clear()
            self._used_bytes = 0


def estimated_bytes(message: Message, *, indexed: bool = False) -> int:
    """Return about how many bytes a message takes in memory: its texts alone, or with its part of the index.

    Alone: 300 and the size of its texts. Indexed: 500, 8 for each character, and 60 more for each byte that UTF-8 needs
    beyond the first of a character: 128 for an ideograph. Media are not kept and take nothing.

    Source: ``tracemalloc``. Alone: 10,000 messages. Indexed: over generated conversations in Chinese, English and both,
    20 to 2,000 messages of 20 to 2,000 characters, such as ``python -m benchmarks.speed_adapters --memory --sizes
    100,400,2000``, within a factor of two of each; a thread of very many turns, most of them packed, takes less.

    >>> [estimated_bytes(Message("user", text), indexed=True) for text in ("hello", "你好")]
    [540, 756]
    """
    content = message.content
    texts = [content] if isinstance(content, str) else [part.text for part in content if isinstance(part, TextPart)]
    texts += [call.arguments for call in message.tool_calls]
    if not indexed:
        return _MESSAGE_BYTES + sum(map(sys.getsizeof, texts))
    characters = sum(map(len, texts))
    beyond = sum(len(text.encode("utf-8", "surrogatepass")) - len(text) for text in texts if not text.isascii())
    return _INDEXED_MESSAGE_BYTES + _INDEXED_CHARACTER_BYTES * characters + _INDEXED_BEYOND_ASCII_BYTES * beyond
