"""A selection from a list in a provider's own format: positions and objects of the caller's list, in and out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gatekeeper_core.context.history.pins import check_position
from gatekeeper_core.messages import Message
from gatekeeper_core.native.reading import NativeMessages, read_native
from gatekeeper_core.tokens import TokenCounter, count_messages

if TYPE_CHECKING:
    from gatekeeper_core.context.history.view import HistoryView

__all__ = ["select_native"]


def select_native(
    items: Sequence[Mapping[str, Any]],
    select: Callable[..., HistoryView],
    *,
    counter: TokenCounter,
    fixed_tokens: int,
    pinned: Collection[int],
    window_from: int,
    previous: HistoryView | None,
    earlier: HistoryView | None,
) -> HistoryView:
    """Return the view of a list in a provider's format; arguments and errors are those of ``select_history``.

    What a provider's own compaction stands for is left to it: nothing up to the first question behind the block is
    chosen, cut or folded, and of what comes before the block nothing is counted.

    Args:
        items: the list.
        select: selects from our messages, with the arguments that follow here.
        counter: counts a text.
        fixed_tokens: what the caller sends besides.
        pinned: positions in the list.
        window_from: a position in the list.
        previous: a view of the list.
        earlier: a view of the list.
    """
    native = read_native(items)
    start = native.compacted
    spans = native.spans
    behind = native.messages[start:]
    first_item = spans[start][0] if start < len(spans) else len(native.items)
    view = select(
        behind,
        fixed_tokens=fixed_tokens + count_messages(_told(native, start), token_counter=counter),
        pinned=_places(native, pinned, start),
        window_from=sum(stop <= window_from for _, stop in spans[start:]),
        previous=None if start else _inner(native, previous),
        earlier=None if start else _inner(native, earlier),
    )
    kept = {at + start for at in view.kept}
    sent = native.sent(kept, {at + start: message for at, message in view.replaced})
    gone = {at + start for at in view.folded}
    bill = view.bill
    if bill and bill.body_end is not None:
        bill = bill._replace(body_end=spans[bill.body_end + start][1] - 1)
    return view._replace(
        bill=bill,
        message_count=len(native.items),
        kept=(*range(first_item), *sent),
        replaced=tuple((at, item) for at, item in sent.items() if item is not native.items[at]),
        folded=tuple(at for at in range(first_item, len(items)) if gone.issuperset(native.of_item(at))),
    )


def _told(native: NativeMessages, stop: int) -> list[Message]:
    """Return the messages from the compaction on to a message behind it."""
    return [native.messages[at] for at in range(native.compaction, stop)] if stop else []


def _places(native: NativeMessages, pinned: Collection[int], start: int) -> list[int]:
    """Return which messages are pinned, counted from a first one on."""
    places = set(native.settings)
    for position in pinned:
        check_position(position, len(native.items))
        places.update(native.of_item(position))
    return sorted(at - start for at in places if at >= start)


def _inner(native: NativeMessages, view: HistoryView | None) -> HistoryView | None:
    """Return a view of the list as one of our messages: with those whose text it sends otherwise."""
    if view is None:
        return None
    replaced = []
    for position, item in view.replaced:
        places = native.of_item(position)
        read = [one.message for one in native.format.read([item])]
        if len(read) == len(places):
            both = zip(places, read, strict=True)
            replaced += [(at, message) for at, message in both if message.text != native.messages[at].text]
    return view._replace(replaced=tuple(replaced))
