"""Scripted models of LlamaIndex that call themselves chat models in every version; the option came with 0.14.22."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLMWithChatMemoryOfLastCall


class CallingModel(MockFunctionCallingLLM):
    """A model that calls tools."""

    @property
    def metadata(self) -> LLMMetadata:
        return super().metadata.model_copy(update={"is_chat_model": True})


class RememberingModel(MockLLMWithChatMemoryOfLastCall):
    """A model that keeps what it was sent."""

    @property
    def metadata(self) -> LLMMetadata:
        return super().metadata.model_copy(update={"is_chat_model": True})


class RefusedError(Exception):
    """A request is too long."""


class RefusingModel(RememberingModel):
    """A model that keeps what it was sent, and refuses a request with more characters than ``max_chars``."""

    max_chars: int = 3000

    def chat(self, messages: Sequence[ChatMessage], **more: Any) -> ChatResponse:
        answer = super().chat(messages, **more)
        if sum(len(message.content or "") for message in messages) > self.max_chars:
            raise RefusedError
        return answer
