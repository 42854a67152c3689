"""The newcomer's check (``make test``): does the library do here what it promises? Half a minute, by naming files.

Acceptance, the promises, the code blocks of the README files and of the tutorial, and one file for each adapter that is
installed. ``make test-all`` runs everything.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import NamedTuple

import pytest

from tests.case_files import table

CORE = (
    "tests/test_acceptance.py",
    "tests/test_promises.py",
    "tests/storage/test_sqlite.py",
    "tests/test_docs.py::test_the_readme_shows_the_two_commands_and_code_that_runs",
    "tests/test_docs.py::test_the_python_blocks_of_a_page_run[README.md]",
    "tests/test_docs.py::test_the_python_blocks_of_a_page_run[README.zh-CN.md]",
)


class Adapter(NamedTuple):
    """What an adapter is called, the modules that it needs, its tests, and how to have what is missing."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    how: str


ADAPTERS = [
    Adapter(name, tuple(modules.split()), tuple(tests.split()), how) for name, modules, tests, how in table("newcomer")
]


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that the module lies in
        return False


def left_out() -> str:
    """Return the one line on what does not run here, and how to have it."""
    missing = [f"{adapter.name} ({adapter.how})" for adapter in ADAPTERS if not all(map(is_installed, adapter.modules))]
    return f"left out: {', '.join([*missing, 'what takes longer (make test-all)'])}"


def main() -> None:
    tests = [test for adapter in ADAPTERS if all(map(is_installed, adapter.modules)) for test in adapter.tests]
    status = pytest.main(["-q", "-n", "auto", *CORE, *tests, *sys.argv[1:]])
    print(left_out())
    sys.exit(status)


if __name__ == "__main__":
    main()
