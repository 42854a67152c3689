"""Cues: wordings that say how a query stands to what went before, read from the text alone.

The words themselves are data (:mod:`gatekeeper_core.selection.lexicon`); this module finds them, with the guards that
keep 其它, 这个月, 继续教育 or the conjunction "that" from being taken for a word that points back.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from gatekeeper_core.selection import lexicon
from gatekeeper_core.selection.anchors import count_terms, extract_anchors, stem
from gatekeeper_core.text import clean, is_question, sentences

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


def read_cues(text: str) -> Cues:
    """Return the cues of a text; of a long one only the first 2,000 characters are read.

    >>> read_cues("展开说说").referring, read_cues("其它的呢").referring, read_cues("I think that Go is fast").referring
    ('展开', None, None)
    >>> read_cues("Back to the Redis cache").back, read_cues("换个话题,聊聊旅行").switch
    ('back to', '换个话题')
    """
    folded = clean(text[:_MAX_READ]).casefold().replace("’", "'").strip()
    request = _found(_search(lexicon.REQUEST_OPENERS), folded) or _found(_search(lexicon.REQUEST_VERBS), folded)
    return Cues(
        referring=_referring(folded),
        pronoun=_pronoun(folded),
        switch=_found(_search(lexicon.EXPLICIT_SWITCH), folded),
        said=_found(_search(lexicon.SAID_BEFORE), folded),
        back=_found(_search(lexicon.EXPLICIT_RETURN), folded),
        change=_found(_search(lexicon.CHANGE_MARKERS), folded),
        small_talk=_found(_search(lexicon.SMALL_TALK), folded),
        greeting=_at_start(_search(lexicon.GREETINGS), folded),
        thanks=_found(_search(lexicon.THANKS), folded),
        acknowledgement=_at_start(_search(lexicon.ACKNOWLEDGEMENTS), folded),
        request=request,
        about_you=_found(_search(lexicon.QUESTIONS_ABOUT_YOU), folded),
        correction=_found(_search(lexicon.CORRECTIONS), folded),
        asks=request or ("?" if _asks(folded) else None),
        about_conversation=_about_conversation(folded),
    )


def without_cues(text: str) -> str:
    """Return a text without the wordings that only say how it stands to what went before, or that it asks.

    What is left is what is asked about: in "换个话题,聊聊旅行" the change of topic is no anchor. Of a long text only
    the first 2,000 characters are read.

    >>> without_cues("Back to the Redis cache")
    '  the Redis cache'
    """
    head, tail = text[:_MAX_READ], text[_MAX_READ:]
    for words in _STEERING:
        head = _search(words).sub(" ", head)
    return head + tail


_STEERING = (
    lexicon.CORRECTIONS,
    lexicon.EXPLICIT_SWITCH,
    lexicon.EXPLICIT_RETURN,
    lexicon.SAID_BEFORE,
    lexicon.REFERRING,
    lexicon.REQUEST_OPENERS,
)


def ends_with_question(text: str) -> bool:
    """Return whether the end of a text asks something.

    >>> ends_with_question("Done. Shall I deploy it?"), ends_with_question("部署好了。")
    (True, False)
    """
    return text[-_MAX_READ:].rstrip().rstrip("\"'”’」』)）").endswith(("?", "？"))


@cache
def _search(words: tuple[str, str]) -> re.Pattern[str]:
    """Return one pattern for both languages: Chinese anywhere, longest first, English as whole words.

    A Chinese character beside an English word is no part of it: "back to缓存" goes back.
    """
    chinese = sorted(words[0].split(), key=lambda word: (-len(word), word))
    english = rf"(?<![0-9a-z_'])(?:{words[1]})(?![0-9a-z_'])"
    return re.compile("|".join(map(re.escape, chinese)) + "|" + english, re.IGNORECASE)


@cache
def _about_pattern() -> re.Pattern[str]:
    return re.compile("|".join(lexicon.ABOUT_CONVERSATION))


@cache
def _english_pieces() -> re.Pattern[str]:
    return re.compile(r"[a-z']+|[^\sa-z']")


def _found(pattern: re.Pattern[str], folded: str) -> str | None:
    match = pattern.search(folded)
    return match[0] if match else None


def _at_start(pattern: re.Pattern[str], folded: str) -> str | None:
    match = pattern.match(folded)
    return match[0] if match else None


def _asks(folded: str) -> bool:
    """Return whether one of the last two sentences is a question."""
    return any(is_question(folded[span.start : span.stop]) for span in sentences(folded)[-2:])


def _referring(folded: str) -> str | None:
    """Return the first word that points back at an earlier turn, not at what the text itself has named before it."""
    rest = _without_reaction(folded)
    parts = [rest[span.start : span.stop] for span in sentences(rest)]
    if len(parts) > 1 and _opens_about_you(parts[-1]):
        parts = parts[-1:]
    named = False
    for part in parts:
        guarded = _search(lexicon.NOT_REFERRING).sub(" ", part)
        match = _search(lexicon.REFERRING).search(guarded)
        word = match[0] if match else _referring_that(guarded)
        if word is None:
            named = named or _names_something(part)
            continue
        inner = match is not None and (named or _new_thing().search(guarded[: match.start()]) is not None)
        if word not in lexicon.INNER_POINTERS or not inner:
            return word
    return None


def _pronoun(folded: str) -> str | None:
    """Return the first pronoun, unless the text itself has named before whom or what it stands for ("my daughter")."""
    match = _search(lexicon.PRONOUNS).search(folded)
    return None if match is None or _named_thing().search(folded[: match.start()]) else match[0]


def _opens_about_you(part: str) -> bool:
    """Return whether a sentence asks about the other side with words of its own."""
    return is_question(part) and bool(_search(lexicon.QUESTIONS_ABOUT_YOU).search(part)) and bool(count_terms(part))


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
        part = _search(words).sub(" ", part)
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
    match = _about_pattern().search(folded)
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
