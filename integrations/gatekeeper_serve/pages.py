"""The pages of the proxy: threads, explanations, health and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from gatekeeper_cli.explanation import shown_dollars
from gatekeeper_cli.html.pages import explanation_page, page_policy, threads_page
from gatekeeper_cli.texts import Texts
from gatekeeper_cli.topics import spans
from gatekeeper_serve.gate import Gate, LiveThread

_PIP_LINE = 'pip install "context-gatekeeper[metrics]"'
_HEADERS = {
    "content-security-policy": f"{page_policy()}; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Pages:
    """The pages about the threads of a gate. They show text of conversations, but no key."""

    metrics: Callable[[], bytes] | None = None  # None without their extra

    def __init__(self, gate: Gate, texts: Texts) -> None:
        self._gate = gate
        self._texts = texts

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        return [
            Route("/healthz", self.health),
            Route("/metrics", self.prometheus),
            Route("/", self.index),
            Route("/threads/{thread_id}", self.thread),
        ]

    def health(self, _: Request) -> Response:
        """Confirm that the proxy runs."""
        return PlainTextResponse("ok\n")

    def prometheus(self, _: Request) -> Response:
        """Return the metrics."""
        if self.metrics is None:
            return PlainTextResponse(f"The metrics need an extra: {_PIP_LINE}\n", 404)
        return Response(self.metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")

    def index(self, _: Request) -> Response:
        """Return the page of all threads."""
        return HTMLResponse(threads_page([*map(_row, self._gate.threads())], self._texts), headers=_HEADERS)

    def thread(self, request: Request) -> Response:
        """Return the page of a thread: what its latest request sent, and why."""
        thread = self._gate.thread(request.path_params["thread_id"])
        if thread is None:
            return PlainTextResponse("This thread no longer exists.\n", 404)
        view, texts = thread.view, self._texts
        if view.selection is None:
            return HTMLResponse(threads_page([_row(thread)], texts), headers=_HEADERS)
        name, sent = " · ".join(filter(None, (thread.id, thread.model))), (*view.turns, *view.recalled)
        page = explanation_page(
            view.selection, thread.past(), decision=None, name=name, texts=texts, notes=_notes(thread, texts), sent=sent
        )
        return HTMLResponse(page, headers=_HEADERS)


@contextmanager
def collected_metrics() -> Iterator[Callable[[], bytes] | None]:
    """Collect metrics within the context; yield their writer for Prometheus, or None without the extra."""
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


def _row(thread: LiveThread) -> dict[str, str]:
    view, bill = thread.view, thread.view.bill if thread.is_priced else None
    return {
        "id": thread.id,
        "api": thread.api.name,
        "model": thread.model,
        "calls": f"{thread.calls:,}",
        "sent": f"{len(view.turns):,}",
        "left_out": f"{len(view.left_out):,}",
        "tokens": f"{view.tokens + view.fixed_tokens:,}",
        "before": f"{view.history_tokens + view.fixed_tokens:,}",
        "dollars": shown_dollars(bill and bill.paid),
        "dollars_before": shown_dollars(bill and bill.everything_paid),
        "cause": view.cause,
    }


def _notes(thread: LiveThread, texts: Texts) -> list[str]:
    view, bill = thread.view, thread.view.bill
    sent = texts(
        "serve.sent_line",
        kept=len(view.turns),
        left_out=len(view.left_out),
        turns=spans(view.left_out, texts) if view.left_out else texts("none"),
        tokens=view.tokens + view.fixed_tokens,
        before=view.history_tokens + view.fixed_tokens,
        cause=view.cause,
    )
    if bill is None or not thread.is_priced:
        return [sent]
    return [sent, texts("serve.dollar_line", paid=shown_dollars(bill.paid), full=shown_dollars(bill.everything_paid))]
