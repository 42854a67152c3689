"""The ``gatekeeper`` command: the demo, selecting from files, and everything that can be wrong with a file."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import gatekeeper_core
from gatekeeper_cli.conversation import sample
from gatekeeper_cli.explanation import readable
from gatekeeper_cli.texts import TABLE, Language, Texts
from gatekeeper_core.messages import Message, ToolCall, Turn
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from tests.case_files import from_file
from tests.command import MAIN, PROGRAM, run
from tests.conversations import PAIRS, turns_of
from tests.conversations import QUESTIONS as QUERIES
from tests.talks import dicts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

pytestmark = pytest.mark.cli

each_language = pytest.mark.parametrize("language", PAIRS)


def run_process(
    *arguments: str, stdin: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        input=stdin,
        env=os.environ | (environment or {}),
        capture_output=True,
        timeout=60,
        check=False,
    )


def as_list(pairs: Sequence[tuple[str, str]]) -> str:
    return json.dumps(dicts_of(pairs), ensure_ascii=False)


def as_message_lines(pairs: Sequence[tuple[str, str]]) -> str:
    return "".join(json.dumps(message) + "\n" for message in dicts_of(pairs))


def as_pair_lines(pairs: Sequence[tuple[str, str]]) -> str:
    return "\n".join(json.dumps({"user": user, "assistant": answer}, ensure_ascii=False) for user, answer in pairs)


def selection_of(turns: Sequence[Turn], query: str, *, budget: int = 4000, strategy: Any = "gate") -> dict[str, Any]:
    """Return what the library says, as it looks after a way through JSON."""
    gatekeeper = ContextGatekeeper(budget, config=GatekeeperConfig(strategy=strategy))
    gatekeeper.sync(turns)
    return json.loads(json.dumps(gatekeeper.explain(query).to_dict()))


# --- the demo -------------------------------------------------------------------------------------------------------

TOPIC_TURNS = {
    "cache": {*range(4), 12, 13},
    "lisbon": {*range(4, 8), 18},
    "bread": set(range(8, 12)),
    "bug": set(range(14, 18)),
    "piano": set(range(19, 24)),
}
KINDS = {
    "continuing": ("continue", "overlap", {23}, TOPIC_TURNS["piano"]),
    "referring back": ("continue", "referring_word", {23}, TOPIC_TURNS["piano"]),
    "switching": ("switch", "explicit_switch", set(), set()),
    "returning": ("switch", "explicit_return", {6, 18}, TOPIC_TURNS["lisbon"]),
    "an exact identifier": ("switch", "return", {16}, TOPIC_TURNS["bug"]),
    "about the conversation": ("continue", "about_conversation", {23}, set(range(24))),
    "nothing relevant": ("switch", "new_topic", set(), set()),
}
"""By kind of question the verdict, the turns that the answer needs, and those that may come along."""


def demo_answers(*options: str) -> dict[str, dict[str, Any]]:
    shown = json.loads(run("demo", "--json", *options).stdout)
    return {answer["kind"]: answer["selection"] for answer in shown["questions"]}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_demo_keeps_what_each_kind_of_question_needs(lang: str) -> None:
    answers = demo_answers("--budget", "4000", "--lang", lang)
    assert answers.keys() == KINDS.keys()
    for kind, (decision, reason, needed, allowed) in KINDS.items():
        selection = answers[kind]
        kept = {turn["turn_id"] for turn in selection["turns"]}
        assert (selection["gate"]["decision"], selection["gate"]["reason"]) == (decision, reason), kind
        assert needed <= kept <= allowed, kind
    everything = {turn["turn_id"] for turn in answers["about the conversation"]["turns"]}
    assert all(everything & turns for turns in TOPIC_TURNS.values())


@pytest.mark.parametrize(("lang", "columns", "budget"), [("en", 80, 1000), ("zh", 120, 300)])
def test_the_demo_shows_each_question_on_a_screen_and_ends_with_what_it_saved(
    lang: str, columns: int, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.cells import cell_len

    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run("demo", "--budget", str(budget), "--lang", lang).stdout.splitlines()
    assert max(map(cell_len, lines)) <= columns
    assert not any("\x1b" in line for line in lines)
    text = " ".join(line.strip() for line in lines)
    answers, texts = demo_answers("--budget", str(budget), "--lang", lang), Texts(Language(lang))
    for question in sample(f"demo.{lang}")[1]:
        selection = answers[question.kind]
        tokens, history = selection["tokens"], selection["history_tokens"]
        assert tokens <= selection["token_budget"] == budget
        assert f'{texts(f"kind.{question.kind}")}: "{question.text}"' in text
        assert texts("token_line", kept=len(selection["turns"]), count=24, tokens=tokens, history=history) in text
        for turn in selection["turns"]:
            beginning = " ".join(turn["user"].split())[:8]
            assert any(line.split()[:1] == [str(turn["turn_id"])] and beginning in line for line in lines)
    starts = [at for at, line in enumerate(lines) if re.match(r"\d\. ", line)]
    assert max(second - first for first, second in itertools.pairwise(starts)) <= 24
    sent, full = (sum(one[name] for one in answers.values()) for name in ("tokens", "history_tokens"))
    assert f"{sent:,}" in text[-160:]
    assert f"{full:,}" in text[-160:]


# --- select: what it shows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", [as_list, as_message_lines, as_pair_lines], ids=lambda each: each.__name__)
@pytest.mark.parametrize(("budget", "strategy"), [(4000, "gate"), (20, "fill")])
def test_every_format_gives_the_selection_of_the_library(
    written: Callable[[Sequence[tuple[str, str]]], str], budget: int, strategy: str
) -> None:
    for language, query in QUERIES.items():
        turns, pairs = turns_of(PAIRS[language]), [*PAIRS[language], (query, "")]
        options = ("--json", "--budget", str(budget), "--strategy", strategy)
        shown = run("select", "-", f" {query}\n", *options, stdin=written(pairs).encode())
        assert (shown.exit_code, shown.stderr) == (0, "")
        assert json.loads(shown.stdout) == selection_of(turns, f" {query}\n", budget=budget, strategy=strategy)


@each_language
def test_the_table_shows_turn_tokens_reason_and_text(language: str, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(as_pair_lines(PAIRS[language]), encoding="utf-8")
    result = run("select", str(file), QUERIES[language])
    selection = selection_of(turns_of(PAIRS[language]), QUERIES[language])
    verdict = selection["gate"]
    answer = "earlier topic" if verdict["resumed_topic"] is not None else TABLE[f"gate.{verdict['decision']}"][0]
    reason = TABLE[f"gate_reason.{verdict['reason']}"][0]
    assert result.stdout.startswith(f"{answer} ({reason}")
    row = next(line for line in result.stdout.splitlines() if line.split()[:1] == ["0"])
    first = selection["turns"][0]
    assert str(first["tokens"]) in row.split()
    assert first["user"][:6] in row
    total = f"{len(selection['turns'])} of 5 turns, {selection['tokens']} of {selection['history_tokens']} tokens ("
    assert total in result.stdout


@each_language
def test_why_adds_every_candidate_and_the_coverage_of_the_query(language: str, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(as_list(PAIRS[language]), encoding="utf-8")
    plain = run("select", str(file), QUERIES[language]).stdout
    result = run("select", str(file), QUERIES[language], "--why")
    assert result.stdout.startswith(plain)
    added = result.stdout.removeprefix(plain)
    selection = selection_of(turns_of(PAIRS[language]), QUERIES[language])
    assert selection["decisions"]
    for decision in selection["decisions"]:
        assert any(line.split()[:2] == [str(decision["turn_id"]), decision["outcome"]] for line in added.splitlines())
    assert f"coverage {selection['coverage']:.2f}" in added
    anchors = readable((*selection["covered"], *selection["uncovered"]), QUERIES[language])
    assert anchors
    for anchor in anchors:
        assert anchor in added.partition("coverage")[2]
    assert not any(pair in added.partition("coverage")[2] for pair in ("口是", "是多"))


@from_file("script", "question", "lang", "notice")
@pytest.mark.parametrize("command", ["select", "explain"])
def test_where_no_turn_is_kept_it_says_what_was_found_and_why_the_nearest_are_left_out(
    command: str, script: str, question: str, lang: str, notice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    file, html = tmp_path / "chat.json", tmp_path / "page.html"
    file.write_text(as_list(PAIRS[script][:3]), encoding="utf-8")
    shown = run(command, str(file), question, "--lang", lang)
    assert shown.exit_code == 0
    assert notice in shown.stdout
    assert "needed for this question" not in shown.stdout
    pages = [shown.stdout]
    if command == "explain":
        run(command, str(file), question, "--lang", lang, "--html", str(html))
        pages.append(unescape(html.read_text(encoding="utf-8")))
        assert notice in pages[1]
    for turn_id in range(3):
        why_not = run("explain", str(file), question, "--lang", lang, "--why-not", str(turn_id)).stdout.splitlines()[0]
        assert all(why_not in page for page in pages)


def test_only_a_turn_that_still_waits_is_the_question_itself() -> None:
    from gatekeeper_cli.explanation import without_current

    turns = (Turn.of("port?", "6380"), Turn.of("And the port of the other one?", ""))
    assert without_current(turns[:1], query="port?") == turns[:1]
    assert without_current(turns, query="port?") == turns
    assert without_current((), query="port?") == ()
    calling = Message("assistant", "one moment", tool_calls=(ToolCall("c1", "now", "{}"),))
    assert without_current((Turn((Message("user", "time?"), calling), 0, 2),), query="time?") == ()


# --- select: broken files -------------------------------------------------------------------------------------------


@from_file("content", "place")
def test_a_broken_file_gives_one_line_that_names_the_file_and_the_place(
    content: str, place: str, tmp_path: Path
) -> None:
    file = tmp_path / "broken chat.json"
    file.write_text(content, encoding="utf-8")
    for name, shown, stdin in ((str(file), str(file), None), ("-", "standard input", content.encode())):
        result = run("select", name, "hi", stdin=stdin)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"gatekeeper: {shown}: {place}")
        assert result.stderr.count("\n") == 1


@from_file("name", "times", "reason")
def test_a_file_that_cannot_be_opened_gives_one_line(name: str, times: int, reason: str, tmp_path: Path) -> None:
    file = tmp_path / (name * times)
    result = run("select", str(file), "hi")
    assert (result.exit_code, result.stdout) == (2, "")
    assert str(tmp_path) in result.stderr
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [("--budget", "many"), ("--strategy", "most"), ("--surprise",)], ids=" ".join)
def test_a_wrong_option_ends_with_status_2(arguments: tuple[str, ...]) -> None:
    result = run("select", "-", "hi", *arguments, stdin=b"[]")
    assert (result.exit_code, result.stdout) == (2, "")
    assert arguments[0] in result.stderr


# --- what a terminal or a pipe gets ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "arguments"),
    [("ascii", ("demo",)), ("cp1252", ("demo", "--json")), ("ascii", ("select", "nowhere/端口", "q"))],
)
def test_an_output_that_cannot_show_chinese_does_not_stop_the_command(
    encoding: str, arguments: tuple[str, ...]
) -> None:
    environment = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = run_process(*arguments, environment=environment)
    assert done.returncode == (2 if "select" in arguments else 0)
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == done.returncode // 2
    if "--json" in arguments:
        assert len(json.loads(done.stdout.decode(encoding))["questions"]) == 7


@pytest.mark.skipif(os.name == "nt", reason="closes a POSIX pipe")
@from_file("arguments")
def test_a_reader_that_goes_away_ends_the_command_quietly(arguments: tuple[str, ...]) -> None:
    # Little output breaks the pipe in the last flush only (if it is buffered), much output in the middle of a command.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        env=buffered,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()  # before anything is written: the command waits for its input, or is still starting
    process.stdout = None
    _, errors = process.communicate(b"[]", timeout=60)
    assert errors == b""


# --- words and examples ---------------------------------------------------------------------------------------------


def test_the_version_is_that_of_the_library() -> None:
    assert run("--version").stdout == f"gatekeeper {gatekeeper_core.__version__}\n"


def test_a_missing_module_of_another_package_is_not_blamed_on_the_extra() -> None:
    code = f"import sys; sys.modules['gatekeeper_core.selection.gatekeeper'] = None; {MAIN}"
    done = subprocess.run([sys.executable, "-c", code, "demo"], capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert b"pip install" not in done.stderr
