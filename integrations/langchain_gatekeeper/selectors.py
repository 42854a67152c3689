"""Selectors over LangChain's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.prompt.adapter_selection import SelectionOptions, full_run, take_settings
from gatekeeper_meaning.adapter import adapter_encoder
from langchain_gatekeeper.messages import read_message, write_message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from langchain_core.embeddings import Embeddings
    from langchain_core.messages import BaseMessage

    from gatekeeper_core.embedding import Embedder
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.messages import Message
    from gatekeeper_core.storage.base import RecordStore
    from gatekeeper_core.tokens import TokenCounter

    AnyEmbedder = Embedder | TextEncoder | Embeddings | Literal["auto"]


class SelectorOptions(SelectionOptions, total=False):
    """Options of LangChain's adapters; see ``GatekeeperSelector``."""

    token_counter: TokenCounter | None
    embedder: AnyEmbedder | None


def message_selector(
    config: HistoryConfig | None,
    options: Mapping[str, Any],
    *,
    read: Callable[[BaseMessage], Message] = read_message,
    shrinks_run: bool = False,
    states: RecordStore | None = None,
) -> ThreadSelector[BaseMessage]:
    """Return a selector over LangChain's messages; without ``shrinks_run`` the current run is sent in full.

    Raises:
        TypeError: an option is unknown.
    """
    if unknown := sorted(options.keys() - SelectorOptions.__annotations__.keys()):
        raise TypeError(f"unexpected keyword argument {', '.join(unknown)}: pass further settings in config")
    rest = {**options, "embedder": adapter_encoder(options.get("embedder", "auto"))}
    config = take_settings(config, rest)
    config = config if shrinks_run else full_run(config)
    return ThreadSelector(read, write=write_message, config=config, states=states, **rest)
