"""Logs and test output: failures with what stands around them, what was asked for, rare lines, counts of the others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.digest import Digest, Lines, Task
from gatekeeper_core.context.tool_results.formats.lines import digest_lines
from gatekeeper_core.context.tool_results.query_match import Asked
from tests.case_files import from_file


def digest(lines: list[str], *, query: str | None = None, budget: int = 300) -> Digest | None:
    task = Task(Asked(query), budget, lambda text: len(text) // 4, 20)
    return digest_lines(Lines.whole(lines), task)


def log_with(*extra: str) -> list[str]:
    lines = [f"12:00:{at % 60:02} INFO worker {at} finished task {at * 7}" for at in range(600)]
    for nth, line in enumerate(extra):
        lines.insert(100 + 90 * nth, line)
    return lines


@from_file("line")
def test_a_failure_is_kept_whatever_is_asked(line: str) -> None:
    made = digest(log_with(line), query="how many workers are there?")
    assert made is not None
    assert line in made.text


def test_a_failure_keeps_the_lines_that_belong_to_it() -> None:
    made = digest([*log_with("12:01:00 ERROR boom")[:101], "    at app.run", "    at app.main", *log_with()])
    assert made is not None
    assert "    at app.run\n    at app.main" in made.text


def test_a_failure_comes_before_lines_that_are_rarer() -> None:
    lines = [
        f"seen {chr(97 + at // 26)}{chr(97 + at % 26)}q {chr(97 + at % 26)}{chr(97 + at // 26)}z" for at in range(400)
    ]
    lines[250] = "seen failed"
    made = digest(lines, budget=60)
    assert made is not None
    assert "seen failed" in made.text


def test_a_flood_of_failures_obeys_the_budget_with_one_of_each_kind() -> None:
    flood = [f"ERROR {at} failed: code {at % 3}" for at in range(20_000)]
    flood[9_000] = "ERROR replica lost its disk SN-8841"
    made = digest(flood)
    assert made is not None
    assert "SN-8841" in made.text
    assert "…×" in made.text
    assert len(made.text) < 4 * 300 * 2


@from_file("weak", "line")
def test_a_stated_level_comes_before_words_of_failure_and_leaves_room_for_what_is_asked(weak: str, line: str) -> None:
    lines = [weak.format(f"q{chr(97 + at % 26)}z", f"v{chr(97 + at // 26)}y") for at in range(600)]
    lines[300], lines[500] = line, "12:02:00 INFO parcel 77-A 已签收"
    made = digest(lines, query="where is parcel 77-A?")
    assert made is not None
    assert line in made.text
    assert lines[500] in made.text


def test_a_line_unlike_the_others_is_kept_though_nobody_asked() -> None:
    made = digest(log_with("12:01:00 INFO quota of tenant ember raised"))
    assert made is not None
    assert "quota of tenant ember raised" in made.text


def test_what_fits_is_no_digest() -> None:
    assert digest(["one", "two"]) is None


@given(st.lists(st.sampled_from(["a 1", "a 2", "ERROR x", "失败", "", "=====", "  at y"]), min_size=1, max_size=60))
def test_every_line_is_shown_or_counted(lines: list[str]) -> None:
    made = digest(lines, budget=60)
    if made is not None:
        marks = [line for line in made.text.split("\n") if line.startswith("… ")]
        assert made.shown + sum(int(mark.split()[1]) for mark in marks) == made.total == len(lines)
