"""An embedding model of LangChain for long-term memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MemoryEmbedder"]


class MemoryEmbedder:
    """The ``embedder`` of a ``LongTermMemory``, with ``queries`` as its ``query_embedder``.

    Args:
        embeddings: the model; many tell a text that is kept from a question.

    Raises:
        TypeError: it is none of LangChain.

    >>> from gatekeeper_core.context.memory.memory import LongTermMemory
    >>> from gatekeeper_core.storage.in_memory import InMemoryMemoryStore
    >>> from langchain_core.embeddings import DeterministicFakeEmbedding
    >>> embedder = MemoryEmbedder(DeterministicFakeEmbedding(size=8))
    >>> memory = LongTermMemory(InMemoryMemoryStore(), embedder=embedder, query_embedder=embedder.queries)
    """

    __slots__ = ("_embeddings",)

    def __init__(self, embeddings: Embeddings) -> None:
        if not isinstance(embeddings, Embeddings):
            raise TypeError(f"embeddings must be a Embeddings, got {type(embeddings).__name__}")
        self._embeddings = embeddings

    def __call__(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return the vectors of texts that are kept."""
        return self._embeddings.embed_documents([*texts])

    def queries(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return the vectors of questions."""
        return [self._embeddings.embed_query(text) for text in texts]
