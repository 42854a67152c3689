"""A chat memory buffer as it is kept: its history in a chat store, itself as a dict or a text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import field_serializer
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore

from gatekeeper_core.context.prompt.builder import ContextBuilder
from llama_index.memory.gatekeeper.building import BuilderOptions

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["StoredBuffer"]


class StoredBuffer(BuilderOptions, ChatMemoryBuffer):
    """A ``ChatMemoryBuffer`` that keeps its own list of messages, and that every version of pydantic can write."""

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace the history; the list stays the caller's."""
        super().set(list(messages))

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Replace the history; the list stays the caller's."""
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
        **kwargs: Any,
    ) -> Self:
        """Return the memory that ``to_dict`` has written, or that of a ``ChatMemoryBuffer``.

        The tokenizer is not part of it: a loaded memory has LlamaIndex's default one.

        Args:
            data: the dict; it is not changed.
            chat_store: stands in for the written one. LlamaIndex itself loads a ``SimpleChatStore`` only.
            builder: the builder, which is not part of it either.
            kwargs: not read, as in LlamaIndex.
        """
        if chat_store is not None:
            return cls(**{**data, "chat_store": chat_store, "builder": builder})
        loaded = cast("Self", super().from_dict(dict(data), **kwargs))
        return cls._with(loaded, builder=builder) if builder else loaded

    @field_serializer("chat_store")
    def serialize_courses_in_order(self, chat_store: BaseChatStore) -> dict[str, Any]:
        """Return the store as a dict; the name is LlamaIndex's, whose own cannot write messages on pydantic 2.14."""
        if not isinstance(chat_store, SimpleChatStore):
            return super().serialize_courses_in_order(chat_store)
        store = {key: [message.model_dump(mode="json") for message in kept] for key, kept in chat_store.store.items()}
        return {**chat_store.model_dump(exclude={"store"}), "store": store, "class_name": chat_store.class_name()}
