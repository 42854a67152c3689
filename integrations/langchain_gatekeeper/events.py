"""What a selection or a build tells LangChain's callbacks: one custom event, inside a run only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)

from gatekeeper_core.context.history.view import HistoryView

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from gatekeeper_core.context.prompt.adapter import ThreadRequest

__all__ = ["aannounce", "announce"]


def announce(
    view: HistoryView | ThreadRequest[Any], *, shadow: bool = False, config: RunnableConfig | None = None
) -> None:
    """Tell the callbacks of the run around this call what was selected or built; outside a run, tell nobody.

    The event is ``gatekeeper_selection`` or, of a context builder, ``gatekeeper_context``.

    Args:
        view: the selection, or what was built; its ``facts`` are the data of the event: counts and ids, never text.
        shadow: whether it is only reported, and something else is sent; part of the data.
        config: the run's config, where it is at hand; None: the one that LangChain carries along.

    Raises:
        Exception: whatever a handler with ``raise_error`` raises.
    """
    manager = get_callback_manager_for_config(ensure_config(config))
    if manager.parent_run_id is not None:
        manager.on_custom_event(_event(view), {**view.facts(), "shadow": shadow}, run_id=manager.parent_run_id)


async def aannounce(
    view: HistoryView | ThreadRequest[Any], *, shadow: bool = False, config: RunnableConfig | None = None
) -> None:
    """Do the same as :func:`announce`, with handlers awaited.

    Before Python 3.11 LangChain does not carry the config along in async code: without ``config`` nobody is told.
    """
    manager = get_async_callback_manager_for_config(ensure_config(config))
    if manager.parent_run_id is not None:
        await manager.on_custom_event(_event(view), {**view.facts(), "shadow": shadow}, run_id=manager.parent_run_id)


def _event(view: HistoryView | ThreadRequest[Any]) -> str:
    return "gatekeeper_selection" if isinstance(view, HistoryView) else "gatekeeper_context"
