"""Events of selections and builds for LlamaIndex's instrumentation: counts and ids, no text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# LlamaIndex re-exports both without saying so to type checkers.
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.base import BaseEvent  # type: ignore[attr-defined]

from gatekeeper_core.context.history.view import HistoryView

if TYPE_CHECKING:
    from gatekeeper_core.context.prompt.adapter import ThreadRequest


class GatekeeperSelectionEvent(BaseEvent, extra="allow"):
    """The event of a selection by a memory.

    Attributes:
        memory: class name of the memory.
        thread: the chat store key or session id.
        shadow: whether the choice was only reported.
        the rest: as in ``HistoryView.facts``; ``tokens`` are those of the messages sent. None if the policy did not
            decide.
    """

    memory: str
    thread: str | None
    shadow: bool
    policy_action: str | None = None
    policy_reason: str | None = None
    dollars: float | None = None
    everything_dollars: float | None = None
    paid_dollars: float | None = None
    everything_paid_dollars: float | None = None
    cached_tokens: int | None = None
    turns_recalled: int | None = None

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the event."""
        return "GatekeeperSelectionEvent"


class GatekeeperContextEvent(BaseEvent):
    """The event of a prompt built by a memory.

    Attributes:
        memory, thread, shadow: as in a ``GatekeeperSelectionEvent``.
        status: ``built`` or ``over_budget``.
        facts: see ``ThreadRequest.facts``; with status and ``shadow``, as LangChain's callbacks get them.
    """

    memory: str
    thread: str | None
    shadow: bool
    status: str
    facts: dict[str, Any]

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the event."""
        return "GatekeeperContextEvent"


def report(result: HistoryView | ThreadRequest[Any], *, memory: str, thread: str | None, shadow: bool) -> None:
    """Send the event of a selection or build to its handlers; their errors are not raised."""
    facts: dict[str, Any] = result.facts()
    common: dict[str, Any] = {"memory": memory, "thread": thread, "shadow": shadow}
    if isinstance(result, HistoryView):
        event: BaseEvent = GatekeeperSelectionEvent(**common, **facts)
    else:
        event = GatekeeperContextEvent(**common, status=facts["status"], facts={**facts, "shadow": shadow})
    get_dispatcher(__name__).event(event)
