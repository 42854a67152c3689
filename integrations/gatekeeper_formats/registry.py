"""The formats that are read and written, and which of them a file has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_formats import (
    aider,
    chatgpt,
    claude,
    cursor,
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
    sharegpt,
)

if TYPE_CHECKING:
    from gatekeeper_formats.base import Format

__all__ = ["FORMATS", "READABLE", "SUFFIXES", "TEXT_FORMATS", "WRITABLE", "format_of_value"]

TEXT_FORMATS = (aider.FORMAT, cursor.FORMAT, markdown.FORMAT)
"""The formats that are no JSON, in the order of asking."""

_IN_ORDER = (
    chatgpt.FORMAT,
    claude.FORMAT,
    open_webui.FORMAT,
    openhands.FORMAT,
    pydantic_ai.FORMAT,
    opentelemetry.FORMAT,
    langsmith.FORMAT,
    sharegpt.FORMAT,
    langchain.FORMAT,
    llama_index.FORMAT,
    openai.LIST,
    pairs.FORMAT,
)
"""What a value is asked for in turn: what is surest to be told first."""

FORMATS: dict[str, Format] = {form.name: form for form in (openai.LIST, openai.LINES, *_IN_ORDER, *TEXT_FORMATS)}
"""Every format by its name."""

READABLE = tuple(name for name in FORMATS if name != openai.LINES.name)
"""The names that ``--from`` knows; messages in a list and in lines are one format to a reader."""

WRITABLE = tuple(name for name, form in FORMATS.items() if form.write is not None)
"""The names that ``--to`` knows."""

SUFFIXES = {
    ".json": "openai",
    ".jsonl": "openai-lines",
    ".ndjson": "openai-lines",
    ".md": "markdown",
    ".markdown": "markdown",
}
"""The format that the end of a file's name stands for."""


def format_of_value(value: object, *, whole_file: bool) -> Format:
    """Return the format of a file by its first value; what none knows gets the error of the nearest one.

    Args:
        value: the first value, or None for a file without any.
        whole_file: whether it is the only one, and no element of a list.
    """
    found = next((form for form in _IN_ORDER if form.knows(value)), None)
    if found is not None:
        return found
    return openai.LIST if whole_file or value is None else pairs.FORMAT
