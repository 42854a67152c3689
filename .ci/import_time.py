"""Fail when ``import gatekeeper_core`` is slow: 100 ms, or twice what its standard library modules take by themselves.

The second limit is for a machine that is slow today: there the modules of the standard library, which nobody can make
faster here, take most of the first one. Each figure is the best of fifteen fresh interpreters, taken in turn: noise can
only add time, never take it away.
"""

from __future__ import annotations

import subprocess
import sys

LIMIT_MS = 100.0
LIMIT_RATIO = 2.0
RUNS = 15
OURS = "gatekeeper_core"
STANDARD = "bisect, collections.abc, dataclasses, math, re, reprlib, threading, typing, unicodedata"
TIMED = "import time; began = time.perf_counter(); import {}; print((time.perf_counter() - began) * 1000)"


def import_ms(modules: str) -> float:
    """Return how long an import takes in a fresh interpreter, in milliseconds."""
    command = [sys.executable, "-c", TIMED.format(modules)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own interpreter, a fixed program
    return float(done.stdout)


def main() -> int:
    """Print the figures and return the exit status."""
    pairs = [(import_ms(OURS), import_ms(STANDARD)) for _ in range(RUNS)]
    ours, standard = (min(times) for times in zip(*pairs, strict=True))
    limit = max(LIMIT_MS, LIMIT_RATIO * standard)
    print(
        f"import gatekeeper_core: {ours:.1f} ms, its standard library modules {standard:.1f} ms (limit {limit:.0f} ms)"
    )
    return int(ours >= limit)


if __name__ == "__main__":
    sys.exit(main())
