"""The first page that a stranger sees: short, alike in both languages, with figures and a picture of today's results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.case_files import rows
from tests.test_docs import READMES, code_blocks

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "docs" / "draw_coverage.py"
FRONT = [*READMES, ROOT / "docs" / "index.md", ROOT / "docs" / "index.zh.md"]
FIGURES: dict[str, str] = dict(rows("readme", "figures"))  # type: ignore[arg-type]
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
    quoted = {word for figures in FIGURES.values() for word in figures.split()}
    text = re.sub(r"!\[[^\]]*\]", "", page.read_text(encoding="utf-8"))  # the picture has a test of its own
    assert set(re.findall(r"(?<![\d.])\d+\.\d+(?![\d.])", text)) - {"3.10", "1.249", "2.0"} <= quoted
    shown = set(re.findall(r"(\d[\d.]*) ?%", text))  # Chinese has no space there
    assert {"85", "26"} <= shown <= quoted


def test_both_languages_have_the_same_figures_links_and_rows() -> None:
    def facts(page: Path) -> tuple[list[str], list[str], int]:
        text = page.read_text(encoding="utf-8").replace("2 万", "20,000")
        links = re.findall(r"\]\(([^)#\s]+)", text.replace(".zh", "").replace("-CN", ""))
        return sorted(set(re.findall(r"\d[\d.,]*(?= ?%)", text))), sorted(links), text.count("\n|")

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
    assert re.search(r'<img [^>]*src="https://code\.example/docs/pictures/coverage(\.zh)?\.svg"', html)
    assert re.findall(r'(?:href|src)="(?!https://|#)[^"]*"', html) == []
    assert "**" not in html
    assert (html.count("<table>"), html.count("<pre"), html.count("<!--")) == (2, 2, 0)
    assert "from" in html
    assert "gatekeeper_core" in html
