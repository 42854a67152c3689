"""The wordings by which a clause says something worth knowing about its writer, in Chinese and English.

Each wording is looked for at the beginning of a clause only, in the first person and the present: "I like tea" is one,
"he said I like tea", "I liked tea" and "should I like tea" are none. The wordings are data
(``memory_patterns.tsv``, ``memory_rules.tsv``).
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, cast

from gatekeeper_core.data_files import expanded, rows
from gatekeeper_core.selection.anchors import count_terms, folded
from gatekeeper_core.text import LazyPattern, data_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_core.storage.base import MemoryCategory

__all__ = [
    "ASKED_TO_REMEMBER",
    "CLAUSE_BORDER",
    "FORGET",
    "HYPOTHETICAL",
    "LATER_HYPOTHETICAL",
    "NOTHING_TO_FORGET",
    "OPENER",
    "REMEMBER",
    "REPORTED",
    "SECRET",
    "TASK",
    "Found",
    "memory_rules",
    "read_clause",
]


class Found(NamedTuple):
    """What a clause is about, and the question that it answers, or None."""

    category: MemoryCategory
    key: str | None


def read_clause(clause: str) -> Found | None:
    """Return what a clause says about its writer, or None.

    Args:
        clause: from its first word on; only its beginning is compared.

    >>> read_clause("I live in Paris"), read_clause("I like green tea").key, read_clause("Nice to meet you")
    (Found(category='fact', key='residence'), 'like:green tea', None)
    >>> read_clause("我们的项目用 Redis 做缓存").category, read_clause("我对花生过敏").key
    ('project_context', 'allergy:花生')
    """
    plain = clause.replace("’", "'")
    for category, template, wording in memory_rules():
        if match := wording.match(plain):
            key = template
            if "*" in template:
                named = _TRAILING.sub("", _LEADING.sub("", folded(match["o"]).strip(" \t"), count=1))
                by_terms = named.isascii() and template.endswith(":*")
                short = " ".join(count_terms(named) if by_terms else named.split())
                key = template.replace("*", short[:_MAX_KEY]) if short else ""
            return Found(category, key or None)
    return None


_MAX_KEY = 60


def _pattern(name: str, flags: int = re.IGNORECASE) -> LazyPattern:
    return data_pattern("memory_patterns.tsv", name, flags)


_LEADING, _TRAILING = _pattern("LEADING", 0), _pattern("TRAILING", 0)

CLAUSE_BORDER = _pattern("CLAUSE_BORDER")
"""Behind it another clause may begin."""

OPENER = _pattern("OPENER")
"""What may stand before a clause without changing what it says."""

HYPOTHETICAL = _pattern("HYPOTHETICAL")
"""Before a clause: it is supposed, not said."""

LATER_HYPOTHETICAL = _pattern("LATER_HYPOTHETICAL")
"""Inside a clause: the same."""

REPORTED = _pattern("REPORTED")
"""Before a clause: somebody else says it."""

TASK = _pattern("TASK")
"""From here on a message holds a text to work on, not what its writer says of themselves."""

SECRET = _pattern("SECRET")
"""What is remembered only where the user asks for it in so many words."""

REMEMBER = _pattern("REMEMBER")
"""A request to remember what follows."""

ASKED_TO_REMEMBER = _pattern("ASKED_TO_REMEMBER")
"""The same, in the form of a question."""

FORGET = _pattern("FORGET")
"""A request to forget; its group is what."""

NOTHING_TO_FORGET = _pattern("NOTHING_TO_FORGET")
"""What is to be forgotten names nothing: the talk goes on, and no memory is meant."""


@cache
def memory_rules() -> Sequence[tuple[MemoryCategory, str, re.Pattern[str]]]:
    """Return category, key template and wording; the first that matches counts.

    ``*`` in a template is what the group ``o`` matched.
    """
    found = []
    for (_, category, key), parts in groupby(rows("memory_rules.tsv"), itemgetter(0, 1, 2)):
        wording = expanded("memory_patterns.tsv", "".join(part for *_, part in parts))
        found.append((cast("MemoryCategory", category), key.strip("-"), re.compile(wording, re.IGNORECASE)))
    return found
