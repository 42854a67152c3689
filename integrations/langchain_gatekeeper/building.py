"""A context builder between an agent and its model: the request as the builder puts it together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage, SystemMessage

from gatekeeper_core.context.history.strategies import check_reserve
from gatekeeper_core.context.prompt.adapter import RequestOptions, ThreadRequest, ThreadRequests, check_beside_builder
from gatekeeper_core.errors import ConfigError
from langchain_gatekeeper.owners import Owner, owner_of, prices_of, provider_of, tenant_of, thread_of
from langchain_gatekeeper.reading import opens_with_summary, read_message, same_objects, usage_of
from langchain_gatekeeper.schemas import request_schemas
from langchain_gatekeeper.writing import write_built

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain.agents.middleware.types import ModelRequest

    from gatekeeper_core.context.history.pins import Pins
    from gatekeeper_core.context.history.strategies import HistoryConfig
    from gatekeeper_core.context.prompt.builder import ContextBuilder
    from gatekeeper_core.messages import Provider
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["BuiltRequests", "check_beside"]


class BuiltRequests:
    """Builds the requests of agents; the arguments are those of ``GatekeeperMiddleware``."""

    def __init__(
        self,
        builder: ContextBuilder,
        config: HistoryConfig,
        *,
        user: Owner,
        tenant: Owner,
        provider: Provider | None,
    ) -> None:
        self.requests = ThreadRequests[BaseMessage](
            builder, read=read_message, write=write_built, on_error=config.on_error
        )
        self._user = user
        self._tenant = tenant
        self._provider = provider
        self._reserve_tokens = config.reserve_tokens

    def prepared(self, request: ModelRequest[Any]) -> tuple[ThreadRequest[BaseMessage], ModelRequest[Any]]:
        """Return what is built, and the request with it."""
        asked = RequestOptions(
            thread=thread_of(request),
            tenant=tenant_of(request.runtime, self._tenant),
            user=owner_of(request.runtime, self._user),
            tools=request_schemas(request),
            reserve_tokens=self._reserve_tokens,
            provider=self._provider or provider_of(request.model),
            prices=prices_of(request.model),
            opens_with_summary=opens_with_summary(request.messages),
        )
        if not hasattr(request, "system_message"):  # LangChain 1.0
            system = SystemMessage(request.system_prompt) if request.system_prompt else None
        else:
            system = request.system_message
        built = self.requests.request(request.messages, asked, system=system)
        messages: list[Any] = list(built.messages)
        first = messages.pop(0) if messages and isinstance(messages[0], SystemMessage) else None
        if first is system and same_objects(messages, request.messages):
            return built, request
        if hasattr(request, "system_message"):
            return built, request.override(system_message=first, messages=messages)
        text: Any = {"system_prompt": str(first.text) if first else None}
        return built, request.override(messages=messages, **text)

    def report(self, request: ModelRequest[Any], answers: Iterable[BaseMessage]) -> None:
        """Hand on what the provider reports for a request, as far as its answers tell it."""
        asked = RequestOptions(
            thread=thread_of(request),
            tenant=tenant_of(request.runtime, self._tenant),
            opens_with_summary=opens_with_summary(request.messages),
        )
        for usage in filter(None, map(usage_of, answers)):
            self.requests.report(usage, request.messages, asked)


def check_beside(
    config: HistoryConfig,
    builder: ContextBuilder,
    token_counter: TokenCounter | None,
    embedder: object,
    *,
    pinned: Pins,
    exclude: Pins,
) -> None:
    """Check that nothing beside a builder says what the builder says; raise ``ConfigError`` where it does."""
    if config.token_budget is not None:
        raise ConfigError("token_budget: the builder has one (total_budget); leave HistoryConfig.token_budget out")
    for name, pins in (("pinned", pinned), ("exclude", exclude)):
        if callable(pins) or len(pins) > 0:
            raise ConfigError(f"{name}: a builder has no such setting; leave it out")
    check_beside_builder(config, token_budget=None, token_counter=token_counter, embedder=embedder)
    check_reserve(config.reserve_tokens, builder.config.total_budget, named="the builder's total_budget")
