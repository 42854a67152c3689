"""What is written is read back as it was."""

from __future__ import annotations

import struct
from array import array

import pytest

from gatekeeper_core.records import UNREADABLE
from gatekeeper_core.storage.codec import decode_memory, decode_message, encode_vector


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[]", b"1", b'{"id":1}', b'{"role":"user","content":1}', b"[" * 100_000]
)
@pytest.mark.parametrize("decode", [decode_message, decode_memory])
def test_what_was_not_encoded_is_unreadable(decode: object, data: bytes) -> None:
    with pytest.raises(UNREADABLE):
        decode(data)  # type: ignore[operator]


def test_a_vector_is_stored_alike_by_every_machine() -> None:
    """Four bytes for each number, the lowest first: a file may go to a machine that counts the other way."""
    assert encode_vector(array("f", [1.0, -2.5])) == struct.pack("<2f", 1.0, -2.5)
