"""Words of failures and warnings, which must survive compression.

Words are searched for as plain strings first and judged by a regular expression where they stand: one long alternation
over every line would be most of what reading a log costs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from heapq import merge
from itertools import islice

from gatekeeper_core.data_files import rows
from gatekeeper_core.text import LazyPattern

FAILURE = 2
WARNING = 1

# A word ends where it may be inflected no further: KeyError and exit_failure are failures, "erroneous" is not.
_ENDS = LazyPattern(r"(?:ed|s|ure|ures|ion|ing|er)?(?![a-z])")
_NO_LETTER_BEFORE = frozenset(
    {"fail", "lost", "warn", "leak", "stale", "stuck", "abort", "panic", "eperm", "errno", "enoent"}
)
# "0 errors", "error: null", "failures=0": the word is there, the trouble is not.
_NO_FAILURE = LazyPattern(
    r"\b(?:0|no|zero|without(?: any)?) (?:error|exception|fail(?:ed|ure)|crash)(?:s|es)?\b"
    r"|\b(?:errors?|failures?|failed|exceptions?|err)[\"']?\s{0,2}[:=]\s{0,2}(?:0|null|none|nil|false|\"\"|''|\[\])(?![\w.])"
    r"|(?:没有|无|沒有|無)(?:错误|异常|失败|錯誤|異常|失敗)"
)
# Failures without a word: what pytest says was raised, the levels of logcat and klog, a status of HTTP from 500 on.
_MARKED = LazyPattern(
    r"^(?:e   |[ef]/[\w.]+ *\(|[ef][0-9]{4} [0-9]{2}:|[0-9-]{5,10} [0-9:.]{8,18} +[0-9]+ +[0-9]+ [ef] )"
    r'|" 5[0-9]{2} ',
    re.MULTILINE,
)
_MARKS = ("\ne", "\nf", '" 5', " e ", " f ")
_BAD = (
    "error|err|fatal|critical|crit|severe|emerg(?:ency)?|alert|panic|failed|failure"
    "|错误|致命|严重|紧急|失败|錯誤|嚴重|失敗"
)
_CALM = "trace|debug|verbose|info|information|notice|normal|log|warn|warning|信息|调试|警告|通知|提示|資訊"
_BAD_LETTERS = "EF"
# A level: in capitals, or set off by brackets, quotation marks and the like.
_STATED = LazyPattern(
    rf"(?<![A-Za-z0-9_])(?:({_BAD.upper()})|{_CALM.upper()})(?![A-Za-z0-9_])"
    rf"|(?:(?<=[\[(<【\"'=,;|])|(?<=\| )|(?<=, (?=[A-Z])))(?i:({_BAD})|{_CALM})(?=[\])>】|\"',;:\s])"
    r"|(?:^|(?<=[0-9] ))(?:([EF])|[VDIW])(?=/[\w.]+ *\(|[0-9]{4} [0-9]{2}:| [\w.]+ *:)"
    r'|(?<=" )(5[0-9]{2})(?= )'
)
_STATED_CHARS = 200
_LEVEL = LazyPattern(rf"(?i:({_BAD})|{_CALM})")
_LETTERS = frozenset("VDIWEF")
_BAD_CODES = {
    "priority": LazyPattern("([0-3])|[4-7]"),
    "severity": LazyPattern("([0-3])|[4-7]"),
    "status": LazyPattern("(5[0-9]{2})|[1-4][0-9]{2}"),
}
_STATUS_COLUMN = LazyPattern(r"(?:.*[^a-z])?(?:http|response)?[ _-]?(?:status|(?:status|http|response)[ _-]?code)")
_LONG_LINE = 20_000
_LINES_AT_ONCE = 100
_PIECE = 65_536


def lowered(text: str) -> str:
    """Return a text in lower case, a piece at a time: ``str.lower`` takes twelve bytes a character outside ASCII."""
    if text.isascii() or len(text) <= _PIECE:
        return text.lower()
    return "".join([text[at : at + _PIECE].lower() for at in range(0, len(text), _PIECE)])


def severities(lines: Sequence[str]) -> list[int]:
    """Return ``FAILURE``, ``WARNING`` or 0 for each of some lines."""
    levels: list[int] = []
    for lows, joined in in_lower_case(lines):
        failures, warnings = (
            [word for word in _words(kind, is_ascii=joined.isascii()) if word in joined]
            for kind in ("failure", "warning")
        )
        may_be_marked = joined[:1] in ("e", "f") or any(mark in joined for mark in _MARKS)
        marked = may_be_marked and _MARKED.search(joined) is not None
        for low in lows:
            plain, failed = low, marked and _MARKED.search(low) is not None
            if not failed and _stands_in(low, failures):
                plain = _NO_FAILURE.sub(" ", low) if len(low) <= _LONG_LINE else low
                failed = plain == low or _stands_in(plain, failures)
            levels.append(FAILURE if failed else WARNING if _stands_in(plain, warnings) else 0)
    return levels


def failing(lines: Sequence[str]) -> list[int]:
    """Return the indices of the lines that report a failure."""
    return [at for at, level in enumerate(severities(lines)) if level == FAILURE]


def stated_level(line: str) -> int:
    """Return 1 where the first level that a line states is that of a failure, -1 for a lower one, 0 for none."""
    match = _STATED.search(line[:_STATED_CHARS])
    return 0 if match is None else 1 if match.lastindex else -1


def stated_levels(column: str, texts: Collection[str]) -> dict[str, int]:
    """Return the texts of a column that are log levels, as rated by :func:`stated_level`.

    >>> stated_levels("Level", ["Information", "Error", "x"]), stated_levels("PRIORITY", "36")
    ({'Information': -1, 'Error': 1}, {'3': 1, '6': -1})
    """
    if _LETTERS.issuperset(texts):
        return {text: 1 if text in _BAD_LETTERS else -1 for text in texts}
    name = column.rpartition(".")[2].lower()
    codes = _BAD_CODES.get("status" if is_status_column(name) else name, _LEVEL)
    matches = ((text, _LEVEL.fullmatch(text) or codes.fullmatch(text)) for text in texts)
    return {text: 1 if match[1] else -1 for text, match in matches if match is not None}


def is_status_column(name: str) -> bool:
    """Return whether a column may hold an HTTP status: ``sc-status``, ``responseCode``, but not ``sc-substatus``."""
    return _STATUS_COLUMN.fullmatch(name.lower()) is not None


def in_lower_case(lines: Sequence[str]) -> Iterable[tuple[list[str], str]]:
    """Yield lines in lower case, a hundred at once, and these as one text: most words stand in none of them."""
    for start in range(0, len(lines), _LINES_AT_ONCE):
        some = lines[start : start + _LINES_AT_ONCE]
        joined = lowered("\n".join(some))
        lows = joined.split("\n")
        yield lows if len(lows) == len(some) else [lowered(line) for line in some], joined


def failure_places(text: str, *, limit: int) -> list[int]:
    """Return where words of failure stand in a text, in order, at most so many."""
    low = lowered(text)
    words = (word for word in _words("failure", is_ascii=False) if word in low)
    places = merge(*(islice(_places(low, word), limit) for word in words))
    return [min(at, len(text)) for at in islice(places, limit)]


@cache
def _words(kind: str, *, is_ascii: bool) -> tuple[str, ...]:
    return tuple(word for row, word in rows("signals.tsv") if row == kind and (word.isascii() or not is_ascii))


def _stands_in(low: str, words: Sequence[str]) -> bool:
    for word in words:  # noqa: SIM110 - for every line of a log, a generator costs twice as much
        if word in low and next(_places(low, word), -1) >= 0:
            return True
    return False


def _places(low: str, word: str) -> Iterator[int]:
    """Yield the places of a word in a lower-case text, alone or at the end of a longer one."""
    at = low.find(word)
    while at >= 0:
        bordered = word not in _NO_LETTER_BEFORE or not low[max(0, at - 1) : at].isalpha()
        if not word.isascii() or (bordered and _ENDS.match(low, at + len(word))):
            yield at
        at = low.find(word, at + len(word))
