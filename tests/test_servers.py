"""The servers that other tests are given: apart from each other, and gone when their process is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.servers import (
    MissingServerError,
    PostgresServer,
    RedisServer,
    Server,
    from_command_line,
    running,
    running_or_skipped,
    sweep,
)

servers = pytest.mark.servers


def _missing() -> Server:
    raise MissingServerError("no such server")


def test_a_missing_server_skips_the_test_by_the_name_of_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GATEKEEPER_REQUIRE_SERVERS", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no such server"), running_or_skipped(_missing):
        pass
    monkeypatch.setenv("GATEKEEPER_REQUIRE_SERVERS", "1")
    with pytest.raises(MissingServerError), running_or_skipped(_missing):
        pass


def test_a_command_gets_the_places_of_the_servers_that_are_there() -> None:
    command = ["run", "--postgres", "{postgres}", "--redis", "{redis}", "a{b}"]
    filled = from_command_line(command, {"redis": "redis://here"})
    assert filled == ["run", "--postgres", "", "--redis", "redis://here", "a{b}"]


@servers
def test_each_database_is_empty_and_has_vectors(postgres_server: PostgresServer) -> None:
    psycopg = pytest.importorskip("psycopg")
    first, second = postgres_server.database(), postgres_server.database()
    with psycopg.connect(first) as connection:
        connection.execute("CREATE TABLE here (v vector(2))")
    with psycopg.connect(second) as connection:
        assert connection.execute("SELECT to_regclass('here')").fetchone() == (None,)
        assert connection.execute("SELECT '[1,2]'::vector <-> '[1,2]'::vector").fetchone() == (0.0,)
    postgres_server.drop(first)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(first)


@servers
def test_what_was_written_is_there_after_an_end_and_a_start() -> None:
    with running_or_skipped(PostgresServer) as server:
        psycopg = pytest.importorskip("psycopg")
        conninfo = server.database()
        for end in (server.stop, server.kill):
            with psycopg.connect(conninfo, autocommit=True) as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS kept AS SELECT 7 AS n")
                end()
            assert not server.is_ready()
            server.start()
            with psycopg.connect(conninfo) as connection:
                assert connection.execute("SELECT n FROM kept").fetchone() == (7,)
    assert not server.is_ready()
    assert not server.folder.exists()


@servers
@pytest.mark.parametrize("start", [PostgresServer, RedisServer])
def test_a_killed_process_takes_its_server_along_and_the_next_run_sweeps_its_folder(
    start: type[Server], request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("postgres_server" if start is PostgresServer else "redis_server")  # or skipped
    program = f"import time, tests.servers as s; x = s.{start.__name__}(); print(x.folder, x.port, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder, port = process.stdout.readline().split()
        other = start.__new__(start)
        other.port = int(port)
        sweep()
        assert other.is_ready()
        assert Path(folder).exists()
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while other.is_ready() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not other.is_ready()
    sweep()
    assert not Path(folder).exists()


@servers
def test_a_folder_for_temporary_files_that_nobody_else_may_enter_is_no_hindrance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL does not run as root, and the ordinary user must get to its files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(0o700)
    with running_or_skipped(PostgresServer) as server:
        assert server.is_ready()


@servers
def test_two_servers_at_once_do_not_meet() -> None:
    with running_or_skipped(RedisServer) as first, running(RedisServer) as second:
        assert first.port != second.port
        assert first.folder != second.folder
        assert os.listdir(second.folder)
