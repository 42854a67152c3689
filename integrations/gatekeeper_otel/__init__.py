"""OpenTelemetry spans and metrics of every selection, build and store call, without any text.

The extra ``otel`` installs OpenTelemetry's API; the application provides the SDK and the exporters.
"""

from __future__ import annotations

from gatekeeper_otel.observing import Instrumentation, OpenTelemetryObserver, instrument

__all__ = ["Instrumentation", "OpenTelemetryObserver", "instrument"]
