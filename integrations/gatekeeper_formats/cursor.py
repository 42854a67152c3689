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
from datetime import date
from typing import TYPE_CHECKING

from gatekeeper_core.messages import Message
from gatekeeper_formats.base import Entry, Format, Item, LeftOut, Loaded, PlaceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gatekeeper_core.messages import Role

__all__ = ["FORMAT"]

_HEAD = re.compile(
    r"\s*(?:#[ \t]+(?P<title>.*?)[ \t]*\n\s*)?_Exported on (?P<when>[^\n]*?) from Cursor\b[^\n]*_[ \t\r]*(?:\n|$)"
)
_LABEL = re.compile(r"(?:^|\n[ \t]*---[ \t]*\n)\s*\*\*(?P<speaker>User|Cursor)\*\*[ \t]*(?=\n|$)")
_ROLES: Mapping[str, Role] = {"User": "user", "Cursor": "assistant"}
_DAY = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})\b|(\d{4})-(\d{1,2})-(\d{1,2})\b")


def _knows(text: str) -> bool:
    return _HEAD.match(text) is not None


def _entries(items: Iterator[Item], _whole_file: bool) -> Iterator[Entry]:
    text = str(next(items).value).replace("\r\n", "\n")
    head = _HEAD.match(text)
    if head is None:
        raise PlaceError("is no export of Cursor: it must begin with a line such as _Exported on ... from Cursor_")
    body = re.sub(r"\n[ \t]*---\s*\Z", "\n", text[head.end() :])  # a rule at the end belongs to the file
    labels = list(_LABEL.finditer(body))
    ends = [label.start() for label in labels[1:]] + [len(body)] * bool(labels)
    messages = tuple(
        Message(_ROLES[label["speaker"]], body[label.end() : end].strip("\n"))
        for label, end in zip(labels, ends, strict=True)
    )
    before = body[: labels[0].start()] if labels else body
    left_out: LeftOut = Counter(preface=int(bool(before.strip().strip("-"))))
    yield Entry(lambda: Loaded(messages, left_out), title=head["title"], created=_day(head["when"]))


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


FORMAT = Format(name="cursor", knows=_knows, entries=_entries)
