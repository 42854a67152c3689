"""The topic map of a conversation: where one topic ends and the next one begins.

It cuts the conversation into segments, one topic each. A segment holds together as far as its turns repeat one
another's terms; a border costs a price, less where a turn greets, thanks, asks for something new or says that the topic
changes. The cheapest cut of all turns so far is found incrementally, one turn at a time.

Source: after Utiyama and Isahara 2001, "A statistical model for domain-independent text segmentation", with adaptive
counts; the constants are ours, one set for all conversations.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gatekeeper_core.selection.cues import Cues
    from gatekeeper_core.selection.verdicts import Verdict

__all__ = ["Topic", "TopicMap", "topic_terms"]

_THANKED, _BORDER, _SWITCHED, _QUESTION_OPEN = 1, 2, 4, 8
_COLUMNS: Mapping[str, tuple[str, int | None]] = MappingProxyType(
    {
        "bests": ("d", 1),
        "backs": ("I", 1),
        "ends": ("Q", 1),
        "border_prices": ("d", 0),
        "flags": ("B", 0),
        "starts": ("I", None),
    }
)
"""The columns of a topic map: the type of their items, and how many more there are than turns."""


class Topic(NamedTuple):
    """One segment of the conversation: turns ``start`` to ``stop - 1``; ``topic_id`` counts from 0.

    Attributes:
        topic_id: 0-based number.
        start: its first turn.
        stop: the turn after its last.
        title: up to three of its anchors as written, the most telling first; empty where only the borders were asked.
        returns_to: the earlier topic that it goes back to, or None.
    """

    topic_id: int
    start: int
    stop: int
    title: tuple[str, ...] = ()
    returns_to: int | None = None


class _Window:
    """The newest turns, back to the last sure border, and how often each of their terms is repeated after it.

    An occurrence that is repeated later in the window has a cell in its turn: how many occurrences of its term come
    after it, for each time that the term stands in the conversation. A new turn changes the cells of its own terms
    alone.
    """

    SIZE = 40

    __slots__ = ("_cells", "_earlier", "_newest", "turns")

    def __init__(self) -> None:
        self.turns: list[Mapping[str, int]] = []  # a deque takes 700 bytes more, and 40 are moved at once
        self._newest: dict[str, int] = {}  # by term: the slot (turn id modulo SIZE) of its newest occurrence
        self._earlier: dict[str, list[int]] = {}  # by term: the places of the cells of the others, oldest first
        self._cells: dict[int, array[float]] = {}  # by slot

    def append(self, turn_id: int, terms: Mapping[str, int], counts: Mapping[str, int]) -> None:
        """Take in the next turn; the oldest one goes where there are too many.

        Args:
            turn_id: the turn.
            terms: how often each term stands in it.
            counts: the same for the whole conversation, this turn included.
        """
        slot = turn_id % self.SIZE
        if len(self.turns) == self.SIZE:
            self._forget_oldest(slot)
        self.turns.append(terms)
        newest, earlier = self._newest, self._earlier
        for term, occurrences in terms.items():
            before = newest.get(term)
            newest[term] = slot
            if before is None and occurrences == 1:
                continue
            slots = (slot,) * (occurrences - 1) if before is None else (before, *(slot,) * (occurrences - 1))
            fresh = tuple(map(self._new_cell, slots))
            places = earlier.get(term)
            if places is None:
                places = earlier[term] = list(fresh)  # of a tuple, so that there is no room to spare
            else:
                places += fresh
            self._number(places, counts[term] + 0.5)

    def gains(self, scale: float) -> list[float]:
        """Return by slot what the occurrences in a turn gain from those in the turns after it.

        The sums are exact, so that it does not matter how the window came about.

        Args:
            scale: tokens that smooth a count, for each time that the term stands in the conversation.
        """
        log1p, gains = math.log1p, [0.0] * self.SIZE
        for slot, cells in self._cells.items():
            gains[slot] = math.fsum([log1p(cell / scale) for cell in cells])
        return gains

    def clear(self) -> None:
        """Forget all turns."""
        for held in (self.turns, self._newest, self._earlier, self._cells):
            held.clear()

    def _new_cell(self, slot: int) -> int:
        """Make a cell in a turn and return its place."""
        cells = self._cells.get(slot)
        if cells is None:
            cells = self._cells[slot] = array("d")
        cells.append(0.0)
        return (len(cells) - 1) * self.SIZE + slot

    def _number(self, places: list[int], smoothed_count: float) -> None:
        """Write into the cells of a term, oldest first, how many occurrences come after each."""
        cells, size, after = self._cells, self.SIZE, len(places)
        for place in places:
            cells[place % size][place // size] = after / smoothed_count
            after -= 1

    def _forget_oldest(self, slot: int) -> None:
        newest, earlier = self._newest, self._earlier
        for term, occurrences in self.turns.pop(0).items():
            if newest[term] == slot:
                del newest[term]
                earlier.pop(term, None)
                continue
            places = earlier[term]
            del places[:occurrences]
            if not places:
                del earlier[term]
        self._cells.pop(slot, None)


class TopicMap:
    """The segments of a growing conversation.

    Adding a turn looks at the last 40 turns and nothing else; the map after ``n`` turns is the same however it came
    about. The newest turns can be taken back. It holds 33 bytes a turn, 4 bytes a topic and a count for each different
    term.
    """

    WINDOW = _Window.SIZE
    """How many of the newest turns a border is looked for in. Source: ours."""

    __slots__ = ("_backs", "_bests", "_border_prices", "_counts", "_ends", "_flags", "_starts", "_topic_ids", "_window")

    def __init__(self) -> None:
        self._bests = array("d", [0.0])
        self._backs = array("I", [0])
        self._ends = array("Q", [0])
        self._border_prices = array("d")
        self._flags = array("B")
        self._counts: dict[str, int] = {}
        self._window = _Window()
        self._starts = array("I")
        self._topic_ids = array("I")

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self._border_prices)

    @property
    def token_count(self) -> int:
        """Terms of all turns together, repetitions counted."""
        return self._ends[-1]

    @property
    def mean_length(self) -> float:
        """Terms of a turn on average, at least 4."""
        return max(4.0, self._ends[-1] / len(self._flags)) if self._flags else 4.0

    @property
    def last_terms(self) -> Mapping[str, int]:
        """The terms of the newest turn."""
        return self._window.turns[-1] if self._window.turns else {}

    @property
    def question_open(self) -> bool:
        """Whether the newest turn ended with a question."""
        return bool(self._flags and self._flags[-1] & _QUESTION_OPEN)

    @property
    def topic_count(self) -> int:
        """How many segments there are; the last one is the active topic."""
        return len(self._starts)

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The segments, oldest first; the last one is the active topic."""
        return tuple(self.topic(topic_id) for topic_id in range(self.topic_count))

    @property
    def starts(self) -> array[int]:
        """The first turn of each topic, ascending; a copy, 4 bytes a topic."""
        return self._starts[:]

    @property
    def topic_ids(self) -> array[int]:
        """The id of the topic of each turn; a live view that grows and changes with the conversation."""
        return self._topic_ids

    @property
    def term_counts(self) -> Mapping[str, int]:
        """How often each term stands in the conversation; a live view."""
        return MappingProxyType(self._counts)

    @property
    def active_share(self) -> float:
        """Which part of all terms the active topic holds, 0..1; 1 where there is one topic only."""
        if len(self._starts) < 2:
            return 1.0
        return self.tokens_between(self._starts[-1], len(self)) / max(1, self.token_count)

    @property
    def topic_before_switch(self) -> int | None:
        """The topic that was active before the newest turn, where that turn switched away from it; else None."""
        newest = len(self) - 1
        if newest < 1 or not self._flags[-1] & _SWITCHED or self._starts[-1] != newest:
            return None
        return len(self._starts) - 2

    def topic(self, topic_id: int) -> Topic:
        """Return one segment."""
        last = topic_id + 1 == len(self._starts)
        return Topic(topic_id, self._starts[topic_id], len(self) if last else self._starts[topic_id + 1])

    def topic_of(self, turn_id: int) -> int:
        """Return the id of the topic of a turn.

        Raises:
            IndexError: there is no such turn.
        """
        if not 0 <= turn_id < len(self):
            raise IndexError(f"turn {turn_id} lies outside a conversation of {len(self)} turns")
        return self._topic_ids[turn_id]

    def start_as_of(self, turn_count: int, topic_id: int) -> int:
        """Return where a topic began when the conversation had so many turns.

        Args:
            turn_count: how many turns there were.
            topic_id: the topic's id in the map of that time; a later map may number it otherwise.
        """
        late, kept = self._changed_since(turn_count)
        return self._starts[topic_id] if topic_id < kept else late[kept - 1 - topic_id]

    def fades(self, topic_ids: Iterable[int], prior: float) -> dict[int, float]:
        """Return by topic how much the share of any one term falls in a topic of its length, as a logarithm, at most 0.

        Args:
            topic_ids: the topics.
            prior: tokens that smooth their counts, > 0.
        """
        starts, ends, log, last = self._starts, self._ends, math.log, len(self._starts) - 1
        found = {}
        for topic_id in topic_ids:
            tokens = ends[-1 if topic_id == last else starts[topic_id + 1]] - ends[starts[topic_id]]
            found[topic_id] = log(prior / (tokens + prior))
        return found

    def tokens_between(self, start: int, stop: int) -> int:
        """Return how many terms the turns ``start`` to ``stop - 1`` hold together."""
        return self._ends[stop] - self._ends[start]

    def count(self, term: str) -> int:
        """Return how often a term stands in the conversation."""
        return self._counts.get(term, 0)

    def add(self, terms: Mapping[str, int], *, cues: Cues, verdict: Verdict, question_open: bool) -> None:
        """Add the next turn.

        Args:
            terms: its :func:`topic_terms`, both sides together.
            cues: the cues of its user's text.
            verdict: the gate's verdict on its user's text: a switch makes a border cheaper, an explicit one sure.
            question_open: whether the last words said in it are a question.
        """
        after_thanks = bool(self._flags and self._flags[-1] & _THANKED)
        price = _border_price(cues, verdict, share=self.active_share, after_thanks=after_thanks)
        is_border = verdict.reason in ("explicit_switch", "explicit_return")
        counts = self._counts
        for term, occurrences in terms.items():
            counts[term] = counts.get(term, 0) + occurrences
        if is_border:
            self._window.clear()
        self._window.append(len(self), terms, counts)
        self._border_prices.append(price)
        self._ends.append(self._ends[-1] + sum(terms.values()))
        self._flags.append(
            _THANKED * (cues.thanks is not None)
            | _BORDER * is_border
            | _SWITCHED * (verdict.decision == "switch")
            | _QUESTION_OPEN * question_open
        )
        best, back = self._best_cut()
        self._bests.append(best)
        self._backs.append(back)
        self._follow_back()

    def cut(
        self, turn_count: int, *, removed: Iterable[Mapping[str, int]], window: Iterable[Mapping[str, int]]
    ) -> None:
        """Keep only the first turns.

        Args:
            turn_count: how many turns stay.
            removed: the terms of the turns that go.
            window: the terms of the last 40 turns that stay, oldest first.
        """
        counts = self._counts
        for terms in removed:
            for term, occurrences in terms.items():
                counts[term] -= occurrences
                if not counts[term]:
                    del counts[term]
        for column in (self._bests, self._backs, self._ends):
            del column[turn_count + 1 :]
        for flags in (self._border_prices, self._flags):
            del flags[turn_count:]
        self._fill_window(window)
        del self._starts[bisect_left(self._starts, turn_count) :]
        self._follow_back()

    def columns(self) -> dict[str, array[Any]]:
        """Return copies of what the map holds by turn and by topic, for a snapshot.

        Shapes, for ``n`` turns: ``bests`` (``d``), ``backs`` (``I``) and ``ends`` (``Q``) have ``n + 1`` items,
        ``border_prices`` (``d``) and ``flags`` (``B``) have ``n``, ``starts`` (``I``) one for each topic. The rest of
        the map, :attr:`term_counts` and the terms of the newest turns, belongs to :meth:`from_columns` too.
        """
        return {name: getattr(self, f"_{name}")[:] for name in _COLUMNS}

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, array[Any]],
        *,
        term_counts: Mapping[str, int],
        window: Iterable[Mapping[str, int]],
    ) -> TopicMap:
        """Return the map whose columns these are; it grows and is cut like the one that gave them.

        Args:
            columns: those of :meth:`columns`; they are copied.
            term_counts: how often each term stands in the conversation: the sums of the turns' :func:`topic_terms`.
            window: the :func:`topic_terms` of the last 40 turns, oldest first (of all turns, where there are fewer).

        Raises:
            ConfigError: a column is missing, is of another type or has another length than the others ask for.
        """
        made = cls()
        turn_count = len(columns.get("flags", ()))
        for name, (typecode, more) in _COLUMNS.items():
            column = columns.get(name)
            if column is None or column.typecode != typecode or (more is not None and len(column) != turn_count + more):
                raise ConfigError(f"columns[{name!r}] must be an array({typecode!r}) that fits {turn_count} turns")
            setattr(made, f"_{name}", column[:])
        made._counts = dict(term_counts)
        for topic in made.topics:
            made._topic_ids.extend([topic.topic_id] * (topic.stop - topic.start))
        made._fill_window(window)
        return made

    def _fill_window(self, window: Iterable[Mapping[str, int]]) -> None:
        self._window.clear()
        newest = tuple(window)[-self.WINDOW :]
        for turn_id, terms in enumerate(newest, len(self) - len(newest)):
            if self._flags[turn_id] & _BORDER:
                self._window.clear()
            self._window.append(turn_id, terms, self._counts)

    def _changed_since(self, turn_count: int) -> tuple[list[int], int]:
        """Return the starts at the time of so many turns that differ from those now, newest first, and how many do not.

        Where the way back of that time meets a start of now, all before it is the same.
        """
        late: list[int] = []
        at = turn_count
        while at > 0:
            at = self._backs[at]
            kept = bisect_left(self._starts, at)
            if kept < len(self._starts) and self._starts[kept] == at:
                return late, kept + 1
            late.append(at)
        return late, 0

    def _follow_back(self) -> None:
        """Bring the segments up to date."""
        fresh, kept = self._changed_since(len(self))
        del self._starts[kept:]
        self._starts.extend(reversed(fresh))
        first = max(0, kept - 1)  # the last one that is kept may have another end now
        del self._topic_ids[self._starts[first] if self._starts else 0 :]
        for topic_id in range(first, len(self._starts)):
            _, start, stop, *_ = self.topic(topic_id)
            self._topic_ids.extend([topic_id] * (stop - start))

    def _best_cut(self) -> tuple[float, int]:
        """Return the value of the best segmentation of all turns and where its last segment begins.

        A segment's cohesion is the log likelihood of its tokens under its own growing counts, smoothed by the
        conversation's, against the conversation's alone; it does not depend on the order of the tokens. Going back from
        the newest turn, each start adds what its own terms gain, and the first occurrence of a term gains log(1).
        """
        last, tokens, ends, bests = len(self) - 1, self._ends[-1], self._ends, self._bests
        prior = 16.0 * self.mean_length
        price = 1.4 * math.sqrt(self.mean_length)
        gains = self._window.gains(prior / max(1.0, tokens + 0.5 * len(self._counts)))
        lgamma, log_prior, base = math.lgamma, math.log(prior), math.lgamma(prior)
        gain, best, back = 0.0, -math.inf, last
        for start in range(last, last - len(self._window.turns), -1):
            gain += gains[start % self.WINDOW]
            total = tokens - ends[start]
            cohesion = gain - (lgamma(prior + total) - base - total * log_prior)
            value = bests[start] + 0.5 * cohesion - (price * self._border_prices[start] if start else 0.0)
            if value > best and round(value, 6) > round(best, 6):
                best, back = value, start
        return round(best, 6), back


def topic_terms(user_terms: Mapping[str, int], assistant_terms: Mapping[str, int]) -> dict[str, int]:
    """Return the terms of a turn that tell its topic: those of both sides, single Han characters left out."""
    terms = {term: count for term, count in user_terms.items() if len(term) > 1 or term.isascii()}
    for term, count in assistant_terms.items():
        if len(term) > 1 or term.isascii():
            terms[term] = terms.get(term, 0) + count
    return terms


def _border_price(cues: Cues, verdict: Verdict, *, share: float, after_thanks: bool) -> float:
    """Return which share of its price a border before a turn costs, 0..1: the surer a switch, the less.

    Args:
        cues: those of its user's text.
        verdict: the gate's verdict on it.
        share: of the terms so far, how many the last topic holds, 0..1. Where there are several topics, the terms
            themselves tell the borders.
        after_thanks: whether the turn before it thanked.
    """
    discount = 0.8 * math.sqrt(share) * (1.0 - verdict.staying) if verdict.decision == "switch" else 0.0
    discount += 0.5 * bool(cues.greeting) + 0.35 * after_thanks + 0.35 * bool(cues.change)
    discount += 0.25 * bool(cues.back) + 0.2 * bool(cues.request)
    return max(0.0, 1.0 - discount)
