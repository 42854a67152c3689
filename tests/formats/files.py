"""Files of one test: written, then read as a command would."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gatekeeper_formats import FormatError, read_conversation
from tests.case_files import rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gatekeeper_formats import Conversation

TEXTS = {
    "chinese": [("缓存的端口是多少？", "新实例用 6380 端口。"), ("面包要发酵多久？", "大约五小时。")],
    "english": [("Which port does the cache use?", "Port 6380."), ("How long does dough rise?", "Five hours.")],
    "mixed": [("Redis cache 用哪个 port？", "listens on 6380。"), ("sourdough 要发酵多久？", "大约 five hours。")],
}


def lines_of(values: Sequence[Any]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def content_of(given: Any) -> Any:
    """Return the content of a file of ``tests/cases/files.jsonl``."""
    return lines_of(given["lines"]) if isinstance(given, dict) and given.keys() == {"lines"} else given


class Shape(NamedTuple):
    """A file that holds the two turns of a language, in one of the shapes that its format has."""

    form: str
    language: str
    content: Any


SHAPES = {name: Shape(form, language, content_of(given)) for name, form, language, given in rows("files", "shape")}


class Folder:
    """A folder for the files of a test."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, content: object, name: str = "chat") -> str:
        """Write bytes, a text or a value as JSON, and return the name of the file."""
        file = self.path / name
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            file.write_text(text, encoding="utf-8")
        return str(file)

    def read(self, content: object, **options: Any) -> Conversation:
        """Return the conversation of a content."""
        return read_conversation(self.write(content), **options)

    def refusal(self, content: object, **options: Any) -> str:
        """Return why a content is refused: one line, behind the name of its file."""
        file = self.write(content)
        with pytest.raises(FormatError) as refused:
            read_conversation(file, **options)
        reason = str(refused.value)
        assert reason.startswith(f"{file}: ")
        assert len(reason.splitlines()) == 1
        return reason.removeprefix(f"{file}: ")


def messages_of(reading: Conversation) -> list[tuple[str, str]]:
    """Return the role and the text of each message."""
    return [(message.role, message.text) for message in reading.messages]
