"""Turns told inside a question through the adapters: the model reads them, and no store ever holds them."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver
from llama_index.core.base.llms.types import ChatMessage

from gatekeeper_core import HistoryConfig, ModelPrices
from langchain_gatekeeper import GatekeeperMiddleware, GatekeeperSelector
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from tests.adapters.doors import Recorder

PRICES = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=6, min_cached_tokens=64)
CONFIG = HistoryConfig(strategy="cache", token_budget=4000, prices=PRICES, on_error="raise")
SHOPS = ("kestrel", "heron", "osprey", "falcon", "merlin", "harrier", "kite", "eagle", "hobby")
OTHERS = [f"stall {number}" for number in range(20)]
PAST_QUESTIONS = [f"New topic: when does the {shop} open?" for shop in (*SHOPS, *OTHERS)]
PAST = [one for text in PAST_QUESTIONS for one in (text, f"{text} At nine. " * 8)]
FOUR = "the heron, the osprey, the merlin and the kite"
QUESTIONS = [f"When do {FOUR} open?", f"When do the falcon, {FOUR} open?", f"When do the kestrel, {FOUR} open?"]
MARK = "<earlier_turns-"


def langchain_past() -> list[BaseMessage]:
    return [(AIMessage if at % 2 else HumanMessage)(text) for at, text in enumerate(PAST)]


def recorder() -> Recorder:
    return Recorder(messages=iter(lambda: AIMessage("At nine."), None))


def through_middleware() -> tuple[list[str], list[str]]:
    model, thread = recorder(), {"configurable": {"thread_id": "t"}}
    agent: Any = create_agent(model, middleware=[GatekeeperMiddleware(CONFIG)], checkpointer=InMemorySaver())
    agent.update_state(thread, {"messages": langchain_past()}, as_node="model")
    for question in QUESTIONS:
        agent.invoke({"messages": [HumanMessage(question)]}, thread)
    stored = agent.get_state(thread).values["messages"]
    return [seen[-1].text for seen in model.seen], [message.text for message in stored]


def through_history() -> tuple[list[str], list[str]]:
    model, history = recorder(), InMemoryChatMessageHistory()
    history.add_messages(langchain_past())
    chain = RunnableWithMessageHistory(GatekeeperSelector(CONFIG) | model, lambda session_id: history)
    for question in QUESTIONS:
        chain.invoke([HumanMessage(question)], config={"configurable": {"session_id": "t"}})
    return [seen[-1].text for seen in model.seen], [message.text for message in history.messages]


def llama_index(memory: Any) -> tuple[list[str], list[str]]:
    read = []
    for at, text in enumerate(PAST):
        memory.put(ChatMessage(text, role="assistant" if at % 2 else "user"))
    for question in QUESTIONS:
        memory.put(ChatMessage(question, role="user"))
        read.append(memory.get()[-1].content)
        memory.put(ChatMessage("At nine.", role="assistant"))
    return read, [message.content for message in memory.get_all()]


def through_buffer() -> tuple[list[str], list[str]]:
    return llama_index(GatekeeperMemoryBuffer.from_defaults(config=CONFIG))


def through_memory() -> tuple[list[str], list[str]]:
    return llama_index(GatekeeperMemory.from_defaults(session_id="t", config=CONFIG))


@pytest.mark.parametrize("through", [through_middleware, through_history, through_buffer, through_memory])
def test_the_model_reads_what_is_told_and_no_store_holds_it(through: Any) -> None:
    read, stored = through()
    assert any(text.startswith("From earlier in this conversation") for text in read)
    assert all(text.endswith(question) for text, question in zip(read, QUESTIONS, strict=True))
    assert not any(MARK in text for text in stored)
    assert [text for text in stored if text in QUESTIONS][-3:] == QUESTIONS
