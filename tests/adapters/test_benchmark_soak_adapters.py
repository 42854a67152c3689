"""The adapters under load, in small: threads side by side, each sent its own turns, and memory that stays flat."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace

import pytest

from benchmarks.corpus import generate_turns
from benchmarks.soak_adapters import ADAPTERS, CONFIG, Block, Middleware, Talks

pytestmark = pytest.mark.adapters

SMALL = replace(CONFIG, max_threads=8)
TURNS = generate_turns(32, seed=7)


def hold(talks: Talks, first: int, last: int) -> int:
    """Hold conversations and return the bytes that are taken when all have ended."""
    for turn in TURNS[first:last]:
        talks.add(turn)
    talks.ask(TURNS[first].user)
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("name", ADAPTERS)
def test_memory_is_flat_where_threads_come_and_go(name: str) -> None:
    talks = ADAPTERS[name](22, config=SMALL)
    tracemalloc.start()
    try:
        hold(talks, 0, 4)  # what is made once: caches, pools
        before = hold(talks, 4, 8)
        after = hold(talks, 8, 16)
    finally:
        tracemalloc.stop()
    assert after <= before * 1.1 + 150_000


@pytest.mark.parametrize("name", ["middleware", "block"])
def test_threads_side_by_side_are_sent_their_own_turns_and_forgotten(name: str) -> None:
    """The conversations themselves check what they are sent."""
    talks = ADAPTERS[name](22, config=SMALL)
    hold(talks, 0, 32)
    assert isinstance(talks, Middleware | Block)
    by_thread = talks.gate.selection_for if isinstance(talks, Middleware) else talks.block.selection_for
    remembered = [number for number in range(32) if by_thread(f"t{number}")]
    assert 0 < len(remembered) < 32
    assert 0 not in remembered
