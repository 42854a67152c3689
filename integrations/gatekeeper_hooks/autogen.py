"""A model context for AutoGen: it stores every message, the agent gets what it needs."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from autogen_core import FunctionCall, Image
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import AssistantMessage, FunctionExecutionResultMessage, LLMMessage, SystemMessage, UserMessage

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_hooks.native import Hook


class GatekeeperChatCompletionContext(Hook, ChatCompletionContext):
    """A model context that sends the turns the question needs, and stores all messages.

    One context holds one conversation: give each agent its own. ``fixed``, ``model`` and ``thread`` may change.

    Args:
        config: the settings; default to ``HistoryConfig()``.
        initial_messages: as in any AutoGen context.
        fixed: texts that the agent sends with the context: its system message, its tools.
        model: name of the model, for its prices and, without a budget, its context window.
        thread: name of the conversation for a store in ``states``, if it has one.
        options: as for ``NativeSelector``: ``token_budget``, ``strategy`` and more.
    """

    def __init__(
        self,
        config: HistoryConfig | None = None,
        *,
        initial_messages: list[LLMMessage] | None = None,
        fixed: Sequence[str] = (),
        model: str = "",
        thread: Hashable = None,
        **options: Any,
    ) -> None:
        Hook.__init__(self, config, **options)
        ChatCompletionContext.__init__(self, initial_messages)
        self.fixed = tuple(fixed)
        self.model = model
        self.thread = thread

    async def get_messages(self) -> list[LLMMessage]:
        """Return the messages to send."""
        return await asyncio.to_thread(
            self.selector.select_objects,
            list(self._messages),
            read=read_message,
            write=write_message,
            fixed=self.fixed,
            model=self.model,
            thread=self.thread,
        )


def read_message(message: LLMMessage) -> dict[str, Any]:
    """Return a message as an item in Anthropic's format, where one message holds all results of a round, as here."""
    if isinstance(message, FunctionExecutionResultMessage):
        results = [{"tool_use_id": one.call_id, "content": one.content, "result": one} for one in message.content]
        return {"role": "user", "content": [{"type": "tool_result", **result} for result in results]}
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": message.content}
    role = "user" if isinstance(message, UserMessage) else "assistant"
    if isinstance(message.content, str):
        return {"role": role, "content": message.content}
    thought = message.thought if isinstance(message, AssistantMessage) else None
    return {"role": role, "content": [*map(_block, [thought] if thought else []), *map(_block, message.content)]}


def _block(part: str | Image | FunctionCall) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, FunctionCall):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}
    return {"type": "image", "source": {}, "image": part}


def write_message(message: LLMMessage, item: Mapping[str, Any]) -> LLMMessage:
    """Return the message to send in place of another: a copy, or a message with the summary of folded rounds."""
    content = item["content"]
    if isinstance(content, str):
        kind = AssistantMessage if item["role"] == "assistant" else UserMessage
        if isinstance(message, kind):
            return message.model_copy(update={"content": content})
        return kind(content=content, source=item["role"])
    if isinstance(message, FunctionExecutionResultMessage):
        results = [block["result"].model_copy(update={"content": block["content"]}) for block in content]
        return message.model_copy(update={"content": results})
    if isinstance(message, AssistantMessage):
        texts = [block["text"] for block in content if block["type"] == "text"]
        return message.model_copy(update={"thought": "".join(texts)})
    return message.model_copy(update={"content": [block.get("image") or block["text"] for block in content]})
