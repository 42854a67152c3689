"""A selection between an agent and its model: the request with the messages that the current turn needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper_core.context.threads import ThreadSelector
from langchain_gatekeeper.events import EVENT
from langchain_gatekeeper.owners import thread_of
from langchain_gatekeeper.reading import is_summary, read_message, write_message
from langchain_gatekeeper.schemas import SchemaTexts
from langchain_gatekeeper.signs import signs_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from langchain.agents.middleware.types import ModelRequest

    from gatekeeper_core.context.history import HistoryView
    from gatekeeper_core.context.threads import HistoryConfig
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["SelectedRequests"]


class SelectedRequests:
    """Selects from the requests of agents.

    Args:
        config: the settings.
        token_counter: counts a text; None: ``TokenEstimator()``.
    """

    event = EVENT
    last_context = None

    def __init__(self, config: HistoryConfig, token_counter: TokenCounter | None) -> None:
        self._selector = ThreadSelector[Any](
            read_message, write=write_message, signs=signs_of, config=config, token_counter=token_counter
        )
        self._schemas = SchemaTexts()

    @property
    def last_view(self) -> HistoryView | None:
        """What was selected last, whatever the thread."""
        return self._selector.last_view

    def view_of(self, thread: Hashable) -> HistoryView | None:
        """Return what was selected last for a thread."""
        return self._selector.view_of(thread)

    def context_of(self, _: Hashable) -> None:
        """Return nothing: no context is built."""

    def prepared(self, request: ModelRequest[Any]) -> tuple[HistoryView, ModelRequest[Any]]:
        """Return what is selected, and the request with it."""
        view = self._selector.view(
            request.messages,
            thread=thread_of(request),
            fixed_tokens=self._fixed_tokens(request),
            window_tokens=_window_of(request.model),
            pinned=[at for at, said in enumerate(request.messages) if said.additional_kwargs and is_summary(said)],
        )
        return view, request.override(messages=self._selector.kept(request.messages, view))

    def _fixed_tokens(self, request: ModelRequest[Any]) -> int:
        """Return what the request costs beside its messages: the system message and every schema."""
        system = getattr(request, "system_message", None)  # LangChain 1.0 has the text alone
        said = self._selector.cost([system]) if system else self._selector.count(request.system_prompt or "")
        return said + self._selector.count(*self._schemas.of_request(request))


def _window_of(model: Any) -> int | None:
    profile = getattr(model, "profile", None) or {}  # a model of LangChain 1.0 has none
    tokens: int | None = profile.get("max_input_tokens")
    return tokens
