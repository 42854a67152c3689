"""The table of characters that look like those of a mark, from Unicode's own data.

    python -m benchmarks.lookalikes confusables.txt DerivedCoreProperties.txt > lookalikes.tsv

Both files are on https://www.unicode.org/Public/, in ``security/`` and ``ucd/``.
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

_IN_MARKS = frozenset("</[:-_abcdefghijklmnopqrstuvwxyz0123456789")
_SAME = {"m": "rn", "i": "l", "1": "l", "|": "l", "0": "o"}
"""ASCII that looks like other ASCII. Source: confusables.txt; ``i`` and ``o`` because case is folded."""

_HEAD = """\
# Characters that look like those of a mark. Source: Unicode's confusables.txt {version}; see NOTICE.
# Written by python -m benchmarks.lookalikes, not by hand. A letter or digit that compatibility decomposition
# takes to its target is left out.
# Columns: the target, what is read as it, with escapes as in Python. "blank": characters that show nothing, apart from
# marks, separators, controls and unassigned ones."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("confusables", type=Path)
    parser.add_argument("properties", type=Path)
    paths = parser.parse_args()
    text = paths.confusables.read_text(encoding="utf-8-sig")
    version = next(line.removeprefix("# Version: ") for line in text.splitlines() if "Version:" in line)
    looks = {_text(source): _text(target) for source, target in _rows(text)}
    rows: dict[str, str] = defaultdict(str, {})
    for source, target in sorted(_SAME.items()):
        rows[target] += source
    for char in map(chr, range(0x80, sys.maxunicode + 1)):
        folded_text = _folded("".join(looks.get(one, one) for one in _folded(char)))
        target = "".join(_SAME.get(one, one) for one in folded_text)
        is_listed = _folded(char) == char if target.isalnum() else len(target) == 1
        if is_listed and _IN_MARKS.issuperset(target):
            rows[target] += char
    ignorable = set[str]()
    for codes, name in _rows(paths.properties.read_text(encoding="utf-8")):
        if name == "Default_Ignorable_Code_Point":
            first, _, last = codes.partition("..")
            ignorable.update(map(chr, range(int(first, 16), int(last or first, 16) + 1)))
    blank = (each for each in ignorable if unicodedata.category(each)[0] not in "CMZ")
    rows["blank"] = "".join(sorted(blank)) + chr(0x2800)
    print(_HEAD.format(version=version))
    for target, sources in sorted(rows.items(), key=lambda row: (row[0] != "blank", row[0])):
        print(f"{target}\t{ascii(sources)[1:-1]}")


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the first two fields of each row of a data file."""
    for line in text.splitlines():
        fields = [field.strip() for field in line.partition("#")[0].split(";")]
        if len(fields) > 1:
            yield fields[0], fields[1]


def _text(codes: str) -> str:
    return "".join(chr(int(code, 16)) for code in codes.split())


def _folded(text: str) -> str:
    """Return a text decomposed, its case folded, without marks."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in folded if unicodedata.category(char)[0] not in "CMZ")


if __name__ == "__main__":
    main()
