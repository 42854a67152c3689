"""What a result is, told from its own lines."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.tool_outputs import generated
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.formats.detect import Kind, detect_kind, looks_like_json
from gatekeeper_core.errors import ConfigError
from tests.case_files import from_file

PAGE = Path(__file__).resolve().parents[4] / "docs" / "tool_results.md"

FAMILIES = {
    "log": {"log"},
    "csv": {"table"},
    "search": {"search"},
    "listing": {"listing", "table"},
    "test": {"test"},
    "trace": {"trace"},
}


@pytest.mark.parametrize(
    "output", [each for each in generated(11, rounds=2) if each.family in FAMILIES], ids=lambda each: each.name
)
def test_common_tools_are_recognised(output: object) -> None:
    kind = detect_kind(output.text)  # type: ignore[attr-defined]
    assert kind in FAMILIES[output.family]  # type: ignore[attr-defined]


def test_each_kind_can_be_set_for_a_tool_and_has_its_place_in_the_table_of_the_page() -> None:
    """A kind that is missing in the table of the compressor would be kept whole, as code is."""
    with pytest.raises(ConfigError) as refused:
        ToolResultCompressor(strategies={"ps": "nothing"})
    assert str(refused.value).partition("one of ")[2].split(", ") == sorted(get_args(Kind))
    table = PAGE.read_text(encoding="utf-8").partition("## By kind")[2].partition("\n\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert sorted("".join(cells).replace("`", " ").replace(",", " ").split()) == sorted(get_args(Kind))


CODE = '''import os

def main(path: str) -> None:
    """Run."""
    for name in os.listdir(path):
        print(name)

if __name__ == "__main__":
    main(".")
'''
PROSE = (
    "The cache holds what was read last. It is cleared at night.\n\nWhen a node fails, another one takes over.\n" * 9
)
CHINESE = "缓存保存最近读取的内容。它在夜里清空。\n\n节点失败时，由另一个节点接管。\n" * 9


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (CODE, "code"),
        ("func main() {\n\tfmt.Println(1)\n}\n" * 9, "code"),
        ("services:\n  web:\n    image: app\n    ports:\n      - 80:80\n" * 9, "code"),
        (PROSE, "prose"),
        (CHINESE, "prose"),
        ("diff --git a/x b/x\nindex 12345678..9abcdef0\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "diff"),
        ("<!DOCTYPE html>\n<html><body>hi</body></html>", "markup"),
        ("\x00\x01\x02\x03" * 50, "binary"),
        ("x" * 30 + "ERROR" + "y" * 100_000, "lines"),
        ("", "prose"),
        ("\n\n\n", "prose"),
    ],
)
def test_code_prose_and_the_rest_are_told_apart(text: str, kind: str) -> None:
    assert detect_kind(text) == kind


@given(st.text(max_size=200))
def test_any_text_is_of_a_kind(text: str) -> None:
    assert detect_kind(text) == detect_kind(text)
    looks_like_json(text)


@from_file("line", "kind")
def test_lines_that_end_as_sentences_do_are_prose(line: str, kind: str) -> None:
    assert detect_kind("\n".join([line] * 40)) == kind


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "  "])
def test_rows_that_begin_with_a_time_are_a_table_where_a_column_is_a_status(delimiter: str) -> None:
    rows = [delimiter.join((f"2027-04-03 12:00:{at % 60:02}", "web-1", "200", f"/页/{at}")) for at in range(99)]
    heads = {name: delimiter.join(("time", "s2-host", name, "页面")) for name in ("http_status", "ms")}
    kinds = [detect_kind("\n".join([head, *rows])) for head in heads.values()]
    assert kinds == ["table", "log"]
    assert detect_kind("\n".join(rows)) == "log"


def test_a_log_in_the_extended_format_of_w3c_is_a_table() -> None:
    rows = [f"2027-04-03 12:00:{at % 60:02} 10.0.0.{at} GET /a 200 {at}" for at in range(99)]
    fields = "#Software: x\n#Fields: date time c-ip cs-method cs-uri-stem sc-status time-taken\n"
    assert detect_kind(fields + "\n".join(rows)) == "table"
    assert detect_kind("\n".join(rows)) == "log"


@pytest.mark.parametrize("key", ["time", "created_at", "log.time", "@timestamp"])
def test_pairs_of_key_and_value_that_begin_with_a_time_are_a_log(key: str) -> None:
    lines = [f'{key}=2027-04-03T12:00:{at % 60:02}Z id={at} state=ok note="一切正常"' for at in range(99)]
    assert detect_kind("\n".join(lines)) == "log"
