"""The memory of classic chains: what a chain's model reads, what its history keeps, and what stock code relies on."""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING, Any

import pytest
from langchain_classic.chains import ConversationChain
from langchain_classic.memory import ConversationBufferMemory, ConversationBufferWindowMemory
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from pydantic import ValidationError

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.constraints import ThreadConstraints
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.tokens import estimate_text_tokens
from langchain_gatekeeper import GatekeeperChatMemory
from tests.adapters.histories import TOPICS
from tests.adapters.scripted import Scripted, called, contents, texts_of
from tests.histories import configured

if TYPE_CHECKING:
    from collections.abc import Sequence


each_script = pytest.mark.parametrize("script", TOPICS)
OPTIONS: dict[str, Any] = {"on_error": "raise", "passthrough_below": 0, "token_budget": 60}


class Stored(InMemoryChatMessageHistory):
    """A history with the name that those of databases have."""

    session_id: str | None = None


def memory_of(pairs: Sequence[tuple[str, str]], **options: Any) -> GatekeeperChatMemory:
    memory = GatekeeperChatMemory(**configured(**{**OPTIONS, **options}))
    for question, answer in pairs:
        memory.chat_memory.add_messages([HumanMessage(question), AIMessage(answer)])
    return memory


def loaded(memory: GatekeeperChatMemory, question: str) -> Any:
    return memory.load_memory_variables({"input": question})["history"]


# --- in chains ------------------------------------------------------------------------------------------------------


@each_script
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_conversation_chain_reads_the_topic_and_keeps_everything(script: str, asynchronous: bool) -> None:
    pairs, question = TOPICS[script]
    memory, model = memory_of(pairs), Scripted()
    called(ConversationChain(llm=model, memory=memory), {"input": question}, asynchronous=asynchronous)
    assert pairs[0][1] in model.text
    assert pairs[3][1] not in model.text
    assert contents(memory.buffer_as_messages) == [*texts_of(pairs), question, "ok"]
    assert memory.last_selection.status == "selected"


# --- what is loaded -------------------------------------------------------------------------------------------------


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


def test_text_names_the_speakers_and_their_names_cost_as_well() -> None:
    pairs = [(f"{word}?", f"{word}!") for word in ("one", "two", "three", "four")]
    memory = memory_of(
        pairs, human_prefix="Traveller", ai_prefix="Guide", token_counter=len, token_budget=60, keep_newest=9
    )
    text = memory.load_memory_variables({})["history"]
    assert text == "Traveller: three?\nGuide: three!\nTraveller: four?\nGuide: four!"
    assert memory.last_selection.tokens == len(text.replace("\n", "")) <= 60
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


def test_settings_may_be_changed_at_any_time() -> None:
    memory = memory_of([(f"Question {number}?", f"Answer {number}.") for number in range(3)], return_messages=True)
    memory.strategy, memory.keep_newest = "window", 1
    assert loaded(memory, "And now?") == memory.buffer[-2:]
    memory.exclude = [5]
    assert loaded(memory, "And now?") == memory.buffer[2:4]
    memory.keep_newest, memory.pinned = 0, [0]
    assert loaded(memory, "And now?") == memory.buffer[:2]


RULES = {"language": "German", "style": "short"}
RENDERED = render_constraints(RULES)


def test_constraints_are_loaded_before_the_history_within_the_budget() -> None:
    memory = GatekeeperChatMemory(config=HistoryConfig(token_budget=120), return_messages=True, constraints=RULES)
    for number in range(30):
        memory.save_context({"input": f"Which port does service {number} use?"}, {"output": f"It uses port {number}."})
    rules, *loaded = memory.load_memory_variables({"input": "Which port does service 7 use?"})["history"]
    assert rules == SystemMessage(RENDERED)
    assert "It uses port 7." in [message.text for message in loaded]
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
    expected = [SystemMessage(render_constraints({"language": "German"}))]
    assert memory.load_memory_variables({"input": "Hello!"})["history"] == expected
    assert asyncio.run(memory.aload_memory_variables({"input": "Hello!"}))["history"] == expected


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda memory: memory.model_copy(), lambda memory: memory.model_copy(deep=True)],
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
    assert memory.last_selection.status == "selected"
