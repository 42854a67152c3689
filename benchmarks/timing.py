"""CPU time of calls, in milliseconds: it does not count the waiting for a shared core."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


Name = TypeVar("Name")


def cpu_ms(call: Callable[..., object], *arguments: object) -> float:
    """Return the CPU milliseconds of a call, all threads of the process together."""
    begin = time.process_time_ns()
    call(*arguments)
    return (time.process_time_ns() - begin) / 1e6


def medians(
    calls: Mapping[Name, Callable[..., object]], argument_lists: Iterable[tuple[object, ...]]
) -> dict[Name, float]:
    """Return by name the median of a call over what is given; the calls take turns, so that a noisy machine is fair."""
    times: dict[Name, list[float]] = {name: [] for name in calls}
    for arguments in argument_lists:
        for name, call in calls.items():
            times[name].append(cpu_ms(call, *arguments))
    return {name: statistics.median(each) for name, each in times.items()}
