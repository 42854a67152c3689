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


RUNS = 3


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of one run, in seconds."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


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
    """Fail where the work of the large size takes more than so many times as long as that of the small one.

    The large one runs until it is quick enough, three times at most: the least of three decides, as for the small one.
    """
    limit = at_most * min(cpu_seconds(work_of(small)) for _ in range(RUNS)) + ALLOWANCE
    large_work = work_of(large)
    assert any(cpu_seconds(large_work) <= limit for _ in range(RUNS))
