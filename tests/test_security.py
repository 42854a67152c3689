"""Both pages of the threat model name tests that exist, and the same ones, and the figures of the whole campaign."""

from __future__ import annotations

import re

import pytest

from tests.fuzz.__main__ import PROMISES
from tests.test_requirements import NAMED_TEST, ROOT, rows_by_test

PAGES = {"docs/security.md": "Threat model", "docs/security.zh.md": "威胁模型"}
CAMPAIGN = {"docs/security.md": "The campaign", "docs/security.zh.md": "攻击测试"}


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


def campaign(page: str) -> list[list[str]]:
    """Return the cells of the table of attempts and failures, without its head and its sum."""
    section = (ROOT / page).read_text(encoding="utf-8").partition(f"## {CAMPAIGN[page]}\n")[2].partition("\n## ")[0]
    return [row.strip("| ").split(" | ") for row in re.findall(r"^\|.*\|$", section, re.MULTILINE)[2:-1]]


def test_both_pages_have_the_attempts_and_failures_of_the_whole_campaign() -> None:
    english, chinese = map(campaign, CAMPAIGN)
    assert [row[:2] for row in english] == [*map(list, PROMISES.items())]
    assert [(row[0], *row[2:]) for row in english] == [(row[0], *row[2:]) for row in chinese]
