"""Threads of our own store: a load gives what is stored."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper_core.context.memory.thread import StoredThreads, Thread
from gatekeeper_core.errors import ConfigError, ConflictError, ForgottenError, StaleReadError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import Store
from gatekeeper_core.storage.sqlite import InMemoryStore

TEXTS = ["hello", "缓存的端口是 6380", "你好 hello", "\ud800 lone\0"]
LONG = [Message("user", TEXTS[at % 4], id=f"m{at}") for at in range(150)]


@pytest.fixture
def store() -> Store:
    return InMemoryStore()


def whole(store: Any, name: str = "t1", tenant: str = "acme", user: str | None = None) -> Thread:
    return Thread(name, store.read_messages(tenant, name), tenant, user)


def test_a_thread_comes_back_as_it_was_appended(store: Store) -> None:
    threads = StoredThreads(store)
    for start in range(0, 150, 30):
        assert threads.append("t1", LONG[start : start + 30], tenant="acme", expected_seq=start - 1) == start + 29
        loaded = threads.load("t1", tenant="acme", user="ann", min_seq=start + 29)
        assert loaded == Thread("t1", tuple(LONG[: start + 30]), "acme", "ann")
        assert loaded.digests([start + 29]) == whole(store).digests([start + 29])
    assert threads.append("t1", LONG[-1:], tenant="acme") == 149  # a repetition
    with pytest.raises(ConflictError):
        threads.append("t1", [Message("user", "new")], tenant="acme", expected_seq=7)


def test_the_tenant_and_the_user_are_those_that_are_asked_for(store: Store) -> None:
    threads = StoredThreads(store)
    threads.append("t1", LONG, tenant="acme")
    threads.append("t1", LONG[:100], tenant="other")
    for _ in range(2):
        assert threads.load("t1").messages == ()
        assert threads.load("t1", tenant="acme", user="ann") == Thread("t1", tuple(LONG), "acme", "ann")
        assert threads.load("t1", tenant="acme", user="bob").user == "bob"
        assert threads.load("t1", tenant="other") == Thread("t1", tuple(LONG[:100]), "other")


def test_a_forgotten_thread_is_empty_and_one_that_was_begun_anew_is_the_new_one(store: Store) -> None:
    threads = StoredThreads(store)
    threads.append("t1", LONG, tenant="acme")
    assert threads.load("t1", tenant="acme").last_seq == 149
    store.forget("acme", thread="t1")
    assert threads.load("t1", tenant="acme") == Thread("t1", (), "acme")
    with pytest.raises(ForgottenError):
        threads.append("t1", LONG, tenant="acme")
    assert store.begin_anew("acme", thread="t1")
    threads.append("t1", [Message("user", "hello"), *LONG[1:]], tenant="acme")
    assert threads.load("t1", tenant="acme") == whole(store) != Thread("t1", tuple(LONG), "acme")


class _MessagesAlone:
    """A store of messages and nothing else."""

    def __init__(self) -> None:
        inner = InMemoryStore()
        self.append_messages = inner.append_messages
        self.read_messages = inner.read_messages
        self.last_seq = inner.last_seq


def test_a_store_of_messages_alone_will_do() -> None:
    threads = StoredThreads(_MessagesAlone())
    threads.append("t1", LONG)
    assert threads.load("t1").messages == tuple(LONG)


def test_what_is_not_there_yet_is_an_error(store: Store) -> None:
    threads = StoredThreads(store)
    threads.append("t1", LONG, tenant="acme")
    for _ in range(2):
        with pytest.raises(StaleReadError):
            threads.load("t1", tenant="acme", min_seq=150)
        assert threads.load("t1", tenant="acme", min_seq=149).last_seq == 149


def test_names_are_checked() -> None:
    threads = StoredThreads(InMemoryStore())
    for arguments in ({"thread_id": ""}, {"thread_id": "t1", "tenant": ""}, {"thread_id": "t1", "user": ""}):
        with pytest.raises(ConfigError, match="must not be empty"):
            threads.load(**arguments)
