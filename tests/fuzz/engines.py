"""One target under one engine for some seconds; a process of its own, because atheris never comes back.

``python -m tests.fuzz.engines ENGINE TARGET SECONDS SEED FOLDER`` prints the attempts and the failures as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from tests.fuzz.inputs import read_corpus

ENGINES = ("atheris", "hypothesis")
LIBRARY = ("gatekeeper_core", "gatekeeper_formats", "gatekeeper_chat")
LONGEST_INPUT = 4_000
SLOWEST_SECONDS = 30
"""An attempt that takes longer ends the run: it is a failure (atheris only)."""


class Attempts:
    """Counts the attempts of a target; of each failure (what was raised, and where) keeps the shortest input."""

    def __init__(self, target: Callable[[bytes], None]) -> None:
        self._target = target
        self.count = 0
        self.failures: dict[str, bytes] = {}

    def __call__(self, data: bytes) -> None:
        self.count += 1
        try:
            self._target(data)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure
            place = traceback.extract_tb(error.__traceback__)[-1]
            name = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}, {place.name}"
            self.failures[name] = min(self.failures.get(name, data), data, key=len)


def attempts_of(target: str) -> Attempts:
    attempts = Attempts(import_module("tests.fuzz.targets").TARGETS[target])
    for data in read_corpus(target):
        attempts(data)
    return attempts


def until(deadline: float, attempts: Attempts) -> Callable[[bytes], None]:
    """Return what makes an attempt, and past the deadline tells what became of all and ends the process."""

    def attempt(data: bytes) -> None:
        if time.monotonic() > deadline:
            failures = {name: data.decode("latin-1") for name, data in attempts.failures.items()}
            print(json.dumps({"attempts": attempts.count, "failures": failures}), flush=True)
            os._exit(0)
        attempts(data)

    return attempt


def run_atheris(target: str, seconds: float, seed: int, folder: Path) -> None:
    """Mutate the inputs that reach new lines; libFuzzer's minimum of a seed is 1."""
    import atheris

    with atheris.instrument_imports(include=[*LIBRARY, "tests.fuzz.targets"]):
        attempts = attempts_of(target)  # what is imported late is instrumented, too
        for at, data in enumerate(read_corpus(target)):
            (folder / f"seed{at:03}").write_bytes(data)
        options = {"seed": seed + 1, "max_len": LONGEST_INPUT, "timeout": SLOWEST_SECONDS, "verbosity": 0}
        arguments = [f"-{name}={value}" for name, value in options.items()]
        arguments += [f"-artifact_prefix={folder}/failed-", str(folder)]
        atheris.Setup([sys.argv[0], *arguments], until(time.monotonic() + seconds, attempts))
        atheris.Fuzz()


def run_hypothesis(target: str, seconds: float, seed: int, folder: Path) -> None:
    """Change the inputs of the corpus; those in which most functions of the library run are changed further."""
    import hypothesis
    from hypothesis import strategies as st

    corpus = read_corpus(target)
    pieces = st.binary(max_size=8) | st.sampled_from(corpus)
    changes = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 8), pieces), max_size=8)
    attempts = attempts_of(target)
    attempt = until(time.monotonic() + seconds, attempts)

    for number in count(seed * 1_000_003):

        @hypothesis.seed(number)
        @hypothesis.settings(
            max_examples=500,
            deadline=None,
            database=None,
            phases=[hypothesis.Phase.generate, hypothesis.Phase.target],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(st.sampled_from(corpus), changes)
        def run(data: bytes, changes: list[tuple[int, int, bytes]]) -> None:
            for at, length, piece in changes:
                at %= len(data) + 1
                data = (data[:at] + piece + data[at + length :])[:LONGEST_INPUT]
            functions: set[Any] = set()
            sys.setprofile(lambda frame, event, _: functions.add(frame.f_code))
            try:
                attempt(data)
            finally:
                sys.setprofile(None)
            hypothesis.target(float(len(functions)))

        run()


if __name__ == "__main__":
    engine, target, seconds, seed, folder = sys.argv[1:]
    runs = {"atheris": run_atheris, "hypothesis": run_hypothesis}
    runs[engine](target, float(seconds), int(seed), Path(folder))
