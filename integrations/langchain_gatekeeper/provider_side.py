"""What a request asks its provider to do with the history by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage

from langchain_gatekeeper.owners import setting_of

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelRequest

__all__ = ["clears_tool_results", "held_by_provider"]


def clears_tool_results(request: ModelRequest[Any]) -> bool:
    """Return whether Anthropic is to clear old results of tools (``context_management`` with ``clear_tool_uses_*``)."""
    management = setting_of(request, "context_management")
    edits = management.get("edits") if isinstance(management, Mapping) else None
    kinds = [str(edit.get("type")) for edit in edits or () if isinstance(edit, Mapping)]
    return any(kind.startswith("clear_tool_uses") for kind in kinds)


def held_by_provider(request: ModelRequest[Any]) -> int:
    """Return how many messages OpenAI keeps itself, because the request goes on from an earlier response.

    With ``use_previous_response_id`` LangChain sends what follows the last answer that has the id of a response. With
    an id or a ``conversation`` in the settings, what was answered is at the provider, too.
    """
    goes_on = setting_of(request, "use_previous_response_id") is True
    named = setting_of(request, "previous_response_id") or setting_of(request, "conversation")
    if not goes_on and not named:
        return 0
    answers = [
        at
        for at, message in enumerate(request.messages)
        if isinstance(message, AIMessage) and (named or str(message.response_metadata.get("id")).startswith("resp_"))
    ]
    return answers[-1] + 1 if answers else 0
