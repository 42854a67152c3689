"""Logs, test output and anything else that repeats itself line by line.

Kept, in this order: the first line of each kind that tells of a failure, with the lines around it; what the question
asks for; the ends; the kinds that are rare here; one line of each common kind, with its count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gatekeeper_core.context.tool_results.digest import Digest, Lines, Shelf, Task
from gatekeeper_core.context.tool_results.formats.templates import Kinds, kinds_of
from gatekeeper_core.context.tool_results.signals import FAILURE, WARNING, severities, stated
from gatekeeper_core.text import LazyPattern

__all__ = ["digest_lines"]

_ASKED_LINES = 12
_LINES_AFTER = 3
_COMMON_SHARE = 0.2  # a kind that makes up more of the lines than this is what the log is about, trouble or not
_FEW = 3
_TAIL = 30
_TAIL_CHARS = 400

_SUMMARY = LazyPattern(
    r"\b\d+ (?:passed|failed|errors?|skipped|warnings?|tests?|failures?|succeeded|ignored|problems?)\b"
    r"|^(?:Tests?|Test Suites|Tests run|test result|FAILED?|PASS|ok|Ran|Results?|Summary|Total|Finished|BUILD)\b"
    r"|共\s?\d+|合计|总计",
    re.MULTILINE,
)
_CONTINUES = LazyPattern(r"\s+\S|(?:Caused by|During handling|Traceback|\.\.\. \d+ more|\^)")


def digest_lines(lines: Lines, task: Task) -> Digest | None:
    """Return a digest of lines, or None where all of them fit; ``…×n`` stands for n lines of a kind.

    >>> from gatekeeper_core.context.tool_results.query_match import Asked
    >>> task = Task(Asked(None), 40, lambda text: len(text) // 4, 20)
    >>> log = [*(f"{at} INFO job {at} done" for at in range(1, 41)), "ERROR disk full", *["INFO end"] * 3]
    >>> print(digest_lines(Lines.whole(log), task).text)
    … 39 lines omitted [1-39]
    40 INFO job 40 done
    ERROR disk full
    INFO end …×3
    INFO end
    INFO end
    """
    texts, last = lines.texts, len(lines.texts) - 1
    kinds = kinds_of(texts)
    shelf = Shelf(lines, task)
    budget = shelf.left
    levels = severities([texts[first] for first in kinds.first])
    _keep_failures(shelf, texts, kinds, levels)
    for nth, index in enumerate(task.asked.ranked(texts, limit=_ASKED_LINES)):
        shelf.add(index, least_left=shelf.overdraft if nth < _FEW else budget // 12)
    rare, common = _by_rarity(texts, kinds, levels)
    for index in range(last, max(-1, last - _TAIL), -1):  # what counts results stands near the end
        if _SUMMARY.search(texts[index][:_TAIL_CHARS]):
            shelf.add(index, least_left=budget // 2)
    _add_all(shelf, kinds, rare[:_FEW], least_left=0)
    for index in (last, 0, last - 1, 1):
        if 0 <= index <= last and texts[index].strip():
            shelf.add(index, least_left=budget // 12)
    _add_all(shelf, kinds, rare, least_left=min(shelf.left, budget) // 4)
    _add_all(shelf, kinds, common, least_left=0)
    _add_all(shelf, kinds, rare, least_left=0)
    return None if shelf.is_whole else Digest(shelf.text(), len(shelf.kept), lines.total, "lines", "lines")


def _keep_failures(shelf: Shelf, lines: Sequence[str], kinds: Kinds, levels: Sequence[int]) -> None:
    """Keep the first line of each kind of failure, with its surroundings; then the last ones.

    First come those that state their level, the rarest first, last those that state a lower one, as of a retry.
    """
    failures = [kind for kind, level in enumerate(levels) if level == FAILURE]
    budget = shelf.left
    states = {kind: stated(lines[kinds.first[kind]]) for kind in failures}
    failures.sort(key=lambda kind: (-states[kind], -kinds.rarities[kind], kinds.first[kind]))
    kept: list[int] = []
    for kind in failures:
        is_sure = len(kept) < 2 * _FEW
        least = shelf.overdraft if is_sure else budget // (3 if states[kind] >= 0 else 2)
        if shelf.add(kinds.first[kind], note=_note(kinds.counts[kind]), least_left=least):
            kept.append(kind)
        elif not is_sure:
            break
    for kind in kept:
        if kinds.counts[kind] <= max(_FEW, _COMMON_SHARE * len(lines)):
            index = kinds.first[kind]
            for near in range(index + 1, min(index + 1 + _LINES_AFTER, len(lines))):
                if not _CONTINUES.match(lines[near]):
                    break
                shelf.add(near, least_left=budget // 3)
            if index:
                shelf.add(index - 1, least_left=budget // 3)
    for kind in kept:
        if kinds.counts[kind] > 1:
            shelf.add(kinds.last[kind], least_left=budget // 3)


def _by_rarity(lines: Sequence[str], kinds: Kinds, levels: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the rare kinds, the most unusual first and those that warn before their like, and the common ones."""
    common_from = max(_FEW, len(lines) // 100)
    telling = [kind for kind, template in enumerate(kinds.templates) if template.strip("-=_*#. |+")]
    rare = [kind for kind in telling if kinds.counts[kind] < common_from]
    worth = {kind: -kinds.rarities[kind] - (levels[kind] == WARNING) for kind in rare}
    rare.sort(key=lambda kind: (worth[kind], kinds.first[kind]))
    common = [kind for kind in telling if kinds.counts[kind] >= common_from]
    common.sort(key=lambda kind: (-kinds.counts[kind], kind))
    return rare, common


def _add_all(shelf: Shelf, kinds: Kinds, some: Iterable[int], *, least_left: int) -> None:
    misses = 0
    for kind in some:
        misses += not shelf.add(kinds.first[kind], note=_note(kinds.counts[kind]), least_left=least_left)
        if misses > 2 * _FEW:
            break


def _note(count: int) -> str:
    return f" …×{count}" if count > 1 else ""
