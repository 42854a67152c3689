"""The values of a JSON file, read one by one without holding the file in memory.

::

    bytes ──UTF-8, a piece at a time──> text ──> the elements of a list, the lines of JSON lines, or the one value

The standard library's decoder reads each value, so numbers, escapes and errors are the usual ones. ijson 3.6 is not
used: its C backend turns a lone surrogate into a question mark, ends the process at a very long number, and takes
quadratic time for deep nesting; a conversation must round-trip, and a hostile file must end in an error.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from typing import BinaryIO

from gatekeeper_formats.base import CutLineError, Item, PlaceError

TOO_DEEP = "the JSON is nested too deeply"

_CHUNK_BYTES = 1 << 18
_ZIP = b"PK\x03\x04"
_WHITE = " \t\n\r"
_LONGEST_WORD = 32  # an error this close to the buffer's end, in characters, may be due to a cut-off word
_decoder = json.JSONDecoder()


class TextSource:
    """A UTF-8 text stream without byte order mark, read on demand; ``progress`` gets the byte count of each read."""

    def __init__(self, stream: BinaryIO, *, progress: Callable[[int], None] | None = None) -> None:
        self._stream = stream
        self._progress = progress
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._bytes_read = 0
        self._line = 1  # of the first character of ``text``
        self._column = 1
        self._ended = False
        self.text = ""  # the buffer
        self.at = 0  # position of the next character in it

    def more(self) -> bool:
        """Discard what was passed and read at least as much as is left; return whether there was anything."""
        if self._ended:
            return False
        self._column, self._line = self._column_of(self.at), self.line()
        self.text, self.at = self.text[self.at :], 0
        content = self._stream.read(max(_CHUNK_BYTES, len(self.text)))
        first = not self._bytes_read
        if first and content.startswith(_ZIP):
            raise PlaceError("is a ZIP archive: unpack it and use the conversations.json inside")
        pending = len(self._decoder.getstate()[0])  # bytes of a character begun in the previous piece
        try:
            self.text += self._decoder.decode(content, final=not content)
        except UnicodeDecodeError as error:
            line = self.line(len(self.text)) + error.object.count(b"\n", 0, error.start)
            offset = self._bytes_read - pending + error.start
            cut = not content  # the end of the file, in the middle of a character
            raise (CutLineError if cut else PlaceError)(
                f"line {line}, byte {offset}: not UTF-8 (0x{error.object[error.start]:02x}); save it as UTF-8"
            ) from error
        if first:
            self.text = self.text.removeprefix("\ufeff")
        self._bytes_read += len(content)
        self._ended = not content
        if self._progress is not None:
            self._progress(len(content))
        return not self._ended

    @property
    def ended(self) -> bool:
        """Whether the last line has been passed and has no line feed."""
        return self._ended and self.at == len(self.text) and not self.text.endswith("\n")

    def rest(self) -> str:
        """Read to the end; return everything from the next character on."""
        while self.more():
            pass
        return self.text[self.at :]

    def skip_white(self) -> str:
        """Skip white space and return the next character, without passing it; empty at the end."""
        while True:
            text, at, stop = self.text, self.at, len(self.text)
            while at < stop and text[at] in _WHITE:
                at += 1
            self.at = at
            if at < stop:
                return text[at]
            if not self.more():
                return ""

    def next_line(self) -> str | None:
        """Return the next line without its line feed, or None at the end; only a line feed ends a line."""
        unread = 0
        while (feed := self.text.find("\n", self.at + unread)) < 0:
            unread = len(self.text) - self.at
            if not self.more():
                line, self.at = self.text[self.at :], len(self.text)
                return line or None
        line, self.at = self.text[self.at : feed], feed + 1
        return line

    def line(self, at: int | None = None) -> int:
        """Return the line number, from 1, of a position in ``text``, by default of the next character."""
        return self._line + self.text.count("\n", 0, self.at if at is None else at)

    def place(self, at: int) -> str:
        """Return the line and column of a position in ``text``, for an error message."""
        return f"line {self.line(at)}, column {self._column_of(at)}"

    def _column_of(self, at: int) -> int:
        feed = self.text.rfind("\n", 0, at)
        return at - feed if feed >= 0 else self._column + at


def read_values(source: TextSource) -> tuple[Iterator[Item], bool]:
    """Return the values of a JSON file, and whether it is a single value other than a list.

    They are list elements, lines (if the first is an object) or the one value; a broken one raises ``PlaceError``.
    """
    first = source.skip_white()
    if first == "[":
        return _elements(source), False
    number, value = source.line(), _value(source)
    is_line = first == "{" and source.line() == number
    if is_line and source.skip_white() and source.line() > number:
        source.at = source.text.rfind("\n", 0, source.at) + 1  # columns count from the beginning of the line
        return _lines(source, value, number), False
    _check_end(source)
    return iter((Item(value, 0, number),)), True


def _elements(source: TextSource) -> Iterator[Item]:
    source.at += 1
    mark = "]" if source.skip_white() == "]" else ","
    at = 0
    while mark == ",":
        yield Item(_value(source), at)
        at += 1
        mark = source.skip_white()
        if mark not in ("]", ","):  # also at the end of the file
            raise PlaceError(f"{source.place(source.at)}: not JSON: expecting ',' delimiter")
        if mark == ",":
            source.at += 1
            source.skip_white()
    source.at += 1
    _check_end(source)


def _value(source: TextSource) -> object:
    """Return the next value, reading on as needed."""
    while True:
        try:
            value, stop = _decoder.raw_decode(source.text, source.at)
        except json.JSONDecodeError as error:
            behind = error.pos - source.at
            cut = error.msg.startswith("Unterminated string") or error.pos > len(source.text) - _LONGEST_WORD
            if cut and source.more():
                continue
            raise PlaceError(f"{source.place(source.at + behind)}: {_fault(error)}") from error
        except (ValueError, RecursionError) as error:
            raise PlaceError(_fault(error)) from error
        length, near_end = stop - source.at, stop > len(source.text) - _LONGEST_WORD
        if near_end and not isinstance(value, (dict, list, str)) and source.more():
            continue  # half a number is a valid number
        source.at += length
        result: object = value
        return result


def _lines(source: TextSource, first: object, number: int) -> Iterator[Item]:
    yield Item(first, 0, number)
    at, number = 1, source.line()
    while (line := source.next_line()) is not None:
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
                kind = CutLineError if source.ended else PlaceError
                raise kind(f"line {number}{column}: {_fault(error)}") from error
            yield Item(value, at, number)
            at += 1
        number += 1


def _check_end(source: TextSource) -> None:
    if source.skip_white():
        raise PlaceError(f"{source.place(source.at)}: not JSON: extra data")


def _fault(error: ValueError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return TOO_DEEP
    kind, message = (
        ("not JSON", error.msg) if isinstance(error, json.JSONDecodeError) else ("unreadable JSON", str(error))
    )
    return f"{kind}: {message[:1].lower()}{message[1:]}"
