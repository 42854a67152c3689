"""The page of all results, drawn from the JSON files in ``benchmarks/results``: ``python -m benchmarks.page``.

A file has the form that ``--json`` writes, with ``title``, ``commands`` and ``note`` beside ``commit`` and ``tables``.
To publish a run, copy its tables and its commit into the file of the benchmark, then draw the page.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.report import dump, markdown_table

RESULTS = Path(__file__).with_name("results")
PAGE = RESULTS / "README.md"

HEAD = """\
# Results

`python -m benchmarks.page` draws this page from the JSON files beside it; headlines and limits are in
[benchmarks](../../docs/benchmarks.md). Tokens are the library's estimate, or cl100k with `--counter cl100k` (needs
`TIKTOKEN_CACHE_DIR`). Install the competitors with `pip install --group bench`, `make bench-model` (MiniLM) and
`pip install --group test-adapters`.

Competitors take turns in the order of their rank and skip what does not fit: the newest turns; `rank_bm25`; bm25s with
stop words and stemming; the cosine of all-MiniLM-L6-v2 (English) or of the multilingual encoder of the extra `meaning`;
reciprocal rank fusion (k = 60) of bm25s with either; an oracle. For lexical ones Chinese text is cut into pairs.
"""


def section(name: str, result: dict[str, Any]) -> str:
    """Return one benchmark as Markdown: question, commands, commit, tables, what they show."""
    lines = [f"\n## {name}", "", result["title"], ""]
    lines += [f"* `{command}`" for command in result["commands"]]
    lines += [f"* commit {result['commit']}"]
    for about, rows in result["tables"].items():
        lines += ["", about, "", *markdown_table(rows)]
    return "\n".join([*lines, "", result["note"], ""])


def drawn(folder: Path = RESULTS) -> str:
    files = sorted(folder.glob("*.json"))
    return HEAD + "".join(section(file.stem, json.loads(file.read_text(encoding="utf-8"))) for file in files)


def main() -> None:
    for file in sorted(RESULTS.glob("*.json")):
        file.write_text(dump(json.loads(file.read_text(encoding="utf-8"))), encoding="utf-8")
    PAGE.write_text(drawn(), encoding="utf-8")


if __name__ == "__main__":
    main()
