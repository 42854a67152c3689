"""Our memories in the ``Context`` of a LlamaIndex agent, which is written and read between two runs."""

from __future__ import annotations

import copy
import gc
import json
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.workflow import Context, JsonPickleSerializer

from gatekeeper_core import ContextBuilder, ContextBuilderConfig, Thread
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.errors import ConfigError
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBlock, GatekeeperMemoryBuffer
from tests.adapters.chats import TALKS, assistant
from tests.adapters.doors import now
from tests.adapters.scripted_llama_index import CallingModel, run_agent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = [
    pytest.mark.adapters,
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),  # LlamaIndex's own
]

CONFIG = HistoryConfig(on_error="raise", passthrough_below=0)
QUESTIONS = {script: [*(asked for asked, _ in pairs), question] for script, (pairs, question) in TALKS.items()}
each_script = pytest.mark.parametrize("script", TALKS)


def model(sent: list[str] | None = None, *, tool: str | None = None) -> CallingModel:
    """Return a model that keeps the prompts that it was sent, and answers, or calls a tool first."""

    def respond(messages: Sequence[ChatMessage], **more: Any) -> ChatMessage:
        if sent is not None:
            sent.append("\n".join(message.content or "" for message in messages))
        if tool and messages[-1].role == "user":
            call = ToolCallBlock(tool_call_id="c1", tool_name=tool, tool_kwargs={})
            return ChatMessage(role="assistant", blocks=[call])
        return assistant("Thought: I can answer.\nAnswer: 6380")

    return CallingModel(response_generator=respond)


def function_agent(llm: CallingModel, **options: Any) -> FunctionAgent:
    return FunctionAgent(name="a", description="a", llm=llm, streaming=False, **options)


def react_agent(llm: CallingModel) -> ReActAgent:
    return ReActAgent(llm=llm, streaming=False)


def workflow(llm: CallingModel, **options: Any) -> AgentWorkflow:
    return AgentWorkflow(agents=[function_agent(llm, **options)], initial_state={"dough": "面包 bread"})


def buffer(place: Path, **options: Any) -> GatekeeperMemoryBuffer:
    return GatekeeperMemoryBuffer.from_defaults(chat_store=SimpleChatStore(), chat_store_key="t1", **options)


def memory(place: Path, **options: Any) -> GatekeeperMemory:
    return GatekeeperMemory.from_defaults(session_id="t1", **options)


def memory_on_file(place: Path, **options: Any) -> GatekeeperMemory:
    return memory(place, async_database_uri=f"sqlite+aiosqlite:///{place / 'chat.db'}", **options)


each_memory = pytest.mark.parametrize("opened", [buffer, memory, memory_on_file])


@pytest.mark.parametrize(
    ("script", "agent"), [("english", function_agent), ("chinese", react_agent), ("mixed", workflow)]
)
@each_memory
def test_four_runs_fill_the_store_of_the_user(script: str, opened: Any, agent: Any, tmp_path: Path) -> None:
    mine = opened(tmp_path, embedder=MockEmbedding(embed_dim=8), token_limit=1000, config=CONFIG)
    embedder, store = mine.embedder, mine.chat_store if opened is buffer else mine.sql_store
    run_agent(agent(model()), mine, *QUESTIONS[script])
    assert [message.role.value for message in mine.get_all()] == ["user", "assistant"] * 4
    assert mine.embedder is embedder is not None
    assert (mine.chat_store if opened is buffer else mine.sql_store) is store
    assert mine.last_selection is not None
    assert mine.last_selection.turn_count >= 3


@pytest.mark.parametrize(  # a ReActAgent sends no system message of its memory
    ("script", "agent"), [("english", workflow), ("chinese", function_agent), ("mixed", workflow)]
)
@each_memory
def test_each_run_is_sent_the_constraints_of_its_time(script: str, opened: Any, agent: Any, tmp_path: Path) -> None:
    builder, sent = ContextBuilder(ContextBuilderConfig(total_budget=2000)), []
    mine, ours = opened(tmp_path, builder=builder), agent(model(sent))

    async def run() -> None:
        context = Context(ours)
        for number, question in enumerate(QUESTIONS[script]):
            builder.constraints.set(Thread("t1"), f"rule_{number}", f"规则 rule {number}")
            await ours.run(question, ctx=context, memory=mine)
            assert all(f"规则 rule {earlier}" in sent[-1] for earlier in range(number + 1))

    now(run())
    assert len(mine.get_all()) == 8


@each_memory
@pytest.mark.parametrize("serializer", [None, JsonPickleSerializer()])
@pytest.mark.parametrize("given", ["to the first run", "to the context"])
def test_a_memory_that_is_given_once_serves_every_run(given: str, serializer: Any, opened: Any, tmp_path: Path) -> None:
    agent = function_agent(model())
    context = Context(agent, serializer=serializer)
    mine = [opened(tmp_path, token_limit=1000)]

    async def run() -> None:
        if given == "to the context":
            await context.store.set("memory", mine.pop())
        for number in range(4):
            await agent.run("Redis?", ctx=context, memory=mine.pop() if mine and number == 0 else None)
            gc.collect()  # nobody but the context has it
        stored = await (await context.store.get("memory")).aget_all()
        assert [message.role.value for message in stored] == ["user", "assistant"] * 4

    now(run())


async def note(ctx: Context) -> str:
    """Note something in the state of the run."""
    async with ctx.store.edit_state() as state:
        state["noted"] = True
    return "noted"


@pytest.mark.parametrize("agent", [function_agent, workflow])
@each_memory
def test_a_tool_that_edits_the_state_leaves_the_memory_alone(opened: Any, agent: Any, tmp_path: Path) -> None:
    mine = opened(tmp_path, builder=ContextBuilder(ContextBuilderConfig(total_budget=2000)))
    run_agent(agent(model(tool="note"), tools=[note]), mine, *QUESTIONS["mixed"])
    assert [message.role.value for message in mine.get_all()] == ["user", "assistant", "tool", "assistant"] * 4
    assert mine.last_context is not None


def test_a_tool_that_edits_the_state_leaves_the_block_of_a_stock_memory_alone() -> None:
    block = GatekeeperMemoryBlock()
    stock, agent = (
        Memory.from_defaults(token_limit=1000, memory_blocks=[block]),
        function_agent(model(tool="note"), tools=[note]),
    )

    async def run() -> None:
        context = Context(agent)
        for question in QUESTIONS["english"]:
            await agent.run(question, ctx=context, memory=stock)
            assert (await context.store.get("memory")).memory_blocks[0] is block

    with pytest.warns(Warning, match="unserializable key: memory"):
        now(run())
    assert len(stock.get_all()) == 16
    assert copy.deepcopy(block) is not block


# --- contexts that are written and read by the user --------------------------------------------------------------------


def saved_and_loaded(agent: FunctionAgent, context: Context) -> Context:
    return Context.from_dict(agent, json.loads(json.dumps(context.to_dict())))


@each_script
def test_a_context_that_is_saved_holds_a_copy_of_the_messages(script: str, tmp_path: Path) -> None:
    agent = function_agent(model())
    mine = buffer(tmp_path, token_limit=1000, config=CONFIG, embedder=MockEmbedding(embed_dim=8))
    first, *others, last = QUESTIONS[script]

    async def run() -> None:
        context = Context(agent)
        await agent.run(first, ctx=context, memory=mine)
        loaded = saved_and_loaded(agent, context)
        for question in others:
            await agent.run(question, ctx=context, memory=mine)
            await agent.run(last, ctx=loaded)
        twin = await loaded.store.get("memory")
        assert [message.content for message in twin.get_all()][::2] == [first, last, last]
        assert [message.content for message in mine.get_all()][::2] == [first, *others]
        assert (twin.token_limit, twin.config.passthrough_below, twin.embedder) == (1000, 0, "auto")

    now(run())


@each_memory
def test_a_memory_that_is_taken_out_of_a_saved_context_goes_on_in_the_loaded_one(opened: Any, tmp_path: Path) -> None:
    agent, mine = function_agent(model()), opened(tmp_path, token_limit=1000)

    async def run() -> None:
        context = Context(agent)
        for question in QUESTIONS["chinese"]:
            await agent.run(question, ctx=context, memory=mine)
            await context.store.set("memory", None)
            context = saved_and_loaded(agent, context)

    now(run())
    assert [message.content for message in mine.get_all()][::2] == QUESTIONS["chinese"]


def test_a_saved_context_says_that_it_holds_no_memory_with_an_sql_store(tmp_path: Path) -> None:
    agent, mine = function_agent(model()), memory(tmp_path, token_limit=1000)

    async def run() -> None:
        context = Context(agent)
        for question in QUESTIONS["mixed"]:
            await agent.run(question, ctx=context, memory=mine)
            with pytest.warns(Warning, match="unserializable key: memory"):
                context = saved_and_loaded(agent, context)

    now(run())
    assert len(mine.get_all()) == 8


def test_a_reference_to_a_memory_of_another_process_is_refused() -> None:
    with pytest.raises(ConfigError, match="another process"):
        GatekeeperMemoryBuffer.from_dict({"between_runs": "1"})
