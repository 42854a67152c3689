"""Hooks for other frameworks, one module each, and their shared selector; each name loads only its own framework."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gatekeeper_core.arguments import needs_extra

if TYPE_CHECKING:
    from gatekeeper_hooks.ag2 import GatekeeperPolicy as GatekeeperPolicy
    from gatekeeper_hooks.autogen import GatekeeperChatCompletionContext as GatekeeperChatCompletionContext
    from gatekeeper_hooks.crewai import GatekeeperHooks as GatekeeperHooks
    from gatekeeper_hooks.litellm import GatekeeperCallback as GatekeeperCallback
    from gatekeeper_hooks.native import NativeSelector as NativeSelector
    from gatekeeper_hooks.openai_agents import GatekeeperInputFilter as GatekeeperInputFilter
    from gatekeeper_hooks.pydantic_ai import GatekeeperHistoryProcessor as GatekeeperHistoryProcessor

# Name: its module, the extra, and the framework's own top package ("" if it needs none).
_MODULES = {
    "GatekeeperCallback": ("litellm", "litellm", "litellm"),
    "GatekeeperChatCompletionContext": ("autogen", "autogen", "autogen_core"),
    "GatekeeperHistoryProcessor": ("pydantic_ai", "pydantic-ai", "pydantic_ai"),
    "GatekeeperHooks": ("crewai", "crewai", "crewai"),
    "GatekeeperInputFilter": ("openai_agents", "openai-agents", "agents"),
    "GatekeeperPolicy": ("ag2", "ag2", "ag2"),
    "NativeSelector": ("native", "", ""),
}
__all__ = sorted(_MODULES)  # noqa: PLE0605 - the names are above


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extra, framework = _MODULES[name]
    with needs_extra(extra, framework, name=name):
        return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
