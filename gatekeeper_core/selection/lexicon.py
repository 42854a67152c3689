"""Word lists of the selection, from files of ``data``: function words, characters, and the cues that steer the gate."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from gatekeeper_core.data_files import pattern, words


class Wordings(NamedTuple):
    """A group of wordings with one meaning.

    Attributes:
        chinese: wordings that are found anywhere in a text.
        english: alternatives of a pattern, found as whole words.
        begins: the words that ``english`` may begin with; of a script without spaces, characters.
            The pattern is tried only on a text that holds one of them, or a first character of ``chinese``.
    """

    chinese: tuple[str, ...]
    english: str
    begins: tuple[str, ...]


@cache
def wordings(name: str) -> Wordings:
    """Return a group of ``data/cues.tsv`` by its name."""
    chinese, english, begins = (f"{name} {part}" for part in ("chinese", "english", "begins"))
    return Wordings(words("cues.tsv", chinese), pattern("cues.tsv", english), words("cues.tsv", begins))


@cache
def word_set(name: str) -> frozenset[str]:
    """Return a list of ``data/words.tsv`` by its name."""
    return frozenset(words("words.tsv", name))


ENGLISH_STOP_WORDS = word_set("stop words")
"""English function words: never anchors."""

HAN_PARTICLES = frozenset("".join(words("words.tsv", "Han particles")))
"""Chinese particles: a character pair that holds one is no anchor."""

HAN_LIGHT = frozenset("".join(words("words.tsv", "Han light")))
"""Chinese function characters: a pair that holds one weighs less."""

GENERIC_WORDS = word_set("generic words")
"""English words that hardly tell one topic from another: numbers, units, times, plain verbs and adjectives."""

HAN_GENERIC = HAN_LIGHT.union(*words("words.tsv", "Han generic"))
"""Chinese characters of which a pair of two tells hardly any topic: numerals, units, plain verbs."""

KANA_PARTICLES = frozenset("".join(words("words.tsv", "kana particles")))
"""Hiragana that mostly carry grammar: a pair made of two of them is no anchor."""
