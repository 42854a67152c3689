"""Aider's chat history, ``.aider.chat.history.md``: all sessions of a folder, in order.

``# aider chat started at ...`` begins a session, ``#### `` a user line, ``> `` Aider's output; the rest is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_formats import base

_START = re.compile(r"^# aider chat started at (.*)$", re.MULTILINE)
_USER = re.compile(r"####(?: (?P<text>.*?))?(?P<written> {2})?")
_NOTE = re.compile(r">(?: (?P<text>.*?))?(?P<written> {2})?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMAND = re.compile(r"[/!](?!(?:ask|code|architect|context|ok)\b)")  # begins a line for Aider, not for the model
_TOKENS = re.compile(
    r"Tokens: (?P<sent>[\d.,]+k?) sent"
    r"(?:, (?P<written>[\d.,]+k?) cache write)?(?:, (?P<hit>[\d.,]+k?) cache hit)?, (?P<received>[\d.,]+k?) received\."
)


class _Aider(base.Format):
    name = "aider"

    def knows(self, value: str) -> bool:
        return _START.match(value.lstrip()) is not None

    def entries(self, items: base.Items, whole_file: bool) -> base.Entries:  # noqa: ARG002
        text = str(next(items).value).replace("\r\n", "\n")
        starts = list(_START.finditer(text))
        if not starts:
            raise base.PlaceError("is not an Aider chat history: no line starts with # aider chat started at")
        ends = [*(start.start() for start in starts[1:]), len(text)]
        for start, end in zip(starts, ends, strict=True):
            lines = text[start.end() : end].split("\n")
            questions = (match["text"] for line in lines if (match := _USER.fullmatch(line)) and match["text"])
            title = next((question for question in questions if not _COMMAND.match(question)), None)
            yield base.Entry(base.loader(partial(_messages, lines)), title=title, created=base.date_of(start[1]))


def _messages(lines: list[str], left_out: base.LeftOut) -> Iterator[Message | Usage]:
    """Yield messages and usage; consecutive lines of one kind form a message, and a blank line ends the user's."""
    open_kind, own, fence = "", list[str](), ""
    for line in lines:
        # In a code block, a marked line is Aider's only if it ends in two spaces, as Aider writes it.
        marked = ((kind, pattern.fullmatch(line)) for kind, pattern in (("user", _USER), ("note", _NOTE)))
        own_mark = ((kind, match["text"] or "") for kind, match in marked if match and (not fence or match["written"]))
        kind, text = next(own_mark, ("answer", line))
        blank = kind == "answer" and not line.strip() and not fence
        if kind != open_kind and not (blank and open_kind != "user"):
            yield from _message_of(open_kind, own, left_out)
            open_kind, own, fence = "" if blank else kind, [], ""
        if kind == open_kind:
            own.append(text)
        if kind == "answer" and (mark := _FENCE.match(line)):
            closes = fence and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence or mark[1]
        if kind == "note" and (match := _TOKENS.search(text)):
            sent, received, hit, written = (_count(match[part]) for part in ("sent", "received", "hit", "written"))
            yield Usage(sent, received, hit, written)
    yield from _message_of(open_kind, own, left_out)


def _message_of(kind: str, lines: list[str], left_out: base.LeftOut) -> Iterator[Message]:
    text = "\n".join(lines).strip("\n")
    if kind == "note":
        left_out["app_note"] += any(line.strip() and not _TOKENS.search(line) for line in lines)
    elif kind == "answer" and text.strip():
        yield Message("assistant", text)
    elif kind == "user" and _COMMAND.match(text):
        left_out["command"] += 1
    elif kind == "user" and text.strip() not in ("", "<blank>"):
        yield Message("user", text)


def _count(text: str | None) -> int:
    """Return a token count in Aider's notation: ``950``, ``2.5k``, ``1,025k``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(k?)", (text or "").replace(",", ""))
    return round(float(match[1]) * (1000 if match[2] else 1)) if match else 0


FORMAT = _Aider()
