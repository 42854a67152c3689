"""Token usage as providers report it for one call of a model, under each provider's field names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

# The names of Anthropic, OpenAI's Responses, OpenTelemetry, LangChain and pydantic-ai; of OpenAI's chat and LiteLLM; of
# Gemini; of Gemini's Interactions; of older pydantic-ai; of Ollama; of Gemini CLI. The counts of one line are summed.
_INPUT = (
    ("input_tokens",),
    ("prompt_tokens",),
    ("prompt_token_count", "tool_use_prompt_token_count"),
    ("total_input_tokens",),
    ("request_tokens",),
    ("prompt_eval_count",),
    ("input", "tool"),
)
_OUTPUT = (
    ("output_tokens",),
    ("completion_tokens",),
    ("candidates_token_count", "thoughts_token_count"),
    ("total_output_tokens", "total_thought_tokens"),
    ("response_tokens",),
    ("eval_count",),
    ("output", "thoughts"),
)
_CACHED = (
    ("cache_read_input_tokens",),
    ("cached_input_tokens",),
    ("cache_read.input_tokens",),
    ("cache_read_tokens",),
    ("cached_tokens",),
    ("prompt_cache_hit_tokens",),
    ("cached_content_token_count",),
    ("total_cached_tokens",),
    ("cache_read",),
    ("cached",),
)
_WRITTEN = (
    ("cache_creation_input_tokens",),
    ("cache_write_input_tokens",),
    ("cache_creation.input_tokens",),
    ("cache_write_tokens",),
    ("cache_creation",),
    ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
)
_DETAILS = (
    "input_token_details",
    "prompt_token_details",
    "input_tokens_details",
    "prompt_tokens_details",
    "cache_creation",
)
_HOLDERS = ("usage", "usage_metadata", "token_usage")
_MODEL = ("model", "model_name", "model_version")

# Anthropic and Amazon Bedrock count what was read from a cache, or written to one, beside the input.
_BESIDE = ("cache_read_input_tokens", "cache_creation_input_tokens", "cache_write_input_tokens")

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

_Get = Callable[[str], Any]


class Usage(NamedTuple):
    """The token usage that a provider reported for one call of a model.

    Attributes:
        input_tokens: what was read, the cached part included.
        output_tokens: what was written.
        cached_tokens: the part of the input that came from a cache.
        cache_written_tokens: the part of the input that was written to a cache.
        model: the model's name, "" where it is not told.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cache_written_tokens: int = 0
    model: str = ""

    def since(self, earlier: Usage) -> Usage | None:
        """Return what running sums grew by since earlier ones, all where they began anew; None: by nothing."""
        if self.input_tokens < earlier.input_tokens or self.output_tokens < earlier.output_tokens:
            return self
        grown = Usage(
            self.input_tokens - earlier.input_tokens,
            self.output_tokens - earlier.output_tokens,
            max(0, self.cached_tokens - earlier.cached_tokens),
            max(0, self.cache_written_tokens - earlier.cache_written_tokens),
            self.model,
        )
        return grown if grown.input_tokens or grown.output_tokens else None


def read_usage(reported: object, *, model: object = None) -> Usage | None:
    """Return the usage that an object of counts reports, or None where it reports no tokens.

    Anthropic counts cached tokens beside the input; here they are part of it, as everywhere else. So are cached tokens
    that are more than the input.

    Args:
        reported: the counts, or an answer that holds them as ``usage`` or ``usage_metadata``: a mapping, or an object
            with attributes.
        model: the model's name, if known; None: what the counts or the answer say.

    >>> read_usage({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}})
    Usage(input_tokens=9, output_tokens=2, cached_tokens=4, cache_written_tokens=0, model='')
    >>> read_usage({"usage": {"input_tokens": 5, "cache_read_input_tokens": 4, "output_tokens": 2}, "model": "claude"})
    Usage(input_tokens=9, output_tokens=2, cached_tokens=4, cache_written_tokens=0, model='claude')
    """
    get = _reader(reported)
    names = (model, *map(get, _MODEL))
    name = next((each for each in names if isinstance(each, str)), "")
    for counts in (get, *(_reader(get(holder)) for holder in _HOLDERS)):
        usage = _counted(counts, name)
        if usage.input_tokens or usage.output_tokens:
            return usage
    return None


def _counted(get: _Get, model: str) -> Usage:
    places = (get, *(_reader(get(key)) for key in _DETAILS))
    read, written = _count((get,), _INPUT), _count((get,), _OUTPUT)
    cached, cache_written = _count(places, _CACHED), _count(places, _WRITTEN)
    beside = get("input_tokens") is not None and any(get(key) is not None for key in _BESIDE)
    if beside or cached + cache_written > read:
        read += cached + cache_written
    return Usage(read, written, cached, cache_written, model)


def _reader(reported: object) -> _Get:
    """Return what finds the value of a name, written in snake case, in a mapping or an object; None: it has none."""
    if isinstance(reported, Mapping):
        return {_CAPITAL.sub("_", key).lower(): value for key, value in reported.items() if isinstance(key, str)}.get
    return lambda name: getattr(reported, name, None)


def _count(places: tuple[_Get, ...], names: tuple[tuple[str, ...], ...]) -> int:
    """Return the first sum above 0."""
    for get, summed in product(places, names):
        values = map(get, summed)
        found = sum(value for value in values if isinstance(value, int) and value is not True and value > 0)
        if found:
            return found
    return 0
