"""Write ``gatekeeper_core/selection/background.py`` from word counts of everyday dialogue.

Run ``python -m benchmarks.build_background --data DIR``, where ``DIR/background`` holds ``en_words.tsv`` and
``zh_bigrams.tsv`` (word, tab, count; the first line ``# total N, ...``). The table is in parts per million of all words
(or pairs) of the source. The Chinese source talks of films, travel and hotels far more than people do, so a pair that
holds one of the characters of those domains is capped at the frequency of the pair at ``CAP_RANK``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from gatekeeper_core.selection.anchors import stem
from gatekeeper_core.selection.lexicon import ENGLISH_STOP_WORDS, HAN_PARTICLES

ENGLISH_ROWS = 1500
CHINESE_ROWS = 1500
CAP_RANK = 250
COLUMNS = 118
DOMAIN_CHARACTERS = frozenset("酒店馆景京评址票奖铁影演片歌曲专辑餐游导映费宿寺庙园宫烤鸭钟营均荐边玩籍届剧唱")

HEADER = '''"""How common a term is in everyday dialogue, in parts per million: what a young conversation cannot know.

Each number holds for the terms after it. Derived counts, no text; sources and licences are named in the NOTICE file.
Written by ``python -m benchmarks.build_background``, not by hand.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["background_frequencies"]


@cache
def background_frequencies() -> Mapping[str, float]:
    """Return the relative frequency (0..1) of the commonest English stems and Chinese character pairs.

    Terms that are not listed are rarer than all that are. The table is read on first use and never changes.

    >>> background_frequencies()["friend"] > background_frequencies()["idea"]
    True
    """
    shares: dict[str, float] = {}
    share = 0.0
    for word in (_ENGLISH + _CHINESE).split():
        if word.isdigit():
            share = int(word) / 1e6
        else:
            shares[word] = share
    return MappingProxyType(shares)

'''


def read_counts(path: Path) -> tuple[int, list[tuple[str, int]]]:
    """Return the total and the ``(word, count)`` rows of one table, commonest first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    total = int(lines[0].split("total ")[1].split(",")[0])
    rows = [line.split("\t") for line in lines[1:] if line]
    return total, [(word, int(count)) for word, count in rows]


def english_rows(path: Path) -> list[tuple[str, int]]:
    """Return ``(stem, parts per million)`` of the commonest English stems, function words left out."""
    total, rows = read_counts(path)
    stems: Counter[str] = Counter()
    for word, count in rows:
        if word not in ENGLISH_STOP_WORDS and word.isascii() and word.replace("'", "").isalpha():
            stems[stem(word)] += count
    return [(word, round(1e6 * count / total)) for word, count in stems.most_common(ENGLISH_ROWS)]


def chinese_rows(path: Path) -> list[tuple[str, int]]:
    """Return ``(pair, parts per million)`` of the commonest Chinese pairs, particles left out, domain words capped."""
    total, rows = read_counts(path)
    cap = rows[CAP_RANK][1]
    kept: Counter[str] = Counter()
    for pair, count in rows:
        if not HAN_PARTICLES & set(pair):
            kept[pair] = min(count, cap) if DOMAIN_CHARACTERS & set(pair) else count
    return [(pair, round(1e6 * count / total)) for pair, count in kept.most_common(CHINESE_ROWS)]


def literal(name: str, rows: list[tuple[str, int]]) -> str:
    """Return one Python assignment that holds each number once, before the terms that have it."""
    words = [
        word for ppm, group in groupby(rows, key=itemgetter(1)) for word in (str(ppm), *(term for term, _ in group))
    ]
    lines = [""]
    for word in words:
        columns = sum(1 if char.isascii() else 2 for char in f"{lines[-1]} {word}")
        if columns > COLUMNS:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    body = "\n".join(lines)
    return f'{name} = """\n{body}\n"""\n'


def main() -> None:
    """Write the module next to the code that reads it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds background/*.tsv")
    parser.add_argument("--out", type=Path, default=Path("gatekeeper_core/selection/background.py"))
    options = parser.parse_args()
    folder = options.data / "background"
    tables = literal("_ENGLISH", english_rows(folder / "en_words.tsv")) + "\n"
    tables += literal("_CHINESE", chinese_rows(folder / "zh_bigrams.tsv"))
    options.out.write_text(HEADER + "\n" + tables, encoding="utf-8")


if __name__ == "__main__":
    main()
