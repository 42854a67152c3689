"""A provider that refuses once, in every adapter: the thread lives on, and a question that is asked again is sent once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver
from llama_index.core.chat_engine import SimpleChatEngine

from gatekeeper_core import ContextBuilder, ContextBuilderConfig
from gatekeeper_core.context.history.strategies import HistoryConfig
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, GatekeeperSelector
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBlock, GatekeeperMemoryBuffer
from tests.adapters.chats import assistant, user
from tests.adapters.scripted import RefusedError, Scripted
from tests.adapters.scripted_llama_index import RefusedError as LlamaIndexRefusedError
from tests.adapters.scripted_llama_index import RefusingModel

pytestmark = pytest.mark.adapters

MAX_CHARS = 3000
CONFIG = HistoryConfig(token_budget=400, on_error="raise")
BUILDER = ContextBuilderConfig(total_budget=600)
TALKS = {
    "english": ("cache log line " * 400, "Which port does Redis use?", "New topic: how long does bread bake?"),
    "chinese": ("缓存日志一行 " * 800, "Redis 的端口是多少？", "新话题：面包要烤多久？"),
    "mixed": ("cache 日志 line " * 400, "Redis 的 port 是多少？", "新话题：bread 要烤多久？"),
}
each_talk = pytest.mark.parametrize("talk", TALKS)

Ask = Callable[[str], list[str]]
"""Asks one question of a thread and returns the texts that the model was sent."""

Opened = Callable[[], tuple[Ask, Any]]
"""Opens a thread, and gives its model as well."""


def agent_with(gate: GatekeeperMiddleware) -> tuple[Ask, Any]:
    model = Scripted(max_chars=MAX_CHARS)
    agent = create_agent(model, [], middleware=[gate], checkpointer=InMemorySaver())

    def ask(question: str) -> list[str]:
        agent.invoke({"messages": [HumanMessage(question)]}, {"configurable": {"thread_id": "t1"}})
        return [message.text for message in model.seen[-1]]

    return ask, model


def middleware() -> tuple[Ask, Any]:
    return agent_with(GatekeeperMiddleware(CONFIG))


def middleware_with_builder() -> tuple[Ask, Any]:
    return agent_with(GatekeeperMiddleware(builder=ContextBuilder(BUILDER)))


def runnable_with_history() -> tuple[Ask, Any]:
    model, history = Scripted(max_chars=MAX_CHARS), InMemoryChatMessageHistory()
    chain = RunnableWithMessageHistory(GatekeeperSelector(CONFIG) | model, lambda session_id: history)

    def ask(question: str) -> list[str]:
        chain.invoke([HumanMessage(question)], config={"configurable": {"session_id": "t1"}})
        return [message.text for message in model.seen[-1]]

    return ask, model


def selector_over_own_list() -> tuple[Ask, Any]:
    model, messages = Scripted(max_chars=MAX_CHARS), []
    gate = GatekeeperSelector(CONFIG)

    def ask(question: str) -> list[str]:
        messages.append(HumanMessage(question))
        messages.append(model.invoke(gate.invoke(messages, {"configurable": {"thread_id": "t1"}})))
        return [message.text for message in model.seen[-1]]

    return ask, model


def chat_memory() -> tuple[Ask, Any]:
    """A chain whose author stores the question before the model is called."""
    model, memory = Scripted(max_chars=MAX_CHARS), GatekeeperChatMemory(config=CONFIG, return_messages=True)
    prompt = ChatPromptTemplate([MessagesPlaceholder("history"), ("human", "{input}")])

    def ask(question: str) -> list[str]:
        asked = {"input": question, **memory.load_memory_variables({"input": question})}
        memory.chat_memory.add_message(HumanMessage(question))
        memory.chat_memory.add_message((prompt | model).invoke(asked))
        return [message.text for message in model.seen[-1]]

    return ask, model


def engine_with(memory: Any) -> tuple[Ask, Any]:
    model = RefusingModel()
    model.max_chars = MAX_CHARS
    engine = SimpleChatEngine(llm=model, memory=memory, prefix_messages=[])

    def ask(question: str) -> list[str]:
        engine.chat(question)
        return [message.content or "" for message in model.last_chat_messages or ()]

    return ask, model


def buffer() -> tuple[Ask, Any]:
    return engine_with(GatekeeperMemoryBuffer.from_defaults(config=CONFIG))


def buffer_with_builder() -> tuple[Ask, Any]:
    return engine_with(GatekeeperMemoryBuffer.from_defaults(builder=ContextBuilder(BUILDER), chat_store_key="t1"))


def memory() -> tuple[Ask, Any]:
    return engine_with(GatekeeperMemory.from_defaults(session_id="t1", config=CONFIG))


OURS = (
    middleware,
    middleware_with_builder,
    runnable_with_history,
    selector_over_own_list,
    chat_memory,
    buffer,
    buffer_with_builder,
    memory,
)
each_adapter = pytest.mark.parametrize("opened", OURS, ids=lambda opened: opened.__name__)


def refused(ask: Ask, question: str) -> None:
    with pytest.raises((RefusedError, LlamaIndexRefusedError)):
        ask(question)


@each_adapter
@each_talk
def test_after_a_refused_paste_the_thread_lives_on_without_it(talk: str, opened: Opened) -> None:
    paste, question, later = TALKS[talk]
    ask, _ = opened()
    assert "Hello!" in ask("Hello!")
    refused(ask, paste)
    refused(ask, paste)
    for asked in (question, later):
        sent = ask(asked)
        assert sum(text.endswith(asked) for text in sent) == 1, "earlier turns may be told before it"
        assert not any(paste.strip() in text for text in sent), "at most a piece of it, cut to what matters"


@each_adapter
@each_talk
def test_a_question_that_failed_and_is_asked_again_is_sent_once(talk: str, opened: Opened) -> None:
    _, question, later = TALKS[talk]
    ask, model = opened()
    ask("Hello!")
    model.max_chars = 0
    for _ in range(3):
        refused(ask, question)
    model.max_chars = MAX_CHARS
    assert sum(text.startswith(question) for text in ask(question)) == 1
    assert sum(text.startswith(question) for text in ask(later)) <= 1


@each_talk
def test_a_block_brings_no_refused_paste_back(talk: str) -> None:
    paste, question, later = TALKS[talk]
    block = GatekeeperMemoryBlock(config=CONFIG)
    archived = [user(question), assistant("Redis uses port 6380."), user(paste)]
    asyncio.run(block.aput(archived, from_short_term_memory=True, session_id="s"))
    for active in ([user(question)], [user(later)], [user(later), assistant("An hour."), user(question)]):
        recalled = asyncio.run(block.aget(active, session_id="s"))
        assert len(recalled) < MAX_CHARS / 5, "at most a piece of it, cut to what matters"
    assert "6380" in recalled
    failed = [user(question), user(question)]
    assert "6380" in asyncio.run(block.aget(failed, session_id="s"))


def test_an_unanswered_message_that_fits_may_stand_beside_the_next_one() -> None:
    gate = GatekeeperSelector(CONFIG)
    talk = [HumanMessage("The Redis port is 6380."), HumanMessage("Which port has Redis?")]
    assert gate.invoke(talk) == talk
    assert gate.invoke([*talk, AIMessage("6380"), HumanMessage("Thanks!")])[:2] == talk
