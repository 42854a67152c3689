"""The words that an excerpt must hold to stand for its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.selection.anchors import telling_terms

if TYPE_CHECKING:
    from collections.abc import Set

__all__ = ["SHARE_OF_WORDS", "words_kept"]

SHARE_OF_WORDS = 0.7
"""Share of the wanted words that an excerpt must hold. Source: ours; evidence is labelled by message, not passage."""


def words_kept(excerpt: str, text: str, wanted: Set[str]) -> bool | None:
    """Return whether an excerpt keeps enough of the wanted words of its text.

    Args:
        excerpt: the part of the text that is sent.
        text: the whole text.
        wanted: terms as :func:`telling_terms` returns them.

    Returns:
        None where the text holds none of the wanted words, so that nothing can be said.

    >>> words_kept("The dog is called Biscuit.", "The dog is called Biscuit. He snores.", {"biscuit"})
    True
    """
    words = telling_terms(text) & wanted
    return len(words & telling_terms(excerpt)) >= SHARE_OF_WORDS * len(words) if words else None
