"""One cache within a bound of entries."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.caching import LruCache

keys = st.integers(0, 5)
steps = st.lists(st.tuples(st.sampled_from(["put", "put", "get", "peek", "pop", "discard", "get_or_put"]), keys))


@given(steps, st.integers(0, 4))
def test_it_holds_what_a_list_in_the_order_of_use_would_hold(calls: list[tuple[str, int]], max_entries: int) -> None:
    """The oracle: a list of (key, value), the one used longest ago first."""
    cache: LruCache[int, str] = LruCache(max_entries=max_entries)
    plain: list[tuple[int, str]] = []
    for at, (how, key) in enumerate(calls):
        value = f"{key} {at}"
        entry = next((entry for entry in plain if entry[0] == key), None)
        hit = entry[1] if entry else None
        if how == "put":
            cache.put(key, value)
        elif how == "get_or_put":
            assert cache.get_or_put(key, lambda value=value: value) == (hit or value)  # type: ignore[misc]
        elif how == "discard":
            cache.discard(key, value)  # another one by now
        else:
            assert getattr(cache, how)(key) == hit
        if entry and how in ("put", "get", "get_or_put", "pop"):
            plain.remove(entry)
        if how in ("put", "get_or_put") or (how == "get" and entry):
            plain.append((key, value if how == "put" else hit or value))
        del plain[: max(0, len(plain) - max_entries)]
        assert (cache.newest(), len(cache)) == (plain[-1][1] if plain else None, len(plain))
    assert [(key, cache.peek(key)) for key, _ in plain] == plain


def test_an_entry_that_was_replaced_meanwhile_stays() -> None:
    cache: LruCache[str, list[int]] = LruCache(max_entries=1)
    slow = cache.get_or_put("slow", list)
    cache.put("fast", [])
    again = cache.get_or_put("slow", list)
    cache.discard("slow", slow)
    assert cache.peek("slow") is again
    cache.discard("slow", again)
    assert len(cache) == 0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda cache: pickle.loads(pickle.dumps(cache))])  # noqa: S301 - ours
def test_a_copy_is_empty_and_has_the_same_bound(copied: Any) -> None:
    cache: LruCache[int, int] = LruCache(max_entries=2)
    cache.put(1, 1)
    again = copied(cache)
    assert len(again) == 0
    for number in range(4):
        again.put(number, number)
    assert [again.get(number) for number in range(4)] == [None, None, 2, 3]
