"""What is down, slow or talks nonsense never fails a build, never delays it beyond its limit, and is named once."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from gatekeeper_core import plugins
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.memory import MemoryHit, MemoryHits
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext, Miss
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.context import ResultCompressor
from gatekeeper_core.context.tool_results.working_memory import ThreadMemories
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.messages import Message, ToolCall
from gatekeeper_core.storage.base import Memory, MemoryScope
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.faults import (
    ANN,
    FAILURES,
    PATIENCE,
    FaultyMemory,
    Hang,
    RecordsOnly,
    Remote,
    hanging,
    raising,
    until,
    with_tea,
)
from tests.loops import assistant, calls, result, user

QUESTION = "Which tea shall I buy?\n买什么茶？"
TALK = [
    *(user("The secret Redis cache listens on port 6380."), assistant("Noted.")),
    *(user("我们决定用 secret Kafka 队列。"), assistant("记下了。")),
] * 8
SHORT_MS, LONG_MS = 40, 20_000


def thread_of(messages: Sequence[Message] = TALK, name: str = "t1", user: str = "ann") -> Thread:
    return Thread(name, tuple(messages), user=user)


def builder_of(timeout_ms: int = LONG_MS, config: dict[str, Any] | None = None, **arguments: Any) -> ContextBuilder:
    settings = ContextBuilderConfig(
        call_timeout_ms=timeout_ms, history=HistoryConfig(keep_newest=3, passthrough_below=0), **config or {}
    )
    return ContextBuilder(settings, **arguments)


def build(builder: ContextBuilder, thread: Thread | None = None) -> BuiltContext:
    """Return a build that must be whole whatever is wrong around it."""
    context = builder.build(thread or thread_of(), QUESTION, "Be brief.")
    assert any(QUESTION in message.text for message in context.messages if message.role == "user")
    kinds = [part.part for part in context.trace.parts]
    assert kinds[-1] == "pinned"
    assert context.token_stats.total == sum(context.token_stats[:-1])
    return context


def hit(text: object = "I prefer green tea", similarity: object = 0.9) -> MemoryHit:
    return MemoryHit(Memory("m1", text, "user_preference"), similarity, "sparse")  # type: ignore[arg-type]


@pytest.fixture
def hang() -> Iterator[Hang]:
    with hanging() as hang:
        yield hang


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Callable[[], list[tuple[str, str]]]:
    """Give what the builder logged as missing: part and status; no record ever holds text."""
    caplog.set_level(logging.WARNING, logger="gatekeeper")

    def parts() -> list[tuple[str, str]]:
        assert "secret" not in "".join(str(vars(record)) for record in caplog.records)
        ours = [vars(record) for record in caplog.records if record.name == "gatekeeper.builder"]
        assert all(record["levelno"] == logging.WARNING for record in ours)
        return [(record["gatekeeper_part"], record["gatekeeper_status"]) for record in ours]

    return parts


Logged = Callable[[], list[tuple[str, str]]]


def assert_told_once(context: BuiltContext, logged: Logged) -> None:
    """Every miss is in the trace once and logged once."""
    parts = [miss.part for miss in context.trace.misses]
    assert len(set(parts)) == len(parts)
    assert logged() == [(miss.part, miss.status) for miss in context.trace.misses]


# --- searches of memories ---------------------------------------------------------------------------------------------


def test_a_search_that_hangs_is_not_waited_for(hang: Hang, logged: Logged) -> None:
    """001-50, 001-66, 001-80, 003-69, 004-53: the build returns while it hangs; what it says later is dropped."""
    context = build(builder_of(SHORT_MS, memory=FaultyMemory(hang)))
    assert hang.entered.is_set()
    assert hang.returned == 0
    assert context.trace.misses == (Miss("retrieved", "late"),)
    assert context.metadata.retrieved_memory_count == 0
    assert_told_once(context, logged)


NO_SEARCH: dict[str, Callable[..., Any]] = {
    "raises": raising,
    "ends the thread": lambda *_, **__: (_ for _ in ()).throw(SystemExit),
    "gives None": lambda *_, **__: None,
    "gives texts": lambda *_, **__: ["secret", "memory"],
    "gives NaN": lambda *_, **__: [hit(similarity=float("nan"))] * 3,
    "gives what is no share": lambda *_, **__: [hit(similarity=1.5), hit(similarity="1"), hit(similarity=None)],
    "raises on the way": lambda *_, **__: map(raising, range(3)),
}


@pytest.mark.parametrize("name", NO_SEARCH)
def test_a_search_that_gives_nothing_of_use_is_a_miss(name: str, logged: Logged) -> None:
    """001-66: whatever it does, it is told once and nothing of it is sent."""
    context = build(builder_of(memory=FaultyMemory(NO_SEARCH[name])))
    assert [(miss.part, miss.status) for miss in context.trace.misses] == [("retrieved", "failed")]
    assert context.metadata.retrieved_memory_count == 0
    assert "secret\n" not in "".join(message.text for message in context.messages if message.role == "system")
    assert_told_once(context, logged)


@pytest.mark.parametrize("hits", [lambda: itertools.repeat(hit()), lambda: [hit()] * 1_000_000])
def test_a_search_that_gives_too_much_is_cut_to_what_was_asked_for(hits: Callable[[], Any]) -> None:
    """001-24, 001-29: also where it never ends."""
    context = build(builder_of(memory=FaultyMemory(lambda *_, **__: hits())))
    assert context.metadata.retrieved_memory_count == 3
    assert context.trace.misses == ()


def test_what_makes_sense_among_nonsense_is_sent() -> None:
    found = MemoryHits((hit(), hit(similarity=float("nan"))), "sparse")
    context = build(builder_of(memory=FaultyMemory(lambda *_, **__: found, inline=True)))
    assert context.metadata.retrieved_memory_count == 1
    assert context.trace.misses == (Miss("retrieved", "degraded", "nonsense"),)


# --- stores of records ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAILURES)
def test_a_store_of_records_that_fails_takes_only_what_it_keeps(name: str, logged: Logged) -> None:
    """001-30, 001-67: the window, the question and the pin are sent; each part is told once."""
    context = build(builder_of(store=FAILURES[name](RecordsOnly())))
    assert context.metadata.included_message_count > 0
    assert_told_once(context, logged)
    if name == "raises":
        parts = {miss.part: miss.status for miss in context.trace.misses}
        assert parts == dict.fromkeys(("constraints", "summary", "task", "policy"), "failed")


def test_a_summary_that_another_writer_keeps_from_being_saved_is_sent() -> None:
    """001-79."""
    context = build(builder_of(store=FAILURES["conflicts forever"](InMemoryStore())))
    assert context.metadata.used_summary
    assert Miss("summary", "degraded", "conflict") in context.trace.misses


def test_stores_are_called_on_the_callers_thread() -> None:
    """A store has the timeouts of its driver: none of ours, whatever the limit of the build is."""
    seen = set[str]()
    store = Remote(InMemoryStore(), lambda: seen.add(threading.current_thread().name))
    blobs: Any = Remote(InMemoryBlobStore(), lambda: seen.add(threading.current_thread().name))
    results = ToolResultCompressor(working_memory=ThreadMemories(blobs, b"0123456789abcdef"))
    builder = builder_of(0, store=store, memory=with_tea(), tool_results=results, config={"total_budget": 5_000})
    builder.constraints.set(thread_of(RUN), "language", "Chinese")
    context = builder.build(thread_of(RUN), QUESTION, "Be brief.")
    assert context.trace.misses == ()
    assert context.token_stats.constraints > 0
    assert seen == {threading.current_thread().name}


def test_only_what_is_wanted_is_looked_up() -> None:
    """001-73, 001-74: without a question or a user no memory is searched; without a setting no record is read."""
    kinds, inner = list[str](), InMemoryStore()

    def load(tenant: str, thread: str, kind: str) -> Any:
        kinds.append(kind)
        return inner.load_record(tenant, thread, kind)

    nothing = {"enable_summary": False, "enable_memory_retrieval": False, "enable_instruction_pinning": False}
    store, memory = Remote(inner, load_record=load), FaultyMemory(raising, inline=True)
    assert builder_of(store=store, memory=memory, config=nothing).build(thread_of(), "Hi", "").trace.misses == ()
    assert kinds == ["constraints", "prompt_policy", "prompt_policy"]
    for thread, prompt in ((thread_of(), " \n"), (Thread("t1", tuple(TALK)), QUESTION)):
        assert builder_of(memory=memory).build(thread, prompt, "").trace.misses == ()


# --- models behind a build --------------------------------------------------------------------------------------------

SUMMARIZERS: dict[str, tuple[Callable[..., Any], str]] = {
    "raises": (raising, "error: RuntimeError"),
    "gives nothing": (lambda *_: "  ", "empty"),
    "invents": (lambda *_: "They chose PostgreSQL 17.3 on host kestrel-17.", "unsupported"),
}


@pytest.mark.parametrize("name", SUMMARIZERS)
def test_a_summarizer_that_fails_leaves_the_sentences(name: str, logged: Logged) -> None:
    """004-60, 001-51: it runs behind the build; the next one says what became of it, once."""
    summarizer, reason = SUMMARIZERS[name]
    builder = builder_of(summarizer=summarizer)
    assert build(builder).trace.misses == ()
    contexts: list[BuiltContext] = []

    def has_misses() -> bool:
        contexts.append(build(builder))
        return contexts[-1].trace.misses != ()

    until(has_misses)
    assert contexts[-1].trace.misses == (Miss("summary_model", "degraded", reason),)
    assert contexts[-1].metadata.used_summary
    assert_told_once(contexts[-1], logged)


def test_a_failing_embedder_is_a_miss_and_words_decide(logged: Logged) -> None:
    """C7: no model is needed, and where one fails the way without goes on."""
    context = build(builder_of(embedder=lambda _: raising()))
    assert context.trace.misses == (Miss("meaning", "degraded", "error: RuntimeError"),)
    assert context.messages == build(builder_of()).messages
    assert_told_once(context, logged)


def test_a_model_that_hangs_keeps_nothing_else_waiting(hang: Hang) -> None:
    """001-54, 004-54, 004-55: once four of its calls hang and 64 wait, it is refused, and the trace says so."""
    builder = builder_of(memory=with_tea(Remote), summarizer=hang, extractor=hang, config={"total_budget": 2_000})
    for number in range(40):
        context = build(builder, thread_of(name=f"t{number}"))
        assert context.metadata.retrieved_memory_count == 1
        assert context.metadata.used_summary
    assert build(builder, thread_of(name="t39")).trace.misses == (
        Miss("summary_model", "busy"),
        Miss("extraction", "busy"),
    )
    assert hang.returned == 0


def test_a_summary_by_a_model_waits_for_the_next_question() -> None:
    """004-54, 001-51, 003-90, 004-60: within a run the summary stays as it was when the run began."""
    builder = builder_of(summarizer=lambda messages, previous, limit: "部署 Redis, port 6380")
    open_thread = thread_of([*TALK, user(QUESTION)])

    def summary_of(thread: Thread) -> str:
        context = builder.build(thread, QUESTION, "Be brief.")
        assert context.trace.misses == ()
        return next(
            message.text
            for message, part in zip(context.messages, context.trace.parts, strict=True)
            if part.part == "summary"
        )

    first = summary_of(open_thread)
    until(lambda: not builder.summaries.model_due(open_thread))
    assert "部署" not in first
    assert summary_of(open_thread.continued([calls("a"), result("a")])) == first
    assert "部署" in summary_of(thread_of([*open_thread.messages, assistant("ok"), user(QUESTION)]))


def test_what_fails_behind_a_build_is_told_by_the_next_one_of_that_thread_alone() -> None:
    """004-55."""
    memory = with_tea(lambda inner: Remote(inner, put_memories=raising))
    builder = builder_of(memory=memory)
    thread = thread_of([user("I prefer black coffee."), assistant("ok")])
    assert build(builder, thread).trace.misses == ()
    until(lambda: not plugins._plugins)
    other = build(builder, thread_of([user("你好"), assistant("ok")], name="t2"))
    assert other.trace.misses == ()
    assert build(builder, thread).trace.misses == (Miss("extraction", "failed", "RuntimeError"),)


@pytest.mark.parametrize("remote", [None, Remote], ids=["in this process", "behind a protocol"])
def test_what_the_user_said_is_remembered_in_the_same_build_where_nothing_can_hang(remote: Any) -> None:
    """004-35, 004-55: else for the next one."""
    memory = with_tea(remote)
    builder = builder_of(memory=memory, config={"memory_categories": ("user_preference",)})
    thread = thread_of([user("I prefer black coffee."), assistant("ok")], name="t2")
    builder.build(thread, "Which coffee? 哪种咖啡？", "")
    if remote:
        until(lambda: not plugins._plugins)
    assert len(memory.newest(ANN)) == 2
    context = builder.build(thread_of([], name="t3"), "Which coffee? 哪种咖啡？", "")
    assert any("I prefer black coffee" in message.text for message in context.messages)


# --- tool results -----------------------------------------------------------------------------------------------------

LONG_RESULT = "12:00:00 INFO secret ping\n" * 200
LOOK = Message("assistant", "", tool_calls=(ToolCall("a", "look", "{}"),))
RUN = [user("Look."), LOOK, result("a", LONG_RESULT), assistant("ok"), user(QUESTION)]
RUN += [message for number in range(8) for message in (calls(f"c{number}"), result(f"c{number}", LONG_RESULT))]

COMPRESSORS: dict[str, ResultCompressor] = {
    "raises": raising,
    "gives None": lambda *_: None,  # type: ignore[dict-item]
    "fails at the first": lambda message, context: raising() if context.tool_name == "look" else message.text[:9],
}


@pytest.mark.parametrize("name", COMPRESSORS)
@pytest.mark.parametrize("budget", [2_500, 48_000])
def test_a_compressor_that_fails_leaves_the_result_as_it_is(name: str, budget: int, logged: Logged) -> None:
    """001-58: past results and those of the run; told once, and the budget holds."""
    builder = builder_of(tool_results=COMPRESSORS[name], config={"total_budget": budget})
    context = builder.build(thread_of(RUN), QUESTION, "Be brief.")
    assert context.token_stats.total <= budget
    assert [(miss.part, miss.status) for miss in context.trace.misses] == [("tool_results", "failed")]
    assert_told_once(context, logged)


# --- everything at once -----------------------------------------------------------------------------------------------


def test_where_every_plugin_hangs_threads_are_bounded_and_builds_go_on(hang: Hang) -> None:
    """001-66, 001-80: four threads for each, however many builds and builders there are."""
    before = set(threading.enumerate())
    plugged: dict[str, Any] = {"summarizer": hang, "extractor": partial(hang), "tool_results": partial(hang)}
    memory, embedder = FaultyMemory(hang), TextEncoder(partial(hang))
    for number in range(30):
        builder = builder_of(5, memory=memory, embedder=embedder, **plugged)
        context = build(builder, thread_of(RUN, name=f"t{number}"))
        started = [one for one in set(threading.enumerate()) - before if one.name == "gatekeeper-call"]
        assert len(started) <= 4 * (len(plugged) + 2)
    assert {miss.status for miss in context.trace.misses} == {"busy"}
    assert {miss.part for miss in context.trace.misses} >= {"retrieved", "tool_results", "meaning"}
    assert hang.returned == 0


def test_a_late_answer_is_never_seen_by_a_later_build(hang: Hang) -> None:
    """001-66, 001-80: what was found for Ann does not reach Bob, nor Ann's next build."""
    answered = threading.Event()

    def search(scope: MemoryScope, *_: Any, **__: Any) -> list[MemoryHit]:
        if scope.user != "ann" or hang.entered.is_set():
            return []
        hang()
        answered.set()
        return [hit("Ann's secret tea")]

    builder = builder_of(SHORT_MS, memory=FaultyMemory(search))
    assert build(builder).trace.misses == (Miss("retrieved", "late"),)
    hang.let_go()
    assert answered.wait(PATIENCE)
    builder.set_config(call_timeout_ms=LONG_MS)
    for context in (build(builder, thread_of(name="t2", user="bob")), build(builder)):
        assert context.trace.misses == ()
        assert not any("Ann's secret tea" in message.text for message in context.messages)


# --- what is no optional part -----------------------------------------------------------------------------------------


def test_a_selection_that_fails_sends_the_newest_turns_and_says_so(
    monkeypatch: pytest.MonkeyPatch, logged: Logged
) -> None:
    """001-32: a defect of ours, or a counter that gives up now and then, does not end the conversation."""
    monkeypatch.setattr("gatekeeper_core.context.history.select.choose_past", raising)
    context = build(builder_of())
    assert context.metadata.included_message_count > 0
    assert [(miss.part, miss.status) for miss in context.trace.misses] == [("history", "degraded")]
    assert_told_once(context, logged)
