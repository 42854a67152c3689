"""Cursor's export of a chat as Markdown: ``**User**`` and ``**Cursor**``, each behind a rule.

::

    # Title
    _Exported on 25/7/2025 at 19:03:40 PDT from Cursor (1.2.1)_

    ---

    **User**

A label counts only behind the head of the file or behind a rule: answers are full of bold lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from gatekeeper_core.messages import Message, Role
from gatekeeper_formats import base

_LABELS: Mapping[str, Role] = {"**User**": "user", "**Cursor**": "assistant"}
_RULE = "---"
_EXPORTED = "_Exported on "
_DAY = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})\b|(\d{4})-(\d{1,2})-(\d{1,2})\b")


class _Head(NamedTuple):
    """The title, the time of the export, and the text behind them."""

    title: str | None
    when: str
    body: str


def _head(text: str) -> _Head | None:
    line, _, rest = text.lstrip().partition("\n")
    title = None
    if line.startswith("# "):
        title = line.removeprefix("# ").strip()
        line, _, rest = rest.lstrip().partition("\n")
    line = line.strip()
    when, exported, _ = line.removeprefix(_EXPORTED).partition(" from Cursor")
    is_head = line.startswith(_EXPORTED) and exported and line.endswith("_")
    return _Head(title, when, rest) if is_head else None


def _day(when: str) -> str | None:
    """Return the day of a time as the user's country writes it; None where month and day may be either.

    >>> _day("28/9/2026 at 17:49:33 VET"), _day("3/28/2026 at 10:44:59 PDT"), _day("7/8/2025 at 19:03:40")
    ('2026-09-28', '2026-03-28', None)
    """
    found = _DAY.search(when)
    if found is None:
        return None
    if found[4]:
        year, month, day = int(found[4]), int(found[5]), int(found[6])
    else:
        year, month, day = int(found[3]), *sorted((int(found[1]), int(found[2])))
        if day <= 12 and month != day:
            return None
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


class _Cursor(base.Format):
    name = "cursor"

    def knows(self, value: str) -> bool:
        return _head(value) is not None

    def entries(self, items: base.Items, whole_file: bool) -> base.Entries:  # noqa: ARG002
        head = _head(str(next(items).value).replace("\r\n", "\n"))
        if head is None:
            raise base.PlaceError(
                "is not a Cursor export: it must start with a line such as _Exported on ... from Cursor_"
            )
        parts: list[tuple[Role | None, list[str]]] = [(None, [])]
        filled = -1  # the position of the last line that is not blank, in what was said last
        for line in head.body.split("\n"):
            own = parts[-1][1]
            role = _LABELS.get(line.strip())
            ruled = filled >= 0 and own[filled].strip() == _RULE
            if role and (ruled or (filled < 0 and len(parts) == 1)):
                del own[max(filled, 0) :]
                parts.append((role, []))
                filled = -1
            else:
                own.append(line)
                filled = len(own) - 1 if line.strip() else filled
        if filled >= 0 and parts[-1][1][filled].strip() == _RULE:  # a rule at the end belongs to the file
            del parts[-1][1][filled:]
        left_out: base.LeftOut = Counter(preface=int(any(line.strip() not in ("", _RULE) for line in parts[0][1])))
        messages = tuple(Message(role, "\n".join(lines).strip("\n")) for role, lines in parts if role)
        yield base.Entry(lambda: base.Loaded(messages, left_out), title=head.title, created=_day(head.when))


FORMAT = _Cursor()
