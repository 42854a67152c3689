"""Anchors: the searchable terms of a text.

The index stores *terms*: English words (case-folded, lightly stemmed), numbers, identifiers and versions (whole and in
parts), dates and amounts, pairs of neighbouring characters in scripts without spaces, and single Han characters.
:func:`extract_anchors` adds triples of characters, quoted phrases and back-tick code: these are not indexed, but
searched in the text of the best candidates. Pairs and triples do not cross punctuation. No anchor is longer than 120
characters. At most 100,000 characters of a text are read (three quarters from its beginning, one quarter from its end),
and the first ``limit`` different anchors are kept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from operator import add
from typing import Literal, NamedTuple

from gatekeeper_core.selection.dates import quantities
from gatekeeper_core.selection.lexicon import (
    ENGLISH_STOP_WORDS,
    HAN_LIGHT,
    HAN_PARTICLES,
    KANA_PARTICLES,
    UNINFLECTED,
    family_heads,
    irregular_forms,
    simplified_characters,
)
from gatekeeper_core.text import HAN, LazyPattern, clean, is_wide, word_strings

AnchorKind = Literal[
    "word", "number", "identifier", "version", "pair", "character", "date", "amount", "triple", "quote", "code"
]

MAX_SCANNED_CHARACTERS = 100_000
"""Characters of a text that are scanned for anchors. Source: ours, about 25,000 tokens: longer than any reply."""

MAX_TURN_ANCHORS = 2048
"""Different terms kept per side of a turn. Source: ours: all of a long article, and a bound for a hostile one."""

MAX_QUERY_ANCHORS = 256
"""Different anchors kept per query. Source: ours: a question of 150 words has fewer."""

_NOT_INDEXED = frozenset({"triple", "quote", "code"})
_MAX_TOKEN = 120
_LIGHT_WEIGHT = 0.4
_CHARACTER_WEIGHT = 0.2
_SHORT_NUMBER_WEIGHT = 0.3
_QUANTITY_WEIGHT = 0.5

_PARTS = LazyPattern(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_VERSION = LazyPattern(r"[a-z]{0,8}[0-9]+(?:\.[0-9a-z]+)+(?:[-+][0-9a-z.]+)?", re.IGNORECASE)
_QUOTED = LazyPattern(
    r"`([^`\n]{1,120})`"
    r'|"([^"\n]{2,80})"|“([^“”\n]{2,80})”|‘([^‘’\n]{2,80})’|「([^「」\n]{1,80})」|『([^『』\n]{1,80})』|《([^《》\n]{1,80})》'
    r"|(?<!\w)'([^'\n]{2,80})'(?!\w)"
)
_CAMEL = LazyPattern(r"[a-z][A-Z]")
_FIRST_WIDE = "\u0e01"  # the first character of a script that is searched by pairs
_PAIR = LazyPattern(f"(?=([^{''.join(sorted(HAN_PARTICLES))}]{{2}}))")
_CHARACTER = LazyPattern(f"(?![{''.join(sorted(HAN_PARTICLES | HAN_LIGHT))}])[{HAN}]")
_ENDINGS = (("ing", 3), ("ed", 3), ("ly", 4))  # each with the fewest letters that must remain
_LONGEST_WITH_Z = 5  # letters of a word that keeps its z, as in "resize"
_VOWEL = LazyPattern(r"[aeiouy]")


class Anchor(NamedTuple):
    """An anchor of a text.

    Attributes:
        term: the indexed form (folded, stemmed).
        text: the anchor as first written.
        kind: kind of anchor.
        weight: weight before any idf, 0..1 (see :func:`term_weight`).
    """

    term: str
    text: str
    kind: AnchorKind
    weight: float


def count_terms(text: str, *, limit: int = MAX_TURN_ANCHORS, with_quantities: bool = True) -> dict[str, int]:
    """Return the indexed terms of a text with their counts, in order of first occurrence, dates and amounts last.

    Args:
        text: any text.
        limit: maximum number of different terms.
        with_quantities: whether to include dates and amounts, which are half the work on a short text.

    >>> count_terms("Deploy api-gateway, then deploy 缓存")
    {'deploy': 2, 'api-gateway': 1, 'api': 1, 'gateway': 1, '缓存': 1, '缓': 1, '存': 1}
    """
    readable = _readable(text)
    counts: dict[str, int] = {}
    for token in word_strings(readable):
        for term in _wide_terms(token) if _is_wide_run(token) else _known_terms(token):
            if term in counts:
                counts[term] += 1
            elif len(counts) < limit:
                counts[term] = 1
    for quantity in quantities(readable) if with_quantities else ():
        if quantity.term in counts or len(counts) < limit:
            counts[quantity.term] = counts.get(quantity.term, 0) + 1
    return counts


def telling_terms(text: str) -> set[str]:
    """Return the terms of :func:`count_terms` with more than one character and weight 1.

    >>> sorted(telling_terms("我们 deploy 缓存 7 days"))
    ['day', 'deploy', '缓存']
    """
    terms = count_terms(text, with_quantities=False)
    return {term for term in terms if len(term) > 2 or (len(term) == 2 and term_weight(term) == 1.0)}


def extract_anchors(text: str, *, limit: int = MAX_QUERY_ANCHORS) -> tuple[Anchor, ...]:
    """Return every anchor of a text once, in order of first occurrence; dates, amounts, quotes and code come last.

    Apart from the kinds ``triple``, ``quote`` and ``code``, the terms are those of :func:`count_terms`.

    >>> [(a.text, a.kind) for a in extract_anchors("Does v1.2 fix `get_user`?")]
    [('v1.2', 'version'), ('fix', 'word'), ('get_user', 'identifier'), ('user', 'word'), ('get_user', 'code')]
    """
    readable = _readable(text)
    anchors: dict[str | tuple[str], Anchor] = {}
    in_tokens = chain.from_iterable(map(_anchors, word_strings(readable)))
    amounts = (Anchor(amount.term, amount.text, amount.kind, _QUANTITY_WEIGHT) for amount in quantities(readable))
    for anchor in chain(in_tokens, amounts):
        if len(anchors) == limit:
            return tuple(anchors.values())
        anchors.setdefault(anchor.term, anchor)
    for match in _QUOTED.finditer(readable):
        written = " ".join(match[match.lastindex or 0].split())
        if len(anchors) < limit and any(map(str.isalnum, written)):
            kind: AnchorKind = "code" if match.lastindex == 1 else "quote"
            anchors.setdefault((written.casefold(),), Anchor(written.casefold(), written, kind, 1.0))
    return tuple(anchors.values())


def query_terms(text: str, *, counts: Mapping[str, int] | None = None) -> Collection[str]:
    """Return the indexed terms of a query's anchors, in order; faster than :func:`extract_anchors`.

    >>> list(query_terms("Does v1.2 fix `get_user`?"))
    ['v1.2', 'fix', 'get_user', 'user']
    """
    terms = count_terms(text) if counts is None else counts
    most_triples = 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore"))
    if len(terms) + most_triples <= MAX_QUERY_ANCHORS:
        return terms.keys()
    return [anchor.term for anchor in extract_anchors(text) if anchor.kind not in _NOT_INDEXED]


def has_whole(phrase: str, folded: str) -> bool:
    """Return whether a folded text contains a folded phrase as whole tokens.

    ``app`` is not in ``apple`` or ``app.py``. Scripts without spaces have no token borders: any occurrence counts.

    >>> has_whole("v1.2", "we run v1.20"), has_whole("v1.2", "we run v1.2.")
    (False, True)
    """
    at = folded.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if _is_free(phrase[0], folded[max(0, at - 2) : at][::-1]) and _is_free(phrase[-1], folded[end : end + 2]):
            return True
        at = folded.find(phrase, end)
    return False


def folded(text: str) -> str:
    """Return a text prepared for phrase search: case-folded, with the commonest traditional characters simplified.

    >>> folded("Redis 緩存")
    'redis 缓存'
    """
    return _simplified(text.casefold())


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Return the term shared by all forms of a lower-case English word.

    Irregular forms become their base; plural and third-person -s, -ing, -ed, -ly and silent -e are removed; doubled
    consonants are undone; -ize becomes -ise; a family member (``payment``) gets the term of its head (``pay``). Light
    on purpose: it joins what a reader would call the same word and little else. Source: Harman 1991, "How effective is
    suffixing?" (light stemming serves recall as well as a full stemmer); the rules and the families are ours, see
    :mod:`gatekeeper_core.selection.lexicon`.

    >>> [stem(w) for w in ("running", "ran", "tries", "caches", "making", "moved", "class", "status")]
    ['run', 'run', 'try', 'cach', 'mak', 'mov', 'class', 'status']
    >>> [stem(w) for w in ("payments", "organized", "organising", "apply", "app")]
    ['pay', 'organis', 'organis', 'apply', 'app']
    """
    light = without_ending(word)
    return _family_terms().get(light, light)


@cache
def _family_terms() -> Mapping[str, str]:
    return {without_ending(member): without_ending(head) for member, head in family_heads().items()}


def without_ending(word: str) -> str:
    """Return the base form of a lower-case English word without its ending; families are ignored.

    >>> without_ending("payments"), without_ending("wrote"), without_ending("modernisation")
    ('payment', 'writ', 'modernis')
    """
    word = irregular_forms().get(word, word)
    if len(word) < 4 or not word.isascii():
        return word
    word = word if word in UNINFLECTED else _without_plural(word)
    if word in UNINFLECTED:
        return word
    if word.endswith(("isation", "ization")):
        word = word[: -len("ation")]
    for ending, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least and _VOWEL.search(word[: -len(ending)]):
            word = word[: -len(ending)]
            doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz"
            word = word[:-1] if doubled or (word.endswith("e") and len(word) > 3) else word
            break
    else:
        word = word[:-1] if word.endswith("e") and len(word) > 3 else word
    return f"{word[:-1]}s" if word.endswith(("iz", "yz")) and len(word) > _LONGEST_WITH_Z else word


def other_forms(term: str) -> tuple[str, ...]:
    """Return the beginnings of a term's words that do not begin with the term itself.

    >>> other_forms("break"), other_forms("subscrib"), other_forms("query")
    (('broke', 'broken'), ('subscription',), ('queri',))
    """
    return (*_changed_ends(term), *_forms_by_term().get(term, ()))


def _changed_ends(begin: str) -> Iterator[str]:
    if begin.endswith("y"):  # queries, queried
        yield f"{begin[:-1]}i"
    if without_ending(american := f"{begin[:-1]}z") == begin:  # organise, organize
        yield american


@cache
def _forms_by_term() -> Mapping[str, tuple[str, ...]]:
    forms_by_term: dict[str, dict[str, None]] = {}
    for word in (*irregular_forms(), *family_heads(), *family_heads().values()):
        begin = without_ending(word) if word not in irregular_forms() else word
        forms_by_term.setdefault(stem(word), {}).update(dict.fromkeys((begin, *_changed_ends(begin))))
    return {term: tuple(form for form in forms if not form.startswith(term)) for term, forms in forms_by_term.items()}


def term_weight(term: str) -> float:
    """Return the weight of an indexed term before its idf, 0..1.

    Pairs with a Chinese function character weigh 0.4, single characters 0.2, numbers of one or two digits 0.3, dates
    and amounts 0.5 (their parts count too), all other terms 1. Source: ours. A pair with a function character is mostly
    grammar, a single character is mostly half a word.

    >>> term_weight("缓存"), term_weight("我们"), term_weight("缓"), term_weight("7"), term_weight("cache")
    (1.0, 0.4, 0.2, 0.3, 1.0)
    """
    if len(term) > 2:
        return _QUANTITY_WEIGHT if term[0] in "@#" else 1.0
    if _is_wide_run(term):
        return _CHARACTER_WEIGHT if len(term) == 1 else _pair_weight(term)
    return _SHORT_NUMBER_WEIGHT if term.isdigit() else 1.0


def _pair_weight(pair: str) -> float:
    return 1.0 if HAN_LIGHT.isdisjoint(pair) else _LIGHT_WEIGHT


def _readable(text: str) -> str:
    if len(text) > MAX_SCANNED_CHARACTERS:
        head = MAX_SCANNED_CHARACTERS * 3 // 4
        text = text[:head] + "\n" + text[head - MAX_SCANNED_CHARACTERS :]
    return clean(text)


def _anchors(token: str) -> Iterator[Anchor]:
    if not _is_wide_run(token):
        camel = _is_camel(token)
        is_word = (token.isalpha() and not camel) or "'" in token or "’" in token
        for term in _known_terms(token):
            is_token = term == token.casefold()
            kind: AnchorKind = "word" if term.isalpha() else "number" if term.isdigit() else "identifier"
            if camel and is_token:
                kind = "identifier"
            elif kind == "identifier" and _VERSION.fullmatch(term):
                kind = "version"
            yield Anchor(term, (token if is_word or is_token else term)[:_MAX_TOKEN], kind, term_weight(term))
        return
    plain = _simplified(token)
    written: dict[str, str] = {}  # how each pair and character was first written
    if plain != token:
        places = [(at, size) for size in (2, 1) for at in reversed(range(len(token)))]
        written = {plain[at : at + size]: token[at : at + size] for at, size in places}
    for term in _wide_terms(token):
        if len(term) == 2:
            yield Anchor(term, written.get(term, term), "pair", _pair_weight(term))
        else:
            yield Anchor(term, written.get(term, term), "character", 1.0 if len(token) == 1 else _CHARACTER_WEIGHT)
    for at, triple in enumerate(map(add, map(add, plain, plain[1:]), plain[2:])):
        if HAN_PARTICLES.isdisjoint(triple):
            yield Anchor(triple, token[at : at + 3], "triple", 1.0)


def _wide_terms(run: str) -> tuple[str, ...]:
    run = _simplified(run)
    if len(run) == 1:
        return () if run in HAN_PARTICLES or run in HAN_LIGHT or run in KANA_PARTICLES else (run,)
    pairs = _PAIR.findall(run)
    if not KANA_PARTICLES.isdisjoint(run):
        pairs = [pair for pair in pairs if not KANA_PARTICLES.issuperset(pair)]
    return (*pairs, *_CHARACTER.findall(run))


def _simplified(text: str) -> str:
    """Return a text of the same length with the commonest traditional characters simplified."""
    if text.isascii() or not _traditional().search(text):
        return text
    variants = simplified_characters()
    return "".join([variants.get(char, char) for char in text])


@cache
def _traditional() -> re.Pattern[str]:
    return re.compile(f"[{''.join(simplified_characters())}]")


def _is_wide_run(token: str) -> bool:
    return token[0] >= _FIRST_WIDE and _starts_wide(token[0])


_starts_wide = lru_cache(maxsize=65_536)(is_wide)


def _known_terms(token: str) -> tuple[str, ...]:
    # Long tokens are not cached: with base64 data the cache would grow to gigabytes.
    return _word_terms(token) if len(token) <= _MAX_TOKEN else _word_terms.__wrapped__(token)


@lru_cache(maxsize=65_536)
def _word_terms(token: str) -> tuple[str, ...]:
    """Return the terms of a token that is not wide: the token itself, and its parts if it is a compound."""
    folded = token.casefold()[:_MAX_TOKEN]
    if token.isalpha() and not _is_camel(token):
        return () if folded in ENGLISH_STOP_WORDS else (stem(folded),)
    if folded.isdigit():
        return (folded,)
    if "'" in folded or "’" in folded:  # the part before a contraction or a possessive
        plain = folded.replace("’", "'")
        base, _, rest = plain.partition("'")
        if len(base) == 1 and len(rest) > 2:  # a name: O'Brien, D'Angelo
            return (base + rest,)
        return () if not base or not ENGLISH_STOP_WORDS.isdisjoint((plain, base)) else (stem(base),)
    parts = [part.casefold() for part in _PARTS.findall(token[:_MAX_TOKEN])]
    useful = [stem(part) for part in parts if len(part) > 1 and part not in ENGLISH_STOP_WORDS and not part.isdigit()]
    return (folded, *useful)


def _is_camel(token: str) -> bool:
    """Return whether a word changes from lower to upper case: ``getUser`` does, ``URLs`` does not."""
    return _CAMEL.search(token) is not None


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word[:-3] + "y" if word.endswith("ied") and len(word) > 4 else word


def _is_token_character(char: str) -> bool:
    return (char.isalnum() or char == "_") and not _starts_wide(char)


def _is_free(edge: str, beside: str) -> bool:
    """Return whether a token may end at its edge, given up to two characters next to it, nearest first."""
    if not beside or not _is_token_character(edge):
        return True
    return not _is_token_character(beside[1] if len(beside) > 1 and beside[0] in "./-:@" else beside[0])
