"""What a provider's prompt cache makes of a request."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.pricing.cache import PromptCache, Request, charge
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage

MARKED = ModelPrices(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75, marked=True)
STEPS = ModelPrices(input=2.0, output=8.0, cache_read=0.5, cache_write=2.0, step_tokens=128)
SMALL_STEPS = ModelPrices(input=0.3, output=0.4, cache_read=0.03, cache_write=0.3, min_cached_tokens=64, step_tokens=64)
PLAIN = ModelPrices(input=1.0, output=4.0, cache_read=0.1, cache_write=1.25)
ALL_KINDS = pytest.mark.parametrize("prices", [MARKED, STEPS, SMALL_STEPS, PLAIN])

sizes = st.lists(st.integers(0, 900), min_size=1, max_size=30)


def request(*tokens: int, marks: Sequence[int] = (), changed: int | None = None) -> Request:
    """Return a request whose pieces have so many tokens; another text stands in the piece that is changed."""
    pieces = [(b"%d, %d tokens" % (at, count), count) for at, count in enumerate(tokens)]
    if changed is not None:
        pieces[changed] = (b"another text", tokens[changed])
    return Request(pieces, marks)


def charged(*requests: Request, prices: ModelPrices, seconds: float = 1.0) -> list[Usage]:
    """Return what is reported for calls that follow each other after so many seconds."""
    cache, usages = PromptCache(), []
    for number, prompt in enumerate(requests):
        usage, cache = charge(cache, prompt, now=number * seconds, prices=prices)
        usages.append(usage)
    return usages


def counts(usage: Usage) -> tuple[int, int, int]:
    return usage.input_tokens, usage.cached_tokens, usage.cache_written_tokens


@ALL_KINDS
@given(sizes, st.integers(1, 4))
def test_all_but_the_new_part_of_an_append_only_conversation_is_read(
    prices: ModelPrices, tokens: list[int], pieces_each: int
) -> None:
    ends = range(pieces_each, len(tokens) + 1, pieces_each)
    usages = charged(*(request(*tokens[:end], marks=[end - 1]) for end in ends), prices=prices)
    for before, usage in pairwise(usages):
        prefix = before.input_tokens if before.input_tokens >= (prices.min_cached_tokens or 0) else 0
        assert usage.cached_tokens == prefix - prefix % prices.step_tokens
        assert usage.cached_tokens + usage.cache_written_tokens in (0, usage.input_tokens)


@ALL_KINDS
def test_a_prefix_lives_from_its_last_use(prices: ModelPrices) -> None:
    prompt = request(2048, marks=[0])
    life = prices.lifetime_seconds
    read = [usage.cached_tokens for usage in charged(*[prompt] * 4, prices=prices, seconds=life)]
    assert read == [0, 2048, 2048, 2048]
    assert [usage.cached_tokens for usage in charged(*[prompt] * 3, prices=prices, seconds=life + 1)] == [0, 0, 0]


@ALL_KINDS
def test_below_the_smallest_prefix_nothing_is_written_and_nothing_is_found(prices: ModelPrices) -> None:
    small = (prices.min_cached_tokens or 0) - 1
    first, second = charged(*[request(small, marks=[0])] * 2, prices=prices)
    assert counts(first) == counts(second) == (small, 0, 0)
    assert prices.dollars(first) == pytest.approx(small * prices.input / 1e6)
    below, exact = charged(request(small, marks=[0]), request(small, 1, marks=[0, 1]), prices=prices)
    assert (counts(below), counts(exact)) == ((small, 0, 0), (small + 1, 0, small + 1))


@pytest.mark.parametrize(
    ("prices", "shared", "read"),
    [(STEPS, 1023, 0), (STEPS, 1024, 1024), (STEPS, 1151, 1024), (STEPS, 1152, 1152), (SMALL_STEPS, 130, 128)],
)
def test_a_hit_is_rounded_down_to_the_step(prices: ModelPrices, shared: int, read: int) -> None:
    _, second = charged(request(shared, 500), request(shared, 500, changed=1), prices=prices)
    assert counts(second) == (shared + 500, read, shared + 500 - read)


@pytest.mark.parametrize(("apart", "read"), [(19, 2000), (20, 0)])
def test_twenty_positions_are_checked_per_mark_itself_the_first(apart: int, read: int) -> None:
    tokens = [2000, *[10] * apart]
    _, far = charged(request(2000, marks=[0]), request(*tokens, marks=[apart]), prices=MARKED)
    assert far.cached_tokens == read
    _, bridged = charged(request(2000, marks=[0]), request(*tokens, marks=[1, apart]), prices=MARKED)
    assert counts(bridged) == (sum(tokens), 2000, sum(tokens) - 2000)


def test_memory_is_bounded_and_keeps_what_prompts_have_in_common() -> None:
    cache = PromptCache()
    for number in range(20):
        pieces = [(b"shared", 1024), *((b"%d, %d" % (number, at), 10) for at in range(1000))]
        usage, cache = charge(cache, Request(pieces), now=number, prices=PLAIN)
        assert usage.cached_tokens == (1024 if number else 0)
    assert len(cache.prefixes) == 8192
    usage, _ = charge(cache, Request(pieces), now=number + 1, prices=PLAIN)
    assert usage.cached_tokens == usage.input_tokens
