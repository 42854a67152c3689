"""``gatekeeper inspect --all``: many conversations as one table."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from datetime import datetime, timezone
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_cli.costs import token_use
from gatekeeper_cli.explanation import shown_dollars
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.prices import PRICES
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.tokens import count_message
from gatekeeper_formats.base import Entry, Format, loader
from tests.command import run
from tests.conversations import HOSTILE, PAIRS
from tests.loops import assistant, calls, result, user
from tests.talks import talk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.cli

SONNET = "claude-sonnet-4-5"
SONNET_PRICES = PRICES["claude-sonnet-4"]

LOOP = [
    user("查一下端口 port"),
    *(message for at in range(23) for message in (calls(f"c{at}"), result(f"c{at}", f"row {at} 行 " * 80))),
    assistant("6380"),
]
SESSIONS = {f"{language}.json": talk(pairs) for language, pairs in PAIRS.items()}


def write(file: Path, messages: list[Message]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([message.to_dict() for message in messages]), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions 会话"
    for name, messages in SESSIONS.items():
        write(folder / name, messages)
    write(folder / "2026" / "loop.json", LOOP)
    return folder


def table(source: Path, *options: str) -> dict[str, Any]:
    done = run("inspect", str(source), "--all", "--json", *options)
    assert (done.exit_code, done.stderr) == (0, "")
    return json.loads(done.stdout)


MESSAGES = [{"from": "human", "value": "缓存 port?"}, {"from": "gpt", "value": "6380"}]


# --- what the table holds


def test_each_session_is_a_row_that_counts_every_model_call_the_costliest_first(folder: Path) -> None:
    value = table(folder, "--budget", "700")
    rows = {row["file"]: row for row in value["sessions"]}
    assert rows.keys() == {*SESSIONS, os.path.join("2026", "loop.json")}
    for name, messages in {**SESSIONS, os.path.join("2026", "loop.json"): LOOP}.items():
        before = list(accumulate(map(count_message, messages), initial=0))
        full = [before[at] for at, message in enumerate(messages) if message.role == "assistant"]
        assert (rows[name]["model_calls"], rows[name]["full"]) == (len(full), sum(full))
        assert rows[name]["selected"] == token_use(messages, token_budget=700).selected
    costs = [row["full"] for row in value["sessions"]]
    assert costs == sorted(costs, reverse=True)
    assert value["sessions"][0]["model_calls"] == 24
    totals = value["totals"]
    assert totals["sessions"] == 4
    for name in ("turns", "model_calls", "full", "window", "selected"):
        assert totals[name] == sum(row[name] for row in value["sessions"])
    assert (value["token_budget"], value["files"], value["unread"], totals["reported"]) == (700, 4, [], None)


def test_title_and_day_stand_where_the_file_tells_them_and_else_the_name(tmp_path: Path) -> None:
    one = {"title": "订票 flight", "created": 1717171717, "messages": [{"role": "user", "content": "a"}]}
    (tmp_path / "one.json").write_text(json.dumps(one), encoding="utf-8")
    write(tmp_path / "two.json", [user("b"), assistant("c")])
    at = datetime(2024, 6, 1, 12, tzinfo=timezone.utc)
    write(tmp_path / "three.json", [user("b"), replace(assistant("c"), created_at=at)])
    one_row, three_row, two_row = sorted(table(tmp_path)["sessions"], key=lambda row: row["file"])
    assert (one_row["title"], one_row["day"]) == ("订票 flight", "2024-05-31")
    assert (two_row["title"], two_row["day"]) == (None, None)
    assert (three_row["title"], three_row["day"]) == (None, "2024-06-01")
    shown = run("inspect", str(tmp_path), "--all").stdout
    assert "订票 flight" in shown
    assert "2024-05-31" in shown
    assert "two.json" in shown


def test_every_conversation_of_an_export_is_a_row(tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps([{"conversations": MESSAGES}, {"conversations": MESSAGES * 3}]), encoding="utf-8")
    assert [(row["number"], row["turns"]) for row in table(file)["sessions"]] == [(2, 3), (1, 1)]
    assert "many.json #2" in run("inspect", str(file), "--all").stdout
    piped = run("inspect", "-", "--all", "--json", stdin=file.read_text(encoding="utf-8"))
    assert [row["file"] for row in json.loads(piped.stdout)["sessions"]] == ["standard input"] * 2


def test_only_the_costliest_are_shown_and_the_rest_is_counted(tmp_path: Path) -> None:
    for at in range(33):
        write(tmp_path / f"{at:02}.json", [user("q " * (40 - at)), assistant("a")])
    seen = run("inspect", str(tmp_path), "--all").stdout
    hidden = table(tmp_path)["sessions"][30:]
    assert "29.json" in seen
    assert "30.json" not in seen
    assert f"and 3 smaller sessions with {sum(row['full'] for row in hidden)} tokens (--json lists all)" in seen


# --- what a provider reported


@pytest.fixture
def reporting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files be read that tell the usage of each call: ``{"asked": text, "usage": [input, output]}`` a line."""

    class UsageFormat(Format):
        name = "told"

        def knows(self, value: Any) -> bool:
            return isinstance(value, dict) and "asked" in value

        def entries(self, items: Iterator[Any], whole_file: bool) -> Iterator[Entry]:
            def read(_left_out: object) -> Iterator[Message | Usage]:
                for item in items:
                    yield from (Message("user", item.value["asked"]), Message("assistant", "好 ok"))
                    yield Usage(*item.value["usage"], cached_tokens=1, model=item.value.get("model", ""))

            yield Entry(loader(read), title="told")

    from gatekeeper_formats import registry

    monkeypatch.setattr(registry, "_IN_ORDER", (UsageFormat(), *registry._IN_ORDER))


@pytest.mark.usefixtures("reporting")
def test_what_the_provider_reported_stands_beside_the_estimate(folder: Path) -> None:
    lines = [json.dumps({"asked": f"端口 {at}?", "usage": [1_000 + at, 7]}) for at in range(3)]
    file = folder / "told.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    value = table(folder)
    (row,) = [row for row in value["sessions"] if row["title"] == "told"]
    sums = {"calls": 3, "input_tokens": 3_003, "output_tokens": 21, "cached_tokens": 3, "cache_written_tokens": 0}
    sums["dollars"] = None
    assert row["reported"] == value["totals"]["reported"] == sums
    assert value["totals"]["sessions_reported"] == 1
    shown = run("inspect", str(folder), "--all").stdout
    assert "reported" in shown
    assert re.search(r"told .* 3,003 ", shown)
    alone = json.loads(run("inspect", str(file), "--json").stdout)
    assert alone["reported"] == sums
    assert [call["input_tokens"] for call in alone["usage"]] == [1_000, 1_001, 1_002]
    for lang, words in (("en", "21 output tokens"), ("zh", "输出 21 个 token")):
        shown = " ".join(run("inspect", str(file), "--lang", lang).stdout.split())
        assert words in shown
        assert re.search("1,001 1,002 1,002 3,003", shown)
    assert "3,003" in run("inspect", str(file), "--html", "-").stdout


@pytest.mark.usefixtures("reporting")
def test_the_model_that_a_file_names_gives_its_prices_and_other_sessions_are_counted_as_unpriced(folder: Path) -> None:
    lines = [json.dumps({"asked": f"端口 {at}?", "usage": [9_000, 700], "model": SONNET}) for at in range(3)]
    (folder / "told.jsonl").write_text("\n".join(lines), encoding="utf-8")
    value = table(folder)
    (row,) = [row for row in value["sessions"] if row["title"] == "told"]
    assert row == value["sessions"][0]  # what has a price stands before what has none
    assert (row["tariff"]["model"], row["tariff"]["cache"]) == (SONNET, "warm")
    assert row["reported"]["dollars"] == pytest.approx(3 * SONNET_PRICES.dollars(Usage(9_000, 700, 1)))
    assert value["totals"]["sessions_priced"] == 1
    assert value["totals"]["dollars"] == row["dollars"]
    page = run("inspect", str(folder / "told.jsonl"), "--html", "-").stdout
    assert "for 3 model calls, at list prices" in page
    assert "<dd>$0.1125<small>" in page
    assert re.search(r"reported .* \$0\.1125", run("inspect", str(folder / "told.jsonl")).stdout)
    for lang, words in (("en", "the dollars leave out 4 sessions"), ("zh", "4 个会话没有写明有标价的模型")):
        shown = " ".join(run("inspect", str(folder), "--all", "--lang", lang).stdout.split())
        assert words in shown
        assert re.search(r"told - 3 [\d,]+ \$[\d.]+ \$0.1125 \$[\d.]+ ", shown)


def test_with_a_model_the_table_is_in_dollars_and_ends_with_their_sums_and_a_verdict(folder: Path) -> None:
    value = table(folder, "--model", SONNET, "--cache", "none")
    rows = value["sessions"]
    for name in ("full", "window", "selected"):
        assert value["totals"]["dollars"][name] == pytest.approx(sum(row["dollars"][name] for row in rows))
    assert [row["dollars"]["full"] for row in rows] == sorted((row["dollars"]["full"] for row in rows), reverse=True)
    lines = run("inspect", str(folder), "--all", "--model", SONNET, "--cache", "none").stdout.splitlines()
    for row in rows:
        (line,) = [line for line in lines if line.startswith(row["file"])]
        assert shown_dollars(row["dollars"]["full"]) in line
        assert shown_dollars(row["dollars"]["selected"]) in line
    assert f"dollars at the prices of {SONNET}, no cache, answers included" in lines
    assert [line for line in lines if "the gatekeeper costs" in line]
    small = run("inspect", str(folder), "--all", "--model", SONNET, "--cache", "none", "--budget", "700").stdout
    assert "3 sessions would cost more" in small


# --- which files are read


def test_a_broken_file_among_good_ones_is_named_with_its_reason(folder: Path) -> None:
    (folder / "broken.jsonl").write_text('{"role": "user", "content": "hi"}\n{"role": "robot"}\n', encoding="utf-8")
    (folder / "README.md").write_text("# 说明\n\nno session\n", encoding="utf-8")
    value = table(folder)
    assert len(value["sessions"]) == 4
    assert [each["file"] for each in value["unread"]] == ["README.md", "broken.jsonl"]
    assert value["unread"][1]["reason"].startswith("line 2: role must be one of")
    for lang, words in (("en", "2 files could not be read"), ("zh", "2 个文件无法读取")):
        done = run("inspect", str(folder), "--all", "--lang", lang)
        assert done.exit_code == 0
        end = done.stdout.partition(words)[2]
        assert "broken.jsonl: line 2: role" in end
        assert "README.md: " in end


# --- what is refused


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "no file in it ends in .json, .jsonl"), ("zh", "没有以 .json, .jsonl")]
)
def test_a_folder_without_sessions_is_refused(lang: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hi", encoding="utf-8")
    done = run("inspect", str(tmp_path), "--all", "--lang", lang)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"gatekeeper: {tmp_path}")
    assert words in done.stderr


def test_where_nothing_can_be_read_each_file_is_named_and_the_status_is_2(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{", encoding="utf-8")
    done = run("inspect", str(tmp_path), "--all", "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    first, *rest = done.stderr.splitlines()
    assert first == f"gatekeeper: {tmp_path}: no conversation could be read (2 files)"
    assert [line.partition(":")[0] for line in rest] == ["  a.json", "  b.json"]
    alone = run("inspect", str(tmp_path / "c.json"), "--all")
    assert (alone.exit_code, alone.stderr) == (2, f"gatekeeper: {tmp_path / 'c.json'}: No such file or directory\n")


@pytest.mark.parametrize(
    "options", [("--html", "x.html"), ("--conversation", "1"), ("--from", "surprise")], ids=" ".join
)
def test_options_that_do_not_go_with_a_table_are_refused(options: tuple[str, str], folder: Path) -> None:
    done = run("inspect", str(folder), "--all", *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert options[0] in done.stderr


# --- the terminal


@pytest.mark.parametrize("columns", [40, 120])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("options", [(), ("--model", SONNET)], ids=["tokens", "dollars"])
def test_nothing_is_wider_than_the_terminal_and_nothing_obeyed(
    columns: int, lang: str, options: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.cells import cell_len

    monkeypatch.setenv("COLUMNS", str(columns))
    one = {"id": HOSTILE, "title": HOSTILE, "messages": [{"role": "user", "content": HOSTILE}]}
    (folder / "hostile.json").write_text(json.dumps(one), encoding="utf-8")
    (folder / "\x1b[31m.json").write_text("{", encoding="utf-8")
    done = run("inspect", str(folder), "--all", "--lang", lang, *options)
    assert done.exit_code == 0
    assert max(map(cell_len, done.stdout.splitlines())) <= columns
    assert not set("\x1b\x00\ud800\u202e\u2066") & set(done.stdout)
    assert not set("\x1b\x00\ud800") & set(run("inspect", str(folder), "--all", "--json").stdout)
