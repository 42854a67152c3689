"""An embedder without a download: a multilingual sentence encoder with its weights, 33 MB (extra ``meaning``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatekeeper_meaning.embedder import MeaningEmbedder

__all__ = ["MeaningEmbedder"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gatekeeper_meaning import embedder

    return getattr(embedder, name)
