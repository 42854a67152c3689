"""A selection from a list in a provider's own format: positions and objects of the caller's list, in and out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gatekeeper_core.native.reading import NativeMessages, read_native

if TYPE_CHECKING:
    from gatekeeper_core.context.history.view import HistoryView, ThreadState

__all__ = ["select_native"]


def select_native(
    items: Sequence[Mapping[str, Any]],
    select: Callable[..., HistoryView],
    *,
    pinned: Collection[int],
    exclude: Collection[int],
    state: ThreadState | None,
) -> HistoryView:
    """Return the view of a list in a provider's format; arguments and errors are those of ``select_history``.

    Args:
        items: the list.
        select: selects from our messages, with the arguments that follow here.
        pinned: positions in the list.
        exclude: positions in the list.
        state: with a view of the list.
    """
    native = read_native(items)
    view = select(
        native.messages,
        notes=native.settings,
        pinned=_places(native, pinned),
        exclude=_places(native, exclude),
        state=state and state._replace(view=_inner(native, state.view)),
    )
    sent = native.sent(frozenset(view.kept), dict(view.replaced))
    gone, pins = frozenset(view.folded), frozenset(view.pinned)
    bill = view.bill
    if bill and bill.body_end is not None:
        bill = bill._replace(body_end=native.spans[bill.body_end][1] - 1)
    outer = view._replace(
        bill=bill,
        message_count=len(native.items),
        kept=tuple(sent),
        replaced=tuple((at, item) for at, item in sent.items() if item is not native.items[at]),
        folded=tuple(at for at in range(len(items)) if gone and gone.issuperset(native.of_item(at))),
        pinned=tuple(at for at in range(len(items)) if not pins.isdisjoint(native.of_item(at))),
        state=None,
    )
    return outer._replace(state=view.state and view.state._replace(view=outer))


def _places(native: NativeMessages, positions: Collection[int]) -> list[int]:
    """Return the messages of positions in the list."""
    return sorted({place for at in positions for place in native.of_item(at)})


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
