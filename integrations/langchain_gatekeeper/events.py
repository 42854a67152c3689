"""What a selection tells LangChain's callbacks: one custom event, inside a run only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from gatekeeper_core.context.history import HistoryView

__all__ = ["EVENT", "aannounce", "announce"]

EVENT = "gatekeeper_selection"
"""The name of the event; its data are ``HistoryView.facts()``: counts and ids, never text."""


def announce(view: HistoryView, *, config: RunnableConfig | None = None) -> None:
    """Tell the callbacks of the run around this call which messages were selected; outside a run, tell nobody.

    Args:
        view: the selection.
        config: the run's config, where it is at hand; None: the one that LangChain carries along.

    Raises:
        Exception: whatever a handler with ``raise_error`` raises.
    """
    manager = get_callback_manager_for_config(ensure_config(config))
    if manager.parent_run_id is not None:
        manager.on_custom_event(EVENT, view.facts(), run_id=manager.parent_run_id)


async def aannounce(view: HistoryView, *, config: RunnableConfig | None = None) -> None:
    """Do the same as :func:`announce`, with handlers awaited.

    Before Python 3.11 LangChain does not carry the config along in async code: without ``config`` nobody is told.
    """
    manager = get_async_callback_manager_for_config(ensure_config(config))
    if manager.parent_run_id is not None:
        await manager.on_custom_event(EVENT, view.facts(), run_id=manager.parent_run_id)
