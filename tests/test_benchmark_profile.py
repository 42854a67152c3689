"""The profile gives each sample to a part that exists, and says what a question takes together."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import gatekeeper_core.selection
from benchmarks.speed_profile import PARTS, main

if TYPE_CHECKING:
    from types import CodeType


def _functions(code: CodeType) -> set[str]:
    """Return the names of all functions within some code."""
    inner = [each for each in code.co_consts if hasattr(each, "co_name")]
    return {code.co_name}.union(*map(_functions, inner))


def test_every_part_begins_in_a_function_of_the_library() -> None:
    functions = set()
    for file in Path(*gatekeeper_core.selection.__path__).glob("*.py"):
        code = compile(file.read_bytes(), file.name, "exec")
        functions |= {f"{file.stem}.{name}" for name in _functions(code)}
    assert PARTS.keys() <= functions


@pytest.mark.skipif(sys.platform == "win32", reason="no timer of CPU time")
def test_a_profile_adds_up_to_what_a_question_takes(tmp_path: Path) -> None:
    written = tmp_path / "profile.json"
    assert main(["--sizes", "60", "--seconds", "0.3", "--json", str(written)]) == 0
    *parts, together = json.loads(written.read_text(encoding="utf-8"))["tables"]["60 turns"]
    for name in ("gatekeeper select", "gatekeeper, index alone"):
        shares = [float(row[f"{name}, %"]) for row in parts if row[f"{name}, %"] != "-"]
        times = [float(row[f"{name}, ms"]) for row in parts if row[f"{name}, ms"] != "-"]
        assert sum(shares) == pytest.approx(100, abs=len(shares))
        assert sum(times) == pytest.approx(float(together[f"{name}, ms"]), abs=0.01 * len(times))
    assert {row["part"] for row in parts} == {*PARTS.values(), "anything else"}
