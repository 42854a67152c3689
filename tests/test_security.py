"""Both pages of the threat model name tests that exist, and the same ones."""

from __future__ import annotations

import re

import pytest

from tests.test_requirements import NAMED_TEST, ROOT, rows_by_test

PAGES = {"docs/security.md": "Threat model", "docs/security.zh.md": "威胁模型"}


def named_by_row(page: str) -> list[list[tuple[str, str]]]:
    """Return for each row of the threat model the file and the function of every test that it names."""
    section = (ROOT / page).read_text(encoding="utf-8").partition(f"## {PAGES[page]}\n")[2].partition("\n## ")[0]
    return [NAMED_TEST.findall(row) for row in re.findall(r"^\|.*\|$", section, re.MULTILINE)[2:]]


@pytest.mark.parametrize("page", PAGES)
def test_every_threat_names_a_test_that_exists(page: str) -> None:
    rows = named_by_row(page)
    assert len(rows) > 10
    assert all(rows)
    named = [test for row in rows for test in row]
    assert [(file, name) for file, name in named if not (ROOT / file).is_file() or name not in rows_by_test(file)] == []


def test_both_languages_name_the_same_tests() -> None:
    english, chinese = map(named_by_row, PAGES)
    assert english == chinese
