"""Selectors over LangChain's messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.messages import BaseMessage

from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig, with_options
from gatekeeper_core.errors import ConfigError
from gatekeeper_meaning.adapter import adapter_encoder
from langchain_gatekeeper.reading import read_message, write_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from langchain_core.embeddings import Embeddings

    from gatekeeper_core.context.history.pins import Pins
    from gatekeeper_core.embedding import Embedder
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.messages import Message
    from gatekeeper_core.storage.base import RecordStore
    from gatekeeper_core.tokens import TokenCounter

    AnyEmbedder = Embedder | TextEncoder | Embeddings | Literal["auto"]

__all__ = ["selector_of_threads", "whole_run"]


def selector_of_threads(
    config: HistoryConfig,
    token_counter: TokenCounter | None,
    *,
    read: Callable[[BaseMessage], Message] = read_message,
    states: RecordStore | None = None,
    embedder: AnyEmbedder | None = "auto",
    pinned: Pins = (),
    exclude: Pins = (),
) -> ThreadSelector[BaseMessage]:
    """Return what selects from LangChain's messages, and remembers each thread."""
    return ThreadSelector(
        read,
        write=write_message,
        config=config,
        token_counter=token_counter,
        states=states,
        embedder=adapter_encoder(embedder),
        pinned=pinned,
        exclude=exclude,
    )


def whole_run(config: HistoryConfig | None, **options: Any) -> HistoryConfig:
    """Return settings with which the current run is sent whole, as everywhere but in an agent's middleware.

    Args:
        config: the settings.
        options: those by name, as for :func:`with_options`.

    Raises:
        ConfigError: they say how a run is to be made smaller, or an option is out of range.
        TypeError: they are something else.
    """
    config = with_options(config, **options)
    if config.run not in (None, RunConfig()):
        raise ConfigError("HistoryConfig.run: only GatekeeperMiddleware makes a run smaller; leave it out")
    return replace(config, run=None)
