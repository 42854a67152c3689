"""One cache within a bound of entries or bytes, and one estimate of the bytes of a message."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.caching import LruCache, estimated_bytes
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall

keys = st.integers(0, 5)
steps = st.lists(
    st.tuples(st.sampled_from(["put", "put", "get", "peek", "pop", "settle", "discard", "get_or_put"]), keys, keys),
    max_size=40,
)


@given(steps, st.integers(1, 4), st.integers(0, 12), st.booleans())
def test_it_holds_what_a_list_in_the_order_of_use_would_hold(
    made: list[tuple[str, int, int]], max_entries: int, max_bytes: int, keeps_newest: bool
) -> None:
    """The oracle: a list of (key, value, size), the one used longest ago first."""
    cache: LruCache[int, str] = LruCache(max_entries=max_entries, max_bytes=max_bytes, keeps_newest=keeps_newest)
    plain: list[tuple[int, str, int]] = []

    def put(key: int, value: str, size: int) -> None:
        plain[:] = [entry for entry in plain if entry[0] != key]
        if size <= max_bytes or keeps_newest:
            plain.append((key, value, size))
        while len(plain) > max_entries or (len(plain) > 1 and sum(entry[2] for entry in plain) > max_bytes):
            del plain[0]

    for at, (how, key, size) in enumerate(made):
        value = f"{key} {at}"
        held = next((entry for entry in plain if entry[0] == key), None)
        if how == "put":
            cache.put(key, value, size)
            put(key, value, size)
        elif how == "settle":
            cache.settle(key, held[1] if held else value, size)
            if held:
                put(key, held[1], size)
        elif how == "get_or_put":
            assert cache.get_or_put(key, lambda value=value: value) == (held[1] if held else value)  # type: ignore[misc]
            put(*(held or (key, value, 0)))
        elif how == "discard":
            cache.discard(key, value)  # another one by now
        else:
            assert getattr(cache, how)(key) == (held[1] if held else None)
            if held and how != "peek":
                plain.remove(held)
            if held and how == "get":
                plain.append(held)
        assert cache.newest() == (plain[-1][1] if plain else None)
        assert (len(cache), cache.used_bytes) == (len(plain), sum(entry[2] for entry in plain))
    assert [cache.peek(key) for key, _, _ in plain] == [value for _, value, _ in plain]


@pytest.mark.parametrize("limit", [{"max_entries": 3}, {"max_bytes": 3}], ids=["entries", "bytes"])
def test_the_entry_used_longest_ago_goes_first(limit: dict[str, int]) -> None:
    cache: LruCache[str, str] = LruCache(**limit)
    for key in "abc":
        cache.put(key, key, 1)
    assert (cache.get("a"), cache.peek("b"), cache.newest()) == ("a", "b", "a")
    cache.put("d", "d", 1)
    assert [cache.peek(key) for key in "abcd"] == ["a", None, "c", "d"]
    cache.put("c", "again", 1)
    cache.put("e", "e", 1)
    assert [cache.peek(key) for key in "acde"] == [None, "again", "d", "e"]


def test_an_entry_over_the_bound_pushes_nothing_out_or_stays_alone() -> None:
    strict, lenient = LruCache[str, str](max_bytes=10), LruCache[str, str](max_bytes=10, keeps_newest=True)
    for cache in (strict, lenient):
        cache.put("small", "小", 4)
        cache.put("large", "大", 11)
    assert (strict.get("small"), strict.get("large")) == ("小", None)
    assert (lenient.get("small"), lenient.get("large")) == (None, "大")


def test_an_entry_that_was_dropped_or_replaced_meanwhile_stays_so() -> None:
    cache: LruCache[str, list[int]] = LruCache(max_bytes=10, keeps_newest=True)
    slow = cache.get_or_put("slow", list)
    for name in ("fast", "other"):
        cache.settle(name, cache.get_or_put(name, lambda: [1]), 10)
    assert cache.peek("slow") is None
    cache.settle("slow", slow, 10)
    again = cache.get_or_put("slow", lambda: [2])
    cache.discard("slow", slow)
    assert cache.peek("slow") is again
    cache.discard("slow", again)
    assert (len(cache), cache.used_bytes) == (1, 10)
    cache.clear()
    assert (len(cache), cache.used_bytes) == (0, 0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda cache: pickle.loads(pickle.dumps(cache))])  # noqa: S301 - ours
def test_a_copy_is_empty_and_has_the_same_bounds(copied: Any) -> None:
    cache: LruCache[int, int] = LruCache(max_entries=2, max_bytes=4)
    cache.put(1, 1, 4)
    again = copied(cache)
    assert len(again) == again.used_bytes == 0
    for number in range(4):
        again.put(number, number, 3 - number)
    assert [again.get(number) for number in range(4)] == [None, None, 2, 3]
    again.put(9, 9, 5)
    assert again.get(9) is None


def test_the_sum_is_right_after_many_threads_at_once() -> None:
    cache: LruCache[int, int] = LruCache(max_bytes=40)

    def work(worker: int) -> None:
        for step in range(400):
            cache.put((worker * step) % 11, step, step % 9)
            cache.pop((worker + step) % 13)

    with ThreadPoolExecutor(8) as workers:
        list(workers.map(work, range(8)))
    assert cache.used_bytes <= 40
    for number in range(11):
        cache.pop(number)
    assert (len(cache), cache.used_bytes) == (0, 0)


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ("a" * 100, 800),
        ("缓\ud800" * 50, 12_800),
        ("a" * 99 + "é", 860),
        ((TextPart("a" * 10), MediaPart("image")), 80),
    ],
)
def test_the_bytes_of_an_indexed_message_grow_with_its_texts(content: Any, more: int) -> None:
    empty = estimated_bytes(Message("user", ""), indexed=True)
    assert estimated_bytes(Message("user", content), indexed=True) - empty == more
    call = Message("assistant", "", tool_calls=(ToolCall("c", "look", "{}"),))
    assert estimated_bytes(call, indexed=True) - empty == 16


@pytest.mark.parametrize("text", ["a" * 100, "缓存" * 50, "Redis 缓存"])
def test_a_message_alone_takes_the_size_of_its_texts(text: str) -> None:
    more = text.__sizeof__() - "".__sizeof__()
    assert estimated_bytes(Message("user", text)) - estimated_bytes(Message("user", "")) == more
    assert estimated_bytes(Message("user", text)) < estimated_bytes(Message("user", text), indexed=True)
