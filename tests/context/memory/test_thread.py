"""A conversation as a plain value."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall
from tests.loops import conversations


def test_a_thread_holds_its_messages_as_a_tuple_and_numbers_them_from_zero() -> None:
    thread = Thread("t1", [Message("user", "你好"), Message("assistant", "hello")])  # type: ignore[arg-type]
    assert thread.messages == (Message("user", "你好"), Message("assistant", "hello"))
    assert thread.last_seq == 1
    assert (thread.tenant, thread.user) == ("default", None)
    assert hash(thread) == hash(Thread("t1", thread.messages))
    assert Thread("t1").last_seq == -1


@pytest.mark.parametrize("name", ["id", "tenant", "user"])
def test_a_name_that_is_empty_or_no_text_is_refused_and_named(name: str) -> None:
    for value, error, reason in (("", ConfigError, "not be empty"), (7, TypeError, "be a str")):
        with pytest.raises(error, match=rf"Thread\.{name} must {reason}"):
            Thread(**{"id": "t1", name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("messages", ["hello", [{"role": "user", "content": "hello"}]])
def test_messages_that_are_none_are_a_type_error(messages: object) -> None:
    with pytest.raises(TypeError, match=r"Thread\.messages"):
        Thread("t1", messages)  # type: ignore[arg-type]


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
    whole = Thread("t1", tuple(messages), "acme", "ann")
    assert (thread, thread.digests(seqs)) == (whole, whole.digests(seqs))


def test_two_threads_that_continue_one_do_not_share_what_comes_after() -> None:
    thread = Thread("t1", (Message("user", "端口?"),))
    thread.digests([0])
    one, other = (thread.continued([Message("assistant", text)]) for text in ("6380", "6381"))
    for each in (one, other):
        assert each.digests([1]) == Thread("t1", each.messages).digests([1])
    assert one.digests([1]) != other.digests([1])
    assert one.digests([0]) == other.digests([0]) == thread.digests([0, 1])
    with pytest.raises(TypeError, match=r"Thread\.messages\[1\] must be a Message"):
        thread.continued(["6380"])  # type: ignore[list-item]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301
def test_a_thread_with_digests_can_be_copied(copied: Callable[[Thread], Thread]) -> None:
    thread = Thread("t1", (Message("user", "hello"),))
    thread.digests([0])
    again = copied(thread)
    assert (again, again.digests([0])) == (thread, thread.digests([0]))


def test_ids_marks_and_the_cut_into_parts_do_not_count() -> None:
    plain = Thread("t1", (Message("user", "a"),)).digests([0])
    assert Thread("t1", (Message("user", "a", id="m1", metadata={"seen": True}),)).digests([0]) == plain
    assert Thread("t1", (Message("user", (TextPart("a"),)),)).digests([0]) == plain


def test_numbers_past_the_end_have_no_digest() -> None:
    assert Thread("t1", (Message("user", "a"),)).digests([5]) == {}
    assert Thread("t1").digests([]) == {}
    assert Thread("t1").digests([-1, 0]) == Thread("t2").digests([-1])


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
