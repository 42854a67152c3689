"""The turns of a conversation as the gatekeeper keeps them: both texts and what they cost, in columns.

A column holds one value of each turn; a :class:`Record` is made when a turn is asked for. So a turn takes 32 bytes
beside its texts, and the garbage collector has nothing to go through.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import add
from typing import TYPE_CHECKING, NamedTuple, overload

from gatekeeper_core.messages import Turn
from gatekeeper_core.text import split_thinking

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

__all__ = ["Record", "Records"]


class Record(NamedTuple):
    """Both texts of a turn, what they cost, and the turn that they came from, if any."""

    user: str
    assistant: str
    tokens_user: int
    tokens_assistant: int
    source: Turn | None = None

    @property
    def tokens(self) -> int:
        """The cost of the full turn, at least 1."""
        return max(1, self.tokens_user + self.tokens_assistant)

    @property
    def day(self) -> date | None:
        """The day on which it was written, in the time of its writer, where its messages tell it."""
        written = self.source.created_at if self.source is not None else None
        return written.date() if written is not None else None

    def equals(self, turn: Turn | tuple[str, str]) -> bool:
        """Return whether a given turn is the one that is kept here, by its content."""
        if not isinstance(turn, Turn):
            return self.source is None and (self.user, self.assistant) == (turn[0], split_thinking(turn[1])[1])
        source = self.source
        return source is not None and (source.messages, source.preamble) == (turn.messages, turn.preamble)


class Records(Sequence[Record]):
    """Records in the order of the turns.

    >>> records = Records([Record("hi", "hello", 1, 2)])
    >>> records.append(Record("Redis?", "6379", 2, 1))
    >>> len(records), records[1].assistant, records.tokens
    (2, '6379', (3, 3))
    """

    __slots__ = ("_assistants", "_sources", "_tokens_assistant", "_tokens_user", "_users")

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._users: list[str] = []
        self._assistants: list[str] = []
        self._tokens_user = array("Q")
        self._tokens_assistant = array("Q")
        self._sources: list[Turn | None] = []  # as long as it has to be for the last turn that came from messages
        for record in records:
            self.append(record)

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self._users)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        """Return one record or several."""
        places = range(len(self))[index]
        if isinstance(places, range):
            return tuple(map(self.__getitem__, places))
        return Record(
            self._users[places],
            self._assistants[places],
            self._tokens_user[places],
            self._tokens_assistant[places],
            self.source_of(places),
        )

    def append(self, record: Record) -> None:
        """Take in the next turn."""
        if record.source is not None:
            self._sources += [None] * (len(self) - len(self._sources))
            self._sources.append(record.source)
        self._tokens_user.append(record.tokens_user)
        self._tokens_assistant.append(record.tokens_assistant)
        self._users.append(record.user)
        self._assistants.append(record.assistant)

    def first(self, turn_count: int) -> Records:
        """Return the first turns, in columns of their own; who holds these keeps all of them."""
        made = Records()
        for name in self.__slots__:
            setattr(made, name, getattr(self, name)[:turn_count])
        return made

    @property
    def tokens(self) -> tuple[int, ...]:
        """The cost of each full turn, at least 1."""
        return tuple([both or 1 for both in map(add, self._tokens_user, self._tokens_assistant)])

    def tokens_of(self, turn_id: int) -> int:
        """Return what one turn costs as a whole, at least 1."""
        return self._tokens_user[turn_id] + self._tokens_assistant[turn_id] or 1

    def source_of(self, turn_id: int) -> Turn | None:
        """Return the turn that one record came from, if any."""
        return self._sources[turn_id] if turn_id < len(self._sources) else None

    def text_of(self, turn_id: int) -> tuple[str, str]:
        """Return both texts of one turn."""
        return self._users[turn_id], self._assistants[turn_id]
