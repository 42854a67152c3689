"""The metrics of the process in the form of Prometheus, through OpenTelemetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Metrics = Callable[[], bytes]
PIP_LINE = 'pip install "context-gatekeeper[metrics]"'


@contextmanager
def collected_metrics() -> Iterator[Metrics | None]:
    """Collect while the context lasts; give what writes the metrics out, None without the extra."""
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from opentelemetry.sdk.metrics import MeterProvider
        from prometheus_client import generate_latest
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("opentelemetry", "prometheus_client"):
            raise
        yield None
        return
    from gatekeeper_otel import instrument

    provider = MeterProvider([PrometheusMetricReader()], shutdown_on_exit=False)
    try:
        with instrument(meter_provider=provider):
            yield generate_latest
    finally:
        provider.shutdown()
