"""The reading of lists that grow: what a list begins with is not read again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from gatekeeper_core.caching import LruCache
from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.native.items import Format
from gatekeeper_core.native.reading import NativeMessages, read_native


class GrowingLists:
    """The lists of the latest conversations, as they were read. Thread-safe.

    A list goes on with the one that it begins with, if both have the same first message of the user. Nobody may change
    an item once it is read.
    """

    def __init__(self, max_lists: int) -> None:
        self._lists: LruCache[Hashable, NativeMessages] = LruCache(max_entries=max_lists)

    def read(self, items: Sequence[Any], format_: Format, tenant: str) -> NativeMessages:
        """Return a list of a tenant, read; ``format_`` is that of a list that shows none.

        Raises:
            MessageFormatError: see ``read_messages``.
        """
        opening = next((item for item in items if isinstance(item, Mapping) and item.get("role") == "user"), None)
        key = (tenant, format_.name, hash(str(opening)))
        native = _continued(self._lists.get(key), items) or read_native(items, format_)
        self._lists.put(key, native)
        return native


def _continued(before: NativeMessages | None, items: Sequence[Any]) -> NativeMessages | None:
    """Return a list that goes on from another; None where it does not, or where items are not read one by one."""
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
