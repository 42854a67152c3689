"""Fail when ``import gatekeeper_core`` takes 100 ms or more: median of seven fresh interpreters, less a bare start."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

LIMIT_MS = 100.0
RUNS = 7


def median_ms(code: str) -> float:
    """Return the median wall time of ``python -c code`` in milliseconds, after one start that warms the disk cache."""
    times = []
    for _ in range(RUNS + 1):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own interpreter, a fixed program
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times[1:])


if __name__ == "__main__":
    start_ms = median_ms("pass")
    import_ms = median_ms("import gatekeeper_core") - start_ms
    print(f"import gatekeeper_core: {import_ms:.1f} ms (bare start {start_ms:.1f} ms, limit {LIMIT_MS:.0f} ms)")
    sys.exit(import_ms >= LIMIT_MS)
