"""What is remembered of threads from one call to the next, and how much of it.

::

    messages of the framework ──signs──> compared with those of the call before ──read──> only what differs
    texts ──estimate──> bytes of a thread ──sum over the bound──> the threads that were not used for longest go

All of it can be worked out again from the messages, so to forget a thread costs time and nothing else.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, TypeVar

from gatekeeper_core.messages import Message, TextPart, common_beginning
from gatekeeper_core.tokens import TokenCounter, count_message

if TYPE_CHECKING:
    from gatekeeper_core.context.history.modes import HistoryConfig
    from gatekeeper_core.context.history.select import History, HistoryView
    from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

__all__ = ["THREAD_BYTES", "RememberedThread", "RememberedThreads", "flat_sign", "message_bytes"]

Item = TypeVar("Item")
Read = Callable[[Item], Message]
Signs = Callable[[Sequence[Item]], list[object]]

THREAD_BYTES = 10_000
"""What a thread takes before its first message. Source: as for :func:`message_bytes`."""

_MESSAGE_BYTES = 500
_CHARACTER_BYTES = 8
_BEYOND_ASCII_BYTES = 60  # for each further byte of UTF-8: an ideograph begins a word, and stands in several
_NO_TOKENS = -1
_TEXT = frozenset({str})
_ATOMS = frozenset({str, int, bool, type(None)})


def message_bytes(message: Message) -> int:
    """Return about how many bytes a message takes while it is remembered: its text, the index and the topic map.

    A constant, 8 for each character, and 60 more for each byte that UTF-8 needs beyond the first of a character: 128
    for an ideograph. The estimate depends on nothing but the texts; media are not kept and take nothing.

    Source: ``tracemalloc`` over generated conversations in Chinese, English and both, 20 to 2,000 messages of 20 to
    2,000 characters, such as ``python -m benchmarks.speed_adapters --memory --sizes 100,400,2000``: it lies within a
    factor of two of each. A thread of very many turns, most of them packed, takes less than that.

    >>> message_bytes(Message("user", "hello")), message_bytes(Message("user", "你好"))
    (540, 756)
    """
    content = message.content
    texts = [content] if isinstance(content, str) else [part.text for part in content if isinstance(part, TextPart)]
    texts += [call.arguments for call in message.tool_calls]
    characters = sum(map(len, texts))
    encoded = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return _MESSAGE_BYTES + _CHARACTER_BYTES * characters + _BEYOND_ASCII_BYTES * (encoded - characters)


def flat_sign(values: object) -> tuple[object, object] | None:
    """Return a sign for the arguments of a call, equal to another one only where both are written as the same JSON.

    For adapters, whose signs it is a part of. It costs a third of the JSON. None where a key is no text, or a value is
    anything but a text, a whole number, a truth value or None.

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
        config: the settings, with the compressor of this thread; None before the first view.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.messages: tuple[Message, ...] = ()
        self.gatekeeper: ContextGatekeeper | None = None
        self.history: History | None = None
        self.view: HistoryView | None = None
        self.made_for: tuple[object, ...] = ()
        self.opening: Item | None = None
        self.config: HistoryConfig | None = None
        self._signs: list[object] = []
        self._tokens = array("q")
        self._bytes_up_to = array("q", [THREAD_BYTES])

    @property
    def estimated_bytes(self) -> int:
        """About what the thread takes in memory; see :func:`message_bytes`."""
        return self._bytes_up_to[-1]

    def catch_up(self, items: Sequence[Item], *, read: Read[Item], signs: Signs[Item] | None) -> None:
        """Make ``messages`` what the items read as now: the same tuple where nothing changed.

        A message is read only where its sign is not the one of before at the same position; elsewhere it stays the
        same object.

        Args:
            items: the whole history, in the framework's own messages.
            read: translates one of them.
            signs: for each of them a value that nothing can change, and that is equal to an earlier one only where the
                message reads the same. None: the messages themselves, as they are read.
        """
        signs = signs or (lambda listed: list(map(read, listed)))
        found, before, known = signs(items), self._signs, self.messages
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
        self._bytes_up_to[same:] = array("q", accumulate(map(message_bytes, changed), initial=self._bytes_up_to[same]))

    def tokens_at(self, position: int, counter: TokenCounter) -> int:
        """Return what the message at a position costs, counted once."""
        tokens = self._tokens[position]
        if tokens == _NO_TOKENS:
            tokens = self._tokens[position] = count_message(self.messages[position], token_counter=counter)
        return tokens


class RememberedThreads(Generic[Item]):
    """The threads used last, as many as fit into so many bytes; safe to use from several threads.

    Args:
        max_bytes: what all of them may take together, by estimate. The thread used last is kept, however large.

    >>> threads = RememberedThreads[Message](max_bytes=THREAD_BYTES)
    >>> for name in "ab":
    ...     threads.settle(name, threads.of(name))
    >>> threads.get("a") is None, threads.get("b") is None
    (True, False)
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._threads: OrderedDict[Hashable, RememberedThread[Item]] = OrderedDict()
        self._charged: dict[Hashable, int] = {}
        self._sum = 0

    def __len__(self) -> int:
        """Return how many threads are remembered."""
        return len(self._threads)

    @property
    def estimated_bytes(self) -> int:
        """About what all of them take together."""
        return self._sum

    def get(self, key: Hashable) -> RememberedThread[Item] | None:
        """Return the thread of this name, or None; that is no use of it."""
        with self._lock:
            return self._threads.get(key)

    def of(self, key: Hashable) -> RememberedThread[Item]:
        """Return the thread of this name, a new one where it is unknown or forgotten; it is the one used last now."""
        with self._lock:
            thread = self._threads.setdefault(key, RememberedThread())
            self._threads.move_to_end(key)
            return thread

    def settle(self, key: Hashable, thread: RememberedThread[Item]) -> None:
        """Note what a thread takes after a call, and forget others, the one used longest ago first, if it is too much.

        A thread that was forgotten during the call stays so.
        """
        with self._lock:
            if self._threads.get(key) is not thread:
                return
            self._threads.move_to_end(key)
            takes = thread.estimated_bytes
            self._sum += takes - self._charged.get(key, 0)
            self._charged[key] = takes
            while self._sum > self._max_bytes and len(self._threads) > 1:
                oldest, _ = self._threads.popitem(last=False)
                self._sum -= self._charged.pop(oldest, 0)

    def forget(self, key: Hashable, thread: RememberedThread[Item]) -> None:
        """Forget a thread, unless another one has its name by now."""
        with self._lock:
            if self._threads.get(key) is thread:
                del self._threads[key]
                self._sum -= self._charged.pop(key, 0)
