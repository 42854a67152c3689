"""Transcripts in Markdown: a heading or a bold label names the speaker of what follows.

The first label of a file sets its style: headings of one level (``## User``), bold labels (``**Assistant:**``) or plain
ones (``You said:``, ``用户：``). A label of another style is text, and so is everything inside a fenced code block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gatekeeper_core.messages import Message, Role
from gatekeeper_formats import base

_SPEAKERS: Mapping[Role, tuple[str, ...]] = {
    "user": (
        *("user", "you", "you said", "human", "me", "question", "prompt"),
        *("用户", "你", "你说", "我", "人类", "提问"),
    ),
    "assistant": (
        *("assistant", "ai", "bot", "model", "answer", "response", "chatgpt", "chatgpt said", "claude", "gemini"),
        *("copilot", "deepseek", "gpt", "gpt-4", "gpt-4o", "minimax"),
        *("助手", "助理", "ai助手", "ai 助手", "机器人", "模型", "回答", "chatgpt 说", "chatgpt说"),
    ),
    "system": ("system", "系统"),
    "tool": ("tool", "工具"),
}
_ROLES: Mapping[str, Role] = {name: role for role, names in _SPEAKERS.items() for name in names}
_WRITTEN: Mapping[Role, str] = {"system": "## System", "user": "## User", "assistant": "## Assistant"}

_HEADING = re.compile(r"(#{1,6})[ \t]+(.{1,60})")
_BOLD = re.compile(r"(\*\*|__)(.{1,60}?)(?:[:：][ \t]*\1|\1[ \t]*[:：]|\1[ \t]*$)[ \t]*(.*)", re.DOTALL)
_PLAIN = re.compile(r"([^:：]{1,40})[:：](?!//)[ \t]*(.*)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_TITLE = re.compile(r"#[ \t]+(.*)")


class _Label(NamedTuple):
    style: str
    role: Role
    rest: str


class _Line(NamedTuple):
    """A line of text, whether it is in a fenced code block, and the fence still open after it (empty if none)."""

    text: str
    fenced: bool = False
    fence: str = ""


def _label(line: str) -> _Label | None:
    """Return the speaker label of a line, or None.

    >>> _label("## 👤 User").role, _label("**Assistant:** hi").rest, _label("用户：你好").style
    ('user', 'hi', 'plain')
    """
    if match := _HEADING.fullmatch(line.rstrip()):
        style, name, rest = match[1], match[2], ""
    elif match := _BOLD.fullmatch(line):
        style, name, rest = "bold", match[2], match[3]
    elif match := _PLAIN.fullmatch(line):
        style, name, rest = "plain", match[1], match[2]
    else:
        return None
    # Symbols around the name, such as an emoji or a colon, are not part of it.
    role = _ROLES.get(re.sub(r"^[^\w]+|[^\w]+$", "", name).lower())
    return _Label(style, role, rest) if role else None


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines; a code block extends to its closing fence, or to the end."""
    fence = ""
    for line in text.split("\n"):
        mark, inside = _FENCE.match(line), bool(fence)
        if not inside:
            fence = mark[1] if mark else ""
        elif mark and len(line.strip()) >= len(fence) and not line.strip().strip(fence[0]):
            fence = ""
        yield _Line(line, inside or bool(fence), fence)


def _without_ends(lines: list[_Line]) -> list[_Line]:
    filled = [at for at, line in enumerate(lines) if line.text]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _ends_with_rule(lines: list[_Line]) -> bool:
    """Return whether the last line is a rule; if every message has one, they are separators."""
    return bool(lines) and not lines[-1].fenced and bool(_RULE.fullmatch(lines[-1].text))


def _is_special(line: str) -> bool:
    return bool(_label(line) or _RULE.fullmatch(line))


class _Markdown(base.WritableFormat):
    name = "markdown"

    def knows(self, value: str) -> bool:
        return any(_label(line.text) for line in _lines(value) if not line.fenced)

    def entries(self, items: base.Items, whole_file: bool) -> base.Entries:  # noqa: ARG002
        text = str(next(items).value)
        if text.count("\r\n") == text.count("\n"):
            text = text.replace("\r\n", "\n")
        labelled = [(None if line.fenced else _label(line.text), line) for line in _lines(text)]
        style = next((label.style for label, _ in labelled if label), None)
        if style is None:
            raise base.PlaceError(
                "is not a transcript: no line names a speaker, such as ## User, **Assistant:** or 用户："
            )
        before: list[str] = []
        parts: list[tuple[Role, list[_Line]]] = []
        for label, line in labelled:
            if label and label.style == style:
                parts.append((label.role, [_Line(label.rest)]))
            elif parts:
                parts[-1][1].append(line)
            else:
                before.append(line.text)
        title = next((match[1].strip() for line in before if (match := _TITLE.fullmatch(line))), None)
        preface = any(line.strip() and not _TITLE.fullmatch(line) for line in before)
        left_out: base.LeftOut = Counter(preface=int(preface))
        parts = [(role, _without_ends(own)) for role, own in parts]
        messages: list[Message] = []
        ruled = len(parts) > 1 and all(_ends_with_rule(lines) for _, lines in parts[:-1])
        for role, lines in parts:
            own = _without_ends(lines[:-1]) if ruled and _ends_with_rule(lines) else lines
            if role == "tool":
                left_out["orphan_result"] += 1
            else:
                texts = []
                for text, fenced, _ in own:  # a backslash keeps a line from being read as a label or a rule
                    escaped = not fenced and text.startswith("\\") and _is_special(text.lstrip("\\"))
                    texts.append(text[1:] if escaped else text)
                messages.append(Message(role, "\n".join(texts)))
        yield base.Entry(lambda: base.Loaded(tuple(messages), left_out), title=title)

    def write(self, messages: Sequence[Message], left_out: base.LeftOut) -> Iterable[str]:
        for at, message in enumerate(messages):
            base.count_media(message, left_out)
            left_out["tool_call"] += len(message.tool_calls)
            base.count_fields(message, left_out)
            if message.role == "tool":
                left_out["tool_result"] += 1
            elif message.text or not message.tool_calls:
                text = _written(message.text, left_out)
                yield ("\n" if at else "") + f"{_WRITTEN[message.role]}\n\n{text}\n"


def _written(text: str, left_out: base.LeftOut) -> str:
    r"""Return a text that reads back the same, except for empty lines at its ends.

    >>> _written("## User\n---", Counter())
    '\\## User\n\\---'
    """
    body = base.without_surrogates(text, left_out).strip("\n")
    left_out["end_lines"] += len(body) != len(text)
    lines = list(_lines(body))
    written = [
        f"\\{line.text}" if not line.fenced and _is_special(line.text.lstrip("\\")) else line.text for line in lines
    ]
    if lines[-1].fence:
        left_out["closed_fence"] += 1
        written.append(lines[-1].fence)
    return "\n".join(written)


FORMAT = _Markdown()
