"""A chat memory buffer that gives the turns that matter instead of the newest ones.

The chat store holds everything and is only read here; each call looks at it anew, so that whatever else writes to it is
noticed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.llm import LLM
from llama_index.core.memory.types import DEFAULT_CHAT_STORE_KEY
from llama_index.core.storage.chat_store import BaseChatStore

from gatekeeper_core.context.history.modes import HistoryConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.messages import Provider
from llama_index.memory.gatekeeper.options import one_budget
from llama_index.memory.gatekeeper.reading import Question, text_of
from llama_index.memory.gatekeeper.stored import StoredBuffer

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["GatekeeperMemoryBuffer"]


class GatekeeperMemoryBuffer(StoredBuffer):
    """A ``ChatMemoryBuffer`` whose ``get`` chooses: whole turns, within ``token_limit``, for the current question.

    Everything else is as in LlamaIndex: the constructors, the store, ``get_all``, ``put``, ``set``, ``reset``. Tokens
    are counted by ``tokenizer_fn``: texts, names and arguments of calls, and an estimate for media.

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
        config: HistoryConfig | None = None,
        builder: ContextBuilder | None = None,
        user: str | None = None,
        tenant: str = "default",
        provider: Provider = "gemini",
        **kwargs: Any,
    ) -> Self:
        """Return a memory; the options before the star are LlamaIndex's, those after it ``BuilderOptions``.

        Without a ``token_limit`` the budget is that of ``config`` or ``builder``, without either LlamaIndex's default.

        Raises:
            ConfigError: two different budgets are given.
            ValueError: an option is unknown or out of range.
        """
        history = None if chat_history is None else list(chat_history)
        token_limit, config = one_budget(token_limit, config, builder)
        stock = super().from_defaults(history, llm, chat_store, chat_store_key, token_limit, tokenizer_fn, **kwargs)
        return cls._with(
            stock,
            config=config,
            builder=builder,
            user=user,
            tenant=tenant,
            provider=provider,
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
        chosen = self._chosen(list(self.get_all()), query, initial_token_count)
        return super().get(query, initial_token_count, **kwargs) if self._settings.shadow else chosen

    async def aget(self, input: Question = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return the messages to send, as :meth:`get` does; the loop waits neither for the store nor the selection."""
        self._check_prefix(initial_token_count)
        query, messages = text_of(input), list(await self.aget_all())
        chosen = await asyncio.to_thread(self._chosen, messages, query, initial_token_count)
        if self._settings.shadow:
            return await asyncio.to_thread(super().get, query, initial_token_count, **kwargs)
        return chosen

    def _chosen(self, messages: Sequence[ChatMessage], query: str | None, fixed_tokens: int) -> list[ChatMessage]:
        arguments: Any = {"thread": self.chat_store_key, "query": query, "fixed_tokens": fixed_tokens}
        if self._requests:
            return self._built(self._requests, messages, **arguments)
        return self._current_selector().kept(messages, self._select(messages, **arguments))

    def _check_prefix(self, initial_token_count: int) -> None:
        if initial_token_count > self.token_limit:
            raise ValueError(
                f"Initial token count exceeds token limit: {initial_token_count} tokens are sent before the history "
                f"and token_limit is {self.token_limit}; raise token_limit or shorten the system prompt"
            )

    def _budget_tokens(self) -> int:
        return self.token_limit
