"""How common a term is in everyday dialogue: what a young conversation cannot know (``data/background.tsv``)."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from gatekeeper_core.data_files import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["background_frequencies"]


@cache
def background_frequencies() -> Mapping[str, float]:
    """Return the relative frequency (0..1) of the commonest English stems and Chinese character pairs.

    Terms that are not listed are rarer than all that are. The table is read on first use and never changes.

    >>> background_frequencies()["friend"] > background_frequencies()["idea"]
    True
    """
    shares = {term: int(ppm) / 1e6 for ppm, terms in rows("background.tsv") for term in terms.split()}
    return MappingProxyType(shares)
