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

ROWS = 1500
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
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line]
    return int(first.split("total ")[1].split(",")[0]), [(word, int(count)) for word, count in rows]


def common(counts: Counter[str], total: int) -> str:
    """Return a row for each number of parts per million, with the commonest terms that have it."""
    rows = [(term, round(1e6 * count / total)) for term, count in counts.most_common(ROWS)]
    groups = groupby(rows, key=itemgetter(1))
    return "".join(f"{ppm}\t{' '.join(term for term, _ in group)}\n" for ppm, group in groups)


def english(path: Path) -> str:
    """Return the rows of English stems, function words left out."""
    total, rows = read_counts(path)
    stems: Counter[str] = Counter()
    for word, count in rows:
        if word not in ENGLISH_STOP_WORDS and word.isascii() and word.replace("'", "").isalpha():
            stems[stem(word)] += count
    return common(stems, total)


def chinese(path: Path) -> str:
    """Return the rows of Chinese pairs, particles left out, domain words capped."""
    total, rows = read_counts(path)
    cap, kept = rows[CAP_RANK][1], Counter[str]()
    for pair, count in rows:
        if not HAN_PARTICLES & set(pair):
            kept[pair] = min(count, cap) if DOMAIN_CHARACTERS & set(pair) else count
    return common(kept, total)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds background/*.tsv")
    parser.add_argument("--out", type=Path, default=Path("gatekeeper_core/data/background.tsv"))
    options = parser.parse_args()
    folder = options.data / "background"
    tables = english(folder / "en_words.tsv") + chinese(folder / "zh_bigrams.tsv")
    options.out.write_text(HEADER + tables, encoding="utf-8")


if __name__ == "__main__":
    main()
