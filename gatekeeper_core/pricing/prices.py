"""What the tokens of well-known models cost, and how their providers cache prompts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.pricing.model_names import row_of_model

if TYPE_CHECKING:
    from os import PathLike

    from gatekeeper_core.pricing.usage import Usage

__all__ = ["PRICES", "UNKNOWN", "ModelPrices", "prices_of_model", "read_prices"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrices:
    """What tokens of a model cost, in dollars per million, and how prompts are cached.

    Attributes:
        input: a token that is read, >= 0.
        output: a token that is written, >= 0.
        cache_read: a token that is read from a cache, >= 0.
        cache_write: a token that is read and written to a cache, >= 0; as ``input`` where that costs nothing.
        min_cached_tokens: the smallest prefix that is cached, >= 1; None: nothing ever is.
        step_tokens: a hit is a whole number of so many tokens, >= 1.
        lifetime_seconds: how long a prefix lives after it was used last, >= 0.
        marked: whether only prefixes are cached whose end the request marks (``cache_control``).
        source: where the row was read.
        as_of: when, as ``2026-11-22``.

    Raises:
        ConfigError: a number lies outside of its range.
        TypeError: a value of another type.

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
        check_range(self, "step_tokens", low=1, whole=True)
        if self.min_cached_tokens is not None:
            check_range(self, "min_cached_tokens", low=1, whole=True)
        for name, kind in (("marked", bool), ("source", str), ("as_of", str)):
            if not isinstance(value := getattr(self, name), kind):
                raise TypeError(f"ModelPrices.{name} must be a {kind.__name__}, got {type(value).__name__}")

    def dollars(self, usage: Usage) -> float:
        """Return what a call costs."""
        fresh = usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens
        parts = (
            fresh * self.input,
            usage.cached_tokens * self.cache_read,
            usage.cache_written_tokens * self.cache_write,
            usage.output_tokens * self.output,
        )
        return math.fsum(parts) / 1_000_000


UNKNOWN = ModelPrices(input=1.0, output=5.0, cache_read=0.02, cache_write=1.25, lifetime_seconds=3600.0)
"""Stands for a model without a row, where an input token is the unit.

Of all rows it has the smallest ratio of ``cache_read`` to ``input``, the largest of ``cache_write``, and the longest
lifetime: these make sending everything cheap and a change of the prompt dear. The smallest prefix is the usual one.
"""

_AS_OF = "2026-11-22"
_LIST = "litellm 1.109.1, model_prices_and_context_window_backup.json"
_SECOND_LIST = "genai-prices 0.2.3"  # for models that the first one lacks

# A row: dollars per million tokens of input, output and cache_read (None: nothing is cached), and what differs from the
# other rows of its provider.
_Row = tuple[float, float, float | None] | tuple[float, float, float | None, Mapping[str, Any]]


def _rows(rows: Mapping[str, _Row], *, write_ratio: float = 1.0, **common: Any) -> dict[str, ModelPrices]:
    """Return the prices of one provider's models."""
    made = {}
    for name, (paid_in, paid_out, read, *own) in rows.items():
        values: dict[str, Any] = {"cache_write": round(paid_in * write_ratio, 6), "as_of": _AS_OF, "source": _LIST}
        values |= {**common, **(own[0] if own else {})}
        if read is None:
            values |= {"cache_write": paid_in, "min_cached_tokens": None}
        made[name] = ModelPrices(input=paid_in, output=paid_out, cache_read=paid_in if read is None else read, **values)
    return made


# "Prompt caching" of Anthropic's documentation: the smallest prefixes, and five minutes. Of one hour (``"ttl": "1h"``)
# the cache_write is twice the input, the lifetime_seconds are 3,600.
_ANTHROPIC: Mapping[str, _Row] = {
    "claude-3-haiku": (0.25, 1.25, 0.03, {"cache_write": 0.3, "min_cached_tokens": 2048, "source": _SECOND_LIST}),
    "claude-3-opus": (15.0, 75.0, 1.5, {"source": _SECOND_LIST}),
    "claude-3-5-haiku": (0.8, 4.0, 0.08, {"min_cached_tokens": 2048, "source": _SECOND_LIST}),
    "claude-3-5-sonnet": (3.0, 15.0, 0.3, {"source": _SECOND_LIST}),
    "claude-3-7-sonnet": (3.0, 15.0, 0.3, {"source": _SECOND_LIST}),
    "claude-opus-4": (15.0, 75.0, 1.5, {"source": _SECOND_LIST}),
    "claude-opus-4-5": (5.0, 25.0, 0.5, {"min_cached_tokens": 4096}),
    "claude-opus-4-6": (5.0, 25.0, 0.5, {"min_cached_tokens": 4096}),
    "claude-opus-4-7": (5.0, 25.0, 0.5, {"min_cached_tokens": 2048}),
    "claude-opus-4-8": (5.0, 25.0, 0.5),
    "claude-opus-5": (5.0, 25.0, 0.5, {"min_cached_tokens": 512}),
    "claude-opus-5-5": (4.0, 20.0, 0.2, {"min_cached_tokens": 512}),
    "claude-sonnet-4": (3.0, 15.0, 0.3),
    "claude-sonnet-5": (2.0, 10.0, 0.2),
    "claude-sonnet-5-5": (2.0, 10.0, 0.1, {"min_cached_tokens": 512}),
    "claude-haiku-4": (1.0, 5.0, 0.1, {"min_cached_tokens": 4096}),
    "claude-haiku-5": (0.1, 0.5, 0.01, {"min_cached_tokens": 512}),
    "claude-fable-5": (10.0, 50.0, 1.0, {"min_cached_tokens": 512}),
    "claude-fable-5-1": (10.0, 50.0, 0.25, {"min_cached_tokens": 512}),
    "claude-mythos-5": (10.0, 50.0, 1.0, {"min_cached_tokens": 512}),
    "claude-mythos-5-1": (10.0, 50.0, 0.25, {"min_cached_tokens": 512}),
}
# "Prompt caching" of OpenAI's documentation: 1,024 tokens, then steps of 128; 5 to 10 minutes without use.
_OPENAI: Mapping[str, _Row] = {
    "gpt-3.5-turbo": (0.5, 1.5, None),
    "gpt-35-turbo": (0.5, 1.5, None),
    "gpt-4": (30.0, 60.0, None),
    "gpt-4-0125": (10.0, 30.0, None),
    "gpt-4-1106": (10.0, 30.0, None),
    "gpt-4-turbo": (10.0, 30.0, None),
    "gpt-4.1": (2.0, 8.0, 0.5),
    "gpt-4.1-mini": (0.4, 1.6, 0.1),
    "gpt-4.1-nano": (0.1, 0.4, 0.025),
    "gpt-4o": (2.5, 10.0, 1.25),
    "gpt-4o-2024-05-13": (5.0, 15.0, None),
    "gpt-4o-mini": (0.15, 0.6, 0.075),
    "gpt-5": (1.25, 10.0, 0.125),
    "gpt-5-mini": (0.25, 2.0, 0.025),
    "gpt-5-nano": (0.05, 0.4, 0.005),
    "gpt-5-pro": (15.0, 120.0, None),
    "gpt-5.1-codex-mini": (0.25, 2.0, 0.025),
    "gpt-5.2": (1.75, 14.0, 0.175),
    "gpt-5.2-pro": (21.0, 168.0, None),
    "gpt-5.3": (1.75, 14.0, 0.175),
    "gpt-5.4": (2.5, 15.0, 0.25),
    "gpt-5.4-mini": (0.75, 4.5, 0.075),
    "gpt-5.4-nano": (0.2, 1.25, 0.02),
    "gpt-5.4-pro": (30.0, 180.0, None),
    "gpt-5.5": (5.0, 30.0, 0.5),
    "gpt-5.5-pro": (30.0, 180.0, None),
    "o1": (15.0, 60.0, 7.5),
    "o1-pro": (150.0, 600.0, None),
    "o3": (2.0, 8.0, 0.5),
    "o3-mini": (1.1, 4.4, 0.55),
    "o3-pro": (20.0, 80.0, None),
    "o4-mini": (1.1, 4.4, 0.275),
}
# The same page: from GPT-5.6 on a write costs 1.25 times the input, and a prefix lives 30 minutes.
_OPENAI_WITH_FEE: Mapping[str, _Row] = {
    "gpt-5.6": (4.0, 20.0, 0.4),
    "gpt-5.6-luna": (0.2, 1.2, 0.02),
    "gpt-5.6-terra": (2.0, 12.0, 0.2),
    "gpt-6-astra": (10.0, 50.0, 1.0),
    "gpt-6-luna": (0.1, 0.5, 0.01),
    "gpt-6-sol": (2.0, 10.0, 0.2),
    "gpt-6.1-sol": (2.0, 10.0, 0.1),
    "gpt-6.1-terra": (1.0, 5.0, 0.05),
}
# "Context caching" of the Gemini API: implicit from 2.5 on, 2,048 or 4,096 tokens; no lifetime is promised.
_GEMINI: Mapping[str, _Row] = {
    "gemini-2.0-flash": (0.1, 0.4, None, {"source": _SECOND_LIST}),
    "gemini-2.0-flash-lite": (0.075, 0.3, None, {"source": _SECOND_LIST}),
    "gemini-2.5-flash": (0.3, 2.5, 0.03, {"min_cached_tokens": 2048}),
    "gemini-2.5-flash-lite": (0.1, 0.4, 0.01, {"min_cached_tokens": 2048}),
    "gemini-2.5-pro": (1.25, 10.0, 0.125, {"min_cached_tokens": 2048}),
    "gemini-3-flash": (0.5, 3.0, 0.05),
    "gemini-3-pro": (2.0, 12.0, 0.2, {"source": _SECOND_LIST}),
    "gemini-3.1-flash-lite": (0.25, 1.5, 0.025),
    "gemini-3.1-pro": (2.0, 12.0, 0.2),
    "gemini-3.5-flash": (1.5, 9.0, 0.15),
    "gemini-3.5-flash-lite": (0.3, 2.5, 0.03),
    "gemini-3.6-flash": (0.75, 3.75, 0.075),
    "gemini-3.7-flash": (0.75, 3.75, 0.075),
    "gemini-3.8-flash": (0.75, 3.75, 0.075),
    "gemini-4-argon": (2.0, 10.0, 0.1),
}
# "Context caching" of DeepSeek: units of 64 tokens, kept for hours to days; one hour is the least that is sure.
_DEEPSEEK: Mapping[str, _Row] = {
    "deepseek-chat": (0.28, 0.42, 0.028),
    "deepseek-flash": (0.3, 1.2, 0.006),
    "deepseek-r1": (0.55, 2.19, 0.14),
    "deepseek-reasoner": (0.28, 0.42, 0.028),
    "deepseek-v3": (0.27, 1.1, 0.07),
    "deepseek-v3.2": (0.28, 0.4, 0.028),
    "deepseek-v4-flash": (0.3, 1.2, 0.006),
    "deepseek-v4-pro": (1.32, 3.96, 0.044),
}
# "Prompt caching" of MiniMax: automatic from 512 tokens on, without a fee.
_MINIMAX: Mapping[str, _Row] = {
    "minimax-m2": (0.3, 1.2, 0.03),
    "minimax-m2.1-lightning": (0.3, 2.4, 0.03),
    "minimax-m2.5-lightning": (0.3, 2.4, 0.03),
    "minimax-m2.7": (0.3, 1.2, 0.06, {"source": _SECOND_LIST}),
    "minimax-m2.7-highspeed": (0.6, 2.4, 0.06, {"source": _SECOND_LIST}),
    "minimax-m3": (0.3, 1.2, 0.06),
    "minimax-m3.1-flash": (0.15, 0.6, 0.015, {"source": _SECOND_LIST}),
}
# "Context cache" of Alibaba's Model Studio: implicit from 1,024 tokens on, a hit at 20 % of the input.
_QWEN: Mapping[str, _Row] = {
    "qwen-flash": (0.05, 0.4, 0.01),
    "qwen-max": (1.6, 6.4, 0.32),
    "qwen-plus": (0.4, 1.2, 0.08),
    "qwen-turbo": (0.05, 0.2, 0.01),
    "qwen3-coder-plus": (1.0, 5.0, 0.1),
    "qwen3-max": (1.2, 6.0, 0.24),
    "qwen3.7-max": (2.5, 7.5, 0.5),
    "qwen3.8-flash": (0.15, 0.47, 0.016),
    "qwen3.8-max": (2.0, 6.0, 0.25),
}
# These publish prices of cached tokens, and neither a smallest prefix nor a lifetime: the usual ones are taken.
_OTHERS: Mapping[str, _Row] = {
    "codestral": (0.3, 0.9, 0.03),
    "devstral": (0.4, 2.0, 0.04),
    "devstral-small": (0.1, 0.3, 0.01),
    "magistral-medium": (1.5, 7.5, 0.15),
    "magistral-small": (0.15, 0.6, 0.015),
    "ministral-3b": (0.1, 0.1, 0.01),
    "ministral-8b": (0.15, 0.15, 0.015),
    "ministral-14b": (0.2, 0.2, 0.02),
    "mistral-large": (0.5, 1.5, 0.05),
    "mistral-large-4": (1.36, 4.18, 0.14),
    "mistral-medium": (1.5, 7.5, 0.15),
    "mistral-small": (0.15, 0.6, 0.015),
    "grok-3": (3.0, 15.0, 0.75, {"source": _SECOND_LIST}),
    "grok-3-mini": (0.3, 0.5, 0.075, {"source": _SECOND_LIST}),
    "grok-4": (3.0, 15.0, 0.75, {"source": _SECOND_LIST}),
    "grok-4-fast": (0.2, 0.5, 0.05, {"source": _SECOND_LIST}),
    "grok-4.1-fast": (0.2, 0.5, 0.05, {"source": _SECOND_LIST}),
    "grok-4.20": (1.25, 2.5, 0.2),
    "grok-4.3": (1.25, 2.5, 0.2),
    "grok-4.5": (2.0, 6.0, 0.3),
    "grok-4.6": (2.0, 6.0, 0.5),
    "grok-4.7": (2.0, 6.0, 0.5),
    "grok-code-fast": (1.0, 2.0, 0.2),
    "kimi-k2": (0.6, 2.5, 0.15, {"source": _SECOND_LIST}),
    "kimi-k2.5": (0.6, 3.0, 0.1),
    "kimi-k2.6": (0.95, 4.0, 0.16),
    "kimi-k2.7-code": (0.95, 4.0, 0.19),
    "kimi-k3": (3.0, 15.0, 0.3),
    "kimi-k3.1-pro": (2.0, 10.0, 0.2),
    "moonshot-v1-8k": (0.2, 2.0, None),
    "moonshot-v1-32k": (1.0, 3.0, None),
    "moonshot-v1-128k": (2.0, 5.0, None),
    "glm-4.5": (0.6, 2.2, None),
    "glm-4.5-air": (0.2, 1.1, None),
    "glm-4.6": (0.6, 2.2, 0.11),
    "glm-4.7": (0.6, 2.2, 0.11),
    "glm-5": (1.0, 3.2, 0.2),
    "glm-5.1": (1.4, 4.4, 0.26),
    "glm-5.2": (1.4, 4.4, 0.26),
    "glm-5.3": (1.4, 4.4, 0.26),
    "glm-5.3-flash": (0.15, 0.5, 0.03),
}

PRICES: Mapping[str, ModelPrices] = {
    **_rows(_ANTHROPIC, write_ratio=1.25, marked=True),
    **_rows(_OPENAI, step_tokens=128),
    **_rows(_OPENAI_WITH_FEE, write_ratio=1.25, step_tokens=128, lifetime_seconds=1800.0),
    **_rows(_GEMINI, min_cached_tokens=4096),
    **_rows(_DEEPSEEK, min_cached_tokens=64, step_tokens=64, lifetime_seconds=3600.0),
    **_rows(_MINIMAX, min_cached_tokens=512),
    **_rows(_QWEN, source=f"{_LIST}; Alibaba Model Studio, Context cache"),
    **_rows(_OTHERS),
}
"""Prices by the beginning of a model's name, in lower case: of a prompt within the first tier, without discounts."""


def prices_of_model(name: str, prices: Mapping[str, ModelPrices] = PRICES) -> ModelPrices | None:
    """Return the prices of a model, by the longest row that its name begins with; None: unknown.

    A provider before the name (``openai/``, ``us.anthropic.``, ``models/``) is left out.

    >>> prices_of_model("us.anthropic.claude-sonnet-4-5").cache_read, prices_of_model("my-own-model")
    (0.3, None)
    """
    return row_of_model(name, prices)


def read_prices(source: str | PathLike[str] | Mapping[str, Any]) -> Mapping[str, ModelPrices]:
    """Return a price list of one's own over ours, for :func:`prices_of_model`.

    A row of one's own holds for every model whose name begins with its key; our rows for those models go.

    Args:
        source: a JSON file, or its content: for the beginning of each model's name an object with the attributes of
            :class:`ModelPrices`. ``input`` and ``output`` are needed; without ``cache_read`` nothing is cached, without
            ``cache_write`` writing to the cache costs nothing.

    Raises:
        ConfigError: a file that cannot be read, or a row that is no row; the message names it.

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
            raise ConfigError(f"{where}: cannot be read as JSON ({error}): give a file of JSON in UTF-8") from error
    if not isinstance(source, Mapping):
        raise ConfigError(f"{where} must be an object with a row for each model, got a {type(source).__name__}")
    own = {name: _own_row(f"{where}: {name!r}", name, row) for name, row in source.items()}
    ours = {name: row for name, row in PRICES.items() if row_of_model(name, own) is None}
    return {**ours, **own}


def _own_row(where: str, name: object, row: object) -> ModelPrices:
    known = [field.name for field in fields(ModelPrices)]
    example = '{"input": 3.0, "output": 15.0, "cache_read": 0.3}, in dollars per million tokens'
    if not isinstance(name, str) or not name or not isinstance(row, Mapping | ModelPrices):
        raise ConfigError(f"{where} must be the beginning of a model's name with a row such as {example}")
    if isinstance(row, ModelPrices):
        return row
    if unknown := [str(key) for key in row if key not in known]:
        raise ConfigError(f"{where}: no {', '.join(unknown)} is known; use {', '.join(known)}")
    if missing := [key for key in ("input", "output") if key not in row]:
        raise ConfigError(f"{where} lacks {' and '.join(missing)}: give a row such as {example}")
    values = {"cache_read": row["input"], "cache_write": row["input"], **row}
    if "cache_read" not in row:
        values["min_cached_tokens"] = None
    try:
        return ModelPrices(**values)
    except (TypeError, ConfigError) as error:
        raise ConfigError(f"{where}: {error}") from error
