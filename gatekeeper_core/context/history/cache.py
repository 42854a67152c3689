"""What is remembered of a thread from one call to the next: all of it can be worked out again from the messages."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gatekeeper_core.caching import estimated_bytes
from gatekeeper_core.context.history.policy import PolicyState
from gatekeeper_core.messages import Message, common_beginning
from gatekeeper_core.pricing.prices import UNKNOWN
from gatekeeper_core.tokens import TokenCounter, count_message

if TYPE_CHECKING:
    from gatekeeper_core.context.history.modes import History, HistoryConfig
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

__all__ = ["THREAD_BYTES", "RememberedThread", "flat_sign"]

Item = TypeVar("Item")
Read = Callable[[Item], Message]
Signs = Callable[[Sequence[Item]], list[object]]

THREAD_BYTES = 10_000
"""What a thread takes before its first message. Source: as for ``caching.estimated_bytes``, with the index."""

_NO_TOKENS = -1
_TEXT = frozenset({str})
_ATOMS = frozenset({str, int, bool, type(None)})


def flat_sign(values: object) -> tuple[object, object] | None:
    """Return a sign for the arguments of a call, equal to another one only where both are written as the same JSON.

    It costs a third of the JSON, for the signs of adapters. None where a key is no text, or a value is nested or a
    float.

    >>> flat_sign({"days": 1}) == flat_sign({"days": True}), flat_sign({"days": [1]})
    (False, None)
    """
    if type(values) is not dict:
        return None
    kinds = tuple(map(type, values.values()))  # 1 and True are equal, and are written differently
    if not (_ATOMS.issuperset(kinds) and _TEXT.issuperset(map(type, values))):
        return None
    return tuple(values.items()), kinds


class RememberedThread(Generic[Item]):
    """What is known of one thread; who uses it holds its lock.

    Attributes:
        lock: held for the length of a call.
        messages: the messages as they were read last.
        gatekeeper: has the past turns, None before the first selection.
        history: the parts of the conversation at the last call, None where it has to be read anew.
        view: the view made last, None before the first.
        made_for: what else the view was made for: question, pinned positions and budget.
        opening: the framework's object that opened the current turn.
        policy: what the policy remembers.
        prices: of the model that was called last.
        config: the settings, with the name of the thread.
        has_left_out: whether a turn was left out before.
    """

    def __init__(self, config: HistoryConfig) -> None:
        self.config = config
        self.lock = threading.Lock()
        self.messages: tuple[Message, ...] = ()
        self.gatekeeper: ContextGatekeeper | None = None
        self.history: History | None = None
        self.view: HistoryView | None = None
        self.made_for: tuple[object, ...] = ()
        self.opening: Item | None = None
        self.policy = PolicyState()
        self.prices = UNKNOWN
        self.has_left_out = False
        self._before: tuple[Any, ...] = (self.policy, None, None, None, ())
        self._signs: list[object] = []
        self._tokens = array("q")
        self._bytes_up_to = array("q", [THREAD_BYTES])

    @property
    def estimated_bytes(self) -> int:
        """About what the thread takes in memory, its vectors with it; see ``caching.estimated_bytes``."""
        gatekeeper = self.gatekeeper
        return self._bytes_up_to[-1] + (gatekeeper.estimated_vector_bytes if gatekeeper else 0)

    def note(self) -> None:
        """Note what is remembered before a view, so that the view can be taken back."""
        self._before = (self.policy, self.history, self.opening, self.view, self.made_for)

    def take_back(self) -> None:
        """Forget the last view, which was not sent."""
        self.policy, self.history, self.opening, self.view, self.made_for = self._before

    def forget(self) -> None:
        """Forget what was decided for the conversation; the index is made equal to another one at the next look."""
        self.policy, self.history, self.view, self.made_for = PolicyState(), None, None, ()
        self.opening, self.has_left_out = None, False

    def is_beginning_of(self, signs: list[object]) -> bool:
        """Return whether the messages of the last call are the first of those with these signs."""
        return bool(self._signs) and signs[: len(self._signs)] == self._signs

    def catch_up(self, items: Sequence[Item], *, read: Read[Item], signs: Signs[Item] | None) -> None:
        """Make ``messages`` what the items read as now: the same tuple where nothing changed.

        A message is read only where its sign is not the one of before at the same position (see ``ThreadSelector``);
        elsewhere it stays the same object.
        """
        found = signs(items) if signs else list(map(read, items))
        before, known = self._signs, self.messages
        same = common_beginning(before, found)
        if same == len(found) == len(before):
            return
        changed: list[Message] = []
        for at in range(same, len(found)):
            sign = found[at]
            if at < len(before) and before[at] == sign:
                changed.append(known[at])
            else:
                changed.append(sign if isinstance(sign, Message) else read(items[at]))
        # The old signs stay, so that a store that makes its messages anew does not hold every text twice.
        before[same:] = found[same:]
        self.messages = (*known[:same], *changed)
        self._tokens[same:] = array("q", [_NO_TOKENS]) * len(changed)
        takes = map(partial(estimated_bytes, indexed=True), changed)
        self._bytes_up_to[same:] = array("q", accumulate(takes, initial=self._bytes_up_to[same]))

    def tokens_at(self, position: int, counter: TokenCounter) -> int:
        """Return what the message at a position costs, counted once."""
        tokens = self._tokens[position]
        if tokens == _NO_TOKENS:
            tokens = self._tokens[position] = count_message(self.messages[position], token_counter=counter)
        return tokens
