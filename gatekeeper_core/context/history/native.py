"""A selection from a list in a provider's own format: positions and objects of the caller's list, in and out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gatekeeper_core.context.history.pins import check_position
from gatekeeper_core.native.reading import NativeMessages, read_native

if TYPE_CHECKING:
    from gatekeeper_core.context.history.view import HistoryView

__all__ = ["select_native"]


def select_native(
    items: Sequence[Mapping[str, Any]],
    select: Callable[..., HistoryView],
    *,
    pinned: Collection[int],
    window_from: int,
    previous: HistoryView | None,
    earlier: HistoryView | None,
    **rest: Any,
) -> HistoryView:
    """Return the view of a list in a provider's format; arguments and errors are those of ``select_history``.

    Args:
        items: the list.
        select: selects from our messages, with the arguments that follow here.
        pinned: positions in the list.
        window_from: a position in the list.
        previous: a view of the list.
        earlier: a view of the list.
        rest: further arguments of ``select``.
    """
    native = read_native(items)
    view = select(
        native.messages,
        pinned=_places(native, pinned),
        window_from=sum(stop <= window_from for _, stop in native.spans),
        previous=_inner(native, previous),
        earlier=_inner(native, earlier),
        **rest,
    )
    sent = native.sent(frozenset(view.kept), dict(view.replaced))
    gone = frozenset(view.folded)
    bill = view.bill
    if bill and bill.body_end is not None:
        bill = bill._replace(body_end=native.spans[bill.body_end][1] - 1)
    return view._replace(
        bill=bill,
        message_count=len(native.items),
        kept=tuple(sent),
        replaced=tuple((at, item) for at, item in sent.items() if item is not native.items[at]),
        folded=tuple(at for at in range(len(items)) if gone and gone.issuperset(native.of_item(at))),
    )


def _places(native: NativeMessages, pinned: Collection[int]) -> list[int]:
    """Return which messages are pinned."""
    places = set(native.settings)
    for position in pinned:
        check_position(position, len(native.items))
        places.update(native.of_item(position))
    return sorted(places)


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
