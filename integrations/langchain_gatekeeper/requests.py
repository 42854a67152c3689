"""The requests of agents: who runs them, and what a selection or a context builder sends to the model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables.config import ensure_config
from langchain_core.utils.function_calling import convert_to_openai_tool

from gatekeeper_core.context.history.recall import RECALL_TOOL_NAME, recall_hint
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.messages import Provider, thread_name
from gatekeeper_core.native.calls import compact_json
from langchain_gatekeeper.cache_marks import marked_request
from langchain_gatekeeper.messages import opens_with_summary, read_message, same_objects
from langchain_gatekeeper.models import prices_of, provider_of, setting_of, window_of

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelRequest

    from gatekeeper_core.context.history.selector import ThreadSelector
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.context.prompt.adapter import RequestOptions, ThreadRequest, ThreadRequests
    from gatekeeper_core.pricing.usage import Usage

Owner: TypeAlias = "str | Callable[[Any], str | None]"
"""Where to find a name: a key of the run's context or its ``configurable``, or a function of the runtime."""


def owner_of(runtime: Any, where: Owner) -> str | None:
    """Return a name from the run's context, else from the config's ``configurable``; None without one."""
    if not isinstance(where, str):
        return thread_name(where(runtime))
    context = getattr(runtime, "context", None)
    value = context.get(where) if isinstance(context, Mapping) else getattr(context, where, None)
    return thread_name(ensure_config().get("configurable", {}).get(where) if value is None else value)


@dataclass(frozen=True)
class AgentRequests:
    """The requests of agents; the fields are arguments of ``GatekeeperMiddleware``."""

    selector: ThreadSelector[Any]
    builds: ThreadRequests[BaseMessage] | None
    user: Owner
    tenant: Owner
    provider: Provider | None
    recall_hint: bool
    cache_marks: bool

    def prepared(self, request: ModelRequest[Any]) -> tuple[HistoryView | ThreadRequest[Any], ModelRequest[Any]]:
        """Return what is selected or built, and the request with it: the same object if nothing changes."""
        return self._built(request, self.builds) if self.builds else self._selected(request)

    def report(self, usage: Usage, request: ModelRequest[Any]) -> None:
        """Correct the costs of a thread with the usage that the provider reports for a request."""
        if self.builds:
            self.builds.report(usage, request.messages, self._identity(request))
        else:
            thread, tenant = thread_of(request), self._tenant_of(request)
            self.selector.report(usage, thread=thread, tenant=tenant, items=request.messages)

    def _selected(self, request: ModelRequest[Any]) -> tuple[HistoryView, ModelRequest[Any]]:
        selector, system, hint = self.selector, system_of(request), ""
        if self.recall_hint and RECALL_TOOL_NAME in (getattr(tool, "name", None) for tool in request.tools):
            opening = next((message for message in request.messages if message.type == "human"), None)
            hint = recall_hint(read_message(opening).text if opening else "")
        view = selector.view(
            request.messages,
            HistoryRequest(
                fixed_tokens=selector.cost([system] if system else []) + selector.count(hint, *schemas_of(request)),
                window_tokens=window_of(request.model),
                notes=[0] if opens_with_summary(request.messages) else [],
                provider_messages=_provider_messages(request),
                prices=prices_of(request.model),
            ),
            thread=thread_of(request),
            tenant=self._tenant_of(request),
            config=replace(selector.config, run=None) if _clears_tool_results(request) else None,
        )
        kept = selector.kept(request.messages, view)
        sent = request if same_objects(kept, request.messages) else request.override(messages=kept)
        if len(view.turns) == view.turn_count and all(at in view.folded for at, _ in view.replaced):
            hint = ""  # nothing is left out
        if self.cache_marks:
            sent = marked_request(sent, view, is_system_extended=bool(hint))
        return view, _with_line(sent, hint) if hint else sent

    def _built(
        self, request: ModelRequest[Any], builds: ThreadRequests[BaseMessage]
    ) -> tuple[ThreadRequest[BaseMessage], ModelRequest[Any]]:
        system = system_of(request)
        built = builds.request(request.messages, self._identity(request), system=system)
        messages = list(built.messages)
        first = messages.pop(0) if messages and isinstance(messages[0], SystemMessage) else None
        if first is system and same_objects(messages, request.messages):
            return built, request
        return built, _with_system(request, first, messages=messages)

    def _identity(self, request: ModelRequest[Any]) -> RequestOptions:
        from gatekeeper_core.context.prompt.adapter import RequestOptions

        return RequestOptions(
            thread=thread_of(request),
            tenant=self._tenant_of(request),
            user=owner_of(request.runtime, self.user),
            tools=schemas_of(request),
            reserve_tokens=self.selector.config.reserve_tokens,
            provider=self.provider or provider_of(request.model),
            prices=prices_of(request.model),
            opens_with_summary=opens_with_summary(request.messages),
        )

    def _tenant_of(self, request: ModelRequest[Any]) -> str:
        return owner_of(request.runtime, self.tenant) or "default"


def thread_of(request: ModelRequest[Any]) -> Hashable:
    """Return the id of the thread that a request belongs to; None without one."""
    execution = getattr(request.runtime, "execution_info", None)  # not in every version of LangGraph
    thread = getattr(execution, "thread_id", None)
    return thread if thread is not None else ensure_config().get("configurable", {}).get("thread_id")


def system_of(request: ModelRequest[Any]) -> SystemMessage | None:
    """Return the system message of a request, or None."""
    if hasattr(request, "system_message"):
        return request.system_message
    return SystemMessage(request.system_prompt) if request.system_prompt else None  # LangChain 1.0


def _with_system(request: ModelRequest[Any], system: Any, **changes: Any) -> ModelRequest[Any]:
    if hasattr(request, "system_message"):
        return request.override(system_message=system, **changes)
    text: Any = {"system_prompt": str(system.text) if system else None}
    return request.override(**text, **changes)


def _with_line(request: ModelRequest[Any], line: str) -> ModelRequest[Any]:
    """Return a request whose system message ends with a line; the cached part before it is unchanged."""
    system = system_of(request)
    if system is None:
        return _with_system(request, SystemMessage(line, additional_kwargs={"lc_source": "gatekeeper"}))
    is_text = isinstance(system.content, str)
    content: Any = f"{system.content}\n\n{line}" if is_text else [*system.content, {"type": "text", "text": line}]
    return _with_system(request, system.model_copy(update={"content": content}))


def _clears_tool_results(request: ModelRequest[Any]) -> bool:
    """Return whether Anthropic clears old tool results (``context_management`` with ``clear_tool_uses_*``)."""
    management = setting_of(request, "context_management")
    edits = management.get("edits") if isinstance(management, Mapping) else None
    kinds = [str(edit.get("type")) for edit in edits or () if isinstance(edit, Mapping)]
    return any(kind.startswith("clear_tool_uses") for kind in kinds)


def _provider_messages(request: ModelRequest[Any]) -> int:
    """Return how many messages OpenAI has stored, because the request continues an earlier response.

    With ``use_previous_response_id`` LangChain sends what follows the last answer with a response id. With an id or a
    ``conversation`` in the settings, the provider has every answer.
    """
    named = setting_of(request, "previous_response_id") or setting_of(request, "conversation")
    if not named and setting_of(request, "use_previous_response_id") is not True:
        return 0
    answers = [
        at
        for at, message in enumerate(request.messages)
        if isinstance(message, AIMessage) and (named or str(message.response_metadata.get("id")).startswith("resp_"))
    ]
    return answers[-1] + 1 if answers else 0


def schemas_of(request: ModelRequest[Any]) -> tuple[str, ...]:
    """Return the JSON of a request's tools and response format."""
    return tuple(map(schema_text, filter(None, [*request.tools, request.response_format])))


def schema_text(source: object) -> str:
    """Return the JSON that a tool, its dict, a response format or a schema adds to a request, one line per schema.

    >>> schema_text({"type": "web_search"})
    '{"type":"web_search"}'
    """
    return "\n".join(map(compact_json, _schemas(source)))


def _schemas(source: Any) -> Iterator[object]:
    if isinstance(source, dict):
        yield source
    elif isinstance(source, AutoStrategy):
        yield from _schemas(ToolStrategy(source.schema))
    elif isinstance(source, (ToolStrategy, ProviderStrategy)):
        for spec in source.schema_specs if isinstance(source, ToolStrategy) else [source.schema_spec]:
            yield {"name": spec.name, "description": spec.description, "schema": spec.json_schema}
    else:
        yield convert_to_openai_tool(source)
