"""An agent with tools on LlamaIndex: the gatekeeper as its memory.

In the checkout: pip install ".[llama-index]"
After the first release: pip install "context-gatekeeper[llama-index]"

The model is scripted, so that the program runs offline: it calls a tool when it is asked for the weather, and otherwise
answers from what it reads.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM

from gatekeeper_core.context.history.strategies import HistoryConfig
from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer

if TYPE_CHECKING:
    from collections.abc import Sequence

READ: list[list[ChatMessage]] = []


def weather(city: str) -> str:
    """Return the weather of a city."""
    return f"{city}: rain in the morning, 12 degrees, then sun. " + "Wind from the west, light. " * 30


def script(messages: Sequence[ChatMessage], **more: Any) -> ChatMessage:
    """Return what the scripted model answers."""
    READ.append(list(messages))
    question = next(message.content or "" for message in reversed(messages) if message.role == MessageRole.USER)
    if messages[-1].role == MessageRole.TOOL:
        return said(TextBlock(text=f"The service says: {(messages[-1].content or '')[:40]}"))
    if city := re.search(r"weather in (\w+)", question):
        call = ToolCallBlock(tool_call_id=f"call-{len(READ)}", tool_name="weather", tool_kwargs={"city": city[1]})
        return said(call)
    found = re.search(r"budget is (\d+)", " ".join(message.content or "" for message in messages))
    return said(TextBlock(text=f"The budget is {found[1]}." if found and "how much" in question else "Noted."))


def said(block: Any) -> ChatMessage:
    """Return an answer of one block."""
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=[block])


async def main() -> None:
    """Fill a memory with the results of tools, then ask for something that was said before them."""
    model = MockFunctionCallingLLM(response_generator=script, is_chat_model=True)
    agent = FunctionAgent(llm=model, tools=[weather], system_prompt="You plan journeys.")
    memory = GatekeeperMemoryBuffer.from_defaults(token_limit=600, config=HistoryConfig(passthrough_below=0))

    async def ask(text: str) -> str:
        return str(await agent.run(text, memory=memory))  # the one argument

    await ask("The travel budget is 1900 francs for the whole journey.")
    for city in ("Bern", "Turin", "Lyon", "Graz", "Split"):
        await ask(f"New topic: what is the weather in {city}?")
    answer = await ask("Back to the travel budget: how much was the budget?")

    view = memory.last_selection
    assert view is not None
    print(f"answer: {answer}")
    print(f"sent {view.tokens} of {view.history_tokens} tokens, turns {sorted(view.turns)} of {view.turn_count}")
    assert "1900" in answer
    assert len(READ[-1]) < 20, "the budget, the newest three turns, the question"
    assert len(await memory.aget_all()) == 24, "the store keeps everything"


if __name__ == "__main__":
    asyncio.run(main())
