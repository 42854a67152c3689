"""What was made of results before, so that the same result is not worked through at every step of a run."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import NamedTuple

__all__ = ["Made", "ResultMemo", "text_digest"]

_MAX_BYTES = 32 * 1024 * 1024
"""What a memo may hold. Source: ours; digests of 3,000 results, where each is as long as a digest may be."""

_ENTRY_BYTES = 500  # key, value and place of an entry beside its text, rounded up


class Made(NamedTuple):
    """What was made of a result.

    Attributes:
        text: what is sent; None: the result as it was, which need not be held twice.
        pointer: the id under which the whole result is kept, or None.
    """

    text: str | None
    pointer: str | None


class ResultMemo:
    """The results made last, within a number of bytes; thread-safe. A copy starts empty: all can be made again.

    A run asks for all its results at each step, so a bound on their number would be no memory at all beyond it.

    Args:
        max_bytes: what texts and entries may take together.

    >>> memo = ResultMemo()
    >>> memo.put("key", Made("text", None))
    >>> memo.get("key"), memo.get("other")
    (Made(text='text', pointer=None), None)
    """

    __slots__ = ("_lock", "_made", "_max_bytes", "_used_bytes")

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._lock = Lock()
        self._made: OrderedDict[Hashable, Made] = OrderedDict()
        self._max_bytes = max_bytes
        self._used_bytes = 0

    def __reduce__(self) -> tuple[type[ResultMemo], tuple[int]]:
        """Return how a copy is made."""
        return ResultMemo, (self._max_bytes,)

    def __len__(self) -> int:
        """Return how many results are remembered."""
        return len(self._made)

    def get(self, key: Hashable) -> Made | None:
        """Return what was made under a key, or None; it is the one used last now."""
        with self._lock:
            made = self._made.get(key)
            if made is not None:
                self._made.move_to_end(key)
            return made

    def put(self, key: Hashable, made: Made) -> None:
        """Remember what was made; those used longest ago are forgotten, where they are too many bytes together."""
        with self._lock:
            self._forget(key)
            if _size(made) > self._max_bytes:
                return
            self._made[key] = made
            self._used_bytes += _size(made)
            while self._used_bytes > self._max_bytes:
                self._forget(next(iter(self._made)))

    def _forget(self, key: Hashable) -> None:
        made = self._made.pop(key, None)
        if made is not None:
            self._used_bytes -= _size(made)


def _size(made: Made) -> int:
    return _ENTRY_BYTES + (0 if made.text is None else sys.getsizeof(made.text))


def text_digest(text: str) -> bytes:
    """Return a digest of a text, so that a memo need not hold the text itself.

    >>> text_digest("a") == text_digest("a"), text_digest("a") == text_digest("b")
    (True, False)
    """
    import hashlib  # here, because a conversation that compresses nothing needs no digest

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
