"""All formats, and detection of the format of a file."""

from __future__ import annotations

from itertools import chain, islice

from gatekeeper_formats import (
    aider,
    anthropic,
    chatgpt,
    claude,
    claude_code,
    codex,
    cursor,
    gemini,
    langchain,
    langsmith,
    llama_index,
    markdown,
    open_webui,
    openai,
    openhands,
    opentelemetry,
    pairs,
    pydantic_ai,
    responses,
    sharegpt,
)
from gatekeeper_formats.base import Format, Items, PlaceError, WritableFormat

TEXT_FORMATS = (aider.FORMAT, cursor.FORMAT, markdown.FORMAT)  # other than JSON, in detection order
_IN_ORDER = (
    chatgpt.FORMAT,
    claude.FORMAT,
    claude_code.FORMAT,
    codex.FORMAT,
    gemini.CLI,
    open_webui.FORMAT,
    openhands.FORMAT,
    pydantic_ai.FORMAT,
    opentelemetry.FORMAT,
    langsmith.FORMAT,
    sharegpt.FORMAT,
    langchain.FORMAT,
    llama_index.FORMAT,
    gemini.CONTENTS,
    responses.FORMAT,
    anthropic.FORMAT,
    openai.LIST,
    pairs.FORMAT,
)
"""JSON formats in detection order, the surest first."""

FORMATS: dict[str, Format] = {form.name: form for form in (openai.LIST, openai.LINES, *_IN_ORDER, *TEXT_FORMATS)}

READABLE = tuple(name for name in FORMATS if name != openai.LINES.name)
"""The names for ``--from``; to a reader, messages in a list and in lines are one format."""

WRITABLE = tuple(name for name, form in FORMATS.items() if isinstance(form, WritableFormat))  # for ``--to``
_DETECTED_LATER = (responses.FORMAT, anthropic.FORMAT)
_LOOK_AHEAD = 1_000  # maximum number of messages read before the format is decided
_NEARLY = frozenset({"content", "text"})  # keys of a value that was meant as a message
_SHOWN_KEYS = 8

SUFFIXES = {
    ".json": "openai",
    ".jsonl": "openai-lines",
    ".ndjson": "openai-lines",
    ".md": "markdown",
    ".markdown": "markdown",
}
"""Formats by file suffix."""


def format_of(items: Items, *, whole_file: bool) -> tuple[Format, Items]:
    """Return the format of a file and all its values; ``whole_file``: the file is one value, not a list.

    The first value decides; if it is a plain message, a later one in Anthropic's or the Responses format does.
    """
    first = next(items, None)
    read = [] if first is None else [first]
    value = None if first is None else first.value
    detected = next((form for form in _IN_ORDER if isinstance(value, dict) and form.knows(value)), None)
    if detected is openai.LIST and isinstance(value, dict) and "role" in value:
        for item in islice(items, _LOOK_AHEAD):
            read.append(item)
            later = (form for form in _DETECTED_LATER if isinstance(item.value, dict) and form.knows(item.value))
            detected = next(later, openai.LIST)
            if detected is not openai.LIST:
                break
    elif detected is None and isinstance(value, dict) and not value.keys() & _NEARLY:
        keys = ", ".join(f"{key!a:.40}" for key in list(value)[:_SHOWN_KEYS]) or "none"
        where = "it" if whole_file or first is None else "its first line" if first.line else "its first element"
        raise PlaceError(f"is in no known format: {where} has the keys {keys}; known formats are {', '.join(READABLE)}")
    return detected or (openai.LIST if whole_file or value is None else pairs.FORMAT), chain(read, items)
