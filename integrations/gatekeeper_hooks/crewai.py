"""Hooks for CrewAI around each model call.

::

    messages of an executor ──before──> messages to send ──call──> the answer ──after──> all messages again

CrewAI sends the executor's own list, so the hook before a call changes it in place, and the list must be restored. No
hook runs after a call that asks for tools or fails: then the next call restores it first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crewai.hooks import (
    LLMCallHookContext,
    register_after_llm_call_hook,
    register_before_llm_call_hook,
    unregister_after_llm_call_hook,
    unregister_before_llm_call_hook,
)

from gatekeeper_core.caching import LruCache
from gatekeeper_hooks.native import Hook

if TYPE_CHECKING:
    from gatekeeper_core.context.history.strategies import HistoryConfig


class _Shortened(NamedTuple):
    """A list shortened for a call: itself (which keeps its id unique), what was sent, and all its messages."""

    messages: list[Any]
    sent: list[Any]
    original: list[Any]


class GatekeeperHooks(Hook):
    """Hooks that send the messages the task needs; agents, tasks and crews may share them.

    If a hook fails, CrewAI prints the error and sends the messages unchanged. For the arguments see ``Hook``.
    """

    def __init__(self, config: HistoryConfig | None = None, **options: Any) -> None:
        super().__init__(config, **options)
        self._shortened: LruCache[int, _Shortened] = LruCache(max_entries=self.selector.threads.config.max_threads)

    def register(self) -> None:
        """Register the hooks for all model calls; an executor reads them when it is created."""
        register_before_llm_call_hook(self.before_llm_call)
        register_after_llm_call_hook(self.after_llm_call)

    def unregister(self) -> None:
        """Remove the hooks."""
        unregister_before_llm_call_hook(self.before_llm_call)
        unregister_after_llm_call_hook(self.after_llm_call)

    def before_llm_call(self, context: LLMCallHookContext) -> None:
        """Reduce the list of the call to the messages to send."""
        self.after_llm_call(context)
        messages: list[Any] = context.messages
        executor: Any = context.executor
        is_native = getattr(getattr(executor, "state", None), "use_native_tools", False)
        fixed = [executor.tools_description] if is_native else []  # otherwise the prompt describes the tools
        sent, _ = self.selector.select(messages, fixed=fixed, model=str(getattr(context.llm, "model", None) or ""))
        self._shortened.put(id(messages), _Shortened(messages, sent, messages.copy()))
        messages[:] = sent

    def after_llm_call(self, context: LLMCallHookContext) -> None:
        """Restore the whole list, unless other code has changed it."""
        messages: list[Any] = context.messages
        shortened = self._shortened.pop(id(messages))
        if shortened is None or len(messages) < len(shortened.sent):
            return
        if all(one is other for one, other in zip(shortened.sent, messages, strict=False)):
            messages[: len(shortened.sent)] = shortened.original
