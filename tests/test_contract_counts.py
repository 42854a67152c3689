"""The counts of contract tests are those of a run: what a store inherits, passed and failed, and nothing of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

STORE = """
class RecordContract:
    def test_a(self): pass
    def test_b(self): assert self.works

class TestGood(RecordContract):
    works = True
    def test_own(self): pass

class TestBad(RecordContract):
    works = False
"""


def test_tests_are_counted_by_store_and_contract(tmp_path: Path) -> None:
    (tmp_path / "test_stores.py").write_text(STORE, encoding="utf-8")
    command = [sys.executable, "-m", "tests.contract_counts", str(tmp_path / "test_stores.py"), "--markdown"]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "| store | RecordContract | passed | failed |" in done.stdout
    assert "test_stores.py::TestGood | 2 | 2 | 0 |" in done.stdout
    assert "test_stores.py::TestBad | 1 | 1 | 1 |" in done.stdout
