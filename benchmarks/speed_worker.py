"""One method of the speed benchmark in a process of its own, so that its memory is its own.

:class:`Worker` is the parent's end. Only the method's own call is timed: by wall clock, and by the CPU time of all
threads of the process, in nanoseconds.
"""

from __future__ import annotations

import gc
import json
import os
import time
import warnings
from array import array
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.speed_methods import METHODS, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

    from benchmarks.speed_methods import Method

    Answer = dict[str, Any]


class WorkerError(RuntimeError):
    """The method cannot do what it was asked to do."""


class Worker:
    """The parent's end of one process.

    Args:
        method: what runs in it.
        patience: seconds after which a call that is not answered ends the process.
    """

    def __init__(self, method: Method, *, patience: float = 1_200) -> None:
        context = get_context("spawn")
        self._pipe, other = context.Pipe()
        self._patience = patience
        self._process = context.Process(target=_serve, args=(method.name, other), daemon=True)
        self._process.start()
        other.close()

    def tell(self, do: str, **named: Any) -> Answer:
        """Give one command (``load``, ``ask``, ``add``, ``facts``) and return its answer.

        Raises:
            WorkerError: the method fails or the process has ended.
        """
        try:
            self._pipe.send((do, named))
            answer: Answer = self._pipe.recv() if self._pipe.poll(self._patience) else {"error": "no answer"}
        except (EOFError, OSError):
            answer = {"error": "the process has ended"}
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def resident_bytes() -> int | None:
    """Return the memory that this process holds, or None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _serve(name: str, pipe: Connection) -> None:
    """Carry out commands until the parent ends the process."""
    warnings.simplefilter("ignore")
    subject: Subject | None = None
    while True:
        do, named = pipe.recv()
        try:
            subject = subject or METHODS[name].subject()
            pipe.send(_COMMANDS[do](subject, **named))
        except (RuntimeError, ImportError, MemoryError) as error:
            pipe.send({"error": str(error)})


def _timed(call: Callable[..., object], *arguments: object) -> Answer:
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    result = call(*arguments)
    cpu_end, wall_end = time.process_time_ns(), time.perf_counter_ns()
    return {"wall": wall_end - wall, "cpu": cpu_end - cpu, "found": result}


def _load(subject: Subject, path: str, count: int, limit: float) -> Answer:
    """Take the first turns of a file; where the index grows, ``adds`` has the CPU time of each of the last turns."""
    with open(path, encoding="utf-8") as lines:
        turns = ((user, assistant) for user, assistant in map(json.loads, islice(lines, count)))
        return _grow(subject, turns, limit) if subject.grows else _timed(subject.load, list(turns))


def _grow(subject: Subject, turns: Iterator[tuple[str, str]], limit: float) -> Answer:
    add, clock, times = subject.add, time.process_time_ns, array("Q")
    until = time.monotonic() + limit
    for user, assistant in turns:
        before = clock()
        add(user, assistant)
        times.append(clock() - before)
        if time.monotonic() > until:
            raise WorkerError(f"{len(times):,} turns took {limit:.0f} s to add")
    return {"cpu": sum(times), "adds": sorted(times[-max(1000, len(times) // 5) :])}


def _facts(subject: Subject) -> Answer:
    gc.collect()
    resident = resident_bytes()  # before anything is walked through
    return {"rss": resident, "index": subject.index_bytes()}


_COMMANDS: dict[str, Callable[..., Answer]] = {
    "load": _load,
    "ask": lambda subject, question: _timed(subject.ask, question),
    "add": lambda subject, user, assistant: _timed(subject.add, user, assistant),
    "facts": _facts,
}
