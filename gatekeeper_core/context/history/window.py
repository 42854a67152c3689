"""The window: the newest turns that fit."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["newest_turns"]


def newest_turns(costs: Sequence[int], *, budget_tokens: int) -> tuple[int, ...]:
    """Return the positions of the newest turns that fit together, oldest first.

    A turn that is over the budget by itself is passed over; from the newest other turn on the window has no hole and
    ends before the first turn for which the rest of the budget is too small. So it is empty only when no turn fits.

    Args:
        costs: tokens of each turn, oldest first, each at least 0.
        budget_tokens: what they may cost together; below 0 nothing fits.

    Source: specification 001 (the last rounds within the budget); passing over is ours.

    >>> newest_turns([30, 10, 500, 40], budget_tokens=60)
    (1, 3)
    """
    taken: list[int] = []
    left = budget_tokens
    for position in range(len(costs) - 1, -1, -1):
        cost = costs[position]
        if cost > budget_tokens:
            continue
        if cost > left:
            break
        taken.append(position)
        left -= cost
    return tuple(reversed(taken))
