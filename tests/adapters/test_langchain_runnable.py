"""The selector in chains, in front of stores and in graphs: lists in, lists out, dicts in, dicts out."""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from operator import itemgetter
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableParallel, RunnablePassthrough

from gatekeeper_core.context.history.strategies import HistoryConfig
from langchain_gatekeeper import GatekeeperSelector, recall_tool, select_messages
from tests.adapters.histories import TOPICS
from tests.adapters.scripted import Heard, called, contents, talk, texts_of

each_script = pytest.mark.parametrize("script", TOPICS)
both_ways = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
CONFIG = HistoryConfig(on_error="raise", passthrough_below=0, token_budget=200)


# --- forms ----------------------------------------------------------------------------------------------------------


@each_script
@both_ways
def test_a_list_comes_back_as_a_list_of_the_same_objects(script: str, asynchronous: bool) -> None:
    pairs, question = TOPICS[script]
    messages = [SystemMessage("be brief"), *talk(pairs), HumanMessage(question)]
    before = copy.deepcopy(messages)
    gate = GatekeeperSelector(CONFIG)
    kept = called(gate, messages, asynchronous=asynchronous)
    assert contents(kept) == ["be brief", *texts_of(pairs[:2]), question]
    assert all(any(one is other for other in messages) for one in kept)
    assert kept is not messages
    assert messages == before
    assert gate.last_selection.kept == (0, 1, 2, 3, 4, 11)


@each_script
@both_ways
def test_a_dict_comes_back_as_a_new_dict_with_its_history_selected(script: str, asynchronous: bool) -> None:
    pairs, question = TOPICS[script]
    inputs = {"input": question, "history": talk(pairs), "persona": "a pirate"}
    before = copy.deepcopy(inputs)
    passed = called(GatekeeperSelector(CONFIG), inputs, asynchronous=asynchronous)
    assert contents(passed["history"]) == texts_of(pairs[:2])
    assert {**passed, "history": None} == {**inputs, "history": None}
    assert passed is not inputs
    assert inputs == before


# --- select_messages ------------------------------------------------------------------------------------------------


def test_the_question_may_be_given_or_found() -> None:
    pairs, question = TOPICS["english"]
    messages = talk(pairs)
    assert contents(select_messages(messages, CONFIG, query=HumanMessage(question))) == texts_of(pairs[:2])
    assert contents(select_messages([*messages, HumanMessage(question)], CONFIG)) == [*texts_of(pairs[:2]), question]
    assert contents(select_messages(messages, replace(CONFIG, token_budget=45), query="")) == texts_of(pairs[-2:])


# --- chains and stores ----------------------------------------------------------------------------------------------


def test_the_thread_comes_before_the_session() -> None:
    gate = GatekeeperSelector(CONFIG)
    gate.invoke([HumanMessage("hi")], {"configurable": {"thread_id": "t1", "session_id": "s1"}})
    assert gate.selection_for("t1") is gate.last_selection
    assert gate.selection_for("s1") is None


def test_a_session_is_the_thread_of_recall_and_of_the_bill() -> None:
    pairs, question = TOPICS["english"]
    gate = GatekeeperSelector(CONFIG, model="claude-sonnet-4-5")
    config: Any = {"configurable": {"session_id": "s1"}}
    messages = [*talk(pairs), HumanMessage(question)]
    gate.invoke(messages, config)
    assert pairs[3][1] in recall_tool(gate).invoke({"query": pairs[3][0]}, config)
    usage: Any = {"input_tokens": 1_000_000, "output_tokens": 0, "total_tokens": 1_000_000}
    gate.report_usage(AIMessage("6380", usage_metadata=usage), "s1")
    gate.invoke([*messages, AIMessage("6380"), HumanMessage("And now?")], config)
    bill = gate.last_selection and gate.last_selection.bill
    assert bill
    assert bill.paid - bill.dollars == pytest.approx(3.0)  # the first call, at 3.00 dollars a million


@both_ways
def test_a_stream_gives_it_whole_also_from_pieces(asynchronous: bool) -> None:
    pairs, question = TOPICS["english"]
    inputs = {"input": question, "past": talk(pairs)}
    parts: Any = {"history": itemgetter("past"), "input": itemgetter("input")}
    chain = RunnableParallel(parts) | GatekeeperSelector(CONFIG) | RunnablePassthrough()

    async def run() -> list[Any]:
        return [chunk async for chunk in chain.astream(inputs)]

    chunks = asyncio.run(run()) if asynchronous else list(chain.stream(inputs))
    assert [contents(chunk["history"]) for chunk in chunks] == [texts_of(pairs[:2])]


# --- events ---------------------------------------------------------------------------------------------------------


@both_ways
def test_a_selection_is_announced_by_its_own_run_without_text(asynchronous: bool) -> None:
    pairs, question = TOPICS["english"]
    gate, heard = GatekeeperSelector(CONFIG), Heard()
    called(gate, [*talk(pairs), HumanMessage(question)], {"callbacks": [heard]}, asynchronous=asynchronous)
    assert heard.events == [("gatekeeper_selection", {**gate.last_selection.facts(), "shadow": False})]
    assert [heard.runs[parent] for parent in heard.parents] == ["GatekeeperSelector"]
    assert not any(text in str(heard.events) for text in texts_of(pairs))


# --- errors, threads ------------------------------------------------------------------------------------------------


def test_messages_are_pinned_and_excluded_by_their_ids_and_never_recalled() -> None:
    gate = GatekeeperSelector(
        HistoryConfig(passthrough_below=0), token_budget=4000, pinned=["organ"], exclude=["redis"]
    )
    past = [
        HumanMessage("The Redis port is 6380.", id="redis"),
        AIMessage("Noted."),
        HumanMessage("New topic: who plays the organ?", id="organ"),
        AIMessage("Marta."),
    ]
    config: Any = {"configurable": {"thread_id": "t1"}}
    read = gate.invoke([*past, HumanMessage("New topic: which port has Redis?")], config)
    assert read[:-1] == past[2:]
    assert "6380" not in gate.recall_earlier("Redis port", "t1")
    assert "6380" in select_messages([*past, HumanMessage("Which port has Redis?")], token_budget=4000)[0].text
