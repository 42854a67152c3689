"""The gatekeeper as a step of a chain or graph, and as a function from messages to messages."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage, MessageLikeRepresentation
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableConfig

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.strategies import HistoryConfig, budget_for_window, with_options
from gatekeeper_core.context.prompt.adapter_selection import LastSelections
from gatekeeper_core.messages import is_answered, thread_name
from langchain_gatekeeper.cache_marks import marked_messages
from langchain_gatekeeper.events import aannounce, announce
from langchain_gatekeeper.messages import as_messages, read_message, text_of, usage_of
from langchain_gatekeeper.models import is_anthropic, prices_of, window_of
from langchain_gatekeeper.selectors import SelectorOptions, message_selector

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from langchain_core.language_models import BaseChatModel
    from typing_extensions import Unpack

    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.storage.base import RecordStore


@with_suggestions(SelectorOptions)
class GatekeeperSelector(LastSelections, Runnable[Any, Any]):
    """A runnable that keeps the messages the question needs, for use instead of ``trim_messages``.

    * For a list of messages or a prompt, it returns the messages to send. The last user message is the question.
    * For a dict, it returns a new dict with the history under ``messages_key`` selected for the question under
      ``query_key``; without that entry the last user message of the history is the question.

    Keep the object: it remembers conversations by the config's ``tenant_id`` and ``thread_id``, else ``session_id``.

    Args:
        config: the settings; default to ``HistoryConfig()``. The current run is sent in full. The budget defaults to
            three quarters of ``model``'s window, or 16,000 if unknown, which is logged once.
        messages_key: key of the history in a dict.
        query_key: key of the question in a dict: a text, a message, content blocks or messages.
        model: the model, or its name, that the messages are for.
        cache_marks: whether to mark the messages for Anthropic's prompt cache (``cache_control``).
        states: store for the prompt state of each thread, so that another worker can continue with the same prompt.
        options: settings by name. ``token_budget``, ``strategy``, ``coverage`` and ``keep_newest`` override ``config``.
            ``pinned``, ``exclude``: as for ``select_history``. ``token_counter``: counts the tokens of a text.
            ``embedder`` (None: no semantic search): finds turns without a shared word: ``Embeddings``, a function from
            texts to vectors, a shared ``TextEncoder``, or by default ``auto``: the extra ``meaning``, if installed.

    Raises:
        ConfigError: ``config`` sets ``run``, or an option is out of range.
        TypeError: an argument is unknown or has the wrong type.

    >>> from gatekeeper_core import HistoryConfig
    >>> gate = GatekeeperSelector(HistoryConfig(passthrough_below=0))
    >>> asked = {"input": "Which port has Redis?", "history": ["The Redis port is 6380.", ("ai", "Noted.")]}
    >>> [message.content for message in gate.invoke(asked)["history"]]
    ['The Redis port is 6380.', 'Noted.']
    """

    def __init__(
        self,
        config: HistoryConfig | None = None,
        *,
        messages_key: str = "history",
        query_key: str = "input",
        model: BaseChatModel | str | None = None,
        cache_marks: bool = True,
        states: RecordStore | None = None,
        **options: Unpack[SelectorOptions],
    ) -> None:
        self._messages_key = messages_key
        self._query_key = query_key
        self._selector = message_selector(config, options, states=states)
        self._window_tokens = window_of(model)
        self._prices = prices_of(model)
        self._marks = cache_marks and is_anthropic(model)

    def report_usage(self, answer: BaseMessage, thread_id: Hashable, *, tenant: str = "default") -> None:
        """Correct the costs of a conversation with the usage that the provider reports for the last call."""
        usage = usage_of(answer)
        if usage:
            self._selector.report(usage, thread=thread_id, tenant=tenant)

    def tenant_of_run(self, config: RunnableConfig) -> str:
        """Return the tenant named in a config, else ``default``."""
        return thread_name(config.get("configurable", {}).get("tenant_id")) or "default"

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002 (the base's name)
        """Return the messages to send, in the form of the input.

        Raises:
            KeyError: a dict has no ``messages_key``.
        """
        return self._call_with_config(self._select, input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002
        """Do the same as ``invoke``, without blocking the event loop."""
        return await self._acall_with_config(self._aselect, input, config)

    # LangChain finds the last two parameters by their names; the config names this run as the parent of events.
    def _select(self, data: Any, run_manager: Any, config: RunnableConfig) -> Any:  # noqa: ARG002
        messages, view = self._view(data, config)
        announce(view, shadow=self._selector.config.shadow, config=config)
        return self._output(data, messages, view)

    async def _aselect(self, data: Any, run_manager: Any, config: RunnableConfig) -> Any:  # noqa: ARG002
        messages, view = await asyncio.to_thread(self._view, data, config)
        await aannounce(view, shadow=self._selector.config.shadow, config=config)
        return self._output(data, messages, view)

    def _view(self, data: Any, config: RunnableConfig) -> tuple[list[BaseMessage], HistoryView]:
        messages, query = data, None
        if isinstance(data, dict):
            messages = data[self._messages_key]
            query = text_of(data[self._query_key]) if self._query_key in data else None
        listed, named = as_messages(messages), config.get("configurable", {})
        thread = named.get("thread_id") or named.get("session_id")
        view = self._selector.view(
            listed,
            HistoryRequest(
                query=query,
                window_tokens=self._window_tokens,
                prices=self._prices,
                all_past=query is not None and is_answered(list(map(read_message, listed[-1:]))),
            ),
            thread=thread,
            tenant=self.tenant_of_run(config),
        )
        return listed, view

    def _output(self, data: Any, messages: list[BaseMessage], view: HistoryView) -> Any:
        kept = self._selector.kept(messages, view)
        if self._marks and not self._selector.config.shadow:
            kept = marked_messages(kept, view)
        return {**data, self._messages_key: kept} if isinstance(data, dict) else kept


@with_suggestions(SelectorOptions)
def select_messages(
    messages: Sequence[MessageLikeRepresentation] | PromptValue,
    config: HistoryConfig | None = None,
    *,
    query: object = None,
    model: BaseChatModel | str | None = None,
    **options: Unpack[SelectorOptions],
) -> list[BaseMessage]:
    """Return the messages that the question needs, as a new list of your own objects or shortened copies.

    It remembers nothing between calls: for long conversations keep a ``GatekeeperSelector``.

    Args:
        messages: the whole conversation; LangChain's shorthand forms are accepted.
        config: the settings, as for ``GatekeeperSelector``; the default budget of 16,000 is not logged.
        query: the question: a text, a message, content blocks or messages; defaults to the last user message. If the
            question is not in the list, all turns are past.
        model: the model, or its name, that the messages are for.
        options: as for ``GatekeeperSelector``. Reuse one ``TextEncoder`` as ``embedder``: it caches its vectors.

    Raises:
        ConfigError: ``config`` sets ``run``, or an option is out of range.
        TypeError: an argument is unknown or has the wrong type.

    >>> from gatekeeper_core import HistoryConfig
    >>> talk = ["The Redis port is 6380.", ("ai", "Noted."), "New topic: bake bread?", ("ai", "Yes."), "Redis port?"]
    >>> [message.content for message in select_messages(talk, HistoryConfig(passthrough_below=0))]
    ['The Redis port is 6380.', 'Noted.', 'Redis port?']
    """
    config = with_options(config, token_budget=options.get("token_budget"))
    config = replace(config, token_budget=config.token_budget or budget_for_window(window_of(model)))
    selector = message_selector(config, {**options, "token_budget": None})
    listed = as_messages(messages)
    request = HistoryRequest(query=None if query is None else text_of(query), prices=prices_of(model))
    view = selector.view(listed, request)
    announce(view, shadow=selector.config.shadow)
    return selector.kept(listed, view)
