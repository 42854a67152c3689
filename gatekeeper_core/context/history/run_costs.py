"""Rent or buy in a run: its old results are compressed when carrying them has cost as much as rewriting the prompt.

Each call reads what earlier calls had in common with it from the cache, and pays the full price behind the first
change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.pricing.cache import FIRST_CUT, MOST, input_cost

if TYPE_CHECKING:
    from gatekeeper_core.pricing.prices import ModelPrices

__all__ = ["RunBill"]


class RunBill:
    """The input bill of a run, call by call, ours beside that of everything sent; the cache stays warm.

    Prompts are in tokens, with what stands before the run; money is in dollars.

    Args:
        prices: of the model.
        before_tokens: what stands before the run; the cache holds it when the run begins.
    """

    __slots__ = ("_cached", "_changed", "_prices", "_whole", "before", "everything", "paid")

    def __init__(self, prices: ModelPrices, before_tokens: int) -> None:
        self._prices = prices
        self.before = self._cached = self._whole = before_tokens
        self.paid = self.everything = self._cost(before_tokens, before_tokens)
        self._changed = False

    @property
    def smallest(self) -> int:
        """The smallest prompt that is cached; 0 where none is."""
        return self._prices.min_cached_tokens or 0

    def begin_call(self, whole: int) -> None:
        """Begin a call whose prompt would have so many tokens with everything."""
        self.everything += self._cost(whole, self._whole)
        self._whole = whole

    def pays(self, tokens: int, smaller: int, *, same: int, smaller_same: int, carried: int) -> bool:
        """Return whether a smaller prompt pays, by rent or buy.

        Args:
            tokens: the prompt of the call that has begun, as it is.
            smaller: the prompt that it could be.
            same: tokens at its beginning that are those of the call before.
            smaller_same: the same of the smaller prompt.
            carried: tokens that it would have spared the calls before.

        Source: Karlin et al. 1988, "Competitive snoopy caching": buy when the rent paid so far reaches the price.
        """
        if smaller >= tokens or (not self._changed and self._whole - smaller < FIRST_CUT * self._whole):
            return False
        price = self._cost(smaller, smaller_same) - self._cost(tokens, same)
        return price <= carried * self._prices.cache_read / 1_000_000

    def allows(self, smaller: int, *, smaller_same: int) -> bool:
        """Return whether a smaller prompt keeps the bill within the promise, now and at each later call.

        Each later call costs at most what it costs with everything: the prompt is large enough to be cached again, and
        what it saves is at least what is lost where hits are rounded to whole steps.
        """
        prices, gain = self._prices, self._whole - smaller
        rounding = abs(prices.cache_write - prices.cache_read) * (prices.step_tokens - 1)
        if self.smallest and (smaller < self.smallest or gain * prices.cache_read < rounding):
            return False
        return self.paid + self._cost(smaller, smaller_same) <= MOST * self.everything

    def end_call(self, tokens: int, *, same: int) -> None:
        """Pay for the call: so many tokens, ``same`` of which, at the beginning, are those of the call before."""
        self.paid += self._cost(tokens, same)
        self._cached = tokens
        self._changed = self._changed or tokens < self._whole

    def _cost(self, tokens: int, same: int) -> float:
        cached = min(same, self._cached)
        return input_cost(tokens, cached=cached, written_to=tokens, prices=self._prices)
