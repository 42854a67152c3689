"""What a provider reports for one call of a model, in tokens, under the names that it gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["Usage", "read_usage"]

# The names of OpenTelemetry, LangChain and pydantic-ai, of OpenAI and LiteLLM, of older pydantic-ai, of Ollama.
_INPUT = ("input_tokens", "prompt_tokens", "request_tokens", "prompt_eval_count")
_OUTPUT = ("output_tokens", "completion_tokens", "response_tokens", "eval_count")
_CACHED = ("cache_read.input_tokens", "cache_read_tokens", "cached_tokens", "cache_read")
_WRITTEN = ("cache_creation.input_tokens", "cache_write_tokens", "cache_creation")
_DETAILS = ("input_token_details", "prompt_token_details", "input_tokens_details", "prompt_tokens_details")


class Usage(NamedTuple):
    """What a provider reported for one call of a model, in tokens.

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


def read_usage(reported: object, *, model: object = None) -> Usage | None:
    """Return the usage that an object of counts reports, or None where it reports no tokens.

    >>> read_usage({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}})
    Usage(input_tokens=9, output_tokens=2, cached_tokens=4, cache_written_tokens=0, model='')
    """
    if not isinstance(reported, Mapping):
        return None
    details: Mapping[str, Any] = next((reported[key] for key in _DETAILS if isinstance(reported.get(key), Mapping)), {})
    read, written = _count(reported, _INPUT), _count(reported, _OUTPUT)
    if not read and not written:
        return None
    cached, cache_written = (_count(reported, names) or _count(details, names) for names in (_CACHED, _WRITTEN))
    return Usage(read, written, cached, cache_written, model if isinstance(model, str) else "")


def _count(reported: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """Return the first count above 0 among some names, else 0."""
    counts = (reported.get(name) for name in names)
    return next((count for count in counts if isinstance(count, int) and count is not True and count > 0), 0)
