"""Cursor's Markdown export of a chat: ``**User**`` and ``**Cursor**``, each after a rule.

::

    # Title
    _Exported on 25/7/2025 at 19:03:40 PDT from Cursor (1.2.1)_

    ---

    **User**

A label counts only after the head of the file or a rule, as answers are full of bold lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date

from gatekeeper_core.messages import Message, Role
from gatekeeper_formats import base

_LABELS: Mapping[str, Role] = {"**User**": "user", "**Cursor**": "assistant"}
_RULE = "---"
_HEAD = re.compile(r"\s*(?:# (?P<title>.*)\n\s*)?_Exported on (?P<when>.*)_[^\S\n]*(?:\n|$)")
_DAY = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})\b|(\d{4})-(\d{1,2})-(\d{1,2})\b")


def _head(text: str) -> re.Match[str] | None:
    match = _HEAD.match(text)
    return match if match and " from Cursor" in match["when"] else None


def _day(when: str) -> str | None:
    """Return the day of a time in the user's local notation; None if day and month are ambiguous.

    >>> _day("28/9/2026 at 17:49:33 VET"), _day("3/28/2026 at 10:44:59 PDT"), _day("7/8/2025 at 19:03:40")
    ('2026-09-28', '2026-03-28', None)
    """
    match = _DAY.search(when)
    if match is None:
        return None
    if match[4]:
        year, month, day = int(match[4]), int(match[5]), int(match[6])
    else:
        year, month, day = int(match[3]), *sorted((int(match[1]), int(match[2])))
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
        text = str(next(items).value).replace("\r\n", "\n")
        head = _head(text)
        if head is None:
            raise base.PlaceError(
                "is not a Cursor export: it must start with a line such as _Exported on ... from Cursor_"
            )
        parts: list[tuple[Role | None, list[str]]] = [(None, [])]
        filled = -1  # index of the last line of the current message that is not blank
        for line in text[head.end() :].split("\n"):
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
        title = head["title"] and head["title"].strip()
        yield base.Entry(lambda: base.Loaded(messages, left_out), title=title, created=_day(head["when"]))


FORMAT = _Cursor()
