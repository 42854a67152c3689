"""An assembly policy for AG2: the stream keeps every event, the model gets what it needs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gatekeeper_hooks.ag2_events import read_span, spans_of, write_span
from gatekeeper_hooks.native import Hook

if TYPE_CHECKING:
    from ag2 import Context
    from ag2.events import BaseEvent

    from gatekeeper_core.context.history.strategies import HistoryConfig


class GatekeeperPolicy(Hook):
    """An assembly policy that sends the events the question needs; the stream keeps them all.

    Put it behind policies that add to the context. The thread is the stream, so agents and streams may share a policy.

    Args:
        config: the settings; default to ``HistoryConfig()``.
        model: name of the model, for its prices and, without a budget, its context window; may be changed later.
        options: as for ``NativeSelector``: ``token_budget``, ``strategy`` and more.
    """

    name = "gatekeeper"

    def __init__(self, config: HistoryConfig | None = None, *, model: str = "", **options: Any) -> None:
        super().__init__(config, **options)
        self.model = model

    async def apply(
        self, prompts: list[str], events: list[BaseEvent], context: Context
    ) -> tuple[list[str], list[BaseEvent]]:
        """Return the prompts unchanged, and the events to send."""
        *spans, rest = spans_of(events)
        sent = await asyncio.to_thread(
            self.selector.select_objects,
            spans,
            read=read_span,
            write=write_span,
            fixed=prompts,
            model=self.model,
            thread=str(context.stream.id),
        )
        return prompts, [event for span in [*sent, rest] for event in span]
