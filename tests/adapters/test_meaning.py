"""Every adapter takes an embedder, a model of its framework, or an encoder; turns are found that share no word."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("langchain")
pytest.importorskip("llama_index.core")

from langchain.agents import create_agent
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core import Settings
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from pydantic import ValidationError

from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.embedding import ModelEmbedder
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, GatekeeperSelector, select_messages
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBlock, GatekeeperMemoryBuffer
from tests.adapters.doors import Recorder
from tests.adapters.histories import to_langchain, to_llama_index
from tests.concepts import AT_ONCE, QUESTIONS, TALK, WANTED, concepts

pytestmark = pytest.mark.adapters

ANN = MemoryScope("default", "ann")
Ask = Callable[[str], list[str]]


class LangChainModel(Embeddings):
    """A model of LangChain's."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return concepts(texts)

    def embed_query(self, text: str) -> list[float]:
        return concepts([text])[0]


class LlamaIndexModel(BaseEmbedding):
    """The same of LlamaIndex's: it can be called as well, with nodes."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return concepts([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return concepts([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return concepts([query])[0]


def middleware(embedder: Any) -> Ask:
    def ask(question: str) -> list[str]:
        model = Recorder(messages=iter([AIMessage("好的")]))
        agent = create_agent(model, middleware=[GatekeeperMiddleware(AT_ONCE, embedder=embedder)])
        agent.invoke({"messages": [*to_langchain(TALK), HumanMessage(question)]})
        return [message.text for message in model.seen[-1]]

    return ask


def selector(embedder: Any) -> Ask:
    gate = GatekeeperSelector(AT_ONCE, embedder=embedder)
    return lambda question: [
        message.text for message in gate.invoke({"history": to_langchain(TALK), "input": question})["history"]
    ]


def function(embedder: Any) -> Ask:
    return lambda question: [
        message.text
        for message in select_messages([*to_langchain(TALK), HumanMessage(question)], AT_ONCE, embedder=embedder)
    ]


def chat_memory(embedder: Any) -> GatekeeperChatMemory:
    history = InMemoryChatMessageHistory(messages=to_langchain(TALK))
    return GatekeeperChatMemory(chat_memory=history, config=AT_ONCE, return_messages=True, embedder=embedder)


def classic_memory(embedder: Any) -> Ask:
    memory = chat_memory(embedder)
    return lambda question: [message.text for message in memory.load_memory_variables({"input": question})["history"]]


def buffer_of(embedder: Any, **options: Any) -> GatekeeperMemoryBuffer:
    return GatekeeperMemoryBuffer.from_defaults(
        to_llama_index(TALK), token_limit=2_000, config=AT_ONCE, embedder=embedder, **options
    )


def buffer(embedder: Any) -> Ask:
    memory = buffer_of(embedder)
    return lambda question: [str(message.content) for message in memory.get(input=question)]


def memory_of(embedder: Any) -> GatekeeperMemory:
    memory = GatekeeperMemory.from_defaults(session_id="s", token_limit=2_000, config=AT_ONCE, embedder=embedder)
    memory.put_messages(to_llama_index(TALK))
    return memory


def whole_memory(embedder: Any) -> Ask:
    memory = memory_of(embedder)
    return lambda question: [str(message.content) for message in memory.get(input=question)]


def block(embedder: Any) -> Ask:
    recalled = GatekeeperMemoryBlock(config=AT_ONCE, embedder=embedder)
    asyncio.run(recalled.aput(to_llama_index(TALK)))
    return lambda question: [
        line.partition(": ")[2] for line in (asyncio.run(recalled.aget([ChatMessage(question)])) or "").splitlines()
    ]


DOORS = [middleware, selector, function, classic_memory, buffer, whole_memory, block]
LANGCHAIN = DOORS[:4]


@pytest.fixture
def hung() -> Iterator[threading.Event]:
    """Give an event that an embedder hangs on; set at the end, so that no thread is left."""
    event = threading.Event()
    yield event
    event.set()


def wanted(kind: str) -> str:
    return TALK[2 * WANTED[kind]].text


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("door", DOORS)
def test_a_question_finds_its_turn_without_a_shared_word(door: Callable[[Any], Ask], kind: str) -> None:
    model = LangChainModel() if door in LANGCHAIN else LlamaIndexModel()
    for embedder in (concepts, TextEncoder(concepts), model):
        assert wanted(kind) in door(embedder)(QUESTIONS[kind])
    assert wanted(kind) not in door(None)(QUESTIONS[kind])


@pytest.mark.parametrize("door", DOORS)
def test_a_failing_or_slow_embedder_leaves_the_words(door: Callable[[Any], Ask], hung: threading.Event) -> None:
    def fails(_texts: object, /) -> Any:
        raise ConnectionError("green tea")

    expected, begun = door(None)("周五的 meeting 几点？"), time.monotonic()
    assert "换个话题：周五的会议改到三点。" in expected
    assert door(fails)("周五的 meeting 几点？") == expected
    assert door(TextEncoder(lambda texts: hung.wait(), timeout_seconds=0.05))("周五的 meeting 几点？") == expected
    assert time.monotonic() - begun < 20.0


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_embedder_is_refused(door: Callable[[Any], Ask]) -> None:
    with pytest.raises(TypeError, match="embedder must be callable, got str"):
        door("e5")(QUESTIONS["mixed"])


@pytest.mark.parametrize("model", [LangChainModel(), LlamaIndexModel()])
@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_model_of_a_framework_finds_a_memory_that_shares_no_word(model: Any, kind: str) -> None:
    """004-17: semantic retrieval with the embeddings that one has."""
    embedder = ModelEmbedder(model)
    memory = LongTermMemory(InMemoryStore(), embedder=embedder, query_embedder=embedder.queries)
    for message in TALK[::2]:
        memory.add(ANN, message.text, category="fact")
    hits = memory.search(ANN, QUESTIONS[kind])
    assert (hits[0].memory.text, hits.status) == (wanted(kind), "dense")


def test_questions_go_the_way_of_questions() -> None:
    class Asked(LangChainModel):
        def embed_query(self, text: str) -> list[float]:
            asked.append(text)
            return super().embed_query(text)

    asked, embedder = list[str](), ModelEmbedder(Asked())
    LongTermMemory(InMemoryStore(), embedder=embedder, query_embedder=embedder.queries).search(ANN, "tea?")
    assert asked == ["tea?"]
    with pytest.raises(TypeError, match="embeddings must be a model with embed_documents and embed_query or"):
        ModelEmbedder(lambda texts: [])


def test_an_embedder_beside_a_builder_is_refused() -> None:
    with pytest.raises(ConfigError, match="embedder: with a builder its own settings hold"):
        GatekeeperMiddleware(builder=ContextBuilder(), embedder=concepts)
    with pytest.raises(ValidationError, match="embedder: with a builder its own settings hold"):
        GatekeeperMemoryBuffer.from_defaults(builder=ContextBuilder(), embedder=concepts)


def test_copies_of_a_classic_memory_hear_the_same_model() -> None:
    memory = chat_memory(model := LangChainModel())
    for copied in (copy.deepcopy(memory), memory.model_copy(deep=True), copy.copy(memory)):
        assert copied.embedder is memory.embedder
        history = copied.load_memory_variables({"input": QUESTIONS["mixed"]})["history"]
        assert wanted("mixed") in [message.text for message in history]
    assert memory.embedder.is_of(model)
    assert "embedder" not in memory.model_dump()


def test_copies_of_a_memory_hear_the_same_model() -> None:
    """A deep copy of LlamaIndex's ``Memory`` is not possible: its store holds connections."""
    memory, whole = buffer_of(LlamaIndexModel()), memory_of(LlamaIndexModel())
    copies: list[Any] = [copy.deepcopy(memory), memory.model_copy(deep=True), copy.copy(memory), copy.copy(whole)]
    for copied in copies:
        assert copied.embedder in (memory.embedder, whole.embedder)
        texts = [str(message.content) for message in copied.get(input=QUESTIONS["mixed"])]
        assert wanted("mixed") in texts
    recalled = GatekeeperMemoryBlock(embedder=LlamaIndexModel())
    assert copy.deepcopy(recalled).embedder is recalled.embedder


def test_a_memory_is_written_without_its_embedder() -> None:
    memory = buffer_of(LlamaIndexModel())
    written = memory.to_string()
    assert "embedder" not in memory.to_dict()
    assert GatekeeperMemoryBuffer.from_string(written).embedder is None
    for embedder in (concepts, LlamaIndexModel()):
        read = GatekeeperMemoryBuffer.from_string(written, embedder=embedder)
        assert wanted("mixed") in [str(message.content) for message in read.get(input=QUESTIONS["mixed"])]


def test_pickled_memories_keep_an_embedder_that_can_be_pickled_and_lose_another() -> None:
    for embedder, stays in ((concepts, True), (lambda texts: concepts(texts), False)):
        read = pickle.loads(pickle.dumps(buffer_of(embedder)))  # noqa: S301 - our own bytes
        assert (read.embedder is not None) == stays
        chosen = [str(message.content) for message in read.get(input=QUESTIONS["mixed"])]
        assert (wanted("mixed") in chosen) == stays


def test_an_embedder_may_be_given_later() -> None:
    memory, classic = buffer_of(None), chat_memory(None)
    memory.embedder, classic.embedder = LlamaIndexModel(), LangChainModel()
    assert wanted("mixed") in [str(message.content) for message in memory.get(input=QUESTIONS["mixed"])]
    history = classic.load_memory_variables({"input": QUESTIONS["mixed"]})["history"]
    assert wanted("mixed") in [message.text for message in history]


def test_the_model_of_the_settings_is_never_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is embedded that nobody asked for."""

    class Forbidden(LlamaIndexModel):
        def _get_text_embedding(self, text: str) -> list[float]:
            raise AssertionError(text)

        _get_query_embedding = _get_text_embedding

    monkeypatch.setattr(Settings, "_embed_model", Forbidden())
    memory = buffer_of(None)
    memory.get(input=QUESTIONS["mixed"])
    assert memory.embedder is None
    assert memory.last_selection
    assert memory.last_selection.selection
    assert memory.last_selection.selection.embedder == ""
    stock = Memory.from_defaults(memory_blocks=[GatekeeperMemoryBlock(config=AT_ONCE)])
    stock.put_messages(to_llama_index(TALK))
    assert stock.get(input=QUESTIONS["mixed"])
