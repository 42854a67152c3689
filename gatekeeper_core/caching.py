"""A bounded cache that drops the least recently used entry."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from threading import RLock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """A least-recently-used cache; thread-safe. Copies and pickles are empty.

    Args:
        max_entries: most entries at once, at least 0.

    >>> cache = LruCache[str, int](max_entries=2)
    >>> for number, name in enumerate("abac"):
    ...     cache.put(name, number)
    >>> [cache.get(name) for name in "abc"], len(cache)
    ([2, None, 3], 2)
    """

    __slots__ = ("_entries", "_lock", "_max_entries")

    def __init__(self, *, max_entries: int) -> None:
        self._max_entries = max_entries
        self._lock = RLock()
        self._entries: OrderedDict[Key, Value] = OrderedDict()  # least recently used first

    def __reduce__(self) -> tuple[Callable[[], LruCache[Key, Value]], tuple[()]]:
        return partial(LruCache, max_entries=self._max_entries), ()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """Return a value, or None, and mark it as most recently used."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def peek(self, key: Key) -> Value | None:
        """Return a value, or None, without marking it as used."""
        with self._lock:
            return self._entries.get(key)

    def newest(self) -> Value | None:
        """Return the most recently used value, None if the cache is empty."""
        with self._lock:
            return next(reversed(self._entries.values()), None)

    def put(self, key: Key, value: Value) -> None:
        """Store a value as most recently used; over the limit, drop the least recently used one."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)

    def get_or_put(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return a value, from ``make`` if it is missing, and mark it as most recently used."""
        with self._lock:
            value = self._entries[key] if key in self._entries else make()
            self.put(key, value)
            return value

    def pop(self, key: Key) -> Value | None:
        """Drop an entry and return its value, or None."""
        with self._lock:
            return self._entries.pop(key, None)

    def discard(self, key: Key, value: Value) -> None:
        """Drop an entry, unless its key holds another value by now."""
        with self._lock:
            if self._entries.get(key) is value:
                self._entries.pop(key, None)


def text_key(text: str) -> bytes:
    """Return a 16-byte key for a text, so that caches hold no text."""
    import hashlib  # here, because it is a tenth of the import of the library

    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
