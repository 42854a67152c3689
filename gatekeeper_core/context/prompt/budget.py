"""The shares of a token budget, in whole tokens."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.tokens import check_tokens

__all__ = ["BudgetShares", "ContextBudget"]


class ContextBudget(NamedTuple):
    """What each part of a context may cost, in tokens; together at most the budget.

    Attributes:
        system_prompt: the system prompt.
        summary: the summary of the thread.
        retrieved: long-term memories.
        recent_messages: earlier turns and the current run.
        current_input: what the user asks now.
        reserved: kept free.
    """

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
        names = [field.name for field in fields(self)]
        check_range(self, *names, low=0, high=1000, whole=True)
        whole = sum(getattr(self, name) for name in names)
        if whole > 1000:
            raise ConfigError(f"BudgetShares must come to 1000 thousandths at most, got {whole}")

    def of(self, total_tokens: int) -> ContextBudget:
        """Return the shares of a budget; each is rounded down, and what is left over belongs to none.

        Raises:
            ConfigError: the budget is negative.
            TypeError: the budget is no whole number.
        """
        check_tokens("total_tokens", total_tokens)
        # Whole numbers: 0.55 * 100 is a little more than 55 in floats, and 0.55 * 20 a little more than 11.
        return ContextBudget(*(total_tokens * getattr(self, name) // 1000 for name in ContextBudget._fields))
