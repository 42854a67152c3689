"""A callback for LiteLLM's ``acompletion``, ``Router`` and proxy: the model gets what it needs.

::

    proxy ──> Router ──> acompletion, aresponses, anthropic_messages ──async_pre_call_deployment_hook──> provider

LiteLLM calls that hook in all three, so each request gets one selection, for the model that answers. Only the proxy
calls ``async_pre_call_hook``. ``litellm.completion`` lets a hook change messages only in calls with a ``prompt_id``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from litellm.integrations.custom_logger import CustomLogger

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_hooks.native import Hook

_MESSAGES_OF = {"acompletion": "messages", "anthropic_messages": "messages", "aresponses": "input"}
"""Chat calls, and the argument that holds their messages."""


class GatekeeperCallback(Hook, CustomLogger):  # type: ignore[misc] # see pyproject.toml
    """A callback for ``litellm.callbacks`` that selects from the messages of each call; pass ``messages`` by keyword.

    The thread is the caller's session id (``litellm_session_id``, or ``session_id`` in ``metadata``); others belong to
    the conversation that they continue. In the proxy each API key is a tenant. Separate tools and system prompts count
    as well. Before ``litellm.completion``, call ``callback.selector.select(messages)``. For the arguments see ``Hook``.

    >>> gate = GatekeeperCallback(token_budget=4000)
    >>> litellm.callbacks = [gate]  # doctest: +SKIP
    """

    def __init__(self, config: HistoryConfig | None = None, **options: Any) -> None:
        Hook.__init__(self, config, **options)
        CustomLogger.__init__(self)
        self._requests: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        """Return the arguments of the call with the messages to send, None if the call is not a chat."""
        kind, request = getattr(call_type, "value", ""), kwargs.get("litellm_logging_obj")
        name = _MESSAGES_OF.get(kind, "")
        messages = kwargs.get(name)
        if not isinstance(messages, list):
            return None
        # One API served by another makes two calls of one request; a retry repeats the same call.
        if request is not None and self._requests.setdefault(request, kind) != kind:
            return None
        items = [one if isinstance(one, Mapping) else one.model_dump(exclude_none=True) for one in messages]
        values = (kwargs.get("system"), kwargs.get("instructions"), *(kwargs.get("tools") or ()))
        fixed = [text if isinstance(text, str) else json.dumps(text, ensure_ascii=False) for text in values if text]
        thread, tenant = _names(kwargs)
        sent, _ = await asyncio.to_thread(
            self.selector.select, items, fixed=fixed, model=kwargs.get("model", ""), thread=thread, tenant=tenant
        )
        own = dict(zip(map(id, items), messages, strict=True))
        return {**kwargs, name: [own.get(id(item), item) for item in sent]}

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:  # noqa: ARG002 - part of the hook
        """Correct the costs of a named thread with the usage that the provider reports."""
        thread, tenant = _names(kwargs.get("litellm_params") or {})
        usage = read_usage(response_obj)
        if usage and thread is not None:
            self.selector.threads.report(usage, thread=thread, tenant=tenant)


def _names(arguments: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the names of thread and tenant; None for a session id that LiteLLM generated, for a single request."""
    facts = {**(arguments.get("metadata") or {}), **(arguments.get("litellm_metadata") or {})}
    thread = arguments.get("litellm_session_id") or facts.get("session_id")
    is_generated = facts.get("litellm_session_id_generated")
    return None if is_generated or not thread else str(thread), str(facts.get("user_api_key_hash") or "default")
