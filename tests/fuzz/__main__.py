"""The campaign: each promise under attack for some time, and a table of attempts and failures in Markdown.

``python -m tests.fuzz [--seconds 120] [--seed N] [TARGET...]`` (``make fuzz``). An engine gives a target bytes for so many
seconds.

The engine is atheris where it is installed (group ``fuzz``), else hypothesis. The same seed begins the same way; how far
it comes is a matter of the machine. An input that failed is added to the corpus of its target, which ``tests/test_fuzz.py``
runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.engines import ENGINES, SLOWEST_SECONDS
from tests.fuzz.inputs import add_to_corpus
from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
PROMISES = {name: (target.__doc__ or "").partition("\n")[0].replace("``", "`") for name, target in TARGETS.items()}


class Outcome(NamedTuple):
    """How often a promise was attacked, and by what failed the shortest input that did."""

    attempts: int
    failures: dict[str, bytes]


def attacked(name: str, *, engine: str, seconds: float, seed: int) -> Outcome:
    """Run a target in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.fuzz.engines", engine, name, str(seconds), str(seed), folder]
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        # Beside the seconds: the imports under instruments, the corpus, and one slow attempt.
        limit = seconds + SLOWEST_SECONDS + 120
        try:
            ended = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, timeout=limit, check=False, errors="replace"
            )
        except subprocess.TimeoutExpired:
            return Outcome(0, {f"no end after {limit:.0f} seconds": b""})
        if ended.returncode == 0 and ended.stdout.strip():
            report = json.loads(ended.stdout.splitlines()[-1])
            failures = {failure: data.encode("latin-1") for failure, data in report["failures"].items()}
            return Outcome(report["attempts"], failures)
        print(ended.stderr[-3_000:], file=sys.stderr)
        inputs = [file.read_bytes() for file in Path(folder).glob("failed-*")]
        return Outcome(0, {f"the process ended with status {ended.returncode}": inputs[0] if inputs else b""})


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("targets", metavar="TARGET", nargs="*", help=f"{', '.join(PROMISES)}; all without one")
    parser.add_argument("--seconds", type=float, default=120, help="for each target (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="default %(default)s")
    parser.add_argument("--engine", choices=ENGINES, help="default: atheris where it is installed, else hypothesis")
    options = parser.parse_args()
    unknown = set(options.targets) - PROMISES.keys()
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}; targets are {', '.join(PROMISES)}")
    engine = options.engine or ENGINES[importlib.util.find_spec("atheris") is None]

    print(f"{engine}, seed {options.seed}, {options.seconds:g} seconds for each target\n")
    print("| attack | promise | attempts | failures |\n|---|---|---|---|")
    remarks: list[str] = []
    attempts = failures = 0
    for name in options.targets or PROMISES:
        outcome = attacked(name, engine=engine, seconds=options.seconds, seed=options.seed)
        print(f"| {name} | {PROMISES[name]} | {outcome.attempts:,} | {len(outcome.failures):,} |", flush=True)
        attempts += outcome.attempts
        failures += len(outcome.failures)
        for failure, data in outcome.failures.items():
            remarks.append(f"{name}: {failure}" + f": {data!r:.400}" * bool(data))
            if data:
                add_to_corpus(name, data)
    print(f"| in all | | {attempts:,} | {failures:,} |\n")
    print(*remarks, sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
