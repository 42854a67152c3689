"""The selector in chains, in front of stores and in graphs: lists in, lists out, dicts in, dicts out."""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from operator import itemgetter
from typing import Any

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableParallel, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.errors import ConfigError
from langchain_gatekeeper import GatekeeperSelector, select_messages
from langchain_gatekeeper.events import aannounce, announce
from tests.adapters.histories import TOPICS
from tests.adapters.scripted import Heard, Scripted, contents, run_again, talk, texts_of

pytestmark = [
    pytest.mark.adapters,
    pytest.mark.filterwarnings("ignore:The (class|method|function) .* was deprecated in LangChain:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:create_react_agent has been moved:DeprecationWarning"),
]

each_script = pytest.mark.parametrize("script", TOPICS)
both_ways = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
CONFIG = HistoryConfig(on_error="raise", passthrough_below=0, token_budget=200)


def called(step: Any, given: Any, config: Any = None, *, asynchronous: bool) -> Any:
    return asyncio.run(step.ainvoke(given, config)) if asynchronous else step.invoke(given, config)


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
    assert gate.last_selection is not None
    assert gate.last_selection.kept == (0, 1, 2, 3, 4, 11)


@each_script
@both_ways
def test_a_dict_comes_back_as_a_new_dict_with_its_history_selected(script: str, asynchronous: bool) -> None:
    pairs, question = TOPICS[script]
    given = {"input": question, "history": talk(pairs), "persona": "a pirate"}
    before = copy.deepcopy(given)
    passed = called(GatekeeperSelector(CONFIG), given, asynchronous=asynchronous)
    assert contents(passed["history"]) == texts_of(pairs[:2])
    assert {**passed, "history": None} == {**given, "history": None}
    assert passed is not given
    assert given == before


@pytest.mark.parametrize("wrap", [HumanMessage, lambda text: [HumanMessage(text)], lambda text: [{"text": text}]])
def test_the_question_of_a_dict_may_have_any_form(wrap: Any) -> None:
    pairs, question = TOPICS["english"]
    gate = GatekeeperSelector(CONFIG, messages_key="past", query_key="question")
    assert contents(gate.invoke({"question": wrap(question), "past": talk(pairs)})["past"]) == texts_of(pairs[:2])


def test_a_question_that_stands_in_the_history_is_the_current_turn_and_stays() -> None:
    pairs, question = TOPICS["english"]
    gate = GatekeeperSelector(CONFIG)
    passed = gate.invoke({"input": question, "history": [*talk(pairs), HumanMessage(question)]})
    assert contents(passed["history"]) == [*texts_of(pairs[:2]), question]
    without = gate.invoke({"history": [*talk(pairs), HumanMessage(question)]})
    assert without == {"history": passed["history"]}


def test_nothing_in_is_nothing_out() -> None:
    gate = GatekeeperSelector(CONFIG)
    assert gate.invoke([]) == []
    assert gate.invoke({"input": "hi", "history": []}) == {"input": "hi", "history": []}
    assert select_messages([]) == []
    assert select_messages([], query="hi") == []


def test_a_dict_without_its_history_is_an_error_that_names_the_key() -> None:
    with pytest.raises(KeyError, match="history"):
        GatekeeperSelector(CONFIG).invoke({"input": "hi", "messages": []})


# --- select_messages ------------------------------------------------------------------------------------------------


@each_script
def test_messages_may_be_given_in_any_form_that_langchain_reads(script: str) -> None:
    pairs, question = TOPICS[script]
    message = AIMessage(pairs[0][1])
    listed: list[Any] = [pairs[0][0], message, ("human", pairs[2][0]), {"role": "ai", "content": pairs[2][1]}, question]
    kept = select_messages(listed, CONFIG)
    assert contents(kept) == [*pairs[0], question]
    assert kept[1] is message


def test_the_question_may_be_given_or_found() -> None:
    pairs, question = TOPICS["english"]
    messages = talk(pairs)
    assert contents(select_messages(messages, CONFIG, query=HumanMessage(question))) == texts_of(pairs[:2])
    assert contents(select_messages([*messages, HumanMessage(question)], CONFIG)) == [
        *texts_of(pairs[:2]),
        question,
    ]
    assert contents(select_messages(messages, replace(CONFIG, token_budget=45), query="")) == texts_of(pairs[-2:])


def test_without_options_it_takes_the_place_of_trim_messages() -> None:
    pairs, question = TOPICS["english"]
    long = [(f"{asked} " * 20, f"{answered} " * 20) for asked, answered in pairs]
    kept = select_messages([*talk(long), HumanMessage(question)])
    assert all(whole.startswith(cut.removesuffix(" …")) for cut, whole in zip(contents(kept), long[0], strict=False))
    assert "6380" in contents(kept)[1]
    assert kept[-1].content == question
    assert len(kept) < 11
    short = [*talk(pairs), HumanMessage(question)]
    assert select_messages(short) == short


@each_script
def test_a_talk_with_tool_calls_is_sent_whole_below_six_thousand_tokens(script: str) -> None:
    pairs, question = TOPICS[script]
    plain = [*talk([(asked, f"{answered} {answered} " * 45) for asked, answered in pairs]), HumanMessage(question)]
    call = AIMessage("", tool_calls=[{"name": "port", "args": {}, "id": "c"}])
    tools = [*plain[:1], call, ToolMessage("6380", tool_call_id="c"), *plain[1:]]
    gate = GatekeeperSelector()
    assert gate.invoke(tools) == tools
    assert gate.last_selection is not None
    assert 3_000 < gate.last_selection.history_tokens < 6_000
    assert len(select_messages(plain)) < len(plain)
    assert select_messages(tools, HistoryConfig(passthrough_below=500)) != tools


def test_an_unknown_option_and_an_impossible_one_are_refused() -> None:
    with pytest.raises(TypeError, match="max_tokens"):
        select_messages([], max_tokens=3)
    with pytest.raises(ConfigError):
        select_messages([], HistoryConfig(token_budget=0))


# --- chains and stores ----------------------------------------------------------------------------------------------


@each_script
@both_ways
def test_inside_a_runnable_with_history_the_store_keeps_everything(script: str, asynchronous: bool) -> None:
    pairs, question = TOPICS[script]
    store, model = InMemoryChatMessageHistory(), Scripted()
    store.add_messages(talk(pairs))
    gate = GatekeeperSelector(CONFIG)
    prompt = ChatPromptTemplate([MessagesPlaceholder("history"), ("human", "{input}")])
    chain = RunnableWithMessageHistory(
        gate | prompt | model, lambda _: store, input_messages_key="input", history_messages_key="history"
    )
    for number in range(2):
        called(chain, {"input": question}, {"configurable": {"session_id": "s1"}}, asynchronous=asynchronous)
        assert len(store.messages) == 12 + 2 * number
    assert contents(model.seen[0]) == [*texts_of(pairs[:2]), question]
    assert contents(store.messages) == [*texts_of(pairs), question, "ok", question, "ok"]
    assert gate.selection_for("s1") is gate.last_selection is not None


def test_batches_keep_their_order_and_their_threads() -> None:
    gate = GatekeeperSelector(CONFIG)
    given = [[*talk(pairs), HumanMessage(question)] for pairs, question in TOPICS.values()]
    configs: list[Any] = [{"configurable": {"thread_id": script}} for script in TOPICS]
    expected = [[*texts_of(pairs[:2]), question] for pairs, question in TOPICS.values()]
    assert [contents(kept) for kept in gate.batch(given, configs)] == expected
    assert [contents(kept) for kept in asyncio.run(gate.abatch(given, configs))] == expected
    assert all(gate.selection_for(script) is not None for script in TOPICS)


def test_the_thread_comes_before_the_session() -> None:
    gate = GatekeeperSelector(CONFIG)
    gate.invoke([HumanMessage("hi")], {"configurable": {"thread_id": "t1", "session_id": "s1"}})
    assert gate.selection_for("t1") is gate.last_selection
    assert gate.selection_for("s1") is None


@both_ways
def test_a_stream_gives_it_whole_also_from_pieces(asynchronous: bool) -> None:
    pairs, question = TOPICS["english"]
    given = {"input": question, "past": talk(pairs)}
    parts: Any = {"history": itemgetter("past"), "input": itemgetter("input")}
    chain = RunnableParallel(parts) | GatekeeperSelector(CONFIG) | RunnablePassthrough()

    async def run() -> list[Any]:
        return [chunk async for chunk in chain.astream(given)]

    chunks = asyncio.run(run()) if asynchronous else list(chain.stream(given))
    assert [contents(chunk["history"]) for chunk in chunks] == [texts_of(pairs[:2])]


def test_it_describes_itself_and_can_be_configured_and_copied() -> None:
    pairs, question = TOPICS["english"]
    gate = GatekeeperSelector(CONFIG)
    messages = [*talk(pairs), HumanMessage(question)]
    kept = gate.invoke(messages)
    assert gate.get_name() == "GatekeeperSelector"
    assert gate.with_config(tags=["gate"]).bind(stop=["x"]).with_retry().invoke(messages) == kept
    assert "GatekeeperSelector" in str((gate | Scripted()).get_graph().draw_mermaid())
    assert isinstance(gate.get_input_jsonschema(), dict)
    for twin in (copy.deepcopy(gate),):
        assert twin.last_selection is None
        assert twin.invoke(messages) == kept


# --- graphs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["function", "selector"])
def test_a_node_of_a_graph_selects_and_the_state_keeps_everything(kind: str) -> None:
    pairs, question = TOPICS["chinese"]
    model, gate, heard = Scripted(), GatekeeperSelector(CONFIG), Heard()

    def answer(state: MessagesState) -> dict[str, Any]:
        messages = state["messages"]
        kept = select_messages(messages, CONFIG) if kind == "function" else gate.invoke(messages)
        return {"messages": [model.invoke(kept)]}

    graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").compile(InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t1"}, "callbacks": [heard]}
    graph.invoke({"messages": [*talk(pairs), HumanMessage(question)]}, config)
    assert contents(model.seen[0]) == [*texts_of(pairs[:2]), question]
    assert len(graph.get_state(config).values["messages"]) == 12
    assert [name for name, _ in heard.events] == ["gatekeeper_selection"]
    assert (gate.selection_for("t1") is not None) is (kind == "selector")


def test_a_hook_before_the_model_gives_the_same_past_at_each_step() -> None:
    prebuilt = pytest.importorskip(
        "langgraph.prebuilt", exc_type=ImportError, reason="LangGraph 1.0 does not fit the newest of its own parts"
    )

    @tool
    def port(service: str) -> str:
        """Return the port of a service."""
        return "6380"

    pairs, question = TOPICS["english"]
    call = AIMessage("", tool_calls=[{"name": "port", "args": {"service": "redis"}, "id": "c1"}])
    model = Scripted(script=[call, AIMessage("6380")])

    def hook(state: Any) -> dict[str, Any]:
        return {"llm_input_messages": select_messages(state["messages"], CONFIG)}

    agent = prebuilt.create_react_agent(model, [port], pre_model_hook=hook, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t1"}}
    agent.invoke({"messages": [*talk(pairs), HumanMessage(question)]}, config)
    assert contents(model.seen[0]) == [*texts_of(pairs[:2]), question]
    assert contents(model.seen[1]) == [*texts_of(pairs[:2]), question, "", "6380"]
    assert len(agent.get_state(config).values["messages"]) == 14
    run_again(agent, config)


# --- events ---------------------------------------------------------------------------------------------------------


@both_ways
def test_a_selection_is_announced_by_its_own_run_without_text(asynchronous: bool) -> None:
    pairs, question = TOPICS["english"]
    gate, heard = GatekeeperSelector(CONFIG), Heard()
    called(gate, [*talk(pairs), HumanMessage(question)], {"callbacks": [heard]}, asynchronous=asynchronous)
    assert gate.last_selection is not None
    assert heard.events == [("gatekeeper_selection", {**gate.last_selection.facts(), "shadow": False})]
    assert [heard.runs[parent] for parent in heard.parents] == ["GatekeeperSelector"]
    assert not any(text in str(heard.events) for text in texts_of(pairs))


def test_outside_a_run_nobody_is_told() -> None:
    heard = Heard()
    gate = GatekeeperSelector(CONFIG)
    gate.invoke([HumanMessage("hi")])
    assert gate.last_selection is not None
    announce(gate.last_selection)
    announce(gate.last_selection, config={"callbacks": [heard]})
    asyncio.run(aannounce(gate.last_selection, config={"callbacks": [heard]}))
    select_messages(["hi"])
    assert heard.events == []


@both_ways
def test_the_error_of_a_handler_is_not_swallowed(asynchronous: bool) -> None:
    error = RuntimeError("the handler's own")
    with pytest.raises(RuntimeError) as caught:
        called(
            GatekeeperSelector(CONFIG),
            [HumanMessage("hi")],
            {"callbacks": [Heard(error)]},
            asynchronous=asynchronous,
        )
    assert caught.value is error


# --- errors, threads ------------------------------------------------------------------------------------------------


def test_the_prices_are_those_of_the_model() -> None:
    dollars = []
    for name in ("claude-sonnet-4-5", "claude-haiku-4-5"):
        gate = GatekeeperSelector(model=name)
        gate.invoke([HumanMessage("Which Redis port?")])
        assert gate.last_selection is not None
        assert gate.last_selection.bill is not None
        dollars.append(gate.last_selection.bill.dollars)
    assert dollars[0] == pytest.approx(3 * dollars[1])  # 3.00 and 1.00 dollars a million


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
