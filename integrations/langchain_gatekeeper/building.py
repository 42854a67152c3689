"""A context builder between an agent and its model: the request as the builder puts it together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage, SystemMessage

from gatekeeper_core.context.compaction.rounds import as_summary
from gatekeeper_core.context.history.recall import NOTHING_EARLIER
from gatekeeper_core.context.prompt.adapter import Asked, ThreadRequest, ThreadRequests
from langchain_gatekeeper.events import BUILT_EVENT
from langchain_gatekeeper.owners import Owner, owner_of, provider_of, thread_of
from langchain_gatekeeper.reading import is_summary, read_message
from langchain_gatekeeper.schemas import SchemaTexts
from langchain_gatekeeper.writing import write_built

if TYPE_CHECKING:
    from collections.abc import Hashable

    from langchain.agents.middleware.types import ModelRequest

    from gatekeeper_core.context.history.modes import HistoryConfig
    from gatekeeper_core.context.history.select import HistoryView
    from gatekeeper_core.context.prompt.builder import ContextBuilder
    from gatekeeper_core.context.prompt.result import BuiltContext
    from gatekeeper_core.messages import Message, Provider

__all__ = ["BuiltRequests"]


class BuiltRequests:
    """Builds the requests of agents; the arguments are those of ``GatekeeperMiddleware``."""

    event = BUILT_EVENT

    def __init__(
        self,
        builder: ContextBuilder,
        config: HistoryConfig,
        *,
        user: Owner,
        tenant: Owner,
        provider: Provider | None,
    ) -> None:
        self._requests = ThreadRequests[BaseMessage](builder, read=_read, write=write_built, on_error=config.on_error)
        self._user = user
        self._tenant = tenant
        self._provider = provider
        self._reserve_tokens = config.reserve_tokens
        self._schemas = SchemaTexts()

    @property
    def last_context(self) -> BuiltContext | None:
        """What was built last, whatever the thread."""
        return self._requests.last_context

    @property
    def last_view(self) -> HistoryView | None:
        """What was selected in it."""
        return self.last_context.trace.view if self.last_context else None

    def context_of(self, thread: Hashable) -> BuiltContext | None:
        """Return what was built last for a thread."""
        return self._requests.context_of(thread)

    def view_of(self, thread: Hashable) -> HistoryView | None:
        """Return what was selected in it."""
        context = self.context_of(thread)
        return context.trace.view if context else None

    def recall(self, query: str, thread: Hashable, max_tokens: int) -> str:  # noqa: ARG002 - as a selection's
        """Return that there is nothing to recall: what is left out is in the summary."""
        return NOTHING_EARLIER

    def prepared(self, request: ModelRequest[Any]) -> tuple[ThreadRequest[BaseMessage], ModelRequest[Any]]:
        """Return what is built, and the request with it."""
        asked = Asked(
            thread=thread_of(request),
            tenant=owner_of(request, self._tenant) or "default",
            user=owner_of(request, self._user),
            tools=self._schemas.of_request(request),
            reserve_tokens=self._reserve_tokens,
            provider=self._provider or provider_of(request.model),
        )
        built = self._requests.request(request.messages, asked, system=_system_of(request))
        return built, _with(request, built)


def _with(request: ModelRequest[Any], built: ThreadRequest[BaseMessage]) -> ModelRequest[Any]:
    """Return a request with what was built; the first system message is the request's own."""
    messages: list[Any] = list(built.messages)
    system = messages.pop(0) if messages and isinstance(messages[0], SystemMessage) else None
    if hasattr(request, "system_message"):
        return request.override(system_message=system, messages=messages)
    text: Any = {"system_prompt": str(system.text) if system else None}  # LangChain 1.0
    return request.override(messages=messages, **text)


def _system_of(request: ModelRequest[Any]) -> SystemMessage | None:
    if hasattr(request, "system_message"):
        return request.system_message
    return SystemMessage(request.system_prompt) if request.system_prompt else None


def _read(message: BaseMessage) -> Message:
    """Return a message as the builder is to see it: a summary by other middleware is no question and always sent."""
    read = read_message(message)
    return as_summary(read) if message.additional_kwargs and is_summary(message) else read
