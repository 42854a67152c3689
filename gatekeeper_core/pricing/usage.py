"""Token usage of a model call, read from each provider's field names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.data_files import rows

_NAMES: dict[str, list[list[str]]] = {}
for _kind, _summed in rows("usage_names.tsv"):
    _NAMES.setdefault(_kind, []).append(_summed.split())

_HOLDERS = ("usage", "usage_metadata", "token_usage")
_MODEL = ("model", "model_name", "model_version")

# Anthropic and Amazon Bedrock do not count tokens read from or written to a cache as input.
_BESIDE = ("cache_read_input_tokens", "cache_creation_input_tokens", "cache_write_input_tokens")

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

_Get = Callable[[str], Any]


@with_suggestions()
class Usage(NamedTuple):
    """The token usage that a provider reported for a model call.

    Attributes:
        input_tokens: input tokens, including cached ones.
        output_tokens: output tokens.
        cached_tokens: input tokens read from the cache.
        cache_written_tokens: input tokens written to the cache.
        model: name of the model, "" if not reported.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cache_written_tokens: int = 0
    model: str = ""

    def since(self, earlier: Usage) -> Usage | None:
        """Return the growth of running totals since earlier ones; the totals after a restart; None without growth."""
        if self.input_tokens < earlier.input_tokens or self.output_tokens < earlier.output_tokens:
            return self
        grown = (max(0, now - before) for now, before in zip(self[:4], earlier[:4], strict=True))
        read, written, cached, cache_written = grown
        return Usage(read, written, cached, cache_written, self.model) if read or written else None


def read_usage(reported: object, *, model: object = None) -> Usage | None:
    """Return the usage in an object of counts, or None if it reports no tokens.

    Cached tokens are added to the input if the provider excludes them (Anthropic), or if they exceed it.

    Args:
        reported: the counts, or an answer that holds them as ``usage``, ``usage_metadata`` or ``token_usage``: a
            mapping, or an object with attributes.
        model: the model's name, if known; None: the one in the counts or the answer.

    >>> read_usage({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}})
    Usage(input_tokens=9, output_tokens=2, cached_tokens=4, cache_written_tokens=0, model='')
    >>> read_usage({"usage": {"input_tokens": 5, "cache_read_input_tokens": 4, "output_tokens": 2}, "model": "claude"})
    Usage(input_tokens=9, output_tokens=2, cached_tokens=4, cache_written_tokens=0, model='claude')
    """
    get = _reader(reported)
    names = (model, *map(get, _MODEL))
    name = next((each for each in names if isinstance(each, str)), "")
    for counts in (get, *(_reader(get(holder)) for holder in _HOLDERS)):
        parts = (counts, *(_reader(counts(key)) for (key,) in _NAMES["details"]))
        read, written = _count((counts,), "input"), _count((counts,), "output")
        cached, cache_written = _count(parts, "cached"), _count(parts, "cache written")
        is_beside = counts("input_tokens") is not None and any(counts(key) is not None for key in _BESIDE)
        if is_beside or cached + cache_written > read:
            read += cached + cache_written
        if read or written:
            return Usage(read, written, cached, cache_written, name)
    return None


def _reader(reported: object) -> _Get:
    """Return a getter by snake-case name for a mapping or an object; it returns None for a missing name."""
    if isinstance(reported, Mapping):
        return {_CAPITAL.sub("_", key).lower(): value for key, value in reported.items() if isinstance(key, str)}.get
    return lambda name: getattr(reported, name, None)


def _count(places: Sequence[_Get], kind: str) -> int:
    for get, summed in product(places, _NAMES[kind]):
        values = map(get, summed)
        count = sum(value for value in values if isinstance(value, int) and value is not True and value > 0)
        if count:
            return count
    return 0
