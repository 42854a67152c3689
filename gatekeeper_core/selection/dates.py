"""Dates and amounts as terms: one term for all spellings of the same date or amount.

``5月3日``, ``5月3号``, ``2023-05-03``, ``May 3rd`` and ``3 May`` all give the date ``@05-03``; ``60元``, ``60块`` and
``六十元`` the amount ``#60元``. A date has no year, because questions seldom name one; the year is a separate number.

A turn whose messages carry a time is indexed under its day, week, month and year. A question finds it by the day, the
month ("in May 2023", 三月份), or a word relative to the day of asking ("yesterday", 上周). No clock is read: the day is
an argument. "Today" and "this week" match no turn: a question about today's weather needs none. A week runs from Monday
to Sunday (ISO 8601).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Literal, NamedTuple

from gatekeeper_core.data_files import pattern, rows
from gatekeeper_core.text import LazyPattern, data_pattern


class Quantity(NamedTuple):
    """A date or an amount in a text.

    Attributes:
        term: the common form of all spellings.
        text: the text as written.
        kind: which of the two it is.
    """

    term: str
    text: str
    kind: Literal["date", "amount"]


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905 - as a sentence reads them
_DATE = data_pattern("dates.tsv", "DATE")
# Part of every date, from a digit on. A pattern that begins with a character class is searched several times faster
# than one that begins with an alternation or a lookbehind; so this one does, and _AMOUNT looks behind one later.
_DATE_SIGN = data_pattern("dates.tsv", "DATE_SIGN")

_UNIT_OF = {
    written: name.removeprefix("unit ")
    for name, forms in rows("dates.tsv")
    if name.startswith("unit ")
    for written in forms.split()
}
_WRITTEN = sorted(_UNIT_OF, key=lambda written: (-len(written), written))
_WIDE_UNIT = "|".join(written for written in _WRITTEN if not written.isascii())
_PLAIN_UNIT = "|".join(written for written in _WRITTEN if written.isascii() and written.isalpha())
_NUMERALS = "二两三四五六七八九十百"
_AMOUNT = LazyPattern(
    rf"[0-9{_NUMERALS}](?:"
    rf"(?<=[0-9])(?<![0-9a-z.].)[0-9]{{0,8}}(?:\.[0-9]{{1,3}})? ?(%|{_WIDE_UNIT}|(?:{_PLAIN_UNIT})(?![a-z]))"
    rf"|(?<![0-9])(?<!第.)[{_NUMERALS}]{{0,4}}({_WIDE_UNIT}))"
)
_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2}


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the dates, then the amounts of a text, each in text order.

    >>> [q.term for q in quantities("5月3号，60块")], [q.term for q in quantities("May 3rd for 3 days")]
    (['@05-03', '#60元'], ['@05-03', '#3d'])
    """
    low = text.lower()
    if len(low) != len(text):
        return
    for match in _DATE.finditer(low) if _DATE_SIGN.search(low) else ():
        month, day = (next(filter(None, (match[f"{part}{at}"] for at in "1234"))) for part in "md")
        number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
        if 1 <= number <= 12 and 1 <= int(day) <= 31:
            yield Quantity(f"@{number:02}-{int(day):02}", text[slice(*match.span())], "date")
    for match in _AMOUNT.finditer(low):
        unit = match[1] or match[2]
        written = match[0].removesuffix(unit).rstrip()
        amount = written if written.isascii() else str(_numeral(written))
        yield Quantity(f"#{amount}{_UNIT_OF[unit]}", text[slice(*match.span())], "amount")


def _numeral(written: str) -> int:
    """Return the value of a Chinese numeral below a thousand."""
    total = digit = 0
    for char in written:
        if char in _DIGITS:
            digit = _DIGITS[char]
        else:
            total += (digit or 1) * (100 if char == "百" else 10)
            digit = 0
    return total + digit


# --- dates of turns --------------------------------------------------------------------------------------------------

_DAYS_BACK = {word: days for days in (1, 2, 3) for word in pattern("dates.tsv", f"days back {days}").split("|")}
_BACK = {"last": 1, "上": 1, "去": 1, "上上": 2, "前": 2}
_NUMBERS = "a an one two three four five six seven eight nine ten".split()  # noqa: SIM905 - as a sentence reads them
_COUNTS = {word: max(1, at - 1) for at, word in enumerate(_NUMBERS)}
_SPANS = ("day 天 日", "week 周 週 星期 礼拜", "month 月", "year 年")  # as in date_terms
_WEEKDAYS = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
_WIDE_WEEKDAYS = "一二三四五六日"

_SPOKEN = data_pattern("dates.tsv", "SPOKEN")


def date_terms(day: date) -> tuple[str, str, str, str]:
    """Return the terms of a day, its week, its month and its year; the day has no year, like a written date.

    >>> date_terms(date(2023, 6, 3))
    ('@06-03', '@2023w22', '@2023-06', '@2023')
    """
    year, week, _ = day.isocalendar()
    month = f"{day.month:02}"
    return f"@{month}-{day.day:02}", f"@{year:04}w{week:02}", f"@{day.year:04}-{month}", f"@{day.year:04}"


def spoken_dates(text: str, asked_on: date) -> Iterator[Quantity]:
    """Yield the dates that a folded text names relative to ``asked_on``, and its months, in text order.

    >>> [found.term for found in spoken_dates("yesterday or 上周?", date(2023, 6, 7))]
    ['@06-06', '@2023w22']
    """
    for match in _SPOKEN.finditer(text):
        for term in _meant(match, asked_on):
            yield Quantity(term, match[0], "date")


def _meant(match: re.Match[str], asked_on: date) -> tuple[str, ...]:
    """Return the terms of one wording: one, or both days of a weekend; none for an impossible month."""
    if match["day"]:
        return (_term("day", _DAYS_BACK[match["day"]], asked_on),)
    if match["weekday"]:  # the last such day before this one
        back = (asked_on.weekday() - _WEEKDAYS.index(match["weekday"]) - 1) % 7 + 1
        return (_term("day", back, asked_on),)
    if match["wide_weekday"]:
        weekday = _WIDE_WEEKDAYS.index(match["wide_weekday"].replace("天", "日"))
        return (_term("day", asked_on.weekday() - weekday + 7 * _BACK[match["wide_back"]], asked_on),)
    if match["weekend"]:
        return tuple(_term("day", asked_on.weekday() + back, asked_on) for back in (2, 1))
    if month := match["month"] or match["lone_month"] or match["month2"]:
        number = _number(month) if match["month2"] else _MONTHS.index(month[:3]) + 1
        # A month without a year is the last one that has begun.
        year = match["year"] or match["year2"] or f"{asked_on.year - (number > asked_on.month):04}"
        return (f"@{year}-{number:02}",) if 1 <= number <= 12 else ()
    named = match["back"] or match["back2"] or match["back3"]
    if named:
        return (_term(match["unit"] or match["unit2"] or match["unit3"], _BACK[named], asked_on),)
    count = match["ago"] or match["ago2"]
    return (_term(match["ago_unit"] or match["ago_unit2"], _COUNTS.get(count) or _number(count), asked_on),)


def _number(written: str) -> int:
    return int(written) if written.isdecimal() else _numeral(written)


def _term(unit: str, back: int, day: date) -> str:
    """Return the term of the day, week, month or year ``back`` units before that of ``day``."""
    span = next(at for at, units in enumerate(_SPANS) if unit in units.split())
    if span < 2:
        earlier = date.fromordinal(max(1, day.toordinal() - back * (1, 7)[span]))
    else:
        months = max(12, 12 * day.year + day.month - 1 - back * (1, 12)[span - 2])
        earlier = date(months // 12, months % 12 + 1, 1)
    return date_terms(earlier)[span]
