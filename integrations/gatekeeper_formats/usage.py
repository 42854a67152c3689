"""The tokens that a provider or a framework reports for one call of a model, under the names that they give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper_formats.base import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["reported_usage"]

# The names of OpenTelemetry, LangChain and pydantic-ai, of OpenAI and LiteLLM, of older pydantic-ai, of Ollama.
_INPUT = ("input_tokens", "prompt_tokens", "request_tokens", "prompt_eval_count")
_OUTPUT = ("output_tokens", "completion_tokens", "response_tokens", "eval_count")
_CACHED = ("cache_read.input_tokens", "cache_read_tokens", "cached_tokens", "cache_read")
_WRITTEN = ("cache_creation.input_tokens", "cache_write_tokens", "cache_creation")
_DETAILS = ("input_token_details", "prompt_token_details", "input_tokens_details", "prompt_tokens_details")


def reported_usage(reported: object, *, model: object = None) -> Usage | None:
    """Return the usage that an object of counts reports, or None where it reports no tokens.

    >>> reported_usage({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}})
    Usage(input_tokens=9, output_tokens=2, cached_tokens=4, cache_written_tokens=0, model='')
    """
    if not isinstance(reported, dict):
        return None
    details: Mapping[str, Any] = next((reported[key] for key in _DETAILS if isinstance(reported.get(key), dict)), {})
    read, written = _count(reported, _INPUT), _count(reported, _OUTPUT)
    if not read and not written:
        return None
    cached, cache_written = (_count(reported, names) or _count(details, names) for names in (_CACHED, _WRITTEN))
    return Usage(read, written, cached, cache_written, model if isinstance(model, str) else "")


def _count(reported: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """Return the first count above 0 among some names, else 0."""
    counts = (reported.get(name) for name in names)
    return next((count for count in counts if isinstance(count, int) and count is not True and count > 0), 0)
