"""From answers to figures: medians, quantiles, ratios, exponents, and the rows of the speed benchmark's tables."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.peers import NOT_INSTALLED
from benchmarks.speed_methods import INDEX_ALONE, SELECT, TOP

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from benchmarks.corpus import Question

Answer = dict[str, Any]
CLOCKS = ("wall", "cpu")
_BESIDE = {SELECT: "/ select", INDEX_ALONE: "/ index alone"}
"""The columns of the ratios to ours."""


@dataclass
class Measured:
    """What one method gave at one size.

    Attributes:
        name: the method.
        turns: of the conversation.
        load: the answer to ``load``.
        asks: by round the answer to ``ask``.
        adds: by round the answer to ``add``.
        facts: the answer to ``facts``.
        left_out: why there is nothing, or no more, of it.
    """

    name: str
    turns: int
    load: Answer = field(default_factory=dict)
    asks: dict[int, Answer] = field(default_factory=dict)
    adds: dict[int, Answer] = field(default_factory=dict)
    facts: Answer = field(default_factory=dict)
    left_out: str = ""

    def median(self, step: str, clock: str = "wall", rounds: Collection[int] | None = None) -> float | None:
        """Return a median in milliseconds, or None where there is no answer.

        Args:
            step: ``asks`` or ``adds``.
            clock: ``wall`` or ``cpu``.
            rounds: the rounds that count; None for all.
        """
        answers: dict[int, Answer] = getattr(self, step)
        times = [answer[clock] for at, answer in answers.items() if rounds is None or at in rounds]
        return statistics.median(times) / 1e6 if times else None


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that so many of the values do not exceed (nearest rank).

    >>> quantile([3, 1, 2], 0.5), quantile(range(1, 101), 0.99)
    (2, 99)
    """
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def ratio(theirs: Measured, ours: Measured, step: str = "asks") -> float | None:
    """Return their CPU median over ours, both over the rounds that both answered; None where there are none."""
    both = getattr(theirs, step).keys() & getattr(ours, step).keys()
    upper, lower = (each.median(step, "cpu", both) for each in (theirs, ours))
    return upper / lower if upper is not None and lower else None


def exponent(points: Mapping[int, float]) -> float | None:
    """Return the slope of a line through the logarithms, by least squares; None for fewer than two points.

    Args:
        points: by number of turns what was measured, both > 0.

    >>> round(exponent({1000: 2.0, 10_000: 4.0, 100_000: 8.0}), 3)
    0.301
    """
    if len(points) < 2:
        return None
    across, up = ([math.log(value) for value in side] for side in (points.keys(), points.values()))
    return statistics.linear_regression(across, up).slope


def target_share(measured: Measured, questions: Sequence[Question]) -> float | None:
    """Return the percentage of questions about one turn whose turn is among those found; None where none are found."""
    hits = [
        questions[at].target in answer["found"]
        for at, answer in measured.asks.items()
        if answer.get("found") is not None and questions[at].kind == "about"
    ]
    return 100 * sum(hits) / len(hits) if hits else None


def _number(value: float | None, digits: int = 2) -> str | None:
    return None if value is None else f"{value:,.{digits}f}"


def _times(value: float | None) -> str | None:
    return None if value is None else f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def _ours(measured: Sequence[Measured]) -> dict[str, Measured]:
    return {each.name: each for each in measured if each.name in _BESIDE}


def ask_rows(measured: Sequence[Measured], questions: Sequence[Question]) -> list[dict[str, Any]]:
    """Return a row for each method: median by wall clock and in CPU time, 99th percentile, ratios to ours.

    Args:
        measured: of one size.
        questions: by round.
    """
    ours = _ours(measured)
    rows = []
    for each in measured:
        row: dict[str, Any] = {"method": each.name, "median ms": each.left_out or NOT_INSTALLED}
        if each.asks:
            tail = quantile([answer["cpu"] for answer in each.asks.values()], 0.99) / 1e6
            row |= {"median ms": _number(each.median("asks")), "CPU ms": _number(each.median("asks", "cpu"))}
            row |= {"CPU p99 ms": _number(tail)}
            row |= {_BESIDE[name]: _times(ratio(each, mine)) for name, mine in ours.items()}
            row |= {"target found %": target_share(each, questions), "calls": len(each.asks)}
        rows.append(row)
    return rows


def add_rows(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return a row for each method that adds turns: median, CPU, ratios; of ours the 99.9th percentile of the load."""
    ours = _ours(measured)
    rows = []
    for each in measured:
        if each.adds:
            row: dict[str, Any] = {"method": each.name, "median ms": _number(each.median("adds"), 3)}
            row["CPU ms"] = _number(each.median("adds", "cpu"), 3)
            row |= {_BESIDE[name]: _times(ratio(each, mine, "adds")) for name, mine in ours.items()}
            loaded = each.load.get("adds")
            row["CPU p99.9 ms, load"] = _number(quantile(loaded, 0.999) / 1e6) if loaded else None
            rows.append(row)
    return rows


def turn_rows(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return a row for each method with the time of one whole turn, a question and its addition, and ratios to ours."""
    both = [each for each in measured if each.asks and each.adds]
    sums = {
        each.name: {
            clock: (each.median("asks", clock) or 0.0) + (each.median("adds", clock) or 0.0) for clock in CLOCKS
        }
        for each in both
    }
    return [
        {"method": name, "ask + add ms": _number(taken["wall"]), "CPU ms": _number(taken["cpu"])}
        | {column: _times(taken["cpu"] / sums[mine]["cpu"]) for mine, column in _BESIDE.items() if mine in sums}
        for name, taken in sums.items()
    ]


def memory_rows(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return a row for each method: bytes of the index a turn, beside ours, and the memory of its process."""
    index = {each.name: each.facts.get("index") for each in measured}
    mine = index.get(INDEX_ALONE)
    rows = []
    for each in measured:
        size, resident = index[each.name], each.facts.get("rss")
        if each.facts:
            row: dict[str, Any] = {"method": each.name, "index bytes a turn": size and _number(size / each.turns, 0)}
            row["/ ours"] = _number(size / mine) if size and mine else None
            row["process MB"] = resident and _number(resident / 1e6, 0)
            rows.append(row)
    return rows


def cold_rows(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return a row for each of ours: the CPU time that a process takes which has never seen the conversation."""
    return [
        {"method": each.name, "rebuild µs a turn": each.load["cpu"] / 1e3 / each.turns}
        for each in measured
        if each.load and each.name in (SELECT, INDEX_ALONE)
    ]


def agreement_row(index: Measured, exact: Measured, questions: Sequence[Question]) -> dict[str, Any]:
    """Return how far the index agrees with exhaustive scoring: same top 5, and the target among the first 20.

    Args:
        index: the index alone, of one size.
        exact: the exhaustive scoring of the same questions.
        questions: by round.
    """
    both = [
        (index.asks[at]["found"], exact.asks[at]["found"], questions[at])
        for at in index.asks.keys() & exact.asks.keys()
    ]
    about = [pair for pair in both if pair[2].kind == "about"]
    row: dict[str, Any] = {"turns": index.turns, "questions": len(both)}
    row["same top 5 %"] = 100 * statistics.fmean(ours[:5] == best[:5] for ours, best, _ in both)
    row |= {
        f"target in top {TOP} %, {name}": 100 * statistics.fmean(pair[2].target in pair[at] for pair in about)
        for at, name in enumerate(("index", "exhaustive"))
    }
    return row


def growth_rows(sizes: Sequence[Sequence[Measured]]) -> list[dict[str, Any]]:
    """Return a row for each method: CPU medians by size, the exponent of their growth, 99th percentile over median.

    Args:
        sizes: what was measured, size by size.
    """
    by_name: dict[str, dict[int, Measured]] = {}
    for measured in sizes:
        for each in measured:
            if each.asks:
                by_name.setdefault(each.name, {})[each.turns] = each
    rows = []
    for name, found in by_name.items():
        medians = {turns: each.median("asks", "cpu") or 0.0 for turns, each in found.items()}
        largest = found[max(found)]
        times = [answer["cpu"] for answer in largest.asks.values()]
        row: dict[str, Any] = {"method": name} | {f"{turns:,}": _number(ms) for turns, ms in medians.items()}
        row["exponent"] = _number(exponent(medians))
        row["p99 / median"] = _number(quantile(times, 0.99) / statistics.median(times))
        rows.append(row)
    return rows
