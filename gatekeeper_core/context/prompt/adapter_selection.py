"""Shared parts of the adapters: options by name, and the last results."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from gatekeeper_core.context.history.pins import Pins
from gatekeeper_core.context.history.recall import RECALL_BUDGET_TOKENS
from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig, Strategy, with_options
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.errors import ConfigError

if TYPE_CHECKING:
    from gatekeeper_core.context.prompt.adapter import ThreadRequests
    from gatekeeper_core.context.prompt.result import BuiltContext


class SelectionOptions(TypedDict, total=False):
    """The options that every adapter takes by name.

    Attributes:
        token_budget, strategy, coverage, keep_newest: as in ``HistoryConfig``; each wins over the setting there.
        pinned, exclude: as for ``select_history``: positions, ids, or a function of a framework message.
    """

    token_budget: int | None
    strategy: Strategy | None
    coverage: float | None
    keep_newest: int | None
    pinned: Pins
    exclude: Pins


def take_settings(config: HistoryConfig | None, options: dict[str, Any]) -> HistoryConfig:
    """Remove the settings from a caller's options and return ``config`` with them applied."""
    names = ("token_budget", "strategy", "coverage", "keep_newest")
    return with_options(config, **{name: options.pop(name, None) for name in names})


def full_run(config: HistoryConfig) -> HistoryConfig:
    """Return settings that send the current run in full, as all adapters do except the agent middleware.

    Raises:
        ConfigError: ``run`` is set.
    """
    if config.run not in (None, RunConfig()):
        raise ConfigError("HistoryConfig.run works only with GatekeeperMiddleware: remove it")
    return replace(config, run=None)


class LastSelections:
    """The latest selection of each thread; the tenant defaults to the adapter's own."""

    _own_tenant = "default"

    if TYPE_CHECKING:
        _selector: Any

    def _current_selector(self) -> ThreadSelector[Any]:
        selector: ThreadSelector[Any] = self._selector
        return selector

    @property
    def _builds(self) -> ThreadRequests[Any] | None:  # where the adapter has a builder
        return getattr(self, "_requests", None)

    @property
    def last_selection(self) -> HistoryView | None:
        """The latest selection of any thread; None before the first."""
        context = self._builds.last_context if self._builds else None
        return context.trace.view if context else self._current_selector().last_view

    def selection_for(self, thread_id: Hashable, *, tenant: str | None = None) -> HistoryView | None:
        """Return the latest selection of a thread; None if unknown or long unused."""
        tenant = tenant or self._own_tenant
        context = self._builds.context_of(thread_id, tenant=tenant) if self._builds else None
        return context.trace.view if context else self._current_selector().view_of(thread_id, tenant=tenant)

    def recall_earlier(
        self, query: str, thread_id: Hashable, *, tenant: str | None = None, max_tokens: int = RECALL_BUDGET_TOKENS
    ) -> str:
        """Return earlier turns that the latest selection left out or cut; ``NOTHING_EARLIER`` with a builder."""
        selector, tenant = self._current_selector(), tenant or self._own_tenant
        return selector.recall(query, thread=thread_id, tenant=tenant, max_tokens=max_tokens)


class LastContexts(LastSelections):
    """The latest selection of each thread and, if the adapter has a builder, the latest context."""

    @property
    def last_context(self) -> BuiltContext | None:
        """The latest prompt of any thread; None without one, or if it was over budget."""
        return self._builds.last_context if self._builds else None

    def context_for(self, thread_id: Hashable, *, tenant: str | None = None) -> BuiltContext | None:
        """Return the latest context of a thread; None if unknown."""
        return self._builds.context_of(thread_id, tenant=tenant or self._own_tenant) if self._builds else None
