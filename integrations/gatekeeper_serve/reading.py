"""Incremental reading of growing lists: a known beginning is not read again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from gatekeeper_core.caching import LruCache
from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.native.items import Format
from gatekeeper_core.native.reading import NativeMessages, read_native


class GrowingLists:
    """The parsed lists of the latest conversations, which growing lists reuse; thread-safe. Items must not change."""

    def __init__(self, max_lists: int) -> None:
        self._lists: LruCache[Hashable, NativeMessages] = LruCache(max_entries=max_lists)

    def read(self, items: Sequence[Any], format_: Format, tenant: str) -> NativeMessages:
        """Return a tenant's list, parsed; ``format_`` applies if the items do not show their format.

        Raises:
            MessageFormatError: see ``read_messages``.
        """
        opening = next((item for item in items if isinstance(item, Mapping) and item.get("role") == "user"), None)
        key = (tenant, format_.name, hash(str(opening)))
        native = _continued(self._lists.get(key), items) or read_native(items, format_)
        self._lists.put(key, native)
        return native


def _continued(before: NativeMessages | None, items: Sequence[Any]) -> NativeMessages | None:
    """Return a list that extends another; None if it does not, or if its format does not read item by item."""
    if before is None or type(before.format).read is not Format.read:
        return None
    count = len(before.items)
    if tuple(items[:count]) != before.items:
        return None
    try:
        rest = read_native(items[count:], before.format)
    except MessageFormatError:
        return None  # the error of the whole list has the right position
    if rest.format is not before.format:
        return None
    spans = tuple((start + count, stop + count) for start, stop in rest.spans)
    return NativeMessages(before.format, tuple(items), before.messages + rest.messages, before.spans + spans)
