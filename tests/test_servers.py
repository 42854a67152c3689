"""The servers that other tests are given: apart from each other, and gone when their process is."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers import (
    PostgresServer,
    RedisServer,
    Server,
    running_or_skipped,
    sweep,
)

servers = pytest.mark.servers


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
