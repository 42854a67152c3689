"""The clients of four providers on a server that refuses what the provider would refuse: nothing that we send is.

A conversation runs as it does in an application: the client talks to the server, its own messages make the history, and
each model call goes through the gatekeeper with a small budget; half of LangChain's in an agent, half in a chain.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Any, NamedTuple, get_args

import pytest

if os.environ.get("GATEKEEPER_FORBID_SKIPS") != "1":
    for package in ("langchain_anthropic", "langchain_google_genai", "langchain_openai", "llama_index.llms.openai"):
        pytest.importorskip(package, reason=f"no {package}: pip install --group test-providers")

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import StructuredTool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI, OpenAIResponses

from gatekeeper_core import (
    ContextBuilder,
    ContextBuilderConfig,
    HistoryConfig,
    HistoryView,
    RunConfig,
    ToolResultCompressor,
)
from gatekeeper_core.context.history.strategies import Strategy
from langchain_gatekeeper import GatekeeperMiddleware, GatekeeperSelector
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from tests.adapters.bills import claude, gpt
from tests.native_lists import (
    ANTHROPIC,
    CHAT,
    EPHEMERAL,
    GEMINI,
    RESPONSES,
    Call,
    Native,
    NativeTurn,
    Round,
    cached_blocks,
    script_of,
    talk,
    without_thoughts,
)
from tests.strict_server import HISTORIES, StrictServer

pytestmark = pytest.mark.adapters

TOOLS = ("tool_1", "tool_2", "tool_3")
BUILT = HistoryConfig(passthrough_below=0)
BUDGETS = (60, 150, 400, 1_500)


class Client(NamedTuple):
    """A client of a provider.

    Attributes:
        name: of its class.
        native: the format that it sends.
        make: returns it for the address of the server.
        reasoning: whether it sends reasoning back.
    """

    name: str
    native: Native
    make: Callable[[str], Any]
    reasoning: bool


def open_ai_responses(url: str) -> ChatOpenAI:
    stored: dict[str, Any] = {"store": False, "include": ["reasoning.encrypted_content"]}
    return ChatOpenAI(
        model="o3", base_url=f"{url}/v1", api_key="secret", max_retries=0, use_responses_api=True, **stored
    )


def thinking_claude(url: str) -> ChatAnthropic:
    return claude(url, thinking={"type": "enabled", "budget_tokens": 1_024})


def gemini(url: str) -> ChatGoogleGenerativeAI:
    return ChatGoogleGenerativeAI(model="gemini-3-pro", base_url=url, google_api_key="secret", max_retries=1)


def llama_index_model(kind: type[Any], url: str) -> Any:
    return kind(model="gpt-4o", api_base=f"{url}/v1", api_key="secret", max_retries=0)


LANGCHAIN = (
    Client("ChatOpenAI", CHAT, gpt, reasoning=False),
    Client("ChatOpenAI-responses", RESPONSES, open_ai_responses, reasoning=True),
    Client("ChatAnthropic", ANTHROPIC, thinking_claude, reasoning=True),
    Client("ChatGoogleGenerativeAI", GEMINI, gemini, reasoning=True),
)
LLAMA_INDEX = (
    Client("OpenAI", CHAT, partial(llama_index_model, OpenAI), reasoning=False),
    Client("OpenAIResponses", RESPONSES, partial(llama_index_model, OpenAIResponses), reasoning=False),
)
each_langchain_client = pytest.mark.parametrize("client", LANGCHAIN, ids=lambda client: client.name)
each_llama_index_client = pytest.mark.parametrize("client", LLAMA_INDEX, ids=lambda client: client.name)


def begun(server: StrictServer, client: Client, seed: int) -> list[NativeTurn]:
    """Return a random conversation that the server is ready for."""
    turns = talk(seed) if client.reasoning else without_thoughts(talk(seed))
    server.begin(client.native, turns, script_of(turns))
    return turns


def config_of(seed: int, **options: Any) -> HistoryConfig:
    chance = random.Random(seed)
    strategy = chance.choice(get_args(Strategy))
    keep_newest = chance.choice((None, 0, 3))
    budget = chance.choice(BUDGETS)
    return HistoryConfig(
        strategy=strategy,
        keep_newest=keep_newest,
        token_budget=budget,
        passthrough_below=0,
        on_error="raise",
        **options,
    )


def may_fail(turn: NativeTurn) -> AbstractContextManager[None]:
    """Return a context in which the server fails where a question is given up."""
    return suppress(Exception) if turn.answer is None else nullcontext()


def asked_message(turn: NativeTurn) -> HumanMessage:
    mark = {"cache_control": EPHEMERAL} if turn.cached else {}
    return HumanMessage([{"type": "text", "text": turn.question, **mark}] if mark else turn.question)


ROUND = Round("Two tables have it.", "", (Call("call_1", "tool_1", {"n": 1, "路径": ""}, "6380"),))
TURN = NativeTurn("Which port?", (ROUND,), Round("", "6380."))


class Tools:
    """The tools of a conversation, whose results are known before; the last of a round may be cached."""

    def __init__(self) -> None:
        self._results: dict[int, Any] = {}
        self.langchain = [
            StructuredTool.from_function(self.run, name=name, description="Look up.", args_schema=SCHEMA)
            for name in TOOLS
        ]
        self.llama_index = [FunctionTool.from_defaults(self.look_up, name=name) for name in TOOLS]

    def begin(self, turns: list[NativeTurn]) -> None:
        """Begin a conversation."""
        self._results = {}
        for one in (one for turn in turns for one in turn.rounds):
            self._results |= {call.arguments["n"]: call.result for call in one.calls}
            if one.cached:
                self._results[one.calls[-1].arguments["n"]] = cached_blocks(one.calls[-1].result)

    def run(self, **arguments: Any) -> Any:
        return self._results[arguments["n"]]

    def look_up(self, n: int) -> str:
        """Look up."""
        result = self._results[n]
        return result if isinstance(result, str) else "\n".join(block["text"] for block in result)


SCHEMA = {
    "type": "object",
    "title": "look_up",
    "properties": {"n": {"type": "integer"}, "路径": {"type": "string"}},
    "required": ["n", "路径"],
}


@each_langchain_client
def test_an_agent_behind_the_middleware_is_never_refused(client: Client, server: StrictServer) -> None:
    model, tools = client.make(server.url), Tools()
    seen = Counter[str]()
    for seed in range(0, HISTORIES, 3):
        run = RunConfig(keep_recent_rounds=1, compress_result=ToolResultCompressor())
        gate = GatekeeperMiddleware(config_of(seed, run=run))
        agent = create_agent(
            model, tools.langchain, middleware=[gate], system_prompt="Be brief.", checkpointer=InMemorySaver()
        )
        for _ in talks_of_agent(agent, tools, begun(server, client, seed)):
            seen += effects(gate.last_selection)
        check(server, seed)
    assert min(seen["left out"], seen["folded"], seen["replaced"]) > 0


@each_langchain_client
def test_an_agent_behind_a_builder_is_never_refused(client: Client, server: StrictServer) -> None:
    model, tools = client.make(server.url), Tools()
    seen = Counter[str]()
    for seed in range(0, HISTORIES, 6):
        config = ContextBuilderConfig(total_budget=random.Random(seed).choice((300, 700, 2_000)), history=BUILT)
        gate = GatekeeperMiddleware(builder=ContextBuilder(config))
        agent = create_agent(
            model, tools.langchain, middleware=[gate], system_prompt="Be brief.", checkpointer=InMemorySaver()
        )
        for _ in talks_of_agent(agent, tools, begun(server, client, seed)):
            seen += effects(gate.last_selection) if gate.last_context else {}
        check(server, seed)
    assert seen["left out"] > 0


def talks_of_agent(agent: Any, tools: Tools, turns: list[NativeTurn]) -> Iterator[None]:
    """Yield after each turn of a conversation; the state keeps all of it."""
    tools.begin(turns)
    thread: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 50}
    for turn in turns:
        with may_fail(turn):
            agent.invoke({"messages": [asked_message(turn)]}, thread)
        yield
    kept = agent.get_state(thread).values["messages"]
    assert [message.text for message in kept if message.type == "human"] == [turn.question for turn in turns]


@each_langchain_client
def test_a_chain_behind_the_selector_is_never_refused(client: Client, server: StrictServer) -> None:
    tools = Tools()
    model = client.make(server.url).bind_tools(tools.langchain)
    seen = Counter[str]()
    for seed in range(1, HISTORIES, 3):
        turns = begun(server, client, seed)
        tools.begin(turns)
        gate = GatekeeperSelector(config_of(seed))
        chain, chance = gate | model, random.Random(seed)
        messages: list[BaseMessage] = [SystemMessage("Be brief.")]
        for turn in turns:
            messages.append(asked_message(turn))
            with may_fail(turn):
                talk_on(messages, chain, turn, tools, chance)
            seen += effects(gate.last_selection)
        check(server, seed)
    assert seen["left out"] > 0


def effects(view: HistoryView | None) -> Counter[str]:
    """Return what a selection did to a conversation."""
    left_out = view.turn_count - len(view.turns)
    return Counter({"left out": left_out, "folded": len(view.folded), "replaced": len(view.replaced)})


def check(server: StrictServer, seed: int) -> None:
    assert server.refused == [], f"seed {seed}"
    assert server.unsaid == 0, f"seed {seed}: the conversation ended before its script"


def talk_on(
    messages: list[BaseMessage], chain: Runnable[Any, AIMessage], turn: NativeTurn, tools: Tools, chance: random.Random
) -> None:
    """Run the tools that the model calls until it answers; their results come in any order."""
    for one in (*turn.rounds, turn.answer):
        reply = chain.invoke(messages)
        calls = chance.sample(reply.tool_calls, len(reply.tool_calls))
        results = [ToolMessage(tools.run(**call["args"]), tool_call_id=call["id"], name=call["name"]) for call in calls]
        messages += [reply, *results]
        if one and one.added:
            messages.append(HumanMessage(one.added))


@each_llama_index_client
def test_a_memory_of_llama_index_is_never_refused(client: Client, server: StrictServer) -> None:
    llm, tools = client.make(server.url), Tools()
    seen = Counter[str]()
    for seed in range(0, HISTORIES, 2):
        turns = begun(server, client, seed)
        tools.begin(turns)
        config = config_of(seed)
        kind = GatekeeperMemory if seed % 4 == 2 else GatekeeperMemoryBuffer
        memory: Any = kind.from_defaults(token_limit=config.token_budget, config=config)
        for turn in turns:
            with may_fail(turn):
                asyncio.run(answer(llm, memory, turn, tools))
            seen += effects(memory.last_selection)
        check(server, seed)
    assert seen["left out"] > 0


async def answer(llm: Any, memory: Any, turn: NativeTurn, tools: Tools) -> None:
    await memory.aput(ChatMessage(turn.question, role="user"))
    for _ in (*turn.rounds, turn.answer):
        history = await memory.aget()
        response = llm.chat_with_tools(tools.llama_index, chat_history=history, allow_parallel_tool_calls=True)
        await memory.aput(response.message)
        for call in llm.get_tool_calls_from_response(response, error_on_no_tool_call=False):
            result = tools.look_up(call.tool_kwargs["n"])
            answers = {"tool_call_id": call.tool_id, "name": call.tool_name}
            await memory.aput(ChatMessage(result, role="tool", additional_kwargs=answers))


@each_langchain_client
def test_without_the_result_or_the_reasoning_a_client_of_langchain_is_refused(
    client: Client, server: StrictServer
) -> None:
    turns = [TURN] if client.reasoning else without_thoughts([TURN])
    server.begin(client.native, turns, script_of(turns))
    model = client.make(server.url)
    question, more = HumanMessage(TURN.question), HumanMessage("And now?")
    called = model.invoke([question])
    (call,) = called.tool_calls
    result = ToolMessage("6380", tool_call_id=call["id"], name=call["name"])
    with pytest.raises(Exception, match="400"):
        model.invoke([question, called, more])
    assert len(server.refused) == 1
    if client.reasoning:
        with pytest.raises(Exception, match="issued was"):
            model.invoke([question, AIMessage("", tool_calls=called.tool_calls), result, more])
    assert model.invoke([question, called, result]).text == "6380."


@each_llama_index_client
def test_without_the_result_a_client_of_llama_index_is_refused(client: Client, server: StrictServer) -> None:
    turns, tools = without_thoughts([TURN]), Tools()
    tools.begin(turns)
    server.begin(client.native, turns, script_of(turns))
    memory = GatekeeperMemoryBuffer.from_defaults(token_limit=1_000)
    llm = client.make(server.url)
    asyncio.run(answer(llm, memory, TURN, tools))
    question, called, result, reply = memory.get()
    assert (result.content, reply.content) == ("6380", "6380.")
    with pytest.raises(Exception, match="400"):
        llm.chat([question, called, reply])
    assert server.refused
