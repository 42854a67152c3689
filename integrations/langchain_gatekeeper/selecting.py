"""A selection between an agent and its model: the request with the messages that the current turn needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage, SystemMessage

from gatekeeper_core.context.history.recall import RECALL_TOOL_NAME, recall_hint
from gatekeeper_core.context.history.request import HistoryRequest
from langchain_gatekeeper.cache_marks import marked_request
from langchain_gatekeeper.owners import Owner, prices_of, tenant_of, thread_of, window_of
from langchain_gatekeeper.provider_side import clears_tool_results, held_by_provider
from langchain_gatekeeper.reading import opens_with_summary, read_message, same_objects, usage_of
from langchain_gatekeeper.schemas import request_schemas
from langchain_gatekeeper.selectors import selector_of_threads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain.agents.middleware.types import ModelRequest

    from gatekeeper_core.context.history.pins import Pins
    from gatekeeper_core.context.history.selector import ThreadSelector
    from gatekeeper_core.context.history.strategies import HistoryConfig
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.storage.base import RecordStore
    from gatekeeper_core.tokens import TokenCounter
    from langchain_gatekeeper.selectors import AnyEmbedder

__all__ = ["SelectedRequests"]


class SelectedRequests:
    """Selects from the requests of agents; the arguments are those of ``GatekeeperMiddleware``."""

    def __init__(
        self,
        config: HistoryConfig,
        token_counter: TokenCounter | None,
        *,
        recall_hint: bool,
        tenant: Owner,
        cache_marks: bool,
        states: RecordStore | None,
        embedder: AnyEmbedder | None,
        pinned: Pins,
        exclude: Pins,
    ) -> None:
        self.selector: ThreadSelector[Any] = selector_of_threads(
            config, token_counter, states=states, embedder=embedder, pinned=pinned, exclude=exclude
        )
        self._recall_hint = recall_hint
        self._tenant = tenant
        self._cache_marks = cache_marks

    def prepared(self, request: ModelRequest[Any]) -> tuple[HistoryView, ModelRequest[Any]]:
        """Return what is selected, and the request with it: the same one where everything is sent as it is."""
        hint, count = self._hint_for(request), self.selector.count
        system = getattr(request, "system_message", None)  # LangChain 1.0 has the text alone
        said = self.selector.cost([system]) if system else count(request.system_prompt or "")
        view = self.selector.view(
            request.messages,
            HistoryRequest(
                fixed_tokens=said + count(hint, *request_schemas(request)),
                window_tokens=window_of(request.model),
                notes=[0] if opens_with_summary(request.messages) else [],
                provider_messages=held_by_provider(request),
                prices=prices_of(request.model),
            ),
            thread=thread_of(request),
            tenant=tenant_of(request.runtime, self._tenant),
            config=replace(self.selector.config, run=None) if clears_tool_results(request) else None,
        )
        kept = self.selector.kept(request.messages, view)
        made = request if same_objects(kept, request.messages) else request.override(messages=kept)
        left_out = len(view.turns) < view.turn_count or any(at not in view.folded for at, _ in view.replaced)
        line = hint if left_out else ""
        if self._cache_marks:
            made = marked_request(made, view, is_system_extended=bool(line))
        return view, _with_line(made, line) if line else made

    def report(self, request: ModelRequest[Any], answers: Iterable[BaseMessage]) -> None:
        """Hand on what the provider reports for a request, as far as its answers tell it."""
        for usage in filter(None, map(usage_of, answers)):
            self.selector.report(
                usage,
                thread=thread_of(request),
                tenant=tenant_of(request.runtime, self._tenant),
                items=request.messages,
            )

    def _hint_for(self, request: ModelRequest[Any]) -> str:
        """Return the line that there is more, in the conversation's language; "" where it cannot be recalled."""
        if not self._recall_hint or RECALL_TOOL_NAME not in (getattr(tool, "name", None) for tool in request.tools):
            return ""
        opening = next((message for message in request.messages if message.type == "human"), None)
        return recall_hint(read_message(opening).text if opening else "")


def _with_line(request: ModelRequest[Any], line: str) -> ModelRequest[Any]:
    """Return a request whose system message ends with a line; what stands before it, and is cached, is the same."""
    if not hasattr(request, "system_message"):
        text: Any = {"system_prompt": "\n\n".join(filter(None, (request.system_prompt, line)))}  # LangChain 1.0
        return request.override(**text)
    system = request.system_message
    if system is None:
        return request.override(system_message=SystemMessage(line, additional_kwargs={"lc_source": "gatekeeper"}))
    said = f"{system.content}\n\n{line}" if isinstance(system.content, str) else None
    content = [*system.content, {"type": "text", "text": line}] if said is None else said
    return request.override(system_message=system.model_copy(update={"content": content}))
