"""A pytest plugin: wherever langchain-classic's tests take a buffer memory, they get the gatekeeper's."""

from __future__ import annotations

from typing import Any

import langchain_classic.memory
import langchain_classic.memory.buffer
import langchain_classic.memory.buffer_window
import langchain_classic.memory.token_buffer

from gatekeeper_core.context.history.strategies import HistoryConfig
from langchain_gatekeeper import GatekeeperChatMemory


class Ours(GatekeeperChatMemory):
    """The gatekeeper's memory, with errors shown instead of survived; settings of the stock classes are left out."""

    config: HistoryConfig | None = HistoryConfig(on_error="raise")

    def __init__(self, **arguments: Any) -> None:
        known = arguments.keys() & type(self).model_fields.keys()
        super().__init__(**{"embedder": None, **{name: arguments[name] for name in known}})


for module, name in (
    (langchain_classic.memory.buffer, "ConversationBufferMemory"),
    (langchain_classic.memory.buffer_window, "ConversationBufferWindowMemory"),
    (langchain_classic.memory.token_buffer, "ConversationTokenBufferMemory"),
):
    setattr(module, name, Ours)
    setattr(langchain_classic.memory, name, Ours)
