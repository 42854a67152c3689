"""Dates and amounts: what is written in several ways and means one thing, as one term.

``5月3日``, ``5月3号``, ``2023-05-03``, ``May 3rd`` and ``3 May`` all give the date ``@05-03``; ``60元``, ``60块`` and
``六十元`` the amount ``#60元``. A date names no year, for a question seldom does; the year is a number of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from gatekeeper_core.text import LazyPattern

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MONTHS", "MONTH_NAME", "Quantity", "numeral", "quantities"]


class Quantity(NamedTuple):
    """A date or an amount in a text.

    Attributes:
        term: one form for all ways to write it.
        text: how it was written.
        kind: which of the two it is.
    """

    term: str
    text: str
    kind: Literal["date", "amount"]


MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905 - as a sentence reads them
MONTH_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = LazyPattern(
    r"(?<![0-9])(?P<m1>[0-9]{1,2}) ?[月월] ?(?P<d1>[0-9]{1,2}) ?[日号號일]"
    r"|(?<![0-9])[0-9]{4}[-/.](?P<m2>[0-9]{1,2})[-/.](?P<d2>[0-9]{1,2})(?![0-9])"
    rf"|\b(?P<m3>{MONTH_NAME})\.? (?P<d3>[0-9]{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
    rf"|\b(?P<d4>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m4>{MONTH_NAME})\b"
)
# What every date holds from a digit on. A pattern that begins with a class of characters is searched several times
# faster than one that begins with a choice or looks behind; so this one does, and _AMOUNT looks behind one later.
_DATE_SIGN = LazyPattern(
    rf"[0-9](?:(?<=[a-z.] .)| ?[月월]|[0-9]{{3}}[-/.]|(?:st|nd|rd|th)?(?: of)? (?:{'|'.join(MONTHS)}))"
)

_UNITS = {
    "元": "元 块钱 块 圆 rmb cny yuan",
    "km": "公里 千米 km kilometers kilometres kilometer kilometre",
    "kg": "公斤 千克 kg kilograms kilos",
    "g": "克 grams",
    "h": "小时 小時 钟头 hours hour hrs",
    "min": "分钟 分鐘 minutes minute mins",
    "d": "天 days day",
    "w": "星期 礼拜 周 weeks week",
    "m": "个月 個月 months month",
    "y": "年 years year",
    "age": "岁 歲",
    "人": "人 people persons",
    "次": "次 times",
    "度": "℃ 度 °c degrees",
    "%": "%",
}
_UNIT_OF = {written: unit for unit, row in _UNITS.items() for written in row.split()}
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
    """Yield the dates, then the amounts of a text, in the order in which they stand.

    >>> [q.term for q in quantities("5月3号，60块")], [q.term for q in quantities("May 3rd for 3 days")]
    (['@05-03', '#60元'], ['@05-03', '#3d'])
    """
    low = text.lower()
    if len(low) != len(text):
        return
    for match in _DATE.finditer(low) if _DATE_SIGN.search(low) else ():
        month, day = (next(filter(None, (match[f"{part}{at}"] for at in "1234"))) for part in "md")
        number = int(month) if month.isdigit() else MONTHS.index(month[:3]) + 1
        if 1 <= number <= 12 and 1 <= int(day) <= 31:
            yield Quantity(f"@{number:02}-{int(day):02}", text[slice(*match.span())], "date")
    for match in _AMOUNT.finditer(low):
        unit = match[1] or match[2]
        written = match[0].removesuffix(unit).rstrip()
        amount = written if written.isascii() else str(numeral(written))
        yield Quantity(f"#{amount}{_UNIT_OF[unit]}", text[slice(*match.span())], "amount")


def numeral(written: str) -> int:
    """Return the number that Chinese numerals below a thousand write.

    >>> numeral("十五"), numeral("二十"), numeral("三百二十")
    (15, 20, 320)
    """
    total = digit = 0
    for char in written:
        if char in _DIGITS:
            digit = _DIGITS[char]
        else:
            total += (digit or 1) * (100 if char == "百" else 10)
            digit = 0
    return total + digit
