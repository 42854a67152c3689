"""What is remembered of threads: what differs is read, each text is counted once, and memory is bounded by bytes."""

from __future__ import annotations

import gc
import json
import threading
import tracemalloc
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.corpus import generate_turns
from gatekeeper_core.caching import estimated_bytes
from gatekeeper_core.context.history.cache import THREAD_BYTES, RememberedThread, flat_sign
from gatekeeper_core.context.history.modes import HistoryConfig
from gatekeeper_core.context.history.select import read_history
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall

QUESTIONS = ["Redis port 五个小时?", "换个话题，who keeps the choir's minutes?", "那 sourdough 呢？"]
TEXTS = [
    "",
    "Redis port?",
    "6380",
    "New topic: 酸面包要发酵多久？",
    "五个小时 at 26 degrees",
    "合唱团 choir: Marta",
    "又 again",
]

# A conversation as the framework's own objects that can be changed in place: lists of a role, contents and calls.
Item = list[Any]

texts = st.sampled_from(TEXTS)
contents = st.one_of(texts, st.lists(st.one_of(texts, st.just(None)), min_size=1, max_size=2))
calls = st.lists(st.tuples(st.sampled_from(["c1", "c2"]), st.sampled_from(['{"城市":"Bern"}', "{}"])), max_size=1)
items: st.SearchStrategy[Item] = st.tuples(
    st.sampled_from(["user", "user", "assistant", "assistant", "tool", "system"]), contents, calls
).map(list)
edits = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "set", "in place", "delete", "insert", "swap", "cut", "drop first"]),
        st.integers(0, 11),
        items,
    ),
    max_size=4,
)
calls_of_a_thread = st.lists(
    st.tuples(edits, st.sampled_from([None, None, *QUESTIONS]), st.sampled_from([20, 60, 1000]), st.booleans()),
    max_size=5,
)


def read(item: Item) -> Message:
    role, content, listed = item
    if isinstance(content, list):
        content = tuple(MediaPart("image") if part is None else TextPart(part) for part in content)
    if role == "assistant":
        return Message(role, content, tool_calls=tuple(ToolCall(call, "look", text) for call, text in listed))
    return Message(role, content, tool_call_id="c1" if role == "tool" else None)


def signs(listed: Any) -> list[object]:
    return [
        (role, repr(content), repr(called)) if called else read([role, content, called])
        for role, content, called in listed
    ]


def edit(history: list[Item], how: str, at: int, item: Item) -> None:
    item = [item[0], list(item[1]) if isinstance(item[1], list) else item[1], list(item[2])]
    place = at % len(history) if history else 0
    if how == "append" or not history:
        history.append(item)
    elif how == "set":
        history[place] = item
    elif how == "in place":
        held = history[place][1]
        if isinstance(held, list):
            held[0] = "changed inside 里面"
        else:
            history[place][at % 3] = item[at % 3]
    elif how == "delete":
        del history[place]
    elif how == "insert":
        history.insert(place, item)
    elif how == "swap":
        history[place], history[0] = history[0], history[place]
    elif how == "cut":
        del history[place:]
    else:
        del history[0]


def message_bytes(message: Message) -> int:
    return estimated_bytes(message, indexed=True)


def selector_of(**settings: Any) -> ThreadSelector[Item]:
    config = HistoryConfig(
        **{"floor_turns": 1, "passthrough_below": 0, "posture": "thrifty", "on_error": "raise", **settings}
    )
    return ThreadSelector(read, signs=signs, config=config)


@given(st.lists(items, max_size=8), calls_of_a_thread)
def test_whatever_was_seen_before_a_history_is_read_as_it_is_now(start: list[Item], steps: list[Any]) -> None:
    """Messages, turns and costs, by any way to the history: equal to those of a reading from nothing."""
    history = [list(item) for item in start]
    thread: RememberedThread[Item] = RememberedThread(HistoryConfig())
    before = None
    for edits_made, query, _, pin in steps:
        for how, at, item in edits_made:
            edit(history, how, at, item)
        thread.catch_up(history, read=read, signs=signs)
        assert thread.messages == tuple(map(read, history))
        assert thread.estimated_bytes == THREAD_BYTES + sum(map(message_bytes, thread.messages))
        costs = [thread.tokens_at(at, len) for at in range(len(history))]
        fresh: RememberedThread[Item] = RememberedThread(HistoryConfig())
        fresh.catch_up(history, read=read, signs=None)
        assert costs == [fresh.tokens_at(at, len) for at in range(len(history))]
        pinned = [at for at, item in enumerate(thread.messages) if item.role in ("user", "system")][: int(pin)]
        before = read_history(thread.messages, query=query, pinned=pinned, before=before)
        assert before == read_history(thread.messages, query=query, pinned=pinned)


@given(st.lists(items, max_size=8), calls_of_a_thread)
def test_a_selector_that_has_seen_other_histories_selects_like_a_fresh_one(start: list[Item], steps: list[Any]) -> None:
    """Every call is a run of its own here: within one run the past only shrinks, and that depends on the calls."""
    history = [list(item) for item in start]
    selector = selector_of()
    for number, (edits_made, query, budget, pin) in enumerate(steps):
        for how, at, item in edits_made:
            edit(history, how, at, item)
        asked: dict[str, Any] = {"thread": "t", "query": query or f"{number}. Redis port?"}
        asked["config"] = selector_of(token_budget=budget).config
        asked["pinned"] = [at for at, item in enumerate(map(read, history)) if item.role == "system"][: int(pin)]
        view = selector.view(history, **asked)
        assert view._replace(bill=None) == selector_of().view(history, **asked)._replace(bill=None)
        assert selector.view(history, **asked) is view


@pytest.mark.parametrize("query", [None, *QUESTIONS])
def test_a_call_with_nothing_new_gives_the_view_of_before(query: str | None) -> None:
    history: list[Item] = [["user", TEXTS[1], []], ["assistant", TEXTS[2], []], ["user", TEXTS[3], []]]
    selector = selector_of()
    view = selector.view(history, thread="t", query=query)
    assert selector.view([list(item) for item in history], thread="t", query=query) is view
    assert selector.view(history, thread="t", query=query, fixed_tokens=1) is not view
    assert selector.view(history, thread="t", query=query, pinned=[0]) is not view


def test_only_what_has_another_sign_is_read_again() -> None:
    seen: list[Item] = []

    def reading(item: Item) -> Message:
        seen.append(item)
        return read(item)

    def kinds(listed: Any) -> list[object]:
        return [tuple(map(str, item)) for item in listed]

    history: list[Item] = [["user", text, []] for text in TEXTS]
    thread: RememberedThread[Item] = RememberedThread(HistoryConfig())
    thread.catch_up(history, read=reading, signs=kinds)
    messages = thread.messages
    seen.clear()
    thread.catch_up([list(item) for item in history], read=reading, signs=kinds)
    assert thread.messages is messages
    history[1][1] = "other"
    history.append(["user", "new", []])
    thread.catch_up(history, read=reading, signs=kinds)
    assert seen == [history[1], history[-1]]
    assert [now is then for now, then in zip(thread.messages, messages, strict=False)] == [at != 1 for at in range(7)]


def test_each_message_is_counted_once_however_often_it_is_asked_for() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    history: list[Item] = [["user", "one", []], ["assistant", "two", []]]
    selector = ThreadSelector(read, config=HistoryConfig(), token_counter=count)
    assert [selector.history_cost(history, thread="t") for _ in range(3)] == [6, 6, 6]
    history.append(["user", "three", []])
    assert selector.history_cost(history, thread="t") == 11
    assert counted == ["one", "two", "three"]


values = st.one_of(st.sampled_from([1, True, 0, False, None, "1", "城市", 1.0, -0.0, 0.0]), st.lists(st.just(1)))
arguments = st.dictionaries(st.sampled_from(["q", "城市", 1, True]), values, max_size=3)


@given(arguments, arguments)
def test_arguments_with_one_sign_are_written_as_the_same_json(one: dict[Any, Any], other: dict[Any, Any]) -> None:
    sign = flat_sign(one)
    assert sign is None or sign != flat_sign(other) or json.dumps(one) == json.dumps(other)
    assert sign == flat_sign(dict(one))


def test_what_is_no_flat_mapping_has_no_flat_sign() -> None:
    for odd in ({"a": 1.0}, {"a": []}, {1: "a"}, [], None, "a", OrderedDict(a=1)):
        assert flat_sign(odd) is None


# --- bytes


def talk_of(script: str, *, message_count: int, length: int) -> list[Item]:
    written = [text for turn in generate_turns(2000, seed=3) for text in (turn.user, turn.assistant)]
    listed = [text for text in written if script == "mixed" or text.isascii() == (script == "english")]
    long = " ".join(listed)
    roles = ("user", "assistant")
    return [[roles[at % 2], long[at * length : (at + 1) * length], []] for at in range(message_count)]


def selector_of_one(history: list[Item]) -> ThreadSelector[Item]:
    selector = selector_of()
    selector.view(history, thread="t")
    return selector


def bytes_taken(history: list[Item]) -> int:
    """Return the bytes that one thread takes; a shared cache that fills up and empties meanwhile adds its own."""
    gc.collect()
    tracemalloc.start()
    try:
        kept = selector_of_one(history)
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
    return taken


@pytest.mark.parametrize("script", ["chinese", "english", "mixed"])
@pytest.mark.parametrize(("message_count", "length"), [(100, 60), (60, 400)])
def test_the_estimate_lies_within_a_factor_of_what_is_taken(script: str, message_count: int, length: int) -> None:
    history = [*talk_of(script, message_count=message_count, length=length), ["user", "Redis 缓存 port?", []]]
    selector_of().view(history, thread="fills the caches that all threads share")
    assert 1 / 3 < selector_of_one(history).estimated_bytes / min(bytes_taken(history) for _ in range(3)) < 3


def test_the_threads_used_last_stay_within_the_bound() -> None:
    one = THREAD_BYTES + message_bytes(Message("user", "x"))
    selector = selector_of(max_bytes=3 * one)
    for thread in ("a", "b", "c", "a", "d"):
        selector.view([["user", "x", []]], thread=thread)
        assert selector.estimated_bytes <= 3 * one
    assert [selector.view_of(thread) is None for thread in "abcd"] == [False, True, False, False]
    selector.view([["user", "x" * 2000, []]], thread="c")
    assert [selector.view_of(thread) is None for thread in "abcd"] == [True, True, False, True]


def test_a_thread_over_the_bound_is_kept_while_it_is_used() -> None:
    selector = selector_of(max_bytes=0)
    history: list[Item] = [["user", "Redis port?", []], ["assistant", "6380", []], ["user", "酸面包?", []]]
    view = selector.view(history, thread="a")
    assert selector.view(history, thread="a") is view
    selector.view(history, thread="b")
    assert selector.view_of("a") is None
    assert selector.estimated_bytes == THREAD_BYTES + sum(map(message_bytes, map(read, history)))


def test_a_thread_that_shrinks_or_fails_gives_its_bytes_back() -> None:
    selector = selector_of()
    selector.view([["user", "x" * 1000, []]], thread="a")
    selector.view([["user", "x", []]], thread="a")
    assert selector.estimated_bytes == THREAD_BYTES + message_bytes(Message("user", "x"))
    with pytest.raises(TypeError):
        selector.view([["user", "x", []], ["user", 5, []]], thread="a")
    assert selector.estimated_bytes == 0
    with pytest.raises(TypeError):
        selector.history_cost([["user", 5, []]], thread="a")
    assert selector.estimated_bytes == 0


def test_the_books_are_right_after_many_threads_at_once() -> None:
    one = THREAD_BYTES + message_bytes(Message("user", "x"))
    selector = selector_of(max_bytes=4 * one)
    barrier = threading.Barrier(8)

    def serve(worker: int) -> None:
        barrier.wait()
        for step in range(40):
            selector.view([["user", "x", []]], thread=(worker * step) % 11)

    with ThreadPoolExecutor(8) as workers:
        list(workers.map(serve, range(8)))
    selector.view([["user", "x", []]], thread="last")
    kept = sum(selector.view_of(name) is not None for name in [*range(11), "last"])
    assert (selector.estimated_bytes, kept) == (4 * one, 4)
