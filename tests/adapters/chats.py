"""Short chats in LlamaIndex's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_index.core.base.llms.types import ChatMessage

if TYPE_CHECKING:
    from collections.abc import Sequence


def user(text: str) -> ChatMessage:
    return ChatMessage(text, role="user")


def assistant(text: str) -> ChatMessage:
    return ChatMessage(text, role="assistant")


def history_of(pairs: Sequence[tuple[str, str]]) -> list[ChatMessage]:
    return [message for question, answer in pairs for message in (user(question), assistant(answer))]


def texts(messages: Sequence[ChatMessage]) -> list[str]:
    return [message.content or "" for message in messages]


def words(text: str) -> list[str]:
    return text.split()
