"""The page of requirements is complete, every test that it names exists, and its numbers are those of the code."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import gatekeeper_core

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


NAMED_NUMBER = re.compile(r"`([A-Za-z]\w*(?:\.\w+)?)=([\d,_.]+)`")
NUMBER = re.compile(r"(?<![\w.+-])\d+(?:[,_]\d{3})*(?:\.\d+)?(?![\w-])")
RULES = {row: rule for row, rule, _ in ROW.findall(PAGE.read_text(encoding="utf-8"))}

NO_SETTING = {
    "000-03": "the memory of the machine that runs the tests",
    "000-13": "samples of versions",
    "000-14": "the formula of the idf",
    "000-53": "the number of a check",
    "000-54": "the number of a check",
    "000-55": "the number of a check",
    "000-57": "the memory of the machine that runs the tests",
    "001-35": "what is not done",
    "001-60": "a sample of a call",
    "001-62": "peers in a benchmark",
    "001-69": "a signature",
    "002-08": "a limit for each tool",
    "002-30": "a peer in a benchmark",
    "003-30": "a formula",
    "003-34": "a sample",
    "003-35": "a sample",
    "003-36": "what the rule itself says",
    "003-37": "a sample",
    "003-38": "a sample",
    "003-81": "the length of a sample",
    "003-95": "what tokenizers do",
    "004-24": "shares of a total, in tokens",
    "004-49": "a share of a total, in tokens",
}
"""Rows with numbers that no setting and no constant holds, and what they are."""


def plain(name: str) -> str:
    """Return a name as it is compared: a setting that becomes a private constant keeps its number."""
    return name.strip("_").lower()


def number(text: str) -> float:
    return float(text.replace(",", "").replace("_", "").rstrip("."))


def defaults_of(value: object) -> dict[str, object]:
    """Return what a class or a function holds: class attributes, and the defaults of fields and arguments."""
    held = dict(vars(value)) if isinstance(value, type) else {}
    function = held.get("__init__", value)
    arguments = inspect.signature(function).parameters if inspect.isfunction(function) else {}
    return held | {name: argument.default for name, argument in arguments.items()}


@cache
def numbers_of_the_core() -> dict[str, list[tuple[str, float]]]:
    """Return by plain name the modules, classes and functions that hold a number of that name, each with its number."""
    held: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for module in pkgutil.walk_packages(gatekeeper_core.__path__, f"{gatekeeper_core.__name__}."):
        values = vars(importlib.import_module(module.name))
        own = {name: value for name, value in values.items() if getattr(value, "__module__", "") == module.name}
        holders = [(module.name.rpartition(".")[2], values), *((name, defaults_of(own[name])) for name in own)]
        for holder, defaults in holders:
            for name, default in defaults.items():
                if isinstance(default, (int, float)) and not isinstance(default, bool):
                    held[plain(name)].append((holder, default))
    return held


def numbers_of(name: str) -> set[float]:
    """Return what the code holds under a name, as "short_tokens", "GatekeeperConfig.new_above" or "planner.LEAST_NEED"."""
    holder, _, last = name.rpartition(".")
    held = numbers_of_the_core().get(plain(last), [])
    return {value for owner, value in held if not holder or owner == holder}


def wrong_numbers(rule: str) -> list[str]:
    """Return the numbers of a rule that the code holds otherwise, in several ways or not at all."""
    return [
        f"{name}={stated}, in the code {sorted(numbers_of(name)) or 'nothing of that name'}"
        for name, stated in NAMED_NUMBER.findall(rule)
        if numbers_of(name) != {number(stated)}
    ]


def unnamed_numbers(rule: str) -> set[float]:
    """Return the numbers of a rule, but 0 and 1, that stand there without the name of what holds them."""
    named = {number(stated) for _, stated in NAMED_NUMBER.findall(rule)}
    bare = re.sub(r"(?<![\w,])(?:00\d(?:-\d{2}b?)?|C\d+)\b", "", rule)
    return {number(stated) for stated in NUMBER.findall(bare)} - named - {0, 1}


TESTS_BY_ROW = rows_of(PAGE.read_text(encoding="utf-8"))


def test_the_page_holds_every_row_and_no_other() -> None:
    assert set(TESTS_BY_ROW) == ROWS


def test_every_row_names_a_test_that_exists_and_names_the_row() -> None:
    assert [row for row, tests in TESTS_BY_ROW.items() if not tests] == []
    wrong = []
    for row, file, name in [(row, file, name) for row, tests in TESTS_BY_ROW.items() for file, name in tests]:
        if not (ROOT / file).is_file() or name not in rows_by_test(file):
            wrong.append(f"{row} names {file}::{name}, which does not exist")
        elif row not in rows_by_test(file)[name]:
            wrong.append(f"{file}::{name} does not name {row} in its docstring")
    assert wrong == []


def test_every_number_of_a_row_is_the_one_that_the_code_holds() -> None:
    assert {row: wrong for row, rule in RULES.items() if (wrong := wrong_numbers(rule))} == {}


def test_every_number_of_a_row_names_what_holds_it() -> None:
    unnamed = {row: bare for row, rule in RULES.items() if (bare := unnamed_numbers(rule))}
    assert {row: bare for row, bare in unnamed.items() if row not in NO_SETTING} == {}
    assert sorted(NO_SETTING.keys() - unnamed) == []


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ("`short_tokens=120`, `SHORT_TOKENS=120` and `compact_messages.max_chars=80,000`", []),
        ("`short_tokens=124`", ["short_tokens=124, in the code [120]"]),
        (
            "`GatekeeperConfig.short_tokens=120`",
            ["GatekeeperConfig.short_tokens=120, in the code nothing of that name"],
        ),
        ("`no_such=1`", ["no_such=1, in the code nothing of that name"]),
    ],
)
def test_a_number_that_the_code_holds_otherwise_is_found(rule: str, wrong: list[str]) -> None:
    assert wrong_numbers(rule) == wrong


def test_a_name_that_holds_several_numbers_needs_its_class() -> None:
    assert len(numbers_of("max_chars")) > 1
    assert wrong_numbers("`max_chars=80,000`")
    assert len(numbers_of("compact_messages.max_chars")) == 1


def test_a_number_without_a_name_is_found() -> None:
    rule = "Of 000-17 and C12: `overlap > 0.45`, 0 to 1, 3,000 tokens and 60 %, `continue_above=0.45`."
    assert unnamed_numbers(rule) == {3000, 60}


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
