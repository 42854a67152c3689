"""Embeddings by your own model: any function from texts to vectors, with checked results."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

from gatekeeper_core.vectors import unit_vector


class Embedder(Protocol):
    """A callable that returns one vector per text: a plain function, or a method of a framework's model.

    It may have a ``name``, and a ``related_cosine``: texts count as related from this cosine on.
    """

    def __call__(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return one vector per text, in order, all of one dimension."""
        ...


_METHODS = (("embed_documents", "embed_query"), ("get_text_embedding_batch", "get_query_embedding"))
"""Methods that embed texts and one query. Source: LangChain's ``Embeddings``, LlamaIndex's ``BaseEmbedding``."""


class ModelEmbedder:
    """An embedding model of LangChain or LlamaIndex as an ``embedder``, with ``queries`` as the ``query_embedder``.

    Args:
        embeddings: the model.

    Attributes:
        model: the model.
        name: the model's ``model_name`` or ``model`` if it is a str, else the name of its class.

    >>> class Lengths:
    ...     def embed_documents(self, texts):
    ...         return [[float(len(text))] for text in texts]
    ...     def embed_query(self, text):
    ...         return [float(len(text))]
    >>> embedder = ModelEmbedder(Lengths())
    >>> embedder(["tea", "茶"]), embedder.queries(["tea?"]), embedder.name
    ([[3.0], [1.0]], [[4.0]], 'Lengths')
    """

    __slots__ = ("_embed_query", "_embed_texts", "model", "name")

    def __init__(self, embeddings: Any) -> None:
        names = (getattr(embeddings, attribute, None) for attribute in ("model_name", "model"))
        self.name: str = next((name for name in names if name and isinstance(name, str)), type(embeddings).__name__)
        self.model = embeddings
        methods = methods_of(embeddings)
        if methods is None:
            expected = " or ".join(" and ".join(methods) for methods in _METHODS)
            raise TypeError(f"embeddings must be a model with {expected}, got {type(embeddings).__name__}")
        self._embed_texts, self._embed_query = (getattr(embeddings, method) for method in methods)

    def __call__(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return the vectors of stored texts."""
        vectors: Sequence[Sequence[float]] = self._embed_texts([*texts])
        return vectors

    def queries(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return the vectors of queries."""
        return [self._embed_query(text) for text in texts]


def methods_of(embedder: object) -> tuple[str, str] | None:
    """Return the names of the methods that embed texts and a query, None if the object has no such pair."""
    has = (all(callable(getattr(embedder, method, None)) for method in methods) for methods in _METHODS)
    return next((methods for methods, found in zip(_METHODS, has, strict=True) if found), None)


class Embedded(NamedTuple):
    """Checked unit vectors, one per text (None for a text without), and the reason if some are missing, else ""."""

    vectors: tuple[array[float] | None, ...]
    reason: str = ""


def embed(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """Return the vectors of texts, or the reason if some are missing; errors of the embedder are not raised.

    Reasons are ``"error: <its type>"``, ``"wrong_count"``, ``"mixed_dimensions"``, and, for some of the texts,
    ``"no_vector"`` (not numbers, NaN, all zero).

    >>> embed(lambda texts: [[float(len(text))] for text in texts], ["tea", ""])
    Embedded(vectors=(array('f', [1.0]), None), reason='no_vector')
    """
    try:
        output = tuple(islice(iter(embedder(texts)), len(texts) + 1))
        vectors = tuple(unit_vector(vector) for vector in output)
    except Exception as error:  # noqa: BLE001 - a model of the caller's, most often over a network: it may raise anything
        return Embedded((), f"error: {type(error).__name__}")
    if len(vectors) != len(texts):
        return Embedded((), "wrong_count")
    if len({len(vector) for vector in vectors if vector}) > 1:
        return Embedded((), "mixed_dimensions")
    return Embedded(vectors, "" if all(vectors) else "no_vector")


def embedder_name(embedder: Embedder) -> str:
    """Return an embedder's ``name`` if that is a str, else module and qualified name of its function or class.

    Two objects of one class, two ``partial`` objects and two lambdas of one function share a name.
    """
    name = getattr(embedder, "name", None)
    if name and isinstance(name, str):
        return name
    source = embedder if hasattr(embedder, "__qualname__") else type(embedder)
    return f"{source.__module__}.{source.__qualname__}"


def embedding_mark(text: str, embedder_name: str) -> str:
    """Return 32 hexadecimal digits for a text and the embedder of its vector; another text or name, another mark."""
    import hashlib  # here, because it is a tenth of the import of the library

    named = f"{embedder_name}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(named).hexdigest()[:32]
