"""``gatekeeper serve``: the options and the start of the proxy."""

from __future__ import annotations

import gc
import logging
from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import typer

from gatekeeper_cli.options import HELP, Lang, checked_budget
from gatekeeper_cli.output import note, refused_without
from gatekeeper_cli.texts import Language, speak
from gatekeeper_core.context.history.strategies import HistoryConfig

_TOKEN_VARIABLE = "GATEKEEPER_TOKEN"  # noqa: S105 - its name
_MEGABYTE = 1_000_000
_SHUTDOWN_SECONDS = 5
_GC_THRESHOLDS = 5_000, 20, 50
"""For ``gc.set_threshold``. Source: ``benchmarks.serve``. A full collection scans the messages of all threads; with
Python's defaults it sets the 99th percentile of the requests."""


class _Strategy(str, Enum):
    """The strategies of ``HistoryConfig`` that the proxy offers."""

    gate = "gate"
    fill = "fill"
    cache = "cache"


@dataclass(frozen=True)
class _Selecting:
    strategy: Annotated[_Strategy, typer.Option("--strategy", help=HELP("help.serve_strategy"))] = _Strategy.gate
    budget: Annotated[int | None, typer.Option("--budget", help=HELP("help.serve_budget"))] = None
    shadow: Annotated[bool, typer.Option("--shadow", help=HELP("help.serve_shadow"))] = False


@dataclass(frozen=True)
class _Upstream:
    openai_url: Annotated[str, typer.Option("--openai-url", help=HELP("help.openai_url"), metavar="URL")] = (
        "https://api.openai.com"
    )
    anthropic_url: Annotated[str, typer.Option("--anthropic-url", help=HELP("help.anthropic_url"), metavar="URL")] = (
        "https://api.anthropic.com"
    )
    connect_timeout: Annotated[
        float, typer.Option("--connect-timeout", help=HELP("help.connect_timeout"), metavar="SECONDS")
    ] = 10.0
    idle_timeout: Annotated[
        float, typer.Option("--idle-timeout", help=HELP("help.idle_timeout"), metavar="SECONDS")
    ] = 600.0


@dataclass(frozen=True)
class _Listening:
    host: Annotated[str, typer.Option("--host", help=HELP("help.host"))] = "127.0.0.1"
    port: Annotated[int, typer.Option("--port", help=HELP("help.port"), min=1, max=65_535)] = 8787
    token: Annotated[
        str, typer.Option("--token", help=HELP("help.token"), envvar=_TOKEN_VARIABLE, show_default=False)
    ] = ""
    max_body_mb: Annotated[int, typer.Option("--max-body-mb", help=HELP("help.max_body_mb"), min=1)] = 32


def serve(selecting: _Selecting, upstream: _Upstream, listening: _Listening, lang: Lang = Language.auto) -> None:
    """Start a local proxy that sends, with each request, only the earlier turns that it needs."""
    texts = speak(lang)
    packages = ("anyio", "httpx", "jinja2", "starlette", "uvicorn")
    with refused_without(*packages, reason=texts("error.serve_extra")):
        import uvicorn

        from gatekeeper_serve import ServeSettings, create_app
        from gatekeeper_serve.settings import KEEP_ALIVE_SECONDS
    budget = None if selecting.budget is None else checked_budget(selecting.budget)
    settings = ServeSettings(
        history=HistoryConfig(strategy=selecting.strategy.value, token_budget=budget, shadow=selecting.shadow),
        openai_url=upstream.openai_url,
        anthropic_url=upstream.anthropic_url,
        host=listening.host,
        token=listening.token,
        connect_seconds=upstream.connect_timeout,
        idle_seconds=upstream.idle_timeout,
        max_body_bytes=listening.max_body_mb * _MEGABYTE,
    )
    host = f"[{listening.host}]" if ":" in listening.host else listening.host
    note(texts("serve.started", url=f"http://{host}:{listening.port}"))
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    uvicorn.run(
        create_app(settings, texts=texts),
        host=listening.host,
        port=listening.port,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # addresses may hold keys
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
