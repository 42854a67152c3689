"""What the gate says of a query, and its verdicts on every turn so far, kept in columns: 19 bytes a turn."""

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

_DECISIONS = ("continue", "switch")
_REASONS: tuple[GateReason, ...] = get_args(GateReason)
_NONE = -1
_DIGITS = 10_000  # the gate rounds its measures, 0..1, to four digits
_COLUMNS = {"rules": "B", "cues": "i", "active": "i", "resumed": "i", "overlap": "H", "new_ratio": "H", "staying": "H"}


class Verdict(NamedTuple):
    """What the gate says of a query.

    Attributes:
        decision: ``continue`` or ``switch``.
        reason: which rule decided.
        overlap: how much speaks for staying in the active topic, 0..1.
        new_ratio: share of the query's informative terms that the active topic does not hold, 0..1.
        cue: the wording that decided or spoke along, or None.
        active_topic: id of the last topic of the conversation, or None in an empty one.
        resumed_topic: id of the earlier topic that a ``switch`` goes back to, or None.
        staying: probability of staying, 0..1.
    """

    decision: Literal["continue", "switch"]
    reason: GateReason
    overlap: float
    new_ratio: float
    cue: str | None = None
    active_topic: int | None = None
    resumed_topic: int | None = None
    staying: float = 0.0


class VerdictLog(Sequence[Verdict]):
    """Verdicts in the order of the turns; each is made when it is asked for, its measures with four digits.

    >>> log = VerdictLog()
    >>> log.append(Verdict("switch", "new_topic", overlap=0.1, new_ratio=0.9, cue="new topic"))
    >>> len(log), log[0].reason, log[0].cue
    (1, 'new_topic', 'new topic')
    """

    __slots__ = (
        "_active",
        "_cue_places",
        "_cue_texts",
        "_cues",
        "_new_ratio",
        "_overlap",
        "_resumed",
        "_rules",
        "_staying",
    )

    def __init__(self) -> None:
        self._rules = array("B")
        self._cues = array("i")
        self._active = array("i")
        self._resumed = array("i")
        self._overlap = array("H")
        self._new_ratio = array("H")
        self._staying = array("H")
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
        rule = _REASONS.index(verdict.reason) * len(_DECISIONS) + _DECISIONS.index(verdict.decision)
        self._rules.append(rule)
        self._cues.append(_NONE if verdict.cue is None else self._place(verdict.cue))
        self._active.append(_NONE if verdict.active_topic is None else verdict.active_topic)
        self._resumed.append(_NONE if verdict.resumed_topic is None else verdict.resumed_topic)
        self._overlap.append(round(verdict.overlap * _DIGITS))
        self._new_ratio.append(round(verdict.new_ratio * _DIGITS))
        self._staying.append(round(verdict.staying * _DIGITS))

    def cut(self, turn_count: int) -> None:
        """Keep only the verdicts on the first turns."""
        for name in _COLUMNS:
            del getattr(self, f"_{name}")[turn_count:]

    def columns(self) -> dict[str, array[Any] | bytes]:
        """Return copies of the columns and of the cues' texts, for a snapshot."""
        columns: dict[str, array[Any] | bytes] = {name: getattr(self, f"_{name}")[:] for name in _COLUMNS}
        return {**columns, "cue_texts": json.dumps(self._cue_texts).encode("ascii")}

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
        reason, decision = divmod(self._rules[place], len(_DECISIONS))
        cue, active, resumed = self._cues[place], self._active[place], self._resumed[place]
        return Verdict(
            "switch" if decision else "continue",
            _REASONS[reason],
            overlap=self._overlap[place] / _DIGITS,
            new_ratio=self._new_ratio[place] / _DIGITS,
            cue=None if cue == _NONE else self._cue_texts[cue],
            active_topic=None if active == _NONE else active,
            resumed_topic=None if resumed == _NONE else resumed,
            staying=self._staying[place] / _DIGITS,
        )
