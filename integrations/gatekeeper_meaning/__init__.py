"""An embedder that needs no download: a multilingual sentence encoder whose weights come with the extra ``meaning``."""

from __future__ import annotations

from gatekeeper_meaning.embedder import MeaningEmbedder

__all__ = ["MeaningEmbedder"]
