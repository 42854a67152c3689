"""Pointers: made with a key, read back, and never taken from a text of others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.pointers import Pointer, defused, keyed_id, one_line, pointer_id, pointers_in
from tests.case_files import from_file

ID = "abcdefghijklmnop"


def test_a_pointer_reads_as_the_specification_has_it() -> None:
    """004-37: [[wm:<id>]] type=… size=… preview=…."""
    assert Pointer(ID, "log", 12, "first line").text == f'[[wm:{ID}]] type=log size=12 preview="first line"'


@given(st.binary(max_size=50), st.binary(min_size=16, max_size=32), st.binary(min_size=16, max_size=32))
def test_an_id_belongs_to_a_key_and_a_content(data: bytes, key: bytes, other: bytes) -> None:
    """004-37: HMAC-SHA256, 80 bits in base32."""
    identifier = keyed_id(key, data)
    assert pointer_id(identifier) == identifier == keyed_id(key, data)
    assert len(identifier) == 16
    if other.rstrip(b"\x00") != key.rstrip(b"\x00"):  # HMAC fills short keys up with zeros
        assert keyed_id(other, data) != identifier
    assert keyed_id(key, data + b"x") != identifier


@pytest.mark.parametrize(
    "text", ["", "../../etc/passwd", "[[wm:short]]", "wm://x", ID.upper(), f"{ID}q", "[[wm:" + "a" * 9000]
)
def test_what_is_no_pointer_names_nothing(text: str) -> None:
    assert pointer_id(text) is None


@from_file("text", "safe")
def test_what_reads_as_a_pointer_is_defused_and_nothing_else(text: str, safe: str) -> None:
    assert defused(text) == safe
    assert pointers_in(safe) == ()


@pytest.mark.parametrize("character", ["x", "缓"])
def test_a_preview_that_fits_is_whole_and_a_longer_one_ends_with_a_mark(character: str) -> None:
    assert one_line(character * 40, max_chars=40) == character * 40
    assert one_line(character * 41, max_chars=40) == f"{character * 39}…"
