"""Stack traces: what was raised, the outer and inner frames, and the frames in one's own code.

A trace is what stands between two messages: a run of frames. Runs that differ in numbers alone are one kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from gatekeeper_core.context.tool_results.digest import Digest, Shelf, Task
from gatekeeper_core.context.tool_results.formats.templates import masked
from gatekeeper_core.text import LazyPattern

__all__ = ["digest_trace", "is_frame", "is_trace_head"]

_FRAME = LazyPattern(
    r"\s+at\s+\S"  # Java, JavaScript, C#
    r'|\s+File "'  # Python
    r"|\s+from \S+:[0-9]+:in\b|\S+\.rb:[0-9]+:in\b"  # Ruby
    r"|\s+\S+\.go:[0-9]+\b|(?:created by )?[\w./*()-]+\.[\w.*()-]+\([^\n]*\)(?: in goroutine [0-9]+)?\Z"  # Go
    r"|\s*#?[0-9]+:?\s+(?:0x[0-9a-f]+|\S+::\S+|/\S+\([0-9]+\)|\{main\})"  # Rust, C, PHP
    r"|\s*\.\.\. [0-9]+ (?:more|common frames)|\s+\[Previous line repeated"
)
_HEAD = LazyPattern(
    r"\s*Traceback \(most recent call last\)|\s*Exception in thread|Caused by: |\s*goroutine [0-9]+ \[|panic: "
    r"|thread '[^'\n]{0,80}' panicked at|(?:Uncaught )?[\w.$]{0,120}(?:Error|Exception)\b|PHP Fatal error"
    r"|\s*stack backtrace:"
)
_LIBRARY = LazyPattern(
    r"site-packages|dist-packages|node_modules|/lib/python[0-9]|<frozen|/rustc/|\bnode:|internal/|/usr/(?:local/)?(?:lib|go|share)/"
    r"|/pkg/mod/|/gems/|\bat (?:java|javax|jdk|sun|kotlin|scala|com\.sun|org\.(?:apache|springframework|junit"
    r"|hibernate)"
    r"|io\.netty|System|Microsoft)\.|\b(?:std|core|alloc|tokio)::|\bruntime\.|vendor/"
)

_ENDS = 2
_OWN = 4


class _Run(NamedTuple):
    """Frames that follow one another: their lines, and where each frame begins."""

    frames: list[list[int]]


def is_frame(line: str) -> bool:
    """Return whether a line is a frame of a stack trace.

    >>> is_frame('  File "app.py", line 3, in main'), is_frame("    at app.main (app.js:3:1)"), is_frame("at noon")
    (True, True, False)
    """
    return _FRAME.match(line[:400]) is not None


def is_trace_head(line: str) -> bool:
    """Return whether a line begins a trace or says what was raised."""
    return _HEAD.match(line[:400]) is not None


def digest_trace(lines: Sequence[str], numbers: Sequence[int], total: int, task: Task) -> Digest | None:
    """Return a digest of traces, or None where there are no frames or all of them fit.

    Args:
        lines: the lines that were read.
        numbers: their numbers in the text.
        total: how many lines the text has.
        task: what the digest goes by.
    """
    runs, messages = _parts(lines)
    if not runs:
        return None
    shelf = Shelf(lines, task, numbers=numbers, total=total)
    budget = shelf.left
    seen: dict[str, int] = {}
    for at in messages:
        seen.setdefault(masked(lines[at]), at)
    telling = sorted(seen.values(), key=lambda at: (not is_trace_head(lines[at]), at))
    for nth, at in enumerate(telling):
        shelf.add(at, least_left=budget // 3 if nth else shelf.overdraft)
    for at in task.asked.ranked(lines, limit=6):
        shelf.add(at, least_left=budget // 4)
    for frames in _kinds(runs, lines):
        for frame in _worth(frames, lines):
            for at in frame:
                shelf.add(at)
    for at in reversed(messages):
        shelf.add(at)
    if shelf.is_whole:
        return None
    return Digest(shelf.text(), len(shelf.kept), total, "lines", "frames")


def _parts(lines: Sequence[str]) -> tuple[list[_Run], list[int]]:
    """Return the runs of frames, and the other lines that say something."""
    runs: list[_Run] = []
    messages: list[int] = []
    inside = False
    for at, line in enumerate(lines):
        if is_frame(line):
            if not inside:
                runs.append(_Run([]))
            runs[-1].frames.append([at])
            inside = True
        elif inside and re.match(r"\s{2,}\S", line[:80]):
            runs[-1].frames[-1].append(at)  # the code of the frame
        else:
            inside = False
            if line.strip():
                messages.append(at)
    return runs, messages


def _kinds(runs: Sequence[_Run], lines: Sequence[str]) -> list[list[list[int]]]:
    """Return the frames of one run of each kind, in the order in which the kinds occur."""
    seen: dict[tuple[str, ...], list[list[int]]] = {}
    for run in runs:
        seen.setdefault(tuple(masked(lines[frame[0]]) for frame in run.frames), run.frames)
    return list(seen.values())


def _worth(frames: Sequence[list[int]], lines: Sequence[str]) -> list[list[int]]:
    """Return the frames to keep, most important first: both ends, one's own, further ones at the ends."""
    own = [frame for frame in frames if not _LIBRARY.search(lines[frame[0]][:400])]
    worth = [frames[-1], frames[0], *own[-_OWN:][::-1], *own[:_OWN], *frames[-_ENDS:][::-1], *frames[:_ENDS]]
    return list({frame[0]: frame for frame in worth}.values())
