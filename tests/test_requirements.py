"""The page of requirements is complete, and every test that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "dev" / "requirements.md"

ROWS = {
    *(f"000-{number:02}" for number in range(1, 60)),
    "000-19b",
    "C12",
    "C13",
    *("003-09", "003-10", "003-29", "003-30", "003-31"),
    *(f"003-{number}" for number in range(34, 40)),
    *("001-63", "001-64", "001-75"),
    *(f"002-{number}" for number in (*range(10, 17), *range(18, 30), 31, 32, 34)),
    *(f"003-{number:02}" for number in (4, 5, 6, 13, 14, 15, 25, 26, *range(48, 67), 68, 83, 93, 97)),
    *("C15", "C18"),
    *("002-08", "003-96", "C11"),
    *("002-17", "003-19", "003-23", "003-40", "003-42", "003-84", "004-09", "003-77", "003-81", "003-95", "C1", "C2"),
    *("001-39", "001-40", "001-41", "001-42", "001-53", "001-71", "001-74", "002-07", "002-09"),
    *("004-04", "004-22", "004-39", "004-51", "004-64", "C14"),
    *("001-62", "002-30", "003-20", "003-28", "003-32", "003-41"),
    *("001-30", "001-67", "001-68", "001-79", "004-13", "004-14", "004-15", "004-27", "004-29", "004-30", "004-31"),
    *("004-42", "004-43", "004-44", "004-45", "004-46", "004-59", "004-60", "C10"),
    *("001-25", "001-26", "001-69", "004-02", "004-16", "004-17", "004-18", "004-23"),
    *("004-32", "004-33", "004-34", "004-35", "004-52", "004-55", "004-58", "004-63", "004-65", "004-66", "C6", "C7"),
    *("004-19", "004-20", "004-21", "004-36", "004-37", "004-38", "004-62"),
    *(f"001-{number:02}" for number in range(1, 83) if number != 81),
    *(f"004-{number:02}" for number in range(1, 67) if number not in (6, 7, 25, 50)),
    *("003-24", "003-43", "003-69", "003-90", "C16", "C17", "C3", "C4", "C5", "C8", "C9"),
}

ROW = re.compile(r"^\| *(\d{3}-\d{2}b?|C\d+) *\|(.*)\|([^|]*)\|$", re.MULTILINE)
RANGE = re.compile(r"(\d{3})-(\d{2}) to \1-(\d{2})")
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows_of(markdown: str) -> dict[str, list[tuple[str, str]]]:
    """Return for each row of a page the file and the function of every test that it names."""
    found = ROW.findall(markdown)
    assert len(found) == len({row for row, _, _ in found}), "a row stands on the page twice"
    return {row: NAMED_TEST.findall(tests) for row, _, tests in found}


def rows_named_in(docstring: str) -> set[str]:
    """Return the rows that a docstring names, one by one or as "000-05 to 000-10"."""
    named = set(re.findall(r"\b(?:\d{3}-\d{2}b?|C\d+)\b", docstring))
    for part, first, last in RANGE.findall(docstring):
        named.update(f"{part}-{number:02}" for number in range(int(first), int(last) + 1))
    return named


@cache
def rows_by_test(file: str) -> dict[str, set[str]]:
    """Return the test functions of a file with the rows that their docstrings name."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {node.name: rows_named_in(ast.get_docstring(node) or "") for node in functions}


TESTS_BY_ROW = rows_of(PAGE.read_text(encoding="utf-8"))


def test_the_page_holds_every_row_and_no_other() -> None:
    assert set(TESTS_BY_ROW) == ROWS


@pytest.mark.parametrize("row", sorted(TESTS_BY_ROW))
def test_every_row_names_a_test_that_exists_and_names_the_row(row: str) -> None:
    assert TESTS_BY_ROW[row], f"{row} names no test"
    for file, name in TESTS_BY_ROW[row]:
        assert (ROOT / file).is_file(), f"{row} names {file}, which does not exist"
        assert name in rows_by_test(file), f"{row} names {file}::{name}, which does not exist"
        assert row in rows_by_test(file)[name], f"{file}::{name} does not name {row} in its docstring"


def test_a_row_is_read_with_the_tests_in_its_last_cell_only() -> None:
    page = (
        "| id | rule | tests |\n|---|---|---|\n| 000-01 | as `tests/a.py::b` | `tests/c.py::d`<br>`tests/e.py::f` |\n"
    )
    assert rows_of(page) == {"000-01": [("tests/c.py", "d"), ("tests/e.py", "f")]}


def test_a_row_that_stands_twice_is_refused() -> None:
    with pytest.raises(AssertionError, match="twice"):
        rows_of("| C12 | one | |\n| C12 | two | |\n")


def test_a_docstring_names_rows_one_by_one_and_in_ranges() -> None:
    assert rows_named_in("000-19b, C12: ...") == {"000-19b", "C12"}
    assert rows_named_in("000-05 to 000-07, 003-31: ...") == {"000-05", "000-06", "000-07", "003-31"}
