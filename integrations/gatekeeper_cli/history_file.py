"""The history file of a chat: JSON lines of messages, whole turns only, even after a crash.

A turn is appended in one write and synced. A torn end, as after a power loss, is moved to ``FILE.torn`` on opening.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gatekeeper_cli.files import STANDARD_STREAM
from gatekeeper_cli.texts import spoken
from gatekeeper_core.messages import Message
from gatekeeper_formats import FormatError, read_conversation
from gatekeeper_formats.base import json_or_none, json_text

_LINE_START = b'{"role"'


class HistoryFile:
    """A file of JSON lines of messages, read once and then appended to.

    The first :meth:`append` creates a missing file, readable by its owner only.

    Attributes:
        messages: its messages on opening, oldest first.
        note: one line about a torn end that was moved, or None.

    Raises:
        FormatError: it cannot be read or written, or is in another format; the text is one line that names it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.note: str | None = None
        self.messages: tuple[Message, ...] = ()
        try:
            texts = spoken()
            if path == STANDARD_STREAM:
                raise FormatError(texts("error.history_input"))
            try:
                kind = os.stat(path).st_mode
            except FileNotFoundError:
                folder = Path(os.path.realpath(path)).parent
                if not folder.is_dir():
                    raise FileNotFoundError(errno.ENOENT, texts("error.no_folder", folder=folder)) from None
                if not os.access(folder, os.W_OK | os.X_OK):
                    raise PermissionError(errno.EACCES, texts("error.folder_closed", folder=folder)) from None
                return
            if not stat.S_ISREG(kind):
                raise FormatError(f"{path}: {texts('error.no_regular_file')}")
            os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
            content = Path(path).read_bytes()
            size = _whole_bytes(content)
            if other := _other_form(content[:size]):
                form = texts(f"form.{other}")
                raise FormatError(f"{path}: {texts('error.history_form', form=form, file=path)}")
            if content[:size].removeprefix(BOM_UTF8).strip():
                lines = io.BytesIO(content[:size])
                self.messages = read_conversation(lines, form="openai-lines", name=path).messages
            if torn := content[size:]:  # saved in its own file before it is cut off here
                aside = f"{path}.torn"
                with _descriptor(aside, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor:
                    _write_whole(descriptor, torn + b"\n")
                with _descriptor(path, os.O_RDWR) as descriptor:
                    os.ftruncate(descriptor, size)
                    os.fsync(descriptor)
                self.note = texts("history_torn", file=path, count=len(torn), torn=aside)
        except OSError as error:
            raise FormatError(f"{path}: {error.strerror or error}") from error
        except ValueError as error:  # a NUL or a lone surrogate in the name
            raise FormatError(f"{path!a}: {error}") from error

    def append(self, user_text: str, assistant_text: str) -> None:
        """Append one turn, completely or not at all, and sync it to disk.

        Raises:
            OSError: it could not be written.
        """
        pair = ({"role": "user", "content": user_text}, {"role": "assistant", "content": assistant_text})
        lines = "".join(json_text(message) + "\n" for message in pair).encode()
        with _descriptor(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT) as descriptor:
            if os.fstat(descriptor).st_size:
                os.lseek(descriptor, -1, os.SEEK_END)
                if os.read(descriptor, 1) != b"\n":
                    lines = b"\n" + lines
            _write_whole(descriptor, lines)


def _other_form(content: bytes) -> str:
    """Return the other format that a file has, by its first value; empty for JSON lines of messages."""
    content = content.removeprefix(BOM_UTF8).strip()
    if content.startswith(b"["):
        return "list"
    value, spread = json_or_none(content.split(b"\n")[0]), False
    if value is None and b"\n" in content:
        value, spread = json_or_none(content), True
    if not isinstance(value, dict) or "role" in value:
        return "spread" if spread and value is not None else ""
    if "messages" in value:
        return "messages"
    return "pairs" if "user" in value or "assistant" in value else "other"


@contextmanager
def _descriptor(path: str, flags: int) -> Iterator[int]:
    """Open a file for bytes; a new one is readable by its owner only."""
    descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0), 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write_whole(descriptor: int, content: bytes) -> None:
    """Append everything to a file, or leave it unchanged."""
    size = os.fstat(descriptor).st_size
    try:
        written = os.write(descriptor, content)
        if written < len(content):
            raise OSError(errno.ENOSPC, spoken()("error.disk_full"))
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _whole_bytes(content: bytes) -> int:
    """Return the number of intact bytes: all, or those before a turn whose last line was cut off.

    A last line without a line feed is torn if it is not JSON and begins like a message, or with a NUL, which some file
    systems show for a write that never reached the disk. A file's only line must begin as we write it, as it could
    be of any other format. The question just before a torn answer is torn as well.
    """
    start = content.rfind(b"\n") + 1
    tail = content[start:]
    begins = tail.startswith(b"{") if start else tail[: len(_LINE_START)] == _LINE_START[: len(tail)]
    if not tail or not (tail.startswith(b"\0") or begins) or json_or_none(tail) is not None:
        return len(content)
    before = content.rfind(b"\n", 0, max(0, start - 1)) + 1
    message = json_or_none(content[before:start])
    return before if isinstance(message, dict) and message.get("role") == "user" else start
