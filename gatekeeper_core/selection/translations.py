"""English and Chinese words of everyday talk that translate each other (``data/translations.tsv``)."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from gatekeeper_core.data_files import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["translations"]


@cache
def translations() -> Mapping[str, tuple[str, ...]]:
    """Return, by English word, its Chinese translations, the commonest first; neither stemmed nor cut.

    The parts of a term of two English words are joined by ``_``.

    >>> translations()["fridge"], translations()["washing_machine"]
    (('冰箱',), ('洗衣机',))
    """
    found: dict[str, tuple[str, ...]] = {}
    for english, chinese in rows("translations.tsv"):
        found.update(dict.fromkeys(english.split(), tuple(chinese.split())))
    return MappingProxyType(found)
