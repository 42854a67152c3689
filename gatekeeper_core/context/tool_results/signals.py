"""Words of failures and warnings, which must survive compression. Plain search comes first: one big regex is slow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from heapq import merge
from itertools import islice

from gatekeeper_core.data_files import rows
from gatekeeper_core.text import LazyPattern, data_pattern

FAILURE = 2
WARNING = 1

# The endings that a word may have: KeyError and exit_failure are failures, "erroneous" is not.
_ENDS = LazyPattern(r"(?:ed|s|ure|ures|ion|ing|er)?(?![a-z])")
_NO_LETTER_BEFORE = frozenset(
    {"fail", "lost", "warn", "leak", "stale", "stuck", "abort", "panic", "eperm", "errno", "enoent"}
)
_NO_FAILURE = data_pattern("result_patterns.tsv", "NO_FAILURE")
_MARKED = data_pattern("result_patterns.tsv", "MARKED", re.MULTILINE)
_STATED = data_pattern("result_patterns.tsv", "STATED")
_STATED_CHARS = 200
_LEVEL = data_pattern("result_patterns.tsv", "LEVEL")
_BAD_CODES = {
    "priority": LazyPattern("([0-3])|[4-7]"),
    "severity": LazyPattern("([0-3])|[4-7]"),
    "status": LazyPattern("(5[0-9]{2})|[1-4][0-9]{2}"),
}
_STATUS_COLUMN = LazyPattern(r"(?:.*[^a-z])?(?:http|response)?[ _-]?(?:status|(?:status|http|response)[ _-]?code)")
_LONG_LINE = 20_000
_LINES_AT_ONCE = 100


def severities(lines: Sequence[str]) -> list[int]:
    """Return ``FAILURE``, ``WARNING`` or 0 for each line."""
    levels: list[int] = []
    for _, lows, joined in in_lower_case(lines):
        failures, warnings = ([word for word in _words(kind) if word in joined] for kind in ("failure", "warning"))
        marked = _MARKED.search(joined) is not None
        for low in lows:
            plain, failed = low, marked and _MARKED.search(low) is not None
            if not failed and _is_in(low, failures):
                plain = _NO_FAILURE.sub(" ", low) if len(low) <= _LONG_LINE else low
                failed = plain == low or _is_in(plain, failures)
            levels.append(FAILURE if failed else WARNING if _is_in(plain, warnings) else 0)
    return levels


def failing(lines: Sequence[str]) -> list[int]:
    """Return the indices of the lines that report a failure."""
    return [at for at, level in enumerate(severities(lines)) if level == FAILURE]


def stated_level(line: str) -> int:
    """Return 1 if the first level that a line states is a failure, -1 if it is lower, 0 if there is none."""
    match = _STATED.search(line[:_STATED_CHARS])
    return 0 if match is None else 1 if match.lastindex else -1


def stated_levels(column: str, texts: Collection[str]) -> dict[str, int]:
    """Return the texts of a column that are log levels, rated as by :func:`stated_level`.

    >>> stated_levels("Level", ["Information", "Error", "x"]), stated_levels("PRIORITY", "36")
    ({'Information': -1, 'Error': 1}, {'3': 1, '6': -1})
    """
    if set("VDIWEF").issuperset(texts):
        return {text: 1 if text in "EF" else -1 for text in texts}
    name = column.rpartition(".")[2].lower()
    codes = _BAD_CODES.get("status" if is_status_column(name) else name, _LEVEL)
    matches = ((text, _LEVEL.fullmatch(text) or codes.fullmatch(text)) for text in texts)
    return {text: 1 if match[1] else -1 for text, match in matches if match is not None}


def is_status_column(name: str) -> bool:
    """Return whether a column may hold an HTTP status: ``sc-status``, ``responseCode``, but not ``sc-substatus``."""
    return _STATUS_COLUMN.fullmatch(name.lower()) is not None


def in_lower_case(lines: Sequence[str]) -> Iterable[tuple[int, list[str], str]]:
    """Yield lines by the hundred: the first index, the lines in lower case, and their joined text to rule words out."""
    for start in range(0, len(lines), _LINES_AT_ONCE):
        some = lines[start : start + _LINES_AT_ONCE]
        joined = "\n".join(some).lower()
        lows = joined.split("\n")
        yield start, lows if len(lows) == len(some) else [line.lower() for line in some], joined


def failure_places(text: str, *, limit: int) -> list[int]:
    """Return the positions of words of failure in a text, in order, at most ``limit``."""
    low = text.lower()
    places = merge(*(islice(_places(low, word), limit) for word in _words("failure") if word in low))
    return [min(at, len(text)) for at in islice(places, limit)]


@cache
def _words(kind: str) -> tuple[str, ...]:
    return tuple(word for row, word in rows("signals.tsv") if row == kind)


def _is_in(low: str, words: Sequence[str]) -> bool:
    return any(word in low and next(_places(low, word), -1) >= 0 for word in words)


def _places(low: str, word: str) -> Iterator[int]:
    """Yield the positions of a word in lower-case text, alone or (for most words) at the end of a longer one."""
    at = low.find(word)
    while at >= 0:
        bordered = word not in _NO_LETTER_BEFORE or not low[max(0, at - 1) : at].isalpha()
        if not word.isascii() or (bordered and _ENDS.match(low, at + len(word))):
            yield at
        at = low.find(word, at + len(word))
