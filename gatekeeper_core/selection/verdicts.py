"""The gate's verdict on a question, and those on every turn so far, in columns of 21 bytes a turn."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator

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

_DECISIONS: tuple[Literal["continue", "switch"], ...] = ("continue", "switch")
_REASONS: tuple[GateReason, ...] = get_args(GateReason)
_NONE = -1
_DIGITS = 10_000  # the gate rounds its measures, 0..1, to four digits
_MEASURES = ("overlap", "new_ratio", "need", "link")
_COLUMNS = {"rules": "B", "cues": "i", "active": "i", "resumed": "i", **dict.fromkeys(_MEASURES, "H")}


class Verdict(NamedTuple):
    """The gate's verdict on a query.

    Attributes:
        decision: ``continue`` or ``switch``.
        reason: which rule decided.
        overlap: share of the query's information that the newest turns of the active topic hold, 0..1.
        new_ratio: share of the query's terms of full weight that they do not hold, 0..1.
        cue: the wording that decided or spoke along, or None.
        active_topic: id of the last topic of the conversation, or None in an empty one.
        resumed_topic: id of the earlier topic that a ``switch`` goes back to, or None.
        need: probability that the query needs anything of the conversation, 0..1.
        link: probability that it needs the newest turn, 0..1.
    """

    decision: Literal["continue", "switch"]
    reason: GateReason
    overlap: float
    new_ratio: float
    cue: str | None = None
    active_topic: int | None = None
    resumed_topic: int | None = None
    need: float = 0.0
    link: float = 0.0


class VerdictLog:
    """Verdicts in the order of the turns; each is made when it is asked for, its measures with four digits.

    >>> log = VerdictLog()
    >>> log.append(Verdict("switch", "new_topic", overlap=0.1, new_ratio=0.9, cue="new topic"))
    >>> len(log), log[0].reason, log[0].cue
    (1, 'new_topic', 'new topic')
    """

    __slots__ = ("_columns", "_cues")

    def __init__(self) -> None:
        self._columns = {name: array(typecode) for name, typecode in _COLUMNS.items()}
        self._cues: list[str] = []  # each once

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self._columns["rules"])

    def __iter__(self) -> Iterator[Verdict]:
        """Yield the verdicts, oldest first."""
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, turn_id: int) -> Verdict:
        """Return the verdict on one turn."""
        values = {name: column[turn_id] for name, column in self._columns.items()}
        reason, decision = divmod(values["rules"], len(_DECISIONS))
        cue, active, resumed = values["cues"], values["active"], values["resumed"]
        return Verdict(
            _DECISIONS[decision],
            _REASONS[reason],
            cue=None if cue == _NONE else self._cues[cue],
            active_topic=None if active == _NONE else active,
            resumed_topic=None if resumed == _NONE else resumed,
            **{name: values[name] / _DIGITS for name in _MEASURES},
        )

    def append(self, verdict: Verdict) -> None:
        """Take in the verdict on the next turn."""
        if verdict.cue is not None and verdict.cue not in self._cues:
            self._cues.append(verdict.cue)
        values = {
            "rules": _REASONS.index(verdict.reason) * len(_DECISIONS) + _DECISIONS.index(verdict.decision),
            "cues": _NONE if verdict.cue is None else self._cues.index(verdict.cue),
            "active": _NONE if verdict.active_topic is None else verdict.active_topic,
            "resumed": _NONE if verdict.resumed_topic is None else verdict.resumed_topic,
            **{name: round(getattr(verdict, name) * _DIGITS) for name in _MEASURES},
        }
        for name, value in values.items():
            self._columns[name].append(value)

    def cut(self, turn_count: int) -> None:
        """Keep only the verdicts on the first turns."""
        for column in self._columns.values():
            del column[turn_count:]
        del self._cues[max(self._columns["cues"], default=_NONE) + 1 :]  # they stand in the order of their first use
