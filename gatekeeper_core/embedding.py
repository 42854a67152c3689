"""Embeddings by your own model: any function from texts to vectors, with its results checked."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

from gatekeeper_core.vectors import unit_vector


class Embedder(Protocol):
    """A callable that returns one vector per text: a plain function, or a method of a framework's model.

    It may have a ``name``, and a ``related_cosine``, from which texts count as related.
    """

    def __call__(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return one vector for each text, in their order, all of one dimension."""
        ...


_METHODS = (("embed_documents", "embed_query"), ("get_text_embedding_batch", "get_query_embedding"))
"""The methods with which a framework's model embeds texts and one question. Source: LangChain's ``Embeddings``,
LlamaIndex's ``BaseEmbedding``."""


class ModelEmbedder:
    """An embedding model of LangChain or LlamaIndex as an ``embedder``, with ``queries`` as the ``query_embedder``.

    Args:
        embeddings: the model.

    Attributes:
        model: the model.
        name: the model's ``model_name`` or ``model`` where it is a text, else the name of its class.

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
        """Return the vectors of texts that are kept."""
        vectors: Sequence[Sequence[float]] = self._embed_texts([*texts])
        return vectors

    def queries(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return the vectors of questions."""
        return [self._embed_query(text) for text in texts]


def methods_of(embedder: object) -> tuple[str, str] | None:
    """Return the names of the methods that embed texts and a question, None where there are none of both."""
    has = (all(callable(getattr(embedder, method, None)) for method in methods) for methods in _METHODS)
    return next((methods for methods, found in zip(_METHODS, has, strict=True) if found), None)


class Embedded(NamedTuple):
    """Checked vectors of length 1, one for each text, None for a text without; and why some are missing, or ""."""

    vectors: tuple[array[float] | None, ...]
    reason: str = ""


def embed(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """Return the vectors of texts, or the reason why there are none; an embedder that fails raises nothing here.

    The reasons are ``"error: <its type>"``, ``"wrong_count"``, ``"mixed_dimensions"``, and for some of the texts
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
    """Return what tells an embedder from others: its ``name`` where that is a text, else where it is defined.

    That is module and qualified name of the function, or of the class of the object: two objects of one class, two
    ``partial`` objects and two lambdas of one function have one name.
    """
    name = getattr(embedder, "name", None)
    if name and isinstance(name, str):
        return name
    source = embedder if hasattr(embedder, "__qualname__") else type(embedder)
    return f"{source.__module__}.{source.__qualname__}"


def embedding_mark(text: str, embedder_name: str) -> str:
    """Return which text and embedder a vector is of, as 32 hexadecimal digits: another text or name, another mark."""
    import hashlib  # here, because it is a tenth of the import of the library

    named = f"{embedder_name}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(named).hexdigest()[:32]
