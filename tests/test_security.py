"""The threat model names tests that exist, and the campaign names each target."""

from __future__ import annotations

import re

from tests.fuzz.__main__ import PROMISES
from tests.test_requirements import NAMED_TEST, ROOT, rows_by_test

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_every_threat_names_a_test_that_exists() -> None:
    named_by_row = [
        NAMED_TEST.findall(row) for row in re.findall(r"^\|.*\|$", section("Threat model"), re.MULTILINE)[2:]
    ]
    assert len(named_by_row) > 10
    assert all(named_by_row)
    named = [test for row in named_by_row for test in row]
    assert [(file, name) for file, name in named if not (ROOT / file).is_file() or name not in rows_by_test(file)] == []


def test_the_campaign_names_each_target() -> None:
    assert re.findall(r"`(\w+)`", section("The campaign")) == [*PROMISES]
