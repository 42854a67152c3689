"""Rules that extract what a user said about themselves and their work, word for word.

Only first-person statements in user messages count, outside quotations, pasted conversations, marked blocks, code,
questions, suppositions and texts to work on. Anything they ask to remember is taken. Wordings: ``memory_*.tsv``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple, cast

from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.data_files import expanded, rows
from gatekeeper_core.selection.anchors import count_terms, folded
from gatekeeper_core.storage.base import MemoryCategory
from gatekeeper_core.text import HAN, LazyPattern, data_pattern, is_question, sentences

MAX_READ_CHARACTERS = 20_000  # from the beginning of a message. Source: ours; a longer one was pasted
_MAX_PER_MESSAGE = 50
_MAX_SENTENCE = 1_000
_MAX_TEXT, _MAX_KEY = 300, 60

# A wording matches only at a clause's beginning, in the first person and the present: "I like tea", not "I liked tea".
CLAUSE_BORDER, _OPENER, _HYPOTHETICAL, _LATER_HYPOTHETICAL, _REPORTED, _TASK, _SECRET, _LEADING, _TRAILING = (
    data_pattern("memory_patterns.tsv", name, re.IGNORECASE)
    for name in "CLAUSE_BORDER OPENER HYPOTHETICAL LATER_HYPOTHETICAL REPORTED TASK SECRET LEADING TRAILING".split()  # noqa: SIM905 - a list
)
_REMEMBER, _ASKED_TO_REMEMBER, _FORGET, _NOTHING_TO_FORGET, _QUOTED, _SPEAKER, _FOREIGN, _TAIL, _TAG_QUESTION = (
    data_pattern("memory_patterns.tsv", name, re.IGNORECASE)
    for name in "REMEMBER ASKED_TO_REMEMBER FORGET NOTHING_TO_FORGET QUOTED SPEAKER FOREIGN TAIL TAG_QUESTION".split()  # noqa: SIM905 - a list
)
_MARK = LazyPattern(r"<(/?)([A-Za-z][\w-]{0,63})[^<>\n]{0,200}>")
_HAN_START = LazyPattern(f"(?!我)[{HAN}]")
_FENCE = LazyPattern("```|~~~")
_EDGE = " \t\r\n,;，；、。.!！?？~～:：\"'”’"


class Extracted(NamedTuple):
    """A fact worth remembering.

    Attributes:
        text: the user's words, verbatim; a model may rephrase them.
        category: kind of memory.
        key: the question it answers, or None.
        seq: sequence number of the message, -1 if a model does not give it.
        start: offset in that message's text, -1 likewise.
    """

    text: str
    category: MemoryCategory
    key: str | None = None
    seq: int = -1
    start: int = -1


class ForgetRequest(NamedTuple):
    """A text that the user wants forgotten, verbatim, and its position, as in :class:`Extracted`."""

    text: str
    seq: int
    start: int


class Extraction(NamedTuple):
    """Facts to remember and requests to forget, in order, and the number of omitted secrets."""

    found: tuple[Extracted, ...] = ()
    forget: tuple[ForgetRequest, ...] = ()
    dropped: int = 0


def extract(thread: Thread, after_seq: int = -1) -> Extraction:
    """Return what users said about themselves and their work in the messages after a sequence number.

    >>> from gatekeeper_core.messages import Message
    >>> said = extract(Thread("t1", [Message("user", "I live in Paris, and I prefer short answers. Can you help?")]))
    >>> [(each.text, each.category) for each in said.found]
    [('I live in Paris', 'fact'), ('I prefer short answers', 'user_preference')]
    """
    items: list[Extracted | ForgetRequest] = []
    dropped = 0
    for seq, text in user_texts(thread, after_seq):
        reader = _Reader(text[:MAX_READ_CHARACTERS], seq)
        items += islice(reader.items(), _MAX_PER_MESSAGE)
        dropped += reader.dropped
    found = tuple(item for item in items if isinstance(item, Extracted))
    return Extraction(found, tuple(item for item in items if isinstance(item, ForgetRequest)), dropped)


def user_texts(thread: Thread, after_seq: int) -> Iterator[tuple[int, str]]:
    """Yield the user's messages with their sequence numbers, except synthetic ones."""
    for seq, message in enumerate(thread.messages):
        if seq > after_seq and message.role == "user" and "synthetic" not in message.metadata:
            yield seq, message.text


def read_clause(clause: str) -> tuple[MemoryCategory, str | None] | None:
    """Return the category of a clause about its writer and the question it answers, judged by its beginning, or None.

    >>> read_clause("I live in Paris"), read_clause("我对花生过敏"), read_clause("Nice to meet you")
    (('fact', 'residence'), ('fact', 'allergy:花生'), None)
    """
    plain = clause.replace("’", "'")
    for category, template, wording in _rules():
        if match := wording.match(plain):
            key = template
            if "*" in template:
                named = _TRAILING.sub("", _LEADING.sub("", folded(match["o"]).strip(" \t"), count=1))
                by_terms = named.isascii() and template.endswith(":*")
                short = " ".join(count_terms(named) if by_terms else named.split())
                key = template.replace("*", short[:_MAX_KEY]) if short else ""
            return category, key or None
    return None


@cache
def _rules() -> Sequence[tuple[MemoryCategory, str, re.Pattern[str]]]:
    """Return category, key template (``*``: the match of group ``o``) and wording; the first match counts."""
    rules = []
    for (_, category, key), parts in groupby(rows("memory_rules.tsv"), itemgetter(0, 1, 2)):
        wording = expanded("memory_patterns.tsv", "".join(part for *_, part in parts))
        rules.append((cast("MemoryCategory", category), key.strip("-"), re.compile(wording, re.IGNORECASE)))
    return rules


class _Reader:
    def __init__(self, text: str, seq: int) -> None:
        self._text = text
        self._seq = seq
        self._masked = masked(text)
        self._is_talk = len(_SPEAKER.findall(text)) > 1
        self.dropped = 0

    def items(self) -> Iterator[Extracted | ForgetRequest]:
        announced = False  # "Remember:", and the next sentence says what
        for start, stop in sentences(self._text):
            if stop - start > _MAX_SENTENCE or self._is_foreign(start, stop):
                announced = False
                continue
            at = self._behind_openers(start, stop)
            as_question = _ASKED_TO_REMEMBER.match(self._masked, at, stop)
            request = as_question or _REMEMBER.match(self._masked, at, stop)
            if announced or request:
                begin = self._behind_openers(request.end() if request else at, stop)
                text = self._cut(begin, stop)
                is_content = any(map(str.isalnum, text)) and (as_question or not is_question(self._text[start:stop]))
                announced = not is_content and not announced and self._text[start:stop].endswith((":", "："))
                if is_content:  # whatever it says
                    default: MemoryCategory = "user_preference" if text.lower().startswith("to ") else "fact"
                    category, key = read_clause(self._text[begin:stop]) or (default, None)
                    yield Extracted(text, category, key, self._seq, begin)
                continue
            match = _FORGET.match(self._masked, at, stop)
            group = match.span(match.lastgroup) if match and match.lastgroup else (0, 0)
            what = self._text[slice(*group)].strip(_EDGE)
            if any(map(str.isalnum, what)) and not _NOTHING_TO_FORGET.match(what):
                yield ForgetRequest(what, self._seq, self._text.index(what, group[0]))
            else:
                yield from self._statements(start, stop)
            if _TASK.search(self._masked, start, stop):
                return  # what follows is a text to work on

    def _is_foreign(self, start: int, stop: int) -> bool:
        """Return whether a sentence is code, a quotation, part of a marked block, or of other people's conversation."""
        line = self._text.rfind("\n", 0, start) + 1
        beginning = self._text[line : line + 60]
        is_code = _FENCE.search(self._text, start, stop) or not self._masked[start:stop].strip()
        return bool(is_code or _FOREIGN.match(beginning) or (self._is_talk and _SPEAKER.match(beginning)))

    def _statements(self, start: int, stop: int) -> Iterator[Extracted]:
        """Yield what the clauses of a sentence state, up to the first that is asked, supposed or someone else's."""
        clauses = self._clauses(start, stop)
        if is_question(self._text[start:stop]):
            # "I live in Paris, what can I do there?" states something; "I live in Paris, right?" asks all of it.
            last = self._text[clauses[-1][0] : stop] if clauses else ""
            if len(clauses) < 2 or _TAG_QUESTION.match(last) or not is_question(last.rstrip("?？ ")):
                return
            asks = (at for at, end in clauses if is_question(self._text[at:end]) or at == clauses[-1][0])
            stop = next(asks)
            clauses = self._clauses(start, stop)
        units: list[tuple[int, int, MemoryCategory, str | None]] = []
        for at, end in clauses:
            before, clause = self._masked[start:at], self._masked[at:end]
            if _HYPOTHETICAL.search(before) or _REPORTED.search(before) or _TASK.search(before):
                break
            topic = read_clause(clause)
            if topic is None and units and _HAN_START.match(clause):
                topic = read_clause(f"我{clause}")  # 我叫…，住在…: said once for both
            if topic is not None and not _LATER_HYPOTHETICAL.search(clause):
                units.append((at, end, *topic))
        ends = [*(at for at, *_ in units[1:]), stop]
        for (at, own, category, key), end in zip(units, ends, strict=False):
            full, alone = self._cut(at, end), self._cut(at, own)
            # The clauses after a preference, a skill or a project may belong to it, like a list.
            text = full if category != "fact" and len(full) <= _MAX_TEXT else alone
            if not text or len(text) > _MAX_TEXT:
                continue
            if _SECRET.search(text):
                self.dropped += 1
                continue
            if key is not None and key.startswith("like:") and text != alone:
                key = None  # a list: the user likes more than its first member
            yield Extracted(text, category, key, self._seq, at)

    def _clauses(self, start: int, stop: int) -> list[tuple[int, int]]:
        borders = [at for match in CLAUSE_BORDER.finditer(self._masked, start, stop) for at in match.span()]
        places = iter([start, *borders, stop])
        return [
            (self._behind_openers(begin, stop), end) for begin, end in zip(places, places, strict=True) if begin < end
        ]

    def _behind_openers(self, at: int, stop: int) -> int:
        for _ in range(4):
            while at < stop and self._text[at].isspace():
                at += 1
            match = _OPENER.match(self._masked, at, stop)
            if match is None or match.end() >= stop:
                break
            at = match.end()
        return at

    def _cut(self, start: int, stop: int) -> str:
        text = self._text[start:stop].rstrip(_EDGE)
        return _TAIL.sub("", text).rstrip(_EDGE)


def masked(text: str) -> str:
    """Return the text with quotations, code and marked blocks blanked out, at the same length."""
    spans = [match.span() for match in _QUOTED.finditer(text)]
    # A block runs from an opening mark to the next closing mark of that name; only the outermost counts.
    blocks: list[tuple[int, int]] = []
    ends: dict[str, int] = {}
    for match in reversed([*_MARK.finditer(text)]):
        name = match[2].lower()
        if match[1]:
            ends[name] = match.end()
        elif name in ends:
            blocks.append((match.start(), ends[name]))
    at = 0
    for start, stop in reversed(blocks):
        if start >= at:
            spans.append((start, stop))
            at = stop
    masked = [*text]
    for start, stop in spans:
        masked[start:stop] = " " * (stop - start)
    return "".join(masked)
