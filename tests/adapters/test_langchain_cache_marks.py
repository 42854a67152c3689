"""Marks of Anthropic's prompt cache, as its real client sends them to a server that refuses what Anthropic refuses."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Any

import pytest

if os.environ.get("GATEKEEPER_FORBID_SKIPS") != "1":
    for package in ("langchain_anthropic", "langchain_openai"):
        pytest.importorskip(package, reason=f"no {package}: pip install --group test-providers")

from langchain.agents import create_agent
from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from gatekeeper_core import HistoryConfig
from langchain_gatekeeper import GatekeeperMiddleware, GatekeeperSelector, recall_tool
from tests.adapters.bills import claude
from tests.native_lists import ANTHROPIC, EPHEMERAL, Call, Round
from tests.strict_server import StrictServer

SYSTEM = "Answer in one sentence. " * 300
SMALL = HistoryConfig(strategy="cache", token_budget=20_000, on_error="raise")
THREAD: Any = {"configurable": {"thread_id": "1"}}
FACTS: tuple[tuple[str, str], ...] = (
    ("organ", "Marta plays it on Sundays."),
    ("sourdough", "Bake it at 240 degrees."),
    ("Redis", "It listens on port 6380."),
)


def past(*, is_long: bool = False) -> list[BaseMessage]:
    """Return a talk of three topics, the same for every call, or one of which it is cheaper to send a part."""
    others = [(f"garden {number}", "It wants rain.") for number in range(14)] if is_long else []
    return [
        message
        for topic, fact in (*FACTS[:2], *others, *FACTS[2:])
        for message in (
            HumanMessage(f"New topic: tell me about the {topic}."),
            AIMessage(f"About the {topic}: {fact} " + f"More of the {topic}. " * 100),
        )
    ]


def places_of(request: dict[str, Any]) -> list[str]:
    """Return where the marks of a request are: tools and system by name, messages by position."""
    system = request.get("system") or ()
    messages = [(str(at), item["content"]) for at, item in enumerate(request["messages"])]
    around = [("tools", request.get("tools", ())), ("system", system), *messages]
    places = [
        name
        for name, blocks in around
        for block in (() if isinstance(blocks, str) else blocks)
        if block.get("cache_control")
    ]
    return places + ["end"] * bool(request.get("cache_control"))


def ask(
    server: StrictServer, questions: Sequence[str], gate: Any, *, before: Any = (), is_long: bool = False, **more: Any
) -> list[dict[str, Any]]:
    """Return the requests of an agent that is asked one question after another, behind the past."""
    talk = past(is_long=is_long)
    more = {"model": claude(server.url), "system_prompt": SYSTEM, "tools": [], **more}
    agent = create_agent(middleware=[*before, gate], checkpointer=InMemorySaver(), **more)
    requests = []
    for number, question in enumerate(questions):
        agent.invoke({"messages": [*(() if number else talk), HumanMessage(question)]}, THREAD)
        requests.append(server.last_request)
    assert server.refused == []
    kept = agent.get_state(THREAD).values["messages"]
    assert [message.content for message in kept[: len(talk)]] == [message.content for message in talk]
    return requests


def test_fixed_part_and_end_are_marked_where_the_next_call_reads_on(server: StrictServer) -> None:
    first, second = ask(server, ["Which port has Redis?", "And is it fast?"], GatekeeperMiddleware(strategy="cache"))
    assert places_of(first) == places_of(second) == ["system", "end"]
    assert first["system"] == marked(SYSTEM)


def test_with_recalled_turns_in_the_question_the_body_is_marked_and_the_end_is_not(server: StrictServer) -> None:
    gate = GatekeeperMiddleware(SMALL)
    *_, last = ask(server, ["Which port has Redis?", "Who plays the organ, and has Redis a port?"], gate, is_long=True)
    assert gate.last_selection.bill.recalled == (0,)
    assert places_of(last) == ["system", str(len(last["messages"]) - 2)]
    assert "Marta" in last["messages"][-1]["content"]


@tool
def look_up(n: int) -> str:
    """Look up."""
    return f"result {n} " * 20


@pytest.mark.parametrize("strategy", ["cache", "gate"])
def test_within_a_run_each_step_marks_its_end(server: StrictServer, strategy: Any) -> None:
    rounds = [Round("", "", (Call(f"call_{n}", "look_up", {"n": n}, ""),)) for n in (1, 2)]
    server.begin(ANTHROPIC, [], [*rounds, Round("", "Done.")])
    gate = GatekeeperMiddleware(HistoryConfig(passthrough_below=0, strategy=strategy, token_budget=20_000))
    (last,) = ask(server, ["Which port has Redis?"], gate, tools=[look_up], is_long=True)
    assert places_of(last) == ["system", "end"]
    assert len(last["messages"]) == 7


def test_without_a_system_message_the_last_tool_is_marked_and_stays_as_it_was(server: StrictServer) -> None:
    server_tool = {"type": "web_search_20250305", "name": "web_search"}
    for tools in ([look_up], [server_tool]):
        (first,) = ask(server, ["Which port?"], GatekeeperMiddleware(strategy="cache"), tools=tools, system_prompt=None)
        assert places_of(first) == ["tools", "end"]
    assert look_up.extras is None
    assert "cache_control" not in server_tool


def test_the_line_about_what_is_left_out_stands_behind_the_mark(server: StrictServer) -> None:
    gate = GatekeeperMiddleware(SMALL)
    (first,) = ask(server, ["Which port has Redis?"], gate, tools=[recall_tool(gate)], is_long=True)
    assert [block.get("cache_control") for block in first["system"]] == [EPHEMERAL, None]
    assert first["system"][0]["text"] == SYSTEM


def test_it_is_off_by_a_setting_in_shadow_mode_and_for_other_models(server: StrictServer) -> None:
    off, shadow = GatekeeperMiddleware(cache_marks=False), GatekeeperMiddleware(HistoryConfig(shadow=True))
    for gate in (off, shadow):
        assert [places_of(request) for request in ask(server, ["Which port?"], gate)] == [[]]
    model = ChatOpenAI(model="gpt-4o", base_url=f"{server.url}/v1", api_key="secret", max_retries=0)  # type: ignore[arg-type]
    (request,) = ask(server, ["Which port?"], GatekeeperMiddleware(strategy="cache"), model=model)
    assert "cache_control" not in str(request)


def test_beside_anthropics_middleware_only_the_body_before_recalled_turns_is_marked(server: StrictServer) -> None:
    questions = ["Which port has Redis?", "Who plays the organ, and has Redis a port?"]
    theirs = AnthropicPromptCachingMiddleware()
    off, on = (
        ask(
            server,
            questions,
            GatekeeperMiddleware(SMALL, cache_marks=marks),
            before=[theirs],
            tools=[look_up],
            is_long=True,
        )
        for marks in (False, True)
    )
    assert [places_of(request) for request in off] == [["tools", "system", "end"]] * 2
    body = str(len(on[1]["messages"]) - 2)
    assert [places_of(request) for request in on] == [["tools", "system", "end"], ["tools", "system", body, "end"]]


def marked(text: str) -> list[Any]:
    return [{"type": "text", "text": text, "cache_control": EPHEMERAL}]


def test_the_users_own_marks_stay_and_count(server: StrictServer) -> None:
    own = {at: marked(f"Part {at}.") for at in range(3)}
    messages = [HumanMessage(own[0]), AIMessage("a"), HumanMessage(own[1]), AIMessage("b"), HumanMessage(own[2])]
    before = copy.deepcopy(messages)
    agent = create_agent(
        claude(server.url), [], middleware=[GatekeeperMiddleware(strategy="cache")], system_prompt=SYSTEM
    )
    last: list[Any] = [AIMessage("c"), HumanMessage(marked("Part 3."))]
    for more, places in (([], ["0", "2", "4", "end"]), (last, ["0", "2", "4", "6"]), (last, ["0", "2", "4", "6"])):
        agent.invoke({"messages": [*messages, *more]}, THREAD)
        assert places_of(server.last_request) == places, "the fourth is the last"
    assert server.refused == []
    assert [message.content for message in messages] == [message.content for message in before]


def test_a_chain_has_the_marks_in_its_messages(server: StrictServer) -> None:
    model = claude(server.url)
    gate = GatekeeperSelector(SMALL, model=model)
    messages: list[BaseMessage] = [SystemMessage(SYSTEM), *past(is_long=True)]
    places = []
    for question in ("Which port has Redis?", "Who plays the organ, and has Redis a port?"):
        messages.append(HumanMessage(question))
        messages.append((gate | model).invoke(messages, THREAD))
        places.append(places_of(server.last_request))
    last = len(server.last_request["messages"]) - 1
    assert places == [["system", "2"], ["system", str(last - 1)]]
    assert server.refused == []
    assert messages[0].content == SYSTEM
    prompt = ChatPromptTemplate([MessagesPlaceholder("history"), ("human", "{input}")])
    (gate | prompt | model).invoke({"history": past(is_long=True), "input": "Which port has Redis?"}, THREAD)
    assert places_of(server.last_request) == [str(len(server.last_request["messages"]) - 2)]
    plain = GatekeeperSelector(SMALL, model=model, cache_marks=False) | model
    plain.invoke([*past(), HumanMessage("Which port?")], THREAD)
    assert places_of(server.last_request) == []
