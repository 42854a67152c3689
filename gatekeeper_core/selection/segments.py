"""Packed postings: what the index keeps of the turns that change no more.

A segment is three flat arrays: the 64-bit keys of its terms in rising order, where each term's postings end, and the
postings themselves, oldest turn first. It is never changed; segments are merged into larger ones, and the newest turns
can be cut off by a mark. Building one is work for a while, so both ways to build one are generators: each step does a
little, and the last gives the segment.

A posting packs a turn and how often the term stands in either field: ``turn_id << 8 | user_count << 4 |
assistant_count``, in 32 bits; so an index holds up to 16,777,216 turns.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from functools import lru_cache
from itertools import islice
from operator import lt
from typing import TYPE_CHECKING

from gatekeeper_core.errors import SnapshotError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

__all__ = [
    "FIELD_BITS",
    "MAX_COUNT",
    "MAX_TURNS",
    "TURN_BITS",
    "Segment",
    "finished",
    "merging",
    "release",
    "sealing",
    "term_key",
]

FIELD_BITS = 4
MAX_COUNT = (1 << FIELD_BITS) - 1
TURN_BITS = 2 * FIELD_BITS
MAX_TURNS = 1 << 32 - TURN_BITS
"""Turns that one index can hold."""

_KEY_BITS = 64
_SEAL_STEP = 64
_RELEASE_STEP = 256
_MERGE_STEP = 32


@lru_cache(maxsize=16_384)
def term_key(term: str) -> int:
    """Return the 64-bit key of a term, the same on every machine.

    Source: BLAKE2b (RFC 7693). Among a million terms two share a key with a probability of 3 in 100 million; they would
    then count as one term.
    """
    return _key(term)


class Segment:
    """The postings of the turns ``start`` to ``stop - 1``; see the module.

    Attributes:
        keys: the keys of the terms, rising; ``array("Q")``.
        ends: where the postings of each term end, with a leading 0; ``array("I")``, one longer than ``keys``.
        postings: packed postings by term, oldest turn first; ``array("I")``.
        start: its first turn.
        stop: the turn after its last.
        is_cut: whether it holds postings of turns that were taken back.
        unproven: by term whether nobody has looked at its postings yet; empty where all were packed here.
    """

    __slots__ = ("ends", "is_cut", "keys", "postings", "start", "stop", "unproven")

    def __init__(self, keys: array[int], ends: array[int], postings: array[int], *, start: int, stop: int) -> None:
        self.keys = keys
        self.ends = ends
        self.postings = postings
        self.start = start
        self.stop = stop
        self.is_cut = False
        self.unproven = bytearray()

    @classmethod
    def from_columns(
        cls, keys: array[int], ends: array[int], postings: array[int], *, start: int, stop: int
    ) -> Segment:
        """Return the segment of columns that a snapshot held.

        To read all postings would take as long as the rest of the snapshot. So the postings of a term are checked when
        they are first asked for: where they do not rise within the segment, the term has none.

        Raises:
            SnapshotError: the columns do not fit together.
        """
        rising = ends.tolist()  # or a posting might belong to many terms, and merging would take the square of the size
        if rising != sorted(rising) or len(ends) != len(keys) + 1 or start >= stop:
            raise SnapshotError("the terms of this snapshot do not fit together")
        if ends[0] or ends[-1] != len(postings):
            raise SnapshotError("the postings of this snapshot do not fit together")
        made = cls(keys, ends, postings, start=start, stop=stop)
        made.unproven = bytearray(b"\1") * len(keys)
        return made

    def cut(self, stop: int) -> None:
        """Take back the turns from ``stop`` on."""
        self.stop = stop
        self.is_cut = True

    def find(self, key: int) -> tuple[int, int]:
        """Return where the postings of a term begin and end; both alike where it has none."""
        at = bisect_left(self.keys, key)
        if at == len(self.keys) or self.keys[at] != key:
            return (0, 0)
        if self.is_cut or (self.unproven and self.unproven[at]):
            return self.bounds(at)
        return self.ends[at], self.ends[at + 1]

    def bounds(self, at: int) -> tuple[int, int]:
        """Return where the postings of the term in place ``at`` begin and end."""
        begin, end = self.ends[at], self.ends[at + 1]
        if self.unproven and self.unproven[at]:
            if not self._is_sound(begin, end):
                return (0, 0)
            self.unproven[at] = 0
        return begin, bisect_left(self.postings, self.stop << TURN_BITS, begin, end) if self.is_cut else end

    def _is_sound(self, begin: int, end: int) -> bool:
        """Return whether the postings there rise from the first turn to the last, at most one for each turn."""
        run = self.postings[begin:end]
        if self.is_cut:
            del run[bisect_left(run, self.stop << TURN_BITS) :]
        if not run:
            return True
        within = self.start <= run[0] >> TURN_BITS and run[-1] >> TURN_BITS < self.stop
        return within and len(run) <= self.stop - self.start and all(map(lt, run, islice(run, 1, None)))


def sealing(
    live: Mapping[str, int | Sequence[int]],
    *,
    start: int,
    stop: int,
    on_term: Callable[[str], object] = str,
) -> Generator[None, None, Segment]:
    """Build a segment from the postings of the newest turns, a few terms at each step.

    The keys are spread evenly, so that dealing them out by their size gives piles of a few terms each, in order: no
    step sorts more than one pile.

    Args:
        live: the postings by term.
        start: the first turn.
        stop: the turn after the last.
        on_term: is called once with each term.
    """
    piles: list[list[tuple[int, str]]] = [[] for _ in range(len(live) // _SEAL_STEP + 1)]
    for count, term in enumerate(live, 1):
        key = _key(term)
        piles[key * len(piles) >> _KEY_BITS].append((key, term))
        on_term(term)
        if not count % _SEAL_STEP:
            yield
    keys, ends, postings = array("Q"), array("I", [0]), array("I")
    piles.reverse()
    while piles:
        for key, term in sorted(piles.pop()):
            found = live[term]
            if isinstance(found, int):
                postings.append(found)
            else:
                postings.extend(found)
            keys.append(key)
            ends.append(len(postings))
        yield
    return Segment(keys, ends, postings, start=start, stop=stop)


def release(live: dict[str, int | array[int]]) -> None:
    """Take a few terms out of a dictionary that is packed: to give back all its memory at once takes long."""
    for _ in range(min(_RELEASE_STEP, len(live))):
        live.popitem()


def merging(segments: Sequence[Segment]) -> Generator[None, None, Segment]:
    """Build one segment from neighbouring ones, oldest first, a few terms at each step."""
    keys, ends, postings = array("Q"), array("I", [0]), array("I")
    places = [0] * len(segments)
    heads = [segment.keys[0] if segment.keys else None for segment in segments]
    while known := [head for head in heads if head is not None]:
        key = min(known)
        for at, head in enumerate(heads):
            if head == key:
                segment, place = segments[at], places[at]
                begin, end = segment.bounds(place)
                postings.extend(segment.postings[begin:end])
                places[at] = place + 1
                heads[at] = segment.keys[place + 1] if place + 1 < len(segment.keys) else None
        if len(postings) > ends[-1]:
            keys.append(key)
            ends.append(len(postings))
        if not len(keys) % _MERGE_STEP:
            yield
    return Segment(keys, ends, postings, start=segments[0].start, stop=segments[-1].stop)


def finished(steps: Generator[None, None, Segment]) -> Segment:
    """Return the segment that a generator builds, all steps done at once."""
    built: list[Segment] = []

    def all_steps() -> Generator[None, None, None]:
        built.append((yield from steps))

    for _ in all_steps():
        pass
    return built[0]


def _key(term: str) -> int:
    import hashlib  # here, because it is a tenth of the import of the library

    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
