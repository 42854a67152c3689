"""Texts, messages, memories and vectors as bytes.

Texts are UTF-8 with lone surrogates, so that every ``str`` survives, NUL included. Vectors are 32-bit floats, the rest
is JSON; reading creates only plain values and our own types. Invalid bytes raise one of ``records.UNREADABLE``.
"""

from __future__ import annotations

import json
import sys
from array import array
from typing import Any

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import EarlierText, Memory


def encode_text(text: str) -> bytes:
    r"""Return a text as bytes; different texts give different bytes.

    >>> decode_text(encode_text("端口\0\ud800")) == "端口\0\ud800"
    True
    """
    return text.encode("utf-8", "surrogatepass")


def decode_text(data: bytes) -> str:
    """Return the text that was encoded."""
    return data.decode("utf-8", "surrogatepass")


def encode_message(message: Message) -> bytes:
    """Return a message as JSON; equal messages give equal bytes.

    Raises:
        ConfigError: its metadata has a number with more digits than Python writes.

    >>> encode_message(Message("user", "端口?", id="m1")).decode()
    '{"content":"端口?","id":"m1","role":"user"}'
    """
    try:
        return _json(message.to_dict())
    except ValueError as error:
        raise ConfigError("a number in the metadata has too many digits to be stored") from error


def decode_message(data: bytes) -> Message:
    """Return the message that was encoded."""
    return Message.from_dict(_value(data), trusted=True)


def encode_memory(memory: Memory) -> bytes:
    """Return a memory as JSON."""
    return _json(memory._asdict())


def decode_memory(data: bytes) -> Memory:
    """Return the memory that was encoded."""
    value = _value(data)
    return Memory(**{**value, "earlier": tuple(EarlierText(*earlier) for earlier in value["earlier"])})


def encode_terms(terms: tuple[str, ...]) -> bytes:
    """Return terms as JSON, in their order."""
    return _json(terms)


def decode_terms(data: bytes) -> tuple[str, ...]:
    """Return the terms that were encoded."""
    terms = _value(data)
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
        raise ValueError("no encoded terms")
    return tuple(terms)


def encode_vector(vector: array[float]) -> bytes:
    """Return a vector as 32-bit floats, little-endian on every machine.

    >>> encode_vector(array("f", [1.0])).hex()
    '0000803f'
    """
    return _little_endian(array("f", vector)).tobytes()


def decode_vector(data: bytes) -> array[float]:
    """Return the vector that was encoded."""
    return _little_endian(array("f", data))


def _json(value: object) -> bytes:
    # Not escaped: two adjacent escaped surrogates would be read back as one character.
    return encode_text(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def _value(data: bytes) -> Any:
    return json.loads(decode_text(data))


def _little_endian(numbers: array[float]) -> array[float]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
