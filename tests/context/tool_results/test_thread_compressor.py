"""The compressor of many threads: each thread's results go into its own memory, and only with a name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.compaction.run import RunConfig
from gatekeeper_core.context.compaction.tool_loop import compact_messages
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor, ToolResultConfig
from gatekeeper_core.context.tool_results.context import ResultContext, ThreadedCompressor
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.context.tool_results.thread_compressor import ThreadResultCompressor
from gatekeeper_core.context.tool_results.thread_memories import ThreadMemories
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from tests.histories import view_with
from tests.loops import calls, result, user

LOGS = {
    "english": "".join(f"12:00:{at % 60:02} INFO worker {at} finished\n" for at in range(300)) + "ERROR disk full",
    "chinese": "".join(f"12:00:{at % 60:02} INFO 第 {at} 个任务完成\n" for at in range(300)) + "ERROR 磁盘已满",
    "mixed": "".join(f"12:00:{at % 60:02} INFO worker {at} 完成\n" for at in range(300)) + "ERROR disk 已满",
}
each_script = pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)


def memories_of() -> ThreadMemories:
    return ThreadMemories(InMemoryBlobStore(), b"a secret of the tests")


def loop(log: str) -> list[Message]:
    """Return a question and eight rounds with a log each."""
    rounds = [one for at in range(8) for one in (calls(f"c{at}"), result(f"c{at}", f"{log}\n{at}"))]
    return [user("哪个 disk?"), *rounds]


@each_script
def test_a_result_goes_into_the_memory_of_its_thread_only(log: str) -> None:
    """004-37, 004-62: the pointer of one thread opens nothing in another one that has the same result."""
    memories = memories_of()
    compressor = ThreadResultCompressor(memories)
    made = {name: compressor.for_thread(name).compress(log) for name in ("t1", "t2")}
    pointers = {name: one.pointer.id for name, one in made.items() if one.pointer}
    assert memories.of("t1").load(pointers["t1"]) == memories.of("t2").load(pointers["t2"]) == log
    assert memories.of("t2").load(pointers["t1"]) is memories.of("t1").load(pointers["t2"]) is None
    assert memories.of("t1").ids.isdisjoint(memories.of("t2").ids)


@each_script
def test_a_thread_without_a_name_puts_nothing_aside(log: str) -> None:
    blobs = InMemoryBlobStore()
    compressor = ThreadResultCompressor(ThreadMemories(blobs, b"a secret of the tests"))
    made = compressor.for_thread(None).compress(log)
    assert made == ToolResultCompressor().compress(log)
    assert made.pointer is None
    assert not blobs._blobs


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), max_size=8))
def test_what_one_thread_remembers_never_answers_for_another_one(steps: list[tuple[str, int]]) -> None:
    memories = memories_of()
    bound = {name: ThreadResultCompressor(memories).for_thread(name) for name in "ab"}
    for name, number in steps:
        text = bound[name](Message("tool", f"{LOGS['mixed']}\n{number}"), ResultContext("logs", "worker 7"))
        (found,) = pointers_in(text)
        assert memories.of(name).load(found) == f"{LOGS['mixed']}\n{number}"


def test_the_settings_are_those_of_every_thread() -> None:
    compressor = ThreadResultCompressor(
        memories_of(), ToolResultConfig(min_chars=10**6), strategies={"ps": "table"}, token_counter=len
    )
    bound = compressor.for_thread("t")
    assert bound.config.min_chars == 10**6
    made = bound.compress(LOGS["english"], tool_name="ps")
    assert (made.strategy, made.tokens_before) == ("unchanged", len(LOGS["english"]))


@pytest.mark.parametrize("thread", ["t1", "线程"])
def test_the_settings_of_a_run_are_bound_to_a_thread(thread: str) -> None:
    memories = memories_of()
    run = RunConfig(compress_result=ThreadResultCompressor(memories), keep_recent_rounds=1)
    gatekeeper = ContextGatekeeper(token_budget=2_000)
    view = view_with(loop(LOGS["mixed"]), gatekeeper=gatekeeper, token_budget=2_000, run=run.for_thread(thread))
    found = [one for _, message in view.replaced for one in pointers_in(message.text)]
    assert found
    assert memories.of(thread).ids.issuperset(found)
    assert run.for_thread(thread).keep_recent_rounds == 1
    plain = RunConfig(compress_result=lambda message, _: message.text[:9])
    assert plain.for_thread(thread) is plain
    assert RunConfig().for_thread(None) == RunConfig()


def test_without_a_thread_nothing_is_compressed_and_the_error_says_what_to_do() -> None:
    compressor = ThreadResultCompressor(memories_of())
    assert isinstance(compressor, ThreadedCompressor)
    assert not isinstance(ToolResultCompressor(), ThreadedCompressor)
    with pytest.raises(ConfigError, match=r"for_thread\(thread_id\)"):
        compact_messages(loop(LOGS["english"]), max_tokens=1_000, compress_result=compressor)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"memories": InMemoryBlobStore()}, TypeError, "memories must be ThreadMemories, got InMemoryBlobStore"),
        ({"strategies": {"ps": "no kind"}}, ConfigError, "the strategy of ps"),
        ({"token_counter": 3}, TypeError, "counter"),
    ],
)
def test_impossible_settings_are_refused_at_once(arguments: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        ThreadResultCompressor(**{"memories": memories_of(), **arguments})


@pytest.mark.parametrize(("name", "error"), [("", ConfigError), (7, TypeError)])
def test_a_thread_has_a_text_for_a_name(name: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="thread_id"):
        ThreadResultCompressor(memories_of()).for_thread(name)
