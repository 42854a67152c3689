"""Checks of a model's output: a summary contains only names that were mentioned, a memory only what the user said.

A name needs a sign, or it passes: in English a capital letter inside a sentence, or at its beginning before a verb; in
Chinese a surname before a title or a verb of people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gatekeeper_core.context.memory.extraction import CLAUSE_BORDER, MAX_READ_CHARACTERS, masked
from gatekeeper_core.data_files import words
from gatekeeper_core.selection.anchors import count_terms, extract_anchors, folded, has_whole, stem
from gatekeeper_core.selection.lexicon import ENGLISH_STOP_WORDS, background_frequencies
from gatekeeper_core.text import LazyPattern, clean, data_pattern, is_question, sentences, word_strings

# --- Of a summary -----------------------------------------------------------------------------------------------------

_KINDS = frozenset({"number", "identifier", "version", "date", "amount", "code"})
_MAX_ANCHORS = 4096  # read from a text
_HEADING = LazyPattern(r"^[^\S\n]*#.*|^.*[:：][ *_\r]*$", re.MULTILINE)
_LINE_MARK = LazyPattern(
    r"^[^\S\n]*(?:[-*+•>#]+[ \t]+)?(?:[(（]?[0-9]{1,3}[.)、）](?:[ \t]+|(?=[^0-9\s])))?", re.MULTILINE
)
_EMPHASIS = LazyPattern(r"[*_]{2,3}")
_COMMON = 2e-4  # a word of everyday talk; first names are rarer
_COMMA = LazyPattern(r"(?<=[0-9]),(?=[0-9]{3})")
_VERBS = words("words.tsv", "verbs of people")
_CHINESE_NAME = data_pattern("memory_patterns.tsv", "CHINESE_NAME")


def unsupported(text: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the names, numbers and identifiers of a text that none of its sources contains, as written, each once.

    >>> unsupported("They moved the cache to port 6381, says Marta.", ["The cache listens on port 6380."])
    ('6381', 'Marta')
    >>> unsupported("缓存在 6380 端口，张伟负责。", ["缓存监听 6380 端口。"])
    ('张伟',)
    """
    source_text = _COMMA.sub("", "\n".join(sources))
    terms, plain = count_terms(source_text, limit=len(source_text)), folded(clean(source_text))
    prose = text
    for ignored in (_HEADING, _LINE_MARK, _EMPHASIS, _COMMA):
        prose = ignored.sub("", prose)
    named: list[tuple[str, str]] = []
    common = background_frequencies()
    for anchor in extract_anchors(prose, limit=_MAX_ANCHORS):
        parts = anchor.term.replace("'", "-").split("-")
        is_words = anchor.kind == "identifier" and all(  # "follow-up", "well-known"
            part in ENGLISH_STOP_WORDS or (part.isalpha() and stem(part) in common) for part in parts
        )
        if anchor.kind in _KINDS and not is_words:
            named.append((anchor.text, anchor.term))
    named += _english_names(prose)
    named += [(match[1], match[1]) for match in _CHINESE_NAME.finditer(folded(clean(prose))) if len(match[1]) > 1]
    missing = (written for written, term in named if term not in terms and not has_whole(folded(written), plain))
    return tuple(dict.fromkeys(missing))


def _english_names(prose: str) -> Iterator[tuple[str, str]]:
    common = background_frequencies()
    for start, stop in sentences(prose):
        first, *rest = word_strings(clean(prose[start:stop])) or [""]
        second = rest[0].casefold() if rest else ""
        is_subject = second in _VERBS or second.endswith("ed")  # the first word is the subject of a verb
        is_name = is_subject and common.get(stem(first.casefold()), 0.0) <= _COMMON
        for word in (first, *rest) if is_name else rest:
            name = word.partition("'")[0].partition("’")[0]
            low = name.casefold()
            is_name = len(name) > 1 and name.isascii() and name[0].isupper() and name.isalpha()
            if is_name and low not in ENGLISH_STOP_WORDS:
                yield name, stem(low)


# --- Of a memory ------------------------------------------------------------------------------------------------------

_MARKS = " .。!！~～;；,，"
_NEGATION = data_pattern("memory_patterns.tsv", "NEGATION", re.IGNORECASE)
_NARRATOR = frozenset(words("words.tsv", "words of a narrator"))


def is_supported(text: str, message: str) -> bool:
    """Return whether a user's message (its first 20,000 characters) supports a text.

    Each sentence of the text must occur verbatim, or one sentence of the message must hold all of its terms (in
    Chinese, all characters) except a narrator's words ("the user prefers"), with negation in both or neither.

    >>> is_supported("User prefers green tea", "I love green tea"), is_supported("User owns a dog", "I love green tea")
    (True, False)
    >>> is_supported("用户喜欢绿茶", "我不喜欢喝绿茶")
    False
    """
    prose = masked(message[:MAX_READ_CHARACTERS])
    stated = [prose[start:stop] for start, stop in sentences(prose) if not is_question(prose[start:stop])]
    parts = [text[start:stop] for start, stop in sentences(text)]
    return bool(parts) and all(any(_says(sentence, part) for sentence in stated) for part in parts)


def _says(sentence: str, part: str) -> bool:
    clean_sentence, clean_part = (" ".join(folded(each).split()).rstrip(_MARKS) for each in (sentence, part))
    at = clean_sentence.find(clean_part)
    if at >= 0 and clean_part:
        begins = [match.end() for match in CLAUSE_BORDER.finditer(clean_sentence, 0, at)]
        return _NEGATION.search(clean_sentence, max(begins, default=0), at) is None
    # In scripts without spaces, single characters.
    terms, stated = (
        {term for term in count_terms(text) if term.isascii() or len(term) == 1} for text in (part, sentence)
    )
    same = (_NEGATION.search(sentence) is None) == (_NEGATION.search(part) is None)
    return same and bool(terms - _NARRATOR) and terms - _NARRATOR <= stated
