"""The marks of Anthropic's prompt cache in content blocks: ``"cache_control": {"type": "ephemeral"}``.

A prompt is cached up to a mark. Any block can have one except thinking, calls and blank text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gatekeeper_core.native.items import blocks_in, kind_of

EPHEMERAL: Mapping[str, str] = {"type": "ephemeral"}

MARKS_AT_MOST = 4
"""Most marks in a request, including those on system message and tools. Source: Anthropic, "Prompt caching"."""

_CARRIERS = frozenset({"compaction", "document", "image", "search_result", "text", "tool_result"})
# Calls may carry a mark as well, but LangChain rewrites them without it.


def marks_in(content: object) -> Iterator[Any]:
    """Yield the marks in some content, including those inside results."""
    for block in content if isinstance(content, (list, tuple)) else ():
        if isinstance(block, Mapping):
            if block.get("cache_control"):
                yield block["cache_control"]
            yield from marks_in(block.get("content"))


def mark_before(contents: Iterable[object]) -> dict[str, Any]:
    """Return a mark for the prompt before some contents, equal to their first: longer caching must come first.

    >>> mark_before(["Port?", [{"type": "text", "text": "6380", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]])
    {'type': 'ephemeral', 'ttl': '1h'}
    """
    return dict(next((mark for content in contents for mark in marks_in(content)), EPHEMERAL))


def marked_contents(
    contents: Sequence[object], places: Iterable[int], *, room: int, behind: Sequence[object] = ()
) -> dict[int, list[Any]]:
    """Return the contents that get a mark, by place; the input is not changed.

    A mark goes on the last block that can have one, in that message or an earlier one. An existing mark stays.

    Args:
        contents: of the messages to send, in order: texts or lists of blocks; None takes no mark.
        places: of the messages to end with a mark, the most important first.
        room: number of marks that may be added.
        behind: contents that follow, and get no mark.

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
