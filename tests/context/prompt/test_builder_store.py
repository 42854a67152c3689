"""A builder over a whole store: what one worker has made another one goes on with, and nothing is lost between them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.task import TaskTracker
from gatekeeper_core.context.memory.thread import StoredThreads, Thread
from gatekeeper_core.context.memory.update import EXTRACTION_KIND
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.thread_memories import ThreadMemories
from gatekeeper_core.errors import StorageError
from gatekeeper_core.messages import Message, ToolCall
from gatekeeper_core.storage.base import MemoryScope, Store
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore
from tests.faults import RecordsOnly, Remote, until

SECRET = b"kept like any other secret"
ANN = MemoryScope("acme", "ann")
QUESTION = "Which port does the cache 缓存 in room 7 use, and what was in the log?"
LOG = "".join(f"12:00:{at % 60:02} INFO request {at} served in {at % 9} ms\n" for at in range(1_500))
PAIRS = (
    ("Remember that I prefer green tea number {}.", "Noted, {}."),
    ("缓存 {} 用哪个端口？", "第 {} 号缓存用 6380 端口。"),
    ("换个话题，we decided to use Kafka in room {}.", "记下了：room {} 用 Kafka。"),
)


def turn(at: int, start: int = 0) -> list[Message]:
    question, answer = PAIRS[at % len(PAIRS)]
    texts = (("user", question.format(at)), ("assistant", answer.format(at)))
    return [Message(role, text, id=f"{role}-{start}-{at}") for role, text in texts]  # type: ignore[arg-type]


def talk(turn_count: int) -> list[Message]:
    return [message for at in range(turn_count) for message in turn(at)]


RUN = [
    Message("user", "What is in the log?", id="u"),
    Message("assistant", "", tool_calls=(ToolCall("c1", "read_log", "{}"),), id="c"),
    Message("tool", LOG, tool_call_id="c1", id="r"),
    Message("assistant", "Nothing but requests.", id="a"),
]


class Worker:
    """What a process has: a builder, the threads, and the working memories, all over one store."""

    def __init__(self, store: Any) -> None:
        self.store: Store = store
        self.threads = StoredThreads(store)
        self.memories = ThreadMemories(store, SECRET)
        self.builder = ContextBuilder(
            ContextBuilderConfig(total_budget=6_000, call_timeout_ms=20_000, locale="en"),
            store=store,
            tool_results=ToolResultCompressor(working_memory=self.memories),
        )

    def thread(self) -> Thread:
        return self.threads.load("t1", tenant="acme", user="ann")

    def build(self, question: str = QUESTION) -> BuiltContext:
        context = self.builder.build(self.thread(), question, "Be brief.")
        assert [miss for miss in context.trace.misses if miss.status != "busy"] == []
        return context

    def settled(self) -> None:
        """Wait for what happens behind a build."""
        until(lambda: getattr(self.record(EXTRACTION_KIND), "upto_seq", -2) == self.thread().last_seq)

    def record(self, kind: str) -> Any:
        return self.store.load_record("acme", "t1", kind)


@pytest.mark.parametrize(("store", "found"), [(InMemoryStore(), 1), (RecordsOnly(), 0)], ids=["whole", "records"])
def test_a_whole_store_brings_its_memories_along(store: Any, found: int) -> None:
    """001-24, 001-57: nobody has to hand the store over twice; what keeps records alone keeps no memories."""
    builder = ContextBuilder(ContextBuilderConfig(call_timeout_ms=20_000), store=store)
    said = (Message("user", "我喜欢用 6380 端口跑 Redis。"), Message("assistant", "记下了。"))
    builder.build(Thread("t1", said, user="ann"), "好的", "Be brief.")
    built = builder.build(Thread("t2", (), user="ann"), "Redis 用哪个端口？", "Be brief.")
    assert built.metadata.retrieved_memory_count == found


def derived(worker: Worker) -> list[Any]:
    """Return all that is kept of the thread beside its messages, without the versions of the records."""
    thread = worker.thread()
    summary, task = worker.builder.summaries.get(thread), worker.builder.tasks.get(thread)
    assert summary is not None
    found = worker.store.find_memories(ANN, limit=100)
    return [
        (summary.items, summary.upto_seq, summary.text),
        (task.goal, task.sub_requests, task.steps, task.findings, task.phase, task.upto_seq),
        worker.builder.constraints.of(thread),
        sorted(record.memory.text for record in found),
        worker.threads.load("t1", tenant="acme").messages,
    ]


def test_a_worker_that_comes_later_goes_on_where_the_first_one_stopped(tmp_path: Path) -> None:
    """Summary, task, constraints, memories, what was put aside: all of it lies in the file."""
    with SQLiteStore(tmp_path / "store.db") as store:
        first = Worker(store)
        first.threads.append("t1", [*talk(64), *RUN, *turn(99)], tenant="acme")
        first.builder.constraints.set(first.thread(), "language", "中文")
        first.builder.tasks.add_finding(first.thread(), "the cache listens on 6380")
        first.build()
        first.settled()
        context, kept = first.build(), derived(first)
        ids = first.memories.of("t1", tenant="acme").ids
    with SQLiteStore(tmp_path / "store.db") as store:
        second = Worker(store)
        again = second.build()
        assert again.messages == context.messages
        assert derived(second) == kept
        texts = "\n".join(message.text for message in again.messages)
        assert all(part in texts for part in ("中文", "green tea number 63", "[[wm:"))
        memory = second.memories.of("t1", tenant="acme")
        assert memory.ids == ids
        assert [memory.load(pointer) for pointer in ids] == [LOG]
        gone = store.forget("acme", thread="t1")
        assert gone.blobs == 1
        assert second.thread().messages == ()
        assert second.memories.of("t1", tenant="acme").load(next(iter(ids))) is None


def test_two_workers_that_take_turns_keep_what_one_worker_keeps(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SQLiteStore(path) as one, SQLiteStore(path) as other, SQLiteStore(tmp_path / "alone.db") as only:
        workers, alone = [Worker(one), Worker(other)], Worker(only)
        for at in range(12):
            for worker in (workers[at % 2], alone):
                seq = worker.threads.append("t1", turn(at), tenant="acme")
                assert worker.thread().last_seq == seq == 2 * at + 1
                if at % 4 == 1:
                    worker.builder.constraints.set(worker.thread(), f"key {at}", "中文")
                    worker.builder.tasks.add_finding(worker.thread(), f"finding {at}")
            contexts = [worker.build() for worker in (workers[at % 2], alone)]
            assert contexts[0].messages == contexts[1].messages
            for worker in (workers[at % 2], alone):
                worker.settled()
        assert derived(workers[0]) == derived(workers[1]) == derived(alone)


def test_two_workers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Messages, constraints, findings, memories and bodies of both are there, and what is derived is of the thread."""
    path = tmp_path / "store.db"
    with SQLiteStore(path) as one, SQLiteStore(path) as other:
        workers = [Worker(one), Worker(other)]

        def work(number: int) -> None:
            worker = workers[number]
            for at in range(6):
                worker.threads.append("t1", turn(10 * number + at, number), tenant="acme")
                worker.build()
                worker.builder.constraints.set(worker.thread(), f"key {number} {at}", "zh")
                worker.builder.tasks.add_finding(worker.thread(), f"finding {number} {at}")
                worker.memories.of("t1", tenant="acme").offload(f"{LOG}{number} {at}")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(work, (0, 1)))
        for worker in workers:
            until(lambda worker=worker: not worker.build().trace.misses)  # type: ignore[misc]
            worker.settled()
        thread = workers[0].thread()
        said = {message.id for number in (0, 1) for at in range(6) for message in turn(10 * number + at, number)}
        assert len(thread.messages) == len(said) == 24
        assert {message.id for message in thread.messages} == said
        both = [f"{number} {at}" for number in (0, 1) for at in range(6)]
        third = Worker(one)
        assert derived(workers[0]) == derived(workers[1]) == derived(third)
        assert sorted(third.builder.constraints.of(thread)) == [f"key {name}" for name in both]
        found = {finding.text for finding in third.builder.tasks.get(thread).findings}
        assert found == {f"finding {name}" for name in both}
        assert len(third.memories.of("t1", tenant="acme").ids) == 12
        summary = third.builder.summaries.get(thread)
        assert summary is not None
        assert all(item.text in thread.messages[seq].text for item in summary.items for seq in item.seqs)
        assert workers[0].build().messages == workers[1].build().messages == third.build().messages


def test_a_worker_with_an_older_thread_takes_no_finding_from_the_task() -> None:
    """It has not read yet what the other one has: that is no cut-back, as far as it can tell."""
    tracker = TaskTracker(InMemoryStore())
    newer = Thread("t1", tuple(talk(6)))
    older = Thread("t1", newer.messages[:8])
    tracker.update(newer)
    tracker.add_finding(newer, "found later")
    tracker.set_phase(newer, "testing")
    assert tracker.update(older).findings == ()
    assert [finding.text for finding in tracker.add_finding(older, "found before").findings] == ["found before"]
    task = tracker.get(newer)
    assert {finding.text for finding in task.findings} == {"found later", "found before"}
    assert task.phase is not None
    assert task.upto_seq == newer.last_seq
    cut = Thread("t1", (*older.messages, *turn(50), *turn(51), *turn(52)))
    assert [finding.text for finding in tracker.update(cut).findings] == ["found before"]


class _Failing:
    """Fails at the Nth write or reading of a blob, before or after it was done."""

    def __init__(self, inner: Any, failing: int, *, after: bool) -> None:
        self._inner, self._failing, self._after = inner, failing, after
        self.calls = 0

    def blobs_of(self, tenant: str, thread: str) -> Any:
        blobs = self._inner.blobs_of(tenant, thread)
        return Remote(
            blobs, **{name: self._called(getattr(blobs, name)) for name in ("put", "get", "records", "delete")}
        )

    def _called(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            fails = self.calls == self._failing
            if fails and not self._after:
                raise StorageError("down")
            found = method(*arguments, **named)
            if fails:
                raise StorageError("down, after all")
            return found

        return call


@pytest.mark.parametrize("after", [False, True], ids=["before it was done", "after it was done"])
def test_a_pointer_never_names_a_body_that_is_not_there(after: bool) -> None:
    """Whichever call fails, in this build and the next ones: bodies first, pointers second."""
    for failing in range(1, 30):
        inner = InMemoryStore()
        store = _Failing(inner, failing, after=after)
        builder = ContextBuilder(
            ContextBuilderConfig(
                total_budget=6_000,
                call_timeout_ms=20_000,
                history=HistoryConfig(keep_newest=3, strategy="gate"),  # where the run is past at each build
            ),
            tool_results=ToolResultCompressor(working_memory=ThreadMemories(store, SECRET)),  # type: ignore[arg-type]
        )
        thread = Thread("t1", tuple(RUN), "acme")
        for _ in range(5):
            texts = [message.text for message in builder.build(thread, "and?", "Be brief.").messages]
            shown = [text for text in texts if "[[wm:" in text]
            pointers = [text[text.index("[[wm:") : text.index("]]") + 2] for text in shown]
            memory = ThreadMemories(inner, SECRET).of("t1", tenant="acme")
            assert [memory.load(pointer) for pointer in pointers] == [LOG] * len(pointers)
            if store.calls != failing:
                assert pointers  # a store that works again is used again
        if store.calls < failing:
            return
    pytest.fail("there are more calls than were made to fail")
