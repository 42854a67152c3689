"""The gatekeeper between an agent and its model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables.config import ensure_config

from gatekeeper_core.context.current_run import RunConfig
from gatekeeper_core.context.threads import HistoryConfig, ThreadSelector
from gatekeeper_core.selection.plan import GatekeeperConfig
from langchain_gatekeeper.events import aannounce, announce
from langchain_gatekeeper.reading import read_message, write_message
from langchain_gatekeeper.schemas import SchemaTexts
from langchain_gatekeeper.signs import signs_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

    from langchain.agents.middleware.types import AgentState, ExtendedModelResponse, ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.tools import BaseTool

    from gatekeeper_core.context.history import HistoryView, OnError
    from gatekeeper_core.tokens import TokenCounter

    Answer = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]
    Middleware = AgentMiddleware[AgentState[Any], Any, Any]
else:
    Middleware = AgentMiddleware  # LangChain 1.0 takes fewer type parameters

__all__ = ["GatekeeperMiddleware"]

Value = TypeVar("Value")

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
        shadow: whether to send the request as it is and only report what would have been sent.
        on_error: ``fallback`` sends the newest turns that fit when the selection fails; ``raise`` lets the error pass.
        token_counter: counts a text; None: ``TokenEstimator()``.
        gatekeeper_config: settings of the selection itself.
        run_config: how the current run gives way when the request is over its budget, before the past does; None: it is
            always sent whole. With a ``ThreadResultCompressor`` each thread's results go into a memory of its own.
        max_bytes: what is remembered of all threads may take in memory, by an estimate, >= 0.

    Raises:
        ConfigError: a number is out of range, or ``on_error`` is unknown.
        TypeError: an argument has the wrong type.
    """

    tools: Sequence[BaseTool] = ()

    def __init__(
        self,
        *,
        token_budget: int | None = None,
        reserve_tokens: int = 0,
        floor_turns: int = 1,
        passthrough_below: int = 1000,
        shadow: bool = False,
        on_error: OnError = "fallback",
        token_counter: TokenCounter | None = None,
        gatekeeper_config: GatekeeperConfig | None = None,
        run_config: RunConfig | None = _RUN,
        max_bytes: int = 64 * 2**20,
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
            gatekeeper=gatekeeper_config,
        )
        self._selector = ThreadSelector[Any](
            read_message, write=write_message, signs=signs_of, config=config, token_counter=token_counter
        )
        self._schemas = SchemaTexts()

    @property
    def last_selection(self) -> HistoryView | None:
        """What was selected last, whatever the thread; None before the first model call."""
        return self._selector.last_view

    def selection_for(self, thread_id: Hashable) -> HistoryView | None:
        """Return what was selected last for a thread; None where it is unknown or forgotten."""
        return self._selector.view_of(thread_id)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Answer]) -> Answer:
        """Call the model with the messages that the current turn needs."""
        view = self._view(request)
        announce(view)
        return handler(self._selected(request, view))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Answer]]
    ) -> Answer:
        """Do the same as ``wrap_model_call``; the selection does not block the event loop."""
        view = await asyncio.to_thread(self._view, request)
        await aannounce(view)
        return await handler(self._selected(request, view))

    def _view(self, request: ModelRequest[Any]) -> HistoryView:
        return self._selector.view(
            request.messages,
            thread=_thread_of(request),
            fixed_tokens=self._fixed_tokens(request),
            window_tokens=_window_of(request.model),
            pinned=[at for at, said in enumerate(request.messages) if said.additional_kwargs and _is_summary(said)],
        )

    def _selected(self, request: ModelRequest[Any], view: HistoryView) -> ModelRequest[Any]:
        if self._selector.config.shadow:
            return request
        return request.override(messages=self._selector.kept(request.messages, view))

    def _fixed_tokens(self, request: ModelRequest[Any]) -> int:
        """Return what the request costs beside its messages: the system message and every schema."""
        system = getattr(request, "system_message", None)  # LangChain 1.0 has the text alone
        said = self._selector.cost([system]) if system else self._selector.count(request.system_prompt or "")
        sources = [*request.tools, *([request.response_format] if request.response_format else [])]
        return said + self._selector.count(*map(self._schemas.of, sources))


def _window_of(model: Any) -> int | None:
    profile = getattr(model, "profile", None) or {}  # a model of LangChain 1.0 has none
    tokens: int | None = profile.get("max_input_tokens")
    return tokens


def _is_summary(message: BaseMessage) -> bool:
    written = message.additional_kwargs.get("lc_source") == "summarization"
    return written and isinstance(message, (HumanMessage, SystemMessage))


def _thread_of(request: ModelRequest[Any]) -> Hashable:
    execution = getattr(request.runtime, "execution_info", None)  # not in every version of LangGraph
    thread = getattr(execution, "thread_id", None)
    return thread if thread is not None else ensure_config().get("configurable", {}).get("thread_id")
