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
    sweep,
)

servers = pytest.mark.servers


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
