"""An embedder within limits: packed vectors of texts in bounded time and memory, or the reason if some are missing.

::

    texts ── known by their digest ──> cache
          └─ the others, 64 at a time ──> a thread: embed ── check ── pack ──> cache

A late answer is not used, but cached for the next call: a slow embedder has no say until it has read everything once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import combinations
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from gatekeeper_core.caching import LruCache, text_key
from gatekeeper_core.data_files import rows
from gatekeeper_core.embedding import Embedder, ModelEmbedder, embed, embedder_name, methods_of
from gatekeeper_core.errors import check_number
from gatekeeper_core.events import ENCODER_FAILED
from gatekeeper_core.observation import tell
from gatekeeper_core.plugins import run_plugin
from gatekeeper_core.vectors import PackedVector, dot, packed

_BATCH = 64
"""Texts per call to an embedder. Source: ours; models gain nothing from larger batches on a CPU."""

_TEXTS_SHARE = 0.25
"""Share of a common limit that texts may take: late texts serve the next question. Source: ours."""


class Waits:
    """A time limit shared by several calls; ``left_seconds`` is what remains, below 0 if overspent."""

    __slots__ = ("left_seconds",)

    def __init__(self, seconds: float) -> None:
        self.left_seconds = seconds


_WAITS: ContextVar[Waits | None] = ContextVar("gatekeeper_waits", default=None)


@contextmanager
def waiting_within(waits: Waits) -> Iterator[None]:
    """Limit how long this thread waits for encoders inside; texts may use a quarter of the rest, a question all."""
    token = _WAITS.set(waits)
    try:
        yield
    finally:
        _WAITS.reset(token)


class Encoded(NamedTuple):
    """The vectors of texts.

    Attributes:
        vectors: one per text, in order; None for a text without one.
        reason: why vectors are missing (the last of several reasons); "" if no embedder failed.
    """

    vectors: tuple[PackedVector | None, ...]
    reason: str = ""


class TextEncoder:
    """An embedder that never raises, never blocks for long and caches its vectors; thread-safe.

    Args:
        embedder: embeds texts, and questions by its method ``queries``, if it has one. At most four threads call it at
            a time, never the caller's.
        timeout_seconds: how long a call of this object waits for the embedder, 0.001 to 3600.
        max_texts: number of vectors to cache, at least 0; a vector of 256 numbers takes 700 bytes.

    Attributes:
        name: the name of the embedder, see ``embedder_name``.

    Raises:
        ConfigError: a number is out of range.

    All vectors must have the dimension of the first: another model needs a new encoder. A deep copy is the encoder
    itself; a pickle keeps the settings, not the cache.

    >>> encoder = TextEncoder(lambda texts: [[float("tea" in text), 1.0] for text in texts])
    >>> (tea, cup), reason = encoder.encode(["green tea", "a cup"])
    >>> dot(tea, cup), reason
    (0.707107, '')
    >>> TextEncoder(lambda texts: []).encode(["tea"])
    Encoded(vectors=(None,), reason='wrong_count')
    """

    def __init__(self, embedder: Embedder, *, timeout_seconds: float = 5.0, max_texts: int = 16_384) -> None:
        if not callable(embedder):
            raise TypeError(f"embedder must be callable, got {type(embedder).__name__}")
        check_number("timeout_seconds", timeout_seconds, low=0.001, high=3600)
        check_number("max_texts", max_texts, low=0, integer=True)
        queries = getattr(embedder, "queries", None)
        self.name = embedder_name(embedder)
        self._embedder = embedder
        self._queries: Embedder = queries if callable(queries) else embedder
        self._timeout_seconds = timeout_seconds
        self._max_texts = max_texts
        self._cache = LruCache[tuple[bool, bytes], PackedVector](max_entries=max_texts)
        self._calibration: tuple[float, float] | None = None
        self._dimensions = 0
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of texts to search.

        Reasons are those of ``embed``, ``"other_dimensions"`` (than before), ``"late"`` (no answer in time) and
        ``"busy"`` (four earlier calls still hang). The embedder gets 64 texts at a time, in order; no batch starts
        after one without any vector or when the time is up. A blank text gets no vector and is no failure.
        """
        return self._encode(self._embedder, texts, share=_TEXTS_SHARE)

    def encode_query(self, text: str) -> Encoded:
        """Return the vector of a question; reasons as for :meth:`encode`."""
        return self._encode(self._queries, [text], share=1.0)

    @property
    def calibration(self) -> tuple[float, float] | None:
        """Mean and standard deviation of the cosines of all pairs of 20 unrelated sentences, to six digits.

        Computed at first use, from the sentences with a vector if these are at least half. None while the embedder
        fails; the next use tries again. An embedder that finds everything alike has a deviation of 0.0.
        """
        if self._calibration is None:
            unrelated = [sentence for (sentence,) in rows("unrelated.tsv")]
            vectors = [vector for vector in self.encode(unrelated).vectors if vector]
            if 2 * len(vectors) >= len(unrelated):  # a model of one language may have none for the other
                cosines = [dot(first, second) for first, second in combinations(vectors, 2)]
                mean = math.fsum(cosines) / len(cosines)
                variance = math.fsum((cosine - mean) ** 2 for cosine in cosines) / len(cosines)
                self._calibration = round(mean, 6), round(math.sqrt(variance), 6)
        return self._calibration

    def _encode(self, embedder: Embedder, texts: Sequence[str], *, share: float) -> Encoded:
        keys = [(embedder is self._embedder, text_key(text)) for text in texts]
        vectors = {key: self._cache.get(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if text.strip() and not vectors[key]}
        missing_keys, reason = [*missing], ""
        waits, begun = _WAITS.get(), monotonic()
        deadline = begun + min(self._timeout_seconds, share * waits.left_seconds if waits else math.inf)
        for start in range(0, len(missing_keys), _BATCH):
            if start and monotonic() >= deadline:
                reason = "late"
                break
            batch = missing_keys[start : start + _BATCH]
            embed_batch = partial(self._embed, embedder, batch, [missing[key] for key in batch])
            outcome = run_plugin(self, embed_batch, timeout_seconds=deadline - monotonic())
            if outcome.status != "done":  # failed: with an error that ends a thread; `embed` reports the others
                reason = f"error: {outcome.reason}" if outcome.status == "failed" else outcome.status
                break
            embedded: Encoded = outcome.value
            vectors.update(zip(batch, embedded.vectors, strict=True))
            reason = embedded.reason or reason
            if not any(embedded.vectors):
                break
        if waits and missing_keys:
            waits.left_seconds -= monotonic() - begun
        if reason:
            tell(ENCODER_FAILED, reason=reason)
        return Encoded(tuple(vectors[key] for key in keys), reason)

    def _embed(self, embedder: Embedder, keys: Sequence[tuple[bool, bytes]], texts: Sequence[str]) -> Encoded:
        """Return the vectors of a batch, and cache them: the call may end too late, on its own thread."""
        read, reason = embed(embedder, texts)
        dimensions = max((len(vector) for vector in read if vector), default=0)
        with self._lock:
            self._dimensions = self._dimensions or dimensions
        if dimensions not in (0, self._dimensions):
            reason = "other_dimensions"
        if not dimensions or reason == "other_dimensions":
            return Encoded((None,) * len(texts), reason)
        vectors = tuple(packed(vector) if vector else None for vector in read)
        for key, vector in zip(keys, vectors, strict=True):
            if vector:
                self._cache.put(key, vector)
        return Encoded(vectors, reason)

    def __deepcopy__(self, memo: dict[int, Any]) -> TextEncoder:
        return self  # a model may be large, and the cache serves every copy of an adapter

    def __reduce__(self) -> tuple[Callable[[], TextEncoder], tuple[()]]:
        return partial(type(self), self._embedder, timeout_seconds=self._timeout_seconds, max_texts=self._max_texts), ()


def encoder_of(embedder: Any) -> TextEncoder | None:
    """Return an embedder or a framework's model as an encoder with the usual limits; an encoder and None unchanged."""
    if embedder is None or isinstance(embedder, TextEncoder):
        return embedder
    # Checked first: a LlamaIndex model is callable too, but takes nodes.
    return TextEncoder(ModelEmbedder(embedder) if methods_of(embedder) else embedder)
