"""Logs, test output and anything else that repeats itself line by line.

Kept, in this order: the first line of each failure template, with its context; query matches; summaries near the end;
the rarest templates; both ends; further rare templates; one line of each common template, with its count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from gatekeeper_core.context.tool_results.digest import Digest, KeptLines, Lines, Task
from gatekeeper_core.context.tool_results.formats.templates import Template, templates_of
from gatekeeper_core.context.tool_results.signals import FAILURE, WARNING, severities, stated_level
from gatekeeper_core.text import data_pattern

_MATCHED_LINES = 12
_LINES_AFTER = 3
_COMMON_SHARE = 0.2  # a template with more of the lines is normal content of this log, even a failure
_FEW = 3
_TAIL = 30
_TAIL_CHARS = 400

_SUMMARY = data_pattern("result_patterns.tsv", "SUMMARY", re.MULTILINE)
_CONTINUES = data_pattern("result_patterns.tsv", "CONTINUES")


def digest_lines(lines: Lines, task: Task) -> Digest:
    """Return a digest of lines; ``…×n`` means n lines of a template."""
    texts, last = lines.texts, len(lines.texts) - 1
    templates = templates_of(texts)
    selection = KeptLines(lines, task)
    budget = selection.budget
    levels = severities([texts[template.places[0]] for template in templates])
    rated = list(zip(templates, levels, strict=True))
    _keep_failures(selection, texts, [template for template, level in rated if level == FAILURE])
    selection.add_all(task.query.ranked(texts, limit=_MATCHED_LINES), sure=_FEW, reserve=budget // 12)
    tail = reversed(range(len(texts))[-_TAIL:])  # the totals of a run are near its end
    selection.add_all((at for at in tail if _SUMMARY.search(texts[at][:_TAIL_CHARS])), reserve=budget // 2)

    def add_templates(some: Iterable[Template], *, reserve: int) -> None:
        misses = 0
        for template in some:
            misses += not selection.add(template.places[0], note=template.note, reserve=reserve)
            if misses > 2 * _FEW:
                break

    # Rare templates: the most unusual first; a warning adds to the rarity.
    common_from = max(_FEW, len(texts) // 100)
    worth = {template.text: template.rarity + (level == WARNING) for template, level in rated}
    telling = [template for template in templates if template.text.strip("-=_*#. |+")]
    rare = [template for template in telling if len(template.places) < common_from]
    rare.sort(key=lambda template: (-worth[template.text], template.places[0]))
    common = [template for template in telling if len(template.places) >= common_from]
    common.sort(key=lambda template: (-len(template.places), template.places[0]))
    add_templates(rare[:_FEW], reserve=0)
    ends = (at for at in (last, 0, last - 1, 1) if 0 <= at <= last and texts[at].strip())
    selection.add_all(ends, reserve=budget // 12)
    add_templates(rare, reserve=min(selection.remaining, budget) // 4)
    add_templates(common, reserve=0)
    add_templates(rare, reserve=0)
    return selection.digest("lines")


def _keep_failures(selection: KeptLines, lines: Sequence[str], failures: list[Template]) -> None:
    """Keep the first of each failure template with context, by stated level, then rarity; then the last ones."""
    budget = selection.budget
    states = {template.text: stated_level(lines[template.places[0]]) for template in failures}
    failures.sort(key=lambda template: (-states[template.text], -template.rarity, template.places[0]))
    kept: list[Template] = []
    for template in failures:
        is_sure = len(kept) < 2 * _FEW
        reserve = selection.overdraft if is_sure else budget // (3 if states[template.text] >= 0 else 2)
        if selection.add(template.places[0], note=template.note, reserve=reserve):
            kept.append(template)
        elif not is_sure:
            break
    for template in kept:
        if len(template.places) <= max(_FEW, _COMMON_SHARE * len(lines)):
            index = template.places[0]
            after = range(len(lines))[index + 1 : index + 1 + _LINES_AFTER]
            near = [*takewhile(lambda at: _CONTINUES.match(lines[at]), after), *range(index)[-1:]]
            selection.add_all(near, reserve=budget // 3)
    selection.add_all((template.places[-1] for template in kept), reserve=budget // 3)
