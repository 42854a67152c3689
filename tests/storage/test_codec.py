"""What is written is read back as it was."""

from __future__ import annotations

import json
import struct
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import EarlierText, Memory
from gatekeeper_core.storage.codec import (
    decode_memory,
    decode_message,
    decode_terms,
    decode_text,
    decode_vector,
    encode_memory,
    encode_message,
    encode_terms,
    encode_text,
    encode_vector,
)
from tests.message_store_contract import messages, texts


@given(texts)
def test_a_text_comes_back_character_for_character(text: str) -> None:
    assert decode_text(encode_text(text)) == text


@given(messages, texts)
def test_a_message_comes_back_and_equal_ones_are_written_alike(message: Message, text: str) -> None:
    read = decode_message(encode_message(message))
    assert read == message
    assert encode_message(read) == encode_message(message)


@given(texts, texts, st.none() | texts, st.none() | st.integers(0, 9), st.floats(allow_nan=False))
def test_a_memory_comes_back(memory_id: str, text: str, thread: str | None, seq: int | None, at: float) -> None:
    earlier = (EarlierText(text, at, thread, seq),)
    memory = Memory(memory_id, text, "skill", text, thread, seq, at, at, text, None, earlier, 3)
    assert decode_memory(encode_memory(memory)) == memory


@given(st.lists(texts).map(tuple), st.lists(st.floats(width=32, allow_nan=False)))
def test_terms_and_vectors_come_back(terms: tuple[str, ...], numbers: list[float]) -> None:
    assert decode_terms(encode_terms(terms)) == terms
    vector = array("f", numbers)
    assert decode_vector(encode_vector(vector)) == vector == array("f", numbers)


def test_the_order_of_marks_changes_nothing() -> None:
    one, other = (Message("user", "", metadata=marks) for marks in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    assert one == other
    assert encode_message(one) == encode_message(other)


def test_two_lone_surrogates_stay_two() -> None:
    assert decode_message(encode_message(Message("user", "\ud83d\ude00"))).text == "\ud83d\ude00"
    assert encode_message(Message("user", "\ud83d\ude00")) != encode_message(Message("user", "😀"))


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[]", b"1", b'{"id":1}', b'{"role":"user","content":1}', b"[" * 100_000]
)
@pytest.mark.parametrize("decode", [decode_message, decode_memory])
def test_what_was_not_encoded_is_a_value_error(decode: object, data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(data)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("field", "damaged"),
    [
        ("category", "no such category"),
        ("category", 7),
        ("category", ["偏好"]),
        ("text", 7),
        ("text", None),
        ("text", ["茶"]),
    ],
)
def test_a_memory_with_a_damaged_field_is_a_value_error(field: str, damaged: object) -> None:
    whole = json.loads(encode_memory(Memory("m1", "我喜欢 tea", "user_preference")))
    with pytest.raises(ValueError, match="no encoded memory"):
        decode_memory(encode_text(json.dumps(whole | {field: damaged})))


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"\xff"])
def test_terms_that_were_not_encoded_are_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_terms(data)


def test_a_vector_is_stored_alike_by_every_machine() -> None:
    """Four bytes for each number, the lowest first: a file may go to a machine that counts the other way."""
    assert encode_vector(array("f", [1.0, -2.5])) == struct.pack("<2f", 1.0, -2.5)


def test_a_cut_vector_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_vector(encode_vector(array("f", [1.0]))[:3])
