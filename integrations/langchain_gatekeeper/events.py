"""One custom event per selection or build for LangChain's callbacks, inside a run only."""

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

    Result = HistoryView | ThreadRequest[Any]


def announce(result: Result, *, shadow: bool = False, config: RunnableConfig | None = None) -> None:
    """Send ``gatekeeper_selection``, or ``gatekeeper_context`` of a builder, to the callbacks of the run around it.

    The data are the result's facts: counts and ids, never text. ``config`` defaults to LangChain's current one.
    """
    manager = get_callback_manager_for_config(ensure_config(config))
    if manager.parent_run_id is not None:
        manager.on_custom_event(*_event(result, shadow), run_id=manager.parent_run_id)


async def aannounce(result: Result, *, shadow: bool = False, config: RunnableConfig | None = None) -> None:
    """Do the same as :func:`announce`, and await handlers; before Python 3.11 nothing is sent without ``config``."""
    manager = get_async_callback_manager_for_config(ensure_config(config))
    if manager.parent_run_id is not None:
        await manager.on_custom_event(*_event(result, shadow), run_id=manager.parent_run_id)


def _event(result: Result, shadow: bool) -> tuple[str, dict[str, Any]]:
    name = "gatekeeper_selection" if isinstance(result, HistoryView) else "gatekeeper_context"
    return name, {**result.facts(), "shadow": shadow}
