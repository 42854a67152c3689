"""Threads of our own store: a load gives what is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper_core.context.thread.stored import StoredThreads
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.errors import ConfigError, ConflictError, ForgottenError, StaleReadError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import Store
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore

TEXTS = ["hello", "缓存的端口是 6380", "你好 hello", "\ud800 lone\0"]
LONG = [Message("user", TEXTS[at % 4], id=f"m{at}") for at in range(150)]


@contextmanager
def sqlite_store(folder: Path) -> Iterator[SQLiteStore]:
    with SQLiteStore(folder / "store.db") as store:
        yield store


@pytest.fixture(params=["in memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "in memory":
        yield InMemoryStore()
        return
    with SQLiteStore(tmp_path / "store.db") as store:
        yield store


def whole(store: Any, name: str = "t1", tenant: str = "acme", user: str | None = None) -> Thread:
    return Thread(name, store.read_messages(tenant, name), tenant, user)


def begun_anew(store: Any, messages: Sequence[Message]) -> None:
    store.forget("acme", thread="t1")
    assert store.begin_anew("acme", thread="t1")
    store.append_messages("acme", "t1", messages)


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
    begun_anew(store, [Message("user", "hello"), *LONG[1:]])
    assert threads.load("t1", tenant="acme") == whole(store) != Thread("t1", tuple(LONG), "acme")


steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.sampled_from(TEXTS), st.sampled_from([1, 2, 63, 64, 70])),
        st.tuples(st.just("load"), st.integers(0, 1), st.none()),
        st.tuples(st.just("anew"), st.sampled_from(TEXTS), st.sampled_from([1, 65, 140])),
    ),
    min_size=4,
    max_size=12,
)


@settings(deadline=None)
@given(steps)
def test_whatever_happens_a_load_gives_what_is_stored(made: list[tuple[Any, Any, Any]]) -> None:
    """Two workers, one thread; the messages read alike on purpose."""
    store = InMemoryStore()
    workers = [StoredThreads(store), StoredThreads(store)]
    for what, value, count in made:
        if what == "append":
            store.append_messages("acme", "t1", [Message("user", value)] * count)
        elif what == "anew":
            begun_anew(store, [Message("user", value), *[Message("user", TEXTS[0])] * count])
        else:
            assert workers[value].load("t1", tenant="acme") == whole(store)
    for worker in workers:
        assert worker.load("t1", tenant="acme") == whole(store)


def test_many_threads_of_a_process_and_two_workers_append_and_load_at_once(tmp_path: Path) -> None:
    with sqlite_store(tmp_path) as one, sqlite_store(tmp_path) as other:
        workers = [StoredThreads(one), StoredThreads(other)]

        def work(number: int) -> None:
            threads, name = workers[number % 2], f"t{number % 3}"
            for at in range(40):
                pair = [
                    Message("user", f"{number} {at}", id=f"u{number}-{at}"),
                    Message("assistant", "好", id=f"a{number}-{at}"),
                ]
                seq = threads.append(name, pair, tenant="acme")
                loaded = threads.load(name, tenant="acme", min_seq=seq)
                assert loaded.messages[seq - 1 : seq + 1] == tuple(pair)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, range(6)))
        for name in ("t0", "t1", "t2"):
            assert workers[0].load(name, tenant="acme") == workers[1].load(name, tenant="acme") == whole(one, name)
            assert len(set(whole(one, name).messages)) == len(whole(one, name).messages) == 160


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
