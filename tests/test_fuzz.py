"""The corpora of the campaign (``make fuzz``): every input that once broke a promise, and what the engines begin with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.__main__ import PROMISES
from tests.fuzz.engines import Attempts
from tests.fuzz.inputs import CORPORA, read_corpus
from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parents[1]
each_target = pytest.mark.parametrize(
    "target", [pytest.param(name, marks=pytest.mark.chat) if name == "stream" else name for name in TARGETS]
)


@each_target
def test_no_input_of_a_corpus_breaks_a_promise(target: str) -> None:
    for data in [b"", *read_corpus(target)]:
        TARGETS[target](data)


def test_every_target_has_a_corpus_and_every_corpus_a_target() -> None:
    assert {file.stem for file in CORPORA.iterdir()} == TARGETS.keys()


def test_of_each_failure_the_shortest_input_is_kept() -> None:
    def target(data: bytes) -> None:
        if b"x" in data:
            raise KeyError(data)
        assert b"y" not in data

    attempts = Attempts(target)
    for data in (b"ab", b"xxx", b"x", b"xx", b"y"):
        attempts(data)
    assert attempts.count == 5
    assert sorted(attempts.failures.values()) == [b"x", b"y"]


def test_the_command_prints_attempts_and_failures_of_a_target() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--engine", "hypothesis", "--seconds", "2", "fences"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    table = ended.stdout.split("\n")
    assert table[0] == "hypothesis, seed 0, 2 seconds for each target, at most 6 for each suite"
    name, promise, attempts, failures = table[4].strip("| ").split(" | ")
    assert (name, promise, failures) == ("fences", PROMISES["fences"], "0")
    assert int(attempts.replace(",", "")) > len(read_corpus("fences"))
    assert table[5] == f"| in all | | {attempts} | 0 |"


SUITE = """
import time

import pytest
from hypothesis import given, settings, strategies as st

from tests.fault_record import fault_round

@settings(max_examples=7)
@given(st.integers(0, 10**9))
def test_examples(number): pass

def test_rounds():
    for _ in range(3):
        with fault_round("SQLite", "kill"): pass

def test_plain(): pass

def test_fails(): assert not "broken"

@pytest.mark.skip
def test_skips(): pass
"""


def test_a_suite_counts_examples_rounds_and_tests_and_names_what_fails(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(SUITE, encoding="utf-8")
    program = f"""
from pathlib import Path
from tests.fuzz import suites
suites.SUITES["some"] = suites.Suite("", ({str(tmp_path / "test_some.py")!r},))
raise SystemExit(suites.main("some", 60, 3, Path({str(tmp_path)!r})))
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    assert found["attempts"] == 7 + 3 + 1 + 1
    assert [name.rpartition("::")[2] for name in found["failures"]] == ["test_fails"]
    assert found["note"] == "1 tests skipped themselves"
