"""Packed postings: built in steps from a dictionary or from other segments, looked up by key, cut off by a mark."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.segments import TURN_BITS, Segment, finished, merging, release, sealing, term_key

terms = st.sampled_from(["redis", "quorum", "缓存", "雪崩", "\ud800", ""])
texts = st.lists(st.frozensets(terms, max_size=4), min_size=1, max_size=30)


def live_of(turns: list[frozenset[str]], start: int) -> dict[str, int | list[int]]:
    live: dict[str, int | list[int]] = {}
    for at, held in enumerate(turns, start):
        for term in held:
            before = live.get(term, [])
            live[term] = [*([before] if isinstance(before, int) else before), at << TURN_BITS | 1]
    return {term: found[0] if isinstance(found, list) and len(found) == 1 else found for term, found in live.items()}


def sealed(turns: list[frozenset[str]], start: int = 0) -> Segment:
    live = live_of(turns, start)
    return finished(sealing(live, start=start, stop=start + len(turns), on_term=lambda term: None))


def postings(segment: Segment, term: str) -> list[int]:
    begin, end = segment.find(term_key(term))
    return [posting >> TURN_BITS for posting in segment.postings[begin:end]]


def holding(turns: list[frozenset[str]], term: str) -> list[int]:
    return [at for at, held in enumerate(turns) if term in held]


@given(texts, terms)
def test_a_sealed_segment_holds_each_term_with_its_turns(turns: list[frozenset[str]], term: str) -> None:
    assert postings(sealed(turns), term) == holding(turns, term)


def test_sealing_notes_each_term_once() -> None:
    called: list[str] = []
    finished(sealing({"redis": [1, 257], "缓存": 1}, start=0, stop=2, on_term=called.append))
    assert sorted(called) == ["redis", "缓存"]


@given(st.lists(texts, min_size=1, max_size=5), terms)
def test_a_merged_segment_is_the_segment_of_all_turns(parts: list[list[frozenset[str]]], term: str) -> None:
    starts = [sum(map(len, parts[:at])) for at in range(len(parts))]
    merged = finished(merging([sealed(part, start) for part, start in zip(parts, starts, strict=True)]))
    every = [held for part in parts for held in part]
    assert postings(merged, term) == holding(every, term)
    assert (merged.keys, merged.ends, merged.postings) == (
        sealed(every).keys,
        sealed(every).ends,
        sealed(every).postings,
    )
    assert (merged.start, merged.stop) == (0, len(every))


@given(texts, terms, st.integers(0, 30))
def test_a_cut_segment_forgets_the_newest_turns_also_when_it_is_merged(
    turns: list[frozenset[str]], term: str, stop: int
) -> None:
    segment = sealed(turns)
    segment.cut(min(stop, len(turns)))
    expected = [at for at in holding(turns, term) if at < stop]
    assert postings(segment, term) == expected
    merged = finished(merging([segment]))
    assert postings(merged, term) == expected
    assert merged.keys == sealed(turns[:stop]).keys  # a term that is gone leaves no key


@pytest.mark.parametrize(("term", "key"), [("redis", 15660424490467187701), ("缓存", 1116280049710118659)])
def test_the_key_of_a_term_is_the_same_everywhere(term: str, key: int) -> None:
    """Snapshots are read on other machines."""
    assert term_key(term) == key


def test_no_step_of_sealing_sorts_or_writes_much_at_once() -> None:
    """So that no single add waits for all of it: what is sorted together is a pile of a few terms."""
    live: dict[str, int | list[int]] = {f"w{at}": at << TURN_BITS for at in range(6000)}
    steps = sealing(live, start=0, stop=6000, on_term=lambda term: None)
    written = [0]
    for _ in steps:
        assert steps.gi_frame is not None
        held = steps.gi_frame.f_locals
        assert max(map(len, held["piles"]), default=0) < 150
        written.append(len(held.get("keys", ())))
    assert max(after - before for before, after in pairwise(written)) < 150
    assert written[-1] == 6000


def test_a_packed_dictionary_is_emptied_little_by_little() -> None:
    live: dict[str, int | list[int]] = {f"w{at}": at for at in range(1000)}
    sizes = [1000]
    while live:
        release(live)
        sizes.append(len(live))
    assert 3 <= len(sizes) <= 20
    assert all(0 < before - after < 500 for before, after in pairwise(sizes))
    release(live)


def test_building_is_cut_into_many_small_steps() -> None:
    """So that no single add waits for all of it."""
    live: dict[str, int | list[int]] = {f"w{at}": at << TURN_BITS for at in range(1000)}
    assert sum(1 for _ in sealing(live, start=0, stop=1000, on_term=lambda term: None)) >= 20
    halves = [sealed([frozenset({f"w{at}"}) for at in range(500)], start) for start in (0, 500)]
    assert sum(1 for _ in merging(halves)) >= 10
