"""One method of the speed benchmark in a process of its own, told over a pipe what to do.

A command and its answer are one line of JSON each. ``python -m benchmarks.speed_worker NAME`` is the process,
:class:`Worker` the other end. Only the method's own call is timed: by wall clock, and by the CPU time of all threads
of the process.

==========  ================================  =====================================================================
do          with                              answer
==========  ================================  =====================================================================
load        path, count, limit (seconds)      cpu, wall (ns), adds (CPU ns a turn, sorted) where the index grows
ask         question                          wall, cpu (ns), found (positions)
add         user, assistant                   wall, cpu (ns)
facts                                         rss, index (bytes)
==========  ================================  =====================================================================

What a method cannot do is answered with ``error``.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
from array import array
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.speed_methods import METHODS, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.speed_methods import Method

__all__ = ["Worker", "WorkerError", "read_turns", "resident_bytes", "write_turn"]


class WorkerError(RuntimeError):
    """The method cannot do what it was told to."""


class Worker:
    """The parent's end of one process.

    Args:
        method: what runs in it.
        patience: seconds after which a call that is not answered ends the process.

    Raises:
        WorkerError: in a call, where the method fails or the process has ended.
    """

    def __init__(self, method: Method, *, patience: float = 1_200) -> None:
        self._patience = patience
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.speed_worker", method.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=Path(__file__).parent.parent,
        )

    def tell(self, do: str, **given: Any) -> dict[str, Any]:
        """Give one command and return its answer."""
        pipes = self._process.stdin, self._process.stdout
        assert pipes[0]
        assert pipes[1]
        try:
            pipes[0].write(json.dumps({"do": do, **given}).encode() + b"\n")
            pipes[0].flush()
        except BrokenPipeError:
            pass  # what is read next is the end
        impatient = threading.Timer(self._patience, self._process.kill)
        impatient.start()
        line = pipes[1].readline()
        impatient.cancel()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "the process has ended"}
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def end(self) -> None:
        """End the process and wait for it."""
        self._process.kill()
        self._process.communicate()


def write_turn(turn: tuple[str, str]) -> str:
    """Return a turn as a line of a file."""
    return json.dumps(turn, ensure_ascii=False) + "\n"


def read_turns(path: str) -> Iterator[tuple[str, str]]:
    """Yield the turns of a file."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            user, assistant = json.loads(line)
            yield user, assistant


def resident_bytes() -> int | None:
    """Return the memory that this process holds, or None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


class _Server:
    """Carries out the commands in the process of the method."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._file = ("", 0)
        self._added: list[tuple[str, str]] = []

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        do: Callable[..., dict[str, Any]] = getattr(self, f"_{command.pop('do')}")
        return do(**command)

    def _load(self, path: str, count: int, limit: float) -> dict[str, Any]:
        self._file = (path, count)
        turns = islice(read_turns(path), count)
        if self._subject.grows:
            return self._grow(turns, limit)
        given = list(turns)
        return _timed(lambda: self._subject.load(given))

    def _grow(self, turns: Iterator[tuple[str, str]], limit: float) -> dict[str, Any]:
        add, clock, times = self._subject.add, time.process_time_ns, array("Q")
        until = time.monotonic() + limit
        begin = time.perf_counter_ns()
        for user, assistant in turns:
            before = clock()
            add(user, assistant)
            times.append(clock() - before)
            if time.monotonic() > until:
                raise WorkerError(f"{len(times):,} turns took {limit:.0f} s to add")
        wall = time.perf_counter_ns() - begin
        return {"wall": wall, "cpu": sum(times), "adds": sorted(times[-max(1000, len(times) // 5) :])}

    def _ask(self, question: str) -> dict[str, Any]:
        found: Any = None

        def ask() -> None:
            nonlocal found
            found = self._subject.ask(question)

        return {**_timed(ask), "found": None if found is None else list(found)}

    def _add(self, user: str, assistant: str) -> dict[str, Any]:
        return _timed(lambda: self._subject.add(user, assistant))

    def _facts(self) -> dict[str, Any]:
        gc.collect()
        resident = resident_bytes()  # before anything is walked through
        return {"rss": resident, "index": self._subject.index_bytes()}


def _timed(call: Callable[[], None]) -> dict[str, Any]:
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    call()
    cpu_end, wall_end = time.process_time_ns(), time.perf_counter_ns()
    return {"wall": wall_end - wall, "cpu": cpu_end - cpu}


@contextmanager
def _answers() -> Iterator[Any]:
    """Give the pipe to the parent; what a package prints goes to the terminal's error stream."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as pipe:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        yield pipe


def main() -> None:
    """Carry out commands until the pipe is closed."""
    with _answers() as pipe:
        server: _Server | None = None
        for line in sys.stdin:
            try:
                server = server or _Server(METHODS[sys.argv[1]].subject())
                answer = server.answer(json.loads(line))
            except (RuntimeError, ImportError, MemoryError) as error:
                answer = {"error": str(error)}
            print(json.dumps(answer), file=pipe, flush=True)
        os._exit(0)  # without waiting for a peer's threads


if __name__ == "__main__":
    main()
