"""The settings, fixtures and rules of the test run.

Environment:
    GATEKEEPER_HYPOTHESIS_PROFILE: ``ci`` (default: 15 examples, the same in each run) or ``thorough`` (500, by
        ``--hypothesis-seed``).
    GATEKEEPER_HYPOTHESIS_EXAMPLES: another number of examples for the profile.
    GATEKEEPER_WIRE_HISTORIES: how many random histories of each client go over HTTP (12; see ``tests/strict_server.py``).
    GATEKEEPER_FORBID_SKIPS: ``1`` turns each skipped test or module into a failure.
    GATEKEEPER_REQUIRE_SERVERS: ``1`` turns a missing server or browser into an error; without it its tests are skipped.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from tests.servers import PostgresServer, RedisServer

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

# The command speaks the language of the locale; what the tests read of it is English, whoever runs them.
os.environ["LANGUAGE"] = "en"

TESTS = Path(__file__).parent
FORBID_SKIPS = os.environ.get("GATEKEEPER_FORBID_SKIPS") == "1"

# Deadlines and slowness are the machine's matter, not the promise's: speed is the benchmarks' to judge.
settings.register_profile(
    "ci",
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough",
    max_examples=500,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("GATEKEEPER_HYPOTHESIS_PROFILE", "ci"))
if examples := int(os.environ.get("GATEKEEPER_HYPOTHESIS_EXAMPLES", "0")):
    settings.register_profile("so many", max_examples=examples)
    settings.load_profile("so many")


NEED_MORE = {
    "adapters",
    "browser",
    "chat",
    "cli",
    "hooks",
    "mcp",
    "meaning",
    "otel",
    "postgres",
    "serve",
    "servers",
    "site",
}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what needs more than the library alone by its folder, and all of it as extras, with the benchmarks."""
    for folder in NEED_MORE & {*item.path.relative_to(TESTS).parts}:
        item.add_marker(folder)
    if item.path.name.startswith("test_benchmark") or any(mark.name in NEED_MORE for mark in item.iter_markers()):
        item.add_marker("extras")


def _without_skips(report: Report) -> Report:
    if FORBID_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"a skip, and GATEKEEPER_FORBID_SKIPS=1 allows none: {reason}"
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _without_skips((yield))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _without_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave what the collection makes, a million objects, out of all later garbage collections (0.9 s each)."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """PostgreSQL with pgvector, started when the first test asks for it."""
    from tests.servers import PostgresServer, running_or_skipped  # which needs POSIX

    with running_or_skipped(PostgresServer) as server:
        yield server


@pytest.fixture
def postgres_database(postgres_server: PostgresServer) -> Iterator[str]:
    """Where to reach an empty database with the extension ``vector``, gone after the test."""
    conninfo = postgres_server.database()
    yield conninfo
    postgres_server.drop(conninfo)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """Redis, started when the first test asks for it."""
    from tests.servers import RedisServer, running_or_skipped  # which needs POSIX

    with running_or_skipped(RedisServer) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, started when the first test of a module asks for it; while it runs, its thread can run no asyncio."""
    from tests.browser import running_or_skipped as running_browser

    with running_browser() as started:
        yield started
