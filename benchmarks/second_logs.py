"""A second set of tool logs: eighteen log systems (``second_logs.ini``) in five formats.

Its author knew neither the compressor nor the first set. Each of the 90 logs has 1,500 to 3,000 rows. Routine rows are
full of weak signals ("Link Down", "failed 0", "retry", "error_count=0"); five explicit failures and ten ordinary rows
occur once. One of the failures, the row that answers the log's question and one row that nobody asks for are needles.
"""

from __future__ import annotations

import configparser
import csv
import io
import json
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from benchmarks.tool_outputs import Needle, Output

_FILE = Path(__file__).with_name("second_logs.ini")
_START = datetime(2026, 11, 22, 18, 0, 0, tzinfo=timezone.utc)
_HOLE = re.compile(r"<([a-z]+)(\d*)>")
_KEY = re.compile(r"«(.+?)»")
_TRIES = 9

_Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogSystem:
    """One section of ``second_logs.ini``."""

    name: str
    settings: Mapping[str, str]

    @property
    def half(self) -> str:
        """Whether the compressor may be improved by looking at this system's logs (tuned) or not (held out)."""
        return self.settings["half"]

    @property
    def columns(self) -> _Cells:
        return _cells(self.settings["columns"])

    def rows(self, key: str) -> tuple[_Cells, ...]:
        return tuple(_cells(line) for line in self.settings[key].strip().splitlines())


def systems() -> tuple[LogSystem, ...]:
    """Return the log systems in the order of the file."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    parser.read(_FILE, encoding="utf-8")
    return tuple(LogSystem(name, dict(parser[name])) for name in parser.sections())


def second_logs(seed: int, *, names: Collection[str] = ()) -> list[Output]:
    """Return each system in each format; names are those of the systems (none: all), families the formats."""
    return [
        _log(system, name, random.Random(f"{seed}/{system.name}/{name}"), seed + number)
        for system in systems()
        if not names or system.name in names
        for number, name in enumerate(SECOND_FORMATS)
    ]


def _log(system: LogSystem, format_name: str, rng: random.Random, turn: int) -> Output:
    """Return one log with every marked row of its system; ``turn`` chooses one of each kind as a needle.

    A needle's text stands once in the log.
    """
    errors, answers, rare = system.rows("errors"), system.rows("asked"), system.rows("rare")
    question, *answer = answers[(turn + 1) % len(answers)]
    chosen = {"error": errors[turn % len(errors)], "query": answer, "rare": rare[(turn + 2) % len(rare)]}
    needles = tuple(Needle(kind, _KEY.findall("|".join(cells))[0]) for kind, cells in chosen.items())
    marked = (*errors, *(cells for _, *cells in answers), *rare)
    for _ in range(_TRIES):  # a number drawn anew may look like a needle
        text = SECOND_FORMATS[format_name](system, _rows(system, marked, rng))
        if all(text.count(needle.text) == 1 for needle in needles):
            return Output(system.name, format_name, question, text, needles)
    raise AssertionError(f"{system.name}, {format_name}: a needle does not stand once in the log")


def _rows(system: LogSystem, marked: Sequence[Sequence[str]], rng: random.Random) -> list[_Cells]:
    """Return routine rows with the marked ones at places of their own, not among the first or last twentieth."""
    row_count = rng.randint(1_500, 3_000)
    places = dict(zip(rng.sample(range(row_count // 20, row_count * 19 // 20), len(marked)), marked, strict=True))
    routine = system.rows("routine")
    chosen = rng.choices(routine, [float(row[0]) for row in routine], k=row_count)
    times = _times(system.settings["clock"], rng)
    return [
        (next(times), *(_filled(cell, system, rng) for cell in places.get(index, chosen[index][1:])))
        for index in range(row_count)
    ]


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
            remaining = max(0, int(20_000 - passed))
            yield f"{remaining // 60}m{remaining % 60}s"
        else:
            yield now.strftime(pattern)


def _plain(system: LogSystem, rows: Sequence[_Cells]) -> str:
    head = system.settings.get("head")
    line = system.settings["line"]
    return "\n".join([*([head] if head else []), *(line.format(*row) for row in rows)]) + "\n"


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


SECOND_FORMATS: Mapping[str, Callable[[LogSystem, Sequence[_Cells]], str]] = {
    "plain": _plain,
    "csv": _csv,
    "json": _json,
    "jsonl": lambda system, rows: "".join(
        json.dumps(record, ensure_ascii=False) + "\n" for record in _records(system, rows)
    ),
    "table": _table,
}
