"""Scripted models of LlamaIndex that call themselves chat models in every version; the option came with 0.14.22."""

from __future__ import annotations

from llama_index.core.base.llms.types import LLMMetadata
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
