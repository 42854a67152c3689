"""Processes that write to one thread of a store at the same time, for the benchmark of stores.

``python -m benchmarks.store_worker NAME PLACE`` is one of them: it opens the store and is then told, a line of JSON
each, what to append; it says ``ready``, waits for a line, appends, and answers with what it was told.
:class:`Writers` is the other end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from benchmarks.store_shelves import SHELVES, Append, Outcome, Place, Said

__all__ = ["Writers"]


class Writers:
    """So many processes that have a store open.

    Args:
        name: the store's, in ``SHELVES``.
        place: where it lies.
        count: of processes.
        patience: seconds after which processes that have not answered are ended.

    Raises:
        RuntimeError: in a call, where one has ended.
    """

    def __init__(self, name: str, place: Place, count: int, *, patience: float = 300) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._patience = patience
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "benchmarks.store_worker", name, json.dumps(place)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
                cwd=Path(__file__).parent.parent,
            )
            for _ in range(count)
        ]

    def write(self, writers: list[list[Append]]) -> list[Outcome]:
        """Let each process append its own, one after the other, all of them beginning at once."""
        impatient = threading.Timer(self._patience, self._kill)
        impatient.start()
        try:
            for process, appends in zip(self._processes, writers, strict=True):
                _say(process, json.dumps(appends))
            for process in self._processes:
                _heard(process)
            for process in self._processes:
                _say(process, "go")
            return [Outcome(*json.loads(_heard(process))) for process in self._processes]
        finally:
            impatient.cancel()

    def end(self) -> None:
        """End the processes and wait for them."""
        self._kill()
        for process in self._processes:
            process.communicate()

    def _kill(self) -> None:
        for process in self._processes:
            process.kill()


def _say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin
    process.stdin.write(line + "\n")
    process.stdin.flush()


def _heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("a process that writes has ended")
    return line


def _append_of(value: Any) -> Append:
    thread, messages = value
    return Append(thread, tuple(Said(*said) for said in messages))


def main(arguments: list[str]) -> None:
    """Append what is asked for until the pipe is closed."""
    name, place = arguments
    pipe = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a package prints is no answer
    shelf = SHELVES[name].open(Place(*json.loads(place)))
    for line in sys.stdin:
        appends = [_append_of(value) for value in json.loads(line)]
        for thread in {each.thread for each in appends}:
            shelf.prepare(thread)
        print("ready", file=pipe, flush=True)
        sys.stdin.readline()
        (outcome,) = shelf.at_once([appends])
        print(json.dumps(outcome), file=pipe, flush=True)
    os._exit(0)  # without waiting for a peer's threads


if __name__ == "__main__":
    main(sys.argv[1:])
