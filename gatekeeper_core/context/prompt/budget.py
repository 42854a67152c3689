"""Settings of a builder, and the shares of its token budget in whole tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.history.rounds import check_locale
from gatekeeper_core.context.history.strategies import RECENT_TURNS, HistoryConfig
from gatekeeper_core.errors import ConfigError, check_range, check_type
from gatekeeper_core.text import Locale
from gatekeeper_core.tokens import check_tokens

_ELSEWHERE = {
    "token_budget": "total_budget is the budget",
    "reserve_tokens": "use shares, or reserve_tokens of build()",
    "shadow": "adapters have it",
    "run": "use enable_tool_result_compression",
}
"""History settings that a builder does not support, and what to use instead."""


class ContextBudget(NamedTuple):
    """Token limits of the parts, within the budget; ``recent_messages``: past turns and the run; ``reserved``: free."""

    system_prompt: int
    summary: int
    retrieved: int
    recent_messages: int
    current_input: int
    reserved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetShares:
    """The part of the budget that each part of a context may take, in thousandths, each 0..1000, together at most 1000.

    Source: specification 001-06 to 001-11: 20, 10, 10, 55, 5 and 0 %.

    >>> tuple(BudgetShares().of(48_000))
    (9600, 4800, 4800, 26400, 2400, 0)
    """

    system_prompt: int = 200
    summary: int = 100
    retrieved: int = 100
    recent_messages: int = 550
    current_input: int = 50
    reserved: int = 0

    def __post_init__(self) -> None:
        check_range(self, *ContextBudget._fields, low=0, high=1000, integer=True)
        total = sum(getattr(self, name) for name in ContextBudget._fields)
        if total > 1000:
            raise ConfigError(f"BudgetShares must add up to 1000 or less, got {total}")

    def of(self, total_tokens: int) -> ContextBudget:
        """Return the shares of a budget, each rounded down; the remainder belongs to none.

        Raises:
            ConfigError: the budget is negative.
            TypeError: the budget is not an int.
        """
        check_tokens("total_tokens", total_tokens)
        # Whole numbers: 0.55 * 100 is a little more than 55 in floats, and 0.55 * 20 a little more than 11.
        return ContextBudget(*(total_tokens * getattr(self, name) // 1000 for name in ContextBudget._fields))


@with_suggestions()
@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBuilderConfig:
    """Settings of a ``ContextBuilder``.

    Attributes:
        total_budget: tokens of the whole prompt, >= 1. Source: specification 001-55.
        sliding_window_size: maximum number of turns with the strategy ``window``, >= 0. Source: specification 001-56.
        enable_summary: whether to summarise the thread. Source: specification 001-57, as the next three.
        enable_memory_retrieval: whether to search long-term memories, and to extract new ones from user messages.
        enable_tool_result_compression: whether to compress tool results: past ones always, those of the current run if
            they exceed ``max_message_tokens`` or do not fit.
        enable_instruction_pinning: whether to end each prompt with the pin: the question again, and the status of the
            task. None turns it on where you build the prompt, and off for agents, whose frameworks may mark the newest
            message for the cache or add others after it. False also stops tracking the task.
        shares: the parts of the budget.
        history: how to select past turns; by default the three newest, and what the question needs of the others.
            Source: requirement C5. Refused (the builder has its own): ``token_budget``, ``reserve_tokens``, ``shadow``,
            ``run`` and, with ``window``, ``keep_newest``. ``pin_instructions`` has no effect: the builder handles them.
        redistribute: whether unused shares go to the turns, and the system prompt and the question may borrow. False
            cuts each part to its share and marks the cut. Source: requirement 001-49.
        cache_friendly: whether to put what changes from build to build (volatile system parts, summary, memories)
            between the turns and the question, so that the beginning stays the same. Source: requirement C9.
        locale: of headings and placeholders, ``zh`` or ``en``; None: the first user message's. Source: requirement C17.
        max_message_tokens: longest text of a past message; a longer one is cut in the middle. A longer result of the
            current run is compressed. Defaults to a quarter of the share of the turns. Source: requirement 004-48.
        memory_limit: maximum number of memories, >= 1. Source: specification 001-24, as the next two.
        memory_categories: categories to search; empty means all.
        call_timeout_ms: total time that a build waits for plug-ins, >= 0; stores use the timeouts of their driver.
    """

    total_budget: int = 48_000
    sliding_window_size: int = 20
    enable_summary: bool = True
    enable_memory_retrieval: bool = True
    enable_tool_result_compression: bool = True
    enable_instruction_pinning: bool | None = None
    shares: BudgetShares = field(default_factory=BudgetShares)
    history: HistoryConfig = field(default_factory=lambda: HistoryConfig(keep_newest=RECENT_TURNS))
    redistribute: bool = True
    cache_friendly: bool = False
    locale: Locale | None = None
    max_message_tokens: int | None = None
    memory_limit: int = 3
    memory_categories: tuple[str, ...] = ("user_preference",)
    call_timeout_ms: int = 500

    def __post_init__(self) -> None:
        check_range(self, "total_budget", "memory_limit", low=1, integer=True)
        check_range(self, "sliding_window_size", "call_timeout_ms", low=0, integer=True)
        if self.max_message_tokens is not None:
            check_range(self, "max_message_tokens", low=1, integer=True)
        check_locale("ContextBuilderConfig.locale", self.locale)
        kinds: dict[str, type] = {"shares": BudgetShares, "history": HistoryConfig, "redistribute": bool}
        kinds |= {name: bool for name in self.__slots__ if name.startswith(("enable_", "cache_"))}
        for name, kind in kinds.items():
            may_be_none = [None] if name == "enable_instruction_pinning" else []
            check_type(f"ContextBuilderConfig.{name}", getattr(self, name), kind, *may_be_none)
        history, default = self.history, HistoryConfig()
        refused = {name: use for name, use in _ELSEWHERE.items() if getattr(history, name) != getattr(default, name)}
        if history.strategy == "window" and history.keep_newest is not None:
            refused["keep_newest"] = "use sliding_window_size"
        if refused:
            named = "; ".join(f"{name} ({use})" for name, use in refused.items())
            raise ConfigError(f"ContextBuilderConfig.history has settings a builder does not support: {named}")
