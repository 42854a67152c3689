"""Our memories in the ``Context`` of a LlamaIndex agent, which is written and read between two runs."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.workflow import Context, JsonPickleSerializer

from gatekeeper_core import ContextBuilder, ContextBuilderConfig
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.errors import ConfigError
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from tests.adapters.chats import assistant
from tests.adapters.doors import now
from tests.adapters.scripted_llama_index import CallingModel, run_agent
from tests.talks import TALKS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


CONFIG = HistoryConfig(on_error="raise", passthrough_below=0)
QUESTIONS = {script: [*(text for text, _ in pairs), question] for script, (pairs, question) in TALKS.items()}
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
    assert mine.last_selection.turn_count >= 3


@each_memory
@pytest.mark.parametrize("serializer", [None, JsonPickleSerializer()])
@pytest.mark.parametrize("passed", ["to the first run", "to the context"])
def test_a_memory_that_is_given_once_serves_every_run(
    passed: str, serializer: Any, opened: Any, tmp_path: Path
) -> None:
    agent = function_agent(model())
    context = Context(agent, serializer=serializer)
    mine = [opened(tmp_path, token_limit=1000)]

    async def run() -> None:
        if passed == "to the context":
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


# --- contexts that are written and read by the user --------------------------------------------------------------------


@each_script
def test_a_context_that_is_saved_holds_a_copy_of_the_messages(script: str, tmp_path: Path) -> None:
    agent = function_agent(model())
    mine = buffer(tmp_path, token_limit=1000, config=CONFIG, embedder=MockEmbedding(embed_dim=8))
    first, *others, last = QUESTIONS[script]

    async def run() -> None:
        context = Context(agent)
        await agent.run(first, ctx=context, memory=mine)
        loaded = Context.from_dict(agent, json.loads(json.dumps(context.to_dict())))
        for question in others:
            await agent.run(question, ctx=context, memory=mine)
            await agent.run(last, ctx=loaded)
        twin = await loaded.store.get("memory")
        assert [message.content for message in twin.get_all()][::2] == [first, last, last]
        assert [message.content for message in mine.get_all()][::2] == [first, *others]
        assert (twin.token_limit, twin.config.passthrough_below, twin.embedder) == (1000, 0, "auto")

    now(run())


def test_a_reference_to_a_memory_of_another_process_is_refused() -> None:
    with pytest.raises(ConfigError, match="another process"):
        GatekeeperMemoryBuffer.from_dict({"between_runs": "1"})
