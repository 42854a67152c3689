"""How time grows, where no count of calls or steps can stand for it: the least of three runs of both sides.

Processor time, so other programs on the machine hardly count; a loaded machine still takes up to twice as long at times,
which the least of three and the factor swallow.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ALLOWANCE = 0.1
"""Seconds that a run may take longer whatever its size."""


def least_seconds(work: Callable[[], object]) -> float:
    """Return the least processor time of three runs, in seconds."""
    taken = []
    for _ in range(3):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken)


def assert_linear(work_of: Callable[[int], Callable[[], object]], *, small: int, large: int) -> None:
    """Fail where work takes more than two and a half times longer than its growth.

    With four times the input, 10 times as long is allowed and 16 would be quadratic.

    Args:
        work_of: makes the work for a size; making it is not measured.
        small: a size.
        large: at least four times the size.
    """
    assert large >= 4 * small
    assert_slower(work_of, small=small, large=large, at_most=2.5 * large / small)


def assert_slower(work_of: Callable[[int], Callable[[], object]], *, small: int, large: int, at_most: float) -> None:
    """Fail where the work of the large size takes more than so many times as long as that of the small one."""
    short = least_seconds(work_of(small))
    assert least_seconds(work_of(large)) <= at_most * short + ALLOWANCE
