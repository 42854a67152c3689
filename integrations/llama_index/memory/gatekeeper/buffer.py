"""A chat memory buffer that gives the turns that matter instead of the newest ones; its chat store holds everything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import field_serializer
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.memory.types import DEFAULT_CHAT_STORE_KEY
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore

from gatekeeper_core.context.history.strategies import HistoryConfig, Strategy
from gatekeeper_core.errors import BudgetError
from gatekeeper_core.messages import Provider
from llama_index.memory.gatekeeper.building import BuilderOptions
from llama_index.memory.gatekeeper.cache_marks import is_anthropic
from llama_index.memory.gatekeeper.options import Places, limit_for, one_budget
from llama_index.memory.gatekeeper.reading import Question, text_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from gatekeeper_core.context.prompt.builder import ContextBuilder
    from llama_index.memory.gatekeeper.building import AnyEmbedder

__all__ = ["GatekeeperMemoryBuffer"]


class GatekeeperMemoryBuffer(BuilderOptions, ChatMemoryBuffer):
    """A ``ChatMemoryBuffer`` whose ``get`` chooses: whole turns, within ``token_limit``, for the current question.

    Everything else is as in LlamaIndex: the constructors, the store, ``get_all``, ``put``, ``set``, ``reset``; but a
    caller's list stays the caller's, and every version of pydantic can write the memory. Tokens are counted by
    ``tokenizer_fn``: texts, names and arguments of calls, and an estimate for media.

    >>> memory = GatekeeperMemoryBuffer.from_defaults([ChatMessage("hello")], token_limit=2000)
    >>> [message.content for message in memory.get()], memory.last_selection.status
    (['hello'], 'passthrough')
    """

    @classmethod
    def class_name(cls) -> str:
        """Return the name that serialized memories carry."""
        return "GatekeeperMemoryBuffer"

    @classmethod
    def from_defaults(
        cls,
        chat_history: list[ChatMessage] | None = None,
        llm: LLM | None = None,
        chat_store: BaseChatStore | None = None,
        chat_store_key: str = DEFAULT_CHAT_STORE_KEY,
        token_limit: int | None = None,
        tokenizer_fn: Callable[[str], list[Any]] | None = None,
        *,
        token_budget: int | None = None,
        strategy: Strategy | None = None,
        coverage: float | None = None,
        keep_newest: int | None = None,
        pinned: Places = (),
        exclude: Places = (),
        config: HistoryConfig | None = None,
        builder: ContextBuilder | None = None,
        user: str | None = None,
        tenant: str = "default",
        provider: Provider = "gemini",
        cache_marks: bool | None = None,
        embedder: AnyEmbedder | None = "auto",
        **kwargs: Any,
    ) -> Self:
        """Return a memory; the options before the star are LlamaIndex's, those after it ``BuilderOptions``.

        ``token_budget`` is another name for ``token_limit``. Without one the budget is that of ``config`` or
        ``builder``, without either three quarters of what ``llm`` reads; 16,000 where that is not known, which is
        logged. ``cache_marks`` is on where ``llm`` is LlamaIndex's ``Anthropic``, and the prices are those of ``llm``.

        Raises:
            ConfigError: two different budgets are given.
            ValueError: an option is unknown or out of range.
        """
        history = None if chat_history is None else list(chat_history)
        token_limit, config = one_budget(config, builder, token_limit=token_limit, token_budget=token_budget)
        token_limit = token_limit or limit_for(llm)
        stock = super().from_defaults(history, llm, chat_store, chat_store_key, token_limit, tokenizer_fn, **kwargs)
        return cls._with(
            stock,
            config=config,
            strategy=strategy,
            coverage=coverage,
            keep_newest=keep_newest,
            pinned=pinned,
            exclude=exclude,
            builder=builder,
            user=user,
            tenant=tenant,
            provider=provider,
            cache_marks=is_anthropic(llm) if cache_marks is None else cache_marks,
            llm_name=None if llm is None else llm.metadata.model_name,
            embedder=embedder,
        )

    # ``input`` is LlamaIndex's name.
    def get(self, input: Question = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return the messages to send, in their order: the store's own objects, or copies that are cut, in a new list.

        Args:
            input: the question, where the caller knows it; else the last user message is the question.
            initial_token_count: tokens that are sent besides, and count towards ``token_limit``.
            kwargs: read in shadow mode only, by LlamaIndex's own ``get``.

        Raises:
            ValueError: ``initial_token_count`` is larger than ``token_limit``.
        """
        self._check_prefix(initial_token_count)
        query = text_of(input)
        chosen = self._chosen(list(self.get_all()), self.chat_store_key, query, initial_token_count)
        return super().get(query, initial_token_count, **kwargs) if self._settings.shadow else chosen

    async def aget(self, input: Question = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return the messages to send, as :meth:`get` does; the loop waits neither for the store nor the selection."""
        self._check_prefix(initial_token_count)
        query, messages = text_of(input), list(await self.aget_all())
        chosen = await asyncio.to_thread(self._chosen, messages, self.chat_store_key, query, initial_token_count)
        if self._settings.shadow:
            return await asyncio.to_thread(super().get, query, initial_token_count, **kwargs)
        return chosen

    def _check_prefix(self, initial_token_count: int) -> None:
        if initial_token_count > self.token_limit:
            # The text is LlamaIndex's, to the letter; the numbers are in the cause.
            numbers = BudgetError(needed_tokens=initial_token_count, available_tokens=self.token_limit)
            raise ValueError("Initial token count exceeds token limit") from numbers

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace the history."""
        super().set(list(messages))

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Replace the history."""
        await super().aset(list(messages))

    @classmethod
    def from_string(cls, json_str: str, **arguments: Any) -> Self:
        """Return the memory that ``to_string`` has written; the arguments are those of :meth:`from_dict`."""
        return cls.from_dict(json.loads(json_str), **arguments)

    @classmethod
    def from_dict(
        cls,
        data: dict[str, Any],
        *,
        chat_store: BaseChatStore | None = None,
        builder: ContextBuilder | None = None,
        embedder: AnyEmbedder | None = "auto",
        pinned: Places = (),
        exclude: Places = (),
        **kwargs: Any,
    ) -> Self:
        """Return the memory that ``to_dict`` has written, or that of a ``ChatMemoryBuffer``.

        What the arguments name is no part of it, and a loaded memory has LlamaIndex's default tokenizer.

        Args:
            data: the dict; it is not changed.
            chat_store: stands in for the written one. LlamaIndex itself loads a ``SimpleChatStore`` only.
            builder: the builder.
            embedder: the embedder; None: words alone.
            pinned: messages that are always sent.
            exclude: messages that are never sent.
            kwargs: not read, as in LlamaIndex.
        """
        objects = {"builder": builder, "embedder": embedder, "pinned": pinned, "exclude": exclude}
        if chat_store is not None:
            return cls(**{**data, "chat_store": chat_store, **objects})
        loaded = super().from_dict(dict(data), **kwargs)
        return loaded if embedder == "auto" and not (builder or pinned or exclude) else cls._with(loaded, **objects)

    @field_serializer("chat_store")
    def serialize_courses_in_order(self, chat_store: BaseChatStore) -> dict[str, Any]:
        """Return the store as a dict; the name is LlamaIndex's, whose own cannot write messages on pydantic 2.14."""
        if not isinstance(chat_store, SimpleChatStore):
            return super().serialize_courses_in_order(chat_store)
        store = {key: [message.model_dump(mode="json") for message in kept] for key, kept in chat_store.store.items()}
        return {**chat_store.model_dump(exclude={"store"}), "store": store, "class_name": chat_store.class_name()}
