"""A second set of tool logs: eighteen log systems (``second_logs.ini``) in five formats.

Its author knew neither the compressor nor the first set. Each of the 90 logs has 1,500 to 3,000 rows. Routine rows are
full of weak signals ("Link Down", "failed 0", "retry", "error_count=0"); three rows are needles: an explicit failure,
the answer to the log's question, and a row of its own template without a word of failure.
"""

import configparser
import csv
import io
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

FORMATS = ("plain", "csv", "json", "jsonl", "table")
KINDS = ("error", "asked", "rare")

_SYSTEMS = Path(__file__).with_name("second_logs.ini")
_START = datetime(2026, 11, 22, 18, 0, 0, tzinfo=timezone.utc)
_HOLE = re.compile(r"<([a-z]+)(\d*)>")
_KEY = re.compile(r"«(.+?)»")

_Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Needle:
    """A row that must survive.

    Args:
        kind: one of ``KINDS``.
        text: part of one cell, once in the log.
    """

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLog:
    """A log with its question and its three needles."""

    system: str
    held_out: bool
    format: str
    question: str
    text: str
    needles: tuple[Needle, ...]


@dataclass(frozen=True, slots=True)
class LogSystem:
    """One section of ``second_logs.ini``."""

    name: str
    settings: Mapping[str, str]

    @property
    def columns(self) -> _Cells:
        return _cells(self.settings["columns"])

    def rows(self, key: str) -> tuple[_Cells, ...]:
        return tuple(_cells(line) for line in self.settings[key].strip().splitlines())


def systems() -> tuple[LogSystem, ...]:
    """Return the log systems in the order of the file."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    parser.read(_SYSTEMS, encoding="utf-8")
    return tuple(LogSystem(name, dict(parser[name])) for name in parser.sections())


def second_logs(seed: int = 1) -> Iterator[SecondLog]:
    """Yield each system in each format; the same seed gives the same logs."""
    for system in systems():
        for number, name in enumerate(FORMATS):
            yield _log(system, name, random.Random(f"{seed}/{system.name}/{name}"), seed + number)


def _log(system: LogSystem, format_name: str, rng: random.Random, turn: int) -> SecondLog:
    """Return one log; ``turn`` chooses among the system's needles of each kind."""
    question, *answer = _turn(system.rows("asked"), turn + 1)
    marked = (_turn(system.rows("errors"), turn), tuple(answer), _turn(system.rows("rare"), turn + 2))
    row_count = rng.randint(1_500, 3_000)
    places = dict(zip(rng.sample(range(row_count // 20, row_count * 19 // 20), 3), marked, strict=True))
    routine = system.rows("routine")
    chosen = rng.choices(routine, [float(row[0]) for row in routine], k=row_count)
    times = _times(system.settings["clock"], rng)
    rows = [
        (next(times), *(_filled(cell, system, rng) for cell in places.get(index, chosen[index][1:])))
        for index in range(row_count)
    ]
    text = _WRITERS[format_name](system, rows)
    needles = tuple(
        Needle(kind, _filled(_KEY.findall("|".join(cells))[0], system, rng))
        for kind, cells in zip(KINDS, marked, strict=True)
    )
    for needle in needles:
        assert text.count(needle.text) == 1, f"{system.name}, {format_name}: {needle.text!r} is not unique"
    return SecondLog(
        system=system.name,
        held_out=system.settings["half"] == "held out",
        format=format_name,
        question=question,
        text=text,
        needles=needles,
    )


def _turn(rows: Sequence[_Cells], turn: int) -> _Cells:
    return rows[turn % len(rows)]


def _cells(line: str) -> _Cells:
    return tuple(cell.strip() for cell in line.split("|"))


def _filled(cell: str, system: LogSystem, rng: random.Random) -> str:
    """Return the cell with each placeholder drawn anew and the marks of a needle taken off."""

    def drawn(hole: re.Match[str]) -> str:
        name, length = hole[1], int(hole[2] or 1)
        if name == "d":
            return str(rng.randrange(10 ** (length - 1), 10**length))
        if name == "x":
            return f"{rng.randrange(16**length):0{length}x}"
        if name == "ip":
            return ".".join(str(rng.randint(1, 254)) for _ in range(4))
        return rng.choice(system.settings[f"word.{name}"].split(", "))

    return _HOLE.sub(drawn, cell).replace("«", "").replace("»", "").replace("\\n", "\n")


def _times(pattern: str, rng: random.Random) -> Iterator[str]:
    """Yield the times of the rows, 3 s apart on average; ``pattern`` is one of ``strftime``, or a name of its own."""
    passed = rng.uniform(1_000, 9_000)
    while True:
        passed += rng.expovariate(1 / 3)
        now = _START + timedelta(seconds=passed)
        if pattern == "uptime":
            yield f"{passed:12.6f}"
        elif pattern == "epoch":
            yield str(int(now.timestamp()))
        elif pattern == "age":
            left = max(0, int(20_000 - passed))
            yield f"{left // 60}m{left % 60}s"
        else:
            yield now.strftime(pattern)


def _plain(system: LogSystem, rows: Sequence[_Cells]) -> str:
    head = system.settings.get("head", "").format(columns=" ".join(system.columns))
    line = system.settings["line"]
    return "\n".join(([head] if head else []) + [line.format(*row) for row in rows]) + "\n"


def _csv(system: LogSystem, rows: Sequence[_Cells]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=system.settings["csv"], lineterminator="\n")
    writer.writerow(system.columns)
    writer.writerows(rows)
    return text.getvalue()


def _records(system: LogSystem, rows: Sequence[_Cells]) -> list[dict[str, str | int]]:
    """Return the rows as JSON objects; whole numbers become numbers."""
    return [
        {
            name: int(cell) if re.fullmatch(r"0|[1-9]\d{0,14}", cell) else cell
            for name, cell in zip(system.columns, row, strict=True)
        }
        for row in rows
    ]


def _json(system: LogSystem, rows: Sequence[_Cells]) -> str:
    records = _records(system, rows)
    style = system.settings["json"]
    if style == "envelope":
        return json.dumps({"page": 1, "total": len(records), "has_more": False, "items": records}, ensure_ascii=False)
    return json.dumps(records, ensure_ascii=False, indent=2 if style == "indented" else None)


def _jsonl(system: LogSystem, rows: Sequence[_Cells]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in _records(system, rows))


def _table(system: LogSystem, rows: Sequence[_Cells]) -> str:
    """Return a Markdown table, a psql table or columns of fixed width; a row is one line."""
    flat = [tuple(re.sub(r"\s*\n\s*", " ", cell) for cell in row) for row in (system.columns, *rows)]
    if system.settings["table"] == "markdown":
        lines = ["| " + " | ".join(row) + " |" for row in flat]
        lines.insert(1, "|" + "---|" * len(system.columns))
        return "\n".join(lines) + "\n"
    widths = [max(len(row[column]) for row in flat) for column in range(len(system.columns))]
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in flat]
    if system.settings["table"] == "psql":
        lines = [" " + " | ".join(row).rstrip() for row in padded]
        lines.insert(1, "+".join("-" * (width + 2) for width in widths))
        return "\n".join(lines) + f"\n({len(rows)} rows)\n"
    return "\n".join("  ".join(row).rstrip() for row in padded) + "\n"


_WRITERS: Mapping[str, Callable[[LogSystem, Sequence[_Cells]], str]] = {
    "plain": _plain,
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
    "table": _table,
}
