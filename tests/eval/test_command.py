"""``gatekeeper eval`` as a user runs it: label-free, with a scripted model on loopback, killed and resumed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from collections import Counter
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from tests import command
from tests.case_files import from_file
from tests.chat.server import API_KEY, Behaviour, MiniMaxServer, Slow
from tests.eval.chats import ANSWERS, VERDICTS, reply, write_chats

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.cli, pytest.mark.chat]

PRICES = {"scripted": {"input": 1, "output": 10}}


run = partial(command.run, "eval")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "prices.json").write_text(json.dumps(PRICES), encoding="utf-8")


@pytest.fixture
def chats(tmp_path: Path) -> str:
    return str(write_chats(tmp_path / "chats", *ANSWERS))


def options(server: MiniMaxServer) -> tuple[str, ...]:
    return ("--model", "scripted", "--base-url", server.base_url, "--key-env", "EVAL_KEY", "--prices", "prices.json")


def test_without_a_model_the_label_free_part_is_shown_and_nothing_is_written(chats: str, tmp_path: Path) -> None:
    done = run(chats)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "6 of 6 user turns" in done.stdout
    assert "What users brought up again" in done.stdout
    assert not (tmp_path / "eval.jsonl").exists()
    value = json.loads(run(chats, "--json", "--turns", "2").stdout)
    assert (value["turns"], value["eligible"], value["verdicts"], value["plan"]) == (2, 6, None, None)
    assert value["tokens"]["selected"] < value["tokens"]["whole"] / 5


@pytest.mark.parametrize("extra", [["--dry-run"], []], ids=["dry-run", "asked"])
def test_nothing_is_sent_before_the_user_says_so(chats: str, extra: list[str], tmp_path: Path) -> None:
    with MiniMaxServer(reply) as server:
        done = run(chats, *options(server), *extra, EVAL_KEY=API_KEY)
        assert server.requests == []
    assert "24 requests to send; 0 answers already in the ledger" in done.stdout
    assert re.search(r"input tokens, [\d,]+ output tokens: \$0\.\d+", done.stdout)
    assert done.exit_code == (0 if extra else 2)
    assert ("nothing was sent: add --yes" in done.stderr) is not bool(extra)
    assert not (tmp_path / "eval.jsonl").exists()


def test_the_verdicts_are_shown_in_a_table_as_json_and_as_markdown(chats: str) -> None:
    with MiniMaxServer(reply) as server:
        shown = run(chats, *options(server), "--yes", EVAL_KEY=API_KEY)
        value = json.loads(run(chats, *options(server), "--yes", "--json", EVAL_KEY=API_KEY).stdout)
        page = run(chats, *options(server), "--yes", "--markdown", "--lang", "zh", EVAL_KEY=API_KEY).stdout
        assert len(server.requests) == 22
    assert (shown.exit_code, shown.stderr) == (0, "")
    for words in ("better minus worse", "1 / 5", "worse.json, turn 2: worse", "with the selection: It is 6379.", "$0."):
        assert words in shown.stdout
    assert {f"{word.lower()}.json": outcome for word, outcome in VERDICTS.items()} == {
        each["turn"][0]: each["outcome"] for each in value["verdicts"]["turns"]
    }
    assert value["requests_sent"] == 0
    assert "| 更差 | 1 / 5 | 20.0% |" in page
    assert "* worse.json, turn 2：更差" in page
    assert API_KEY not in shown.stdout + page + json.dumps(value)


def test_a_request_is_printed_as_it_was_sent(chats: str, tmp_path: Path) -> None:
    with MiniMaxServer(reply) as server:
        run(chats, *options(server), "--yes", EVAL_KEY=API_KEY)
        sent = {sha256(each.raw).hexdigest(): each.raw for each in server.requests}
    for line in (tmp_path / "eval.jsonl").read_text(encoding="utf-8").splitlines()[::5]:
        digest = json.loads(line)["request"]
        assert run(chats, "--request", digest).stdout_bytes == sent[digest]
    assert API_KEY not in (tmp_path / "eval.jsonl").read_text(encoding="utf-8")


@from_file("arguments", "words")
def test_wrong_arguments_are_refused_in_one_line(chats: str, arguments: list[str], words: str) -> None:
    done = run(chats, *arguments)
    assert done.exit_code == 2
    assert words in done.stderr.splitlines()[0]


class Hanging:
    """A model that answers so many requests and then lets the next one wait; it says when that has come."""

    def __init__(self, answers: int) -> None:
        self._remaining = answers
        self.waits = threading.Event()

    def __call__(self, body: dict[str, Any]) -> str | Behaviour:
        self._remaining -= 1
        if self._remaining >= 0:
            return reply(body)
        self.waits.set()
        return Slow(60.0)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is a signal of POSIX")
def test_killed_and_resumed_it_asks_nothing_twice(chats: str, tmp_path: Path) -> None:
    model = Hanging(7)
    with MiniMaxServer(model) as server:
        asking = [*command.PROGRAM, "eval", chats, *options(server), "--yes", "--jobs", "1"]
        process = subprocess.Popen(asking, env=os.environ | {"EVAL_KEY": API_KEY}, stdout=subprocess.DEVNULL)
        assert model.waits.wait(60)
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
        answered = server.requests[:7]
    ledger = tmp_path / "eval.jsonl"
    assert len(ledger.read_bytes().splitlines()) == 7
    ledger.write_bytes(
        ledger.read_bytes() + b'{"gatekeeper_eval": 1, "request": "0b9d'
    )  # a line that was being written
    with MiniMaxServer(reply) as server:
        done = run(chats, *options(server), "--yes", EVAL_KEY=API_KEY)
        later = list(server.requests)
    assert (done.exit_code, "eval.jsonl: 1 line cut off" in done.stderr) == (0, True)
    assert len(later) == 22 - 7
    assert set(Counter(each.raw for each in (*answered, *later)).values()) == {1}
