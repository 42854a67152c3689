"""A builder over a whole store: what one worker has made another one goes on with, and nothing is lost between them."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.thread import StoredThreads, Thread
from gatekeeper_core.context.memory.update import EXTRACTION_KIND
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext, Miss
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.thread_memories import ThreadMemories
from gatekeeper_core.messages import Message, ToolCall
from gatekeeper_core.storage.base import MemoryScope, Store
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore
from tests.faults import RecordsOnly, Remote, until
from tests.loops import assistant, user

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


# --- at the same time -------------------------------------------------------------------------------------------------

SAID = {
    "english": ("The cache of service {0} is Redis on port {0}.", "Noted: Redis, port {0}."),
    "chinese": ("第{0}号服务的缓存是 6{0} 端口。", "记下了：{0}号服务。"),
    "mixed": ("我们决定 service-{0} 用 Kafka 队列。", "OK, Kafka for service-{0}. 记下了。"),
}
AT_ONCE = 8


def services(language: str) -> Thread:
    question, answer = SAID[language]
    turns = ((user(question.format(at)), assistant(answer.format(at))) for at in range(40))
    return Thread("t1", tuple(message for turn in turns for message in turn), user="ann")


def builder_of(store: Any, timeout_ms: int = 60_000) -> ContextBuilder:
    history = HistoryConfig(keep_newest=3, strategy="gate", passthrough_below=0)  # some turns are left to the summary
    return ContextBuilder(ContextBuilderConfig(history=history, call_timeout_ms=timeout_ms), store=store)


def ask(builder: ContextBuilder, thread: Thread) -> BuiltContext:
    return builder.build(thread, "Which port has service 7? 7 号服务用哪个端口？", "Be brief.")


def dumped(context: BuiltContext) -> str:
    return json.dumps([context.trace.to_dict(), repr(context.messages)], sort_keys=True, default=repr)


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("make_store", [InMemoryStore, lambda: Remote(RecordsOnly())], ids=["in", "out"])
def test_parallel_builds_equal_those_one_after_another(language: str, make_store: Callable[[], Any]) -> None:
    """001-79: in text and in trace, the summary of a thread that nobody has summarised yet included."""
    thread, one_by_one = services(language), builder_of(make_store())
    serial = {dumped(ask(one_by_one, thread)) for _ in range(AT_ONCE)}
    for _ in range(5):
        builder, start = builder_of(make_store()), Barrier(AT_ONCE)

        def work(_: int, builder: ContextBuilder = builder, start: Barrier = start) -> BuiltContext:
            start.wait(30)
            return ask(builder, thread)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            contexts = [*pool.map(work, range(AT_ONCE))]
        assert [context.trace.misses for context in contexts] == [()] * AT_ONCE
        assert all(context.token_stats.summary for context in contexts)
        assert {dumped(context) for context in contexts} <= serial


def test_a_summary_that_another_build_is_at_for_longer_than_the_limit_is_a_miss() -> None:
    entered, go_on, inner = Event(), Event(), InMemoryStore()

    def save(tenant: str, thread: str, kind: str, body: str, /, **numbers: int) -> Any:
        if kind == "summary":
            entered.set()
            assert go_on.wait(30)
        return inner.save_record(tenant, thread, kind, body, **numbers)

    builder, thread = builder_of(Remote(inner, save_record=save), 40), services("mixed")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(ask, builder, thread)
        assert entered.wait(30)
        second = ask(builder, thread)
        go_on.set()
    assert second.trace.misses == (Miss("summary", "busy"),)
    assert second.token_stats.summary == 0
    assert (first.result().trace.misses, first.result().token_stats.summary > 0) == ((), True)
