"""A log of folded calls: one line each, and the identifiers that a later call may need verbatim.

An identifier is a path, an id, a name, a number or a hash. A result *defines* it and an action *uses* it. A used one is
likely to be used again; one that a later message repeats is still in the prompt.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from gatekeeper_core.context.tool_results.pointers import defused
from gatekeeper_core.fences import fence
from gatekeeper_core.messages import Message
from gatekeeper_core.tokens import TokenCounter

READ_CHARS = 8_000
"""Characters of a text that are searched for identifiers. Source: ours."""

_LINE_CHARS = 200
"""Maximum characters of a line. Source: ours."""

_TOKEN = re.compile(r"[\w./:@#$+-]+", re.ASCII)
_MARKED = re.compile(r"[0-9]|.[_/.].|[a-z][A-Z]")


def identifiers_in(text: str) -> Iterator[str]:
    """Yield the identifiers of a text in order: tokens of 4 to 60 characters that do not look like plain words.

    >>> list(identifiers_in("把 order HAT204 的 src/a.py:41 交给 parseDate，not to a plain word"))
    ['HAT204', 'src/a.py:41', 'parseDate']
    """
    for token in _TOKEN.findall(text):
        bare = token.lstrip("./:+-").rstrip("./:@#$+-")
        if 4 <= len(bare) <= 60 and _MARKED.search(bare):
            yield bare


def values_of(arguments: str) -> list[str]:
    """Return the values of a call's arguments as texts; if these are long or not a JSON object, only their beginning.

    >>> values_of('{"path": "src/a.py", "lines": [1, 40]}')
    ['src/a.py', '[1, 40]']
    """
    beginning = arguments[:READ_CHARS]
    try:
        values = json.loads(beginning)
        return [
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for value in (values.values() if isinstance(values, dict) else [beginning])
        ]
    except (ValueError, RecursionError):  # cut, not JSON, or nested too deeply
        return [beginning]


def identifiers_of(message: Message) -> tuple[str, ...]:
    """Return the identifiers of a message's text and arguments, in order, without duplicates.

    >>> from gatekeeper_core.messages import ToolCall
    >>> identifiers_of(Message("assistant", "先看 src/a.py", tool_calls=(ToolCall("c", "read", '{"id": "HAT204"}'),)))
    ('src/a.py', 'HAT204')
    """
    texts = [message.text[:READ_CHARS]]
    for call in message.tool_calls:
        texts += [value.replace("\\n", "\n") for value in values_of(call.arguments)]
    return tuple(dict.fromkeys(identifiers_in("\n".join(texts))))


class LiveIdentifiers:
    """Identifiers in the messages of a growing run or conversation, except those of ``question``, which is sent anyway.

    Attributes:
        mentions: the identifiers of each message.
    """

    def __init__(self, question: str = "") -> None:
        self._known = frozenset(identifiers_in(question[:READ_CHARS]))
        self.mentions: list[Sequence[str]] = []
        self._newest: dict[str, int] = {}
        self._used: set[str] = set()

    def add(self, message: Message) -> None:
        """Add the next message."""
        identifiers = identifiers_of(message)
        self._newest.update(dict.fromkeys(identifiers, len(self.mentions)))
        self.mentions.append(identifiers)
        if message.role == "assistant":
            self._used.update(identifiers)

    def of(self, places: Sequence[int]) -> Iterator[str]:
        """Yield identifiers last mentioned in these ascending places: those the assistant used first, newest first."""
        for is_used in (True, False):
            for place in reversed(places):
                for name in self.mentions[place]:
                    if self._newest[name] == place and (name in self._used) == is_used and name not in self._known:
                        yield name


class CallLog:
    """The newest lines of folded calls that fit in ``room`` tokens."""

    def __init__(self, counter: TokenCounter, room: float) -> None:
        self._counter = counter
        self._room = room
        self._lines: list[str] = []
        self._tokens: list[int] = []

    def add(self, messages: Sequence[Message], *, results: Sequence[Message] = (), identifiers: int = 0) -> None:
        """Add the calls of a round or turn, and up to ``identifiers`` new identifiers, those of ``results`` last."""
        calls = [(call.name, *values_of(call.arguments)) for message in messages for call in message.tool_calls]
        lines = [_line(" ".join(call)) for call in calls]
        if identifiers:
            texts = [message.text[:READ_CHARS] for message in messages]
            texts += [text.replace("\\n", "\n") for call in calls for text in call]
            read = ["\n".join(texts), *(result.text for result in results)]
            found = dict.fromkeys(each for text in read for each in identifiers_in(text[:READ_CHARS]))
            earlier = "\n".join((*self._lines, *lines))
            lines += _wrapped(islice((each for each in found if each not in earlier), identifiers))
        self._lines += lines
        self._tokens += [self._counter(line) + 1 for line in lines]
        while self._lines and sum(self._tokens) > self._room:
            del self._lines[0], self._tokens[0]

    def text(self, pointers: Collection[str], *, identifiers: Iterable[str] = (), room: float = 0) -> str:
        """Return the fenced log, other pointers defused, with identifiers that fit in ``room`` tokens; "" if empty."""
        earlier, room, extra = "\n".join(self._lines), room - sum(self._tokens), []
        for each in identifiers:
            if each not in earlier:
                room -= self._counter(each) + 1
                if room < 0:
                    break
                extra.append(each)
        lines = [*self._lines, *_wrapped(extra)]
        return fence(defused("\n".join(lines), pointers), tag="earlier_calls") if lines else ""


def _wrapped(identifiers: Iterable[str]) -> list[str]:
    lines = textwrap.wrap(", ".join(identifiers), _LINE_CHARS - 2, break_on_hyphens=False)
    return [f"({line})" for line in lines]


def _line(text: str) -> str:
    """Return a text on one line without control characters and surrogates; a long one is cut in the middle."""
    flat = " ".join(text.split())
    if not flat.isprintable():
        flat = "".join(char for char in flat if char.isprintable())
    head = _LINE_CHARS * 2 // 3
    return flat if len(flat) <= _LINE_CHARS else f"{flat[:head]} … {flat[head + 3 - _LINE_CHARS :]}"
