"""The marks of Anthropic's prompt cache in content blocks: ``"cache_control": {"type": "ephemeral"}``.

A prompt is cached up to a mark. A block may carry one unless it is thinking, a call, or text without letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gatekeeper_core.native.items import blocks_in, kind_of

EPHEMERAL: Mapping[str, str] = {"type": "ephemeral"}

MARKS_AT_MOST = 4
"""Marks that one request may have, those on system message and tools included. Source: Anthropic, "Prompt caching"."""

_CARRIERS = frozenset({"compaction", "document", "image", "search_result", "text", "tool_result"})
# Calls may carry a mark as well, but LangChain rewrites them without it.


def marks_in(content: object) -> Iterator[Any]:
    """Yield the marks in some content, those inside of results included."""
    for block in content if isinstance(content, (list, tuple)) else ():
        if isinstance(block, Mapping):
            if block.get("cache_control"):
                yield block["cache_control"]
            yield from marks_in(block.get("content"))


def mark_before(contents: Iterable[object]) -> dict[str, Any]:
    """Return a mark for the prompt before some contents, like their first: longer caching comes first.

    >>> mark_before(["Port?", [{"type": "text", "text": "6380", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]])
    {'type': 'ephemeral', 'ttl': '1h'}
    """
    return dict(next((mark for content in contents for mark in marks_in(content)), EPHEMERAL))


def marked_contents(
    contents: Sequence[object], places: Iterable[int], *, room: int, behind: Sequence[object] = ()
) -> dict[int, list[Any]]:
    """Return the contents that get a mark, by place; nothing that is given is changed.

    A mark goes on the last block up to its place that may carry one: in the message there, else in one before it. A
    mark that is there already stays.

    Args:
        contents: of the messages that are sent, in order: texts or lists of blocks; None takes no mark.
        places: of the messages behind which a mark is wanted, the most important first.
        room: how many marks may be added.
        behind: contents that follow, and get none.

    >>> marked_contents(["Port 6380.", "Noted."], [1], room=1)
    {1: [{'type': 'text', 'text': 'Noted.', 'cache_control': {'type': 'ephemeral'}}]}
    """
    changed: dict[int, list[Any]] = {}
    for place in places:
        carriers = (
            (at, number)
            for at in range(place, -1, -1)
            for number, block in reversed([*enumerate(changed.get(at) or blocks_in(contents[at]))])
            if kind_of(block) in _CARRIERS and block.get("text", "x").strip()
        )
        at, number = next(carriers, (-1, -1))
        if at < 0 or len(changed) >= room:
            continue
        blocks = changed.get(at) or blocks_in(contents[at])
        if "cache_control" not in blocks[number]:
            blocks[number] = {**blocks[number], "cache_control": mark_before((*contents[at + 1 :], *behind))}
            changed[at] = blocks
    return changed
