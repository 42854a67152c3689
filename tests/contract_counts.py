"""How many tests of each contract each store passes: ``python -m tests.contract_counts [FILE…] [--markdown]``.

The tests are run, and counted by the class that a store inherits them from. Without files, those of the core's stores.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.report import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

FILES = ("tests/storage/test_sqlite.py",)


class Passed:
    """A plugin of pytest that counts tests of contracts.

    Attributes:
        passed: by class of a store and class of a contract, how many passed.
        failed: how many did not.
    """

    def __init__(self) -> None:
        self.passed: Counter[tuple[str, str]] = Counter()
        self.failed: Counter[tuple[str, str]] = Counter()
        self._keys: dict[str, tuple[str, str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            contract = contract_of(item)
            if contract:
                self._keys[item.nodeid] = (item.nodeid.rpartition("::")[0], contract)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        key = self._keys.get(report.nodeid)
        if key and report.failed:
            self.failed[key] += 1
        elif key and report.when == "call" and report.passed:
            self.passed[key] += 1

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each store, with the tests of each contract."""
        keys = self.passed.keys() | self.failed.keys()
        contracts = sorted({contract for _, contract in keys})
        rows = []
        for store in sorted({store for store, _ in keys}):
            row: dict[str, Any] = {"store": store, **{name: self.passed[store, name] for name in contracts}}
            row["passed"] = sum(self.passed[store, name] for name in contracts)
            row["failed"] = sum(self.failed[store, name] for name in contracts)
            rows.append(row)
        return rows


def contract_of(item: pytest.Item) -> str:
    """Return the contract that a test comes from, "" for a test of the store's own."""
    cls, name = getattr(item, "cls", None), getattr(item, "originalname", item.name)
    for base in cls.__mro__ if cls else ():
        if name in vars(base):
            return base.__name__ if base.__name__.endswith("Contract") else ""
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests and print the counts; 1 where one failed."""
    parser = argparse.ArgumentParser(description="Count the tests of contracts that stores pass.")
    parser.add_argument("files", nargs="*", default=FILES, help="files of tests")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table, for a page")
    chosen = parser.parse_args(arguments)
    counted = Passed()
    status = pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *chosen.files], plugins=[counted])
    print_table("Tests of the contracts, passed", counted.rows(), markdown=chosen.markdown)
    return int(status != 0)


if __name__ == "__main__":
    sys.exit(main())
