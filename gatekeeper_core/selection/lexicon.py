"""Word lists of the selection, from files of ``data`` that are read on first use and never change.

A family of word forms is a verb with the noun of its action (``cancel``, ``cancellation``), a quality with its
adjective (``safe``, ``safety``), or a word in its British and American spelling (``colour``, ``color``). Likeness
proves nothing: ``application`` belongs to ``apply``, but ``station`` not to ``state``, nor ``department`` to
``depart``. So the families are a list, not a rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from gatekeeper_core.data_files import rows, words


@cache
def word_set(name: str) -> frozenset[str]:
    """Return a list of ``data/words.tsv`` by name."""
    return frozenset(words("words.tsv", name))


@cache
def background_frequencies() -> Mapping[str, float]:
    """Return the relative frequency, 0..1, of the commonest English stems and Chinese pairs; all others are rarer.

    >>> background_frequencies()["friend"] > background_frequencies()["idea"]
    True
    """
    shares = {term: int(ppm) / 1e6 for ppm, terms in rows("background.tsv") for term in terms.split()}
    return MappingProxyType(shares)


@cache
def translations() -> Mapping[str, tuple[str, ...]]:
    """Return Chinese translations, commonest first, by English word; unstemmed, two English words joined by ``_``.

    >>> translations()["fridge"], translations()["washing_machine"]
    (('冰箱',), ('洗衣机',))
    """
    translations: dict[str, tuple[str, ...]] = {}
    for english, chinese in rows("translations.tsv"):
        translations.update(dict.fromkeys(english.split(), tuple(chinese.split())))
    return MappingProxyType(translations)


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """Return synonyms by word; English in lower case, not stemmed.

    >>> synonyms()["movie"], synonyms()["酒店"]
    (('film', 'cinema'), ('宾馆', '旅馆', '饭店'))
    """
    found: dict[str, dict[str, None]] = {}
    for (line,) in rows("synonyms.tsv"):
        group = line.split()
        for word in group:
            found.setdefault(word, {}).update(dict.fromkeys(other for other in group if other != word))
    return MappingProxyType({word: tuple(others) for word, others in found.items()})


@cache
def kinds() -> Mapping[str, tuple[str, ...]]:
    """Return common members of kinds, by the word for the kind (``sport``: ``football``, ``tennis``, …).

    >>> "tennis" in kinds()["sport"], "香蕉" in kinds()["水果"]
    (True, True)
    """
    found: dict[str, tuple[str, ...]] = {}
    for names, members in rows("kinds.tsv"):
        for name in names.split():
            found[name] = found.get(name, ()) + tuple(members.split())
    return MappingProxyType(found)


@cache
def simplified_characters() -> Mapping[str, str]:
    """Return the simplified forms of the commonest traditional characters.

    >>> "".join(simplified_characters().get(char, char) for char in "訂單與發貨")
    '订单与发货'
    """
    return MappingProxyType(dict(rows("simplified.tsv")))


@cache
def irregular_forms() -> Mapping[str, str]:
    """Return base forms by irregular English word (``bought``: ``buy``).

    >>> irregular_forms()["wrote"], irregular_forms()["children"]
    ('write', 'child')
    """
    return _by_member("irregular")


@cache
def family_heads() -> Mapping[str, str]:
    """Return family heads by English word; heads themselves are not listed.

    >>> family_heads()["cancellation"], family_heads()["colour"]
    ('cancel', 'color')
    """
    return _by_member("family")


def _by_member(kind: str) -> Mapping[str, str]:
    table = rows("word_forms.tsv")
    return MappingProxyType({form: head for row, head, forms in table if row == kind for form in forms.split()})


ENGLISH_STOP_WORDS = word_set("stop words")
"""English function words: never anchors."""

HAN_PARTICLES = frozenset("".join(words("words.tsv", "Han particles")))
"""Chinese particles: a character pair with one is not an anchor."""

HAN_LIGHT = frozenset("".join(words("words.tsv", "Han light")))
"""Chinese function characters: a pair with one weighs less."""

GENERIC_WORDS = word_set("generic words")
"""English words that hardly mark a topic: numbers, units, times, plain verbs and adjectives."""

HAN_GENERIC = HAN_LIGHT.union(*words("words.tsv", "Han generic"))
"""Chinese characters whose pairs hardly mark a topic: numerals, units, plain verbs."""

KANA_PARTICLES = frozenset("".join(words("words.tsv", "kana particles")))
"""Hiragana that mostly carry grammar: a pair of two of them is not an anchor."""

UNINFLECTED = word_set("uninflected")
"""Words with an apparent ending that would become another word without it."""
