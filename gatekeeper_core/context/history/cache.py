"""The one entry that is kept of a thread from call to call: its index, and the last view of it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.context.history.policy import PolicyState
from gatekeeper_core.pricing.prices import UNKNOWN

if TYPE_CHECKING:
    from gatekeeper_core.context.history.modes import History, HistoryConfig
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.messages import Message
    from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

__all__ = ["LastCall", "ThreadEntry"]


class LastCall(NamedTuple):
    """The state of a thread after a call.

    Attributes:
        policy: the account of what the provider has cached.
        history: the parts of the conversation; None where the next call starts from nothing.
        view: the view, None before the first.
        made_for: everything else that the view depends on: question, pinned positions, budget.
        opening: the framework's object that opened the current turn.
    """

    policy: PolicyState = PolicyState()
    history: History | None = None
    view: HistoryView | None = None
    made_for: tuple[object, ...] = ()
    opening: Any = None


class ThreadEntry:
    """One thread of a selector. Hold the lock for the length of a call.

    Attributes:
        config: the settings, with the name of the thread.
        lock: one call at a time.
        messages: the messages of the last call.
        gatekeeper: the index over the past turns, None before the first selection.
        last: the state after the last call.
        before: the state before it, for a view that was not sent.
        prices: of the model that was called last.
        has_left_out: whether a turn was left out before.
    """

    def __init__(self, config: HistoryConfig) -> None:
        self.config = config
        self.lock = threading.Lock()
        self.messages: tuple[Message, ...] = ()
        self.gatekeeper: ContextGatekeeper | None = None
        self.last = self.before = LastCall()
        self.prices = UNKNOWN
        self.has_left_out = False

    def is_beginning_of(self, messages: tuple[Message, ...]) -> bool:
        """Return whether the messages of the last call are the first of these."""
        return bool(self.messages) and messages[: len(self.messages)] == self.messages
