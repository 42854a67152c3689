"""How much a sentence tells: its uncommon terms, and whether it says who did what, and when.

::

    told = (sum over the telling terms of their idf against everyday talk) * first person * names * time

Greetings, thanks and small talk are taken out first, and so is the name in front of a message. What is rare in everyday
talk is what somebody may ask for later. No figure depends on the conversation: a summary that was made step by step
weighs as one made at once.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from gatekeeper_core.selection.anchors import folded, telling_terms
from gatekeeper_core.selection.index import idf_among
from gatekeeper_core.selection.speakers import speaker_of
from gatekeeper_core.text import LazyPattern, clean, data_pattern

__all__ = ["Telling", "is_uncommon", "read_telling"]

FIRST_PERSON, NAMES, TIME = 1.4, 1.4, 1.3
"""Factors of a sentence in the first person, with a name, with a time. Source: ours, by ``benchmarks.summaries``."""

UNCOMMON_IDF = 3.0
"""From here on a term is rarer than the thousand commonest words of everyday talk. Source: ours."""

_PAIR_SHARE = 0.6  # of a pair of characters: every character begins one, also where no word does
_LEAST_TERMS = 3

_COURTESY = data_pattern("summary_patterns.tsv", "COURTESY")
_FIRST_PERSON = LazyPattern(r"\b(?:i|we|my|our)\b|[我咱俺]")
_TIME = data_pattern("summary_patterns.tsv", "TIME")
_NAME = LazyPattern(r"(?<=[a-z0-9,;:)] )[A-Z]\w|[《「『“·]|(?<=[\u4e00-\u9fff])[A-Za-z]{2}")


class Telling(NamedTuple):
    """What a sentence tells.

    Attributes:
        weights: its telling terms with their idf against everyday talk; of a pair of characters a part of it.
        factor: product of the factors that apply, 1 and more.
        courteous: whether a greeting, thanks or small talk was taken out.
        signs: which of first person and time it has, 0 to 2.
    """

    weights: dict[str, float]
    factor: float
    courteous: bool
    signs: int

    @property
    def told(self) -> float:
        """How much it tells: its weights together, times the factor."""
        return round(math.fsum(self.weights.values()) * self.factor, 6)

    @property
    def is_fact(self) -> bool:
        """Whether it tells something by itself: three telling terms; first person and time count as one each."""
        return len(self.weights) > 1 and len(self.weights) + self.signs >= _LEAST_TERMS and self.names_something

    @property
    def names_something(self) -> bool:
        """Whether it has a term that is uncommon in everyday talk; beside a greeting, two."""
        return sum(map(is_uncommon, self.weights)) > self.courteous


@lru_cache(maxsize=512)  # the sentences of a summary are weighed again at each update
def read_telling(text: str) -> Telling:
    """Return what a sentence tells.

    >>> read_telling("Anna: Hey Ben, good to see you!").is_fact, read_telling("I went to Oslo yesterday.").is_fact
    (False, True)
    >>> read_telling("你好，好久不见！").told, read_telling("我昨天去了植物园。").is_fact
    (0.0, True)
    """
    if speaker_of(text):  # the name in front of the message that it opens
        text = text[min(at for mark in ":：" if (at := text.find(mark)) >= 0) + 1 :]
    said = clean(text)  # in this order: a wide colon needs no white space after it, an ASCII one does
    low = folded(said).replace("’", "'")
    plain = _COURTESY.sub(" ", low)
    weights = {
        term: _idf(term) * (_PAIR_SHARE if len(term) == 2 and not term.isascii() else 1.0)
        for term in sorted(telling_terms(plain))
    }
    own, timed = _FIRST_PERSON.search(plain) is not None, _TIME.search(plain) is not None
    factor = (FIRST_PERSON if own else 1.0) * (TIME if timed else 1.0) * (NAMES if _NAME.search(said) else 1.0)
    return Telling(weights, factor, plain != low, own + timed)


def is_uncommon(term: str) -> bool:
    """Return whether a term is uncommon in everyday talk.

    >>> is_uncommon("redis"), is_uncommon("friend"), is_uncommon("缓存"), is_uncommon("喜欢")
    (True, False, True, False)
    """
    return _idf(term) >= UNCOMMON_IDF


@lru_cache(maxsize=16_384)
def _idf(term: str) -> float:
    return idf_among(term, documents=0, frequency=0)
