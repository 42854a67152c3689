"""The embedding models of the frameworks are embedders of long-term memory."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core")
pytest.importorskip("llama_index.core")

from langchain_core.embeddings import Embeddings
from llama_index.core.base.embeddings.base import BaseEmbedding

from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.embedding import ModelEmbedder
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore

pytestmark = pytest.mark.adapters

ANN = MemoryScope("default", "ann")


def vector(text: str) -> list[float]:
    return [1.0, 0.0] if "tea" in text or "drink" in text or "喝" in text else [0.0, 1.0]


class ByWord(Embeddings):
    """A model of LangChain's that tells documents from questions."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        return vector(text)


class ByWordIndex(BaseEmbedding):
    """The same of LlamaIndex's."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)


@pytest.mark.parametrize("embedder", [ModelEmbedder(ByWord()), ModelEmbedder(ByWordIndex())])
@pytest.mark.parametrize("question", ["anything to drink?", "喝什么?"])
def test_a_model_of_a_framework_finds_what_shares_no_word(embedder: Any, question: str) -> None:
    """004-17: semantic retrieval with the embeddings that one has."""
    memory = LongTermMemory(InMemoryStore(), embedder=embedder, query_embedder=embedder.queries)
    memory.add(ANN, "likes green tea", category="user_preference")
    memory.add(ANN, "keeps a cat", category="fact")
    hits = memory.search(ANN, question)
    assert ([hit.memory.text for hit in hits], hits.status) == (["likes green tea"], "dense")


def test_questions_go_the_way_of_questions() -> None:
    model = ByWord()
    embedder = ModelEmbedder(model)
    LongTermMemory(InMemoryStore(), embedder=embedder, query_embedder=embedder.queries).search(ANN, "tea?")
    assert model.asked == ["tea?"]


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(TypeError, match="embeddings must be a model with embed_documents and embed_query or"):
        ModelEmbedder(lambda texts: [])
