"""Formats of tool results through the door: detected from their lines, and digested to what matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.tool_outputs import Output, generated
from gatekeeper_core.context.tool_results.compressor import ToolResult, ToolResultCompressor
from gatekeeper_core.errors import ConfigError
from tests.calls import first_column
from tests.case_files import from_file, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

KINDS = {"csv": {"table"}, "listing": {"listing", "table"}}


def digest(lines: Sequence[str], *, query: str | None = None, max_tokens: int = 2_400) -> ToolResult:
    compressor = ToolResultCompressor(max_tokens=max_tokens, min_chars=0, token_counter=lambda text: len(text) // 4)
    return compressor.compress("\n".join(lines), query=query)


@from_file("lines", "expected")
def test_kind(lines: list[str], expected: str) -> None:
    assert digest(lines).kind == expected


@pytest.mark.parametrize("output", generated(11, rounds=2), ids=lambda each: each.name)
def test_the_results_of_common_tools_are_detected(output: Output) -> None:
    if output.family in ("log", "csv", "search", "listing", "test", "trace"):
        assert digest([output.text]).kind in KINDS.get(output.family, {output.family})


def test_each_kind_can_be_set_for_a_tool_and_has_its_row_on_the_page() -> None:
    with pytest.raises(ConfigError) as refused:
        ToolResultCompressor(strategies={"ps": "nothing"})
    kinds = str(refused.value).partition("one of ")[2].split(", ")
    cells = first_column("tool_results.md", "## By kind")
    assert sorted(" ".join(cells).replace("`", " ").replace(",", " ").split()) == kinds


# --- what is kept

SHAPES: dict[str, Callable[[int], str]] = {
    "log": lambda at: f"12:00:{at % 60:02} INFO worker {at} finished task {at * 7}",
    "csv": lambda at: f"{1_000 + at},ok,{10 + at % 7},h{at % 4},AB-{at * 37 % 900 + 100}",
    "find": lambda at: f"./lib/part{at % 3}/mod_{at}.py",
    "ls": lambda at: f"-rw-r--r-- 1 app app {100 + at % 800}K Mar {at % 28 + 1:>2} 10:00 part-{at:03}.bin",
    "grep": lambda at: f"src/{'ab'[at % 2]}.py:{at}:    return client.fetch({at})",
}
HEADS = {"csv": ["id,state,ms,host,code"], "ls": ["/srv/a:", "total 44"]}


def result_with(shape: str, inserted: Sequence[str]) -> list[str]:
    lines = [*HEADS.get(shape, []), *map(SHAPES[shape], range(900))]
    lines[300:300] = inserted
    return lines


@pytest.mark.parametrize(("shape", "inserted", "query"), rows("registry", "kept"))
def test_a_failure_a_match_and_an_unusual_line_are_kept(shape: str, inserted: list[str], query: str | None) -> None:
    """004-36: the first items, the last one, and what must not be lost."""
    result = digest(result_with(shape, inserted), query=query, max_tokens=600)
    assert result.strategy in ("lines", "rows", "groups")
    assert "\n".join(inserted) in result.text
    assert all(line in result.text for line in HEADS.get(shape, [])[:1])
    assert result.tokens_after < 1_000


@from_file("weak", "line")
def test_a_stated_level_comes_before_words_of_failure(weak: str, line: str) -> None:
    lines = [weak.format(f"q{chr(97 + at % 26)}z", f"v{chr(97 + at // 26)}y") for at in range(600)]
    lines[300], lines[500] = line, "12:02:00 INFO parcel 77-A 已签收"
    text = digest(lines, query="where is parcel 77-A?", max_tokens=300).text
    assert line in text
    assert lines[500] in text


WEAK = ("probe of {} failed, {} used", "超时后已重试 {}，{} 正常", "{} unreachable, {} tried again")


def words(at: int) -> tuple[str, str]:
    return f"q{chr(97 + at % 26)}{chr(97 + at // 26 % 26)}z", f"v{chr(97 + at // 7 % 26)}{chr(97 + at % 7)}y"


@from_file("name", "calm", "level")
def test_a_row_that_states_a_failure_comes_before_rows_with_a_word_of_failure(name: str, calm: str, level: str) -> None:
    table = [f"{name}\ttext\tn", *(f"{calm}\t{WEAK[at % 3].format(*words(at))}\t{at}" for at in range(600))]
    table[400] = f"{level}\t磁盘 SN-8841 has no space left\t7"
    assert table[400] in digest(table, max_tokens=300).text


def test_one_row_is_kept_of_each_template_of_failure() -> None:
    kinds = ("disk {} failed", "lease of {} denied", "link {} 已中断", "write to {} rejected")
    table = [
        "host,text,n",
        *(f"{words(at)[0]},{kinds[at % 4 if at % 97 == 0 else 0].format(at)},{at}" for at in range(900)),
    ]
    text = digest(table, max_tokens=300).text
    assert all(part in text for part in ("failed", "denied", "已中断", "rejected"))
    assert text.count("failed") <= 22  # the first twenty rows, the last one and the summary


def test_a_time_is_no_template_of_a_failure() -> None:
    """Rows of one level whose only free text with a space is a time fail in ways of their own."""
    table = [f"2027-04-03 12:{at // 60:02}:{at % 60:02};/home/{at};200;{at % 9}" for at in range(600)]
    for at, page in ((100, "/pay/confirm"), (250, "/发票"), (400, "/prices/import")):
        table[at] = f"2027-04-03 12:00:00;{page};500;3"
    text = digest(["time;page;status;n", *table], max_tokens=100).text
    assert all(page in text for page in ("/pay/confirm", "/发票", "/prices/import"))


def test_rows_that_are_alike_are_not_unusual() -> None:
    lines = [
        f"{1_000 + at},{('ok', 'idle')[at % 3 == 0]},{10 + at % 7},h{at % 4},p{max(at, 300) % 300}" for at in range(900)
    ]
    assert digest([*HEADS["csv"], *lines]).omitted == 901 - 22  # the head, twenty first rows, the last one


def test_the_lines_that_go_on_after_a_failure_are_kept_with_the_one_before() -> None:
    lines = [line for at in range(300) for line in (SHAPES["log"](at), f"    detail {at}")]
    lines[300:300] = ["12:00:00 ERROR disk 1 full", *(f"    detail {at}" for at in range(9_150, 9_154))]
    lines += [f"12:00:00 ERROR disk {at} full" for at in range(2, 6)]
    shown = digest(lines, max_tokens=1_000).text
    assert "\n".join(lines[299:300]) in shown
    assert "\n".join(lines[301:304]) in shown
    assert lines[304] not in shown


def test_a_number_far_from_the_others_is_kept_where_every_value_differs() -> None:
    lines = [f"{at},{20 + at * 37 % 997 / 7:.3f},a,b" for at in range(900)]
    lines[450] = "450,9120.501,a,b"
    assert lines[450] in digest(["id,load,x,y", *lines], max_tokens=300).text


def test_a_log_in_the_extended_format_of_w3c_is_read_by_its_fields() -> None:
    """The status of its column ranks a row, though no word reports a failure; further heads are no rows."""
    lines = [f"2027-04-03 12:00:{at % 60:02} GET /failed/{at} 404 {at % 9}" for at in range(900)]
    lines[450], lines[600] = "2027-04-03 12:07:30 GET /发票/7741 503 4", "#Date: 2027-04-03"
    fields = "#Fields: date time cs-method cs-uri-stem sc-status time-taken"
    shown = digest(["#Software: x", fields, *lines], max_tokens=120).text.split("\n")
    assert {fields, lines[450]} <= {*shown}
    assert "#Date: 2027-04-03" not in shown


def test_a_flood_of_failures_obeys_the_budget_with_one_of_each_template() -> None:
    flood = [f"ERROR {at} failed: code {at % 3}" for at in range(20_000)]
    flood[9_000] = "ERROR replica lost its disk SN-8841"
    result = digest(flood, max_tokens=300)
    assert "SN-8841" in result.text
    assert "…×" in result.text
    assert result.tokens_after < 2 * 300


def test_entries_are_counted_by_file_and_folder() -> None:
    assert "… 300 in ./lib/part0" in digest(result_with("find", [])).text
    assert "… 450 in src/a.py" in digest(result_with("grep", [])).text
    listing = ["src:", "total 1200", *map(SHAPES["ls"], range(300)), "", "  ", "docs:", "total 0"]
    assert "… 300 in src" in digest(listing).text
    assert "in docs" not in digest(listing).text


def python_trace(at: int) -> str:
    return f'  File "/opt/lib/python3.12/site-packages/web/m{at}.py", line {at}, in call\n    return self.go()'


TRACES = {
    "python": (
        ["Traceback (most recent call last):", *map(python_trace, range(40))],
        [
            '  File "/srv/app/billing.py", line 7, in charge\n    raise LedgerError(7)',
            "app.LedgerError: 账户 77 已冻结",
        ],
    ),
    "java": (
        ['Exception in thread "main" java.lang.IllegalStateException: account 77 is frozen']
        + [f"\tat org.springframework.web.Filter{at}.run(Filter.java:{at})" for at in range(40)],
        ["\tat com.acme.Billing.charge(Billing.java:7)", "Caused by: java.io.IOException: replica 77 gone"],
    ),
    "javascript": (
        ["TypeError: cannot read balance of 77"]
        + [f"    at go{at} (/srv/app/node_modules/web/m{at}.js:{at}:9)" for at in range(40)],
        ["    at charge (/srv/app/src/billing.js:7:13)"],
    ),
}


@pytest.mark.parametrize("language", TRACES)
def test_the_exception_the_ends_and_own_code_are_kept_of_a_trace_and_the_same_trace_once(language: str) -> None:
    (head, *frames), own = TRACES[language]
    trace = [head, *frames, *own[:1], *frames[::-1], *own[1:]]
    result = digest(trace * 5, max_tokens=400)
    assert result.strategy == "frames"
    assert [part for part in (head, *own, frames[0].split("\n")[0]) if part not in result.text] == []
    assert result.text.count(own[0]) == 1


@given(
    st.lists(
        st.sampled_from(["a 1", "a 2", "ERROR x", "失败", "", "=====", "  at y", "a,b,c,d", "./a/b.c"]), min_size=80
    )
)
def test_every_line_is_shown_or_counted(lines: list[str]) -> None:
    compressor = ToolResultCompressor(max_tokens=100, min_chars=0, strategies={"t": "log"})
    result = compressor.compress("\n".join(lines * 9), tool_name="t")
    if result.strategy == "lines":
        head, *shown = result.text.split("\n")
        marks = [int(line.split()[1]) for line in shown if line.startswith("… ")]
        assert sum(marks) + len(shown) - len(marks) == len(lines * 9)
        assert head.startswith(f"[log: {len(shown) - len(marks)} of {len(lines * 9)} ")
