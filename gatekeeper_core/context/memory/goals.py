"""Requests read from the wording of a user's message, in Chinese and English.

A request is an imperative ("write the tests", 帮我写测试) or a question that asks for something; not a greeting,
thanks, "ok", a quoted line or a code block. If the rules miss one, only the pin's status lacks it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.cues import read_cues
from gatekeeper_core.selection.lexicon import HAN_LIGHT, HAN_PARTICLES
from gatekeeper_core.text import LazyPattern, code_fences, data_pattern, is_han, is_question, sentences

_END_CHARS = 2_000  # read at each end of a long message. Source: ours
_COMMA = LazyPattern("[,，;；、]")
_IMPERATIVE_ENDING = LazyPattern("(?:ください|下さい|お願いします|주세요|십시오|해줘)[\\s.。!！]*\\Z")
_LONGEST_ENDING = 12
_OPENINGS, _WANTS, _IMPERATIVE, _IMPERATIVE_HAN, _POLITE, _LABEL, _DROP, _TURN_TO = (
    data_pattern("task_patterns.tsv", name, re.IGNORECASE)
    for name in ("OPENINGS", "WANTS", "IMPERATIVE", "IMPERATIVE_HAN", "POLITE", "LABEL", "DROP", "TURN_TO")
)


class Request(NamedTuple):
    """The request in a message, in the user's words, on one line."""

    text: str
    explicit: bool = False  # the message announces a new goal ("new task: …", 先不做这个，改成…)
    correction: bool = False  # it says that the last answer misunderstood the user: not a new goal
    switch: bool = False  # its wording changes the topic ("new topic", 换个话题)


def read_request(text: str) -> Request | None:
    """Return the request in a user's message and how it relates to the previous goal, or None if it asks for nothing.

    It starts at the first asking sentence, without openers ("ok, now"), quoted lines, code blocks and closing thanks.
    Of a long message both ends, 2,000 characters each, are read. Source: specification 004-64; the wordings are ours.

    >>> read_request("好的，谢谢。现在帮我写一个部署脚本").text, read_request("ok, thanks!")
    ('帮我写一个部署脚本', None)
    >>> read_request("Forget that, translate the manual instead.")
    Request(text='translate the manual instead.', explicit=True, correction=False, switch=False)
    >>> read_request("不对，我问的是端口怎么改？").correction
    True
    """
    edges = [0, *(edge for fence in code_fences(text) for edge in fence), len(text)]
    prose = "\n".join(text[start:stop] for start, stop in zip(edges[::2], edges[1::2], strict=True))
    words = "\n".join(line for line in prose.splitlines() if not line.lstrip().startswith((">", "＞")))
    if len(words) > 2 * _END_CHARS:
        words = f"{words[:_END_CHARS]}\n{words[-_END_CHARS:]}"
    explicit = False
    for span in sentences(words):
        start, is_new = _goal_start(words, span.start, span.stop)
        explicit = explicit or is_new
        if start is None:
            continue
        request = words[start:]
        for last in reversed(sentences(request)):  # thanks at the end
            if _after_openings(request, last.start, last.stop) < last.stop:
                break
            request = request[: last.start]
        if request := " ".join(request.split()):
            cues = read_cues(words)
            return Request(request, explicit, cues.correction is not None, cues.switch is not None)
    return None


def _after_openings(words: str, at: int, stop: int) -> int:
    openings = _OPENINGS.match(words, at, stop)
    return openings.end() if openings else at


def _request_start(words: str, start: int, stop: int) -> int | None:
    """Return where the request of a sentence begins: at its first word, or after a comma (太慢了，帮我优化一下)."""
    first = _after_openings(words, start, stop)
    sentence = words[first:stop]
    asks = is_question(sentence) or _IMPERATIVE.match(sentence)
    asks = asks or _IMPERATIVE_ENDING.search(sentence, max(0, len(sentence) - _LONGEST_ENDING))
    for begin in (start, *(comma.end() for comma in _COMMA.finditer(words, first, stop))):
        at = _after_openings(words, begin, stop)
        asks = asks or _WANTS.match(words, at, stop) or _IMPERATIVE_HAN.match(words, at, stop)
        if asks or _POLITE.search(words, begin, at):
            # This includes all later clauses: if it says nothing, none of them does.
            return at if _says_something(words[at:stop]) else None
    return None


def _says_something(sentence: str) -> bool:
    """Return whether a sentence has more than function words: "why?" and 好吗 ask for nothing new."""
    if any(not is_han(char) for term in count_terms(sentence) for char in term):
        return True
    return sum(is_han(char) and char not in HAN_LIGHT and char not in HAN_PARTICLES for char in sentence) > 1


def _goal_start(words: str, start: int, stop: int) -> tuple[int | None, bool]:
    """Return where the goal or request of a sentence begins, if it has one, and whether it drops the previous goal."""
    at = _after_openings(words, start, stop)
    if label := _LABEL.match(words, at):
        at = _after_openings(words, label.end(), len(words))
        return (at if _says_something(words[at:]) else None), True
    drop = _DROP.match(words, at, stop)
    if drop is None:
        return _request_start(words, start, stop), False
    if turn := _TURN_TO.match(words, _after_openings(words, drop.end(), stop), stop):
        return (turn.end() if _says_something(words[turn.end() : stop]) else None), True
    return _request_start(words, drop.end(), stop), True
