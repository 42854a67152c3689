"""OpenTelemetry spans and metrics of every selection, build and store call, without any text.

The extra ``otel`` brings OpenTelemetry's API; the SDK and the exporters are the application's own.
"""

from __future__ import annotations

from gatekeeper_otel.observing import Instrumentation, OpenTelemetryObserver, instrument

__all__ = ["Instrumentation", "OpenTelemetryObserver", "instrument"]
