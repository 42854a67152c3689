"""What a selection or a build tells LangChain's callbacks: one custom event, inside a run only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from gatekeeper_core.context.history.select import HistoryView
    from gatekeeper_core.context.prompt.adapter import ThreadRequest

__all__ = ["BUILT_EVENT", "EVENT", "aannounce", "announce"]

EVENT = "gatekeeper_selection"
"""The name of the event; its data are ``HistoryView.facts()`` and ``shadow``: counts and ids, never text."""

BUILT_EVENT = "gatekeeper_context"
"""The name of the event where a context builder is at work; its data are ``ThreadRequest.facts()`` and ``shadow``."""


def announce(
    view: HistoryView | ThreadRequest[Any],
    *,
    event: str = EVENT,
    shadow: bool = False,
    config: RunnableConfig | None = None,
) -> None:
    """Tell the callbacks of the run around this call which messages were selected; outside a run, tell nobody.

    Args:
        view: the selection, or what was built.
        event: the name of the event.
        shadow: whether it is only reported, and something else is sent.
        config: the run's config, where it is at hand; None: the one that LangChain carries along.

    Raises:
        Exception: whatever a handler with ``raise_error`` raises.
    """
    manager = get_callback_manager_for_config(ensure_config(config))
    if manager.parent_run_id is not None:
        manager.on_custom_event(event, {**view.facts(), "shadow": shadow}, run_id=manager.parent_run_id)


async def aannounce(
    view: HistoryView | ThreadRequest[Any],
    *,
    event: str = EVENT,
    shadow: bool = False,
    config: RunnableConfig | None = None,
) -> None:
    """Do the same as :func:`announce`, with handlers awaited.

    Before Python 3.11 LangChain does not carry the config along in async code: without ``config`` nobody is told.
    """
    manager = get_async_callback_manager_for_config(ensure_config(config))
    if manager.parent_run_id is not None:
        await manager.on_custom_event(event, {**view.facts(), "shadow": shadow}, run_id=manager.parent_run_id)
