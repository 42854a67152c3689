"""The benchmark of the proxy sends each request both ways and tells them apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.serve import bodies, main

if TYPE_CHECKING:
    from pathlib import Path


def test_a_conversation_grows_by_a_turn_a_request() -> None:
    lengths = [len(json.loads(body)["messages"]) for body in bodies(10, 1)]
    assert lengths == list(range(9, 31, 2))


def test_a_run_gives_a_row_for_each_size(tmp_path: Path) -> None:
    written = tmp_path / "serve.json"
    assert main(["--sizes", "4,40", "--rounds", "10", "--budget", "500", "--json", str(written)]) == 0
    rows = json.loads(written.read_text(encoding="utf-8"))["tables"]["Milliseconds of a request"]
    assert [(row["messages"], row["requests"]) for row in rows] == [(4, 10), (40, 10)]
    assert all(float(row["through"]) > 0 for row in rows)
