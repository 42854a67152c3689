"""Words that stand for one another: synonyms, kinds and their members, script variants, each a file of ``data``."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from gatekeeper_core.data_files import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MANY_ANSWER", "TIME_ANSWER", "kinds", "simplified_characters", "synonyms"]


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """Return, by word, the words that may stand in its place; English in lower case, not stemmed.

    >>> synonyms()["movie"], synonyms()["酒店"]
    (('film', 'cinema'), ('宾馆', '旅馆', '饭店'))
    """
    found: dict[str, dict[str, None]] = {}
    for (line,) in rows("synonyms.tsv"):
        group = line.split()
        for word in group:
            found.setdefault(word, {}).update(dict.fromkeys(other for other in group if other != word))
    return MappingProxyType({word: tuple(others) for word, others in found.items()})


@cache
def kinds() -> Mapping[str, tuple[str, ...]]:
    """Return, by the word for a kind, common members of it (``sport``: ``football``, ``tennis``, …).

    >>> "tennis" in kinds()["sport"], "香蕉" in kinds()["水果"]
    (True, True)
    """
    found: dict[str, tuple[str, ...]] = {}
    for names, members in rows("kinds.tsv"):
        for name in names.split():
            found[name] = found.get(name, ()) + tuple(members.split())
    return MappingProxyType(found)


@cache
def simplified_characters() -> Mapping[str, str]:
    """Return the simplified form of the commonest traditional characters, by character.

    >>> "".join(simplified_characters().get(char, char) for char in "訂單與發貨")
    '订单与发货'
    """
    return MappingProxyType(dict(rows("simplified.tsv")))


TIME_ANSWER = (
    r"\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|last|next|week(?:end)?s?|months?|years?|morning|evening"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|spring|summer|autumn|winter|[0-9]{1,4}(?:st|nd|rd|th|am|pm|:[0-9]{2})?)\b"
    r"|[0-9零一二两三四五六七八九十]+(?:年|月|日|号|点|周|天|小时|分钟)|昨天|今天|明天|后天|前天|昨晚|今晚|上周|下周|上个|下个|去年|今年|明年"
    r"|星期|周[一二三四五六末日]|早上|上午|中午|下午|晚上"
)
"""What the answer to a question for a time looks like, in a folded text. Source: ours."""

MANY_ANSWER = (
    r"[0-9]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozens?|couple|several|once|twice|half|hundred|thousand)\b"
    r"|[零一二两三四五六七八九十百千万半][个次位名只本张元块年岁天斤公米分种遍]"
)
"""What the answer to a question for a number looks like, in a folded text. Source: ours."""
