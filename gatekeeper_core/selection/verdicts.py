"""Verdicts: what the gate says of a question, and of every turn so far, kept in columns of 21 bytes a turn."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, overload

from gatekeeper_core.errors import SnapshotError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GateReason", "Verdict", "VerdictLog"]

GateReason = Literal[
    "first_turn",
    "no_anchors",
    "about_conversation",
    "explicit_switch",
    "explicit_return",
    "referring_word",
    "overlap",
    "ambiguous",
    "new_topic",
    "return",
]

_DECISIONS: tuple[tuple[Literal["continue", "switch"], bool], ...] = (
    ("continue", False),
    ("switch", False),
    ("switch", True),  # mended
)
_REASONS: tuple[GateReason, ...] = get_args(GateReason)
_NONE = -1
_DIGITS = 10_000  # the gate rounds its measures, 0..1, to four digits
_MEASURES = ("overlap", "new_ratio", "staying", "link")
_COLUMNS = {"rules": "B", "cues": "i", "active": "i", "resumed": "i", **dict.fromkeys(_MEASURES, "H")}


class Verdict(NamedTuple):
    """What the gate says of a query.

    Attributes:
        decision: ``continue`` or ``switch``.
        reason: which rule decided.
        overlap: share of the query's information that the newest turns of the active topic hold, 0..1.
        new_ratio: share of the query's terms of full weight that they do not hold, 0..1.
        cue: the wording that decided or spoke along, or None.
        active_topic: id of the last topic of the conversation, or None in an empty one.
        resumed_topic: id of the earlier topic that a ``switch`` goes back to, or None.
        staying: probability of staying with the active topic, 0..1.
        link: how firmly the query hangs on the newest turn, 0..1; a probability, too.
        mended: whether the turn's answer showed that this ``switch`` was none, so that no topic begins with the turn;
            False for a query that has no answer yet.
    """

    decision: Literal["continue", "switch"]
    reason: GateReason
    overlap: float
    new_ratio: float
    cue: str | None = None
    active_topic: int | None = None
    resumed_topic: int | None = None
    staying: float = 0.0
    link: float = 0.0
    mended: bool = False

    @property
    def opens_topic(self) -> bool:
        """Whether a topic begins with the turn."""
        return self.decision == "switch" and not self.mended


class VerdictLog(Sequence[Verdict]):
    """Verdicts in the order of the turns; each is made when it is asked for, its measures with four digits.

    >>> log = VerdictLog()
    >>> log.append(Verdict("switch", "new_topic", overlap=0.1, new_ratio=0.9, cue="new topic"))
    >>> len(log), log[0].reason, log[0].cue
    (1, 'new_topic', 'new topic')
    """

    __slots__ = ("_cue_places", "_cue_texts", *(f"_{name}" for name in _COLUMNS))

    _rules: array[int]
    _cues: array[int]
    _active: array[int]
    _resumed: array[int]
    _link: array[int]

    def __init__(self) -> None:
        for name, typecode in _COLUMNS.items():
            setattr(self, f"_{name}", array(typecode))
        self._cue_texts: list[str] = []
        self._cue_places: dict[str, int] = {}

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self._rules)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        """Return one verdict or several."""
        places = range(len(self))[index]
        if isinstance(places, range):
            return tuple(self._verdict(place) for place in places)
        return self._verdict(places)

    def append(self, verdict: Verdict) -> None:
        """Take in the verdict on the next turn."""
        decision = _DECISIONS.index((verdict.decision, verdict.mended))
        self._rules.append(_REASONS.index(verdict.reason) * len(_DECISIONS) + decision)
        self._cues.append(_NONE if verdict.cue is None else self._place(verdict.cue))
        self._active.append(_NONE if verdict.active_topic is None else verdict.active_topic)
        self._resumed.append(_NONE if verdict.resumed_topic is None else verdict.resumed_topic)
        for name in _MEASURES:
            getattr(self, f"_{name}").append(round(getattr(verdict, name) * _DIGITS))

    def cut(self, turn_count: int) -> None:
        """Keep only the verdicts on the first turns."""
        for name in _COLUMNS:
            del getattr(self, f"_{name}")[turn_count:]

    def columns(self) -> dict[str, array[Any] | bytes]:
        """Return copies of the columns and of the cues' texts, for a snapshot."""
        columns: dict[str, array[Any] | bytes] = {name: getattr(self, f"_{name}")[:] for name in _COLUMNS}
        return {**columns, "cue_texts": json.dumps(self._cue_texts).encode("ascii")}

    def link(self, turn_id: int) -> float:
        """Return how firmly the user's text of a turn hung on the turn before it, 0..1."""
        return self._link[turn_id] / _DIGITS

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], *, turn_count: int) -> VerdictLog:
        """Return the verdicts whose :meth:`columns` these are.

        Raises:
            SnapshotError: a column is missing, of another type or not of so many turns.
        """
        made = cls()
        for name, typecode in _COLUMNS.items():
            column = columns.get(name)
            if not isinstance(column, array) or column.typecode != typecode or len(column) != turn_count:
                raise SnapshotError(f"the column {name!r} of the verdicts is missing or does not fit")
            setattr(made, f"_{name}", column[:])
        for text in json.loads(columns.get("cue_texts", b"[]")):
            made._place(text)
        return made

    def _place(self, cue: str) -> int:
        place = self._cue_places.setdefault(cue, len(self._cue_texts))
        if place == len(self._cue_texts):
            self._cue_texts.append(cue)
        return place

    def _verdict(self, place: int) -> Verdict:
        reason, rule = divmod(self._rules[place], len(_DECISIONS))
        decision, mended = _DECISIONS[rule]
        cue, active, resumed = self._cues[place], self._active[place], self._resumed[place]
        return Verdict(
            decision,
            _REASONS[reason],
            cue=None if cue == _NONE else self._cue_texts[cue],
            active_topic=None if active == _NONE else active,
            resumed_topic=None if resumed == _NONE else resumed,
            mended=mended,
            **{name: getattr(self, f"_{name}")[place] / _DIGITS for name in _MEASURES},
        )
