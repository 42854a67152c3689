"""A builder over a whole store: what one worker has made another one goes on with, and nothing is lost between them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext, Miss
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.faults import RecordsOnly, Remote
from tests.loops import assistant, user


@pytest.mark.parametrize(("store", "found"), [(InMemoryStore(), 1), (RecordsOnly(), 0)], ids=["whole", "records"])
def test_a_whole_store_brings_its_memories_along(store: Any, found: int) -> None:
    """001-24, 001-57: nobody has to hand the store over twice; what keeps records alone keeps no memories."""
    builder = ContextBuilder(ContextBuilderConfig(call_timeout_ms=20_000), store=store)
    pair = (Message("user", "我喜欢用 6380 端口跑 Redis。"), Message("assistant", "记下了。"))
    builder.build(Thread("t1", pair, user="ann"), "好的", "Be brief.")
    built = builder.build(Thread("t2", (), user="ann"), "Redis 用哪个端口？", "Be brief.")
    assert built.metadata.retrieved_memory_count == found


# --- at the same time -------------------------------------------------------------------------------------------------

PAIRS = {
    "english": ("The cache of service {0} is Redis on port {0}.", "Noted: Redis, port {0}."),
    "chinese": ("第{0}号服务的缓存是 6{0} 端口。", "记下了：{0}号服务。"),
    "mixed": ("我们决定 service-{0} 用 Kafka 队列。", "OK, Kafka for service-{0}. 记下了。"),
}


def services(language: str) -> Thread:
    question, answer = PAIRS[language]
    turns = ((user(question.format(at)), assistant(answer.format(at))) for at in range(40))
    return Thread("t1", tuple(message for turn in turns for message in turn), user="ann")


def builder_of(store: Any, timeout_ms: int = 60_000) -> ContextBuilder:
    history = HistoryConfig(keep_newest=3, strategy="gate", passthrough_below=0)  # some turns are left to the summary
    return ContextBuilder(ContextBuilderConfig(history=history, call_timeout_ms=timeout_ms), store=store)


def ask(builder: ContextBuilder, thread: Thread) -> BuiltContext:
    return builder.build(thread, "Which port has service 7? 7 号服务用哪个端口？", "Be brief.")


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
