"""Builds of one thread at the same time give what builds one after another give."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Barrier, Event
from threading import Thread as Worker
from typing import Any

import pytest

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext, Miss
from gatekeeper_core.storage.base import DerivedRecord
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.faults import RecordsOnly, Remote
from tests.loops import assistant, user

SAID = {
    "english": ("The cache of service {0} is Redis on port {0}.", "Noted: Redis, port {0}."),
    "chinese": ("第{0}号服务的缓存是 6{0} 端口。", "记下了：{0}号服务。"),
    "mixed": ("我们决定 service-{0} 用 Kafka 队列。", "OK, Kafka for service-{0}. 记下了。"),
}
PATIENT_MS, SHORT_MS = 60_000, 40
AT_ONCE = 8


def talk(language: str, turn_count: int = 40) -> Thread:
    question, answer = SAID[language]
    turns = ((user(question.format(at)), assistant(answer.format(at))) for at in range(turn_count))
    return Thread("t1", tuple(message for turn in turns for message in turn), user="ann")


def builder_of(store: Any, timeout_ms: int = PATIENT_MS) -> ContextBuilder:
    history = HistoryConfig(keep_newest=3, strategy="gate", passthrough_below=0)  # some turns are left to the summary
    return ContextBuilder(ContextBuilderConfig(history=history, call_timeout_ms=timeout_ms), store=store)


def build(builder: ContextBuilder, thread: Thread) -> BuiltContext:
    return builder.build(thread, "Which port has service 7? 7 号服务用哪个端口？", "Be brief.")


def told(context: BuiltContext) -> str:
    return json.dumps([context.trace.to_dict(), repr(context.messages)], sort_keys=True, default=repr)


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("make_store", [InMemoryStore, lambda: Remote(RecordsOnly())], ids=["in", "out"])
def test_parallel_builds_equal_those_one_after_another(language: str, make_store: Callable[[], Any]) -> None:
    """001-79: in text and in trace, the summary of a thread that nobody has summarised yet included."""
    thread, one_by_one = talk(language), builder_of(make_store())
    serial = {told(build(one_by_one, thread)) for _ in range(AT_ONCE)}
    for _ in range(5):
        builder, start, found = builder_of(make_store()), Barrier(AT_ONCE), list[BuiltContext]()

        def work(builder: ContextBuilder = builder, start: Barrier = start, found: list[BuiltContext] = found) -> None:
            start.wait(30)
            found.append(build(builder, thread))

        workers = [Worker(target=work) for _ in range(AT_ONCE)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
        assert [context.trace.misses for context in found] == [()] * AT_ONCE
        assert all(context.token_stats.summary for context in found)
        assert {told(context) for context in found} <= serial


class Held(InMemoryStore):
    """Saves the first summary when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.go_on = Event(), Event()

    def save_record(self, tenant: str, thread: str, kind: str, body: str, /, **numbers: int) -> DerivedRecord:
        if kind == "summary":
            self.entered.set()
            assert self.go_on.wait(30)
        return super().save_record(tenant, thread, kind, body, **numbers)


def test_a_summary_that_another_build_is_at_for_longer_than_the_limit_is_a_miss() -> None:
    store, thread = Held(), talk("mixed")
    builder = builder_of(store, SHORT_MS)
    first = list[BuiltContext]()
    worker = Worker(target=lambda: first.append(build(builder, thread)))
    worker.start()
    assert store.entered.wait(30)
    second = build(builder, thread)
    store.go_on.set()
    worker.join(30)
    assert second.trace.misses == (Miss("summary", "busy"),)
    assert second.token_stats.summary == 0
    assert [(context.trace.misses, context.token_stats.summary > 0) for context in first] == [((), True)]
