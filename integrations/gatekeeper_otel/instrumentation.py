"""Switching it on and off, for the whole process."""

from __future__ import annotations

from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.errors import check_type
from gatekeeper_core.observation import add_observer, remove_observer
from gatekeeper_otel.observing import OpenTelemetryObserver

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider


class Instrumentation:
    """A handle on the instrumentation, which as a context manager turns it off at its end."""

    def __init__(self, observer: OpenTelemetryObserver) -> None:
        self._observer = observer

    def __enter__(self) -> Instrumentation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Turn it off; running stages still end their spans."""
        remove_observer(self._observer)


_lock = Lock()
_current: Instrumentation | None = None


@with_suggestions()
def instrument(
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    conversation_ids: bool = False,
) -> Instrumentation:
    """Emit spans and metrics of everything that the gatekeeper does in this process from now on, in any framework.

    A second call, with other providers perhaps, replaces the first: nothing is reported twice.

    Args:
        tracer_provider: creates the spans; defaults to the global one, even if that is set later.
        meter_provider: creates the metrics; defaults to the global one, likewise.
        conversation_ids: whether spans name the thread (``gen_ai.conversation.id``). An id may identify a person.

    Raises:
        TypeError: ``conversation_ids`` is not a bool.

    >>> with instrument():
    ...     from gatekeeper_core import ContextGatekeeper
    ...     ContextGatekeeper().select("hello")
    []
    """
    global _current  # as the list of observers: one for the process
    check_type("conversation_ids", conversation_ids, bool)
    observer = OpenTelemetryObserver(
        tracer_provider=tracer_provider, meter_provider=meter_provider, conversation_ids=conversation_ids
    )
    with _lock:
        if _current is not None:
            _current.stop()
        _current = Instrumentation(observer)
        add_observer(observer)
        return _current
