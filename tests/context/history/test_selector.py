"""The selector that adapters share: what it remembers of many threads, when a run goes on, and what it reports."""

from __future__ import annotations

import copy
import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig, InMemoryStore, ModelPrices, SQLiteStore, Usage
from gatekeeper_core.context.history.request import HistoryRequest, PromptOverhead
from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.context import ResultContext
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.context.tool_results.working_memory import ThreadMemories
from gatekeeper_core.errors import ConflictError, StorageError
from gatekeeper_core.messages import Message, ToolCall
from gatekeeper_core.storage.base import RecordStore
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.tokens import estimate_text_tokens
from tests import concepts, talks
from tests.histories import selector_with, unbilled, view_with
from tests.tiny_embedder import TinyEmbedder

Item = dict[str, Any]


def user(text: str) -> Item:
    return {"role": "user", "content": text}


def assistant(text: str) -> Item:
    return {"role": "assistant", "content": text}


def talk(*pairs: tuple[str, str]) -> list[Item]:
    return [item for question, answer in pairs for item in (user(question), assistant(answer))]


TALKS = {script: (talk(*pairs), question) for script, (pairs, question) in talks.TALKS.items()}

three_scripts = pytest.mark.parametrize(("past", "question"), TALKS.values(), ids=TALKS)


def selector_of(
    *, read: Callable[[Item], Message] = Message.from_dict, token_counter: Any = estimate_text_tokens, **settings: Any
) -> ThreadSelector[Item]:
    """Return a selector that sends what a question selects, whatever was sent before."""
    defaults: dict[str, Any] = {"keep_newest": 0, "passthrough_below": 0, "strategy": "gate", "on_error": "raise"}
    return ThreadSelector(read, config=HistoryConfig(**{**defaults, **settings}), token_counter=token_counter)


class Calls:
    """A real counter that notes how often it was asked for each text."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def __call__(self, text: str) -> int:
        self.counts[text] += 1
        return len(text)


# --- one call


@three_scripts
def test_a_view_is_that_of_select_history(past: list[Item], question: str) -> None:
    items = [{"role": "system", "content": "be brief"}, *past, user(question)]
    messages = [Message.from_dict(item) for item in items]
    selector = selector_of(keep_newest=1, passthrough_below=10, reserve_tokens=5)
    selector = ThreadSelector(Message.from_dict, config=selector.config, token_counter=estimate_text_tokens, pinned=[1])
    for budget in (20, 60, 1000):
        config = replace(selector.config, token_budget=budget)
        view = selector.view(items, HistoryRequest(fixed_tokens=3), thread=budget, config=config)
        expected = view_with(
            messages,
            gatekeeper=ContextGatekeeper(config=GatekeeperConfig(trim=False), token_counter=estimate_text_tokens),
            token_budget=budget,
            fixed_tokens=8,
            keep_newest=1,
            passthrough_below=10,
            pinned=[1],
            on_error="raise",
        )
        assert unbilled(view) == expected


def loop_of(rounds: int) -> list[dict[str, Any]]:
    call = {"function": {"name": "read", "arguments": "{}"}}
    return [
        item
        for number in range(rounds)
        for item in (
            {"role": "assistant", "tool_calls": [{"id": f"c{number}", **call}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "a line of the log " * 20},
        )
    ]


def test_a_run_is_folded_where_the_adapter_can_write_a_message() -> None:
    items = [{"role": "user", "content": "why?"}, *loop_of(9)]
    config = HistoryConfig(token_budget=500)
    selector = ThreadSelector(
        Message.from_dict, write=lambda item, message: {**message.to_dict(), "was": item["role"]}, config=config
    )
    prompt = selector.choose(items, thread="t")
    assert [item.get("was") for item in prompt[:3]] == [None, "assistant", None]
    assert prompt[1]["content"].startswith("[")
    assert all(any(item is own for own in items) for item in (prompt[0], *prompt[2:]))
    plain = ThreadSelector(Message.from_dict, config=config)
    assert plain.choose(items, thread="t") == items
    assert plain.view_of("t") is not None
    never = ThreadSelector(
        Message.from_dict, write=lambda item, _: item, config=HistoryConfig(token_budget=500, run=None)
    )
    assert never.choose(items, thread="t") == items


@pytest.mark.parametrize(("thread", "name"), [("t1", "t1"), (7, "7"), ("线程", "线程"), (None, None)])
def test_a_compressor_is_told_the_name_of_the_thread(thread: Any, name: str | None) -> None:
    owners: set[tuple[str | None, str]] = set()

    def compress(message: Message, context: ResultContext) -> str:
        owners.add((context.thread_id, context.tenant))
        return f"{context.thread_id}"

    config = HistoryConfig(token_budget=900, run=RunConfig(compress_result=compress))
    selector = ThreadSelector(Message.from_dict, write=lambda _, message: message.to_dict(), config=config)
    for rounds in (4, 14, 16):
        prompt = selector.choose([{"role": "user", "content": "why?"}, *loop_of(rounds)], thread=thread)
    selector.choose([{"role": "user", "content": "another one?"}, *loop_of(14)], thread="other")
    assert owners == {(name, "default"), ("other", "default")}
    assert f"{name}" in [item.get("content") for item in prompt]


@pytest.mark.parametrize(("window", "budget"), [(8192, 6144), (None, 16_000)])
def test_without_a_budget_the_window_of_the_model_gives_one(window: int | None, budget: int) -> None:
    selector = selector_of(token_budget=None)
    assert selector.view([user("q")], HistoryRequest(window_tokens=window)).budget_tokens == budget
    config = HistoryConfig(token_budget=7)
    assert selector.view([user("q")], HistoryRequest(window_tokens=window), config=config).budget_tokens == 7
    assert selector_of(token_budget=9).view([user("q")], HistoryRequest(window_tokens=window)).budget_tokens == 9


# --- what is remembered


def test_every_text_is_counted_once() -> None:
    """004-57: what is known of the messages of a thread is kept; a later call counts what is new."""
    past, question = TALKS["mixed"]
    counter = Calls()
    selector = selector_of(token_counter=counter)
    for thread in ("a", "a", "b"):
        selector.view([*past, user(question)], thread=thread)
        selector.count(question)
        selector.cost(past)
    selector.view([*past, user(question), assistant("6380"), user("thanks")], thread="a")
    texts = {item["content"] for item in past} | {question, "6380", "thanks"}
    assert set(texts) <= set(counter.counts)
    assert set(counter.counts.values()) == {1}


def test_the_threads_used_last_stay_and_one_that_comes_back_is_served_right() -> None:
    past, question = TALKS["english"]
    selector, items = selector_of(max_threads=2), [*past, user(question)]
    first = selector.view(items, thread="a")
    for thread in ("b", "a", "c"):
        selector.view(items, thread=thread)
    assert [selector.view_of(thread) is None for thread in "abc"] == [False, True, False]
    selector.view(items, thread="b")
    assert selector.view_of("a") is None
    assert selector.view(items, thread="a") == first


# --- runs


@three_scripts
def test_a_current_message_that_an_agent_wraps_in_place_goes_on_with_its_run(past: list[Item], question: str) -> None:
    selector = selector_of()
    items = [*copy.deepcopy(past), user(question)]
    first = selector.view(items, thread="t")
    items[-1]["content"] = f"State: sourdough 酸面包 choir 合唱团. Message: {question}"
    wrapped = selector.view(items, thread="t")
    assert wrapped.selection is first.selection
    assert wrapped.kept == first.kept
    items[-1]["content"] = f"State: changed. Message: {question}"
    items.append({"role": "assistant", "content": "6380"})
    assert selector.view(items, thread="t").selection is not None


# --- reports


def records_of(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == "gatekeeper.history"]


def facts_of(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name.startswith("gatekeeper_")}


@three_scripts
def test_the_first_time_that_turns_are_left_out_of_a_thread_a_line_says_which_and_why(
    past: list[Item], question: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="gatekeeper")
    selector = selector_of(token_budget=1000)
    first = selector.view([*past[:2], user(past[0]["content"])], thread="a")
    assert first.left_out == ()
    view = selector.view([*past, user(question)], thread="a")
    selector.view([*past, user(question), *past, user(question)], thread="a")
    selector.view([*past, user(question)], thread="b")
    assert (view.turns, view.left_out) == ((0,), (1, 2))
    records = [record for record in records_of(caplog) if "first time" in record.getMessage()]
    line = f"turns left out for the first time: 2 of 3, ids 1-2 ({view.cause})"
    assert [record.getMessage() for record in records] == [line] * 2
    assert facts_of(records[0])["gatekeeper_left_out"] == "1-2"


def test_threads_of_two_tenants_share_nothing_though_they_have_the_same_name() -> None:
    selector = selector_of(token_budget=4000)
    past, question = [user("The Redis port is 6380."), assistant("Noted.")], user("New topic: bread?")
    ours = selector.view([*past, question], thread="t1", tenant="ours")
    assert selector.view_of("t1", tenant="ours") is ours
    assert selector.view_of("t1") is None
    assert selector.view_of("t1", tenant="theirs") is None
    assert "6380" in selector.recall("the Redis port", thread="t1", tenant="ours")
    assert "6380" not in selector.recall("the Redis port", thread="t1")


# --- errors


def test_a_failed_selection_falls_back_with_one_warning_and_the_thread_starts_anew(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(ContextGatekeeper):
        def explain(self, *_: Any, **__: Any) -> NoReturn:
            raise RuntimeError("the secret is 6380")

    past, question = TALKS["english"]
    selector = selector_of(token_budget=4000, on_error="fallback")
    with monkeypatch.context() as patched:
        patched.setattr("gatekeeper_core.context.history.selector.ContextGatekeeper", Broken)
        view = selector.view([*past, user(question)], thread="t")
    (record,) = records_of(caplog)
    assert record.levelno == logging.WARNING
    assert facts_of(record)["gatekeeper_reason"].startswith("RuntimeError at test_selector.py:")
    assert "6380" not in json.dumps(facts_of(record))
    assert (view.status, view.turns) == ("fallback", (2, 1, 0))
    assert selector.last_view is view
    assert selector.view_of("t") is view
    again = selector.view([*past, user(question)], thread="t")
    assert (again.status, again.turns) == ("selected", (0,))


# --- several threads at once


def conversation(number: int, *, turn_count: int) -> list[Item]:
    """Return a conversation that comes back to each of its three topics; each number has its own words."""
    topics = [f"Redis{number} port", f"酸面包{number} 发酵", f"choir{number} 的 minutes"]
    pairs = [
        (f"New topic: {topics[at % 3]} part {at}?", f"{topics[at % 3]}: {number * at}") for at in range(turn_count)
    ]
    return [*talk(*pairs), user(f"New topic: {topics[0]} part 0?")]


# --- what the policy remembers


CACHED = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=6, min_cached_tokens=64)
SHOPS = ("kestrel", "heron", "osprey", "falcon", "merlin", "harrier", "kite", "eagle", "hobby", "wren")


def billed_selector(*, states: RecordStore | None = None, **settings: Any) -> ThreadSelector[Item]:
    """Return a selector that chooses at once, and then keeps what is cached, with a clock that stands."""
    config = HistoryConfig(
        **{"strategy": "cache", "token_budget": 100_000, "prices": CACHED, "on_error": "raise", **settings}
    )
    return ThreadSelector(
        Message.from_dict, write=lambda _, message: message.to_dict(), config=config, clock=lambda: 0.0, states=states
    )


def shop_talk(turns: int) -> list[list[Item]]:
    """Return a conversation as it is sent at each of its questions; the first is about two of nine turns."""
    questions = [f"New topic: when does the {shop} open?" for shop in SHOPS[:9]]
    items = [one for text in questions for one in (user(text), assistant(f"{text} At nine. " * 160))]
    several = "When do the heron and the osprey open?"
    steps = []
    for text in [several, *(f"New topic: when does the {shop} open?" for shop in ("falcon", "wren", "eagle") * turns)]:
        steps.append([*items, user(text)])
        items += [user(text), assistant("At nine.")]
    return steps[:turns]


def sent_by(selectors: Sequence[ThreadSelector[Item]], steps: Sequence[list[Item]]) -> list[list[Item]]:
    """Return what selectors in turn send for a thread of a tenant."""
    return [selectors[at % len(selectors)].choose(items, thread="t", tenant="acme") for at, items in enumerate(steps)]


@pytest.mark.parametrize("make", [lambda _: InMemoryStore(), lambda folder: SQLiteStore(folder / "states.db")])
def test_two_workers_over_one_store_send_the_bytes_of_one(tmp_path: Path, make: Callable[[Path], Any]) -> None:
    steps, store = shop_talk(9), make(tmp_path)
    alone = sent_by([billed_selector()], steps)
    assert sent_by([billed_selector(states=store), billed_selector(states=store)], steps) == alone
    apart = sent_by([billed_selector(), billed_selector()], steps)
    assert apart != alone, "the threads of this test tell workers with a store from those without"


def test_behind_another_summary_of_what_was_left_out_nothing_is_cached() -> None:
    cached = []
    for last in ("one", "another"):
        selector = billed_selector()
        for digest, items in zip(["one"] * 5 + [last], shop_talk(6), strict=True):
            overhead = PromptOverhead(before_tokens=50, summary_tokens=50, summary_digest=digest)
            bill = selector.view(items, HistoryRequest(fixed_tokens=100, overhead=overhead), thread="t").bill
        assert bill
        cached.append(bill.cached_tokens)
    assert cached[1] <= 100 < cached[0]


class FailingStore(InMemoryStore):
    """Fails where it is told to."""

    fails: tuple[str, ...] = ()

    def load_record(self, *arguments: Any) -> Any:
        if "load" in self.fails:
            raise StorageError("the store is away")
        return super().load_record(*arguments)

    def save_record(self, *arguments: Any, **others: Any) -> int:
        if "save" in self.fails:
            raise StorageError("the store is away")
        if "race" in self.fails:
            raise ConflictError("another version is stored", expected_version=0, stored_version=1)
        return super().save_record(*arguments, **others)


@pytest.mark.parametrize("fails", [("load",), ("save",), ("load", "save"), ("race",)])
def test_a_store_that_fails_costs_a_warning_and_nothing_else(
    fails: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    store, steps = FailingStore(), shop_talk(6)
    store.fails = fails
    with caplog.at_level(logging.WARNING):
        assert sent_by([billed_selector(states=store)], steps) == sent_by([billed_selector()], steps)
    assert "prompt policy state was not shared" in {record.getMessage() for record in caplog.records}


def test_threads_without_a_name_share_nothing() -> None:
    store = InMemoryStore()
    billed_selector(states=store).view(shop_talk(1)[0])
    assert store.load_record("default", "t", "prompt_policy") is None
    billed_selector(states=store).view(shop_talk(1)[0], thread="t", tenant="acme")
    assert store.load_record("default", "t", "prompt_policy") is None
    assert store.load_record("acme", "t", "prompt_policy") is not None


@pytest.mark.parametrize(("strategy", "lines"), [("cache", 1), ("gate", 0)])
def test_a_cheaper_strategy_is_named_once(strategy: str, lines: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="gatekeeper")
    selector, items = billed_selector(strategy=strategy), shop_talk(10)[-1]
    for shop in SHOPS * 3:
        selector.view(items, thread="t")
        items = [*items, assistant("At nine."), user(f"New topic: when does the {shop} open?")]
    assert [record.getMessage()[:31] for record in records_of(caplog) if "would have cost" in record.getMessage()] == [
        'strategy="gate" would have cost'
    ] * lines


def test_in_shadow_mode_nothing_is_sent_otherwise_and_no_report_counts() -> None:
    selector, steps = billed_selector(shadow=True), shop_talk(3)
    for items in steps:
        assert selector.choose(items, thread="t") == items
    before = selector.view_of("t")
    selector.report(Usage(100_000, 5), thread="t")
    again = selector.view([*steps[-1], assistant("?"), user("And now?")], thread="t")
    assert before
    assert before.bill
    assert again.bill
    assert again.bill.paid == pytest.approx(before.bill.paid + again.bill.dollars)


# --- an embedder


def test_threads_and_copies_share_one_encoder() -> None:
    embedder = TinyEmbedder()
    selector = ThreadSelector(lambda message: message, config=concepts.AT_ONCE, embedder=embedder)
    messages = [*concepts.TALK, Message("user", concepts.QUESTIONS["mixed"])]
    selector.view(messages, thread="t1")
    embedder.texts.clear()
    for other in (selector, copy.copy(selector), copy.deepcopy(selector)):
        assert concepts.WANTED["mixed"] in other.view(messages, thread="t2").turns
    assert embedder.texts == []


def test_results_of_two_tenants_go_to_memories_of_their_own() -> None:
    memories = ThreadMemories(InMemoryBlobStore(), b"0123456789abcdef")
    run = RunConfig(compress_result=ToolResultCompressor(working_memory=memories), keep_recent_rounds=1)
    selector = selector_with(HistoryConfig(token_budget=3_000, run=run, on_error="raise"))
    messages = [Message("user", "Read the logs.")]
    for number in range(6):
        call = ToolCall(f"c{number}", "read", "{}")
        rows = "".join(f"row {row} of log {number} at pier {row * 7}\n" for row in range(200))
        messages += [Message("assistant", "", tool_calls=(call,)), Message("tool", rows, tool_call_id=call.id)]
    ids = {}
    for tenant in ("a", "b"):
        view = selector.view(messages, thread="t", tenant=tenant)
        ids[tenant] = pointers_in("\n".join(message.text for _, message in view.replaced))
        assert ids[tenant]
    assert all(each in memories.of("t", tenant=tenant) for tenant in ids for each in ids[tenant])
    assert {*ids["a"]}.isdisjoint(ids["b"])
    assert not any(each in memories.of("t") for each in ids["a"])
