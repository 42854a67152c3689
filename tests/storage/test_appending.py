"""Which messages of an append are new: every case of a repetition, without a store."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.errors import ConfigError, ConflictError, StaleReadError
from gatekeeper_core.storage.appending import (
    EncodedMessage,
    StoredMessage,
    check_name,
    encoded,
    plan_append,
    reading_range,
)
from tests.message_store_contract import said

ids = st.sampled_from(["a", "b", "c", None])
batches = st.lists(st.lists(ids, max_size=4), max_size=5)


def plan(stored: list[EncodedMessage], given_now: list[EncodedMessage], expected_seq: int | None = None) -> int:
    """Append to the list as a store would, and return the answer."""
    under_id = {m.message_id: StoredMessage(seq, m.body) for seq, m in enumerate(stored) if m.message_id}
    made = plan_append(
        given_now,
        {m.message_id: under_id[m.message_id] for m in given_now if m.message_id and m.message_id in under_id},
        last_seq=len(stored) - 1,
        expected_seq=expected_seq,
        bodies=lambda start, stop: [m.body for m in stored[start:stop]],
    )
    stored += made.new
    return made.seq


@given(batches)
def test_a_batch_that_is_given_twice_is_stored_once_and_answered_alike(names: list[list[str | None]]) -> None:
    stored: list[EncodedMessage] = []
    for batch in names:
        given_now = [EncodedMessage(name, b"body of %a" % name) for name in batch]
        if not any(batch):
            continue  # nothing to recognise it by
        try:
            answer = plan(stored, given_now)
        except ConflictError:
            continue
        size = len(stored)
        assert stored[answer] == given_now[-1]
        try:
            assert plan(stored, given_now) == answer
        except ConflictError:  # two of one id and one without: they do not stand side by side
            assert len({name for name in batch if name}) < len([name for name in batch if name])
        assert len(stored) == size


def test_one_id_is_never_stored_twice() -> None:
    stored: list[EncodedMessage] = []
    assert plan(stored, [EncodedMessage("a", b"1"), EncodedMessage("a", b"1")]) == 0
    with pytest.raises(ConflictError):
        plan(stored, [EncodedMessage("b", b"1"), EncodedMessage("b", b"2")])
    assert len(stored) == 1


def test_an_expected_end_is_not_looked_at_where_all_is_stored() -> None:
    stored: list[EncodedMessage] = []
    plan(stored, [EncodedMessage("a", b"1"), EncodedMessage("b", b"2")])
    assert plan(stored, [EncodedMessage("a", b"1")], expected_seq=-1) == 0
    with pytest.raises(ConflictError, match="ends with message 1, not 0"):
        plan(stored, [EncodedMessage("b", b"2"), EncodedMessage("c", b"3")], expected_seq=0)


def test_messages_are_encoded_with_their_ids() -> None:
    assert encoded(said(0), expected_seq=None) == [
        EncodedMessage("m0", b'{"content":"message 0","id":"m0","role":"user"}')
    ]


def test_a_range_ends_with_the_thread() -> None:
    assert list(reading_range(from_seq=1, limit=None, min_seq=2, last_seq=2)) == [1, 2]
    assert not reading_range(from_seq=7, limit=3, min_seq=None, last_seq=2)
    with pytest.raises(StaleReadError):
        reading_range(from_seq=0, limit=None, min_seq=0, last_seq=-1)


def test_a_name_is_a_text_that_is_not_empty() -> None:
    assert check_name("tenant", "\ud800") == "\ud800"
    with pytest.raises(ConfigError, match="tenant must not be empty"):
        check_name("tenant", "")
    with pytest.raises(TypeError, match="tenant must be a str, got int"):
        check_name("tenant", 5)
