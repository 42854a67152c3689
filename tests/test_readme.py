"""The first page that a stranger sees: short, alike in both languages, with figures and a picture of today's results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_docs import READMES, code_blocks

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "docs" / "draw_recall.py"
FRONT = [*READMES, ROOT / "docs" / "index.md", ROOT / "docs" / "index.zh.md"]
FIGURES = {
    "| context-gatekeeper | 66.0 | 76.3 | 83.7 |": "83.7 %",
    "| 0.85 | 81.0 | 74.7 | 80.9 | 667.5 |": "81.0 %",
    "| three newest turns (default) | 81.4 | 75.4 | 2041.8 |": "81.4 %",
    "| window of 20 rounds | 7.1 | 6.6 | 2423.3 |": "7.1 %",
    "| session | 100 | 210 | cache | 0.243 | 0.257 | 0.57 | 0.48 | 1.004 | 87.9 |": "0.57",
    "| session | 100 | 210 | trim_messages | 1.765 | 1.823 | 4.13 | 3.40 | 4.246 | 99.0 |": "4.13",
    "| session | 100 | 210 | window cut to half | 0.388 | 0.495 | 0.91 | 0.92 | 1.107 | 96.3 |": "0.91",
    "| trim_messages, start_on=human, include_system | 0.0 / 23.8 | 0.0 / 24.8 |": "24.8 %",
    "| real (25) | context-gatekeeper | 94.5 | 15/15 |": "94.5 %",
    "| gatekeeper select | 8.62 |": "8.6",
}
"""The beginning of a row of the results, and the figure that the front pages quote from it."""


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_the_readme_is_read_in_two_minutes_and_its_code_has_six_lines(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text.split()) <= 600
    (code,) = (block.text for block in code_blocks(text) if block.language == "python")
    assert len([line for line in code.splitlines() if line]) == 6


@pytest.mark.parametrize("page", FRONT, ids=lambda page: page.name)
def test_every_figure_of_a_front_page_is_one_of_the_results(page: Path) -> None:
    """A row that is not found was measured anew: then its figure on the front pages is old."""
    results = (ROOT / "benchmarks" / "results" / "README.md").read_text(encoding="utf-8")
    assert [row for row in FIGURES if row not in results] == []
    known = {"1.02", "1.249", "2.0"}  # the bound of the bill, an invoice's amount, the licence
    known |= {figure.split()[0] for figure in FIGURES.values()}
    text = re.sub(r"!\[[^\]]*\]", "", page.read_text(encoding="utf-8"))  # the picture has a test of its own
    shown = set(re.findall(r"(?<![\d.])\d+\.\d+(?![\d.])", text)) - {"3.10", "0.0"}
    assert shown <= known
    assert "0.57" in shown


def test_both_languages_have_the_same_figures_links_and_rows() -> None:
    def facts(page: Path) -> tuple[list[str], list[str], int]:
        text = page.read_text(encoding="utf-8").replace("2 万", "20,000")
        links = re.findall(r"\]\(([^)#\s]+)", text.replace(".zh", "").replace("-CN", ""))
        return sorted(set(re.findall(r"\d[\d.,]*(?= %)", text))), sorted(links), text.count("\n|")

    english, chinese = map(facts, READMES)
    assert english == chinese


def test_the_picture_shows_what_the_results_say() -> None:
    """Where it does not: make recording."""
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_a_package_index_renders_the_readme_with_its_picture_code_and_tables(page: Path) -> None:
    """With the whole addresses that a build puts in (hatch_build.py): an index drops what it does not trust."""
    from readme_renderer.markdown import render

    text = re.sub(r"\]\((?=[^)]*\.(?:md|svg))", "](https://code.example/", page.read_text(encoding="utf-8"))
    html = render(text)
    assert html is not None
    assert re.search(r'<img [^>]*src="https://code\.example/docs/pictures/recall(\.zh)?\.svg"', html)
    assert re.findall(r'(?:href|src)="(?!https://|#)[^"]*"', html) == []
    assert "**" not in html
    assert (html.count("<table>"), html.count("<pre"), html.count("<!--")) == (2, 2, 0)
    assert "from" in html
    assert "gatekeeper_core" in html
