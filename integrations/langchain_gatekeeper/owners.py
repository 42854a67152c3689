"""Whose a request of an agent is, and who reads it: thread, user and tenant; the model's provider and window."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.runnables.config import ensure_config

from gatekeeper_core.context.tool_results.thread_memories import thread_name
from gatekeeper_core.pricing.model_names import window_of_model
from gatekeeper_core.pricing.prices import prices_of_model

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelRequest

    from gatekeeper_core.messages import Provider
    from gatekeeper_core.pricing.prices import ModelPrices

__all__ = [
    "Owner",
    "is_anthropic",
    "owner_of",
    "prices_of",
    "provider_of",
    "setting_of",
    "tenant_of",
    "thread_of",
    "window_of",
]

Owner: TypeAlias = "str | Callable[[Any], str | None]"
"""Where to find a name: a key of the run's context or its ``configurable``, or a function of the runtime."""

_PROVIDERS: dict[str, Provider] = {
    "anthropic": "anthropic",
    "azure": "openai",
    "google_genai": "gemini",
    "google_vertexai": "gemini",
    "minimax": "minimax",
    "openai": "openai",
}
"""By what a model calls its provider (``ls_provider``)."""

_STRICTEST: Provider = "gemini"
"""What is rendered for it is taken by the others as well."""


def thread_of(request: ModelRequest[Any]) -> Hashable:
    """Return the thread that runs, None where it has no name."""
    execution = getattr(request.runtime, "execution_info", None)  # not in every version of LangGraph
    thread = getattr(execution, "thread_id", None)
    return thread if thread is not None else ensure_config().get("configurable", {}).get("thread_id")


def owner_of(runtime: Any, where: Owner) -> str | None:
    """Return a name from the run: from its context first, then from the config's ``configurable``; None for none."""
    if not isinstance(where, str):
        return thread_name(where(runtime))
    context = getattr(runtime, "context", None)
    found = context.get(where) if isinstance(context, Mapping) else getattr(context, where, None)
    return thread_name(ensure_config().get("configurable", {}).get(where) if found is None else found)


def tenant_of(runtime: Any, where: Owner) -> str:
    """Return whose system a run is in, ``default`` where nothing says so."""
    return owner_of(runtime, where) or "default"


def provider_of(model: Any) -> Provider:
    """Return whose rules hold for a model, by what it says of itself; where that is not known, the strictest.

    >>> from langchain_core.language_models.fake_chat_models import FakeListChatModel
    >>> provider_of(FakeListChatModel(responses=["6380"]))
    'gemini'
    """
    return _PROVIDERS.get(_described(model).get("ls_provider", ""), _STRICTEST)


def is_anthropic(model: Any) -> bool:
    """Return whether a model takes messages in Anthropic's format, by what it says of itself.

    >>> is_anthropic("claude-sonnet-4-5")  # a name may be served by anybody
    False
    """
    return str(_described(getattr(model, "bound", model)).get("ls_provider")).startswith("anthropic")


def setting_of(request: ModelRequest[Any], name: str) -> Any:
    """Return a setting that a request is sent with: its own, else its model's; None where it has none."""
    model = request.model
    for settings in (getattr(request, "model_settings", None), getattr(model, "model_kwargs", None)):
        if isinstance(settings, Mapping) and settings.get(name) is not None:
            return settings[name]
    return getattr(model, name, None)


def window_of(model: Any) -> int | None:
    """Return how many tokens a model reads at once: by its profile, else by its name; None where neither is known.

    >>> window_of("gpt-4o-mini"), window_of(None)
    (128000, None)
    """
    if not isinstance(model, str):
        profile = getattr(getattr(model, "bound", model), "profile", None) or {}  # which no model of LangChain 1.0 has
        if window := profile.get("max_input_tokens"):
            return int(window)
    return next((window_of_model(name) for name in _names_of(model)), None)


def prices_of(model: Any) -> ModelPrices | None:
    """Return what the tokens of a model cost, by its name; None where it has no row.

    >>> prices_of("claude-sonnet-4-5").marked, prices_of(None)
    (True, None)
    """
    return next(filter(None, map(prices_of_model, _names_of(model))), None)


def _names_of(model: Any) -> list[str]:
    """Return the names that a model, or one with tools bound to it, says of itself; a name is its own."""
    if isinstance(model, str):
        return [model]
    model = getattr(model, "bound", model)
    names = (_described(model).get("ls_model_name"), getattr(model, "model_name", None), getattr(model, "model", None))
    return [name for name in names if isinstance(name, str)]


def _described(model: Any) -> Mapping[str, Any]:
    """Return what a model says of itself to a tracer."""
    said = getattr(model, "_get_ls_params", None)
    told = said() if callable(said) else {}
    return told if isinstance(told, Mapping) else {}
