"""``gatekeeper convert``: files written whole or not at all, and an account of what did not fit."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_formats import SUFFIXES, WRITABLE, read_conversation
from tests.case_files import from_file
from tests.command import PROGRAM, run
from tests.conversations import parse_turns
from tests.talks import dicts_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.cli

PAIRS = [("Redis 缓存用哪个 port？", "It listens on 6380。"), ("面包要发酵多久？", "About five hours.")]


def message(name: str, sender: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"uuid": name, "sender": sender, "text": "", "content": content}


def claude_export(*titles: str) -> bytes:
    chat = [
        message(f"m{at}", sender, [{"type": "text", "text": text}])
        for at, (sender, text) in enumerate(
            (s, t) for pair in PAIRS for s, t in zip(("human", "assistant"), pair, strict=True)
        )
    ]
    picture = message("p", "human", [{"type": "image"}, {"type": "text", "text": "and this?"}])
    called = message("c", "assistant", [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}])
    rest = [picture, called, message("e", "human", [{"type": "text", "text": "well?"}])]
    conversations = [
        {"uuid": f"u{at}", "name": title, "created_at": "2025-02-03T10:00:00Z", "chat_messages": chat + rest}
        for at, title in enumerate(titles)
    ]
    return json.dumps(conversations).encode()


@pytest.fixture
def export(tmp_path: Path) -> str:
    file = tmp_path / "conversations.json"
    file.write_bytes(claude_export("端口 ports"))
    return str(file)


@pytest.mark.parametrize(("suffix", "form"), SUFFIXES.items())
def test_the_name_of_the_file_tells_its_format(suffix: str, form: str, export: str, tmp_path: Path) -> None:
    out = tmp_path / f"out{suffix.upper()}"
    assert run("convert", export, str(out)).exit_code == 0
    again = read_conversation(str(out))
    assert again.form == form.removesuffix("-lines")
    assert [turn.user_text for turn in again.turns][:2] == [user for user, _ in PAIRS]
    assert out.read_text("utf-8").startswith("[") is (suffix == ".json")


@pytest.mark.parametrize("form", WRITABLE)
def test_what_was_left_out_is_said_by_kind(form: str, export: str) -> None:
    result = run("convert", export, "-", "--to", form)
    assert result.exit_code == 0
    assert "gatekeeper: left out: " in result.stderr
    assert "1 image" in result.stderr
    assert "1 tool call without a result" in result.stderr
    assert parse_turns(result.stdout_bytes, name=form)
    again = read_conversation(io.BytesIO(result.stdout_bytes))
    assert (", 1 tool call\n" in result.stderr) is not any(message.tool_calls for message in again.messages)


def test_the_account_as_json_names_everything(export: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out.md")
    result = run("convert", export, out, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {
        "from": "claude",
        "to": "markdown",
        "out": out,
        "written": True,
        "conversation": {"number": 1, "id": "u0", "title": "端口 ports", "created": "2025-02-03"},
        "messages": 7,
        "turns": 4,
        "left_out": {"reading": {"image": 1}, "writing": {"tool_call": 1}},
        "kept_as_it_is": {"unanswered-tool-call": 1},
        "repeated_speakers": 0,
    }


def test_strict_writes_nothing_where_something_would_be_left_out(export: str, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    result = run("convert", export, str(out), "--strict")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "left out: 1 image" in result.stderr
    assert not out.exists()
    account = json.loads(run("convert", export, str(out), "--strict", "--json").stdout)
    assert account["written"] is False
    plain = b'[{"role": "user", "content": "hi"}]'
    assert run("convert", "-", str(out), "--strict", stdin=plain).exit_code == 0
    assert out.read_text() == '{"role": "user", "content": "hi"}\n'


def test_one_of_many_conversations_is_named_as_the_refusal_says(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_bytes(claude_export("ports", "bread \x1b[31m\u202e", "piano"))
    refused = run("convert", str(file), "-", "--to", "pairs")
    assert (refused.exit_code, refused.stdout) == (2, "")
    first, *listed = refused.stderr.splitlines()
    assert "holds 3 conversations: choose one with --conversation NUMBER" in first
    assert [line.split()[:3] for line in listed] == [
        ["1", "2025-02-03", "ports"],
        ["2", "2025-02-03", "bread"],
        ["3", "2025-02-03", "piano"],
    ]
    assert not set("\x1b\u202e") & set(refused.stderr)
    for which in ("3", "u2", "Piano"):
        assert run("convert", str(file), "-", "--to", "pairs", "--conversation", which).exit_code == 0
    selected = run("select", str(file), "Which port?", "--conversation", "1")
    assert selected.exit_code == 0
    assert "left out: 1 image" in selected.stderr
    assert json.loads(run("select", str(file), "port", "--conversation", "1", "--json").stdout)["left_out"] == {
        "image": 1
    }


def test_the_list_shows_every_conversation_and_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_bytes(claude_export("ports", "面包"))
    shown = run("convert", "--list", str(file))
    assert shown.exit_code == 0
    assert [line.split() for line in shown.stdout.splitlines()[2:]] == [
        ["1", "2025-02-03", "ports", "u0"],
        ["2", "2025-02-03", "面包", "u1"],
    ]
    as_json = json.loads(run("convert", "--list", str(file), "--json").stdout)
    assert as_json["conversations"][1] == {"number": 2, "id": "u1", "title": "面包", "created": "2025-02-03"}
    assert run("convert", "--list", "-", stdin=claude_export("x")).exit_code == 0


@from_file("arguments", "reason")
def test_wrong_arguments_give_one_line_and_leave_no_file(
    arguments: list[str], reason: str, export: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("convert", export, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["conversations.json"]


def test_a_file_that_is_there_is_replaced_on_demand_alone_and_keeps_its_mode(export: str, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("precious")
    out.chmod(0o640)
    link = tmp_path / "link.jsonl"
    link.symlink_to(out)
    refused = run("convert", export, str(link))
    assert (refused.exit_code, out.read_text()) == (2, "precious")
    assert "already exists; --force overwrites it" in refused.stderr
    assert run("convert", export, str(link), "--force").exit_code == 0
    assert link.is_symlink()
    assert read_conversation(str(out)).messages
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert run("convert", export, str(tmp_path / "new.json")).exit_code == 0
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["conversations.json", "link.jsonl", "new.json", "out.jsonl"]


def test_a_pipe_gets_bytes_in_utf_8_whatever_the_locale() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    hostile = json.dumps([{"role": "user", "content": "端口 \ud800 \u202e\x00"}]).encode()
    done = subprocess.run(
        [*PROGRAM, "convert", "-", "-", "--to", "markdown"],
        input=hostile,
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"gatekeeper: left out: 1 half of a character\n")
    assert "端口" in done.stdout.decode("utf-8")


@pytest.mark.parametrize(("language", "remark"), [("en_GB", "4 messages have the same"), ("zh_CN", "4 条消息与前一条")])
def test_doubled_messages_ring_a_bell(language: str, remark: str, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    messages = dicts_of(PAIRS)
    file.write_text(json.dumps([message for message in messages for _ in range(2)]), "utf-8")
    for command in (["select", file, "port?"], ["convert", file, "-", "--to", "pairs"]):
        assert remark in run(*command, LC_ALL=f"{language}.UTF-8", LANGUAGE=language).stderr
    file.write_text(json.dumps(messages), "utf-8")
    assert "follow one of the same speaker" not in run("select", str(file), "port?").stderr
