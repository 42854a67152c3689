"""Threads of our own store: what a worker remembers is never what a thread was before it was forgotten."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper_core.context.thread.stored import MARK_KIND, StoredThreads
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.errors import ConfigError, ConflictError, ForgottenError, StaleReadError, StorageError
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall
from gatekeeper_core.storage.base import Store
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore
from tests.faults import Remote, conflicting

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


class Reads:
    """Counts how many messages each reading gave."""

    def __init__(self, store: Any) -> None:
        self.counts: list[int] = []
        self.store = Remote(store, read_messages=self._read)
        self._inner = store

    def _read(self, *arguments: Any, **named: Any) -> tuple[Message, ...]:
        found: tuple[Message, ...] = self._inner.read_messages(*arguments, **named)
        self.counts.append(len(found))
        return found


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


def test_a_worker_that_is_asked_again_reads_what_is_new(store: Store) -> None:
    reads = Reads(store)
    threads = StoredThreads(reads.store)
    threads.append("t1", LONG[:100], tenant="acme")
    first = threads.load("t1", tenant="acme")
    assert threads.load("t1", tenant="acme") is first
    threads.append("t1", LONG[100:102], tenant="acme")
    longer = threads.load("t1", tenant="acme")
    assert reads.counts == [100, 1, 3]
    assert longer.messages == tuple(LONG[:102])
    assert all(map(lambda one, other: one is other, longer.messages, first.messages))


def test_over_a_whole_life_a_worker_reads_each_message_a_bounded_number_of_times(store: Store) -> None:
    reads = Reads(store)
    mine, others = StoredThreads(reads.store), StoredThreads(store)
    for at in range(0, 260, 2):
        pair = [Message("user", f"{at}"), Message("assistant", TEXTS[at % 4])]
        (mine if at % 4 else others).append("t1", pair, tenant="acme")
        assert mine.load("t1", tenant="acme") == whole(store)
        assert others.load("t1", tenant="acme") == whole(store)
    assert max(reads.counts) <= 64 + 4


def test_a_thread_that_was_begun_anew_does_not_come_back_although_its_newest_messages_are_the_same(
    store: Store,
) -> None:
    """The new thread has grown past the old one, and but for its first message it says the same at the same places."""
    same = [Message("assistant", "ok") for _ in range(150)]
    secret = Message("user", "a secret that was forgotten")
    threads = StoredThreads(store)
    threads.append("t1", [secret, *same[:99]], tenant="acme")
    assert threads.load("t1", tenant="acme").messages[0] is threads.load("t1", tenant="acme").messages[0]
    begun_anew(store, [Message("user", "hello"), *same])
    for _ in range(2):
        assert threads.load("t1", tenant="acme") == whole(store)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Message("user", "a", id="m1"), Message("user", "a", id="m2")),
        (Message("user", "a"), Message("user", "a", id="None")),
        (Message("user", "a", metadata={"k": 1}), Message("user", "a", metadata={"k": True})),
        (Message("user", "a", metadata={"k": "\ud800"}), Message("user", "a", metadata={"k": "\ud801"})),
        (Message("user", "a\nb"), Message("user", (TextPart("a"), TextPart("b")))),
        (Message("user", (MediaPart("image"),)), Message("user", (MediaPart("audio"),))),
        (Message("user", "a", name="ann"), Message("user", "a")),
        (
            Message("assistant", "", tool_calls=(ToolCall("c1", "now", "{}"),)),
            Message("assistant", "", tool_calls=(ToolCall("c1", "now", "{ }"),)),
        ),
    ],
)
def test_a_thread_that_was_begun_anew_is_told_by_any_difference(one: Message, other: Message) -> None:
    store = InMemoryStore()
    same = [Message("assistant", "ok") for _ in range(99)]
    threads = StoredThreads(store)
    threads.append("t1", [one, *same], tenant="acme")
    threads.load("t1", tenant="acme")
    begun_anew(store, [other, *same])
    StoredThreads(store).load("t1", tenant="acme")  # another worker has marked the new thread already
    assert threads.load("t1", tenant="acme").messages == (other, *same)


def test_a_forgotten_thread_is_empty_and_no_longer_remembered(store: Store) -> None:
    threads = StoredThreads(store)
    threads.append("t1", LONG, tenant="acme")
    threads.load("t1", tenant="acme")
    assert threads.estimated_bytes > 0
    store.forget("acme", thread="t1")
    assert threads.load("t1", tenant="acme") == Thread("t1", (), "acme")
    assert threads.estimated_bytes == 0
    with pytest.raises(ForgottenError):
        threads.append("t1", LONG, tenant="acme")


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
    workers = [StoredThreads(store), StoredThreads(store, max_bytes=60_000)]
    for what, value, count in made:
        if what == "append":
            store.append_messages("acme", "t1", [Message("user", value)] * count)
        elif what == "anew":
            begun_anew(store, [Message("user", value), *[Message("user", TEXTS[0])] * count])
        else:
            assert workers[value].load("t1", tenant="acme") == whole(store)
    for worker in (*workers, *workers):
        loaded = worker.load("t1", tenant="acme")
        assert loaded == whole(store)
        assert loaded.digests([loaded.last_seq]) == whole(store).digests([loaded.last_seq])


def test_many_threads_of_a_process_and_two_workers_append_and_load_at_once(tmp_path: Path) -> None:
    with sqlite_store(tmp_path) as one, sqlite_store(tmp_path) as other:
        workers = [StoredThreads(one), StoredThreads(other, max_bytes=50_000)]

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


def test_what_is_remembered_is_bounded_by_bytes_and_the_threads_used_last_stay() -> None:
    reads = Reads(InMemoryStore())
    for name in ("t1", "t2", "t3"):
        reads.store.append_messages("acme", name, LONG)
    alone = StoredThreads(reads.store)
    alone.load("t1", tenant="acme")
    threads = StoredThreads(reads.store, max_bytes=2 * alone.estimated_bytes)
    for name in ("t1", "t2", "t3"):
        threads.load(name, tenant="acme")
    assert threads.estimated_bytes == 2 * alone.estimated_bytes
    reads.counts.clear()
    for name in ("t3", "t2", "t1", "t3", "t2"):
        threads.load(name, tenant="acme")
    assert reads.counts == [1, 1, 150, 150, 150]
    nothing = StoredThreads(reads.store, max_bytes=alone.estimated_bytes - 1)
    assert nothing.load("t1", tenant="acme").messages == tuple(LONG)
    assert nothing.estimated_bytes == 0


@pytest.mark.parametrize("text", ["hello " * 40, "你好" * 60, "port 端口 " * 30])
def test_the_estimate_is_near_to_what_is_taken(text: str) -> None:
    store = InMemoryStore()
    store.append_messages("acme", "t1", [Message("user", f"{text} {at}", id=f"m{at}") for at in range(2_000)])
    threads = StoredThreads(store)
    gc.collect()
    tracemalloc.start()
    try:
        threads.load("t1", tenant="acme")
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken / 2 < threads.estimated_bytes < taken * 2


def broken(*_: Any, **__: Any) -> Any:
    raise StorageError("the store is down")


@pytest.mark.parametrize(
    "instead",
    [{"save_record": conflicting}, {"save_record": broken}, {"load_record": broken}],
    ids=["another is always faster", "marks cannot be saved", "marks cannot be read"],
)
def test_without_marks_all_of_a_thread_is_read_and_right(instead: dict[str, Callable[..., Any]]) -> None:
    reads = Reads(Remote(InMemoryStore(), **instead))
    threads = StoredThreads(reads.store)
    threads.append("t1", LONG, tenant="acme")
    for _ in range(2):
        assert threads.load("t1", tenant="acme").messages == tuple(LONG)
    assert reads.counts == [150, 150]
    assert threads.estimated_bytes == 0


def test_a_worker_that_marks_less_often_than_another_one_keeps_what_it_has() -> None:
    """Another worker is always faster in saving: the old mark still vouches for what it did."""
    inner = InMemoryStore()
    StoredThreads(inner).append("t1", LONG[:70], tenant="acme")
    StoredThreads(inner).load("t1", tenant="acme")
    reads = Reads(Remote(inner, save_record=conflicting))
    threads = StoredThreads(reads.store)
    threads.load("t1", tenant="acme")
    threads.append("t1", LONG[70:], tenant="acme")
    for _ in range(2):
        assert threads.load("t1", tenant="acme").messages == tuple(LONG)
    assert reads.counts == [70, 81, 81]


@pytest.mark.parametrize("body", ["", "{}", "null", '{"format": 1, "digest": "00"}'])
def test_a_mark_that_says_nothing_of_use_is_replaced(body: str) -> None:
    store = InMemoryStore()
    store.append_messages("acme", "t1", LONG)
    store.save_record("acme", "t1", MARK_KIND, body, upto_seq=99, expected_version=0)
    threads = StoredThreads(store)
    assert threads.load("t1", tenant="acme").messages == tuple(LONG)
    mark = store.load_record("acme", "t1", MARK_KIND)
    assert mark is not None
    assert (mark.upto_seq, mark.version) == (149, 2)


def test_a_mark_ahead_of_the_thread_vouches_for_nothing_and_stays() -> None:
    """A replica behind, or a job from before the thread was begun anew."""
    store = InMemoryStore()
    store.append_messages("acme", "t1", LONG)
    store.save_record("acme", "t1", MARK_KIND, "{}", upto_seq=150, expected_version=0)
    threads = StoredThreads(store)
    assert threads.load("t1", tenant="acme").messages == tuple(LONG)
    assert threads.estimated_bytes == 0
    mark = store.load_record("acme", "t1", MARK_KIND)
    assert mark is not None
    assert mark.version == 1


class _MessagesAlone:
    """A store of messages and nothing else."""

    def __init__(self) -> None:
        inner = InMemoryStore()
        self.append_messages = inner.append_messages
        self.read_messages = inner.read_messages
        self.last_seq = inner.last_seq


def test_a_store_of_messages_alone_will_do_and_nothing_is_remembered() -> None:
    threads = StoredThreads(_MessagesAlone())
    threads.append("t1", LONG)
    assert threads.load("t1").messages == tuple(LONG)
    assert threads.estimated_bytes == 0


def test_what_is_not_there_yet_is_said_of_a_remembered_thread_too(store: Store) -> None:
    threads = StoredThreads(store)
    threads.append("t1", LONG, tenant="acme")
    for _ in range(2):
        with pytest.raises(StaleReadError):
            threads.load("t1", tenant="acme", min_seq=150)
        assert threads.load("t1", tenant="acme", min_seq=149).last_seq == 149


def test_names_and_limits_are_checked() -> None:
    with pytest.raises(ConfigError, match="max_bytes"):
        StoredThreads(InMemoryStore(), max_bytes=-1)
    threads = StoredThreads(InMemoryStore())
    for arguments in ({"thread_id": ""}, {"thread_id": "t1", "tenant": ""}, {"thread_id": "t1", "user": ""}):
        with pytest.raises(ConfigError, match="must not be empty"):
            threads.load(**arguments)
