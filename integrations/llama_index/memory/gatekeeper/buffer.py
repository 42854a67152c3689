"""A chat memory buffer that returns the turns that matter, not the newest ones; its store keeps everything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import field_serializer
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.memory.types import DEFAULT_CHAT_STORE_KEY
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore
from typing_extensions import Self, Unpack

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.errors import BudgetError
from llama_index.memory.gatekeeper.fields import MemoryFields, MemoryOptions
from llama_index.memory.gatekeeper.messages import Question, text_of


class GatekeeperMemoryBuffer(MemoryFields, ChatMemoryBuffer):
    """A ``ChatMemoryBuffer`` whose ``get`` selects whole turns for the current question, within ``token_limit``.

    The rest is as in LlamaIndex, but your lists are never changed, and every version of pydantic can write the memory.
    ``tokenizer_fn`` counts texts, names and arguments of calls; media are estimated.

    >>> memory = GatekeeperMemoryBuffer.from_defaults([ChatMessage("hello")], token_limit=2000)
    >>> [message.content for message in memory.get()], memory.last_selection.status
    (['hello'], 'passthrough')
    """

    @classmethod
    def class_name(cls) -> str:
        """Return the name in serialized memories."""
        return "GatekeeperMemoryBuffer"

    @classmethod
    @with_suggestions(MemoryOptions)
    def from_defaults(  # type: ignore[override]  # more names than its base
        cls,
        chat_history: list[ChatMessage] | None = None,
        llm: LLM | None = None,
        chat_store: BaseChatStore | None = None,
        chat_store_key: str = DEFAULT_CHAT_STORE_KEY,
        token_limit: int | None = None,
        tokenizer_fn: Callable[[str], list[Any]] | None = None,
        **options: Unpack[MemoryOptions],
    ) -> Self:
        """Return a memory; ``options`` are ``MemoryOptions``, the other arguments LlamaIndex's.

        Raises:
            ConfigError: two different budgets are given.
            TypeError: an option is unknown.
            ValueError: an option is out of range.
        """
        history, stock = None if chat_history is None else list(chat_history), super().from_defaults
        return cls._from_stock(
            lambda limit, **rest: stock(history, llm, chat_store, chat_store_key, limit, tokenizer_fn, **rest),
            llm,
            token_limit,
            options,
        )

    # ``input`` is LlamaIndex's name.
    def get(self, input: Question = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return the messages to send, in order, as a new list of the store's objects or shortened copies.

        Args:
            input: the question; defaults to the last user message.
            initial_token_count: additional tokens that count towards ``token_limit``.
            kwargs: used in shadow mode only, by LlamaIndex's own ``get``.

        Raises:
            ValueError: ``initial_token_count`` is larger than ``token_limit``.
        """
        query = self._query_of(input, initial_token_count)
        chosen = self._chosen(list(self.get_all()), self.chat_store_key, query, initial_token_count)
        return super().get(query, initial_token_count, **kwargs) if self._settings.shadow else chosen

    async def aget(self, input: Question = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return the messages to send, as :meth:`get` does, without blocking the event loop."""
        query, messages = self._query_of(input, initial_token_count), list(await self.aget_all())
        chosen = await asyncio.to_thread(self._chosen, messages, self.chat_store_key, query, initial_token_count)
        if self._settings.shadow:
            return await asyncio.to_thread(super().get, query, initial_token_count, **kwargs)
        return chosen

    def _query_of(self, question: Question, initial_token_count: int) -> str | None:
        if initial_token_count > self.token_limit:
            # LlamaIndex's exact text; the numbers are in the cause.
            numbers = BudgetError(needed_tokens=initial_token_count, available_tokens=self.token_limit)
            raise ValueError("Initial token count exceeds token limit") from numbers
        return text_of(question)

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace the history."""
        super().set(list(messages))

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Replace the history."""
        await super().aset(list(messages))

    @classmethod
    def from_string(cls, json_str: str, **arguments: Any) -> Self:
        """Return a memory from the output of ``to_string``; the arguments are those of :meth:`from_dict`."""
        return cls.from_dict(json.loads(json_str), **arguments)

    @classmethod
    def from_dict(cls, data: dict[str, Any], *, chat_store: BaseChatStore | None = None, **options: Any) -> Self:
        """Return a memory from the output of ``to_dict``, also of a ``ChatMemoryBuffer``, with the default tokenizer.

        Args:
            data: the dict; it is not changed.
            chat_store: replaces the written one. LlamaIndex itself loads only a ``SimpleChatStore``.
            options: replace the written ones; ``builder``, ``pinned``, ``exclude`` and embedders are not written.
        """
        if chat_store is not None:
            return cls(**{**data, "chat_store": chat_store, **options})
        loaded = super().from_dict(dict(data))
        return cls._with(loaded, **options) if options else loaded

    @field_serializer("chat_store")
    def serialize_courses_in_order(self, chat_store: BaseChatStore) -> dict[str, Any]:
        """Return the store as a dict, under LlamaIndex's name: its own cannot write messages on pydantic 2.14."""
        if not isinstance(chat_store, SimpleChatStore):
            return super().serialize_courses_in_order(chat_store)
        store = {key: [message.model_dump(mode="json") for message in kept] for key, kept in chat_store.store.items()}
        return {**chat_store.model_dump(exclude={"store"}), "store": store, "class_name": chat_store.class_name()}
