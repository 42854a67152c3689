"""The form of a snapshot: named arrays and bytes behind a header, with a checksum at the end.

::

    "CGKS"  version (2 bytes)  kind (8 bytes)  number of sections (4 bytes)
    each section: length of its name (1), type code (1, "x" for bytes), items' size (1), length (8), name, bytes
    CRC-32 of all that (4 bytes)

Numbers are little-endian. Only numbers and bytes are stored, so reading a snapshot runs nothing; what is not known
exactly as it stands here is refused.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from typing import TYPE_CHECKING, Any
from zlib import crc32

from gatekeeper_core.errors import SnapshotError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["VERSION", "read_column", "read_sections", "read_texts", "write_sections"]

VERSION = 1
_MAGIC = b"CGKS"
_START = struct.Struct("<4sH8sI")
_SECTION = struct.Struct("<BcBQ")
_END = struct.Struct("<I")
_BYTES = b"x"
_TYPECODES = "bBhHiIlLqQfd"
_SWAPPED = sys.byteorder == "big"


def write_sections(kind: bytes, sections: Mapping[str, array[Any] | bytes]) -> bytes:
    """Return a snapshot.

    Args:
        kind: what it is of, eight bytes at most.
        sections: by name (ASCII, 255 characters at most) an array of numbers or bytes.
    """
    written = [_START.pack(_MAGIC, VERSION, kind, len(sections))]
    for name, content in sections.items():
        code, size = (_BYTES, 1) if isinstance(content, bytes) else (content.typecode.encode(), content.itemsize)
        data = content if isinstance(content, bytes) else _little_endian(content).tobytes()
        written += (_SECTION.pack(len(name), code, size, len(data)), name.encode("ascii"), data)
    body = b"".join(written)
    return body + _END.pack(crc32(body))


def read_sections(kind: bytes, data: bytes) -> dict[str, Any]:
    """Return the sections of a snapshot, arrays as arrays and bytes as bytes.

    Raises:
        TypeError: ``data`` is not bytes.
        SnapshotError: it is no snapshot, of another kind or version, cut short or damaged.
    """
    if not isinstance(data, bytes):
        raise TypeError(f"data must be bytes, got {type(data).__name__}")
    if len(data) < _START.size + _END.size or data[:4] != _MAGIC:
        raise SnapshotError("this is no snapshot")
    _, version, found, count = _START.unpack_from(data)
    if version != VERSION:
        raise SnapshotError(f"this snapshot has version {version}, this library reads {VERSION}")
    if found.rstrip(b"\0") != kind:
        raise SnapshotError(f"this is a snapshot of {found.rstrip(bytes(1))!r}, not of {kind!r}")
    view = memoryview(data)
    if crc32(view[: -_END.size]) != _END.unpack_from(data, len(data) - _END.size)[0]:
        raise SnapshotError("this snapshot is damaged or was cut short")
    try:
        return _sections(view[: -_END.size], count)
    except (struct.error, ValueError, EOFError) as error:
        raise SnapshotError("this snapshot does not hold what its header says") from error


def read_column(
    sections: Mapping[str, Any],
    name: str,
    typecode: str,
    *,
    length: int | None = None,
    low: int | None = None,
    high: int | None = None,
) -> array[Any]:
    """Return the column of a snapshot that has this name.

    Args:
        sections: what :func:`read_sections` returned.
        name: of the section.
        typecode: of the array.
        length: how many numbers it must hold; None: any.
        low: the lowest number that it may hold; None: any.
        high: the highest one; None: any.

    Raises:
        SnapshotError: it is missing, of another type or length, or holds a number out of range.
    """
    column = sections.get(name)
    if not isinstance(column, array) or column.typecode != typecode or length not in (None, len(column)):
        raise SnapshotError(f"the column {name!r} of this snapshot is missing or does not fit")
    too_low = low is not None and min(column, default=low) < low
    if too_low or (high is not None and max(column, default=high) > high):
        raise SnapshotError(f"the column {name!r} of this snapshot holds a number out of range")
    return column


def read_texts(sections: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts, each once, of a section that holds them as JSON; none where it is missing.

    Raises:
        SnapshotError: it holds anything else.
    """
    try:
        texts: object = json.loads(sections.get(name, b"[]"))
    except (TypeError, ValueError, RecursionError) as error:
        raise SnapshotError(f"the section {name!r} of this snapshot is no JSON") from error
    if isinstance(texts, list) and all(isinstance(text, str) for text in texts) and len({*texts}) == len(texts):
        return texts
    raise SnapshotError(f"the section {name!r} of this snapshot must be a list of texts, each once")


def _sections(view: memoryview, count: int) -> dict[str, Any]:
    sections: dict[str, Any] = {}
    at = _START.size
    for _ in range(count):
        name_length, code, size, length = _SECTION.unpack_from(view, at)
        at += _SECTION.size
        name = bytes(view[at : at + name_length]).decode("ascii")
        content = view[at + name_length : at + name_length + length]
        at += name_length + length
        if at > len(view):
            raise ValueError(name)
        if code == _BYTES:
            sections[name] = bytes(content)
            continue
        typecode = code.decode("ascii")
        if typecode not in _TYPECODES or array(typecode).itemsize != size:
            raise ValueError(name)
        numbers = array(typecode)
        numbers.frombytes(content)
        sections[name] = _little_endian(numbers)
    return sections


def _little_endian(numbers: array[Any]) -> array[Any]:
    """Return numbers with their bytes the other way round on a machine that keeps the highest first."""
    if _SWAPPED:
        numbers = numbers[:]
        numbers.byteswap()
    return numbers
