"""Write ``gatekeeper_core/data/background.tsv`` from word counts of everyday dialogue.

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
DOMAIN_CHARACTERS = frozenset("酒店馆景京评址票奖铁影演片歌曲专辑餐游导映费宿寺庙园宫烤鸭钟营均荐边玩籍届剧唱")

HEADER = """\
# How common a term is in everyday dialogue; English stems, then pairs of Chinese characters.
# Derived counts, no text; sources and licences are named in the NOTICE file.
# Written by python -m benchmarks.build_background, not by hand.
# Columns: parts per million, the terms that have it.
"""


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


def lines(rows: list[tuple[str, int]]) -> str:
    """Return a row for each number, with the terms that have it."""
    groups = groupby(rows, key=itemgetter(1))
    return "".join(f"{ppm}\t{' '.join(term for term, _ in group)}\n" for ppm, group in groups)


def main() -> None:
    """Write the data file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds background/*.tsv")
    parser.add_argument("--out", type=Path, default=Path("gatekeeper_core/data/background.tsv"))
    options = parser.parse_args()
    folder = options.data / "background"
    tables = lines(english_rows(folder / "en_words.tsv")) + lines(chinese_rows(folder / "zh_bigrams.tsv"))
    options.out.write_text(HEADER + tables, encoding="utf-8")


if __name__ == "__main__":
    main()
