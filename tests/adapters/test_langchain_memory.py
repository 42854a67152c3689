"""The memory of classic chains: what a chain's model reads, what its history keeps, and what stock code relies on."""

from __future__ import annotations

import asyncio
import copy
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
from langchain_classic.chains import ConversationalRetrievalChain, ConversationChain
from langchain_classic.memory import (
    CombinedMemory,
    ConversationBufferMemory,
    ConversationBufferWindowMemory,
    ReadOnlySharedMemory,
)
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from pydantic import ValidationError

from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.constraints import ThreadConstraints
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.selection.planner import GatekeeperConfig
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.tokens import estimate_text_tokens
from langchain_gatekeeper import GatekeeperChatMemory
from tests.adapters.histories import TOPICS
from tests.adapters.scripted import Heard, Scripted, contents, texts_of
from tests.histories import configured

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [
    pytest.mark.adapters,
    pytest.mark.filterwarnings("ignore:The (class|method|function) .* was deprecated in LangChain:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Please see the migration guide at:DeprecationWarning"),
]

each_script = pytest.mark.parametrize("script", TOPICS)
OPTIONS: dict[str, Any] = {"on_error": "raise", "passthrough_below": 0, "token_budget": 60}


class Documents(BaseRetriever):
    """A retriever that always finds the same page."""

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return [Document("a page of the manual")]


class Stored(InMemoryChatMessageHistory):
    """A history with the name that those of databases have."""

    session_id: str | None = None


def memory_of(pairs: Sequence[tuple[str, str]], **options: Any) -> GatekeeperChatMemory:
    memory = GatekeeperChatMemory(**configured(**{**OPTIONS, **options}))
    for asked, answered in pairs:
        memory.chat_memory.add_messages([HumanMessage(asked), AIMessage(answered)])
    return memory


def lines_of(pairs: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"Human: {asked}\nAI: {answered}" for asked, answered in pairs)


def loaded(memory: GatekeeperChatMemory, question: str) -> Any:
    return memory.load_memory_variables({"input": question})["history"]


# --- in chains ------------------------------------------------------------------------------------------------------


@each_script
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_conversation_chain_reads_the_topic_and_keeps_everything(script: str, asynchronous: bool) -> None:
    pairs, question = TOPICS[script]
    memory, model = memory_of(pairs), Scripted()
    chain = ConversationChain(llm=model, memory=memory)
    if asynchronous:
        asyncio.run(chain.ainvoke({"input": question}))
    else:
        chain.invoke({"input": question})
    assert pairs[0][1] in model.text
    assert pairs[3][1] not in model.text
    assert contents(memory.buffer_as_messages) == [
        *texts_of(pairs),
        question,
        "ok",
    ]
    assert memory.last_selection is not None
    assert memory.last_selection.status == "selected"


@pytest.mark.parametrize("return_messages", [False, True])
def test_a_conversational_retrieval_chain_condenses_with_what_was_selected(return_messages: bool) -> None:
    pairs, question = TOPICS["english"]
    memory = memory_of(pairs, memory_key="chat_history", output_key="answer", return_messages=return_messages)
    model = Scripted()
    chain = ConversationalRetrievalChain.from_llm(
        model,
        retriever=Documents(),
        memory=memory,
        return_source_documents=True,
        **({} if return_messages else {"get_chat_history": str}),
    )
    assert chain.invoke({"question": question})["answer"] == "ok"
    condensing = "\n".join(message.text for message in model.seen[0])
    assert pairs[0][1] in condensing
    assert pairs[3][1] not in condensing
    assert len(memory.buffer_as_messages) == 2 * len(pairs) + 2


def test_an_agent_executor_starts_from_what_was_selected() -> None:
    @tool
    def port(service: str) -> str:
        """Return the port of a service."""
        return "6380"

    pairs, question = TOPICS["english"]
    called = AIMessage("", tool_calls=[{"name": "port", "args": {"service": "redis"}, "id": "c1"}])
    memory, model = memory_of(pairs, return_messages=True), Scripted(script=[called, AIMessage("6380")])
    prompt = ChatPromptTemplate(
        [MessagesPlaceholder("history"), ("human", "{input}"), MessagesPlaceholder("agent_scratchpad")]
    )
    agent = create_tool_calling_agent(model, [port], prompt)
    executor = AgentExecutor(agent=agent, tools=[port], memory=memory)
    assert executor.invoke({"input": question})["output"] == "6380"
    assert contents(model.seen[0]) == [*texts_of(pairs[:2]), question]
    assert contents(model.seen[1])[:5] == [*texts_of(pairs[:2]), question]
    assert contents(memory.buffer_as_messages[-2:]) == [question, "6380"]


def test_a_combined_and_a_shared_memory_take_it() -> None:
    pairs, question = TOPICS["english"]
    ours = memory_of(pairs, input_key="input")
    other = ConversationBufferMemory(memory_key="all", input_key="input", chat_memory=ours.chat_memory)
    both = CombinedMemory(memories=[ours, other])
    values = both.load_memory_variables({"input": question, "persona": "a pirate"})
    assert pairs[0][1] in values["history"]
    assert len(values["history"]) < len(values["all"])
    shared = ReadOnlySharedMemory(memory=ours)
    assert shared.load_memory_variables({"input": question})["history"] == values["history"]
    shared.save_context({"input": "x"}, {"output": "y"})
    assert len(ours.buffer_as_messages) == 2 * len(pairs)


# --- what is loaded -------------------------------------------------------------------------------------------------


def test_the_history_s_own_objects_come_back_in_a_new_list() -> None:
    pairs, question = TOPICS["english"]
    memory = memory_of(pairs, return_messages=True)
    before = copy.deepcopy(memory.buffer_as_messages)
    messages = loaded(memory, question)
    assert messages[0] is memory.buffer_as_messages[0]
    messages.clear()
    assert memory.buffer_as_messages == before


def test_several_inputs_load_and_are_refused_when_saved_as_stock_does() -> None:
    pairs, question = TOPICS["english"]
    memory, stock = memory_of(pairs), ConversationBufferMemory()
    inputs = {"input": question, "persona": "a pirate"}
    assert pairs[-1][1] in memory.load_memory_variables(inputs)["history"]
    for each in (memory, stock):
        with pytest.raises(ValueError, match="One input key expected"):
            each.save_context(inputs, {"output": "x"})
    memory.input_key = "input"
    assert pairs[0][1] in memory.load_memory_variables(inputs)["history"]
    memory.save_context(inputs, {"output": "x"})
    assert memory.buffer_as_messages[-2].content == question


def test_the_stop_words_and_the_memory_itself_are_no_inputs() -> None:
    pairs, question = TOPICS["english"]
    memory = memory_of(pairs)
    text = memory.load_memory_variables({"question": question, "stop": ["\n"], "history": "old"})["history"]
    assert pairs[0][1] in text
    assert pairs[3][1] not in text


@pytest.mark.parametrize(
    "wrap", [lambda text: [{"type": "text", "text": text}], lambda text: [HumanMessage(text)], HumanMessage]
)
def test_an_input_of_blocks_or_messages_is_searched_by_its_text(wrap: Any) -> None:
    pairs, question = TOPICS["mixed"]
    memory = memory_of(pairs)
    assert loaded(memory, wrap(question)) == loaded(memory, question)


def test_text_names_the_speakers_and_their_names_cost_as_well() -> None:
    pairs = [(f"{word}?", f"{word}!") for word in ("one", "two", "three", "four")]
    memory = memory_of(
        pairs, human_prefix="Traveller", ai_prefix="Guide", token_counter=len, token_budget=60, keep_newest=9
    )
    text = memory.load_memory_variables({})["history"]
    assert text == "Traveller: three?\nGuide: three!\nTraveller: four?\nGuide: four!"
    lines = text.replace("\n", "")
    assert memory.last_selection is not None
    assert memory.last_selection.tokens == len(lines) <= 60
    memory.return_messages = True
    assert len(memory.load_memory_variables({})["history"]) == 8


# --- as a drop-in ---------------------------------------------------------------------------------------------------


def test_buffers_show_the_whole_history_as_stock_does() -> None:
    pairs, _ = TOPICS["mixed"]
    memory = memory_of(pairs)
    for return_messages in (False, True):
        memory.return_messages = return_messages
        stock = ConversationBufferMemory(chat_memory=memory.chat_memory, return_messages=return_messages)
        assert memory.buffer == stock.buffer
        assert memory.buffer_as_str == stock.buffer_as_str
        assert memory.buffer_as_messages is stock.buffer_as_messages
    assert memory.memory_variables == stock.memory_variables == ["history"]


@each_script
def test_k_newest_turns_are_always_loaded_and_older_ones_that_the_input_needs(script: str) -> None:
    pairs, question = TOPICS[script]
    memory = memory_of(pairs, return_messages=True, token_budget=110)
    needed = loaded(memory, question)
    assert needed == memory.buffer[:4]
    for k in (1, 2):
        memory.k = k
        window = ConversationBufferWindowMemory(k=k, chat_memory=memory.chat_memory, return_messages=True)
        newest = window.load_memory_variables({})["history"]
        assert loaded(memory, question) == [*needed, *newest]
    memory.config = HistoryConfig(token_budget=45, passthrough_below=0)
    memory.k = 1
    assert loaded(memory, question)[-2:] == memory.buffer[-2:]  # where the budget is short, the newest come first


def test_k_takes_the_place_of_that_of_a_window_memory_and_is_checked_as_a_setting() -> None:
    assert GatekeeperChatMemory(k=5)._current_selector().config.keep_newest == 5
    config = HistoryConfig(keep_newest=2)
    assert GatekeeperChatMemory(config=config)._current_selector().config.keep_newest == 2
    assert GatekeeperChatMemory(config=config, k=0)._current_selector().config.keep_newest == 0
    assert GatekeeperChatMemory(k=5, keep_newest=5)._current_selector().config.keep_newest == 5
    with pytest.raises(ValidationError, match=r"HistoryConfig\.keep_newest must be 0 or more"):
        GatekeeperChatMemory(k=-1)
    with pytest.raises(ValidationError, match="k is 5 and keep_newest is 2"):
        GatekeeperChatMemory(k=5, keep_newest=2)


def test_settings_by_name_win_over_the_config_and_may_be_set_at_any_time() -> None:
    memory = GatekeeperChatMemory(config=HistoryConfig(token_budget=500, coverage=0.5), token_budget=4000)
    config = memory._current_selector().config
    assert (config.token_budget, config.coverage, config.strategy) == (4000, 0.5, "gate")
    memory.strategy, memory.coverage = "window", 0.9
    config = memory._current_selector().config
    assert (config.token_budget, config.coverage, config.strategy) == (4000, 0.9, "window")
    for number in range(3):
        memory.save_context({"input": f"Question {number}?"}, {"output": f"Answer {number}."})
    memory.return_messages, memory.keep_newest = True, 1
    assert loaded(memory, "And now?") == memory.buffer[-2:]
    memory.exclude = [5]
    assert loaded(memory, "And now?") == memory.buffer[2:4]
    memory.keep_newest, memory.pinned = 0, [0]
    assert loaded(memory, "And now?") == memory.buffer[:2]


@pytest.mark.parametrize("argument", ["llm", "max_token_limit", "shadow"])
def test_an_unknown_argument_is_refused_with_the_place_of_the_settings(argument: str) -> None:
    with pytest.raises(ConfigError, match=rf"no argument {argument}: .* config=HistoryConfig\(shadow=True\)"):
        GatekeeperChatMemory(**{argument: 9})


RULES = {"language": "German", "style": "short"}
RENDERED = render_constraints(RULES)


def test_constraints_are_loaded_before_the_history_within_the_budget() -> None:
    memory = GatekeeperChatMemory(config=HistoryConfig(token_budget=120), return_messages=True, constraints=RULES)
    for number in range(30):
        memory.save_context({"input": f"Which port does service {number} use?"}, {"output": f"It uses port {number}."})
    rules, *loaded = memory.load_memory_variables({"input": "Which port does service 7 use?"})["history"]
    assert rules == SystemMessage(RENDERED)
    assert "It uses port 7." in [message.text for message in loaded]
    assert memory.last_selection is not None
    assert memory.last_selection.fixed_tokens > 0
    assert memory.last_selection.tokens + memory.last_selection.fixed_tokens <= 120
    memory.constraints = {}
    assert memory.load_memory_variables({"input": "Which port does service 7 use?"})["history"][0].type == "human"
    memory.return_messages, memory.constraints = False, RULES
    assert memory.load_memory_variables({"input": "Hello!"})["history"].startswith(f"System: {RENDERED}")


def test_constraints_of_a_store_are_those_of_the_session() -> None:
    store = ThreadConstraints(InMemoryStore())
    store.set(Thread("s1"), "language", "German")
    memory = GatekeeperChatMemory(chat_memory=Stored(), constraints=store, return_messages=True)
    assert memory.load_memory_variables({"input": "Hello!"})["history"] == []
    memory.chat_memory.session_id = "s1"  # type: ignore[attr-defined]
    wanted = [SystemMessage(render_constraints({"language": "German"}))]
    assert memory.load_memory_variables({"input": "Hello!"})["history"] == wanted
    assert asyncio.run(memory.aload_memory_variables({"input": "Hello!"}))["history"] == wanted


def test_the_budget_holds_where_the_last_turn_was_asked_in_the_same_words() -> None:
    memory = GatekeeperChatMemory(config=HistoryConfig(token_budget=50), return_messages=True)
    memory.save_context({"input": "Which port?"}, {"output": "It is port 6380. " * 100})
    memory.load_memory_variables({"input": "Which port?"})
    assert memory.last_selection is not None
    assert memory.last_selection.tokens <= 50
    assert memory.last_selection.status != "over_budget"


@pytest.mark.parametrize(("model", "budget"), [("gpt-4", 6144), (None, 16_000), ("a model of ours", 16_000)])
def test_without_a_budget_the_model_is_asked(model: str | None, budget: int, caplog: pytest.LogCaptureFixture) -> None:
    memory = GatekeeperChatMemory(model=model)
    for question in ("Hello!", "Hello again!"):
        memory.load_memory_variables({"input": question})
    assert memory.last_selection is not None
    assert memory.last_selection.budget_tokens == budget
    said = [record.getMessage() for record in caplog.records if "window is unknown" in record.getMessage()]
    warning = "the model's window is unknown: the budget is 16,000 tokens; set HistoryConfig.token_budget"
    assert said == [warning] * (budget == 16_000)


@pytest.mark.parametrize("options", [{"config": {"token_budget": 9}}, {"token_counter": 3}])
def test_a_setting_of_another_type_is_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(options))):
        GatekeeperChatMemory(**options)


def test_what_makes_a_run_smaller_is_refused_at_once() -> None:
    with pytest.raises(ValidationError, match=r"HistoryConfig\.run"):
        GatekeeperChatMemory(config=HistoryConfig(run=RunConfig(keep_recent_rounds=1)))


def test_a_setting_may_be_changed_at_any_time() -> None:
    pairs, question = TOPICS["english"]
    memory = memory_of(pairs, return_messages=True)
    assert len(loaded(memory, question)) == 4
    whole = HistoryConfig(gatekeeper=GatekeeperConfig(trim=False))
    memory.config = replace(whole, shadow=True)
    assert len(loaded(memory, question)) == 10
    memory.config = replace(whole, token_budget=10)
    assert loaded(memory, question) == []
    assert memory.last_selection is not None
    assert memory.last_selection.status == "nothing_fits"


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda memory: memory.model_copy(),
        lambda memory: memory.model_copy(deep=True),
    ],
    ids=["copy", "deepcopy", "model_copy", "model_copy deep"],
)
def test_a_copy_is_equal_and_goes_its_own_way(copied: Any) -> None:
    pairs, question = TOPICS["english"]
    memory = memory_of(pairs, token_counter=estimate_text_tokens)
    text = loaded(memory, question)
    twin = copied(memory)
    assert twin == memory
    assert twin.last_selection is None
    assert loaded(twin, question) == text
    twin.load_memory_variables({})
    assert memory.last_selection is not None
    assert memory.last_selection.status == "selected"


def test_what_was_selected_makes_no_difference_between_two_memories() -> None:
    pairs, question = TOPICS["english"]
    one, other = memory_of(pairs), memory_of(pairs, token_budget=90)
    loaded(one, question)
    assert one != other
    one.config = other.config
    assert one == other


def test_a_history_with_a_session_id_is_known_by_it() -> None:
    pairs, question = TOPICS["english"]
    memory = GatekeeperChatMemory(**configured(chat_memory=Stored(), **OPTIONS))
    memory.chat_memory.session_id = "s1"  # type: ignore[attr-defined]
    for asked, answered in pairs:
        memory.save_context({"input": asked}, {"output": answered})
    loaded(memory, question)
    assert memory.selection_for("s1") is memory.last_selection is not None
    assert memory.selection_for("s2") is None


# --- async, threads, errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_load_inside_a_run_is_announced_without_text(asynchronous: bool) -> None:
    pairs, question = TOPICS["english"]
    memory, heard = memory_of(pairs), Heard()
    step = RunnableLambda(memory.load_memory_variables, memory.aload_memory_variables)
    if asynchronous:
        asyncio.run(step.ainvoke({"input": question}, {"callbacks": [heard]}))
    else:
        step.invoke({"input": question}, {"callbacks": [heard]})
    assert memory.last_selection is not None
    assert heard.events == [("gatekeeper_selection", {**memory.last_selection.facts(), "shadow": False})]
    assert not any(text in str(heard.events) for pair in pairs for text in pair)
    loaded(memory, question)
    assert len(heard.events) == 1


def test_nothing_of_ours_warns() -> None:
    history = Stored()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        memory = GatekeeperChatMemory(**configured(chat_memory=history, **OPTIONS))
        memory.save_context({"input": "hi"}, {"output": "hello"})
        assert loaded(memory, "hi there") == "Human: hi\nAI: hello"
