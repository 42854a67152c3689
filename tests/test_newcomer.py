"""The newcomer's check names tests that exist, and says in one line what it leaves out."""

from __future__ import annotations

from pathlib import Path

from tests import newcomer

ROOT = Path(__file__).resolve().parents[1]


def test_every_test_that_the_check_names_exists() -> None:
    missing = []
    for named in (*newcomer.CORE, *(test for adapter in newcomer.ADAPTERS for test in adapter.tests)):
        file, _, function = named.partition("::")
        source = (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).is_file() else ""
        if f"def {function.partition('[')[0]}" not in source:
            missing.append(named)
    assert missing == []
