"""Cues: wordings that relate a query to earlier turns, read from the text alone.

The words are data (``data/cues.tsv``, ``data/words.tsv``); this module matches them, and its guards keep 其它, 这个月,
继续教育 and the conjunction "that" from counting as words that point back.
"""

from __future__ import annotations

import math
import re
from functools import cache, partial
from itertools import chain
from typing import NamedTuple

from gatekeeper_core.data_files import pattern, words
from gatekeeper_core.selection.anchors import count_terms, extract_anchors
from gatekeeper_core.selection.information import LEAST_INFORMATION, surprise
from gatekeeper_core.selection.lexicon import word_set
from gatekeeper_core.text import LazyPattern, clean, data_pattern, is_question, sentences

_MAX_READ = 2_000
_STEERING = ("corrections", "explicit switch", "explicit return", "said before", "referring", "request openers")


class Cues(NamedTuple):
    """Cues in the wording of a text; each field is the matched wording, or None.

    Attributes:
        referring: a word that points back (这个, 刚才, "it", "continue").
        pronoun: a word for a person or place mentioned before (她, "they"), a weaker sign.
        switch: an explicit change of topic (换个话题, "new topic").
        said: a reference to what was said before (刚才说的, "you mentioned earlier").
        back: an explicit return (回到, "back to").
        leaving: an opening that drops the topic ("Enough of that."); the other cues but ``switch`` are read after it.
        small_talk: a request that people make out of the blue (今天天气, "tell me a joke").
        acknowledgement: a short answer at the beginning (好的, "ok").
        correction: a complaint that the last answer missed the point (我问的不是这个, "no, I meant").
        about_conversation: a question about nothing but the conversation itself (我们都聊了什么).
        gathers: a request for all of something (所有, "every").
        asked_before: a question about what the user asked or said (我问过, "did I ask").
    """

    referring: str | None = None
    pronoun: str | None = None
    switch: str | None = None
    said: str | None = None
    back: str | None = None
    leaving: str | None = None
    small_talk: str | None = None
    acknowledgement: str | None = None
    correction: str | None = None
    about_conversation: str | None = None
    gathers: str | None = None
    asked_before: str | None = None

    @property
    def pointer(self) -> str | None:
        """The wording that refers to something said before, or None."""
        return self.referring or self.pronoun or self.said


def read_cues(text: str) -> Cues:
    """Return the cues of a text; only the first 2,000 characters are read.

    >>> read_cues("展开说说").referring, read_cues("其它的呢").referring, read_cues("I think that Go is fast").referring
    ('展开', None, None)
    >>> read_cues("Back to the Redis cache").back, read_cues("换个话题,聊聊旅行").switch
    ('back to', '换个话题')
    """
    folded = _folded(text)
    switch, leaving = _first("explicit switch", folded), _LEAVING.match(folded)
    if leaving:
        folded = folded[leaving.end() :].strip()
    found, answer = partial(_first, text=folded), _pattern("acknowledgements").match(folded)
    return Cues(
        referring=_referring(folded) if folded else None,
        pronoun=_pronoun(folded),
        switch=switch,
        leaving=next(filter(None, leaving.groups())) if leaving else None,
        said=found("said before"),
        back=found("explicit return"),
        small_talk=found("small talk"),
        acknowledgement=answer[0] if answer else None,
        correction=found("corrections"),
        about_conversation=_about_conversation(folded),
        gathers=found("gathers"),
        asked_before=found("asked before"),
    )


def is_request(text: str) -> bool:
    """Return whether a text is worded as a request (请问, "can you")."""
    folded = _folded(text)
    leaving = _LEAVING.match(folded)
    request = folded[leaving.end() :] if leaving else folded
    return any(_pattern(name).search(request) for name in ("request openers", "request verbs"))


def _folded(text: str) -> str:
    return clean(text[:_MAX_READ]).casefold().replace("’", "'").replace("ı", "i").strip()


def without_cues(text: str) -> str:
    """Return a text without the wordings that only relate it to earlier turns or mark a request.

    So the change of topic in "换个话题,聊聊旅行" is no anchor. Only the first 2,000 characters are changed.

    >>> without_cues("Back to the Redis cache")
    '  the Redis cache'
    """
    head, tail = text[:_MAX_READ], text[_MAX_READ:]
    # The length stays the same, so positions match: only the capital I with a dot has a longer lower case.
    low = head.replace("İ", "I").lower().replace("ı", "i").replace("ſ", "s").replace("’", "'")
    if leaving := _LEAVING.match(low):
        head, low = head[leaving.end() :], low[leaving.end() :]
    for name in _STEERING:
        if spans := [match.span() for match in _pattern(name).finditer(low)]:
            head, low = _blanked(head, spans), _blanked(low, spans)
    return head + tail


def _sentences(text: str) -> list[str]:
    return [text[start:stop] for start, stop in sentences(text)]


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    edges = [0, *chain.from_iterable(spans), len(text)]
    return " ".join(text[start:stop] for start, stop in zip(edges[::2], edges[1::2], strict=True))


def asking_sentence(text: str) -> str | None:
    """Return the last question of a text of several sentences; None without one, or if it is too vague on its own.

    >>> asking_sentence("It rained all day. Where did my cousin Lena move?"), asking_sentence("It rained. And you?")
    ('Where did my cousin Lena move?', None)
    """
    parts = _sentences(text[:_MAX_READ])
    asking = next(filter(is_question, reversed(parts)), "") if len(parts) > 1 else ""
    return asking if _tells_enough(asking) else None


def ends_with_question(text: str) -> bool:
    """Return whether a text ends with a question.

    >>> ends_with_question("Done. Shall I deploy it?"), ends_with_question("部署好了。")
    (True, False)
    """
    return text[-_MAX_READ:].rstrip().rstrip("\"'”’」』)）").endswith(("?", "？"))


_ENGLISH_PIECE = LazyPattern(r"[a-z']+|[^\sa-z']")
_REACTION = data_pattern("cues.tsv", "REACTION")
_LEAVING = data_pattern("cues.tsv", "LEAVING")
_NAMED_THING = data_pattern("cues.tsv", "NAMED_THING")
_NEW_THING = data_pattern("cues.tsv", "NEW_THING")
_ABOUT_CONVERSATION = data_pattern("cues.tsv", "ABOUT_CONVERSATION")


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern for both languages: Chinese anywhere, longest first; English as whole words ("back to缓存")."""
    chinese = sorted(words("cues.tsv", f"{name} chinese"), key=lambda word: (-len(word), word))
    english = rf"(?<![0-9a-z_'])(?:{pattern('cues.tsv', f'{name} english')})(?![0-9a-z_'])"
    return re.compile("|".join(map(re.escape, chinese)) + "|" + english)


def _first(name: str, text: str) -> str | None:
    match = _pattern(name).search(text)
    return match[0] if match else None


def _referring(text: str) -> str | None:
    """Return the first word that points back to an earlier turn, not to something that the text itself has named."""
    parts = _sentences(text)
    reaction = _REACTION.match(text)  # skip an opening that only comments on what was said, if something follows it
    if reaction and count_terms(rest := text[reaction.end() :]):
        parts = _sentences(rest)
    asks_about_you = is_question(parts[-1]) and _pattern("questions about you").search(parts[-1])
    if asks_about_you and count_terms(parts[-1]):  # with words of its own
        parts = parts[-1:]
    before: list[str] = []  # sentences without such a word
    for part in parts:
        guarded = _blanked(part, [match.span() for match in _pattern("not referring").finditer(part)])
        match = _pattern("referring").search(guarded)
        word = match[0] if match else _referring_that(guarded)
        if word is None:
            before.append(part)
            continue
        lead = guarded[: match.start() if match else guarded.rfind(word)]
        if _tells_enough(" ".join([*before, lead])):
            return None  # the text itself contains what the word refers to
        if word not in word_set("inner pointers") or match is None:
            return word
        if not _NEW_THING.search(lead) and not any(map(_names_something, before)):
            return word
    return None


def _tells_enough(text: str) -> bool:
    return math.fsum(map(surprise, count_terms(text))) >= LEAST_INFORMATION


def _pronoun(text: str) -> str | None:
    """Return the first pronoun, unless the text has already named what it refers to ("my daughter")."""
    match = _pattern("pronouns").search(text)
    if match is None or _NAMED_THING.search(text[: match.start()]):
        return None
    return None if _tells_enough(text[: match.start()]) else match[0]


def _names_something(part: str) -> bool:
    """Return whether a sentence names something that a later pronoun could refer to."""
    if _NAMED_THING.search(part):
        return True
    for name in ("thanks", "acknowledgements", "greetings"):
        part = _pattern(name).sub(" ", part)
    return any(anchor.kind == "pair" and anchor.weight == 1.0 for anchor in extract_anchors(part))


def _referring_that(folded: str) -> str | None:
    """Return "that" if it refers to something said before, not if it joins a clause or precedes a noun."""
    openers, questions, before_that = map(word_set, ("clause openers", "question words", "before that"))
    pieces = ["", "", *_ENGLISH_PIECE.findall(folded), ""]
    for at in range(2, len(pieces) - 1):
        second_before, before, that, after = pieces[at - 2 : at + 2]
        if that.split("'")[0] != "that":
            continue
        opens = not before[:1].isalpha() or before in openers
        ends = not after[:1].isalpha()
        asks = not second_before[:1].isalpha() or second_before in questions | openers
        if asks and before in word_set("auxiliaries of that"):
            return "that"
        if that != "that":
            points_back = opens or before in before_that | questions
        elif opens:
            points_back = ends or after in word_set("verbs of that")
        else:
            follows = before in before_that and after in word_set("after that")
            points_back = ends or follows or after in word_set("words after an object")
        if points_back:
            return "that"
    return None


def _about_conversation(folded: str) -> str | None:
    match = _ABOUT_CONVERSATION.search(folded)
    if not match:
        return None
    rest = folded[: match.start()] + " . " + folded[match.end() :]
    anchors = [a for a in extract_anchors(rest) if a.kind not in ("character", "triple") and a.weight == 1.0]
    return match[0] if all(anchor.term in word_set("words about a conversation") for anchor in anchors) else None
