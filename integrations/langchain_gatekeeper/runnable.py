"""The gatekeeper as a step of a chain or a graph: messages in, messages out."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage, MessageLikeRepresentation, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableConfig

from gatekeeper_core.context.threads import HistoryConfig, ThreadSelector
from gatekeeper_core.selection.plan import GatekeeperConfig
from langchain_gatekeeper.events import aannounce, announce
from langchain_gatekeeper.reading import read_message, text_of

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun

    from gatekeeper_core.context.history import HistoryView, OnError
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["GatekeeperSelector", "select_messages"]


class GatekeeperSelector(Runnable[Any, Any]):
    """A step that lets through what the question needs, in place of ``trim_messages``.

    * A list of messages, or a prompt: the list of those to send. The last user message is the question.
    * A dict: a new dict with the same entries, the history under ``messages_key`` selected for the question under
      ``query_key``. Without that entry the last user message of the history is the question.

    The conversation is named by ``thread_id``, else ``session_id``, of the config. Keep the object: it remembers each
    conversation, so that a call costs little.

    Args:
        messages_key: where a dict holds its history.
        query_key: where a dict holds its question: a text, a message, content blocks or messages.
        token_budget: what the messages may cost, >= 1.
        reserve_tokens: part of the budget kept free for what is sent besides, >= 0.
        floor_turns: newest turns kept on a switch of topic, >= 0.
        passthrough_below: tokens up to which the whole history is sent, where it fits, >= 0.
        shadow: whether to let everything through and only report what would have been sent.
        on_error: ``fallback`` keeps the newest turns that fit when the selection fails; ``raise`` lets the error pass.
        token_counter: counts a text; None: ``estimate_text_tokens``.
        gatekeeper_config: settings of the selection itself.
        max_threads: conversations remembered at once, >= 1.

    Raises:
        ConfigError: a number is out of range, or ``on_error`` is unknown.
        TypeError: an argument has the wrong type.

    >>> gate = GatekeeperSelector(token_budget=50, passthrough_below=0)
    >>> asked = {"input": "Which port has Redis?", "history": ["The Redis port is 6380.", ("ai", "Noted.")]}
    >>> [message.content for message in gate.invoke(asked)["history"]]
    ['The Redis port is 6380.', 'Noted.']
    """

    def __init__(
        self,
        *,
        messages_key: str = "history",
        query_key: str = "input",
        token_budget: int = 4000,
        reserve_tokens: int = 0,
        floor_turns: int = 1,
        passthrough_below: int = 1000,
        shadow: bool = False,
        on_error: OnError = "fallback",
        token_counter: TokenCounter | None = None,
        gatekeeper_config: GatekeeperConfig | None = None,
        max_threads: int = 128,
    ) -> None:
        config = HistoryConfig(
            token_budget=token_budget,
            reserve_tokens=reserve_tokens,
            floor_turns=floor_turns,
            passthrough_below=passthrough_below,
            shadow=shadow,
            on_error=on_error,
            max_threads=max_threads,
            gatekeeper=GatekeeperConfig() if gatekeeper_config is None else gatekeeper_config,
        )
        self._messages_key = messages_key
        self._query_key = query_key
        self._selector = ThreadSelector[BaseMessage](read_message, config=config, token_counter=token_counter)

    @property
    def last_selection(self) -> HistoryView | None:
        """What was selected last, whatever the conversation; None before the first call."""
        return self._selector.last_view

    def selection_for(self, thread_id: Hashable) -> HistoryView | None:
        """Return what was selected last for a conversation; None where it is unknown or forgotten."""
        return self._selector.view_of(thread_id)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002, ARG002
        """Return what is to be sent, in the form of the input; further arguments are not read.

        Raises:
            KeyError: a dict has no ``messages_key``.
        """
        return self._call_with_config(self._select, input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002, ARG002
        """Do the same as ``invoke``; the selection does not block the event loop."""
        return await self._acall_with_config(self._aselect, input, config)

    def _select(self, value: Any, run_manager: CallbackManagerForChainRun, config: RunnableConfig) -> Any:  # noqa: ARG002
        messages, view = self._view(value, config)
        announce(view, config=config)
        return self._output(value, messages, view)

    async def _aselect(
        self,
        value: Any,
        run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG002
        config: RunnableConfig,
    ) -> Any:
        messages, view = await asyncio.to_thread(self._view, value, config)
        await aannounce(view, config=config)
        return self._output(value, messages, view)

    def _view(self, value: Any, config: RunnableConfig) -> tuple[list[BaseMessage], HistoryView]:
        query, history = None, value
        if isinstance(value, dict):
            history = value[self._messages_key]
            query = text_of(value[self._query_key]) if self._query_key in value else None
        named = config.get("configurable", {})
        messages = _as_messages(history)
        return messages, self._selector.view(
            messages, thread=named.get("thread_id", named.get("session_id")), query=query
        )

    def _output(self, value: Any, messages: list[BaseMessage], view: HistoryView) -> Any:
        kept = messages if self._selector.config.shadow else [messages[at] for at in view.kept]
        return {**value, self._messages_key: kept} if isinstance(value, dict) else kept


def select_messages(
    messages: Sequence[MessageLikeRepresentation] | PromptValue,
    *,
    query: Any = None,
    **options: Any,
) -> list[BaseMessage]:
    ...


def _as_messages(value: Any) -> list[BaseMessage]:
    # A text or a message by itself can be iterated over as well, and would come apart.
    return convert_to_messages([value] if isinstance(value, (str, BaseMessage)) else value)
