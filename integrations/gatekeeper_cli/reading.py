"""Conversation files to turns: which format a file has, and where exactly it is broken.

::

    bytes ──UTF-8──> text ──JSON or JSON lines──> items, each with its place ──> turns

Formats, told apart by their content: a JSON list of messages, a JSON object with such a list under ``"messages"``, one
message per line, or one ``{"user": ..., "assistant": ...}`` per line. Messages are in OpenAI's chat format.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import Message, Turn, group_turns

__all__ = ["STANDARD_INPUT", "InputError", "parse_message_lines", "parse_turns", "read_turns", "without_current"]

STANDARD_INPUT = "-"
"""The file name that stands for standard input."""

_BOM = b"\xef\xbb\xbf"
_TOO_DEEP = "the JSON is nested too deeply"
_MIXED = 'mixes {"user", "assistant"} with {"role", "content"}: use one of them in a file'

_CONVERT = {
    "a JSON list": "jq -c '.[]'",
    'an object with "messages"': "jq -c '.messages[]'",
    '{"user", "assistant"} lines': """jq -c '{role:"user", content:.user}, {role:"assistant", content:.assistant}'""",
}
"""The command that makes JSON lines of messages of each other format."""


class InputError(Exception):
    """A file cannot be read as a conversation; the text is one line that names the file and the place."""


class _PlaceError(Exception):
    """What is wrong and where, before the file has its name."""


class _Item(NamedTuple):
    """One value of a file, and where it stands for a reader: ``line 3`` or ``message 2 (counting from 0)``."""

    place: str
    value: dict[str, Any]


def read_turns(file: str) -> tuple[Turn, ...]:
    """Return the turns of a conversation file, oldest first.

    Args:
        file: its path, or ``-`` for standard input.

    Raises:
        InputError: the file cannot be opened, decoded or understood.
    """
    if file == STANDARD_INPUT:
        return parse_turns(sys.stdin.buffer.read(), name="standard input")
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL or a lone surrogate in the name
        raise InputError(f"{file!a}: {error}") from error
    return parse_turns(content, name=file)


def parse_turns(content: bytes, *, name: str) -> tuple[Turn, ...]:
    r"""Return the turns that the content of a file holds, oldest first; an empty JSON list holds none.

    Args:
        content: UTF-8, with or without a byte order mark, with any line ends.
        name: what the file is called in an error.

    Raises:
        InputError: the content is no conversation.

    >>> [turn.user_text for turn in parse_turns(b'{"user": "hi", "assistant": "hello"}\n', name="chat.jsonl")]
    ['hi']
    """
    try:
        items = _items(_text(content))
        if items and "role" not in items[0].value:
            return tuple(_pair(item, start=2 * at) for at, item in enumerate(items))
        return group_turns([_message(item) for item in items])
    except _PlaceError as problem:
        raise InputError(f"{name}: {problem}") from problem.__cause__


def parse_message_lines(content: bytes, *, name: str) -> tuple[Message, ...]:
    r"""Return the messages of JSON lines, one message each, which can be appended to; no line, no message.

    Args:
        content: UTF-8, with or without a byte order mark, with any line ends.
        name: what the file is called in an error.

    Raises:
        InputError: the content is no such file; of another format that is read here, with the command that converts it.

    >>> parse_message_lines(b'{"role": "user", "content": "hi"}\n', name="chat.jsonl")[0].text
    'hi'
    """
    if not content.removeprefix(_BOM).strip():
        return ()
    try:
        text = _text(content)
        form = _other_form(text)
        if form is not None:
            raise _PlaceError(
                f"is {form}; a chat appends to JSON lines of messages, so convert it first: {_CONVERT[form]}"
            )
        return tuple(_message(_line_item(number, line)) for number, line in _lines(text))
    except _PlaceError as problem:
        raise InputError(f"{name}: {problem}") from problem.__cause__


def without_current(turns: tuple[Turn, ...], *, query: str) -> tuple[Turn, ...]:
    """Return the turns without the last one where that is the query itself, still waiting for its answer.

    White space at the ends is no difference. A turn waits if its last message is the user's, a tool call, a tool
    result, or empty.

    >>> turns = (Turn.of("hi", "hello"), Turn.of("and now?", ""))
    >>> [turn.user_text for turn in without_current(turns, query="and now? ")]
    ['hi']
    """
    if not turns or turns[-1].user_text.strip() != query.strip():
        return turns
    last = turns[-1].messages[-1]
    answered = last.role == "assistant" and last.content and not last.tool_calls
    return turns if answered else turns[:-1]


# --- bytes to text --------------------------------------------------------------------------------------------------


def _text(content: bytes) -> str:
    body = content.removeprefix(_BOM)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        offset = error.start + len(content) - len(body)
        raise _PlaceError(
            f"line {line}, byte {offset}: not UTF-8 (0x{body[error.start]:02x}); save it as UTF-8"
        ) from error
    if not text.strip():
        raise _PlaceError("holds no messages: it is empty")
    return text


# --- text to items --------------------------------------------------------------------------------------------------


def _items(text: str) -> list[_Item]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        if not _starts_with_whole_line(text):
            raise _PlaceError(f"line {error.lineno}, column {error.colno}: not JSON: {_lower(error.msg)}") from error
        return [_line_item(number, line) for number, line in _lines(text)]
    except RecursionError as error:
        raise _PlaceError(_TOO_DEEP) from error
    except ValueError as error:
        raise _PlaceError(f"not JSON that can be read: {_lower(str(error))}") from error
    return _document_items(document)


def _document_items(document: object) -> list[_Item]:
    """Return the items of a file that is one JSON value."""
    if isinstance(document, dict) and "messages" in document:
        document = document["messages"]
        if not isinstance(document, list):
            raise _PlaceError(f'"messages" must be a list, got {_kind(document)}')
    if isinstance(document, list):
        return [_checked_item(f"message {at} (counting from 0)", value) for at, value in enumerate(document)]
    if isinstance(document, dict) and document.keys() & {"role", "user"}:
        return [_Item("line 1", document)]
    got = 'an object without "messages"' if isinstance(document, dict) else _kind(document)
    raise _PlaceError(f'must be a list of messages or an object with "messages", got {got}')


def _other_form(text: str) -> str | None:
    """Return which of the other formats a text has, or None for JSON lines of messages and for what is none of them."""
    try:
        document = json.loads(text if not _starts_with_whole_line(text) else text.lstrip().partition("\n")[0])
    except (ValueError, RecursionError):
        return None
    if isinstance(document, list):
        return "a JSON list"
    if not isinstance(document, dict) or "role" in document:
        return None
    return 'an object with "messages"' if "messages" in document else '{"user", "assistant"} lines'


def _starts_with_whole_line(text: str) -> bool:
    """Return whether the first line that holds anything is an object by itself: then the file is JSON lines."""
    line = text.lstrip().partition("\n")[0]
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _lines(text: str) -> list[tuple[int, str]]:
    """Return the lines that hold anything, numbered from 1; JSON text may hold every line end but the line feed."""
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _line_item(number: int, line: str) -> _Item:
    place = f"line {number}"
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise _PlaceError(f"{place}, column {error.colno}: not JSON: {_lower(error.msg)}") from error
    except RecursionError as error:
        raise _PlaceError(f"{place}: {_TOO_DEEP}") from error
    except ValueError as error:
        raise _PlaceError(f"{place}: not JSON that can be read: {_lower(str(error))}") from error
    item = _checked_item(place, value)
    if "messages" in item.value and "role" not in item.value:
        raise _PlaceError(f'{place}: holds a conversation of its own ("messages"): give one conversation per file')
    return item


def _checked_item(place: str, value: object) -> _Item:
    if not isinstance(value, dict):
        raise _PlaceError(f"{place}: must be an object, got {_kind(value)}")
    return _Item(place, value)


# --- items to turns -------------------------------------------------------------------------------------------------


def _message(item: _Item) -> Message:
    if "role" not in item.value and "user" in item.value:
        raise _PlaceError(f"{item.place}: {_MIXED}")
    try:
        return Message.from_dict(item.value)
    except MessageFormatError as error:
        raise _PlaceError(f"{item.place}: {error.reason}") from error


def _pair(item: _Item, *, start: int) -> Turn:
    if "role" in item.value:
        raise _PlaceError(f"{item.place}: {_MIXED}")
    if not item.value.keys() & {"user", "assistant"}:
        raise _PlaceError(f'{item.place}: must hold "role" and "content", or "user" and "assistant"')
    return Turn.of(_side(item, "user"), _side(item, "assistant", optional=True), start=start)


def _side(item: _Item, key: str, *, optional: bool = False) -> str:
    """Return one side of a pair; an assistant that is missing or null has not answered yet."""
    value = item.value.get(key)
    if isinstance(value, str):
        return value
    if value is None and optional:
        return ""
    got = "it is missing" if key not in item.value else f"got {_kind(value)}"
    raise _PlaceError(f'{item.place}: "{key}" must be text, {got}')


def _kind(value: object) -> str:
    """Return what JSON calls the kind of a value."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
