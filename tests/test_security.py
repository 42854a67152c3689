"""The threat model names tests that exist, and the campaign has a row for each promise."""

from __future__ import annotations

import re

from tests.fuzz.__main__ import PROMISES
from tests.test_requirements import NAMED_TEST, ROOT, rows_by_test

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[str]:
    """Return the rows of the table below a heading."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\|.*\|$", section, re.MULTILINE)[2:]


def test_every_threat_names_a_test_that_exists() -> None:
    named_by_row = [NAMED_TEST.findall(row) for row in rows("Threat model")]
    assert len(named_by_row) > 10
    assert all(named_by_row)
    named = [test for row in named_by_row for test in row]
    assert [(file, name) for file, name in named if not (ROOT / file).is_file() or name not in rows_by_test(file)] == []


def test_the_campaign_has_a_row_for_each_promise() -> None:
    campaign = [row.strip("| ").split(" | ") for row in rows("The campaign")]
    assert campaign == [*map(list, PROMISES.items())]
