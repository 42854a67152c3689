"""LlamaIndex's memories, as methods of the speed benchmark; both count with their default tokenizer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

from benchmarks.speed_methods import BUDGET, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Buffer", "Waterfall"]

_THREAD = "thread"
_ACTIVE_TURNS = 100  # more than the budget holds, so that the memory itself moves the oldest out
_CHUNK = 1_000  # messages in one insert


def _messages(user: str, assistant: str) -> list[ChatMessage]:
    return [ChatMessage(role="user", content=user), ChatMessage(role="assistant", content=assistant)]


class Buffer(Subject):
    """``ChatMemoryBuffer.get``: it counts the history again for each message that it leaves out."""

    def __init__(self) -> None:
        self._memory = ChatMemoryBuffer.from_defaults(token_limit=BUDGET)

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        self._memory.set([message for turn in turns for message in _messages(*turn)])

    def ask(self, question: str) -> None:
        self._memory.get(question)

    def add(self, user: str, assistant: str) -> None:
        for message in _messages(user, assistant):
            self._memory.put(message)


class Waterfall(Subject):
    """``Memory.aget`` and ``aput`` on its default store, SQLite in memory.

    What its limit has moved out earlier is loaded as archived; the last turns go in by ``aput_messages``.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._store = SQLAlchemyChatStore(table_name="messages")
        self._memory = Memory.from_defaults(
            session_id=_THREAD, token_limit=BUDGET, token_flush_size=BUDGET // 10, chat_store=self._store
        )

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        self._loop.run_until_complete(self._load(turns))

    async def _load(self, turns: Sequence[tuple[str, str]]) -> None:
        messages = [message for turn in turns for message in _messages(*turn)]
        active = 2 * min(len(turns), _ACTIVE_TURNS)
        past = messages[:-active]
        for at in range(0, len(past), _CHUNK):
            await self._store.add_messages(_THREAD, past[at : at + _CHUNK], status=MessageStatus.ARCHIVED)
        await self._memory.aput_messages(messages[-active:])

    def ask(self, question: str) -> None:
        self._loop.run_until_complete(self._memory.aget(question))

    def add(self, user: str, assistant: str) -> None:
        self._loop.run_until_complete(self._put(user, assistant))

    async def _put(self, user: str, assistant: str) -> None:
        for message in _messages(user, assistant):
            await self._memory.aput(message)
