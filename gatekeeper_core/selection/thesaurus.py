"""Words that stand for one another: synonyms, kinds and their members, script variants, each a file of ``data``."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from gatekeeper_core.data_files import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["kinds", "simplified_characters", "synonyms"]


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
