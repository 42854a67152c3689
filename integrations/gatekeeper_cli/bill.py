"""What the model calls of a conversation cost in dollars, with the prompt cache of a provider.

::

    --model, --prices, --cache ──> PriceList ──tariff, by the usage of a file──> Tariff
    the requests of each way to send, in order ──charge──> dollars of each call ──Dollars.total──> sums
"""

from __future__ import annotations

from dataclasses import asdict, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.pricing.prices import PRICES, ModelPrices, prices_of_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gatekeeper_core.pricing.usage import Usage

__all__ = ["CacheState", "Dollars", "PriceList", "Tariff"]


class CacheState(str, Enum):
    """How a provider's cache serves the calls: each of them finds it, none of them does, or there is none."""

    warm = "warm"
    cold = "cold"
    none = "none"


class PriceList(NamedTuple):
    """What the options say about prices.

    Attributes:
        rows: the prices by the beginning of a model's name.
        model: the model to count at; None: the one that the usage of a file names.
        cache: how the cache serves the calls.
    """

    rows: Mapping[str, ModelPrices] = PRICES
    model: str | None = None
    cache: CacheState = CacheState.warm

    def tariff(self, usage: Iterable[Usage]) -> Tariff | None:
        """Return the tariff of a conversation, by the model of most of its calls; None where no price is known.

        Where no call names a model with a price and the user's own list has a single row, it is that row's.
        """
        named = [self.model] if self.model else [call.model for call in usage]
        priced = [name for name in named if prices_of_model(name, self.rows)]
        own = [name for name, row in self.rows.items() if row is not PRICES.get(name)]
        model = max(dict.fromkeys(priced), key=priced.count, default=own[0] if len(own) == 1 else "")
        prices = prices_of_model(model, self.rows)
        if prices is None:
            return None
        if self.cache is CacheState.none:
            prices = replace(prices, min_cached_tokens=None)
        return Tariff(model, prices, self)


class Tariff(NamedTuple):
    """The prices that a conversation is counted at.

    Attributes:
        model: the model that they are the prices of.
        prices: its prices; nothing is ever cached where the options say so.
        price_list: what they are from.
    """

    model: str
    prices: ModelPrices
    price_list: PriceList

    @property
    def cache(self) -> str:
        """How the cache serves the calls."""
        return self.price_list.cache.value

    def time_of(self, call: int) -> float:
        """Return when a call is made, in seconds: all at once, or each after the lifetime of what was cached before."""
        return 2 * call * self.prices.lifetime_seconds if self.price_list.cache is CacheState.cold else 0.0

    def dollars(self, reported: Usage) -> float:
        """Return what a reported call cost, at the prices of its own model where they are known."""
        return (prices_of_model(reported.model, self.price_list.rows) or self.prices).dollars(reported)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {"model": self.model, "cache": self.cache, "prices": asdict(self.prices)}


class Dollars(NamedTuple):
    """The dollars of one model call or of many, answers included; see ``UsePoint``.

    Attributes:
        full: with everything sent.
        window: with the newest turns that fit.
        selected: with what the gatekeeper selects.
        cached: with the strategy ``cache``.
    """

    full: float
    window: float
    selected: float
    cached: float

    @classmethod
    def total(cls, parts: Iterable[Dollars | None]) -> Dollars | None:
        """Return the sums over the parts that are known; None where none is.

        >>> Dollars.total([Dollars(1, 2, 3, 4), None, Dollars(4, 5, 6, 7)]), Dollars.total([None])
        (Dollars(full=5, window=7, selected=9, cached=11), None)
        """
        known = [part for part in parts if part]
        return cls(*map(sum, zip(*known, strict=True))) if known else None

    @property
    def share_saved(self) -> float:
        """What the selection saves of everything, as a share; negative where it costs more."""
        return round(1 - self.selected / self.full, 9) if self.full else 0.0

    @property
    def share_spared(self) -> float:
        """What the strategy ``cache`` saves of the selection, as a share; negative where it costs more."""
        return round(1 - self.cached / self.selected, 9) if self.selected else 0.0

    @property
    def pays(self) -> bool:
        """Whether the selection costs less than everything."""
        return self.share_saved > 0
