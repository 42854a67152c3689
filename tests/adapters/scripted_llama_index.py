"""Scripted models of LlamaIndex that call themselves chat models in every version, and agents that run several times.

The option for a chat model came with 0.14.22.
"""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, LLMMetadata
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLMWithChatMemoryOfLastCall
from llama_index.core.memory import BaseMemory
from llama_index.core.workflow import Context


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


def run_agent(agent: Any, memory: BaseMemory, *questions: str | ChatMessage) -> list[str]:
    """Run an agent at least three times with one context, and return its answers.

    LlamaIndex writes and reads the context between two runs: the memory in it must stay the user's own.
    """

    async def run() -> list[str]:
        context, answers = Context(agent), []
        for question in (*questions, *["And now?"] * (3 - len(questions))):
            answers.append(str(await agent.run(question, ctx=context, memory=memory)))
            assert await context.store.get("memory") is memory
        return answers

    return asyncio.get_event_loop().run_until_complete(run())
