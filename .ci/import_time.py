"""Fail when ``import gatekeeper_core`` takes 100 ms or more: best of fifteen fresh interpreters, less a bare start.

The two are started in turn. The best is taken because a busy machine can only add time, never take it away.
"""

from __future__ import annotations

import subprocess
import sys
import time

LIMIT_MS = 100.0
RUNS = 15


def start_ms(code: str) -> float:
    """Return the wall time of ``python -c code`` in milliseconds."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own interpreter, a fixed program
    return (time.perf_counter() - began) * 1000


def main() -> int:
    """Print the figure and return the exit status."""
    start_ms("import gatekeeper_core")  # warms the disk cache
    pairs = [(start_ms("pass"), start_ms("import gatekeeper_core")) for _ in range(RUNS)]
    bare = min(pair[0] for pair in pairs)
    import_ms = min(pair[1] for pair in pairs) - bare
    print(f"import gatekeeper_core: {import_ms:.1f} ms (bare start {bare:.1f} ms, limit {LIMIT_MS:.0f} ms)")
    return int(import_ms >= LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
