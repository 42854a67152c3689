"""A process that forks after it has opened, built and embedded: parent and child both go on, and nothing is lost."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.thread import StoredThreads, Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.working_memory import ThreadMemories
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from gatekeeper_core.context.prompt.result import BuiltContext

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

CODE = "\n".join(f"def step_{at}(port):\n    return port + {at}  # 端口加 {at}" for at in range(300))


def by_letters(texts: Sequence[str]) -> list[list[float]]:
    return [[text.count("port") + 1.0, text.count("端口") + 1.0] for text in texts]


class Worker:
    """Everything that a process keeps open."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.threads = StoredThreads(store)
        self.memories = ThreadMemories(store, b"a secret of this test")
        self.results = ToolResultCompressor(working_memory=self.memories)
        self.builder = ContextBuilder(store=store, tool_results=self.results, embedder=TextEncoder(by_letters))

    def work(self, who: str) -> BuiltContext:
        """Append, lay down a constraint, put a result aside and build."""
        messages = [
            Message("user", f"Which port has {who}?", id=f"{who}.q"),
            Message("assistant", "端口 6380", id=f"{who}.a"),
        ]
        seq = self.threads.append("t1", messages)
        thread = self.threads.load("t1", user="ann", min_seq=seq)
        self.builder.constraints.set(thread, f"rule of {who}", "说中文")
        aside = self.results.compress(f"# {who}\n{CODE}", thread_id="t1")
        assert self.memories.of("t1").load(aside.pointer.text) == f"# {who}\n{CODE}"
        context = self.builder.build(thread, f"And the port of {who}, 端口?", "Be brief.")
        texts = [message.text for message in context.messages]
        assert f"Which port has {who}?" in texts
        assert f"rule of {who}" in "".join(texts)
        return context


def in_a_child(work: Callable[[], object]) -> int:
    """Run something in a forked process that is killed after a minute, and return its exit status."""
    pid = os.fork()
    if pid == 0:
        status = 1
        signal.alarm(60)
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("again", [1, 2], ids=["a child", "a child of a child"])
def test_parent_and_child_work_on_one_store(tmp_path: Path, again: int) -> None:
    with SQLiteStore(tmp_path / "store.db") as store:
        worker = Worker(store)
        worker.work("parent")

        def child(generation: int = 1) -> None:
            worker.work(f"child {generation}")
            if generation < again:
                assert in_a_child(lambda: child(generation + 1)) == 0
            worker.work(f"child {generation} later")

        assert in_a_child(child) == 0
        worker.work("parent later")
        names = [f"child {n}{when}" for n in range(1, again + 1) for when in ("", " later")]
        everyone = {"parent", "parent later", *names}
        thread = worker.threads.load("t1")
        assert {str(message.id)[:-2] for message in thread.messages} == everyone
        assert len(thread.messages) == 2 * len(everyone)
        assert set(worker.builder.constraints.of(thread)) == {f"rule of {who}" for who in everyone}
        assert store.check() == ()


class Hanging:
    """What makes one part of a builder hang, once it is told to."""

    def __init__(self, part: str) -> None:
        self.part = part
        self.hangs = False
        self.entered, self.go_on = threading.Event(), threading.Event()

    def __call__(self, part: str) -> None:
        if self.hangs and part == self.part:
            self.entered.set()
            assert self.go_on.wait(60)


class HangingStore(InMemoryStore):
    is_in_process = False  # so that it is asked from a worker

    def __init__(self, hang: Hanging) -> None:
        super().__init__()
        self.hang = hang

    def save_record(self, tenant: str, thread: str, kind: str, body: str, /, **numbers: int) -> int:
        self.hang(kind)
        return super().save_record(tenant, thread, kind, body, **numbers)


class HangingBlobs(InMemoryBlobStore):
    def __init__(self, hang: Hanging) -> None:
        super().__init__()
        self.hang = hang

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        self.hang("blobs")
        super().put(scope, blob_id, data)


@pytest.mark.parametrize("part", ["embedder", "summary", "constraints", "blobs"])
def test_a_child_that_was_forked_in_the_middle_of_a_build_builds(part: str) -> None:
    """The thread that was at it is not in the child, and what it held there is made anew."""
    hang = Hanging(part)
    memories = ThreadMemories(HangingBlobs(hang), b"a secret of this test")
    results = ToolResultCompressor(working_memory=memories)

    def embedder(texts: Sequence[str]) -> list[list[float]]:
        hang("embedder")
        return by_letters(texts)

    config = ContextBuilderConfig(
        total_budget=1_000, history=HistoryConfig(keep_newest=3, passthrough_below=0), call_timeout_ms=20_000
    )
    builder = ContextBuilder(config, store=HangingStore(hang), tool_results=results, embedder=embedder)
    talk = Thread(
        "t1", [Message(*pair) for at in range(30) for pair in (("user", f"port {at}?"), ("assistant", "端口 63"))]
    )

    def work(who: str) -> tuple[Any, ...]:
        builder.constraints.set(talk, f"rule of {who}", "说中文")
        aside = results.compress(f"# {who}\n{CODE}", thread_id="t1").pointer
        assert aside is not None
        context = builder.build(talk, "Which port has 7, 端口?", "Be brief.")
        assert context.token_stats.summary > 0
        return context.trace.misses

    hang.hangs = True
    busy = threading.Thread(target=work, args=("parent",))
    busy.start()
    assert hang.entered.wait(30)

    def child() -> None:
        hang.hangs = False
        assert work("child") == ()

    assert in_a_child(child) == 0
    hang.go_on.set()
    busy.join(60)
    assert not busy.is_alive()
    hang.hangs = False
    assert work("parent later") == ()
