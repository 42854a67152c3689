"""Embeddings by a model of the caller's: any function from texts to vectors, checked, and never trusted to succeed."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from gatekeeper_core.storage.vectors import unit_vector

__all__ = ["Embedded", "Embedder", "embed", "embedding_mark"]


class Embedder(Protocol):
    """Any callable that gives one vector for each text: a plain function, a bound method of a framework's class."""

    def __call__(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return one vector for each text, in their order, all of one dimension."""
        ...


class Embedded(NamedTuple):
    """What an embedder gave.

    Attributes:
        vectors: one of length 1 for each text; none where it failed.
        reason: why there is none, None where there are.
    """

    vectors: tuple[array[float], ...]
    reason: str | None = None


def embed(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """Return the vectors of texts, or the reason why there are none; nothing that the embedder does raises here.

    The reasons are ``"error: <its type>"``, ``"wrong_count"``, ``"no_vector"`` (not numbers, NaN, all zero) and
    ``"mixed_dimensions"``.

    >>> embed(lambda texts: [[float(len(text)), 0.0] for text in texts], ["ab"]).vectors
    (array('f', [1.0, 0.0]),)
    >>> embed(lambda texts: [], ["ab"]).reason
    'wrong_count'
    """
    try:
        given = tuple(islice(iter(embedder(texts)), len(texts) + 1))
        vectors = [unit_vector(vector) for vector in given]
    except Exception as error:  # noqa: BLE001 - a model of the caller's, most often over a network: it may raise anything
        return Embedded((), f"error: {type(error).__name__}")
    if len(vectors) != len(texts):
        return Embedded((), "wrong_count")
    read = tuple(vector for vector in vectors if vector is not None)
    if len(read) != len(texts):
        return Embedded((), "no_vector")
    if len({len(vector) for vector in read}) > 1:
        return Embedded((), "mixed_dimensions")
    return Embedded(read)


def embedding_mark(text: str, embedder_name: str) -> str:
    """Return which text and embedder a vector is of, as 32 hexadecimal digits: another text or name, another mark.

    >>> embedding_mark("tea", "") == embedding_mark("tea", ""), embedding_mark("tea", "") == embedding_mark("tea", "e5")
    (True, False)
    """
    import hashlib  # here, because it is a tenth of the import of the library

    named = f"{embedder_name}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(named).hexdigest()[:32]
