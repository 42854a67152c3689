"""Recall as a tool, in both frameworks: an agent reads what it was not shown of its own thread, and of no other."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from gatekeeper_core.context.history.recall import NOTHING_EARLIER, RECALL_TOOL_NAME, recall_hint
from gatekeeper_core.context.history.strategies import HistoryConfig
from langchain_gatekeeper import GatekeeperMiddleware, GatekeeperSelector, recall_tool
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from llama_index.memory.gatekeeper import recall_tool as llama_index_tool
from tests.adapters.chats import history_of, user
from tests.adapters.doors import now
from tests.adapters.scripted import Scripted, called, on, run_again, talk
from tests.histories import configured
from tests.talks import TALKS

three_scripts = pytest.mark.parametrize(("pairs", "question"), TALKS.values(), ids=TALKS)


def asking(query: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": RECALL_TOOL_NAME, "args": {"query": query}, "id": "r1"}])


@three_scripts
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_agent_reads_an_earlier_turn_of_its_thread(
    pairs: list[tuple[str, str]], question: str, asynchronous: bool
) -> None:
    gate = GatekeeperMiddleware(HistoryConfig(passthrough_below=0, on_error="raise"))
    model = Scripted()
    agent = create_agent(model, [recall_tool(gate)], middleware=[gate], checkpointer=InMemorySaver())

    def run(messages: list[BaseMessage], thread: str) -> list[BaseMessage]:
        return called(agent, {"messages": messages}, on(thread), asynchronous=asynchronous)["messages"]

    model.script = [asking(pairs[2][0])]
    state = run([*talk(pairs), HumanMessage(question)], "t1")
    assert not any(pairs[2][1] in str(message.content) for message in model.seen[0])
    [answer] = [message for message in state if isinstance(message, ToolMessage)]
    assert f"[turn 2]\nuser: {pairs[2][0]}\nassistant: {pairs[2][1]}" in str(answer.content)
    assert model.seen[1][: len(model.seen[0])] == model.seen[0], "the beginning of the prompt stays"
    model.script = [asking(pairs[2][0])]
    [answer] = [message for message in run([HumanMessage(question)], "t2") if isinstance(message, ToolMessage)]
    assert answer.content == NOTHING_EARLIER
    run_again(agent, on("t1"))
    run_again(agent, on("t2"))


@tool
def clock() -> str:
    """Tell the time."""
    return "12:00"


@three_scripts
def test_the_system_message_says_that_there_is_more_only_where_it_can_be_recalled(
    pairs: list[tuple[str, str]], question: str
) -> None:
    line, messages = recall_hint(question), [*talk(pairs), HumanMessage(question)]

    def head(*, recalls: bool = True, system: Any = "Be brief.", history: Any = messages, **options: Any) -> Any:
        gate = GatekeeperMiddleware(**configured(**{"passthrough_below": 0, "on_error": "raise", **options}))
        model = Scripted()
        tools = [recall_tool(gate) if recalls else clock]
        create_agent(model, tools, middleware=[gate], system_prompt=system).invoke({"messages": history})
        return model.seen[0][0]

    assert head().content == f"Be brief.\n\n{line}"
    assert head(system=None).content == line
    blocks = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    if "system_message" in signature(ModelRequest).parameters:  # LangChain 1.0 has the text alone
        assert head(system=SystemMessage(blocks)).content == [*blocks, {"type": "text", "text": line}]
    unchanged: tuple[dict[str, Any], ...] = ({"recalls": False}, {"recall_hint": False}, {"passthrough_below": 10_000})
    for options in (*unchanged, {"history": messages[-1:]}):
        assert head(**options).content == "Be brief."


@pytest.mark.parametrize("where", ["tenant_id", lambda runtime: runtime.context["tenant_id"]])
def test_the_tool_reads_the_thread_of_its_own_tenant_only(where: Any) -> None:
    pairs, question = TALKS["english"]
    gate = GatekeeperMiddleware(HistoryConfig(passthrough_below=0, token_budget=4000), tenant=where)
    read = recall_tool(gate)
    for tenant, history in (("acme", talk(pairs)), ("other", [])):
        call = AIMessage("", tool_calls=[{"name": read.name, "args": {"query": pairs[2][0]}, "id": "c1"}])
        agent = create_agent(Scripted(script=[call]), [read], middleware=[gate])
        config = {"configurable": {"thread_id": "t1", "tenant_id": tenant}}
        inputs: Any = {"messages": [*history, HumanMessage(question)]}
        messages = agent.invoke(inputs, config, context={"tenant_id": tenant})["messages"]
        assert (pairs[2][1] in messages[-2].content) == (tenant == "acme")
    assert gate.selection_for("t1", tenant="other") is gate.last_selection is not None
    assert gate.selection_for("t1") is None

    chosen = GatekeeperSelector(HistoryConfig(passthrough_below=0, token_budget=4000))
    config = {"configurable": {"thread_id": "t1", "tenant_id": "acme"}}
    chosen.invoke([*talk(pairs), HumanMessage(question)], config)
    assert pairs[2][1] in recall_tool(chosen).invoke({"query": pairs[2][0]}, config)
    assert recall_tool(chosen).invoke({"query": pairs[2][0]}, on("t1")) == NOTHING_EARLIER
    assert chosen.selection_for("t1", tenant="acme") is chosen.last_selection


@three_scripts
def test_a_tool_of_a_memory_reads_its_conversation(pairs: list[tuple[str, str]], question: str) -> None:
    config = HistoryConfig(token_budget=3000, passthrough_below=0)
    for kind in (GatekeeperMemoryBuffer, GatekeeperMemory):
        memory = kind.from_defaults(config=config)
        now(memory.aput_messages([*history_of(pairs), user(question)]))
        now(memory.aget())
        recalling = llama_index_tool(memory)
        assert f"[turn 2]\nuser: {pairs[2][0]}" in str(recalling.call(query=pairs[2][0]).content)
        assert recalling.metadata.name == RECALL_TOOL_NAME
    assert llama_index_tool(GatekeeperMemoryBuffer.from_defaults()).call(query=question).content == NOTHING_EARLIER
