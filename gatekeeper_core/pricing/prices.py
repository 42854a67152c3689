"""Token prices of well-known models, and how their providers cache prompts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.data_files import rows
from gatekeeper_core.errors import ConfigError, check_range, check_type
from gatekeeper_core.pricing.model_names import row_of_model

if TYPE_CHECKING:
    from os import PathLike

    from gatekeeper_core.pricing.usage import Usage


@with_suggestions()
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrices:
    """Token prices of a model, in dollars per million, and how prompts are cached.

    Attributes:
        input: price of an input token, >= 0.
        output: price of an output token, >= 0.
        cache_read: price of an input token read from the cache, >= 0.
        cache_write: price of an input token written to the cache, >= 0; equals ``input`` if writing is free.
        min_cached_tokens: smallest prefix that is cached, >= 1; None if nothing is cached.
        step_tokens: cache hits are multiples of this many tokens, >= 1.
        lifetime_seconds: how long a prefix stays cached after its last use, >= 0.
        marked: whether only prefixes marked in the request (``cache_control``) are cached.
        source: where the prices come from.
        as_of: date of the prices, such as ``2026-11-22``.

    Raises:
        ConfigError: a number is out of range.
        TypeError: a value has the wrong type.

    >>> from gatekeeper_core.pricing.usage import Usage
    >>> ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75).dollars(Usage(2000, 100, cached_tokens=1500))
    0.00345
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    min_cached_tokens: int | None = 1024
    step_tokens: int = 1
    lifetime_seconds: float = 300.0
    marked: bool = False
    source: str = ""
    as_of: str = ""

    def __post_init__(self) -> None:
        check_range(self, "input", "output", "cache_read", "cache_write", "lifetime_seconds", low=0)
        check_range(self, "step_tokens", low=1, integer=True)
        if self.min_cached_tokens is not None:
            check_range(self, "min_cached_tokens", low=1, integer=True)
        for name, kind in (("marked", bool), ("source", str), ("as_of", str)):
            check_type(f"ModelPrices.{name}", getattr(self, name), kind)

    def dollars(self, usage: Usage) -> float:
        """Return the cost of a call."""
        fresh = usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens
        parts = (
            fresh * self.input,
            usage.cached_tokens * self.cache_read,
            usage.cache_written_tokens * self.cache_write,
            usage.output_tokens * self.output,
        )
        return math.fsum(parts) / 1_000_000


UNKNOWN = ModelPrices(input=1.0, output=5.0, cache_read=0.02, cache_write=1.25, lifetime_seconds=3600.0)
"""Prices for a model without a row, with an input token as the unit. Of all rows it has the smallest ratio of
``cache_read`` to ``input``, the largest of ``cache_write``, and the longest lifetime: sending everything is cheap and a
change of the prompt expensive. The smallest prefix is the usual one."""

_FIGURES = [field.name for field in fields(ModelPrices)][:8]

PRICES: Mapping[str, ModelPrices] = {
    name: ModelPrices(
        **dict(zip(_FIGURES, json.loads(f"[{','.join(figures)}]"), strict=True)), as_of=as_of, source=source
    )
    for name, *figures, as_of, source in rows("prices.tsv")
}
"""Prices by the beginning of a model's name, in lower case, for prompts of the first tier, without discounts."""


@with_suggestions()
def prices_of_model(name: str, prices: Mapping[str, ModelPrices] = PRICES) -> ModelPrices | None:
    """Return the prices of the longest key that a model's name, after any provider, starts with; None if unknown.

    >>> prices_of_model("us.anthropic.claude-sonnet-4-5").cache_read, prices_of_model("my-own-model")
    (0.3, None)
    """
    return row_of_model(name, prices)


def read_prices(source: str | PathLike[str] | Mapping[str, Any]) -> Mapping[str, ModelPrices]:
    """Return your own price list merged over the built-in one, for :func:`prices_of_model`.

    Your row applies to every model whose name starts with its key, and replaces the built-in rows of those models.

    Args:
        source: a JSON file or its content: by the beginning of a model's name, an object with the attributes of
            :class:`ModelPrices`. ``input`` and ``output`` are required; without ``cache_read`` nothing is cached,
            without ``cache_write`` writing to the cache costs nothing extra.

    Raises:
        ConfigError: the file cannot be read, or a row is invalid; the message names it.

    >>> mine = read_prices({"my-model": {"input": 2, "output": 8, "cache_read": 0.5}})
    >>> prices_of_model("my-model-large", mine).cache_write, prices_of_model("gpt-4o", mine).input
    (2, 2.5)
    """
    where = "prices"
    if not isinstance(source, Mapping):
        where = f"prices in {source}"
        try:
            with open(source, encoding="utf-8") as file:
                source = json.load(file)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{where}: cannot be read as JSON ({error}): use a UTF-8 JSON file") from error
    if not isinstance(source, Mapping):
        raise ConfigError(f"{where} must be an object with one row per model, got {type(source).__name__}")
    own = {name: _own_row(f"{where}: {name!r}", name, row) for name, row in source.items()}
    ours = {name: row for name, row in PRICES.items() if row_of_model(name, own) is None}
    return {**ours, **own}


def _own_row(where: str, name: object, row: object) -> ModelPrices:
    names = [field.name for field in fields(ModelPrices)]
    example = '{"input": 3.0, "output": 15.0, "cache_read": 0.3}, in dollars per million tokens'
    if not isinstance(name, str) or not name or not isinstance(row, Mapping | ModelPrices):
        raise ConfigError(f"{where} must be the beginning of a model's name with a row such as {example}")
    if isinstance(row, ModelPrices):
        return row
    if unknown := [str(key) for key in row if key not in names]:
        raise ConfigError(f"{where}: unknown {', '.join(unknown)}; use {', '.join(names)}")
    if missing := [key for key in ("input", "output") if key not in row]:
        raise ConfigError(f"{where} lacks {' and '.join(missing)}: use a row such as {example}")
    values = {"cache_read": row["input"], "cache_write": row["input"], **row}
    if "cache_read" not in row:
        values["min_cached_tokens"] = None
    try:
        return ModelPrices(**values)
    except (TypeError, ConfigError) as error:
        raise ConfigError(f"{where}: {error}") from error
