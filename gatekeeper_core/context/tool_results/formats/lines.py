"""Logs, test output and anything else that repeats itself line by line.

Kept, in this order: the first line of each template that reports a failure, with the lines around it; matches of the
query; the ends; the templates that are rare here; one line of each common template, with its count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gatekeeper_core.context.tool_results.digest import Digest, KeptLines, Lines, Task
from gatekeeper_core.context.tool_results.formats.templates import Templates, templates_of
from gatekeeper_core.context.tool_results.signals import FAILURE, WARNING, severities, stated_level
from gatekeeper_core.text import data_pattern

_MATCHED_LINES = 12
_LINES_AFTER = 3
_COMMON_SHARE = 0.2  # a template that makes up more of the lines is what the log is about, a failure or not
_FEW = 3
_TAIL = 30
_TAIL_CHARS = 400

_SUMMARY = data_pattern("result_patterns.tsv", "SUMMARY", re.MULTILINE)
_CONTINUES = data_pattern("result_patterns.tsv", "CONTINUES")


def digest_lines(lines: Lines, task: Task) -> Digest | None:
    """Return a digest of lines, or None if all of them fit; ``…×n`` means n lines of a template."""
    texts, last = lines.texts, len(lines.texts) - 1
    templates = templates_of(texts)
    selection = KeptLines(lines, task)
    budget = selection.remaining
    levels = severities([texts[first] for first in templates.first])
    _keep_failures(selection, texts, templates, levels)
    for nth, index in enumerate(task.query.ranked(texts, limit=_MATCHED_LINES)):
        selection.add(index, reserve=selection.overdraft if nth < _FEW else budget // 12)
    for index in range(last, max(-1, last - _TAIL), -1):  # the counts of a run stand near its end
        if _SUMMARY.search(texts[index][:_TAIL_CHARS]):
            selection.add(index, reserve=budget // 2)

    def add_all(some: Iterable[int], *, reserve: int) -> None:
        misses = 0
        for kind in some:
            misses += not selection.add(templates.first[kind], note=_note(templates.counts[kind]), reserve=reserve)
            if misses > 2 * _FEW:
                break

    # Rare ones: the most unusual first, and those that warn before their like.
    common_from = max(_FEW, len(texts) // 100)
    telling = [kind for kind, template in enumerate(templates.texts) if template.strip("-=_*#. |+")]
    rare = [kind for kind in telling if templates.counts[kind] < common_from]
    worth = {kind: -templates.rarities[kind] - (levels[kind] == WARNING) for kind in rare}
    rare.sort(key=lambda kind: (worth[kind], templates.first[kind]))
    common = [kind for kind in telling if templates.counts[kind] >= common_from]
    common.sort(key=lambda kind: (-templates.counts[kind], kind))
    add_all(rare[:_FEW], reserve=0)
    for index in (last, 0, last - 1, 1):
        if 0 <= index <= last and texts[index].strip():
            selection.add(index, reserve=budget // 12)
    add_all(rare, reserve=min(selection.remaining, budget) // 4)
    add_all(common, reserve=0)
    add_all(rare, reserve=0)
    return None if selection.is_complete else selection.digest("lines")


def _keep_failures(selection: KeptLines, lines: Sequence[str], templates: Templates, levels: Sequence[int]) -> None:
    """Keep the first line of each template of failure, with its surroundings; then the last ones.

    First come those that state their level, the rarest first, last those that state a lower one, as of a retry.
    """
    failures = [kind for kind, level in enumerate(levels) if level == FAILURE]
    budget = selection.remaining
    states = {kind: stated_level(lines[templates.first[kind]]) for kind in failures}
    failures.sort(key=lambda kind: (-states[kind], -templates.rarities[kind], templates.first[kind]))
    kept: list[int] = []
    for kind in failures:
        is_sure = len(kept) < 2 * _FEW
        reserve = selection.overdraft if is_sure else budget // (3 if states[kind] >= 0 else 2)
        if selection.add(templates.first[kind], note=_note(templates.counts[kind]), reserve=reserve):
            kept.append(kind)
        elif not is_sure:
            break
    for kind in kept:
        if templates.counts[kind] <= max(_FEW, _COMMON_SHARE * len(lines)):
            index = templates.first[kind]
            for near in range(index + 1, min(index + 1 + _LINES_AFTER, len(lines))):
                if not _CONTINUES.match(lines[near]):
                    break
                selection.add(near, reserve=budget // 3)
            if index:
                selection.add(index - 1, reserve=budget // 3)
    for kind in kept:
        if templates.counts[kind] > 1:
            selection.add(templates.last[kind], reserve=budget // 3)


def _note(count: int) -> str:
    return f" …×{count}" if count > 1 else ""
