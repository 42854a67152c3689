"""The benchmark of faults times builds with each fault, and says where waiting would never end."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from benchmarks.faults import NEVER, Fault, Timed, awaited, faults, main, row_of, talk, timed
from tests.faults import hanging

if TYPE_CHECKING:
    from pathlib import Path

THREAD = talk(8)
OURS_ALONE = {"summariser", "extractor"}
"""Nobody waits for these: whether they are missing by now is a matter of time."""


def a_moment(*_: object, **__: object) -> None:
    time.sleep(0.02)


with hanging() as released:
    NAMES = list(faults(a_moment, released))


@pytest.mark.parametrize("name", NAMES)
def test_every_fault_can_be_had_and_what_hangs_is_missed(name: str) -> None:
    """001-66: where there is time, nothing but what fails."""
    with hanging() as hang:
        fault = faults(a_moment, hang)[name]
        found = timed(fault, THREAD, builds=2, timeout_ms=60 if "never" in name else 5_000)
        assert len(found.milliseconds) == 2
        assert hang.returned == 0
    kind = name.split()[0]
    if kind not in OURS_ALONE:
        parts = {"nothing": (), "search": ("retrieved",), "embedder": ("retrieved",), "compressor": ("tool_results",)}
        late = "never" in name or "raises" in name or "NaN" in name or "dimensions" in name
        missed = set(parts.get(kind, ())) if late else set()
        # Within a limit so short whatever else is asked may be late as well.
        assert missed <= set(found.misses) if "never" in name or kind == "store" else missed == set(found.misses)


def test_one_that_awaits_waits_for_each_thing_in_turn() -> None:
    found = awaited(Fault(store=a_moment, summarizer=a_moment), THREAD, builds=1)
    assert found.milliseconds[0] >= 4 * 20


def test_a_row_has_the_median_the_worst_and_what_is_missing() -> None:
    row = row_of("search sleeps", Timed((500.0, 12.0, 11.0), "", ("retrieved",)), Timed((2400.0,)))
    assert [*row.values()] == ["search sleeps", 12.0, 500.0, "retrieved", 2400.0]
    assert [*row_of("x", Timed((1.0,)), Timed((), NEVER)).values()][-2:] == ["-", NEVER]


def test_the_benchmark_prints_a_table_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "faults.json"
    main(["--builds", "1", "--turns", "4", "--timeout-ms", "20", "--sleep-ms", "5", "--json", str(written)])
    assert "everything never returns" in capsys.readouterr().out
    rows = json.loads(written.read_text(encoding="utf-8"))["tables"]["faults"]
    assert [row["fault"] for row in rows] == NAMES
