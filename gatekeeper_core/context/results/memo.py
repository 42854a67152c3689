"""What was made of results before, so that the same result is not worked through at every step of a run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import NamedTuple

__all__ = ["Made", "ResultMemo", "text_digest"]

_MOST = 256


class Made(NamedTuple):
    """What was made of a result.

    Attributes:
        text: what is sent.
        pointer: the id under which the whole result is kept, or None.
    """

    text: str
    pointer: str | None


class ResultMemo:
    """The results made last, at most 256; thread-safe. A copy starts empty: all of it can be made again.

    >>> memo = ResultMemo()
    >>> memo.put("key", Made("text", None))
    >>> memo.get("key"), memo.get("other")
    (Made(text='text', pointer=None), None)
    """

    __slots__ = ("_lock", "_made")

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: OrderedDict[Hashable, Made] = OrderedDict()

    def __reduce__(self) -> tuple[type[ResultMemo], tuple[()]]:
        """Return how a copy is made."""
        return ResultMemo, ()

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
        """Remember what was made; the one used longest ago is forgotten."""
        with self._lock:
            self._made[key] = made
            self._made.move_to_end(key)
            if len(self._made) > _MOST:
                self._made.popitem(last=False)


def text_digest(text: str) -> bytes:
    """Return a digest of a text, so that a memo need not hold the text itself.

    >>> text_digest("a") == text_digest("a"), text_digest("a") == text_digest("b")
    (True, False)
    """
    import hashlib  # here, because a conversation that compresses nothing needs no digest

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
