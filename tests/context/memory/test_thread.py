"""A conversation as a plain value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.constraints import ThreadConstraints
from gatekeeper_core.context.memory.thread import WRITE_ATTEMPTS, StoredThreads, Thread, retry_conflicts
from gatekeeper_core.errors import ConflictError, ConstraintLimitError, CorruptionError, StaleReadError
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.loops import conversations


def test_a_thread_holds_its_messages_as_a_tuple_and_numbers_them_from_zero() -> None:
    thread = Thread("t1", [Message("user", "你好"), Message("assistant", "hello")])  # type: ignore[arg-type]
    assert thread.messages == (Message("user", "你好"), Message("assistant", "hello"))
    assert thread.last_seq == 1
    assert (thread.tenant, thread.user) == ("default", None)
    assert hash(thread) == hash(Thread("t1", thread.messages))
    assert Thread("t1").last_seq == -1
    with pytest.raises(TypeError, match=r"Thread\.messages\[2\] must be a Message"):
        thread.continued(["6380"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"Thread\.messages\[0\] must be a Message, got dict: read_messages\(\) reads"):
        Thread("t1", [{"role": "user", "content": "你好"}])  # type: ignore[arg-type]


# --- digests


@given(conversations(), st.data())
def test_a_digest_tells_whether_the_messages_up_to_there_are_the_same(
    messages: list[Message], data: st.DataObject
) -> None:
    seqs = range(-1, len(messages))
    found = Thread("t1", tuple(messages)).digests(seqs)
    assert list(found) == list(seqs)
    assert len(set(found.values())) == len(found)
    at = data.draw(st.integers(0, len(messages) - 1))
    edited = [*messages[:at], replace(messages[at], content=messages[at].text + "x"), *messages[at + 1 :]]
    again = Thread("t2", tuple(edited), "other").digests(seqs)
    assert [found[seq] == again[seq] for seq in seqs] == [seq < at for seq in seqs]


@given(conversations(), st.data())
def test_a_thread_that_continues_another_one_is_the_same_value_as_one_made_at_once(
    messages: list[Message], data: st.DataObject
) -> None:
    seqs = range(-1, len(messages))
    thread = Thread("t1", tuple(messages[:1]), "acme", "ann")
    while len(thread.messages) < len(messages):
        if data.draw(st.booleans()):
            thread.digests([0])
        step = data.draw(st.integers(1, 3))
        thread = thread.continued(messages[len(thread.messages) :][:step])
    full = Thread("t1", tuple(messages), "acme", "ann")
    assert (thread, thread.digests(seqs)) == (full, full.digests(seqs))


def test_ids_marks_and_the_cut_into_parts_do_not_count() -> None:
    plain = Thread("t1", (Message("user", "a"),)).digests([0])
    assert Thread("t1", (Message("user", "a", id="m1", metadata={"seen": True}),)).digests([0]) == plain
    assert Thread("t1", (Message("user", (TextPart("a"),)),)).digests([0]) == plain


SEARCH = ToolCall("a", "b", "c")
ALIKE = [
    [Message("user", "ab")],
    [Message("assistant", "ab")],
    [Message("user", "a"), Message("user", "b")],
    [Message("user", "ab", name="x")],
    [Message("user", "abx")],
    [Message("tool", "ab", tool_call_id="x")],
    [Message("tool", "ab", name="x")],
    [Message("tool", "ab", name="y")],
    [Message("tool", "ab")],
    [Message("assistant", "ab", tool_calls=(SEARCH,))],
    [Message("assistant", "ab", tool_calls=(ToolCall("ab", "", "c"),))],
    [Message("user", (TextPart("ab"), MediaPart("image")))],
    [Message("user", (TextPart("ab"), MediaPart("audio")))],
    [Message("user", "a\x00b")],
    [Message("user", "\ud800")],
    [Message("user", "\ud801")],
    [Message("assistant", "ab", tool_calls=(replace(SEARCH, id="d"),))],
    [],
]


def digest_of(messages: Sequence[Message]) -> str:
    thread = Thread("t1", tuple(messages))
    return thread.digests([thread.last_seq])[thread.last_seq]


def test_different_messages_have_different_digests_and_equal_ones_the_same() -> None:
    assert len({digest_of(messages) for messages in ALIKE}) == len(ALIKE)
    assert digest_of([Message("user", "ab", id="1")]) == digest_of([Message("user", "ab")])
    assert digest_of(list(ALIKE[2])) == digest_of(tuple(ALIKE[2]))


def test_a_digest_is_the_same_on_every_machine() -> None:
    assert digest_of([Message("user", "你好"), Message("assistant", "hello")]) == "69b6b6ddc58906d20507fbf311b00c08"


def test_what_is_not_there_yet_is_an_error() -> None:
    threads = StoredThreads(InMemoryStore())
    threads.append("t1", [Message("user", "你好"), Message("assistant", "hello")], tenant="acme")
    for _ in range(2):
        with pytest.raises(StaleReadError):
            threads.load("t1", tenant="acme", min_seq=2)
        assert threads.load("t1", tenant="acme", user="ann", min_seq=1).user == "ann"


T1 = Thread("t1")


@pytest.mark.parametrize(
    ("key", "value"), [("language", "Chinese"), ("语言", "只用中文"), ("style 风格", "short 简短\n第二行")]
)
def test_constraints_keep_their_order_and_their_text(key: str, value: str) -> None:
    constraints = ThreadConstraints(InMemoryStore())
    constraints.set(T1, "first", "1")
    constraints.set(T1, key, "old")
    constraints.set(T1, "last", "3")
    constraints.set(T1, key, value)
    assert list(constraints.of(T1).items()) == [("first", "1"), (key, value), ("last", "3")]
    assert constraints.remove(T1, key)
    assert not constraints.remove(T1, key)
    assert list(constraints.of(T1)) == ["first", "last"]


@pytest.mark.parametrize("text", ["\ud83d\ude00", "\ud800", "中\udfff\ud800文", "😀", "\x00"])
def test_what_is_set_comes_back_code_point_by_code_point(text: str) -> None:
    """Two surrogates side by side are not read back as the one character that they would encode."""
    constraints = ThreadConstraints(InMemoryStore())
    constraints.set(T1, text, text)
    constraints.set(T1, "last", "")
    assert constraints.remove(T1, "last")
    assert [(list(key), list(value)) for key, value in constraints.of(T1).items()] == [(list(text), list(text))]


def test_a_zone_that_would_outgrow_its_cap_stays_as_it_was() -> None:
    constraints = ThreadConstraints(InMemoryStore(), token_counter=len)
    constraints.set(T1, "language", "Chinese")
    with pytest.raises(ConstraintLimitError):
        constraints.set(T1, "style", "as short as can be, 尽量短 " * 20)
    assert constraints.of(T1) == {"language": "Chinese"}


@pytest.mark.parametrize("body", ["", "{", "[]", '{"a": 1}', "null"])
def test_a_damaged_record_is_a_typed_error(body: str) -> None:
    store = InMemoryStore()
    store.save_record("default", "t1", "constraints", body, upto_seq=-1, expected_version=0)
    constraints = ThreadConstraints(store)
    for call in (constraints.of, lambda thread: constraints.set(thread, "a", "b")):
        with pytest.raises(CorruptionError, match=r"clear\(\) them"):
            call(T1)
    constraints.clear(T1)
    constraints.set(T1, "language", "Chinese")
    assert constraints.of(T1) == {"language": "Chinese"}


def test_a_writer_that_always_comes_second_gives_up_after_so_many_attempts() -> None:
    tries = []

    def write() -> str:
        tries.append(1)
        if len(tries) < limit:
            raise ConflictError("tally", expected_version=0, stored_version=1)
        return "in"

    limit = WRITE_ATTEMPTS
    assert (retry_conflicts(write), len(tries)) == ("in", WRITE_ATTEMPTS)
    tries.clear()
    limit = WRITE_ATTEMPTS + 1
    with pytest.raises(ConflictError):
        retry_conflicts(write)
    assert len(tries) == WRITE_ATTEMPTS
