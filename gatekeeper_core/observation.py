"""Delivery of events: log records for handlers of ``logging``, stages and events for observers.

::

    with stage(SELECTION) as seen:   ── begun ──>  each observer
        ...
        seen.tell(facts)             ── ended ──>  each observer, then one log record with the facts
    tell(MISS, part="summary", …)    ── happened ──>  each observer, then one log record

An observer is called on the thread and at the time of each stage, so it can measure stages and their nesting: the core
reads no clock. Facts are computed only if somebody listens; :mod:`gatekeeper_core.events` lists the events.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from gatekeeper_core.events import OBSERVER_FAILED, Event, Level

if TYPE_CHECKING:
    from logging import Logger

Ended = Callable[[Mapping[str, Any]], None]
"""Callback for the end of a stage, with its facts; called on the thread where the stage began."""

_LEVELS = {"DEBUG": 10, "INFO": 20, "WARNING": 30}  # as in `logging`, which is not imported before it is needed


class Observer(Protocol):
    """A listener to the library's work.

    Its methods run on the thread that does the work, several at a time; their errors are logged, not raised.
    """

    def begun(self, stage: Event, thread: str | None, /) -> Ended | None:
        """Handle the start of a stage, and return the callback for its end.

        ``thread`` is the conversation's id if the stage knows it. It may identify a person, so no log record holds it.
        """
        ...

    def happened(self, event: Event, facts: Mapping[str, Any], /) -> None:
        """Handle an event inside the stages that have begun on this thread."""
        ...


_observers: tuple[Observer, ...] = ()
_lock = Lock()


def add_observer(observer: Observer) -> None:
    """Report the work of every object of the library in this process to an observer; adding it twice has no effect."""
    for name in ("begun", "happened"):
        if not callable(getattr(observer, name, None)):
            raise TypeError(f"an observer has a method {name}, got {type(observer).__name__}")
    global _observers  # like the handlers of `logging`: one list for the process
    with _lock:
        if not any(other is observer for other in _observers):
            _observers = (*_observers, observer)


def remove_observer(observer: Observer) -> None:
    """Remove an observer; it still sees the end of each stage that has begun."""
    global _observers
    with _lock:
        _observers = tuple(other for other in _observers if other is not observer)


def tell(event: Event, *, level: Level | None = None, log: bool = True, **facts: Any) -> None:
    """Report an event with its facts; ``level`` None: the event's usual level."""
    for observer in _observers:
        _guarded(observer.happened, event, facts)
    if log:
        _record(event, level or event.level, facts)


class stage:  # noqa: N801 - a context, read as a verb
    """A stage of work, as a context manager.

    Args:
        event: the stage.
        thread: id of the conversation, if known; for observers only.
        log: whether to write a log record.

    >>> from gatekeeper_core.events import GATE
    >>> with stage(GATE) as seen:
    ...     seen.tell(lambda: {"decision": "continue", "reason": "overlap", "need": 0.9, "link": 0.4, "topics": 1})
    """

    __slots__ = ("_ends", "_event", "_facts", "_level", "_log", "_thread")

    def __init__(self, event: Event, *, thread: str | None = None, log: bool = True) -> None:
        self._event = event
        self._thread = thread
        self._log = log
        self._ends: list[Ended] = []
        self._level = event.level
        self._facts: Mapping[str, Any] = {}

    def __enter__(self) -> stage:
        ends = (_guarded(observer.begun, self._event, self._thread) for observer in _observers)
        self._ends = [end for end in ends if end is not None]
        return self

    def tell(self, facts: Callable[[], Mapping[str, Any]], *, level: Level | None = None) -> None:
        """Set the facts to report at the end of the stage; they are computed now, and only if somebody listens."""
        self._level = level or self._level
        if self._ends or _observers or (self._log and _logger(self._event).isEnabledFor(_LEVELS[self._level])):
            self._facts = facts()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        facts = {"outcome": kind.__name__ if kind else "ok", **self._facts}
        for end in reversed(self._ends):
            _guarded(end, facts)
        if self._log:
            _record(self._event, self._level, facts)


def _guarded(call: Callable[..., Any], *arguments: object) -> Any:
    try:
        return call(*arguments)
    except Exception as error:  # noqa: BLE001 - the caller's own observer: it may raise anything
        _record(OBSERVER_FAILED, "WARNING", {"error": type(error).__name__})
        return None


def _record(event: Event, level: Level, facts: Mapping[str, Any]) -> None:
    """Write a log record for the caller's caller."""
    logger = _logger(event)
    if logger.isEnabledFor(_LEVELS[level]):
        texts = {name: f"{fact:,}" if type(fact) is int else str(fact) for name, fact in facts.items()}
        shown = defaultdict(lambda: "?", texts)
        extra = {f"gatekeeper_{name}": fact for name, fact in facts.items()}
        logger.log(_LEVELS[level], event.message, *[shown] * ("%(" in event.message), extra=extra, stacklevel=3)


def _logger(event: Event) -> Logger:
    """Return the logger of an event, below ``gatekeeper``, whose NullHandler keeps warnings off standard error."""
    import logging  # here, because it is a tenth of the import of the library

    top = logging.getLogger("gatekeeper")
    if not any(isinstance(handler, logging.NullHandler) for handler in top.handlers):
        top.addHandler(logging.NullHandler())
    return logging.getLogger(event.logger)
