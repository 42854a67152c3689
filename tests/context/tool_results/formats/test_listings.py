"""Searches and listings: what was asked for and what stands out is shown, the rest is counted by file or folder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.digest import Digest, Lines, Task
from gatekeeper_core.context.tool_results.formats.listings import digest_listing, is_listed, is_match, is_path
from gatekeeper_core.context.tool_results.query_match import Asked
from tests.case_files import from_file


def digest(lines: list[str], query: str | None = None) -> Digest:
    return digest_listing(Lines.whole(lines), Task(Asked(query), 250, lambda text: len(text) // 4, 5))


@from_file("line")
def test_a_line_of_ls_is_one(line: str) -> None:
    assert is_listed(line)
    assert not is_match(line)


@from_file("line", "match", "path")
def test_matches_and_paths_are_told_apart(line: str, match: bool, path: bool) -> None:
    assert is_match(line) == match
    assert is_path(line) == path


@from_file("query", "name")
def test_a_path_that_is_asked_for_is_shown_and_the_others_are_counted(query: str, name: str) -> None:
    lines = [f"./lib/part{at % 3}/mod_{at}.py" for at in range(500)]
    lines.insert(200, f"./vendor/{name}")
    made = digest(lines, query)
    assert f"./vendor/{name}" in made.text
    assert "… 167 in ./lib/part0" in made.text


def test_the_largest_file_of_a_folder_is_shown_with_its_folder() -> None:
    lines = []
    for folder in ("/srv/a", "/srv/b"):
        lines += [f"{folder}:", "total 44"]
        lines += [
            f"-rw-r--r-- 1 app app {2_000 + at:>9} Mar {at % 28 + 1:>2} 10:00 part-{at:03}.bin" for at in range(150)
        ]
    lines.insert(200, "-rw-r--r-- 1 app app 987654321 Mar  1 10:00 core.4242")
    made = digest(lines)
    assert "core.4242" in made.text
    assert made.text.index("/srv/b:") < made.text.index("core.4242")


def test_hits_of_a_search_are_counted_by_file() -> None:
    lines = [f"src/{'ab'[at % 2]}.py:{at}:    return client.fetch({at})" for at in range(300)]
    lines.insert(99, "src/core.py:7:def fetch(self):")
    made = digest(lines, "where is fetch defined, def fetch?")
    assert "src/core.py:7:def fetch(self):" in made.text
    assert "… 150 in src/a.py" in made.text


@given(st.lists(st.text(alphabet="ab/.:1- \\中", max_size=20), min_size=1, max_size=30))
def test_any_lines_can_be_listed(lines: list[str]) -> None:
    made = digest(lines)
    assert made == digest(lines)
    assert made.shown <= made.total == len(lines)


def test_sums_and_blank_lines_of_ls_are_no_entries() -> None:
    lines = [f"-rw-r--r-- 1 ann staff 10 May  1 2025 {at}.txt" for at in range(300)]
    made = digest(["src:", "total 1200", *lines, "", "  ", "docs:", "total 0"])
    assert "… 300 in src" in made.text
    assert "in docs" not in made.text


@pytest.mark.parametrize("query", ["Which file is the largest?", "哪个文件最大？", "目录里哪个 file 最大？"])
def test_sizes_for_people_are_compared_as_numbers(query: str) -> None:
    """``ls -lh`` writes 900K and 4.9M: the larger number is the smaller file."""
    sizes = [f"{100 + at}K" for at in range(800)] + ["4.1M"] * 100
    sizes[333:333] = ["4.9M"]
    lines = [f"-rw-r--r-- 1 ann staff {size} May 20  2025 part-{at:04}.bin" for at, size in enumerate(sizes)]
    made = digest(lines, query)
    assert "part-0333.bin" in made.text
    assert made.shown < 40
