"""Stack traces: exceptions, the ends of each run of frames, and own code; runs that differ only in numbers are one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gatekeeper_core.context.tool_results.digest import Digest, KeptLines, Lines, Task
from gatekeeper_core.context.tool_results.formats.lines import digest_lines
from gatekeeper_core.context.tool_results.formats.templates import masked
from gatekeeper_core.text import data_pattern

_FRAME = data_pattern("result_patterns.tsv", "FRAME")
_HEAD = data_pattern("result_patterns.tsv", "TRACE_HEAD")
_LIBRARY = data_pattern("result_patterns.tsv", "LIBRARY")

_ENDS = 2
_OWN = 4


def is_frame(line: str) -> bool:
    """Return whether a line is a frame of a stack trace."""
    return _FRAME.match(line[:400]) is not None


def is_trace_head(line: str) -> bool:
    """Return whether a line begins a trace or names the exception."""
    return _HEAD.match(line[:400]) is not None


def digest_trace(lines: Lines, task: Task) -> Digest:
    """Return a digest of traces, at twice the usual budget; lines without frames are digested as a log."""
    texts = lines.texts
    task = task._replace(budget_tokens=2 * task.budget_tokens)
    runs, messages = _parts(texts)
    if not runs:
        return digest_lines(lines, task)
    selection = KeptLines(lines, task)
    first = {masked(texts[at]): at for at in reversed(messages)}
    telling = sorted(first.values(), key=lambda at: (not is_trace_head(texts[at]), at))
    selection.add_all(telling, sure=1, reserve=selection.budget // 3)
    selection.add_all(task.query.ranked(texts, limit=6), reserve=selection.budget // 4)
    kinds: dict[tuple[str, ...], list[list[int]]] = {}
    for run in runs:
        kinds.setdefault(tuple(masked(texts[frame[0]]) for frame in run), run)
    for frames in kinds.values():  # both ends, the user's own code, then more of the ends
        own = [frame for frame in frames if not _LIBRARY.search(texts[frame[0]][:400])]
        worth = [frames[-1], frames[0], *own[-_OWN:][::-1], *own[:_OWN], *frames[-_ENDS:][::-1], *frames[:_ENDS]]
        selection.add_all(at for frame in worth for at in frame)
    selection.add_all(reversed(messages))
    return selection.digest("frames")


def _parts(lines: Sequence[str]) -> tuple[list[list[list[int]]], list[int]]:
    """Return the runs of frames, each frame as its line indices, and the indices of the other non-blank lines."""
    runs: list[list[list[int]]] = []
    messages: list[int] = []
    inside = False
    for at, line in enumerate(lines):
        if is_frame(line):
            if not inside:
                runs.append([])
            runs[-1].append([at])
            inside = True
        elif inside and re.match(r"\s{2,}\S", line[:80]):
            runs[-1][-1].append(at)  # the code of the frame
        else:
            inside = False
            if line.strip():
                messages.append(at)
    return runs, messages
