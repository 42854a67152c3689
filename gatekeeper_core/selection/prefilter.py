"""A prefilter by literals: whether a text can hold a term, by substring search alone.

A term is what is left of a written word (case-folded, stemmed, simplified), so a text that holds the term holds the
word that it came from, and of that a beginning or one of a few other forms: its *literals*. A text without any of them
does not hold the term. The other way round a literal proves little: ``prune`` holds ``run``.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from gatekeeper_core.selection.anchors import folded, stem, without_ending
from gatekeeper_core.selection.lexicon import family_heads, irregular_forms
from gatekeeper_core.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gatekeeper_core.text import Span

_NUMERALS = tuple("二两三四五六七八九十百")


class Prefilter:
    """A text in which terms are looked for by their literals.

    >>> from gatekeeper_core.text import Span
    >>> prefilter = Prefilter("Redis runs. 缓存 is warm. Prune.", ["缓存", "run"])
    >>> [prefilter.may_hold(Span(*ends)) for ends in ((0, 11), (12, 23), (15, 23), (24, 30))]
    [True, True, False, True]
    """

    def __init__(self, text: str, terms: Iterable[str]) -> None:
        cleaned = clean(text)
        self._text = text
        self._low = _searchable(cleaned)
        self._in_place = len(text) == len(cleaned) == len(self._low)
        self._literals = [literal for term in terms for literal in literals(term) if literal in self._low]

    def may_hold(self, span: Span) -> bool:
        """Return whether a stretch of the text may hold one of the terms."""
        start, stop = span
        low = self._low[start:stop] if self._in_place else _searchable(clean(self._text[start:stop]))
        return any(map(low.__contains__, self._literals))


@lru_cache(maxsize=8192)
def literals(term: str) -> tuple[str, ...]:
    """Return strings of which one is in every text that holds a term, the text cleaned and folded, ' for ’.

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
    """Return a cleaned text in the form of the literals. Each character is folded alone, whatever is beside it."""
    low = folded(cleaned)
    return low if low.isascii() else low.replace("’", "'")


@cache
def _forms_by_term() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for word in (*irregular_forms(), *family_heads(), *family_heads().values()):
        begin = without_ending(word) if word not in irregular_forms() else word
        found.setdefault(stem(word), {}).update(dict.fromkeys((begin, *_changed_ends(begin))))
    return {term: tuple(form for form in forms if not form.startswith(term)) for term, forms in found.items()}
