"""The gatekeeper between an agent and its model."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware.types import AgentMiddleware

from gatekeeper_core.context.compaction.run import RunConfig
from gatekeeper_core.context.history.modes import PASSTHROUGH_BELOW, HistoryConfig, OnError
from gatekeeper_core.context.history.recall import RECALL_BUDGET_TOKENS
from gatekeeper_core.context.prompt.adapter import check_beside_builder
from gatekeeper_core.selection.planner import GatekeeperConfig
from langchain_gatekeeper.building import BuiltRequests
from langchain_gatekeeper.events import aannounce, announce
from langchain_gatekeeper.owners import Owner
from langchain_gatekeeper.selecting import SelectedRequests

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

    from langchain.agents.middleware.types import AgentState, ExtendedModelResponse, ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage
    from langchain_core.tools import BaseTool

    from gatekeeper_core.context.history.select import HistoryView
    from gatekeeper_core.context.prompt.adapter import ThreadRequest
    from gatekeeper_core.context.prompt.builder import ContextBuilder
    from gatekeeper_core.context.prompt.result import BuiltContext
    from gatekeeper_core.messages import Provider
    from gatekeeper_core.tokens import TokenCounter

    Answer = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]
    Middleware = AgentMiddleware[AgentState[Any], Any, Any]
else:
    Middleware = AgentMiddleware  # LangChain 1.0 takes fewer type parameters

__all__ = ["GatekeeperMiddleware"]

_RUN = RunConfig()


class GatekeeperMiddleware(Middleware):
    """A middleware that sends the model what the user's message needs; state and checkpoints keep everything.

    Put it last in the list: it then sees what other middleware left. One object serves many agents and threads.

    Args:
        token_budget: what the whole request may cost: system message, tools, history and current turn, >= 1. None:
            three quarters of what the model reads, by its profile; 16,000 where that is not known.
        reserve_tokens: part of the budget kept free for what is not in the request, >= 0.
        floor_turns: newest turns kept on a switch of topic, >= 0.
        passthrough_below: tokens up to which the whole history is sent, where it fits, >= 0.
        trim: whether long messages of earlier turns are sent as copies that are cut to what matters.
        shadow: whether to send the request as it is and only report what would have been sent.
        on_error: ``fallback`` sends the newest turns that fit when the selection fails; ``raise`` lets the error pass.
        token_counter: counts a text; None: ``TokenEstimator()``.
        gatekeeper_config: settings of the selection itself.
        run_config: how the current run gives way when the request is over its budget, before the past does; None: it is
            always sent whole. With a ``ThreadResultCompressor`` each thread's results go into a memory of its own.
        max_bytes: what is remembered of all threads may take in memory, by an estimate, >= 0.
        recall_hint: whether one line at the end of the system message tells the model that turns are left out, where
            they are and the agent has the tool to recall them (``recall_tool``).
        builder: builds the whole request: with the constraints, the summary and the task of the thread, memories of the
            user and the pin. Its own settings hold then, and of the above only ``reserve_tokens``, ``shadow`` and
            ``on_error`` do: ``fallback`` sends system message and current turn alone where the build is over budget.
        user: whose memories they are: a key of the run's context or of the config's ``configurable``, or a function of
            the runtime; nobody's where that gives nothing. With a builder only, as the next two.
        tenant: whose system the thread runs in, found likewise; ``default`` where that gives nothing.
        provider: whose rules the messages keep to; None: by what the model says of itself, else the strictest.

    Raises:
        ConfigError: a number is out of range, ``on_error`` is unknown, or a setting is not for what is given besides.
        TypeError: an argument has the wrong type.
    """

    tools: Sequence[BaseTool] = ()

    def __init__(
        self,
        *,
        token_budget: int | None = None,
        reserve_tokens: int = 0,
        floor_turns: int = 0,
        passthrough_below: int = PASSTHROUGH_BELOW,
        trim: bool = True,
        shadow: bool = False,
        on_error: OnError = "fallback",
        token_counter: TokenCounter | None = None,
        gatekeeper_config: GatekeeperConfig | None = None,
        run_config: RunConfig | None = _RUN,
        max_bytes: int = 64 * 2**20,
        recall_hint: bool = True,
        builder: ContextBuilder | None = None,
        user: Owner = "user_id",
        tenant: Owner = "tenant_id",
        provider: Provider | None = None,
    ) -> None:
        super().__init__()
        config = HistoryConfig(
            token_budget=token_budget,
            reserve_tokens=reserve_tokens,
            floor_turns=floor_turns,
            passthrough_below=passthrough_below,
            shadow=shadow,
            on_error=on_error,
            max_bytes=max_bytes,
            run=run_config,
            gatekeeper=gatekeeper_config if trim else replace(gatekeeper_config or GatekeeperConfig(), trim=False),
        )
        self._shadow = shadow
        self._requests: SelectedRequests | BuiltRequests = SelectedRequests(
            config, token_counter, recall_hint=recall_hint
        )
        if builder is not None:
            check_beside_builder(config, token_budget=None, token_counter=token_counter)
            self._requests = BuiltRequests(
                builder, user=user, tenant=tenant, provider=provider, reserve_tokens=reserve_tokens, on_error=on_error
            )

    @property
    def last_context(self) -> BuiltContext | None:
        """What the builder built last, whatever the thread; None without one, or where it was over the budget."""
        return self._requests.last_context

    def context_for(self, thread_id: Hashable) -> BuiltContext | None:
        """Return what the builder built last for a thread; None where that is not known."""
        return self._requests.context_of(thread_id)

    @property
    def last_selection(self) -> HistoryView | None:
        """What was selected last, whatever the thread; None before the first model call."""
        return self._requests.last_view

    def selection_for(self, thread_id: Hashable) -> HistoryView | None:
        """Return what was selected last for a thread; None where it is unknown or forgotten."""
        return self._requests.view_of(thread_id)

    def recall_earlier(self, query: str, thread_id: Hashable, *, max_tokens: int = RECALL_BUDGET_TOKENS) -> str:
        """Return earlier turns of a thread that the last model call left out, or cut; with a builder none."""
        return self._requests.recall(query, thread_id, max_tokens)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Answer]) -> Answer:
        """Call the model with the messages that the current turn needs."""
        look, prepared = self._prepared(request)
        announce(look, event=self._requests.event, shadow=self._shadow)
        return handler(request if self._shadow else prepared)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Answer]]
    ) -> Answer:
        """Do the same as ``wrap_model_call``; neither selection nor build blocks the event loop."""
        look, prepared = await asyncio.to_thread(self._prepared, request)
        await aannounce(look, event=self._requests.event, shadow=self._shadow)
        return await handler(request if self._shadow else prepared)

    def _prepared(self, request: ModelRequest[Any]) -> tuple[HistoryView | ThreadRequest[Any], ModelRequest[Any]]:
        return self._requests.prepared(request)
