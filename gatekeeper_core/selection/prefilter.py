"""A prefilter by literals: whether a text can hold a term, told by substring search alone.

A term is what is left of a written word (case-folded, stemmed, simplified), so a text that holds the term holds the
word that it came from, and of that a beginning or one of a few other forms: its *literals*. A text without any of them
does not hold the term. The other way round a literal proves little: ``prune`` holds ``run``. Only a pair of a script
without spaces is a term wherever its characters stand.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from gatekeeper_core.selection.anchors import MAX_TURN_ANCHORS, count_terms, folded, stem, terms_in, without_ending
from gatekeeper_core.selection.lexicon import family_heads, irregular_forms
from gatekeeper_core.text import clean, is_wide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gatekeeper_core.text import Span

__all__ = ["Prefilter", "literals", "other_forms"]

_NUMERALS = tuple("二两三四五六七八九十百")

_LONGEST_SURE = MAX_TURN_ANCHORS // 2
"""Characters of a stretch that keeps all of its terms: each character begins two different ones at most."""


class Prefilter:
    """A text in which terms are looked for by their literals.

    Args:
        text: the text, as written.
        terms: what is looked for.

    Attributes:
        empty: whether the whole text surely holds none of the terms.

    >>> from gatekeeper_core.text import Span
    >>> prefilter = Prefilter("Redis runs. 缓存 is warm. Prune.", ["缓存", "run"])
    >>> [prefilter.holds(Span(*ends)) for ends in ((0, 11), (12, 23), (15, 23), (24, 30))]
    [True, True, False, None]
    """

    __slots__ = ("_in_place", "_literals", "_low", "_pairs", "_text", "_words", "empty")

    def __init__(self, text: str, terms: Iterable[str]) -> None:
        cleaned = clean(text)
        low = _searchable(cleaned)
        listed = list(terms)
        self._text = text
        self._low = low
        self._in_place = len(text) == len(cleaned) == len(low)
        self._pairs = [term for term in listed if _is_pair(term) and term in low]
        self._words = [term for term in listed if not _is_pair(term)]
        self._literals = [literal for word in self._words for literal in literals(word) if literal in low]
        self.empty = not self._pairs and not self._literals

    def holds(self, span: Span) -> bool | None:
        """Return whether a stretch of the text holds one of the terms, or None where only its extraction can tell.

        Args:
            span: the stretch; what it holds is what :func:`~gatekeeper_core.selection.anchors.count_terms` finds in it.
        """
        start, stop = span
        low = self._low[start:stop] if self._in_place else _searchable(clean(self._text[start:stop]))
        sure = stop - start <= _LONGEST_SURE
        if any(map(low.__contains__, self._pairs)):
            return True if sure else None
        for literal in self._literals:
            at = low.find(literal)
            if at >= 0:
                return True if sure and self._in_place and self._proves(start + at, span) else None
        return False

    def _proves(self, at: int, span: Span) -> bool:
        """Return whether the characters between two spaces around a place hold a term, for then the stretch does.

        No word goes over a space. Dates and amounts do, so they are left to the extraction.
        """
        begin = self._text.rfind(" ", span.start, at) + 1 or span.start
        end = self._text.find(" ", at, span.stop)
        held = terms_in(self._text[begin : end if end >= 0 else span.stop])
        return any(word in held and word[0] not in "@#" for word in self._words)


@lru_cache(maxsize=8192)
def literals(term: str) -> tuple[str, ...]:
    """Return strings of which one stands in every text that holds a term, the text cleaned and folded, ' for ’.

    Args:
        term: a term as the index has it.

    >>> literals("redis"), literals("query"), literals("break")
    (('redis', "r'edis"), ('query', "q'uery", 'queri'), ('break', "b'reak", 'broke', 'broken'))
    >>> literals("缓存"), literals("@05-03")
    (('缓存',), ('3',))
    """
    # What is found in the text is a beginning of the written word, whatever ending the stem lost.
    if term.startswith("@"):
        return (term[-2:].lstrip("0"),)
    if term.startswith("#"):
        number = term[1:]
        return (number[: len(number) - len(number.lstrip("0123456789."))], *_NUMERALS)
    divided = (f"{term[0]}'{term[1:]}",) if len(term) > 3 else ()  # O'Brien
    return (term, *divided, *other_forms(term))


def other_forms(term: str) -> tuple[str, ...]:
    """Return how the words of a term begin that do not begin with the term itself.

    >>> other_forms("break"), other_forms("subscrib"), other_forms("query")
    (('broke', 'broken'), ('subscription',), ('queri',))
    """
    return (*_changed_ends(term), *_forms_by_term().get(term, ()))


def _changed_ends(begin: str) -> Iterator[str]:
    """Yield how the beginning of a word is written where its last letter changes."""
    if begin.endswith("y"):  # queries, queried
        yield f"{begin[:-1]}i"
    if without_ending(american := f"{begin[:-1]}z") == begin:  # organise, organize
        yield american


def _searchable(cleaned: str) -> str:
    """Return a cleaned text as literals stand in it. Each character is folded by itself, whatever stands beside it."""
    low = folded(cleaned)
    return low if low.isascii() else low.replace("’", "'")


@lru_cache(maxsize=8192)
def _is_pair(term: str) -> bool:
    """Return whether a term is a pair of a script without spaces: it is a term wherever its characters stand."""
    return len(term) == 2 and is_wide(term[0]) and is_wide(term[1]) and term in count_terms(term)


@cache
def _forms_by_term() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for word in (*irregular_forms(), *family_heads(), *family_heads().values()):
        begin = without_ending(word) if word not in irregular_forms() else word
        found.setdefault(stem(word), {}).update(dict.fromkeys((begin, *_changed_ends(begin))))
    return {term: tuple(form for form in forms if not form.startswith(term)) for term, forms in found.items()}
