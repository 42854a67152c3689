"""Cues: wordings that say how a query stands to what went before, read from the text alone.

The words themselves are data (:mod:`gatekeeper_core.selection.lexicon`); this module finds them, with the guards that
keep 其它, 这个月, 继续教育 or the conjunction "that" from being taken for a word that points back.
"""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection import lexicon
from gatekeeper_core.selection.anchors import count_terms, extract_anchors, stem
from gatekeeper_core.selection.information import LEAST_INFORMATION, surprise
from gatekeeper_core.text import LazyPattern, clean, is_question, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Cues", "ends_with_question", "read_cues", "without_cues"]

_MAX_READ = 2_000


class Cues(NamedTuple):
    """What the wording of a text says; each field is the wording found, or None.

    Attributes:
        referring: a word that points back (这个, 刚才, "it", "continue").
        pronoun: a word for a person or place said before (她, "they"), a weaker sign.
        switch: an explicit change of topic (换个话题, "new topic").
        said: a wording for what was said before (刚才说的, "you mentioned earlier").
        back: an explicit return (回到, "back to").
        change: a weaker sign of a change (对了, "by the way").
        small_talk: a request that people bring up out of the blue (今天天气, "tell me a joke").
        greeting: a greeting at the beginning.
        thanks: thanks or a goodbye.
        acknowledgement: a short answer at the beginning (好的, "ok").
        request: the opening of a request (请问, "can you").
        about_you: a question about the other side.
        correction: a wording that the last answer took the user wrong (我问的不是这个, "no, I meant").
        asks: "?" or the like where the text asks or requests something at its end.
        about_conversation: a question about the conversation itself and nothing else (我们都聊了什么).
        continues: a beginning or an end that goes on with what was said (那…, …呢, "and", "then?").
        edit: a wording that changes what was written before (改成, "shorter").
        newest_state: a wording that asks for a thing after all changes (完整, "final").
        asked_before: a wording that asks what the user asked or said (我问过, "did I ask").
    """

    referring: str | None = None
    pronoun: str | None = None
    switch: str | None = None
    said: str | None = None
    back: str | None = None
    change: str | None = None
    small_talk: str | None = None
    greeting: str | None = None
    thanks: str | None = None
    acknowledgement: str | None = None
    request: str | None = None
    about_you: str | None = None
    asks: str | None = None
    correction: str | None = None
    about_conversation: str | None = None
    continues: str | None = None
    edit: str | None = None
    newest_state: str | None = None
    asked_before: str | None = None

    @property
    def pointer(self) -> str | None:
        """The wording that stands for something said before, if any."""
        return self.referring or self.pronoun or self.said


def read_cues(text: str) -> Cues:
    """Return the cues of a text; of a long one only the first 2,000 characters are read.

    >>> read_cues("展开说说").referring, read_cues("其它的呢").referring, read_cues("I think that Go is fast").referring
    ('展开', None, None)
    >>> read_cues("Back to the Redis cache").back, read_cues("换个话题,聊聊旅行").switch
    ('back to', '换个话题')
    """
    folded = clean(text[:_MAX_READ]).casefold().replace("’", "'").replace("ı", "i").strip()
    search = _Search(folded)
    found = search.first
    request = found(lexicon.REQUEST_OPENERS) or found(lexicon.REQUEST_VERBS)
    return Cues(
        referring=_referring(search) if search.may_hold(_REFERRING) else None,
        pronoun=_pronoun(search),
        switch=found(lexicon.EXPLICIT_SWITCH),
        said=found(lexicon.SAID_BEFORE),
        back=found(lexicon.EXPLICIT_RETURN),
        change=found(lexicon.CHANGE_MARKERS),
        small_talk=found(lexicon.SMALL_TALK),
        greeting=_at_start(lexicon.GREETINGS, folded),
        thanks=found(lexicon.THANKS),
        acknowledgement=_at_start(lexicon.ACKNOWLEDGEMENTS, folded),
        request=request,
        about_you=found(lexicon.QUESTIONS_ABOUT_YOU),
        correction=found(lexicon.CORRECTIONS),
        asks=request or ("?" if _asks(search) else None),
        about_conversation=_about_conversation(folded),
        continues=_continues(folded),
        edit=found(lexicon.EDITS),
        newest_state=found(lexicon.NEWEST_STATE),
        asked_before=found(lexicon.ASKED_BEFORE),
    )


def without_cues(text: str) -> str:
    """Return a text without the wordings that only say how it stands to what went before, or that it asks.

    What is left is what is asked about: in "换个话题,聊聊旅行" the change of topic is no anchor. Of a long text only
    the first 2,000 characters are read.

    >>> without_cues("Back to the Redis cache")
    '  the Redis cache'
    """
    head, tail = text[:_MAX_READ], text[_MAX_READ:]
    # Letter for letter, so that places are the same: only the capital I with a dot has a longer lower case.
    search = _Search(head.replace("İ", "I").lower().replace("ı", "i").replace("ſ", "s"))
    for words in _STEERING:
        if spans := [match.span() for match in search.matches(words)]:
            head, search = _blanked(head, spans), _Search(_blanked(search.text, spans))
    return head + tail


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text with one space in place of each span."""
    edges = [0, *chain.from_iterable(spans), len(text)]
    return " ".join(text[start:stop] for start, stop in zip(edges[::2], edges[1::2], strict=True))


_STEERING = (
    lexicon.CORRECTIONS,
    lexicon.EXPLICIT_SWITCH,
    lexicon.EXPLICIT_RETURN,
    lexicon.SAID_BEFORE,
    lexicon.REFERRING,
    lexicon.REQUEST_OPENERS,
)


_REFERRING = (lexicon.REFERRING[0], lexicon.REFERRING[1] + r"|that\w*")  # only what it begins with is read


def ends_with_question(text: str) -> bool:
    """Return whether the end of a text asks something.

    >>> ends_with_question("Done. Shall I deploy it?"), ends_with_question("部署好了。")
    (True, False)
    """
    return text[-_MAX_READ:].rstrip().rstrip("\"'”’」』)）").endswith(("?", "？"))


class _Search:
    """A lower-case text in which many wordings are looked for, each only where one of its beginnings stands."""

    __slots__ = ("_characters", "_sentences", "_words", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._characters = frozenset(text)
        self._words = frozenset(_ENGLISH_WORDS.findall(text))
        self._sentences: list[str] | None = None

    @property
    def sentences(self) -> list[str]:
        """The sentences of the text."""
        if self._sentences is None:
            self._sentences = [self.text[span.start : span.stop] for span in sentences(self.text)]
        return self._sentences

    def may_hold(self, words: tuple[str, str]) -> bool:
        """Return whether the text holds the beginning of one of the wordings."""
        begins = _beginnings(words)
        if not begins.characters.isdisjoint(self._characters) or not begins.words.isdisjoint(self._words):
            return True
        return any(part in self.text for part in begins.parts)

    def first(self, words: tuple[str, str]) -> str | None:
        """Return the first of the wordings in the text, or None."""
        match = next(self.matches(words), None)
        return match[0] if match else None

    def matches(self, words: tuple[str, str]) -> Iterator[re.Match[str]]:
        """Yield the places of the wordings in the text, in order, none inside another."""
        if not self.may_hold(words):
            return
        begins, stop = _beginnings(words), 0
        found = chain(begins.words & self._words, begins.characters & self._characters, begins.parts)
        starts = chain.from_iterable([_places(self.text, part) for part in found])
        match_at = _pattern(words).match
        for start in sorted(starts):
            if start >= stop and (match := match_at(self.text, start)):
                stop = match.end()
                yield match


def _places(text: str, part: str) -> list[int]:
    """Return where a part stands in a text."""
    places = []
    at = text.find(part)
    while at >= 0:
        places.append(at)
        at = text.find(part, at + 1)
    return places


class _Beginnings(NamedTuple):
    """What one of a group of wordings must begin with: a character beyond ASCII, a whole word, or a part of a word."""

    characters: frozenset[str]
    words: frozenset[str]
    parts: tuple[str, ...]


_ENGLISH_WORDS = LazyPattern(r"[0-9a-z_']+")


@cache
def _pattern(words: tuple[str, str]) -> re.Pattern[str]:
    """Return one pattern for both languages: Chinese anywhere, longest first, English as whole words.

    A Chinese character beside an English word is no part of it: "back to缓存" goes back.
    """
    chinese = sorted(words[0].split(), key=lambda word: (-len(word), word))
    english = rf"(?<![0-9a-z_'])(?:{words[1]})(?![0-9a-z_'])"
    return re.compile("|".join(map(re.escape, chinese)) + "|" + english)


@cache
def _beginnings(words: tuple[str, str]) -> _Beginnings:
    whole, parts, characters = set(), set(), {word[0] for word in words[0].split()}
    for prefix in _beginnings_of(words[1]):
        match = _ENGLISH_WORDS.match(prefix)
        if match is None and prefix:
            characters.add(prefix[0])
        elif match is not None and match.end() < len(prefix):
            whole.add(match[0])
        else:
            parts.add(prefix)
    return _Beginnings(frozenset(characters), frozenset(whole), tuple(sorted(parts)))


_BEYOND_WORDS = LazyPattern(r"[^0-9a-z_']")
_OPTION = LazyPattern(r"\?|\{0,[0-9]+\}")
_NOT_SPELT_OUT = LazyPattern(r"\\|\.|\[[^\]]+-|\[\^")


def _beginnings_of(pattern: str) -> Iterator[str]:
    for alternative in _alternatives(pattern):
        yield from _prefixes(alternative + " ")  # a wording ends where a word ends


def _prefixes(pattern: str, done: str = "") -> Iterator[str]:
    """Yield what matches of a pattern begin with, up to the end of their first word or to where that is not known.

    Reads what the lexicon is written in: letters, groups, lists of characters, optional parts, looks ahead and back.
    """
    if not pattern or _BEYOND_WORDS.search(done):
        yield done
        return
    size = _closing(pattern) + 1 if pattern[0] in "([" else 1
    atom, rest = pattern[:size], pattern[size:]
    option = _OPTION.match(rest)
    after = rest[option.end() :] if option else rest
    if option or atom.startswith(("(?=", "(?!", "(?<")):
        yield from _prefixes(after, done)
    if atom.startswith("(?:"):
        for inner in _alternatives(atom[3:-1]):
            yield from _prefixes(inner + after, done)
    elif _NOT_SPELT_OUT.match(atom) or after[:1] in ("+", "*", "{"):
        yield done
    elif atom[0] != "(":
        for char in atom[1:-1] if size > 1 else atom:
            yield from _prefixes(after, done + char)


def _closing(pattern: str) -> int:
    """Return where the bracket closes that a pattern begins with."""
    depth, at, in_list = 0, 0, False
    while True:
        char = pattern[at]
        if char == "\\":
            at += 1
        elif in_list or char == "[":
            in_list = char != "]"
        else:
            depth += (char == "(") - (char == ")")
        if not depth and not in_list:
            return at
        at += 1


def _alternatives(pattern: str) -> Iterator[str]:
    """Yield the alternatives of a pattern."""
    start = at = 0
    while at < len(pattern):
        if pattern[at] in "([":
            at += _closing(pattern[at:])
        elif pattern[at] == "\\":
            at += 1
        elif pattern[at] == "|":
            yield pattern[start:at]
            start = at + 1
        at += 1
    yield pattern[start:]


@cache
def _about_pattern() -> re.Pattern[str]:
    return re.compile("|".join(lexicon.ABOUT_CONVERSATION))


@cache
def _about_beginnings() -> tuple[str, ...]:
    return tuple({prefix.strip(): None for half in lexicon.ABOUT_CONVERSATION for prefix in _beginnings_of(half)})


@cache
def _english_pieces() -> re.Pattern[str]:
    return re.compile(r"[a-z']+|[^\sa-z']")


def _at_start(words: tuple[str, str], folded: str) -> str | None:
    match = _pattern(words).match(folded)
    return match[0] if match else None


def _continues(folded: str) -> str | None:
    """Return the beginning or the end of a text that goes on with what was said."""
    match = _continuation().match(folded) or _trailing().search(folded)
    return match[0] if match else None


@cache
def _continuation() -> re.Pattern[str]:
    return re.compile(lexicon.CONTINUATION)


@cache
def _trailing() -> re.Pattern[str]:
    return re.compile(lexicon.TRAILING)


def _asks(search: _Search) -> bool:
    """Return whether one of the last two sentences is a question."""
    return any(map(is_question, search.sentences[-2:]))


def _referring(search: _Search) -> str | None:
    """Return the first word that points back at an earlier turn, not at what the text itself has named before it."""
    rest = _without_reaction(search.text)
    parts = search.sentences if rest == search.text else _Search(rest).sentences
    if len(parts) > 1 and _opens_about_you(parts[-1]):
        parts = parts[-1:]
    before: list[str] = []  # sentences without such a word
    for part in parts:
        search = _Search(part)
        if not search.may_hold(_REFERRING):
            before.append(part)
            continue
        if spans := [match.span() for match in search.matches(lexicon.NOT_REFERRING)]:
            search = _Search(_blanked(part, spans))
        guarded = search.text
        match = next(search.matches(lexicon.REFERRING), None)
        word = match[0] if match else _referring_that(guarded)
        if word is None:
            before.append(part)
            continue
        lead = guarded[: match.start() if match else guarded.rfind(word)]
        if _tells_enough(" ".join([*before, lead])):
            return None  # the text itself holds what the word stands for
        if word not in lexicon.INNER_POINTERS or match is None:
            return word
        if not _new_thing().search(lead) and not any(map(_names_something, before)):
            return word
    return None


def _tells_enough(text: str) -> bool:
    """Return whether a text tells as much as a question is taken to tell at least."""
    return math.fsum(map(surprise, count_terms(text))) >= LEAST_INFORMATION


def _pronoun(search: _Search) -> str | None:
    """Return the first pronoun, unless the text itself has named before whom or what it stands for ("my daughter")."""
    match = next(search.matches(lexicon.PRONOUNS), None)
    if match is None or _named_thing().search(search.text[: match.start()]):
        return None
    return None if _tells_enough(search.text[: match.start()]) else match[0]


def _opens_about_you(part: str) -> bool:
    """Return whether a sentence asks about the other side with words of its own."""
    return is_question(part) and bool(_pattern(lexicon.QUESTIONS_ABOUT_YOU).search(part)) and bool(count_terms(part))


def _without_reaction(folded: str) -> str:
    """Return a text without an opening that only comments on what was said, where something follows it."""
    match = _reaction().match(folded)
    return folded[match.end() :] if match and count_terms(folded[match.end() :]) else folded


@cache
def _reaction() -> re.Pattern[str]:
    return re.compile(lexicon.REACTION)


@cache
def _named_thing() -> re.Pattern[str]:
    return re.compile(lexicon.NAMED_THING)


@cache
def _new_thing() -> re.Pattern[str]:
    return re.compile(lexicon.NEW_THING)


def _names_something(part: str) -> bool:
    """Return whether a sentence names a thing that a pronoun after it would stand for."""
    if _named_thing().search(part):
        return True
    for words in (lexicon.THANKS, lexicon.ACKNOWLEDGEMENTS, lexicon.GREETINGS):
        part = _pattern(words).sub(" ", part)
    return any(anchor.kind == "pair" and anchor.weight == 1.0 for anchor in extract_anchors(part))


def _referring_that(folded: str) -> str | None:
    """Return "that" where it stands for something said before, not where it joins a clause or points at a noun."""
    pieces = ["", "", *_english_pieces().findall(folded), ""]
    for at in range(2, len(pieces) - 1):
        if pieces[at].split("'")[0] == "that" and _points_back(*pieces[at - 2 : at + 2]):
            return "that"
    return None


def _points_back(second_before: str, before: str, that: str, after: str) -> bool:
    """Return whether a "that" (or "that's") points back, given two pieces before it and one after it."""
    opens = not before[:1].isalpha() or before in lexicon.THAT_OPENERS
    ends = not after[:1].isalpha()
    asks = not second_before[:1].isalpha() or second_before in lexicon.QUESTION_WORDS | lexicon.THAT_OPENERS
    if asks and before in lexicon.THAT_AUXILIARIES:
        return True
    if that != "that":
        return opens or before in lexicon.THAT_BEFORE or before in lexicon.QUESTION_WORDS
    if opens:
        return ends or after in lexicon.THAT_VERBS
    return ends or after in _AFTER_OBJECT or (before in lexicon.THAT_BEFORE and after in lexicon.THAT_AFTER)


def _about_conversation(folded: str) -> str | None:
    """Return the wording of a question about the conversation, unless the text also asks about something in it."""
    match = _about_pattern().search(folded) if any(map(folded.__contains__, _about_beginnings())) else None
    if not match:
        return None
    rest = folded[: match.start()] + " . " + folded[match.end() :]
    anchors = [a for a in extract_anchors(rest) if a.kind not in ("character", "triple") and a.weight == 1.0]
    return match[0] if all(anchor.term in _NEUTRAL for anchor in anchors) else None


_AFTER_OBJECT = frozenset({"again", "already", "instead", "please", "too"})
"""Words that follow any object ``that`` ("I tried that already"). Source: ours."""

_NEUTRAL = frozenset(
    map(
        stem,
        """
        briefly bullet chat conversation cover discuss discussion earlier far five four key list main overview point
        recap remember remind sentence session short sum summarise summarize summary ten three today topic two yesterday
        主要 今天 内容 列出 回顾 对话 归纳 总结 概括 梳理 简单 聊天 告诉 话题 要点
        """.split(),  # noqa: SIM905 - a word a line would hide the list
    )
)
"""Anchors that a question about the conversation may hold besides its pattern. Source: ours."""
