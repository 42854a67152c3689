"""Cases that are data: ``tests/cases/<module>.jsonl`` holds those of ``test_<module>.py``.

A line is a JSON array: the name of the test without ``test_``, then its arguments.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = Path(__file__).with_name("cases")


def rows(module: str, name: str) -> list[list[Any]]:
    """Return the arguments of each case of a test, in the order of the file."""
    text = CASES.joinpath(f"{module}.jsonl").read_text(encoding="utf-8")
    found = [case for first, *case in map(json.loads, text.split("\n")[:-1]) if first == name]
    assert found, f"{module}.jsonl has no case of {name}"
    return found


def table(name: str) -> list[list[str]]:
    r"""Return the rows of ``tests/cases/<name>.tsv`` below its heading; ``\n`` in a cell is the end of a line."""
    lines = CASES.joinpath(f"{name}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [line.replace("\\n", "\n").split("\t") for line in lines]


def from_file(*arguments: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrize a test by its cases; the arguments are those of a case, in order."""

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        module = test.__module__.rpartition(".")[2].removeprefix("test_")
        return pytest.mark.parametrize(arguments, rows(module, test.__name__.removeprefix("test_")))(test)

    return decorated
