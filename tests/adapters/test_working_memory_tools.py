"""The working memory as a tool, in both frameworks: an agent reads a part of what was put aside, and no one else's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.context.tool_results.working_memory import (
    READ_TOOL_NAME,
    UNKNOWN_POINTER,
    ThreadMemories,
    WorkingMemory,
)
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from langchain_gatekeeper import GatekeeperMiddleware
from langchain_gatekeeper import working_memory_tool as langchain_tool
from llama_index.memory.gatekeeper import working_memory_tool as llama_index_tool
from tests.adapters.scripted import Scripted, called, run_again

if TYPE_CHECKING:
    from collections.abc import Callable


LOG = "".join(f"12:00:{at % 60:02} INFO worker {at} finished\n" for at in range(900)) + "12:30:00 ERROR disk full SN-1"


each_way = pytest.mark.parametrize(
    "call",
    [
        lambda memory, **arguments: langchain_tool(memory).invoke(arguments),
        lambda memory, **arguments: asyncio.run(langchain_tool(memory).ainvoke(arguments)),
        lambda memory, **arguments: llama_index_tool(memory).call(**arguments).content,
        lambda memory, **arguments: asyncio.run(llama_index_tool(memory).acall(**arguments)).content,
    ],
    ids=["langchain", "langchain async", "llama_index", "llama_index async"],
)


def memory_with_log() -> tuple[WorkingMemory, str]:
    memory = WorkingMemory(InMemoryBlobStore(), b"key of this thread")
    result = ToolResultCompressor(working_memory=memory).compress(LOG)
    return memory, result.pointer.text


@each_way
def test_an_agent_reads_lines_and_what_it_looks_for(call: Callable[..., str]) -> None:
    memory, pointer = memory_with_log()
    assert "INFO worker 499 finished" in call(memory, pointer=pointer, first_line=500, last_line=501)
    assert "INFO worker 777 finished" in call(memory, pointer=pointer, query="what did worker 777 do?")
    assert call(memory, pointer=pointer).startswith("[working memory: lines 1-")


@each_way
def test_a_wrong_pointer_says_nothing(call: Callable[..., str]) -> None:
    memory, _ = memory_with_log()
    other, foreign = WorkingMemory(InMemoryBlobStore(), b"key of another one"), memory_with_log()[1]
    assert call(memory, pointer="[[wm:aaaaaaaaaaaaaaaa]]") == call(other, pointer=foreign) == UNKNOWN_POINTER


@tool
def logs(page: int) -> str:
    """Return a page of the log."""
    return f"{LOG[:9_000]}\n12:31:00 INFO worker {9_000 + page} finished\n{LOG[9_000:18_000]}"


class Reader(Scripted):
    """A model that, after its script, reads what the first pointer in its prompt names, once."""

    def _generate(self, messages: list[BaseMessage], *more: Any, **options: Any) -> ChatResult:
        found = pointers_in("\n".join(str(message.content) for message in messages))
        if not self.script and found and not any(message.name == READ_TOOL_NAME for message in messages):
            self.script.append(reading(f"[[wm:{found[0]}]]"))
        return super()._generate(messages, *more, **options)


@pytest.mark.parametrize(("low_water", "folded"), [(0.6, False), (0.1, True)])
def test_an_agent_reads_again_what_a_long_run_compressed_and_folded(low_water: float, folded: bool) -> None:
    """002-23, 004-20: the state keeps every result whole, the request carries a pointer, the fact comes back."""
    memory, model = WorkingMemory(InMemoryBlobStore(), b"key of this thread"), Reader(script=working())
    agent = agent_over(model, memory, InMemorySaver(), low_water=low_water)
    state = asked(agent, "备份 worker 做完了吗?", "t")
    result = logs.invoke({"page": 0})
    assert next(message.content for message in state if isinstance(message, ToolMessage)) == result
    *before, after = ["\n".join(str(message.content) for message in prompt) for prompt in model.seen]
    assert not any("worker 9000 finished" in prompt for prompt in before[2:])
    assert "worker 9000 finished" in after
    assert ("次工具调用" in after) is folded
    model.script = [AIMessage("ok"), AIMessage("ok")]
    run_again(agent, on("t"))


# --- one middleware, one tool, many threads

SECRET = b"a secret of the tests"
MADE_UP = "[[wm:aaaaaaaaaaaaaaaa]]"


def on(thread: Any) -> Any:
    return {"configurable": {"thread_id": thread}, "recursion_limit": 99}


def asked(agent: Any, question: str, thread: Any, *, asynchronous: bool = False) -> list[BaseMessage]:
    """Return the state of a thread after a question."""
    return called(agent, {"messages": [HumanMessage(question)]}, on(thread), asynchronous=asynchronous)["messages"]


def reading(*pointers: str) -> AIMessage:
    """Return a message of a model that reads what pointers name."""
    calls: list[Any] = [
        {"name": READ_TOOL_NAME, "args": {"pointer": pointer, "query": "worker 9000"}, "id": f"r{at}"}
        for at, pointer in enumerate(pointers)
    ]
    return AIMessage("", tool_calls=calls)


def working() -> list[AIMessage]:
    """Return what a model says that looks through eight pages of the log."""
    return [AIMessage("", tool_calls=[{"name": "logs", "args": {"page": page}, "id": f"c{page}"}]) for page in range(8)]


def read_in(state: list[BaseMessage]) -> list[str]:
    """Return what the tool answered in the newest turn."""
    newest = max(at for at, message in enumerate(state) if isinstance(message, HumanMessage))
    return [str(one.content) for one in state[newest:] if isinstance(one, ToolMessage) and one.name == READ_TOOL_NAME]


def agent_over(
    model: Scripted, memory: WorkingMemory | ThreadMemories, saver: InMemorySaver, *, low_water: float = 0.1
) -> Any:
    """Return an agent as a process makes it that has nothing but the memory, the model and the checkpoints."""
    config = RunConfig(compress_result=ToolResultCompressor(working_memory=memory), low_water=low_water)
    gate = GatekeeperMiddleware(HistoryConfig(token_budget=5_500, on_error="raise", run=config))
    return create_agent(model, [logs, langchain_tool(memory)], middleware=[gate], checkpointer=saver)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    ("threads", "question"), [(("t1", "t2"), "备份 worker 做完了吗?"), ((7, "线程"), "Is worker 9000 done?")]
)
def test_one_agent_keeps_the_results_of_each_thread_in_a_memory_of_its_own(
    asynchronous: bool, threads: tuple[Any, Any], question: str
) -> None:
    """004-37, 004-62: with the same results in two threads, a pointer of one is as good as a made-up one in the other."""
    blobs, saver, model = InMemoryBlobStore(), InMemorySaver(), Reader()
    agent, fresh = (agent_over(model, ThreadMemories(blobs, SECRET, max_ready=1), saver) for _ in range(2))
    found: dict[Any, set[str]] = {}
    for thread in threads:
        model.script, model.seen = working(), []
        state = asked(agent, question, thread, asynchronous=asynchronous)
        assert ["worker 9000 finished" in text for text in read_in(state)] == [True]
        found[thread] = {name for prompt in model.seen for one in prompt for name in pointers_in(str(one.content))}
        assert found[thread] == set(ThreadMemories(blobs, SECRET).of(str(thread)).ids)
    one, other = threads
    assert not found[one] & found[other]
    foreign, own = (f"[[wm:{sorted(found[thread])[0]}]]" for thread in threads)
    for again in (agent, fresh):
        model.script = [reading(foreign, MADE_UP, own)]
        *wrong, right = read_in(asked(again, question, other, asynchronous=asynchronous))
        assert wrong == [UNKNOWN_POINTER] * 2
        assert right.startswith("[working memory: ")
