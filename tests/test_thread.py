"""A conversation as a plain value."""

from __future__ import annotations

import pytest

from gatekeeper_core.context.thread import Thread
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message


def test_a_thread_holds_its_messages_as_a_tuple_and_numbers_them_from_zero() -> None:
    thread = Thread("t1", [Message("user", "你好"), Message("assistant", "hello")])  # type: ignore[arg-type]
    assert thread.messages == (Message("user", "你好"), Message("assistant", "hello"))
    assert thread.last_seq == 1
    assert (thread.tenant, thread.user) == ("default", None)


def test_an_empty_thread_has_no_newest_message() -> None:
    assert Thread("t1").last_seq == -1


def test_equal_threads_are_equal_values() -> None:
    assert Thread("t1", (Message("user", "a"),)) == Thread("t1", [Message("user", "a")])  # type: ignore[arg-type]
    assert hash(Thread("t1")) == hash(Thread("t1"))


@pytest.mark.parametrize("name", ["id", "tenant", "user"])
def test_an_empty_name_is_refused_and_named(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"Thread\.{name} must not be empty"):
        Thread(**{"id": "t1", name: ""})


@pytest.mark.parametrize("name", ["id", "tenant", "user"])
def test_a_name_that_is_no_text_is_a_type_error(name: str) -> None:
    with pytest.raises(TypeError, match=rf"Thread\.{name} must be a str"):
        Thread(**{"id": "t1", name: 7})  # type: ignore[arg-type]


@pytest.mark.parametrize("messages", ["hello", [{"role": "user", "content": "hello"}]])
def test_messages_that_are_none_are_a_type_error(messages: object) -> None:
    with pytest.raises(TypeError, match=r"Thread\.messages"):
        Thread("t1", messages)  # type: ignore[arg-type]
