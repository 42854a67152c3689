"""The usage in a provider's response, read from a copy of the bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx

from gatekeeper_core.pricing.usage import Usage, read_usage

_MAX_BYTES = 4_000_000
"""Longest response whose usage is read. Source: ours; 100,000 tokens as events take about 20 bytes each."""

_INSIDE = ("response", "message")
"""Where events nest their usage: those of Responses in ``response``, Anthropic's first one in ``message``."""


class UsageReader:
    """A reader of one response."""

    def __init__(self, headers: httpx.Headers) -> None:
        self._headers = {name: headers[name] for name in ("content-type", "content-encoding") if name in headers}
        self._chunks: list[bytes] = []
        self._free = _MAX_BYTES

    def add(self, chunk: bytes) -> None:
        """Add a piece of the response; a response that is too long is dropped."""
        self._free -= len(chunk)
        if self._free >= 0:
            self._chunks.append(chunk)
        else:
            self._chunks.clear()

    def usage(self, model: str) -> Usage | None:
        """Return the usage, or None if the response has none that can be read."""
        try:
            text = httpx.Response(200, headers=self._headers, content=b"".join(self._chunks)).content.decode()
            is_stream = self._headers.get("content-type", "").startswith("text/event-stream")
            counts: dict[str, Any] = {}
            events = (line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:"))
            for value in map(json.loads, (each for each in events if '"usage"' in each) if is_stream else [text]):
                for part in (value, *(value.get(name) for name in _INSIDE)):
                    reported = part.get("usage") if isinstance(part, Mapping) else None
                    if isinstance(reported, Mapping):  # Anthropic reports the input first, the output last
                        counts |= {name: count for name, count in reported.items() if count is not None}
        except (ValueError, AttributeError, RecursionError, httpx.DecodingError):
            return None
        return read_usage(counts, model=model)
