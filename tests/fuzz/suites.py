"""Suites of the campaign: attacks that need processes, servers, threads or many files, run by pytest and counted.

``python -m tests.fuzz.suites SUITE SECONDS SEED FOLDER`` prints the attempts, the failures and what was not run as JSON.
An attempt is an example of hypothesis, a round of a fault, or a test that draws nothing.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.fault_record import VARIABLE


class Suite(NamedTuple):
    """A promise, and the arguments of pytest that name its tests."""

    promise: str
    tests: tuple[str, ...]


SUITES = {
    "hostile_texts": Suite(
        "Whatever is said or asked, nothing raises, budgets hold, and time and memory are linear.",
        ("tests/test_adversarial.py",),
    ),
    "look_alikes": Suite(
        "No look-alike closes a fence, and no text holds the name of its own fence.",
        ("tests/test_fences.py",),
    ),
    "parallel_calls": Suite(
        "Simultaneous calls equal the same calls one after another; no update is lost.",
        ("tests/test_parallel.py",),
    ),
    "sqlite_faults": Suite(
        "Acknowledged writes survive kills and full disks; damaged files raise typed errors only.",
        ("tests/storage/test_sqlite_faults.py", "tests/storage/test_sqlite_workers.py"),
    ),
    "sqlite_power": Suite(
        "After a power failure each call is there whole or not at all, in order.",
        ("tests/storage/test_sqlite_power.py",),
    ),
    "postgres_faults": Suite(
        "Acknowledged writes survive a killed server; lost transactions and replicas are typed errors.",
        tuple(f"tests/postgres/test_{name}.py" for name in ("faults", "workers", "replica")),
    ),
    "tenants": Suite(
        "Tenants and threads with the same names never meet, in any store or adapter.",
        (
            *("-k", "tenant", "tests/storage", "tests/postgres", "tests/context/memory"),
            *(
                f"tests/adapters/test_{name}.py"
                for name in ("langchain_building", "langchain_middleware", "recall_tools")
            ),
        ),
    ),
    "forgotten": Suite(
        "What was forgotten is gone, also from the bytes of the file, and no late call brings it back.",
        ("-k", "forg", "tests/storage", "tests/postgres"),
    ),
    "hung_parts": Suite(
        "A search or model that hangs costs a build half a second at most.",
        ("tests/context/prompt/test_builder_faults.py",),
    ),
    "clock_and_fork": Suite(
        "A clock that jumps changes no order or account; parent and child go on after a fork.",
        ("tests/test_clock.py", "tests/test_fork.py"),
    ),
    "telemetry": Suite(
        "No log, event, span, metric or error holds text.",
        ("tests/test_events.py", "tests/otel/test_otel.py", "tests/adapters/test_text_in_telemetry.py"),
    ),
}


class Counted:
    """A plugin of pytest that counts attempts, and starts no test when some seconds have passed since the first.

    Attributes:
        attempts: how many there were.
        failures: the tests that failed.
        skipped: how many tests skipped themselves.
        late: how many tests were left out.
    """

    def __init__(self, seconds: float, seed: int, record: Path) -> None:
        self.attempts = self.skipped = self.late = 0
        self.failures: list[str] = []
        self._seconds = seconds
        self._deadline: float | None = None
        self._seed = seed
        self._record = record
        self._examples = self._rounds = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mix the tests of each module, so that others are left out for each seed."""
        chance = random.Random(self._seed)
        places = {path: chance.random() for path in dict.fromkeys(item.path for item in items)}
        items.sort(key=lambda item: (places[item.path], chance.random()))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        self._deadline = self._deadline or time.monotonic() + self._seconds
        is_late = time.monotonic() > self._deadline
        self.late += is_late
        return is_late or None

    @pytest.hookimpl(wrapper=True, trylast=True)  # inside of the plugin of hypothesis, whose collector it replaces
    def pytest_runtest_call(self) -> Iterator[None]:
        from hypothesis.statistics import collector  # which pytest wants to import first

        self._examples, self._rounds = 0, self._recorded()
        with collector.with_value(self._note):
            yield

    def _note(self, statistics: dict[str, Any]) -> None:
        phases = (phase for phase in statistics.values() if isinstance(phase, dict))
        cases = (case for phase in phases for case in phase.get("test-cases", ()))
        self._examples += sum(case["status"] in ("valid", "interesting") for case in cases)

    def _recorded(self) -> int:
        return self._record.read_bytes().count(b"\n") if self._record.exists() else 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failures.append(report.nodeid)
        if report.skipped:
            self.skipped += 1
        elif report.when == "call":
            self.attempts += self._examples + self._recorded() - self._rounds or 1

    def to_json(self) -> str:
        not_run = {"skipped themselves": self.skipped, "were left out when the time was over": self.late}
        note = ", ".join(f"{number} tests {what}" for what, number in not_run.items() if number)
        return json.dumps({"attempts": self.attempts, "failures": self.failures, "note": note})


def main(suite: str, seconds: float, seed: int, folder: Path) -> int:
    record = folder / "rounds.jsonl"
    os.environ.update(
        {
            "GATEKEEPER_ADVERSARIAL_BIG": "1",
            "GATEKEEPER_ADVERSARIAL_SEED": f"{seed}",
            "GATEKEEPER_FAULT_SEED": f"{seed}",
            "GATEKEEPER_HYPOTHESIS_PROFILE": "campaign",
            VARIABLE: f"{record}",
        }
    )
    counted = Counted(seconds, seed, record)
    options = ("-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", f"--hypothesis-seed={seed}")
    status = pytest.main([*options, *SUITES[suite].tests], plugins=[counted])
    print(f"\n{counted.to_json()}")
    return 0 if status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) else status


if __name__ == "__main__":
    name, seconds, seed, folder = sys.argv[1:]
    sys.exit(main(name, float(seconds), int(seed), Path(folder)))
