"""Facts about a chat model: its provider, its window, its prices, its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gatekeeper_core.pricing.model_names import window_of_model
from gatekeeper_core.pricing.prices import ModelPrices, prices_of_model

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelRequest

    from gatekeeper_core.messages import Provider

_PROVIDERS: dict[str, Provider] = {
    "anthropic": "anthropic",
    "azure": "openai",
    "google_genai": "gemini",
    "google_vertexai": "gemini",
    "minimax": "minimax",
    "openai": "openai",
}
"""Providers by LangChain's name (``ls_provider``)."""

_STRICTEST: Provider = "gemini"
"""Its rules satisfy all other providers, too."""


def provider_of(model: Any) -> Provider:
    """Return the provider whose rules apply to a model; the strictest if it is unknown.

    >>> from langchain_core.language_models.fake_chat_models import FakeListChatModel
    >>> provider_of(FakeListChatModel(responses=["6380"]))
    'gemini'
    """
    return _PROVIDERS.get(_tracing_params(model).get("ls_provider", ""), _STRICTEST)


def is_anthropic(model: Any) -> bool:
    """Return whether a model takes messages in Anthropic's format.

    >>> is_anthropic("claude-sonnet-4-5")  # anybody may serve a model of that name
    False
    """
    return str(_tracing_params(getattr(model, "bound", model)).get("ls_provider")).startswith("anthropic")


def setting_of(request: ModelRequest[Any], name: str) -> Any:
    """Return a setting of a request: its own, else its model's; None if neither has it."""
    model = request.model
    for settings in (getattr(request, "model_settings", None), getattr(model, "model_kwargs", None)):
        if isinstance(settings, Mapping) and settings.get(name) is not None:
            return settings[name]
    return getattr(model, name, None)


def window_of(model: Any) -> int | None:
    """Return the context window of a model in tokens, from its profile or its name; None if unknown.

    >>> window_of("gpt-4o-mini"), window_of(None)
    (128000, None)
    """
    if not isinstance(model, str):
        profile = getattr(getattr(model, "bound", model), "profile", None) or {}  # which no model of LangChain 1.0 has
        if window := profile.get("max_input_tokens"):
            return int(window)
    return next((window_of_model(name) for name in _names_of(model)), None)


def prices_of(model: Any) -> ModelPrices | None:
    """Return the prices of a model by its name; None if it has no row.

    >>> prices_of("claude-sonnet-4-5").marked, prices_of(None)
    (True, None)
    """
    return next(filter(None, map(prices_of_model, _names_of(model))), None)


def _names_of(model: Any) -> list[str]:
    """Return the names of a model, or of the model that tools are bound to; a str is its own name."""
    if isinstance(model, str):
        return [model]
    model = getattr(model, "bound", model)
    names = (
        _tracing_params(model).get("ls_model_name"),
        getattr(model, "model_name", None),
        getattr(model, "model", None),
    )
    return [name for name in names if isinstance(name, str)]


def _tracing_params(model: Any) -> Mapping[str, Any]:
    describe = getattr(model, "_get_ls_params", None)
    params = describe() if callable(describe) else {}
    return params if isinstance(params, Mapping) else {}
