"""``gatekeeper inspect`` and ``explain`` in the terminal and as JSON."""

from __future__ import annotations

import json
import random
import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_cli.conversation import CONVERSATION, QUESTIONS
from gatekeeper_cli.costs import token_use
from gatekeeper_cli.explanation import grid_of, near_misses
from gatekeeper_cli.texts import Language, Texts
from gatekeeper_cli.topics import Timeline
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from tests.case_files import from_file
from tests.command import chat_file, run
from tests.conversations import HOSTILE, PAIRS, turns_of
from tests.conversations import QUESTIONS as SHORT_QUESTIONS
from tests.talks import talk

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

pytestmark = pytest.mark.cli

DEMO = list(CONVERSATION)
COMMANDS = {
    "inspect": ("inspect", "{file}"),
    "explain": ("explain", "{file}", "{query}", "--why-not", "0"),
    "select": ("select", "{file}", "{query}", "--why"),
}
each_command = pytest.mark.parametrize("command", ["inspect", "explain"])
each_language = pytest.mark.parametrize("language", PAIRS)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return chat_file(tmp_path, DEMO)


def ask(command: str, file: Path, query: str, *options: str) -> Result:
    parts = (part.format(file=file, query="{query}").replace("{query}", query) for part in COMMANDS[command])
    return run(*parts, *options)


def shown_json(command: str, file: Path, query: str, *options: str) -> dict[str, Any]:
    result = ask(command, file, query, "--json", *options)
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)  # type: ignore[no-any-return]


# --- what the JSON holds


def test_inspect_gives_the_timeline_and_the_use_of_tokens(chat: Path) -> None:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(DEMO)
    value = shown_json("inspect", chat, "", "--budget", "500")
    use = token_use(talk(DEMO), token_budget=500)
    assert value.pop("token_use") == [point.to_dict() for point in use.points]
    assert {name: value.pop(name) for name in use.to_dict()} == use.to_dict()
    assert [*map(value.pop, ("token_budget", "reported", "usage", "dollars"))] == [500, None, [], None]
    assert value == json.loads(json.dumps(Timeline.of(gatekeeper).to_dict()))


@pytest.mark.parametrize("strategy", ["gate", "fill"])
def test_explain_gives_the_selection_the_anchors_the_near_misses_and_the_turn_that_was_asked_for(
    chat: Path, strategy: str
) -> None:
    query = QUESTIONS[4].text
    gatekeeper = ContextGatekeeper(300, config=GatekeeperConfig(strategy=strategy))  # type: ignore[arg-type]
    gatekeeper.sync(turns_of(DEMO))
    selection = gatekeeper.explain(query)
    value = shown_json("explain", chat, query, "--budget", "300", "--strategy", strategy)
    assert value["selection"] == json.loads(json.dumps(selection.to_dict()))
    assert value["anchors_by_turn"] == json.loads(json.dumps(grid_of(selection)._asdict()))
    assert [near["turn_id"] for near in value["near_misses"]] == [near.turn_id for near in near_misses(selection)]
    assert sum(value["budget"].values()) == 300
    assert value["why_not"]["turn_id"] == 0
    assert value["why_not"]["sentence"].startswith("Turn 0 is left out because ")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("query", [question.text for question in QUESTIONS])
def test_terminal_page_and_json_give_one_account_of_each_turn(
    query: str, lang: str, chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The need of a turn, and of a kept one the sign that speaks for it most, in a line of the terminal."""
    monkeypatch.setenv("COLUMNS", "200")
    gatekeeper, texts = ContextGatekeeper(), Texts(Language(lang))
    gatekeeper.sync(turns_of(DEMO))
    lines = [
        " ".join(line.split()) for line in ask("explain", chat, query, "--scores", "--lang", lang).stdout.splitlines()
    ]
    ask("explain", chat, query, "--lang", lang, "--html", str(tmp_path / "page.html"))
    page = unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    decisions = shown_json("explain", chat, query)["selection"]["decisions"]
    for values in (one for one in decisions if one["need"] is not None):
        turn_id, need = values["turn_id"], f"{values['need']:.2f}"
        name, odds = max(values["signs"].items(), key=lambda sign: sign[1])
        speaks = values["outcome"] != "dropped" and odds >= 0.1
        sign = f"{texts(f'sign.{name}')} {odds:+.1f}" if speaks else ""
        (line,) = [one for one in lines if one.startswith(f"{turn_id} {texts('outcome.' + values['outcome'])} {need} ")]
        row = page.partition(f'<tr data-t="{turn_id}"')[2].partition("</tr>")[0]
        assert sign in line
        assert texts("colon").join(filter(None, (texts("need_is", need=values["need"]), sign))) + "</td>" in row
        assert texts.why(gatekeeper.explain(query).decision(turn_id)) in row


# --- what the terminal shows


@each_language
def test_why_not_is_answered_first_in_one_sentence_of_its_language(language: str, tmp_path: Path) -> None:
    file = chat_file(tmp_path, PAIRS[language])
    for lang in ("en", "zh"):
        gatekeeper = ContextGatekeeper(3)
        gatekeeper.sync(PAIRS[language])
        needed = gatekeeper.explain(SHORT_QUESTIONS[language]).decision(0).kept_from_tokens
        shown = ask("explain", file, SHORT_QUESTIONS[language], "--budget", "3", "--lang", lang).stdout
        assert shown.startswith("第 0 轮未选：" if lang == "zh" else "Turn 0 is left out because ")
        assert str(needed) in shown


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_explain_shows_scores_when_asked_and_no_saving_where_nothing_is_sent(lang: str, chat: Path) -> None:
    texts = Texts(Language(lang))
    plain, scored = (
        ask("explain", chat, QUESTIONS[3].text, "--lang", lang, *more).stdout for more in ((), ("--scores",))
    )
    assert [texts("scores_heading") in shown for shown in (plain, scored)] == [False, True]
    assert all(texts(name) in plain for name in ("near_heading", "saved"))
    assert texts("saved") not in ask("explain", chat, QUESTIONS[2].text, "--lang", lang).stdout


def test_inspect_shows_a_row_for_each_topic_with_its_turns_and_tokens(chat: Path) -> None:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(DEMO)
    timeline, lines = Timeline.of(gatekeeper), run("inspect", str(chat)).stdout.splitlines()
    assert f"41 turns, {sum(timeline.turn_tokens):,} tokens, {len(timeline.subjects)} topics" in lines[0]
    for number, subject in enumerate(timeline.subjects):
        (row,) = [line for line in lines if line.startswith(f"{number} {', '.join(subject.title)}"[:24])]
        assert re.search(rf" {len(subject.turn_ids)} +{subject.tokens:,} ", row)


@pytest.mark.parametrize(("lang", "words"), [("en", ("24 model calls", "total")), ("zh", ("24 次调用", "合计"))])
def test_inspect_counts_each_call_of_a_tool_loop_and_says_so(lang: str, words: tuple[str, str], tmp_path: Path) -> None:
    from tests.loops import assistant, calls, result, user

    rounds = [message for at in range(23) for message in (calls(f"c{at}"), result(f"c{at}", f"第 {at} row " * 99))]
    messages = [user("Count the rows."), *rounds, assistant("23")]
    file = tmp_path / "loop.json"
    file.write_text(json.dumps([message.to_dict() for message in messages]), encoding="utf-8")
    use = token_use(messages, token_budget=4000)
    shown = run("inspect", str(file), "--budget", "4000", "--lang", lang).stdout
    assert all(word in shown for word in words)
    assert all(f"{total:,}" in shown for total in (use.full, use.window, use.selected))
    assert run("inspect", str(file), "--html", "-").stdout.count("24 model calls") == 1


@from_file("options", "budget")
def test_inspect_takes_the_budget_that_an_adapter_would_take(options: list[str], budget: int, chat: Path) -> None:
    assert json.loads(run("inspect", str(chat), *options, "--json").stdout)["token_budget"] == budget
    folder = run("inspect", str(chat), "--all", *options, "--json").stdout
    assert json.loads(folder)["token_budget"] == budget


def test_many_topics_are_cut_and_the_rest_is_counted(tmp_path: Path) -> None:
    letters = random.Random(1)
    words = ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(34)]
    pairs = [(f"Different topic: {word}?", f"{word}.") for word in words]
    shown = run("inspect", str(chat_file(tmp_path, [*pairs, (f"Why {words[-1]}?", f"{words[-1]}!")]))).stdout
    lines = shown.splitlines()
    assert (lines[0][:8], lines[0][-9:]) == ("35 turns", "34 topics")
    assert "and 4 smaller topics with 4 turns" in shown
    assert any(line.startswith("33 ") and "33 to 34" in line for line in lines)


@each_command
def test_a_conversation_without_turns_is_shown(command: str, tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text("[]", encoding="utf-8")
    shown = run(command, str(file), *(["anything"] if command == "explain" else [])).stdout
    assert "0 turns" in shown or "conversation is empty" in shown


# --- pages


@each_command
def test_a_page_is_written_and_its_line_names_it(command: str, chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    for _ in range(2):  # an earlier report is replaced
        result = ask(command, chat, QUESTIONS[4].text, "--html", str(out))
        assert (result.exit_code, result.stderr) == (0, "")
        assert " ".join(result.stdout.split()).replace(" ", "").startswith(f"written:{out}(")
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@each_command
def test_the_conversation_itself_is_not_written_over(command: str, chat: Path) -> None:
    before = chat.read_bytes()
    result = ask(command, chat, "q", "--html", str(chat))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"gatekeeper: {chat} exists and isn't a gatekeeper report")
    assert chat.read_bytes() == before


def test_a_page_without_its_template_engine_names_the_extra(chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith("gatekeeper_cli.html")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = run("inspect", str(chat), "--html", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == 'gatekeeper: --html needs jinja2: pip install "context-gatekeeper[cli]"\n'


# --- what is refused


@from_file("arguments", "reason")
def test_wrong_input_is_one_line_and_status_2(arguments: list[str], reason: str, chat: Path) -> None:
    names = {"file": chat, "folder": chat.parent}
    result = run(*(part.format(**names) for part in arguments))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"gatekeeper: {reason.format(**names)}")
    assert result.stderr.count("\n") == 1


# --- completion


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["terminal", "json"])
def test_hostile_text_does_nothing_to_a_terminal(command: str, options: tuple[str, ...], tmp_path: Path) -> None:
    file = chat_file(tmp_path, [(HOSTILE, HOSTILE), ("port 端口?", HOSTILE)])
    result = ask(command, file, f"端口 port {HOSTILE}", *options)
    assert result.exit_code == 0
    assert not set("\x1b\x00\ud800\u202e\u2066\u206a\U000e0001\U000e0041") & set(result.stdout)
