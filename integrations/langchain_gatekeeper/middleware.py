"""A middleware between an agent and its model."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware.types import AgentMiddleware
from langgraph.runtime import get_runtime

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.prompt.adapter_selection import LastContexts
from gatekeeper_core.messages import thread_name
from langchain_gatekeeper.events import aannounce, announce
from langchain_gatekeeper.messages import read_message, same_objects, usages_of
from langchain_gatekeeper.requests import AgentRequests, Owner, owner_of
from langchain_gatekeeper.selectors import SelectorOptions, message_selector

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from langchain.agents.middleware.types import AgentState, ExtendedModelResponse, ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool
    from typing_extensions import Unpack

    from gatekeeper_core.context.history.strategies import HistoryConfig
    from gatekeeper_core.context.prompt.builder import ContextBuilder
    from gatekeeper_core.messages import Provider
    from gatekeeper_core.storage.base import RecordStore

    Answer = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]
    Middleware = AgentMiddleware[AgentState[Any], Any, Any]
else:
    Middleware = AgentMiddleware  # LangChain 1.0 takes fewer type parameters


@with_suggestions(SelectorOptions)
class GatekeeperMiddleware(LastContexts, Middleware):
    """A middleware that sends the model what the user's message needs; state and checkpoints keep everything.

    Put it last in the list, so that it sees the changes of other middleware. It also works first in the list: messages
    that later middleware appends to the request still reach the state. One object serves many agents and threads.

    Args:
        config: the settings; default to ``HistoryConfig()``. The budget covers the whole request, with system message
            and tools; it defaults to that of ``GatekeeperSelector`` for the request's model. A compressor over
            ``ThreadMemories`` in ``run`` separates the results of threads.
        recall_hint: whether a line of the system message mentions omitted turns, if the agent has ``recall_tool``.
        builder: builds the whole request, with constraints, summary and task of the thread, memories of the user and
            the pin. Then its own settings apply, and of ``config`` only ``reserve_tokens``, ``shadow`` and
            ``on_error``: ``fallback`` sends only system message and current turn if the build is over budget.
        user: owner of the memories: a key of the run's context or its ``configurable``, or a function of the runtime;
            without a result no memories are used. Only with a builder.
        tenant: tenant of the thread, found likewise, else ``default``. Tenants share nothing, even with equal ids.
        provider: whose message rules apply; defaults to those of the model, else the strictest. Only with a builder.
        cache_marks: whether to mark requests to Anthropic (``cache_control``) where prompt caching pays: after the
            system message, the past turns that stay, and the end if the next call continues. Only without a builder.
        states: as for ``GatekeeperSelector``. A builder has its own store.
        options: settings by name, as for ``GatekeeperSelector``: ``token_budget``, ``strategy``, ``coverage``,
            ``keep_newest``, ``pinned``, ``exclude``, ``token_counter``, ``embedder``. Only without a builder.

    Raises:
        ConfigError: an option is out of range, or an argument sets what the builder sets.
        TypeError: an argument is unknown or has the wrong type.
    """

    tools: Sequence[BaseTool] = ()

    def __init__(
        self,
        config: HistoryConfig | None = None,
        *,
        recall_hint: bool = True,
        builder: ContextBuilder | None = None,
        user: Owner = "user_id",
        tenant: Owner = "tenant_id",
        provider: Provider | None = None,
        cache_marks: bool = True,
        states: RecordStore | None = None,
        **options: Unpack[SelectorOptions],
    ) -> None:
        super().__init__()
        self._selector = message_selector(config, options, shrinks_run=True, states=states)
        self._requests = None
        if builder is not None:
            # Here, because it is a third of the import of the middleware.
            from gatekeeper_core.context.prompt.adapter import ThreadRequests
            from langchain_gatekeeper.messages import write_built

            self._requests = ThreadRequests(
                builder, self._selector.config, read=read_message, write=write_built, **options
            )
        self._agent = AgentRequests(
            self._selector, self._requests, user, tenant, provider, recall_hint=recall_hint, cache_marks=cache_marks
        )

    def __repr__(self) -> str:
        """Return the settings that decide what is sent; no text of a conversation."""
        config = self._selector.config
        settings = f"strategy={config.strategy!r}, shadow={config.shadow}"
        return f"GatekeeperMiddleware({settings}, builds={self._requests is not None})"

    def tenant_of_run(self, config: RunnableConfig) -> str:
        """Return the tenant of the run that calls a tool; ``config`` is the tool's."""
        try:
            runtime: Any = get_runtime()
        except (KeyError, RuntimeError):  # outside of a graph, and in async code before Python 3.11
            runtime = None
        where = self._agent.tenant
        if not isinstance(where, str):
            return (None if runtime is None else owner_of(runtime, where)) or "default"
        return owner_of(runtime, where) or thread_name(config.get("configurable", {}).get(where)) or "default"

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Answer]) -> Answer:
        """Call the model with the messages that the current turn needs."""
        result, prepared = self._agent.prepared(request)
        shadow = self._selector.config.shadow
        announce(result, shadow=shadow)
        if shadow:
            return handler(request)
        with _appended_reaches_state(request, prepared):
            answer = handler(prepared)
        self._report(request, answer)
        return answer

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Answer]]
    ) -> Answer:
        """Do the same as ``wrap_model_call``, without blocking the event loop."""
        result, prepared = await asyncio.to_thread(self._agent.prepared, request)
        shadow = self._selector.config.shadow
        await aannounce(result, shadow=shadow)
        if shadow:
            return await handler(request)
        with _appended_reaches_state(request, prepared):
            answer = await handler(prepared)
        await asyncio.to_thread(self._report, request, answer)
        return answer

    def _report(self, request: ModelRequest[Any], answer: Answer) -> None:
        for usage in usages_of(answer):
            self._agent.report(usage, request)


@contextmanager
def _appended_reaches_state(request: ModelRequest[Any], prepared: ModelRequest[Any]) -> Iterator[None]:
    """Pass on what later middleware appends to its request: the given request holds the state's own list."""
    before = list(prepared.messages)
    try:
        yield
    finally:
        after = prepared.messages
        if prepared is not request and same_objects(after[: len(before)], before):
            request.messages.extend(after[len(before) :])
