"""The ``gatekeeper`` command: the demo, selecting from files, and everything that can be wrong with a file."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import subprocess
import sys
import typing
from html import unescape
from itertools import cycle, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gatekeeper_core
from gatekeeper_cli.conversation import CONVERSATION, QUESTIONS, QuestionKind
from gatekeeper_cli.demo import DEMO_BUDGET_TOKENS, run_demo
from gatekeeper_cli.question import readable
from gatekeeper_cli.texts import TABLE
from gatekeeper_core.messages import Message, ToolCall, Turn
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.planner import GatekeeperConfig
from gatekeeper_formats import FormatError
from tests.command import MAIN, PROGRAM, run
from tests.conversations import parse_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

pytestmark = pytest.mark.cli

PAIRS: dict[str, list[tuple[str, str]]] = {
    "chinese": [
        ("缓存的端口是多少？", "新实例用 6380 端口。"),
        ("面包要发酵多久？", "二十六度大约五小时。"),
        ("烤箱预热到几度？", "预热到两百四十度。"),
    ],
    "english": [
        ("Which port does the cache use?", "The new instance listens on port 6380."),
        ("How long does the dough rise?", "About five hours at room temperature."),
        ("How hot must the oven be?", "Heat it to 240 degrees."),
    ],
    "mixed": [
        ("Redis cache 用哪个 port？", "新实例 listens on 6380。"),
        ("sourdough 要发酵多久？", "26 度大约 five hours。"),
        ("oven 预热到几度？", "240 degrees 就好。"),
    ],
}
QUERIES = {
    "chinese": "端口是多少来着？",
    "english": "What was the cache port again?",
    "mixed": "Redis 的 port 是多少？",
}
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


def messages_of(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [
        {"role": role, "content": text}
        for pair in pairs
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]


def as_list(pairs: Sequence[tuple[str, str]]) -> str:
    return json.dumps(messages_of(pairs), ensure_ascii=False)


def as_indented_list(pairs: Sequence[tuple[str, str]]) -> str:
    return json.dumps(messages_of(pairs), indent=2)


def as_object(pairs: Sequence[tuple[str, str]]) -> str:
    return json.dumps({"model": "any", "messages": messages_of(pairs)}, indent=1)


def as_message_lines(pairs: Sequence[tuple[str, str]]) -> str:
    return "".join(json.dumps(message) + "\n" for message in messages_of(pairs))


def as_pair_lines(pairs: Sequence[tuple[str, str]]) -> str:
    return "\n".join(json.dumps({"user": user, "assistant": answer}, ensure_ascii=False) for user, answer in pairs)


FORMATS = [as_list, as_indented_list, as_object, as_message_lines, as_pair_lines]
each_format = pytest.mark.parametrize("written", FORMATS, ids=lambda written: written.__name__)
each_format_in_some_language = pytest.mark.parametrize(
    ("written", "language"),
    [*zip(FORMATS, cycle(PAIRS), strict=False)],
    ids=lambda given: getattr(given, "__name__", given),
)


def selection_of(turns: Sequence[Turn], query: str, *, budget: int = 4000, strategy: Any = "gate") -> dict[str, Any]:
    """Return what the library says, as it looks after a way through JSON."""
    gatekeeper = ContextGatekeeper(budget, config=GatekeeperConfig(strategy=strategy))
    gatekeeper.sync(turns)
    again: dict[str, Any] = json.loads(json.dumps(gatekeeper.explain(query).to_dict()))
    return again


def turns_of(pairs: Sequence[tuple[str, str]]) -> list[Turn]:
    return [Turn.of(user, assistant, start=2 * at) for at, (user, assistant) in enumerate(pairs)]


# --- the demo -------------------------------------------------------------------------------------------------------

TOPIC_TURNS = {
    "cache": {*range(7), 19, 20, 21},
    "lisbon": {*range(7, 14), 29, 30},
    "bread": {*range(14, 19), 31, 32},
    "bug": {*range(22, 29), 33, 34},
    "piano": set(range(35, 41)),
}


def test_the_demo_asks_one_question_of_each_of_the_seven_kinds() -> None:
    assert [question.kind for question in QUESTIONS] == list(typing.get_args(QuestionKind))


def test_the_bundled_conversation_has_about_forty_turns_in_five_topics_with_returns() -> None:
    assert set(range(len(CONVERSATION))) == set().union(*TOPIC_TURNS.values())
    assert sum(map(len, TOPIC_TURNS.values())) == len(CONVERSATION) == 41


def test_no_question_was_asked_in_the_conversation() -> None:
    said = "\n".join(f"{user}\n{assistant}" for user, assistant in CONVERSATION)
    assert not [question for question in QUESTIONS if question.text in said]


@pytest.mark.parametrize(
    ("kind", "gate", "needed", "allowed"),
    [
        ("continuing", ("continue", "overlap", None), {40}, TOPIC_TURNS["piano"]),
        ("referring back", ("continue", "referring_word", "展开"), {40}, TOPIC_TURNS["piano"]),
        ("switching", ("switch", "explicit_switch", "换个话题"), set(), set()),
        ("returning", ("switch", "explicit_return", "back to"), {9, 29}, TOPIC_TURNS["lisbon"]),
        ("an exact identifier", ("switch", "return", None), {25}, {23, 24, 25, 26, 27}),
        ("about the conversation", ("continue", "about_conversation", "我们今天都聊了些什么"), {0, 40}, set(range(41))),
        ("nothing relevant", ("switch", "new_topic", None), set(), set()),
    ],
)
def test_the_demo_keeps_what_each_kind_of_question_needs(
    kind: QuestionKind, gate: tuple[str, str, str | None], needed: set[int], allowed: set[int]
) -> None:
    (selection,) = (answer.selection for answer in run_demo(token_budget=4000).answers if answer.question.kind == kind)
    kept = {turn.turn_id for turn in selection.turns}
    assert (selection.gate.decision, selection.gate.reason, selection.gate.cue) == gate
    assert needed <= kept <= allowed
    assert kind != "referring back" or selection.decision(40).why == "newest_turn"
    assert kind != "an exact identifier" or "INV-4035" in selection.decision(25).shared
    assert kind != "about the conversation" or all(kept & turns for turns in TOPIC_TURNS.values())


@pytest.mark.parametrize("budget", [1, 50, 400, DEMO_BUDGET_TOKENS, 10**9])
def test_the_demo_stays_within_any_budget(budget: int) -> None:
    result = run("demo", "--json", "--budget", str(budget))
    assert result.exit_code == 0
    for answer in json.loads(result.stdout)["questions"]:
        assert answer["selection"]["tokens"] <= answer["selection"]["token_budget"] == budget


def test_the_demo_as_json_holds_the_selections_and_nothing_else() -> None:
    shown = json.loads(run("demo", "--json").stdout)
    whole = [{"kind": question.kind, "selection": selection.to_dict()} for question, selection in run_demo().answers]
    assert shown == json.loads(json.dumps({"questions": whole}))


@pytest.mark.parametrize("columns", [80, 120])
def test_the_demo_is_readable_at_common_widths(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.cells import cell_len

    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run("demo").stdout.splitlines()
    assert max(map(cell_len, lines)) <= columns
    assert not any("\x1b" in line for line in lines)
    text = " ".join(line.strip() for line in lines)
    for question, selection in run_demo().answers:
        assert f'{question.kind}: "{question.text}"' in text
        assert f"{len(selection.turns)} of 41 turns, {selection.tokens:,} of {selection.history_tokens:,}" in text
        for turn in selection.turns:
            beginning = " ".join(turn.user.split())[:8]
            assert any(line.split()[:1] == [str(turn.turn_id)] and beginning in line for line in lines)


def test_the_demo_ends_with_a_summary_of_the_seven_questions() -> None:
    summary = run("demo").stdout.rpartition("question ")[2].splitlines()
    for question, selection in run_demo().answers:
        answer = "resumed" if selection.gate.resumed_topic is not None else selection.gate.decision
        words = f"{TABLE[f'gate.{answer}'][0]} ({TABLE[f'gate_reason.{selection.gate.reason}'][0]}"[:24]
        line = next(line for line in summary if line.startswith(question.kind))
        assert words in line
        assert line.split()[-2] in ("100.0", str(round(100 - 100 * selection.tokens / selection.history_tokens, 1)))


# --- select: what it shows ------------------------------------------------------------------------------------------


@each_format_in_some_language
def test_every_format_gives_the_selection_of_the_library(
    written: Callable[[Sequence[tuple[str, str]]], str], language: str, tmp_path: Path
) -> None:
    file = tmp_path / "chat"
    file.write_text(written(PAIRS[language]), encoding="utf-8")
    result = run("select", str(file), QUERIES[language], "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = json.loads(result.stdout)
    assert shown == selection_of(turns_of(PAIRS[language]), QUERIES[language])
    assert 0 in [turn["turn_id"] for turn in shown["turns"]]


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
    total = f"{len(selection['turns'])} of 3 turns, {selection['tokens']} of {selection['history_tokens']} tokens ("
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


def test_why_says_which_budget_would_have_kept_a_turn(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(as_list(PAIRS["english"]), encoding="utf-8")
    result = run("select", str(file), "What was the cache port again?", "--why", "--budget", "1")
    needed = selection_of(turns_of(PAIRS["english"]), "What was the cache port again?", budget=1)
    assert needed["smallest_needed_tokens"] is not None
    assert f"No turn fits: the smallest candidate needs {needed['smallest_needed_tokens']} tokens" in result.stdout
    budgets = [decision["kept_from_tokens"] for decision in needed["decisions"] if decision["kept_from_tokens"]]
    assert budgets
    assert all(f"budget {tokens}" in result.stdout for tokens in budgets)


def test_budget_and_strategy_reach_the_library(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(as_list(CONVERSATION), encoding="utf-8")
    arguments = ("select", str(file), "Redis 缓存的键", "--json", "--strategy", "fill", "--budget", "700")
    expected = selection_of(turns_of(CONVERSATION), "Redis 缓存的键", budget=700, strategy="fill")
    assert json.loads(run(*arguments).stdout) == expected


@pytest.mark.parametrize(
    ("script", "question", "lang", "said"),
    [
        ("english", "New topic: what about cats?", "en", "no turn shares a word with the question."),
        ("chinese", "换个话题，聊聊养猫", "zh", "没有一轮与问题有共同的词。"),
        ("mixed", "New topic: 养猫 needs what?", "en", "no turn shares a word with the question."),
    ],
)
@pytest.mark.parametrize("command", ["select", "explain"])
def test_where_no_turn_is_kept_it_says_what_was_found_and_why_the_nearest_are_left_out(
    command: str, script: str, question: str, lang: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    file, html = tmp_path / "chat.json", tmp_path / "page.html"
    file.write_text(as_list(PAIRS[script]), encoding="utf-8")
    shown = run(command, str(file), question, "--lang", lang)
    assert shown.exit_code == 0
    assert said in shown.stdout
    assert "needed for this question" not in shown.stdout
    pages = [shown.stdout]
    if command == "explain":
        run(command, str(file), question, "--lang", lang, "--html", str(html))
        pages.append(unescape(html.read_text(encoding="utf-8")))
        assert said in pages[1]
    for turn_id in range(3):
        why_not = run("explain", str(file), question, "--lang", lang, "--why-not", str(turn_id)).stdout.splitlines()[0]
        assert all(why_not in page for page in pages)


def test_turns_that_share_too_little_are_not_said_to_share_nothing(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(as_list(PAIRS["english"]), encoding="utf-8")
    question = "New topic: which port did the ship leave, and which cargo, captain and crew did it carry to Lisbon?"
    shown = " ".join(run("select", str(file), question).stdout.split())
    assert "no turn shares enough with the question. Turn 0 is left out: need 0.0" in shown
    assert " is too low after a change of topic (it shares port" in shown
    assert "shares a word" not in shown


@pytest.mark.parametrize("content", ["[]", '{"messages": []}', '[{"role": "system", "content": "be brief"}]'])
def test_a_conversation_without_turns_is_empty_and_no_error(content: str) -> None:
    result = run("select", "-", "anything", stdin=content.encode())
    assert result.exit_code == 0
    assert "the conversation is empty" in result.stdout
    assert "0 of 0 turns, 0 of 0 tokens (0 % saved)" in result.stdout


@pytest.mark.parametrize("query", ["", "  ", "?!", "\udcff", "\x00\x1b[31m"])
def test_a_query_without_a_word_is_answered(query: str) -> None:
    assert run("select", "-", query, stdin=as_list(PAIRS["mixed"]).encode()).exit_code == 0


def test_a_tool_exchange_counts_as_part_of_its_turn() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read_config", "arguments": '{"key": "redis_port"}'}}
    messages = [
        {"role": "user", "content": "Look it up, please."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "redis_port = 6380"},
        {"role": "assistant", "content": "Found it."},
    ]
    result = run("select", "-", "What is redis_port?", "--json", stdin=json.dumps(messages).encode())
    shown = json.loads(result.stdout)
    assert shown["turn_count"] == 1
    assert "redis_port = 6380" in shown["turns"][0]["assistant"]


def test_a_standard_input_is_read_for_a_dash() -> None:
    content = as_pair_lines(PAIRS["chinese"]).encode()
    done = run_process("select", "-", "缓存的端口", "--json", stdin=content, environment={"PYTHONUTF8": "1"})
    assert done.returncode == 0
    assert json.loads(done.stdout) == selection_of(turns_of(PAIRS["chinese"]), "缓存的端口")


# --- select: the question in the file -------------------------------------------------------------------------------


@each_format_in_some_language
def test_a_last_turn_that_is_the_unanswered_query_is_no_history(
    written: Callable[[Sequence[tuple[str, str]]], str], language: str
) -> None:
    pairs = [*PAIRS[language], (QUERIES[language], "")]
    stdin = written(pairs).encode()
    shown = json.loads(run("select", "-", f" {QUERIES[language]}\n", "--json", stdin=stdin).stdout)
    assert shown["turn_count"] == 3


@pytest.mark.cli
def test_an_answered_question_and_another_open_one_stay_in_the_history() -> None:
    from gatekeeper_cli.question import without_current

    turns = (Turn.of("port?", "6380"), Turn.of("And the port of the other one?", ""))
    assert without_current(turns[:1], query="port?") == turns[:1]
    assert without_current(turns, query="port?") == turns
    assert without_current((), query="port?") == ()


@pytest.mark.cli
def test_a_turn_that_waits_for_a_tool_is_unanswered() -> None:
    from gatekeeper_cli.question import without_current

    calling = Message("assistant", "one moment", tool_calls=(ToolCall("c1", "now", "{}"),))
    turn = Turn((Message("user", "time?"), calling), 0, 2)
    assert without_current((turn,), query="time?") == ()


# --- select: files that differ in form ------------------------------------------------------------------------------


@each_format
def test_byte_order_mark_line_ends_and_blank_lines_change_nothing(
    written: Callable[[Sequence[tuple[str, str]]], str],
) -> None:
    for before, line_end in product((b"", b"\xef\xbb\xbf", b"\n \r\n\t", b"\xef\xbb\xbf\n"), ("\n", "\r\n", "\n\n \n")):
        content = before + written(PAIRS["mixed"]).replace("\n", line_end).encode()
        turns = parse_turns(content, name="chat")
        assert [(turn.user_text, turn.assistant_text) for turn in turns] == PAIRS["mixed"], (before, line_end)


def test_a_line_separator_inside_a_text_ends_no_line() -> None:
    pairs = [("one\u2028two\x85three", "four"), ("five", "six")]
    turns = parse_turns(as_pair_lines(pairs).encode(), name="chat")
    assert [(turn.user_text, turn.assistant_text) for turn in turns] == pairs


def test_one_line_with_one_message_or_one_pair_is_a_conversation() -> None:
    assert len(parse_turns(b'{"role": "user", "content": "hi"}', name="chat")) == 1
    assert len(parse_turns(b'{"user": "hi", "assistant": null}', name="chat")) == 1


def test_what_is_no_number_is_read_where_nobody_asks_for_it() -> None:
    assert len(parse_turns(b'[{"role": "user", "content": "hi", "logprob": NaN}]', name="chat")) == 1


texts = st.text(st.characters(codec=None), max_size=40)


@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
def test_any_texts_come_back_from_pair_lines(pairs: list[tuple[str, str]]) -> None:
    content = "\n".join(json.dumps({"user": user, "assistant": assistant}) for user, assistant in pairs)
    turns = parse_turns(content.encode(), name="chat")
    assert [(turn.user_text, turn.assistant_text) for turn in turns] == pairs


# --- select: broken files -------------------------------------------------------------------------------------------

HELLO = '{"role": "user", "content": "hi"}'
PAIR = '{"user": "hi", "assistant": "hello"}'

BROKEN = {
    "empty": (b"", "holds no messages"),
    "only white space": (b"\xef\xbb\xbf \n\n", "holds no messages"),
    "no JSON": (b"hello there", "line 1, column 1: not JSON"),
    "a broken list": (b'[\n{"role": "user",\n "content" "hi"}]', "line 3, column 12: not JSON"),
    "a list without end": (b'[{"role": "user", "content": "hi"}', "line 1, column 35: not JSON"),
    "a broken object": (b'{\n "messages": [,]}', "line 2, column 15: not JSON"),
    "a number": (b"42", 'must be a list of messages or an object with "messages", got a number'),
    "another object": (b'{"a": 1}', "holds no known format: it has the keys 'a'; known are openai, "),
    "messages are no list": (b'{"messages": "hi"}', '"messages" must be a list, got text'),
    "an item is no object": (f'[{HELLO}, "hi"]'.encode(), "message 1 (counting from 0): must be an object, got text"),
    "an unknown role": (f'[{HELLO}, {{"role": "robot"}}]'.encode(), "message 1 (counting from 0): role must be one of"),
    "content is a number": (b'[{"role": "user", "content": 4}]', 'message 0 (counting from 0): "content" must be'),
    "a role is no text": (b'[{"role": 1}]', 'message 0 (counting from 0): "role" must be text'),
    "a list of nothing known": (b'[{"text": "hi"}]', 'message 0 (counting from 0): must hold "role" and "content"'),
    "line 37 is cut": ((f"{HELLO}\n" * 36 + HELLO[:-1]).encode(), "line 37, column 33: not JSON"),
    "line 37 is a list": ((f"{PAIR}\r\n" * 36 + "[]").encode(), "line 37: must be an object, got a list"),
    "line 37 has no user": ((f"{PAIR}\n" * 36 + '{"assistant": "hi"}').encode(), 'line 37: "user" must be text, it is'),
    "line 3 has a null user": ((f"{PAIR}\n" * 2 + '{"user": null}').encode(), 'line 3: "user" must be text, got null'),
    "line 2 has a list": (f'{PAIR}\n{{"user": "a", "assistant": []}}'.encode(), 'line 2: "assistant" must be text'),
    "line 2 has an unknown role": (f'{HELLO}\n{{"role": "bot", "content": ""}}'.encode(), "line 2: role must be one"),
    "line 3 is a pair": (f"{HELLO}\n\n{PAIR}\n".encode(), 'line 3: mixes {"user", "assistant"}'),
    "line 2 is a message": (f"{PAIR}\n{HELLO}\n".encode(), 'line 2: mixes {"user", "assistant"}'),
    "a conversation among messages": (f'{HELLO}\n{{"messages": []}}'.encode(), "line 2: holds a conversation of its"),
    "not UTF-8": (b'[{"role": "user",\n"content": "caf\xe9"}]', "line 2, byte 33: not UTF-8 (0xe9)"),
    "not UTF-8 after a mark": (b'\xef\xbb\xbf["\xff"]', "line 1, byte 5: not UTF-8 (0xff)"),
    "UTF-16": ('[{"role": "user"}]'.encode("utf-16"), "line 1, byte 0: not UTF-8"),
    "NUL": (b'[{"role": "user", "content": "\x00"}]', "line 1, column 31: not JSON"),
    "a deep list": (b"[" * 200_000, "the JSON is nested too deeply"),
    "a deep line": (f"{HELLO}\n".encode() + b'{"a":' * 200_000, "line 2: the JSON is nested too deeply"),
    "a very long number": (b'[{"role": "user", "content": ' + b"9" * 5_000 + b"}]", ""),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_gives_one_line_that_names_the_file_and_the_place(case: str, tmp_path: Path) -> None:
    content, place = BROKEN[case]
    file = tmp_path / "broken chat.json"
    file.write_bytes(content)
    result = run("select", str(file), "hi")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"gatekeeper: {file}: {place}")
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("\n")


def test_a_broken_standard_input_is_named() -> None:
    result = run("select", "-", "hi", stdin=b"[1]")
    expected = "gatekeeper: standard input: message 0 (counting from 0): must be an object, got a number\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", expected)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(lambda folder: folder / "missing.json", "No such file or directory", id="missing"),
        pytest.param(lambda folder: folder, "Is a directory", id="a directory"),
        pytest.param(lambda folder: folder / "a\nb.json", "No such file or directory", id="a line feed in the name"),
        pytest.param(lambda folder: folder / "a\0b.json", "null byte", id="a NUL in the name"),
        pytest.param(lambda folder: folder / ("x" * 5_000), "File name too long", id="a long name"),
    ],
)
def test_a_file_that_cannot_be_opened_gives_one_line(make: Callable[[Path], Path], reason: str, tmp_path: Path) -> None:
    file = make(tmp_path)
    result = run("select", str(file), "hi")
    assert (result.exit_code, result.stdout) == (2, "")
    assert str(tmp_path) in result.stderr
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_file_without_permission_gives_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    # The tests may run as root, whom no file mode keeps out.
    monkeypatch.setattr(Path, "open", refuse)
    file = tmp_path / "secret.json"
    file.touch()
    result = run("select", str(file), "hi")
    assert (result.exit_code, result.stderr) == (2, f"gatekeeper: {file}: Permission denied\n")


@pytest.mark.parametrize("command", [("demo",), ("select", "-", "hi")], ids=["demo", "select"])
def test_a_budget_of_no_tokens_gives_one_line(command: tuple[str, ...]) -> None:
    for budget in ("0", "-1", "-99999999999999999999"):
        result = run(*command, "--budget", budget, stdin=b"[]")
        expected = f"gatekeeper: --budget must be 1 or more tokens, got {budget}\n"
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", expected)


@pytest.mark.parametrize("arguments", [("--budget", "many"), ("--strategy", "most"), ("--surprise",)], ids=" ".join)
def test_a_wrong_option_ends_with_status_2(arguments: tuple[str, ...]) -> None:
    result = run("select", "-", "hi", *arguments, stdin=b"[]")
    assert (result.exit_code, result.stdout) == (2, "")
    assert arguments[0] in result.stderr


def assert_refused_or_read(content: bytes) -> None:
    try:
        turns = parse_turns(content, name="chat.json")
    except FormatError as refused:
        reason = str(refused)
    else:
        assert all(isinstance(turn, Turn) for turn in turns)
        return
    assert reason.startswith("chat.json: ")
    assert len(reason.splitlines()) == 1


@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    assert_refused_or_read(content)


# --- what a terminal or a pipe gets ---------------------------------------------------------------------------------

HOSTILE = "port \x1b[31m\x9b2J\x07\u202eevil\u2066 [bold]x[/] :smile: \ud800 \x00 \U000e0001\U000e0041\u206a end"
UNSHOWN = set("\x1b\x9b\x07\x00\ud800\u202e\u2066\u206a\U000e0001\U000e0041")


def test_control_characters_of_a_text_never_reach_the_terminal() -> None:
    content = json.dumps([{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": HOSTILE}])
    for option in ((), ("--why",), ("--json",)):
        result = run("select", "-", f"the port {HOSTILE}", *option, stdin=content.encode())
        assert result.exit_code == 0
        assert not UNSHOWN & set(result.stdout)


def test_nothing_in_a_text_is_read_as_markup() -> None:
    content = json.dumps([{"role": "user", "content": "[bold]port[/] [/nope] :smile:"}])
    assert "[bold]port[/]" in run("select", "-", "port", stdin=content.encode()).stdout


def test_the_json_of_a_hostile_conversation_parses_to_the_selection() -> None:
    pairs = [(HOSTILE, "你好 6380"), ("port 端口", HOSTILE)]
    result = run("select", "-", f"端口 port {HOSTILE}", "--json", stdin=as_message_lines(pairs).encode())
    assert json.loads(result.stdout) == selection_of(turns_of(pairs), f"端口 port {HOSTILE}")
    assert "你好" in result.stdout


@given(value=st.dictionaries(texts, texts, max_size=3), encoding=st.sampled_from(["utf-8", "cp1252", "ascii", "gbk"]))
def test_json_survives_any_encoding_of_the_output(value: dict[str, str], encoding: str) -> None:
    import io

    from gatekeeper_cli.views import write_json

    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    write_json(value, stream)
    stream.seek(0)
    assert json.loads(stream.read()) == value


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
@pytest.mark.parametrize(
    "arguments",
    [("demo",), ("demo", "--json"), ("select", "-", "hi"), ("select", "-", "hi", "--json")],
    ids=" ".join,
)
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
    assert process.stdout is not None
    process.stdout.close()  # before anything is written: the command waits for its input, or is still starting
    process.stdout = None
    _, errors = process.communicate(b"[]", timeout=60)
    assert errors == b""


# --- words and examples ---------------------------------------------------------------------------------------------


def test_the_version_is_that_of_the_library() -> None:
    assert run("--version").stdout == f"gatekeeper {gatekeeper_core.__version__}\n"


def test_help_names_the_commands_and_their_options() -> None:
    assert {"demo", "select"} <= set(run("--help").stdout.split())
    assert {"--budget", "--strategy", "--json", "--why"} <= set(run("select", "--help").stdout.split())
    assert {"--budget", "--json"} <= set(run("demo", "--help").stdout.split())


def test_a_missing_module_of_another_package_is_not_blamed_on_the_extra() -> None:
    code = f"import sys; sys.modules['gatekeeper_core.selection.gatekeeper'] = None; {MAIN}"
    done = subprocess.run([sys.executable, "-c", code, "demo"], capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert b"pip install" not in done.stderr


@pytest.mark.parametrize(
    "name",
    [
        *("app", "chat", "conversation", "demo", "history_file", "models", "offline", "phrases", "question"),
        *("session", "showable", "terminal", "texts", "token_use", "views"),
    ],
)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(f"gatekeeper_cli.{name}"))
    assert failed == 0
