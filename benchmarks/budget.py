"""Token counters to measure with, and how a ranking spends a budget."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from gatekeeper_core.tokens import estimate_text_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.data import Block


def counter(name: str) -> Callable[[str], int]:
    """Return the token counter to measure with: the library's estimate, or tiktoken's cl100k.

    tiktoken would fetch its table; ``TIKTOKEN_CACHE_DIR`` must name a folder that holds it (llama-index-core ships one
    in ``llama_index/core/_static/tiktoken_cache``).
    """
    if name == "estimate":
        return cache(estimate_text_tokens)
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        raise SystemExit(
            "--counter cl100k needs TIKTOKEN_CACHE_DIR, a folder with tiktoken's tables: nothing is downloaded"
        )
    import tiktoken

    encoding = tiktoken.get_encoding("cl100k_base")
    return cache(lambda text: len(encoding.encode(text, disallowed_special=())))


def block_costs(blocks: Iterable[Block], count: Callable[[str], int]) -> list[int]:
    """Return what each block costs, as the gatekeeper counts it: both texts, at least 1."""
    return [max(1, count(block.user) + count(block.assistant)) for block in blocks]


def take_in_order(order: Iterable[int], costs: Sequence[int], budget: int) -> tuple[list[int], int]:
    """Return which blocks fit when taken in order, and what they cost; what does not fit is passed over."""
    taken, spent = [], 0
    for at in order:
        if spent + costs[at] <= budget:
            taken.append(at)
            spent += costs[at]
    return taken, spent
