"""A pytest plugin: write the outcome of every test as JSON to the file that GATEKEEPER_OUTCOMES names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

OUTCOMES: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember the worst outcome of a test's three phases."""
    if report.when == "call" or report.outcome != "passed":
        OUTCOMES[report.nodeid] = report.outcome


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write them, in the process that heard of all tests."""
    if not hasattr(session.config, "workerinput"):
        Path(os.environ["GATEKEEPER_OUTCOMES"]).write_text(json.dumps(OUTCOMES), encoding="utf-8")
