"""Speakers: the names that open messages (``Anna: …``, 小明：…), for conversations between two people.

A name is a speaker once it has opened :data:`MIN_MESSAGES` messages; role words (user, 客服) are not names. Speakers
change the scores in two ways: between two people both sides count alike, and messages of a speaker that the query names
count more.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.lexicon import word_set
from gatekeeper_core.text import LazyPattern

MIN_MESSAGES = 3
"""Messages that a name must open to be a speaker. Source: ours: "Note:" opens one, a name many."""

_LABEL = LazyPattern(r"\s*([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2}) ?(?::(?=\s)|：)")
_LONGEST_LABEL = 64
_ROLES = word_set("speaker roles")


def speaker_of(text: str) -> str:
    """Return the name that opens a message, case-folded, or "".

    >>> speaker_of("Anna: see you there"), speaker_of("小明：你好"), speaker_of("user: hi"), speaker_of("https://x.org")
    ('anna', '小明', '', '')
    """
    match = _LABEL.match(text[:_LONGEST_LABEL])
    if not match:
        return ""
    name = match[1].casefold()
    return "" if name in _ROLES or (name.isascii() and not match[1][0].isupper()) else name


class Speakers:
    """The names that open the messages of a conversation, by turn and side.

    >>> speakers = Speakers()
    >>> for _ in range(3):
    ...     speakers.add("Anna: hi", "Ben: hello")
    >>> speakers.are_two_people(), sorted(speakers.named({"anna": 1, "cat": 1}))
    (True, ['anna'])
    """

    __slots__ = ("_counts", "_labelled", "_pairs")

    def __init__(self) -> None:
        self._pairs: list[tuple[str, str]] = []
        self._counts: dict[str, int] = {}
        self._labelled = 0

    def add(self, user_text: str, assistant_text: str) -> None:
        """Add the next turn."""
        pair = speaker_of(user_text), speaker_of(assistant_text)
        self._pairs.append(pair)
        self._labelled += all(pair)
        for name in filter(None, pair):
            self._counts[name] = self._counts.get(name, 0) + 1

    def remove_last(self) -> None:
        """Remove the newest turn."""
        pair = self._pairs.pop()
        self._labelled -= all(pair)
        for name in filter(None, pair):
            self._counts[name] -= 1

    def of(self, turn_id: int) -> tuple[str, str]:
        """Return the names on both sides of a turn, "" for a missing one."""
        return self._pairs[turn_id]

    def are_two_people(self) -> bool:
        """Return whether most turns name both sides, with at least two different names."""
        return 2 * self._labelled > len(self._pairs) and sum(count > 0 for count in self._counts.values()) > 1

    def named(self, terms: Collection[str]) -> frozenset[str]:
        """Return the speakers whose full name is among the given terms."""
        speakers = {name: _terms_of(name) for name, count in self._counts.items() if count >= MIN_MESSAGES}
        return frozenset(name for name, own in speakers.items() if own and all(term in terms for term in own))


@lru_cache(maxsize=4096)
def _terms_of(name: str) -> tuple[str, ...]:
    """Return the terms that identify a speaker; initials and other single characters do not."""
    return tuple(term for term in count_terms(name) if len(term) > 1 or term.isdigit())
