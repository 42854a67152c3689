"""The inverted index of a conversation: postings, document frequencies, lengths.

A document is a turn with two fields, the user's text and the assistant's. The newest turns stand in a dictionary;
once it holds ``LIVE_TURNS`` it is frozen and packed into a segment (:mod:`gatekeeper_core.selection.segments`), a
little at each later turn, and ``FAN_OUT`` segments of a size are merged into one in the same way. So adding a turn is
linear in its terms, and a term is looked up in a number of places that grows with the logarithm of the conversation.

How far packing has come changes no answer. The newest turns can be taken back, so that an index that followed an edit
equals one that was built anew.
"""

from __future__ import annotations

import json
import math
from array import array
from bisect import bisect_left, bisect_right
from functools import cache
from itertools import pairwise
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.errors import ConfigError, SnapshotError
from gatekeeper_core.selection.background import background_frequencies
from gatekeeper_core.selection.segments import (
    FIELD_BITS,
    MAX_COUNT,
    MAX_TURNS,
    TURN_BITS,
    Segment,
    finished,
    merging,
    release,
    sealing,
    term_key,
)
from gatekeeper_core.selection.snapshot import read_column, read_sections, read_texts, write_sections
from gatekeeper_core.selection.speakers import Speakers
from gatekeeper_core.selection.word_filter import WordFilter

if TYPE_CHECKING:
    from collections.abc import Container, Generator, Iterable, Mapping, Sequence, Set

__all__ = ["BACKGROUND_TURNS", "FAN_OUT", "LIVE_TURNS", "Posting", "TurnIndex", "idf_among", "unpack"]

BACKGROUND_TURNS = 20.0
"""How many turns of everyday talk the background frequencies stand for in an idf.

Source: ours: a young conversation knows too little to tell a common word; after a hundred turns its own counts rule.
"""

LIVE_TURNS = 4096
"""How many of the newest turns stand in a dictionary. Source: ours: below it everything is as fast as it gets."""

FAN_OUT = 8
"""How many segments of a size become one. Source: ours, measured: fewer cost more to write, more cost more to read."""

_BACKGROUND_TURN_LENGTH = 25.0
_MAX_BACKGROUND_SHARE = 0.9
_SNAPSHOT = b"index"
_SEGMENT_COLUMNS = {"keys": "Q", "ends": "I", "postings": "I"}
ROUNDING = 1e-6  # more than a value is changed by when it is rounded to six digits
FEW_PER_TURN = 6  # postings that are read through in the time of one look-up

_MAX_LOOKED_UP = 256

_Live = dict[str, "int | array[int]"]
_Run = tuple["Sequence[int]", int, int]


class Posting(NamedTuple):
    """One turn that holds a term.

    Attributes:
        turn_id: 0-based position of the turn.
        user_count: occurrences in the user's text, at most 15.
        assistant_count: occurrences in the assistant's text, at most 15.
    """

    turn_id: int
    user_count: int
    assistant_count: int


def unpack(posting: int) -> Posting:
    """Return the fields of a packed posting.

    >>> unpack(3 << 8 | 2 << 4 | 1)
    Posting(turn_id=3, user_count=2, assistant_count=1)
    """
    return Posting(posting >> TURN_BITS, posting >> FIELD_BITS & MAX_COUNT, posting & MAX_COUNT)


def idf_among(term: str, *, documents: int, frequency: int) -> float:
    """Return the inverse document frequency of a term, known or not.

    ``ln(1 + (N - df + 0.5) / (df + 0.5))`` over the documents and ``BACKGROUND_TURNS`` turns of everyday talk, in which
    the term has its background frequency. Rounded to six digits, so that every platform ranks alike.

    Args:
        term: an indexed term.
        documents: how many documents there are, at least 0.
        frequency: how many of them hold the term, 0 to ``documents``.

    Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework" (the form is Lucene's, never
    negative); the background share is ours.

    >>> idf_among("friend", documents=0, frequency=0) < idf_among("gateway", documents=0, frequency=0)
    True
    """
    turns = documents + BACKGROUND_TURNS
    held = frequency + _background_turns().get(term, 0.0)
    return round(math.log1p((turns - held + 0.5) / (held + 0.5)), 6)


@cache
def _background_turns() -> Mapping[str, float]:
    """Return by term in how many of the ``BACKGROUND_TURNS`` it stands, where it is listed."""
    shares = background_frequencies().items()
    return {
        term: BACKGROUND_TURNS * min(_MAX_BACKGROUND_SHARE, _BACKGROUND_TURN_LENGTH * share) for term, share in shares
    }


class TurnIndex:
    """Postings of every term, by turn, and the lengths of both fields of each turn.

    Args:
        live_turns: how many turns stand in the dictionary before they are packed, >= 1; no answer depends on it.

    >>> index = TurnIndex()
    >>> index.add({"redis": 2}, {"redis": 1, "cache": 1})
    >>> index.document_frequency("redis"), [unpack(p) for p in index.postings("cache")]
    (1, [Posting(turn_id=0, user_count=0, assistant_count=1)])
    """

    __slots__ = (
        "_assistant_total",
        "_frozen",
        "_live",
        "_live_start",
        "_live_turns",
        "_looked_up",
        "_segments",
        "_spent",
        "_user_total",
        "_words",
        "_work",
        "assistant_lengths",
        "speakers",
        "user_lengths",
    )

    def __init__(self, *, live_turns: int = LIVE_TURNS) -> None:
        self._live_turns = live_turns
        self._live: _Live = {}
        self._live_start = 0
        self._frozen: _Live | None = None  # turns from the last segment on that are being packed
        self._segments: list[Segment] = []
        self._work: _Work | None = None
        self._spent: _Live | None = None  # packed: nothing reads it any more
        self._looked_up: dict[str, list[_Run]] = {}
        self._words = WordFilter()
        self.speakers = Speakers()
        self._user_total = 0
        self._assistant_total = 0
        self.user_lengths = array("I")
        self.assistant_lengths = array("I")

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self.user_lengths)

    @property
    def mean_user_length(self) -> float:
        """Terms of a user's text on average, at least 1."""
        return max(1.0, self._user_total / (len(self) or 1))

    @property
    def mean_assistant_length(self) -> float:
        """Terms of an assistant's text on average, at least 1."""
        return max(1.0, self._assistant_total / (len(self) or 1))

    @property
    def segment_count(self) -> int:
        """In how many packed pieces a term is looked up."""
        return len(self._segments)

    def add(
        self,
        user_terms: Mapping[str, int],
        assistant_terms: Mapping[str, int],
        *,
        texts: tuple[str, str] = ("", ""),
    ) -> None:
        """Add the next turn.

        Args:
            user_terms: the counts of the terms of the user's text.
            assistant_terms: the same of the assistant's text.
            texts: how both texts begin, for the names of the speakers.

        Raises:
            ConfigError: there are ``MAX_TURNS`` turns already.
        """
        turn_id = len(self)
        if turn_id >= MAX_TURNS:
            raise ConfigError(f"one conversation holds at most {MAX_TURNS} turns: start a new one")
        self.speakers.add(*texts)
        base, live = turn_id << TURN_BITS, self._live
        fresh = {
            term: base | (count if count < MAX_COUNT else MAX_COUNT) << FIELD_BITS for term, count in user_terms.items()
        }
        for term, count in assistant_terms.items():
            fresh[term] = fresh.get(term, base) | (count if count < MAX_COUNT else MAX_COUNT)
        for term, posting in fresh.items():
            held = live.get(term)
            if held is None:
                live[intern(term) if len(term) == 1 else term] = posting  # one object for all conversations
            elif isinstance(held, int):
                live[term] = array("I", (held, posting))
            else:
                held.append(posting)
        user_length, assistant_length = sum(user_terms.values()), sum(assistant_terms.values())
        self.user_lengths.append(user_length)
        self.assistant_lengths.append(assistant_length)
        self._user_total += user_length
        self._assistant_total += assistant_length
        self._pack()

    def remove_last(self, terms: Iterable[str]) -> None:
        """Take the newest turn back.

        Args:
            terms: every term of the turn (both fields), each at least once.

        Raises:
            IndexError: the index is empty.
        """
        self.speakers.remove_last()
        self._user_total -= self.user_lengths.pop()
        self._assistant_total -= self.assistant_lengths.pop()
        turn_id = len(self)
        if turn_id < self._live_start and self._frozen is not None:  # the frozen turns are the newest again
            self._live, self._live_start = self._frozen, self._packed_turns
            self._frozen = self._work = None
            self._looked_up.clear()
        if turn_id < self._live_start:
            self._work = None
            self._looked_up.clear()
            self._live_start = turn_id
            self._segments[-1].cut(turn_id)
            if self._segments[-1].start == turn_id:
                self._segments.pop()
            return
        for term in terms:
            held = self._live.get(term)
            if isinstance(held, int):
                if held >> TURN_BITS == turn_id:
                    del self._live[term]
            elif held is not None and held[-1] >> TURN_BITS == turn_id:
                held.pop()
                if len(held) == 1:
                    self._live[term] = held[0]

    def postings(self, term: str) -> list[int]:
        """Return the packed postings of a term, oldest turn first; empty for an unknown term."""
        found: list[int] = []
        for run, begin, end in self._runs(term):
            found += run[begin:end]
        return found

    def newest_postings(self, term: str, limit: int) -> array[int]:
        """Return the packed postings of the newest turns that hold a term, at most so many, oldest turn first."""
        live = self._live.get(term)
        found = live[-limit:] if isinstance(live, array) else array("I", () if live is None else (live,))
        for run, begin, end in reversed(self._earlier_runs(term)) if self._live_start else ():
            if len(found) == limit:
                break
            found[:0] = array("I", run[max(begin, end - limit + len(found)) : end])
        return found

    def postings_among(self, term: str, turns: Sequence[int], members: Container[int]) -> list[int]:
        """Return the packed postings of a term in some turns, oldest turn first.

        Args:
            term: what is looked up.
            turns: the turns, rising.
            members: the same turns, for a quick ``in``.
        """
        found: list[int] = []
        for run, begin, end in self._runs(term):
            first = bisect_left(turns, run[begin] >> TURN_BITS)
            last = bisect_right(turns, run[end - 1] >> TURN_BITS, first)
            if end - begin <= FEW_PER_TURN * (last - first):
                found += [posting for posting in run[begin:end] if posting >> TURN_BITS in members]
                continue
            for turn_id in turns[first:last]:
                begin = bisect_left(run, turn_id << TURN_BITS, begin, end)
                if run[begin] >> TURN_BITS == turn_id:
                    found.append(run[begin])
        return found

    def posting(self, term: str, turn_id: int) -> Posting | None:
        """Return the posting of a term in one turn, or None where the turn does not hold it."""
        found = self.postings_among(term, (turn_id,), (turn_id,))
        return unpack(found[0]) if found else None

    def document_frequency(self, term: str, *, most: float = math.inf) -> int:
        """Return in how many turns a term stands; where they are more than ``most``, any number above it."""
        live = self._live.get(term)
        count = 0 if live is None else 1 if isinstance(live, int) else len(live)
        if self._live_start and count <= most:
            for _, begin, end in self._earlier_runs(term, most=most - count):
                count += end - begin
        return count

    def known_words(self, words: Set[str]) -> list[str]:
        """Return those of some words (as :class:`WordFilter` has them) that stand in a turn, in any order."""
        known = {*(self._live.keys() & words)}
        if self._frozen is not None:
            known.update(self._frozen.keys() & words)
        if self._segments:
            maybe = self._words.may_hold(words)
            known.update(word for word in maybe if word not in known and self.document_frequency(word))
        return list(known)

    def idf(self, term: str, *, least: float = 0.0) -> float:
        """Return what a term tells among the turns of this conversation, known or not; see :func:`idf_among`.

        Args:
            term: an indexed term.
            least: where it tells less than this, any number below it is returned, which is sooner known.
        """
        most = math.inf
        if least > 0.0:  # the formula, solved for the frequency
            both = (len(self) + BACKGROUND_TURNS + 1) * math.exp(ROUNDING - least) - 0.5
            most = both - _background_turns().get(term, 0.0)
        return idf_among(term, documents=len(self), frequency=self.document_frequency(term, most=most))

    def highest_idf(self, terms: Iterable[str]) -> dict[str, float]:
        """Return a bound on the idf of each of some terms of turns, sooner known: as if only the newest held them."""
        live, background, turns = self._live.get, _background_turns().get, len(self) + BACKGROUND_TURNS
        bounds = {}
        for term in terms:
            newest = live(term, 1)
            held = (1 if isinstance(newest, int) else len(newest)) + background(term, 0.0)
            bounds[term] = math.log1p((turns - held + 0.5) / (held + 0.5)) + ROUNDING
        return bounds

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return a snapshot: everything packed, as flat arrays; see :mod:`gatekeeper_core.selection.snapshot`.

        It is the same for the same turns packed alike, not for the same turns.
        """
        unpacked: list[tuple[_Live, int, int]] = []  # each with its first turn and the one after its last
        if self._frozen is not None:
            unpacked.append((self._frozen, self._packed_turns, self._live_start))
        if len(self) > self._live_start:
            unpacked.append((self._live, self._live_start, len(self)))
        segments = [finished(merging([segment])) if segment.is_cut else segment for segment in self._segments]
        segments += [finished(sealing(live, start=start, stop=stop)) for live, start, stop in unpacked]
        names, ids = self.speakers.columns()
        sections: dict[str, array[Any] | bytes] = {
            "user_lengths": self.user_lengths,
            "assistant_lengths": self.assistant_lengths,
            "words": self._words.column(term for live, _, _ in unpacked for term in live),
            "names": json.dumps(names).encode("ascii"),
            "speakers": ids,
            "bounds": array("Q", [bound for segment in segments for bound in (segment.start, segment.stop)]),
        }
        for place, segment in enumerate(segments):
            for column in _SEGMENT_COLUMNS:
                sections[f"{column}{place}"] = getattr(segment, column)
        return write_sections(_SNAPSHOT, sections)

    @classmethod
    def from_bytes(cls, data: bytes) -> TurnIndex:
        """Return the index that a snapshot was made of.

        Raises:
            TypeError: ``data`` is not bytes.
            SnapshotError: it is no snapshot of an index that this version can read, or its columns do not fit together.
        """
        sections = read_sections(_SNAPSHOT, data)
        made = cls()
        try:
            made._words = WordFilter.from_column(sections["words"])
        except (LookupError, AttributeError, ValueError) as error:
            raise SnapshotError("this snapshot does not hold an index") from error
        made.user_lengths = read_column(sections, "user_lengths", "I")
        made.assistant_lengths = read_column(sections, "assistant_lengths", "I", length=len(made))
        names = read_texts(sections, "names")
        ids = read_column(sections, "speakers", "I", length=2 * len(made), high=len(names) - 1)
        made.speakers = Speakers.from_columns(names, ids)
        bounds = read_column(sections, "bounds", "Q", high=len(made))
        starts, stops = [*bounds[::2], len(made)], [0, *bounds[1::2]]
        if starts != stops or names[:1] != [""]:
            raise SnapshotError("the parts of this snapshot do not fit together")
        for place, (start, stop) in enumerate(pairwise(stops)):
            columns = (read_column(sections, f"{name}{place}", code) for name, code in _SEGMENT_COLUMNS.items())
            made._segments.append(Segment.from_columns(*columns, start=start, stop=stop))
        made._user_total, made._assistant_total = sum(made.user_lengths), sum(made.assistant_lengths)
        made._live_start = len(made)
        return made

    # --- where postings stand ----------------------------------------------------------------------------------------

    def _runs(self, term: str) -> list[_Run]:
        """Return the stretches of postings of a term, oldest first: a sequence, where it begins, where it ends."""
        runs = self._earlier_runs(term) if self._live_start else []
        live = self._live.get(term)
        return runs if live is None else [*runs, _run_of(live)]

    def _earlier_runs(self, term: str, *, most: float = math.inf) -> list[_Run]:
        """Return the stretches that are no longer in the dictionary; a query asks for the same ones several times.

        Where they hold more than ``most`` postings, some of them that do.
        """
        runs = self._looked_up.get(term)
        if runs is None:
            key, runs = term_key(term), []
            for segment in self._segments:
                begin, end = segment.find(key)
                if begin < end:
                    runs.append((segment.postings, begin, end))
                    most -= end - begin
                    if most < 0:
                        return runs
            frozen = self._frozen.get(term) if self._frozen is not None else None
            if frozen is not None:
                runs.append(_run_of(frozen))
            if len(self._looked_up) >= _MAX_LOOKED_UP:
                del self._looked_up[next(iter(self._looked_up))]  # the oldest: the terms of this query stay
            self._looked_up[term] = runs
        return runs

    # --- packing -----------------------------------------------------------------------------------------------------

    def _pack(self) -> None:
        """Do a little of what there is to pack."""
        if self._spent:
            release(self._spent)
        if self._frozen is None and len(self) - self._live_start >= self._live_turns:
            self._frozen, self._live, self._live_start = self._live, {}, len(self)
            self._looked_up.clear()
        if self._work is None:
            self._work = self._next_work()
            return
        try:
            next(self._work.steps)
        except StopIteration as done:
            self._segments[self._work.first : self._work.last] = [done.value]
            self._looked_up.clear()
            if self._work.first == self._work.last:  # it replaces no segment but the frozen turns
                self._spent, self._frozen = self._frozen, None
            self._work = None

    def _next_work(self) -> _Work | None:
        """Return what is to be packed next: the frozen turns first, then ``FAN_OUT`` neighbours of a size."""
        count = len(self._segments)
        if self._frozen is not None:
            start, stop = self._packed_turns, self._live_start
            return _Work(sealing(self._frozen, start=start, stop=stop, on_term=self._words.add), count, count)
        first = 0
        for last in range(1, count + 1):
            if self._size_class(last - 1) != self._size_class(first):
                first = last - 1
            if last - first == FAN_OUT:
                return _Work(merging(self._segments[first:last]), first, last)
        return None

    def _size_class(self, place: int) -> int:
        """Return how often a segment was merged, judged by its turns."""
        segment = self._segments[place]
        size, merged = (segment.stop - segment.start) // self._live_turns, 0
        while size >= FAN_OUT:
            size, merged = size // FAN_OUT, merged + 1
        return merged

    @property
    def _packed_turns(self) -> int:
        return self._segments[-1].stop if self._segments else 0


class _Work(NamedTuple):
    """A segment in the making, and the places of the segments that it replaces."""

    steps: Generator[None, None, Segment]
    first: int
    last: int


def _run_of(held: int | array[int]) -> _Run:
    return ((held,), 0, 1) if isinstance(held, int) else (held, 0, len(held))
