"""The forms of English words that no ending tells: irregular forms, families, spellings (``data/word_forms.tsv``).

A family is a verb with the noun of its action (``cancel``, ``cancellation``), a quality with its adjective (``safe``,
``safety``), or a word in its British and American spelling (``colour``, ``color``). Kinship alone joins nothing: a
``station`` is no ``state``, an ``application`` for a job is one to ``apply``, but a ``department`` is nothing to
``depart``. So the families are a list and not a rule.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from gatekeeper_core.data_files import rows, words

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UNINFLECTED", "family_heads", "irregular_forms"]


@cache
def irregular_forms() -> Mapping[str, str]:
    """Return the base form of English words that no ending tells (``bought``: ``buy``).

    >>> irregular_forms()["wrote"], irregular_forms()["children"]
    ('write', 'child')
    """
    return _by_member("irregular")


@cache
def family_heads() -> Mapping[str, str]:
    """Return, by English word, the word that stands for its family; the head itself is not listed.

    >>> family_heads()["cancellation"], family_heads()["colour"]
    ('cancel', 'color')
    """
    return _by_member("family")


def _by_member(kind: str) -> Mapping[str, str]:
    table = rows("word_forms.tsv")
    return MappingProxyType({form: head for row, head, forms in table if row == kind for form in forms.split()})


UNINFLECTED = frozenset(words("words.tsv", "uninflected"))
"""Words that seem to have an ending and would be taken for another word without it."""
