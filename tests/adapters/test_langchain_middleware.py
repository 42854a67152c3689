"""The middleware in real agents: what the model reads at each step, and that the state keeps everything."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import json
from dataclasses import replace
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from gatekeeper_core import ContextBuilder, ContextBuilderConfig
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.messages import validate_messages
from gatekeeper_core.tokens import count_messages, estimate_text_tokens
from langchain_gatekeeper import GatekeeperMiddleware
from langchain_gatekeeper.messages import read_message
from langchain_gatekeeper.requests import schema_text
from tests.adapters.histories import TOPICS
from tests.adapters.scripted import Scripted, contents, on, run_again, talk, texts_of

each_script = pytest.mark.parametrize("script", TOPICS)
WAYS = ["invoke", "ainvoke", "stream", "astream"]
each_way = pytest.mark.parametrize("way", WAYS)
CONFIG = HistoryConfig(on_error="raise", passthrough_below=0, token_budget=200)


@tool
def port(service: str) -> str:
    """Return the port of a service."""
    return f"{service} listens on 6380"


def calling(number: int = 1, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "port", "args": arguments or {"service": "redis"}, "id": f"c{number}"}])


def ask(agent: Any, way: str, messages: Any, config: Any) -> None:
    """Run the agent in one of the four ways."""

    async def run() -> None:
        if way == "ainvoke":
            await agent.ainvoke({"messages": messages}, config)
        else:
            async for _ in agent.astream({"messages": messages}, config):
                pass

    if way == "invoke":
        agent.invoke({"messages": messages}, config)
    elif way == "stream":
        list(agent.stream({"messages": messages}, config))
    else:
        asyncio.run(run())


def request_of(messages: list[Any], **more: Any) -> ModelRequest[Any]:
    """Return a request with nothing else in it than these arguments, also where LangChain 1.0 wants every field."""
    fields = {field.name for field in dataclasses.fields(ModelRequest)}
    empty: dict[str, Any] = dict.fromkeys(fields) | {"tools": [], "state": {"messages": messages}, "model_settings": {}}
    arguments = empty | {"model": Scripted(), "messages": messages} | more
    if "system_message" not in fields and (system := arguments.pop("system_message", None)):
        arguments["system_prompt"] = system.text
    return ModelRequest(**arguments)


def sent(middleware: GatekeeperMiddleware, request: ModelRequest[Any]) -> ModelRequest[Any]:
    """Return the request that the middleware hands on."""
    requests: list[ModelRequest[Any]] = []

    def handler(passed: ModelRequest[Any]) -> ModelResponse[Any]:
        requests.append(passed)
        return ModelResponse(result=[AIMessage("ok")])

    middleware.wrap_model_call(request, handler)
    return requests[0]


# --- in agents ------------------------------------------------------------------------------------------------------


@each_way
@each_script
def test_each_step_reads_the_topic_and_the_checkpoint_keeps_everything(script: str, way: str) -> None:
    pairs, question = TOPICS[script]
    model, gate = Scripted(script=[calling(1), calling(2), AIMessage("6380")]), GatekeeperMiddleware(CONFIG)
    agent = create_agent(model, [port], middleware=[gate], checkpointer=InMemorySaver(), system_prompt="be brief")
    ask(agent, way, [*talk(pairs), HumanMessage(question)], on("t1"))
    past = texts_of(pairs[:2])
    assert [len(messages) for messages in model.seen] == [6, 8, 10]
    for messages in model.seen:
        assert contents(messages)[:6] == ["be brief", *past, question]
        assert validate_messages([read_message(message) for message in messages], provider="anthropic") == ()
    state = agent.get_state(on("t1")).values["messages"]
    assert contents(state)[:11] == [*texts_of(pairs), question]
    assert len(state) == 16
    assert gate.selection_for("t1") is gate.last_selection is not None
    assert gate.last_selection.status == "selected"
    run_again(agent, on("t1"))


@pytest.mark.parametrize("builds", [False, True])
def test_a_run_that_a_human_interrupted_goes_on_with_the_same_past_in_another_process(builds: bool) -> None:
    pairs, question = TOPICS["english"]
    model, saver = Scripted(script=[calling(), AIMessage("6380")]), InMemorySaver()

    def agent_of(gate: GatekeeperMiddleware) -> Any:
        people: AgentMiddleware[Any, Any] = HumanInTheLoopMiddleware(interrupt_on={"port": True})
        return create_agent(model, [port], middleware=[people, gate], checkpointer=saver)

    def gate() -> GatekeeperMiddleware:
        if not builds:
            return GatekeeperMiddleware(CONFIG)
        settings = ContextBuilderConfig(total_budget=4000, history=HistoryConfig(keep_newest=0, passthrough_below=0))
        return GatekeeperMiddleware(builder=ContextBuilder(settings))

    first, second = gate(), gate()
    stopped = agent_of(first).invoke({"messages": [*talk(pairs), HumanMessage(question)]}, on("t1"))
    assert "__interrupt__" in stopped
    agent_of(second).invoke(Command(resume={"decisions": [{"type": "approve"}]}), on("t1"))
    read, again = map(contents, model.seen)
    assert builds or read == [*texts_of(pairs[:2]), question]
    assert again[: len(read)] == read
    assert first.last_selection.turns == second.last_selection.turns
    run_again(agent_of(first), on("t1"))


# --- the request ----------------------------------------------------------------------------------------------------


def test_the_state_s_own_objects_are_sent_and_nothing_is_changed() -> None:
    pairs, question = TOPICS["mixed"]
    messages: list[Any] = [*talk(pairs), HumanMessage(question)]
    before = copy.deepcopy(messages)
    request = request_of(messages, system_message=SystemMessage("be brief"))
    passed = sent(GatekeeperMiddleware(CONFIG), request)
    assert messages == before
    assert request.messages is messages
    assert passed is not request
    assert passed.messages is not messages
    assert all(any(one is other for other in messages) for one in passed.messages)
    assert (passed.system_prompt, passed.model) == (request.system_prompt, request.model)


def test_the_system_message_and_every_schema_count_against_the_budget() -> None:
    gate = GatekeeperMiddleware(replace(CONFIG, token_budget=5_000, reserve_tokens=7), token_counter=len)
    search = {"type": "web_search", "name": "web"}
    plain, system = [HumanMessage("hi")], SystemMessage([{"type": "text", "text": "be brief"}])

    def fixed(**more: Any) -> int:
        sent(gate, request_of([*plain], **more))
        return gate.last_selection.fixed_tokens - 7

    assert fixed() == 0
    assert fixed(system_message=system) == len("be brief")
    assert fixed(tools=[search]) == len('{"type":"web_search","name":"web"}')
    schema = schema_text(port)
    assert json.loads(schema)["function"]["description"] == "Return the port of a service."
    assert fixed(system_message=system, tools=[port, search]) == 8 + len(schema) + 34


def test_a_request_of_the_first_versions_has_its_system_prompt_counted() -> None:
    class OldRequest:
        def __init__(self, messages: list[Any]) -> None:
            self.model, self.messages, self.system_prompt = object(), messages, "be brief"
            self.tools, self.response_format, self.runtime = [], None, None

        def override(self, *, messages: list[Any]) -> OldRequest:
            return OldRequest(messages)

    gate = GatekeeperMiddleware(CONFIG, token_counter=len)
    old: Any = OldRequest([HumanMessage("hi")])
    assert sent(gate, old).messages == old.messages
    assert gate.last_selection.fixed_tokens == len("be brief")


class Answer(BaseModel):
    """An answer to the user."""

    text: str


@pytest.mark.parametrize("kind", [ToolStrategy, ProviderStrategy, AutoStrategy])
def test_every_kind_of_response_format_has_its_schema(kind: Any) -> None:
    schema = json.loads(schema_text(kind(Answer)))
    assert (schema["name"], schema["description"]) == ("Answer", "An answer to the user.")
    assert schema["schema"]["properties"]["text"]["type"] == "string"


def test_a_union_has_all_of_its_schemas_and_a_raw_schema_is_one() -> None:
    class Refusal(BaseModel):
        """No answer."""

    assert len(schema_text(ToolStrategy(Answer | Refusal)).splitlines()) == 2  # type: ignore[arg-type]
    assert "An answer to the user." in schema_text(Answer)


class Named(Scripted):
    model_name: str = "gpt-4-0613"


@pytest.mark.parametrize(
    ("model", "budget"),
    [
        (Scripted(profile={"max_input_tokens": 8_000}), 6_000),
        (Scripted(profile={}), 16_000),
        (Scripted(profile=None), 16_000),
        (object(), 16_000),
        (Named(), 6_144),
    ],
    ids=["profile", "empty profile", "no profile", "no field", "name"],
)
def test_without_a_budget_it_is_three_quarters_of_what_the_model_reads(model: Any, budget: int) -> None:
    gate = GatekeeperMiddleware()
    sent(gate, request_of([HumanMessage("hi")], model=model))
    assert gate.last_selection.budget_tokens == budget


@tool
def logs(page: int) -> str:
    """Return a page of the log."""
    return f"page {page}: " + "the disk of the backup host is full. " * 8


@pytest.mark.parametrize("way", ["invoke", "astream"])
@pytest.mark.parametrize(
    ("question", "phrase"), [("Why did the backup fail?", "tool calls executed"), ("备份为什么失败？", "次工具调用")]
)
def test_a_long_run_gives_way_before_the_past_does_and_the_state_keeps_everything(
    way: str, question: str, phrase: str
) -> None:
    """002-23: before each call of the model."""
    pairs, _ = TOPICS["english"]
    script = [
        AIMessage("", tool_calls=[{"name": "logs", "args": {"page": page}, "id": f"c{page}"}]) for page in range(14)
    ]
    model = Scripted(script=script)
    gate = GatekeeperMiddleware(replace(CONFIG, token_budget=800), token_counter=estimate_text_tokens)
    agent = create_agent(model, [logs], middleware=[gate], checkpointer=InMemorySaver())
    ask(agent, way, [*talk(pairs), HumanMessage(question)], on("t") | {"recursion_limit": 99})
    state = agent.get_state(on("t")).values["messages"]
    assert len(state) == 2 * len(pairs) + 1 + 2 * 14 + 1
    assert all("lc_source" not in message.additional_kwargs for message in state)
    fixed = gate.last_selection.fixed_tokens if gate.last_selection else 0
    for prompt in model.seen:
        read = [read_message(message) for message in prompt]
        assert count_messages(read, token_counter=estimate_text_tokens) + fixed <= 800
        assert validate_messages(read, provider="anthropic") == ()
    last = model.seen[-1]
    summaries = [one for one in last if one.additional_kwargs.get("lc_source") == "gatekeeper"]
    assert [phrase in str(one.content) for one in summaries] == [True]
    assert "\nlogs 0\n" in str(summaries[0].content)  # the line of the first call
    assert last[-6:] == state[-7:-1]
    began = [prompt[: len(before)] == before for before, prompt in zip(model.seen, model.seen[1:], strict=False)]
    assert began.count(False) <= 4
    run_again(agent, on("t"))


# --- events, errors, threads ----------------------------------------------------------------------------------------


# LangChain silences its own warning while it makes a request, for all threads or for none.
class Noting(AgentMiddleware):  # type: ignore[type-arg]
    """A middleware that appends a message to the request's own list, as LangChain's own test does."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        request.messages.append(HumanMessage("a note", id="note"))
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        request.messages.append(HumanMessage("a note", id="note"))
        return await handler(request)


@each_way
@pytest.mark.parametrize("first", [True, False], ids=["gate first", "gate last"])
@pytest.mark.parametrize("leaves_out", [True, False], ids=["less", "everything"])
def test_what_other_middleware_appends_reaches_the_model_and_the_state(way: str, first: bool, leaves_out: bool) -> None:
    pairs, question = TOPICS["english"]
    messages = [*talk(pairs), HumanMessage(question)]
    model, gate = Scripted(), GatekeeperMiddleware(CONFIG if leaves_out else HistoryConfig(token_budget=4000))
    middleware: list[Any] = [gate, Noting()] if first else [Noting(), gate]
    agent = create_agent(model, [], middleware=middleware, checkpointer=InMemorySaver())
    ask(agent, way, messages, on("t1"))
    assert contents(model.seen[0])[-1] == "a note"
    assert (len(model.seen[0]) < len(messages)) == leaves_out
    assert contents(agent.get_state(on("t1")).values["messages"]) == [*contents(messages), "a note", "ok"]
    ask(agent, way, "And now?", on("t1"))
    ask(agent, way, "还有呢？", on("t1"))
    assert len(model.seen) == 3
