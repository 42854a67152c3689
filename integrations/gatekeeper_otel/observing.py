"""Spans and metrics from the core's stages.

::

    stage begins ──> a span, child of the one that is current on this thread, and current until the stage ends
    stage ends   ──> its facts as attributes, ``gatekeeper.`` before each; its duration and its counts as metrics
    event        ──> an event of the current span, and counts

This is an observer (``gatekeeper_core.observation``), not a ``logging`` handler: a handler sees a stage only at its
end, so it knows neither nesting nor, as the core has no clock, durations; and it would have to set the level of the
application's loggers. Nothing is wrapped: one switch covers core, adapters and stores; when off, the core checks one
empty tuple per stage. A build's calls on worker threads run in its context, so their spans are its children. Spans hold
only facts: no text, and of an error only its type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gatekeeper_core import __version__
from gatekeeper_core.arguments import needs_extra, with_suggestions
from gatekeeper_core.errors import check_type
from gatekeeper_core.events import (
    BUILD,
    COMPRESSION,
    HISTORY,
    MISS,
    PAST,
    SELECTION,
    STORE_CALL,
    TOOL_RESULT,
    USAGE,
    Event,
)
from gatekeeper_core.observation import Ended, add_observer, remove_observer

with needs_extra("otel", "opentelemetry", name="gatekeeper_otel"):
    from opentelemetry import context, metrics, trace

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram, Meter, MeterProvider
    from opentelemetry.trace import TracerProvider
    from opentelemetry.util.types import Attributes, AttributeValue

_NAME = "gatekeeper"
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Bucket bounds of durations. Source: ours; a selection takes milliseconds, a build waits half a second."""

_TOKENS = (0, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576)
"""Bucket bounds of tokens. Source: the GenAI conventions' powers of four, from 64 on."""

_TURNS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89)
"""Bucket bounds of turns. Source: ours."""

_DOLLARS = "{USD}"
"""Unit of money. Source: UCUM has no currencies; text in braces is for people."""

_SIZES = {
    SELECTION.key: ("history_tokens", "tokens"),
    PAST.key: ("history_tokens", "tokens"),
    COMPRESSION.key: ("tokens_before", "tokens_after"),
    TOOL_RESULT.key: ("tokens_before", "tokens_after"),
    BUILD.key: (None, "total_tokens"),
}
"""Facts with the tokens before and after a stage."""

_REPORTED = {
    "input_tokens": "usage.input_tokens",
    "output_tokens": "usage.output_tokens",
    "cached_tokens": "usage.cache_read.input_tokens",
    "cache_written_tokens": "usage.cache_creation.input_tokens",
}
"""What a provider reports of a call, as the GenAI conventions name it below ``gen_ai.``.

Source: opentelemetry-semantic-conventions 0.66b2. They have no attribute for money.
"""


class OpenTelemetryObserver:
    """An observer for ``add_observer``; :func:`gatekeeper_otel.instrument` creates and adds one."""

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        conversation_ids: bool = False,
    ) -> None:
        self._tracer = trace.get_tracer(_NAME, __version__, tracer_provider)
        self._metrics = _Metrics(metrics.get_meter(_NAME, __version__, meter_provider))
        self._conversation_ids = conversation_ids

    def begun(self, stage: Event, thread: str | None, /) -> Ended:
        """Start a span, and make it the current one."""
        named = thread is not None and self._conversation_ids
        attributes: Attributes = {"gen_ai.conversation.id": thread} if named and thread is not None else None
        span = self._tracer.start_span(f"{_NAME}.{stage.key}", attributes=attributes)
        token = context.attach(trace.set_span_in_context(span))
        start = perf_counter()

        def ended(facts: Mapping[str, Any]) -> None:
            seconds = perf_counter() - start
            try:
                context.detach(token)
                span.set_attributes({f"{_NAME}.{name}": fact for name, fact in facts.items() if fact is not None})
                if facts["outcome"] != "ok":  # the type alone: a message may hold text of the conversation
                    span.set_attribute("error.type", facts["outcome"])
                    span.set_status(trace.StatusCode.ERROR, facts["outcome"])
                self._metrics.ended(stage, facts, seconds)
            finally:
                span.end()

        return ended

    def happened(self, event: Event, facts: Mapping[str, Any], /) -> None:
        """Add an event to the current span."""
        attributes = {
            f"gen_ai.{_REPORTED[name]}" if name in _REPORTED else f"{_NAME}.{name}": fact
            for name, fact in facts.items()
            if fact is not None
        }
        trace.get_current_span().add_event(f"{_NAME}.{event.key}", attributes)
        self._metrics.happened(event, facts)


class _Metrics:
    def __init__(self, meter: Meter) -> None:
        self._selection_seconds = _histogram(meter, "selection.duration", "s", "Duration of a selection.", _SECONDS)
        self._build_seconds = _histogram(meter, "build.duration", "s", "Duration of a build.", _SECONDS)
        self._before = _histogram(meter, "tokens.before", "{token}", "Tokens before compression.", _TOKENS)
        self._after = _histogram(meter, "tokens.after", "{token}", "Tokens after compression.", _TOKENS)
        self._turns = _histogram(meter, "turns.kept", "{turn}", "Past turns sent.", _TURNS)
        self._builds = meter.create_counter(f"{_NAME}.builds", "{build}", "Builds by outcome.")
        self._misses = meter.create_counter(f"{_NAME}.misses", "{miss}", "Parts missing from a build.")
        self._calls = meter.create_counter(f"{_NAME}.store.calls", "{call}", "Store calls by outcome.")
        expected = "Expected cost of requests in dollars."
        self._expected = meter.create_counter(f"{_NAME}.expected.dollars", _DOLLARS, expected)
        everything = "Their cost in dollars if everything were sent."
        self._everything = meter.create_counter(f"{_NAME}.everything.dollars", _DOLLARS, everything)
        self._paid = meter.create_counter(f"{_NAME}.usage.dollars", _DOLLARS, "Cost of reported usage in dollars.")
        self._usage = {
            fact: meter.create_counter(f"{_NAME}.{name}", "{token}", "Tokens of reported usage.")
            for fact, name in _REPORTED.items()
        }

    def ended(self, stage: Event, facts: Mapping[str, Any], seconds: float) -> None:
        outcome = facts["outcome"]
        if stage is SELECTION:
            self._selection_seconds.record(seconds, _error_type(outcome))
        elif stage is BUILD:
            self._build_seconds.record(seconds, _error_type(outcome))
            self._builds.add(1, {f"{_NAME}.status": _BUILD_STATUS.get(outcome, "failed")})
        elif stage is STORE_CALL:
            self._calls.add(1, _chosen(facts, "backend", "access", "outcome"))
        elif stage is HISTORY and "dollars" in facts:
            labels = _chosen(facts, "policy_action", "shadow")
            self._expected.add(facts["dollars"], labels)
            self._everything.add(facts["everything_dollars"], labels)
        if outcome != "ok":
            return
        labels = {f"{_NAME}.stage": stage.key}
        for name, histogram in zip(_SIZES.get(stage.key, ()), (self._before, self._after), strict=False):
            if name is not None:
                histogram.record(facts[name], labels)
        if stage in (SELECTION, PAST):
            self._turns.record(facts["turns_kept"], labels)

    def happened(self, event: Event, facts: Mapping[str, Any]) -> None:
        if event is MISS:
            self._misses.add(1, _chosen(facts, "part", "status"))
        elif event is USAGE:
            self._paid.add(facts["dollars"])
            for name, counter in self._usage.items():
                counter.add(facts[name])


_BUILD_STATUS = {"ok": "built", "BudgetError": "over_budget"}


def _histogram(meter: Meter, name: str, unit: str, description: str, bounds: Sequence[float]) -> Histogram:
    return meter.create_histogram(f"{_NAME}.{name}", unit, description, explicit_bucket_boundaries_advisory=bounds)


def _chosen(facts: Mapping[str, Any], *names: str) -> dict[str, AttributeValue]:
    return {f"{_NAME}.{name}": facts[name] for name in names}


def _error_type(outcome: str) -> dict[str, AttributeValue]:
    return {} if outcome == "ok" else {"error.type": outcome}


class Instrumentation:
    """A handle to stop the instrumentation; as a context manager it stops at its end."""

    def __init__(self, observer: OpenTelemetryObserver) -> None:
        self._observer = observer

    def __enter__(self) -> Instrumentation:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop the instrumentation; running stages still end their spans."""
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
    """Emit spans and metrics of the gatekeeper's work in this process, in any framework; replaces an earlier call.

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
