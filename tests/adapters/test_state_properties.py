"""The properties of ``tests/context/history/test_state_properties.py`` through the adapters themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from langchain.agents import create_agent
from llama_index.core.storage.chat_store import SimpleChatStore

from gatekeeper_core import HistoryConfig
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware
from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer
from tests.adapters.chats import texts
from tests.adapters.histories import to_langchain, to_llama_index
from tests.adapters.scripted import Scripted
from tests.adapters.test_langchain_memory import Stored
from tests.thread_scripts import CHANGING, Way, played, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_core import HistoryView, InMemoryStore, Message


class Middleware(Way):
    """An agent, which gets the whole conversation at each call."""

    def __init__(self, config: HistoryConfig, store: InMemoryStore) -> None:
        super().__init__(config, store)
        self._model = Scripted()
        self._middleware = GatekeeperMiddleware(config, token_counter=tokens_of, states=store)
        self._agent: Any = create_agent(self._model, middleware=[self._middleware])

    def view(self, thread: str | None, messages: Sequence[Message]) -> tuple[list[str], HistoryView]:
        named = {"configurable": {"thread_id": thread}} if thread else {}
        self._agent.invoke({"messages": to_langchain(messages)}, named)
        return [message.text for message in self._model.seen[-1]], self._middleware.last_selection


class ChatMemory(Way):
    """One memory, which is given the history of each conversation in turn; the question is elsewhere."""

    def __init__(self, config: HistoryConfig, store: InMemoryStore) -> None:
        super().__init__(config, store)
        self._memory = GatekeeperChatMemory(config=config, token_counter=tokens_of, return_messages=True)

    def view(self, thread: str | None, messages: Sequence[Message]) -> tuple[list[str], HistoryView]:
        self._memory.chat_memory = Stored(messages=to_langchain(messages[:-1]), session_id=thread)
        loaded = self._memory.load_memory_variables({"input": messages[-1].text})["history"]
        return [*(message.text for message in loaded), messages[-1].text], self._memory.last_selection


class Buffer(Way):
    """A buffer on a store of many conversations; each has a key."""

    def __init__(self, config: HistoryConfig, store: InMemoryStore) -> None:
        super().__init__(config, store)
        self._memory = GatekeeperMemoryBuffer.from_defaults(
            chat_store=SimpleChatStore(), tokenizer_fn=lambda text: [0] * tokens_of(text), config=config
        )

    def view(self, thread: str | None, messages: Sequence[Message]) -> tuple[list[str], HistoryView]:
        self._memory.chat_store_key = thread or "chat_history"
        self._memory.set(to_llama_index(messages))
        return texts(self._memory.get()), self._memory.last_selection


each_adapter = pytest.mark.parametrize("way", [Middleware, ChatMemory, Buffer])


@each_adapter
@CHANGING
def test_every_turn_that_is_chosen_is_sent_and_no_other_takes_its_place(
    way: Any, script: Any, settings: Any, **rest: Any
) -> None:
    for question in played(script, way, HistoryConfig(on_error="raise", **settings), **rest):
        question.check()
        selection, (*texts, last) = question.sent.view.selection, question.sent.texts
        used = sum(map(tokens_of, [*texts, last[: -len(question.messages[-1].text)]]))
        assert used >= (selection.tokens if selection else 0)
