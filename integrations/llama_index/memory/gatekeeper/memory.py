"""A ``Memory`` that selects from all messages, active and archived, and keeps its memory blocks.

::

    memory blocks ──truncate, format──> fixed cost
    active + archived messages ──select within token_limit──> messages + what the blocks say
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ContentBlock
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import Memory
from llama_index.core.memory.memory import BaseMemoryBlock, InsertMethod
from llama_index.core.prompts import RichPromptTemplate
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import Self, Unpack

from gatekeeper_core.arguments import with_suggestions
from llama_index.memory.gatekeeper.fields import MemoryFields, MemoryOptions
from llama_index.memory.gatekeeper.messages import Question, role_of, text_of


class _Options(MemoryOptions, total=False):
    memory_blocks: list[BaseMemoryBlock[Any]] | None
    tokenizer_fn: Callable[[str], list[Any]] | None
    chat_history_token_ratio: float
    token_flush_size: int
    memory_blocks_template: RichPromptTemplate
    insert_method: InsertMethod
    image_token_size_estimate: int
    audio_token_size_estimate: int
    video_token_size_estimate: int
    chat_store: AsyncDBChatStore | None
    table_name: str
    async_database_uri: str | None
    async_engine: AsyncEngine | None
    db_schema: str | None


class GatekeeperMemory(MemoryFields, Memory):
    """A ``Memory`` whose ``get`` selects turns of the whole conversation, and adds the text of the memory blocks.

    The queue works as in LlamaIndex: older messages are archived and passed to the blocks, but can still be selected.
    ``tokenizer_fn`` counts tokens, media are estimated; ``token_limit`` covers the blocks as well.

    >>> memory = GatekeeperMemory.from_defaults(session_id="s", token_limit=2000)
    >>> asyncio.run(memory.aput(ChatMessage("hello")))
    >>> [message.content for message in asyncio.run(memory.aget())], memory.selection_for("s").status
    (['hello'], 'passthrough')
    """

    @classmethod
    def class_name(cls) -> str:
        """Return the name in serialized memories."""
        return "GatekeeperMemory"

    @classmethod
    @with_suggestions(_Options)
    def from_defaults(  # type: ignore[override]  # more names than its base
        cls,
        session_id: str | None = None,
        chat_history: list[ChatMessage] | None = None,
        token_limit: int | None = None,
        *args: Any,
        llm: LLM | None = None,
        **options: Unpack[_Options],
    ) -> Self:
        """Return a memory; ``args`` and ``options`` are those of ``Memory``, and ``MemoryOptions``.

        Raises:
            ConfigError: two different budgets are given.
            TypeError: an option is unknown.
            ValueError: an option is out of range.
        """
        stock = super().from_defaults
        return cls._from_stock(
            lambda limit, **rest: stock(session_id, chat_history, limit, *args, **rest), llm, token_limit, options
        )

    async def aget(self, input: Question = None, **block_kwargs: Any) -> list[ChatMessage]:  # noqa: A002 - theirs
        """Return the messages to send, with the text of the memory blocks.

        Args:
            input: the question, which the blocks see as well; defaults to the last user message.
            block_kwargs: passed to the blocks; ``initial_token_count`` among them counts towards ``token_limit``.
        """
        query, messages = text_of(input), list(await self.aget_all())
        prefix = block_kwargs.get("initial_token_count", 0)
        if self._settings.shadow:
            result, active = await super().aget(input, **block_kwargs), await self.aget_all(MessageStatus.ACTIVE)
            prefix += max(0, await asyncio.to_thread(self._cost, result) - await asyncio.to_thread(self._cost, active))
            await asyncio.to_thread(self._chosen, messages, self.session_id, query, prefix)
            return result
        content, block_messages = await self._from_blocks(messages, input, block_kwargs)
        prefix += await asyncio.to_thread(self._cost, [ChatMessage(blocks=content), *block_messages])
        chosen = await asyncio.to_thread(self._chosen, messages, self.session_id, query, prefix)
        return self._insert_memory_content(chosen, content, block_messages)

    async def _from_blocks(
        self, messages: Sequence[ChatMessage], question: Question, block_kwargs: dict[str, Any]
    ) -> tuple[list[ContentBlock], list[ChatMessage]]:
        """Return the content of the memory blocks for one message, and their messages, truncated as in LlamaIndex.

        The history reserves its share of the limit, ``chat_history_token_ratio``, or less if it is smaller.
        """
        if not self.memory_blocks:
            return [], []
        history = await self.aget_all(status=MessageStatus.ACTIVE)
        if isinstance(question, ChatMessage):
            history, question = [*history, question], None
        contents = await self._get_memory_blocks_content(history, input=question, **block_kwargs)
        tokens = sum(self._estimate_token_count(content) for content in contents.values())
        share = int(self.token_limit * self.chat_history_token_ratio)
        share = min(share, await asyncio.to_thread(self._cost, messages))
        contents = await self._truncate_memory_blocks(contents, tokens, share)
        data, block_messages = await self._format_memory_blocks(contents)
        formatted = self.memory_blocks_template.format_messages(memory_blocks=data) if data else []
        return list(formatted[0].blocks) if formatted else [], block_messages

    def _insert_memory_content(
        self, chat_history: list[ChatMessage], memory_content: list[ContentBlock], chat_message_data: list[ChatMessage]
    ) -> list[ChatMessage]:
        """Insert like LlamaIndex, but never into a stored message, and messages after the system messages."""
        copies = [message.model_copy() for message in chat_history]
        stored = {id(copy): message for copy, message in zip(copies, chat_history, strict=True)}
        inserted = super()._insert_memory_content(copies, memory_content, [])
        result = []
        for message in inserted:
            original = stored.get(id(message))
            result.append(original if original is not None and original.blocks is message.blocks else message)
        head = next((at for at, message in enumerate(result) if role_of(message) != "system"), len(result))
        return [*result[:head], *chat_message_data, *result[head:]]
