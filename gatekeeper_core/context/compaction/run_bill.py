"""The bill of a run: what its calls cost to read, beside what they would have cost had everything been sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.pricing.cache import input_cost

if TYPE_CHECKING:
    from gatekeeper_core.pricing.prices import ModelPrices

__all__ = ["RunBill"]

_MOST = 1.02
"""Times the bill of everything that ours may reach. Source: the promise of the library."""

_FIRST_GAIN = 1 / 3
"""Part of the prompt that the first change must save, or it is not worth what the model loses. Source: ours."""


class RunBill:
    """The running bill of a run, call by call, while the cache stays warm.

    Each call reads from the cache what its prompt has in common with the call before. Prompts are in tokens, with what
    stands before the run; money is in dollars.

    Args:
        prices: of the model.
        before_tokens: what stands before the run; the cache holds it when the run begins.
    """

    __slots__ = ("_cached", "_changed", "_everything", "_paid", "_prices", "_whole")

    def __init__(self, prices: ModelPrices, before_tokens: int) -> None:
        self._prices = prices
        self._cached = self._whole = before_tokens
        self._paid = self._everything = self._cost(before_tokens, before_tokens)
        self._changed = False

    @property
    def smallest(self) -> int:
        """The smallest prompt that is cached; 0 where none is."""
        return self._prices.min_cached_tokens or 0

    def begin_call(self, whole: int) -> None:
        """Begin a call, whose prompt would have so many tokens with everything."""
        self._everything += self._cost(whole, self._whole)
        self._whole = whole

    def pays(self, tokens: int, smaller: int, *, same: int, smaller_same: int, carried: int) -> bool:
        """Return whether a smaller prompt pays, by rent or buy, and keeps the bill within the promise.

        Args:
            tokens: the prompt of the call that has begun, as it is.
            smaller: the prompt that it could be.
            same: tokens at its beginning that are those of the call before.
            smaller_same: the same of the smaller prompt.
            carried: tokens that it would have spared the calls before.

        Source: rent or buy, Karlin et al. 1988, "Competitive snoopy caching": buy when the rent paid so far reaches
        the price. From then on each call costs less than with everything, also where hits are rounded to whole steps.
        """
        prices, gain = self._prices, self._whole - smaller
        if smaller >= tokens or smaller < self.smallest:
            return False  # below the smallest prompt every token is read at its full price again
        if not self._changed and gain < _FIRST_GAIN * self._whole:
            return False
        rounding = abs(prices.cache_write - prices.cache_read) * (prices.step_tokens - 1)
        if self.smallest and gain * prices.cache_read < rounding:
            return False
        keep = self._cost(tokens, min(same, self._cached))
        buy = self._cost(smaller, min(smaller_same, self._cached))
        rent = carried * prices.cache_read / 1_000_000
        return buy - keep <= rent and self._paid + buy <= _MOST * self._everything

    def end_call(self, tokens: int, *, same: int) -> None:
        """Pay for the call: so many tokens, so many of which are those at the beginning of the call before."""
        self._paid += self._cost(tokens, min(same, self._cached))
        self._cached = tokens
        self._changed = self._changed or tokens < self._whole

    def _cost(self, tokens: int, cached: int) -> float:
        return input_cost(tokens, cached=cached, written_to=tokens, prices=self._prices)
