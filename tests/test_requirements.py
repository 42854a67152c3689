"""The list of requirements is complete, every test that it names exists, and its numbers are those of the code."""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import gatekeeper_core
from tests.case_files import rows

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "docs" / "requirements_page.py"

NUMBERS = {
    "000": range(1, 60),
    "001": (*range(1, 81), 82),
    "002": (*range(7, 33), 34),
    "003": (
        *(4, 5, 6, 9, 10, 13, 14, 15, 19, 20, *range(23, 27), *range(28, 33), *range(34, 44)),
        *(*range(48, 67), 68, 69, 77, 81, 83, 84, 90, 93, 95, 96, 97),
    ),
    "004": (*range(1, 6), *range(8, 25), *range(26, 50), *range(51, 67)),
}
ROWS = {f"{part}-{number:02}" for part, numbers in NUMBERS.items() for number in numbers}
ROWS |= {"000-19b", *(f"C{number}" for number in range(1, 19))}

with ROOT.joinpath("tests", "requirements.csv").open(encoding="utf-8", newline="") as FILE:
    LISTED = [*csv.DictReader(FILE)]
RULES = {each["row"]: each["requirement"] for each in LISTED}

RANGE = re.compile(r"(\d{3})-(\d{2}) to \1-(\d{2})")
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


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

NO_SETTING: dict[str, str] = dict(rows("requirements", "no_setting"))  # type: ignore[arg-type]
"""Rows with numbers that no setting and no constant holds, and what they are."""


def plain(name: str) -> str:
    """Return a name as it is compared: a setting that becomes a private constant keeps its number."""
    return name.strip("_").lower()


def number(text: str) -> float:
    return float(text.replace(",", "").replace("_", "").rstrip("."))


def defaults_of(value: object) -> dict[str, object]:
    """Return what a class or a function holds: class attributes, and the defaults of fields and arguments."""
    attributes = dict(vars(value)) if isinstance(value, type) else {}
    function = attributes.get("__init__", value)
    arguments = inspect.signature(function).parameters if inspect.isfunction(function) else {}
    return attributes | {name: argument.default for name, argument in arguments.items()}


@cache
def numbers_of_the_core() -> dict[str, list[tuple[str, float]]]:
    """Return by plain name the modules, classes and functions that hold a number of that name, each with its number."""
    numbers: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for module in pkgutil.walk_packages(gatekeeper_core.__path__, f"{gatekeeper_core.__name__}."):
        values = vars(importlib.import_module(module.name))
        own = {name: value for name, value in values.items() if getattr(value, "__module__", "") == module.name}
        holders = [(module.name.rpartition(".")[2], values), *((name, defaults_of(own[name])) for name in own)]
        for holder, defaults in holders:
            for name, default in defaults.items():
                if isinstance(default, (int, float)) and not isinstance(default, bool):
                    numbers[plain(name)].append((holder, default))
    return numbers


def numbers_of(name: str) -> set[float]:
    """Return what the code holds under a name, as "short_tokens", "GatekeeperConfig.new_above" or "planner.LEAST_NEED"."""
    holder, _, last = name.rpartition(".")
    numbers = numbers_of_the_core().get(plain(last), [])
    return {value for owner, value in numbers if not holder or owner == holder}


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


def test_the_list_has_every_row_once_and_no_other() -> None:
    assert sorted(each["row"] for each in LISTED) == sorted(ROWS)


def test_the_page_shows_the_list() -> None:
    """Where it does not: python docs/requirements_page.py."""
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_row_names_a_test_that_exists_and_names_the_row() -> None:
    assert [each["row"] for each in LISTED if not each["tests"]] == []
    wrong = []
    for row, test in [(each["row"], test) for each in LISTED for test in each["tests"].split()]:
        file, _, name = test.partition("::")
        if not (ROOT / file).is_file() or name not in rows_by_test(file):
            wrong.append(f"{row} names {test}, which does not exist")
        elif row not in rows_by_test(file)[name]:
            wrong.append(f"{test} does not name {row} in its docstring")
    assert wrong == []


def test_every_number_of_a_row_is_the_one_that_the_code_holds() -> None:
    assert {row: wrong for row, rule in RULES.items() if (wrong := wrong_numbers(rule))} == {}


def test_every_number_of_a_row_names_what_holds_it() -> None:
    unnamed = {row: bare for row, rule in RULES.items() if (bare := unnamed_numbers(rule))}
    assert {row: bare for row, bare in unnamed.items() if row not in NO_SETTING} == {}
    assert sorted(NO_SETTING.keys() - unnamed) == []
