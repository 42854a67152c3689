"""An embedding model of LlamaIndex for long-term memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_index.core.base.embeddings.base import BaseEmbedding

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MemoryEmbedder"]


class MemoryEmbedder:
    """The ``embedder`` of a ``LongTermMemory``, with ``queries`` as its ``query_embedder``.

    Args:
        embeddings: the model; many tell a text that is kept from a question.

    Raises:
        TypeError: it is none of LlamaIndex.

    >>> from gatekeeper_core.context.memory.memory import LongTermMemory
    >>> from gatekeeper_core.storage.in_memory import InMemoryMemoryStore
    >>> from llama_index.core.embeddings import MockEmbedding
    >>> embedder = MemoryEmbedder(MockEmbedding(embed_dim=8))
    >>> memory = LongTermMemory(InMemoryMemoryStore(), embedder=embedder, query_embedder=embedder.queries)
    """

    __slots__ = ("_embeddings",)

    def __init__(self, embeddings: BaseEmbedding) -> None:
        if not isinstance(embeddings, BaseEmbedding):
            raise TypeError(f"embeddings must be a BaseEmbedding, got {type(embeddings).__name__}")
        self._embeddings = embeddings

    def __call__(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return the vectors of texts that are kept."""
        return self._embeddings.get_text_embedding_batch([*texts])

    def queries(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return the vectors of questions."""
        return [self._embeddings.get_query_embedding(text) for text in texts]
