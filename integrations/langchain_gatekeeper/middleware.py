"""The gatekeeper between an agent and its model."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware.types import AgentMiddleware
from langgraph.runtime import get_runtime

from gatekeeper_core.context.history.recall import RECALL_BUDGET_TOKENS
from gatekeeper_core.context.history.strategies import with_options
from gatekeeper_core.context.tool_results.thread_memories import thread_name
from langchain_gatekeeper.events import aannounce, announce
from langchain_gatekeeper.owners import Owner, owner_of, tenant_of
from langchain_gatekeeper.reading import same_objects
from langchain_gatekeeper.selecting import SelectedRequests

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence

    from langchain.agents.middleware.types import AgentState, ExtendedModelResponse, ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool

    from gatekeeper_core.context.history.pins import Pins
    from gatekeeper_core.context.history.strategies import HistoryConfig, Strategy
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.context.prompt.adapter import ThreadRequest
    from gatekeeper_core.context.prompt.builder import ContextBuilder
    from gatekeeper_core.context.prompt.result import BuiltContext
    from gatekeeper_core.messages import Provider
    from gatekeeper_core.storage.base import RecordStore
    from gatekeeper_core.tokens import TokenCounter
    from langchain_gatekeeper.building import BuiltRequests
    from langchain_gatekeeper.selectors import AnyEmbedder

    Answer = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]
    Middleware = AgentMiddleware[AgentState[Any], Any, Any]
else:
    Middleware = AgentMiddleware  # LangChain 1.0 takes fewer type parameters

__all__ = ["GatekeeperMiddleware"]


class GatekeeperMiddleware(Middleware):
    """A middleware that sends the model what the user's message needs; state and checkpoints keep everything.

    Put it last in the list: it then sees what other middleware left. First in the list it works, too: what middleware
    behind it appends to the request's messages reaches the state. One object serves many agents and threads.

    Args:
        config: the settings; None: ``HistoryConfig()``. The budget is for the whole request: system message, tools,
            history and current turn; without one it is three quarters of what the model reads, by its profile or its
            name, 16,000 where neither is known, which is logged once. A compressor over ``ThreadMemories`` in ``run``
            keeps the results of each thread apart.
        token_budget, strategy, coverage, keep_newest: settings by name; each wins over the one in ``config``.
        pinned: messages that are always sent: their positions, their ids, or a function of one message.
        exclude: messages that are never sent, likewise; of a past turn that holds one nothing is.
        token_counter: counts a text; None: ``TokenEstimator()``.
        recall_hint: whether one line at the end of the system message tells the model that turns are left out, where
            they are and the agent has the tool to recall them (``recall_tool``).
        builder: builds the whole request: with the constraints, the summary and the task of the thread, memories of the
            user and the pin. Its own settings hold then, and of all above only ``reserve_tokens``, ``shadow`` and
            ``on_error`` do: ``fallback`` sends system message and current turn alone where the build is over budget.
        user: whose memories they are: a key of the run's context or of the config's ``configurable``, or a function of
            the runtime; nobody's where that gives nothing. With a builder only.
        tenant: whose system the thread runs in, found likewise; ``default`` where that gives nothing. Threads of two
            tenants share nothing, though they have the same id.
        provider: whose rules the messages keep to; None: by what the model says of itself, else the strictest. With a
            builder only.
        cache_marks: whether requests to Anthropic are marked (``cache_control``) where their prompt cache pays: behind
            the system message, behind the past turns that stay from call to call, and at the end where the next call
            reads on. Without a builder only.
        states: keeps what the prompt policy remembers of each thread (any of our stores), so that another worker goes
            on with the same prompt; None: each process for itself. A builder has a store of its own.
        embedder: finds turns that share no word with the question: LangChain's ``Embeddings``, a function from texts to
            vectors, or a ``TextEncoder`` that several share; see ``ThreadSelector``. ``auto``: the packaged one, where
            the extra ``meaning`` is installed. None: words alone. A builder has an embedder of its own.

    Raises:
        ConfigError: an option is out of range, or an argument sets what the builder sets.
        TypeError: an argument has the wrong type.
    """

    tools: Sequence[BaseTool] = ()

    def __init__(
        self,
        config: HistoryConfig | None = None,
        *,
        token_budget: int | None = None,
        strategy: Strategy | None = None,
        coverage: float | None = None,
        keep_newest: int | None = None,
        pinned: Pins = (),
        exclude: Pins = (),
        token_counter: TokenCounter | None = None,
        recall_hint: bool = True,
        builder: ContextBuilder | None = None,
        user: Owner = "user_id",
        tenant: Owner = "tenant_id",
        provider: Provider | None = None,
        cache_marks: bool = True,
        states: RecordStore | None = None,
        embedder: AnyEmbedder | None = "auto",
    ) -> None:
        super().__init__()
        config = with_options(
            config, token_budget=token_budget, strategy=strategy, coverage=coverage, keep_newest=keep_newest
        )
        self._selected = SelectedRequests(
            config,
            token_counter,
            recall_hint=recall_hint,
            tenant=tenant,
            cache_marks=cache_marks,
            states=states,
            embedder=embedder,
            pinned=pinned,
            exclude=exclude,
        )
        self._shadow = config.shadow
        self._tenant = tenant
        self._built: BuiltRequests | None = None
        if builder is not None:
            # Here, because it is a third of the import of the middleware.
            from langchain_gatekeeper.building import BuiltRequests, check_beside

            self._built = BuiltRequests(builder, config, user=user, tenant=tenant, provider=provider)
            check_beside(config, builder, token_counter, embedder, pinned=pinned, exclude=exclude)

    def __repr__(self) -> str:
        """Return the settings that decide what is sent; no text of a conversation."""
        config = self._selected.selector.config
        settings = f"strategy={config.strategy!r}, shadow={config.shadow}"
        return f"GatekeeperMiddleware({settings}, builds={self._built is not None})"

    @property
    def last_context(self) -> BuiltContext | None:
        """What the builder built last, whatever the thread; None without one, or where it was over the budget."""
        return self._built.requests.last_context if self._built else None

    def context_for(self, thread_id: Hashable, *, tenant: str = "default") -> BuiltContext | None:
        """Return what the builder built last for a thread of a tenant; None where that is not known."""
        return self._built.requests.context_of(thread_id, tenant=tenant) if self._built else None

    @property
    def last_selection(self) -> HistoryView | None:
        """What was selected last, whatever the thread; None before the first model call."""
        context = self.last_context
        return context.trace.view if context else self._selected.selector.last_view

    def selection_for(self, thread_id: Hashable, *, tenant: str = "default") -> HistoryView | None:
        """Return what was selected last for a thread of a tenant; None where it is unknown or forgotten."""
        context = self.context_for(thread_id, tenant=tenant)
        return context.trace.view if context else self._selected.selector.view_of(thread_id, tenant=tenant)

    def recall_earlier(
        self, query: str, thread_id: Hashable, *, tenant: str = "default", max_tokens: int = RECALL_BUDGET_TOKENS
    ) -> str:
        """Return earlier turns of a thread that the last model call left out, or cut; with a builder none."""
        return self._selected.selector.recall(query, thread=thread_id, tenant=tenant, max_tokens=max_tokens)

    def tenant_of_run(self, config: RunnableConfig) -> str:
        """Return the tenant of the run that a tool is called in; ``config`` is the tool's own."""
        try:
            runtime: Any = get_runtime()
        except (KeyError, RuntimeError):  # outside of a graph, and in async code before Python 3.11
            runtime = None
        if not isinstance(self._tenant, str):
            return "default" if runtime is None else tenant_of(runtime, self._tenant)
        named = thread_name(config.get("configurable", {}).get(self._tenant))
        return owner_of(runtime, self._tenant) or named or "default"

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Answer]) -> Answer:
        """Call the model with the messages that the current turn needs."""
        look, prepared = self._prepared(request)
        announce(look, shadow=self._shadow)
        if self._shadow:
            return handler(request)
        with _appended_reaches_state(request, prepared):
            answer = handler(prepared)
        self._report(request, answer)
        return answer

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Answer]]
    ) -> Answer:
        """Do the same as ``wrap_model_call``; neither selection nor build blocks the event loop."""
        look, prepared = await asyncio.to_thread(self._prepared, request)
        await aannounce(look, shadow=self._shadow)
        if self._shadow:
            return await handler(request)
        with _appended_reaches_state(request, prepared):
            answer = await handler(prepared)
        await asyncio.to_thread(self._report, request, answer)
        return answer

    def _report(self, request: ModelRequest[Any], answer: Answer) -> None:
        """Hand on what the provider reports for a call."""
        response = getattr(answer, "model_response", answer)
        (self._built or self._selected).report(request, getattr(response, "result", [response]))

    def _prepared(self, request: ModelRequest[Any]) -> tuple[HistoryView | ThreadRequest[Any], ModelRequest[Any]]:
        return self._built.prepared(request) if self._built else self._selected.prepared(request)


@contextmanager
def _appended_reaches_state(request: ModelRequest[Any], prepared: ModelRequest[Any]) -> Iterator[None]:
    """Hand on what middleware behind this one appends to its request: the given request has the list of the state."""
    before = list(prepared.messages)
    try:
        yield
    finally:
        after = prepared.messages
        if prepared is not request and same_objects(after[: len(before)], before):
            request.messages.extend(after[len(before) :])
