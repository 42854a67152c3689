"""Tool outputs with needles in them: logs, tables, JSON, listings, test runs and traces in many shapes, by a seed.

Each output hides up to three needles: a line or row that tells of a failure, one that the question asks for, and one
that is merely unlike the others and that nobody asks for. The shapes are those of common tools (``tool_outputs.txt``);
the words are made up.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("tool_outputs.txt")
_HOLE = re.compile(r"<([^<>]+?)(?::([<>]?\d+))?>")
_DRAWN = re.compile(r"(name|hex|n|day|gauss)([\d.,-]*)")
_NAMES = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "iris", "jade"),
    *("kelp", "lotus", "maple", "north", "onyx", "pearl", "quartz", "raven", "sable", "tulip"),
)
_VERBS = ("opened", "closed", "fetched", "stored", "queued", "merged", "parsed", "routed", "cached", "synced")
_JOBS = ("订单", "库存", "支付", "物流", "结算", "推送")
_SIZES = (60, 150, 400, 1_200)


class Needle(NamedTuple):
    """A text to be found again: of a failure (``error``), asked for (``query``), or unlike the rest (``rare``)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Output:
    """One tool output: its name, its family, the question, the text, the needles."""

    name: str
    family: str
    query: str
    text: str
    needles: tuple[Needle, ...]


class Shape(NamedTuple):
    """A section of ``tool_outputs.txt``; ``lines`` holds by mark the texts of its lines."""

    name: str
    family: str
    query: str
    group: int
    lines: dict[str, list[str]]


@cache
def shapes() -> tuple[Shape, ...]:
    """Return the shapes in the order of the file."""
    parsed: list[Shape] = []
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        mark, text = line[0], line[2:]
        if mark == "=":
            name, family, query, group = text.split(" | ")
            parsed.append(Shape(name, family, query, int(group), {each: [] for each in "^|$~+!"}))
        elif mark != "#":
            parsed[-1].lines[mark].append(text)
    return tuple(parsed)


def _output(shape: Shape, rng: random.Random, size: int) -> Output:
    ids = {"error": f"TR-{rng.randrange(10**4, 10**5)}", "query": f"ORD{rng.randrange(10**5, 10**6)}"}
    ids |= {"rare": f"{rng.choice(_NAMES)}{rng.randrange(16**5):05x}", "size": str(size)}

    def filled(text: str, at: int = 0) -> str:
        once = _HOLE.sub(lambda hole: format(_drawn(hole[1], ids, rng, at, size), hole[2] or ""), text)
        return once if once == text else filled(once, at)  # a hole may hold others

    rows = [filled("\n".join(shape.lines["|"]), at) for at in range(size // shape.group)]
    for line in map(filled, shape.lines["+"]):
        rows.insert(rng.randrange(len(rows) // 5, len(rows) * 4 // 5), line)
    between = "".join(shape.lines["~"]) or "\n"
    head, foot = ("\n".join(map(filled, shape.lines[mark])) for mark in "^$")
    text = "\n".join(part for part in (head, between.join(rows), foot) if part)
    listed = [line.split(" ", 1) for line in shape.lines["!"]]
    needles = listed or [[kind, f"<{kind}>"] for kind in ("error", "query", "rare") if ids[kind] in text]
    return Output(
        shape.name, shape.family, filled(shape.query), text, tuple(Needle(kind, filled(each)) for kind, each in needles)
    )


def _drawn(hole: str, ids: dict[str, str], rng: random.Random, at: int, size: int) -> str | int | float:
    """Return what stands in a hole; see the file."""
    if "|" in hole:
        return rng.choice(hole.split("|"))
    words = {"verb": _VERBS, "job": _JOBS}
    if hole in words:
        return rng.choice(words[hole])
    if hole == "at":
        return at
    if hole == "clock":
        return f"{at * 3 // 3600 % 24:02}:{at * 3 // 60 % 60:02}:{at * 3 % 60:02}"
    kind = _DRAWN.fullmatch(hole)
    if not kind:
        return ids[hole]
    numbers = [float(each) for each in re.split("[,-]", kind[2]) if each]
    if kind[1] == "gauss":
        return round(rng.gauss(*numbers), 2)
    first, *last = map(int, numbers or [len(_NAMES)])
    if kind[1] == "name":
        return rng.choice(_NAMES[:first])
    if kind[1] == "hex":
        return f"{rng.randrange(16**first):0{first}x}"
    return 1 + at * first // size if kind[1] == "day" else rng.randrange(*([first, *last] if last else [first]))


def generated(seed: int, *, rounds: int = 4) -> list[Output]:
    """Return outputs of every shape, several of each in sizes from some dozens to more than a thousand lines.

    >>> generated(1, rounds=1) == generated(1, rounds=1)
    True
    """
    # A string seeds the same numbers in every version of Python and on every machine.
    return [
        _output(shape, random.Random(f"{seed} {at} {shape.name}"), _SIZES[at % len(_SIZES)])
        for at in range(rounds)
        for shape in shapes()
    ]
