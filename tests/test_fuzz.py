"""The corpora of the campaign (``make fuzz``): every input that once broke a promise, and what the engines begin with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import rows
from tests.fuzz.__main__ import PROMISES
from tests.fuzz.inputs import CORPORA, read_corpus
from tests.fuzz.targets import TARGETS

[[SENTENCES]], [[MARKS]] = rows("text", "pieces"), rows("fences", "closing_pieces")
PIECES = st.sampled_from(
    [*SENTENCES, *MARKS, "<think>", "</think>", "<th", "[[wm:abcdefghijklmnop]]", "data: ", "\n\n"]
)
texts = st.text(st.characters(codec=None)) | st.lists(PIECES, max_size=12).map("".join)

ROOT = Path(__file__).resolve().parents[1]
each_target = pytest.mark.parametrize(
    "target", [pytest.param(name, marks=pytest.mark.chat) if name == "stream" else name for name in TARGETS]
)


@each_target
def test_no_input_of_a_corpus_breaks_a_promise(target: str) -> None:
    for data in [b"", *read_corpus(target)]:
        TARGETS[target](data)


@each_target
@given(st.binary(max_size=300) | texts.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_nothing_breaks_a_promise(target: str, data: bytes) -> None:
    TARGETS[target](data)


def test_every_target_has_a_corpus_and_every_corpus_a_target() -> None:
    assert {file.stem for file in CORPORA.iterdir()} == TARGETS.keys()


def test_the_command_prints_attempts_and_failures_of_a_target() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--engine", "hypothesis", "--seconds", "2", "fences"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    table = ended.stdout.split("\n")
    assert table[0] == "hypothesis, seed 0, 2 seconds for each target"
    name, promise, attempts, failures = table[4].strip("| ").split(" | ")
    assert (name, promise, failures) == ("fences", PROMISES["fences"], "0")
    assert int(attempts.replace(",", "")) > len(read_corpus("fences"))
    assert table[5] == f"| in all | | {attempts} | 0 |"
