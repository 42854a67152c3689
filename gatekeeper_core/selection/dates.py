"""The dates of turns, and what a question calls them: "yesterday", "last week", 上周, 三天前.

A turn whose messages carry a time is indexed under its day, its week, its month and its year. A question finds it by
the day, as it is written (:mod:`gatekeeper_core.selection.quantities`: "3 June", 6月3日), by the month ("in May 2023",
三月份), or by a word that counts from the day of asking. No clock is read: the day is an argument.

"Today" and "this week" mean no earlier turn: who asks for today's weather asks for none.

A week is a calendar week from Monday to Sunday (ISO 8601): asked on a Wednesday, "last week" ends on the Sunday before.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.quantities import MONTH_NAME, MONTHS, Quantity, numeral
from gatekeeper_core.text import LazyPattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

__all__ = ["DateTerms", "date_terms", "spoken_dates"]

_DAYS_BACK = {
    "the day before yesterday": 2,
    "yesterday": 1,
    "last night": 1,
    "大前天": 3,
    "前天": 2,
    "昨天": 1,
    "昨日": 1,
    "昨晚": 1,
}
_BACK = {"last": 1, "上": 1, "去": 1, "上上": 2, "前": 2}
_NUMBERS = "a an one two three four five six seven eight nine ten".split()  # noqa: SIM905 - as a sentence reads them
_COUNTS = {word: max(1, at - 1) for at, word in enumerate(_NUMBERS)}
_UNITS = {
    **dict.fromkeys(("day", "天", "日"), "day"),
    **dict.fromkeys(("week", "周", "週", "星期", "礼拜"), "week"),
    **dict.fromkeys(("month", "月"), "month"),
    **dict.fromkeys(("year", "年"), "year"),
}
_WEEKDAYS = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
_WIDE_WEEKDAYS = "一二三四五六日"

_SPOKEN = LazyPattern(
    r"(?P<day>大?(?<![以从之目])前天|昨[天日晚]|\b(?:the day before yesterday|yesterday|last night)\b)"
    rf"|\blast (?P<weekday>{'|'.join(_WEEKDAYS)})day\b"
    r"|(?P<wide_back>上上|上)个?(?:周|週|星期|礼拜)(?P<wide_weekday>[一二三四五六日天])"
    r"|(?P<weekend>\blast weekend\b|上个?[周週]末)"
    r"|\b(?P<back>last) (?P<unit>week|month|year)\b"
    r"|(?P<back2>上上|上)(?:一?个)?(?P<unit2>[周週](?!末)|星期|礼拜|月)|(?P<back3>(?<!过)去|(?<![以从之目])前)(?P<unit3>年)"
    rf"|\b(?P<ago>[0-9]{{1,3}}|{'|'.join(_COUNTS)}) (?P<ago_unit>day|week|month|year)s? ago\b"
    rf"|\b(?P<month>{MONTH_NAME}),? (?P<year>[0-9]{{4}})\b|\bin (?P<lone_month>{MONTH_NAME})\b(?! ?[0-9])"
    r"|(?:(?P<year2>[0-9]{4})[年년] ?)?(?<![0-9])(?P<month2>[0-9]{1,2}|十?[一二三四五六七八九]|十)[月월]份?"
    r"(?! ?[0-9一二三十]{1,3} ?[日号號일])"
    r"|(?P<ago2>[0-9]{1,3}|[一二两三四五六七八九十]{1,3})个?(?P<ago_unit2>天|日|周|週|星期|礼拜|月|年)[之以]?前"
)


class DateTerms(NamedTuple):
    """The terms that a day is indexed under, from the shortest span to the longest."""

    day: str
    week: str
    month: str
    year: str


def date_terms(day: date) -> DateTerms:
    """Return the terms of a day. Its own names no year, like that of a date that is written in a text.

    >>> date_terms(date(2023, 6, 3))
    DateTerms(day='@06-03', week='@2023w22', month='@2023-06', year='@2023')
    """
    year, week, _ = day.isocalendar()
    return DateTerms(
        day=f"@{day.month:02}-{day.day:02}",
        week=f"@{year:04}w{week:02}",
        month=f"@{day.year:04}-{day.month:02}",
        year=f"@{day.year:04}",
    )


def spoken_dates(text: str, asked_on: date) -> Iterator[Quantity]:
    """Yield the dates that a text names by how long ago they are, and its months, in their order.

    Args:
        text: what was asked, case-folded, its characters simplified.
        asked_on: the day from which the words count.

    >>> [found.term for found in spoken_dates("yesterday or 上周?", date(2023, 6, 7))]
    ['@06-06', '@2023w22']
    """
    for match in _SPOKEN.finditer(text):
        for term in _meant(match, asked_on):
            yield Quantity(term, match[0], "date")


def _meant(match: re.Match[str], asked_on: date) -> tuple[str, ...]:
    """Return the terms that one wording means: one, or two days of a weekend."""
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
        number = _number(month) if match["month2"] else MONTHS.index(month[:3]) + 1
        # A month of no year is the last one that had begun.
        year = match["year"] or match["year2"] or f"{asked_on.year - (number > asked_on.month):04}"
        return (f"@{year}-{number:02}",) if 1 <= number <= 12 else ()
    named = match["back"] or match["back2"] or match["back3"]
    if named:
        return (_term(match["unit"] or match["unit2"] or match["unit3"], _BACK[named], asked_on),)
    count = match["ago"] or match["ago2"]
    return (_term(match["ago_unit"] or match["ago_unit2"], _COUNTS.get(count) or _number(count), asked_on),)


def _number(written: str) -> int:
    return int(written) if written.isdecimal() else numeral(written)


def _term(unit: str, back: int, day: date) -> str:
    """Return the term of the day, week, month or year that is so many of them before that of a day."""
    span = _UNITS[unit]
    if span in ("day", "week"):
        earlier = day.toordinal() - back * (7 if span == "week" else 1)
        terms = date_terms(date.fromordinal(max(1, earlier)))
        return terms.week if span == "week" else terms.day
    months = max(0, 12 * day.year + day.month - 1 - back * (12 if span == "year" else 1))
    return f"@{months // 12:04}-{months % 12 + 1:02}" if span == "month" else f"@{months // 12:04}"
