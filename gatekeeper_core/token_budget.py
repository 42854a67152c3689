"""Token budgets by category: which part of a prompt took how much."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping

from gatekeeper_core.errors import check_str
from gatekeeper_core.tokens import check_tokens


class TokenBudgetTracker:
    """A tracker of one token budget: tokens allocated by category, and tokens left.

    Args:
        total: tokens to allocate, at least 1.
        caps: limits by category, each at least 0; other categories are limited only by ``total``.

    Raises:
        ConfigError: ``total`` or a cap is out of range.

    Source: specification 001, ``TokenBudgetTracker``; ``caps`` is ours.

    >>> tracker = TokenBudgetTracker(100, caps={"recall": 30})
    >>> tracker.allocate("system", 60), tracker.allocate("recall", 31), tracker.allocate("recall", 30)
    (True, False, True)
    >>> tracker.remaining, tracker.breakdown
    (10, {'system': 60, 'recall': 30})
    """

    __slots__ = ("_breakdown", "_caps", "_total")

    def __init__(self, total: int, *, caps: Mapping[str, int] | None = None) -> None:
        check_tokens("total", total, at_least=1)
        self._total = total
        self._caps = dict(caps or {})
        for category, cap in self._caps.items():
            check_str("a category of caps", category)
            check_tokens(f"caps[{reprlib.repr(category)}]", cap)
        self._breakdown: dict[str, int] = {}

    def allocate(self, category: str, tokens: int) -> bool:
        """Allocate ``tokens`` to ``category`` and return True, or False without a change if they do not fit.

        Raises:
            ConfigError: ``tokens`` is negative.
        """
        check_str("category", category)
        check_tokens("tokens", tokens)
        total = self._breakdown.get(category, 0) + tokens
        if self.used + tokens > self._total or total > self._caps.get(category, self._total):
            return False
        self._breakdown[category] = total
        return True

    @property
    def used(self) -> int:
        """Tokens allocated so far."""
        return sum(self._breakdown.values())

    @property
    def remaining(self) -> int:
        """Tokens left."""
        return self._total - self.used

    @property
    def breakdown(self) -> dict[str, int]:
        """Tokens allocated by category, in the order of first allocation; a copy."""
        return dict(self._breakdown)
