"""Rows that stand out are kept: outliers, rare values, fields that others lack."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.digest import Lines, Task
from gatekeeper_core.context.tool_results.formats.cells import columns_of_texts
from gatekeeper_core.context.tool_results.formats.rows import (
    Unusual,
    first_of_each,
    keep_rows,
    summary_of,
    unusual_rows,
)
from gatekeeper_core.context.tool_results.query_match import Asked
from tests.case_files import from_file


def rows_of(count: int) -> list[dict[str, str]]:
    return [
        {
            "id": str(1_000 + at),
            "state": "ok",
            "ms": str(10 + at % 7),
            "host": f"h{at % 4}",
            "code": f"AB-{at * 37 % 900 + 100}",
        }
        for at in range(count)
    ]


def found_in(rows: list[dict[str, str]]) -> list[Unusual]:
    return first_of_each(unusual_rows(columns_of_texts(rows), len(rows)))


def kept_of(
    rows: list[dict[str, str]], budget: int, query: str | None = None, *, list_items: int = 5, by: str = ","
) -> dict[int, str]:
    """Return the lines of the rows that are kept, by their numbers from 1."""
    task = Task(Asked(query), budget, lambda text: len(text) // 4, list_items)
    return keep_rows(Lines.whole([by.join(row.values()) for row in rows]), columns_of_texts(rows), task).kept


@from_file("column", "value")
def test_a_row_that_is_unlike_the_others_in_one_column_is_found(column: str, value: str) -> None:
    rows = rows_of(300)
    rows[123][column] = value
    found = found_in(rows)
    assert [(each.row, each.column) for each in found][:1] == [(123, column)]


def test_a_number_far_from_the_others_is_found_where_every_value_differs() -> None:
    rows = [{"id": str(at), "load": f"{20 + at * 37 % 100 / 7:.3f}"} for at in range(200)]
    rows[50]["load"] = "9120.5"
    assert [(each.row, each.column, each.reason) for each in found_in(rows)] == [(50, "load", "far")]


def test_a_row_that_lacks_what_all_others_have_is_found() -> None:
    rows = rows_of(100)
    del rows[40]["host"]
    assert [each.row for each in found_in(rows)] == [40]


def test_rows_that_are_alike_are_not_unusual() -> None:
    assert found_in(rows_of(200)) == []


def test_one_column_does_not_crowd_out_the_others() -> None:
    rows = rows_of(400)
    for at in range(7):
        rows[at * 20]["ms"] = str(10**6 + at)
    rows[200]["state"] = "lost"
    found = found_in(rows)
    assert 200 in [each.row for each in found]
    assert sum(each.column == "ms" for each in found) == 3


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.text(max_size=6), max_size=3), min_size=1, max_size=30))
def test_any_rows_can_be_judged(rows: list[dict[str, str]]) -> None:
    found = found_in(rows)
    assert found == found_in(rows)
    assert len({each.row for each in found}) == len(found)
    assert all(math.isfinite(each.score) for each in found)
    summary_of(columns_of_texts(rows))


@pytest.mark.parametrize("query", ["what about AB-777?", "AB-777 怎么样"])
def test_failures_what_was_asked_for_both_ends_and_outliers_are_kept(query: str) -> None:
    """004-36: the first rows, the last one, and what must not be lost."""
    rows = rows_of(500)
    rows[100]["state"], rows[200]["ms"], rows[300]["code"] = "payment failed", "70000", "AB-777"
    assert {1, 2, 3, 4, 5, 101, 201, 301, 500} <= kept_of(rows, 300, query).keys()


def test_what_all_rows_say_together_is_counted() -> None:
    rows = [{"state": "ok", "ms": str(at)} for at in range(20)] + [{"state": "down", "ms": "3"}]
    assert summary_of(columns_of_texts(rows)) == "… in all: state: ok 20, down 1; ms: 0 to 19"
    assert summary_of(columns_of_texts([{"a": "x"}])) == ""


WEAK = ("probe of {} failed, {} used", "超时后已重试 {}，{} 正常", "{} unreachable, {} tried again")


def words(at: int) -> tuple[str, str]:
    return f"q{chr(97 + at % 26)}{chr(97 + at // 26 % 26)}z", f"v{chr(97 + at // 7 % 26)}{chr(97 + at % 7)}y"


@pytest.mark.parametrize("calm", ["INFO", "信息", "notice", "I", "6"])
@pytest.mark.parametrize(
    "text", ["volume SN-8841 has no space left", "磁盘 SN-8841 已满", "checksum of SN-8841 differs"]
)
def test_a_row_that_states_its_level_comes_before_rows_with_a_word_of_failure(calm: str, text: str) -> None:
    name, level = {"信息": ("级别", "错误"), "I": ("lvl", "E"), "6": ("PRIORITY", "3")}.get(calm, ("level", "error"))
    rows = [{name: calm, "text": WEAK[at % 3].format(*words(at))} for at in range(600)]
    rows[400] = {name: level, "text": text}
    kept = kept_of(rows, 300)
    assert kept[401] == ",".join(rows[400].values())


@pytest.mark.parametrize("text", ["quota of tenant SN-8841 raised by hand", "管理员手动提高了 SN-8841 的限额"])
def test_among_many_rare_texts_the_one_of_the_rarest_words_is_kept(text: str) -> None:
    tail = [f"cache {words(at)[0]} drained, lease {words(at)[1]} renewed" for at in range(300)]
    rows = [{"host": "h1", "text": tail[at] if at < 300 else f"request {at} done"} for at in range(1_200)]
    rows[800]["text"] = text
    kept = kept_of(rows, 600)
    assert kept[801] == f"h1,{text}"


def test_one_row_is_kept_of_each_template_of_failure() -> None:
    kinds = ("disk {} failed", "lease of {} denied", "link {} 已中断", "write to {} rejected")
    rows = [{"host": words(at)[0], "text": kinds[at % 4 if at % 97 == 0 else 0].format(at)} for at in range(900)]
    kept = "\n".join(kept_of(rows, 200, list_items=1).values())
    assert all(part in kept for part in ("failed", "denied", "已中断", "rejected"))
    assert kept.count("failed") <= 3  # its template, the first row and the last one


def test_a_time_is_no_template_of_a_failure() -> None:
    """Rows of one level whose only free text with a space is a time fail in ways of their own."""
    texts = [
        {"time": f"2027-04-03 12:{at // 60:02}:{at % 60:02}", "page": f"/home/{at}", "status": "200"}
        for at in range(600)
    ]
    bad = {100: "/pay/confirm", 250: "/发票", 400: "/prices/import"}
    for at, page in bad.items():
        texts[at].update(page=page, status="500")
    assert {at + 1 for at in bad} <= kept_of(texts, 60, list_items=0, by=" | ").keys()
