"""Pointers to offloaded texts, which third-party text cannot forge.

``[[wm:<id>]] type=<kind> size=<bytes> preview="<one line>"``. The id is HMAC-SHA256(session key, content), cut to 80
bits, in base32: fixed for a content and thread, impossible to create without the key, and useless in other threads.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from typing import NamedTuple

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.fences import spoilt
from gatekeeper_core.text import LazyPattern

COMPRESSED = "compressed"
"""The metadata key of messages whose text a compressor wrote: pointers in it are ours. No text can set it."""

_MIN_KEY_BYTES = 16  # 128 bits cannot be guessed. Source: ours
_ID_BITS = 80
_PREVIEW_CHARS = 60
_SCANNED_CHARS = 400  # of a text, for its preview

_POINTER = LazyPattern(r"\[\[wm:([a-z2-7]{16})\]\]")
_ID = LazyPattern(r"[a-z2-7]{16}")


class Pointer(NamedTuple):
    """The pointer to an offloaded text.

    Attributes:
        id: 16 characters of base32.
        kind: kind of text: ``log``, ``json``, ``code`` and so on.
        size_bytes: size of the text in UTF-8.
        preview: beginning of the text, on one line.
    """

    id: str
    kind: str
    size_bytes: int
    preview: str

    @property
    def text(self) -> str:
        """The pointer as the model reads it."""
        return f'[[wm:{self.id}]] type={self.kind} size={self.size_bytes} preview="{self.preview}"'


def check_key(key: object, *, name: str = "session_key") -> bytes:
    """Return a secret key; ``name`` is its name in errors.

    Raises:
        TypeError: it is not bytes.
        ConfigError: it is shorter than 16 bytes.
    """
    if not isinstance(key, bytes):
        raise TypeError(f"{name} must be bytes, got {type(key).__name__}")
    if len(key) < _MIN_KEY_BYTES:
        raise ConfigError(f"{name} must be {_MIN_KEY_BYTES} bytes or more: make one with secrets.token_bytes(32)")
    return key


def keyed_id(session_key: bytes, data: bytes) -> str:
    """Return the id of a content under a key: 16 lower-case characters of base32.

    Source: design, "Untrusted text is data": HMAC-SHA256 (RFC 2104), 80 bits, base32 (RFC 4648).

    >>> keyed_id(b"k" * 16, b"content")
    '3bv6dbxwaqwudezn'
    """
    import hmac  # imported here, because most conversations offload nothing
    from base64 import b32encode

    return b32encode(hmac.digest(session_key, data, "sha256")[: _ID_BITS // 8]).decode("ascii").lower()


def pointer_id(text: str) -> str | None:
    """Return the id in a pointer's text, or the text itself if it is a bare id; None if neither.

    >>> pointer_id('see [[wm:abcdefghijklmnop]] type=log'), pointer_id(" abcdefghijklmnop "), pointer_id("../etc")
    ('abcdefghijklmnop', 'abcdefghijklmnop', None)
    """
    if found := _POINTER.search(text):
        return found[1]
    bare = text.strip().removeprefix("wm:") if len(text) < _SCANNED_CHARS else ""
    return bare if _ID.fullmatch(bare) else None


def pointers_in(text: str) -> tuple[str, ...]:
    """Return the ids of all pointers in a text, in order, each once."""
    return tuple(dict.fromkeys(match[1] for match in _POINTER.finditer(text)))


def defused(text: str, known: Collection[str] = ()) -> str:
    """Return a text in which only pointers with known ids remain: any other ``[[wm:`` becomes ``[ [wm:``.

    Look-alike marks count, too (``fences.py``). JSON stays JSON: the mark can only be inside a string. Idempotent.

    >>> defused("[[wm:abcdefghijklmnop]] [[WM : x", known=()), defused("[[wm:abcdefghijklmnop]]", {"abcdefghijklmnop"})
    ('[ [wm:abcdefghijklmnop]] [ [WM : x', '[[wm:abcdefghijklmnop]]')
    """

    def is_known(at: int) -> bool:
        pointer = _POINTER.match(text, at)
        return pointer is not None and pointer[1] in known

    return spoilt(text, "[[wm:", by=" ", one_line=True, unless=is_known if known else None)


def one_line(text: str, *, max_chars: int = _PREVIEW_CHARS) -> str:
    r"""Return the beginning of a text on one line, safe between double quotes.

    White space becomes one space, ``"`` becomes ``'``, characters of category C are removed, pointers are defused.

    >>> one_line('first\nsecond "line"\x00')
    "first second 'line'"
    """
    shown = (char for char in text[:_SCANNED_CHARS] if char.isspace() or unicodedata.category(char)[0] != "C")
    flat = defused(" ".join("".join(shown).split()).replace('"', "'"))
    return flat if len(flat) <= max_chars and len(text) <= _SCANNED_CHARS else f"{flat[: max_chars - 1].rstrip()}…"
