"""``gatekeeper chat`` against a server that speaks MiniMax's protocol: what goes over the wire, and what goes wrong."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_cli.models import minimax_model, usage_calibrator
from gatekeeper_core import Message
from gatekeeper_core.messages import group_turns
from gatekeeper_core.pricing.prices import prices_of_model
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.token_estimate import TokenEstimator
from tests.minimax.server import API_KEY, Answer, Cut, Failure, Garbage, InBody, MidStream, MiniMaxServer, Stall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.minimax.server import Behaviour

count_tokens = TokenEstimator()

pytestmark = [pytest.mark.cli, pytest.mark.minimax]

COMMAND = [sys.executable, "-W", "error", "-c", "from gatekeeper_cli import main; main()", "chat"]
TALKS = {
    "chinese": ["我们的缓存用 6380 端口。", "端口是多少来着？", "换个话题，养猫要准备什么？", "回到缓存：端口是多少？"],
    "english": [
        "Our cache uses port 6380.",
        "Which port was it?",
        "New topic: cat food?",
        "Back to the cache: the port?",
    ],
    "mixed": ["我们的 Redis cache 用 6380。", "port 是多少来着？", "换个话题：cat food？", "Back to the cache：port？"],
}
each_language = pytest.mark.parametrize("language", TALKS)


@pytest.fixture
def server() -> Iterator[MiniMaxServer]:
    with MiniMaxServer(lambda body: f"回答 about {body['messages'][-1]['content'][:12]}") as running:
        yield running


def environment(server: MiniMaxServer | None, **changes: str) -> dict[str, str]:
    url = {} if server is None else {"MINIMAX_API_KEY": API_KEY, "MINIMAX_BASE_URL": server.base_url}
    return dict(os.environ) | {"PYTHONUTF8": "1", "NO_PROXY": "127.0.0.1"} | url | changes


def chat(
    server: MiniMaxServer | None, *arguments: str, lines: Sequence[str] = ("hello",), **changes: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, *arguments],
        input="".join(f"{line}\n" for line in lines),
        env=environment(server, **changes),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert API_KEY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_what_a_model_counts_is_learned_for_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """003-77, 003-95: by model, and the next client goes on where the last one stopped."""
    usage_calibrator.cache_clear()
    asked = "Our cache uses port 6380. 我们的缓存用 6380 端口。"
    usage = {"prompt_tokens": count_tokens(asked) * 3 // 2, "completion_tokens": 1, "total_tokens": 99}
    with MiniMaxServer(lambda _: Answer("ok", usage=usage)) as server:
        for name, value in environment(server).items():
            monkeypatch.setenv(name, value)
        for model_name in ("one", "one", "other"):
            monkeypatch.setenv("MINIMAX_MODEL", model_name)
            model = minimax_model()
            assert model is not None
            assert "".join(model.answer([{"role": "user", "content": asked}])) == "ok"
            model.close()
    learned = usage_calibrator().to_dict()["ratios"]
    assert {name: len(ratios) for name, ratios in learned.items()} == {"one": 2, "other": 1}
    assert usage_calibrator().factor("one") > 1.3
    usage_calibrator.cache_clear()


def recorded(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@each_language
def test_the_model_is_sent_what_the_gatekeeper_chooses(language: str, server: MiniMaxServer, tmp_path: Path) -> None:
    """000-51, 000-52, 000-53: asserted on the wire."""
    from gatekeeper_cli.phrases import shown_dollars

    prices = prices_of_model("MiniMax-M2.7")
    assert prices is not None
    file = tmp_path / "chat.jsonl"
    done = chat(server, "--history", str(file), "--budget", "40", lines=TALKS[language])
    assert (done.returncode, done.stderr) == (0, "")
    gatekeeper, said = ContextGatekeeper(40), list[Message]()
    answers = [message["content"] for message in recorded(file) if message["role"] == "assistant"]
    statuses = [line for line in done.stdout.splitlines() if " tokens sent, " in line]
    assert len(server.requests) == len(answers) == len(statuses) == 4
    for request, question, answer, status in zip(server.requests, TALKS[language], answers, statuses, strict=True):
        messages = gatekeeper.explain(question).to_messages()
        assert request.body["messages"] == messages
        assert f"> {question}\n{answer}\n{status}\n" in done.stdout
        sent = sum(count_tokens(message["content"]) for message in messages)
        assert status.startswith(f"[{sent} tokens sent, ")
        paid = shown_dollars(prices.dollars(Usage(sent, count_tokens(answer))))
        assert status.endswith(f" | the model counted {sent} (0 cached) | {paid}]")
        said += [Message("user", question), Message("assistant", answer)]
        gatekeeper.sync(group_turns(said))


def test_the_head_of_the_file_and_the_pins_are_one_system_message(server: MiniMaxServer, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text('{"role": "system", "content": "Be brief."}\n', encoding="utf-8")
    chat(server, "--history", str(file), lines=["/pin 语言 中文", "hello"])
    assert [message["role"] for message in server.requests[0].body["messages"]] == ["system", "user"]
    head = f"Be brief.\n\n{render_constraints({'语言': '中文'})}"
    assert server.requests[0].body["messages"][0]["content"] == head


@pytest.mark.parametrize("split", [False, True])
def test_thinking_is_neither_shown_nor_stored(split: bool, server: MiniMaxServer, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    server.script(Answer("端口是 6380。", thinking="secret thoughts 想一想", split=split))
    done = chat(server, "--history", str(file), lines=["port?"])
    assert "> port?\n端口是 6380。\n[" in done.stdout
    assert "thoughts" not in done.stdout + file.read_text(encoding="utf-8")
    assert [message["content"] for message in recorded(file)] == ["port?", "端口是 6380。"]


FAULTS: dict[str, tuple[Behaviour, str]] = {
    "no balance": (InBody(1008, "insufficient balance"), "balance"),
    "refused text": (Failure(400, code=1026, message="new_sensitive"), "new_sensitive"),
    "refused request": (Failure(400, code=2013, message="invalid params"), "invalid params"),
    "a cut stream": (Cut(), "cut off"),
    "an error in the stream": (MidStream(("Half ", "an ans"), 1000, "unknown error"), "unknown error"),
    "no JSON": (Garbage(), "JSON"),
    "nothing": (Answer(""), "the model answered with nothing"),
    "only thinking": (Answer("", thinking="hm"), "the model answered with nothing"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_answer_is_one_line_and_the_chat_goes_on(fault: str, server: MiniMaxServer, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    behaviour, reason = FAULTS[fault]
    server.script(Answer("first answer"), behaviour, Answer("third answer"))
    done = chat(server, "--history", str(file), lines=["first", "second", "third"])
    assert (done.returncode, done.stderr) == (1, "")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("no answer: ")]
    assert reason in line
    assert line.endswith("; nothing was recorded")
    assert [message["content"] for message in recorded(file)] == ["first", "first answer", "third", "third answer"]
    assert "second" not in json.dumps(server.requests[-1].body)


def test_a_rate_limit_is_waited_out(server: MiniMaxServer) -> None:
    server.script(Failure(429, code=1002, message="rate limit"), Answer("Here it is."))
    done = chat(server)
    assert "> hello\nHere it is.\n[" in done.stdout
    assert (done.returncode, done.stderr, len(server.requests)) == (0, "", 2)


def test_a_refused_key_is_one_line_without_the_key(server: MiniMaxServer) -> None:
    wrong = API_KEY.replace("0", "9")
    done = chat(server, MINIMAX_API_KEY=wrong)
    assert done.returncode == 1
    assert "no answer: " in done.stdout
    assert "MINIMAX_API_KEY" in done.stdout
    assert wrong not in done.stdout + done.stderr


def test_no_server_is_one_line() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        done = chat(None, MINIMAX_API_KEY=API_KEY, MINIMAX_BASE_URL=url)
    assert done.returncode == 1
    assert done.stdout.count("no answer: MiniMax could not be reached") == 1


def test_the_key_may_stand_in_a_file(server: MiniMaxServer, tmp_path: Path) -> None:
    """000-56: the .env format."""
    env_file = tmp_path / ".env"
    env_file.write_text(f"MINIMAX_API_KEY={API_KEY}\nMINIMAX_BASE_URL={server.base_url}\n", encoding="utf-8")
    done = chat(None, "--env-file", str(env_file))
    assert (done.returncode, done.stderr) == (0, "")
    assert "回答 about hello" in done.stdout
    assert len(server.requests) == 1


def test_the_file_of_the_working_folder_is_read_without_being_named(
    server: MiniMaxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(f"MINIMAX_API_KEY={API_KEY}\nMINIMAX_BASE_URL={server.base_url}\n", encoding="utf-8")
    done = chat(None)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(server.requests) == 1


@pytest.mark.parametrize("content", ["", "MINIMAX_API_KEY=\n", "# MINIMAX_API_KEY=x\n"])
def test_a_file_without_a_key_leads_to_the_scripted_model(content: str, tmp_path: Path) -> None:
    env_file = tmp_path / ".env"
    env_file.write_text(content, encoding="utf-8")
    done = chat(None, "--env-file", str(env_file))
    assert (done.returncode, done.stderr.count("\n")) == (0, 2)
    assert "> hello\nNoted.\n[" in done.stdout


@pytest.mark.parametrize(
    "changes",
    [{"MINIMAX_API_KEY": "你的key"}, {"MINIMAX_API_KEY": "sk test"}, {"MINIMAX_BASE_URL": "ftp://nowhere"}],
    ids=["a placeholder", "a space", "no address"],
)
def test_a_setting_that_cannot_work_is_one_line(changes: dict[str, str]) -> None:
    done = chat(None, **({"MINIMAX_API_KEY": API_KEY} | changes))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("gatekeeper: ")
    assert "你的key" not in done.stderr


def test_offline_asks_no_server(server: MiniMaxServer) -> None:
    done = chat(server, "--offline")
    assert "> hello\nNoted.\n[" in done.stdout
    assert server.requests == []


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("kind", ["SIGKILL", "SIGINT"])
def test_a_chat_that_is_ended_in_the_middle_of_an_answer_keeps_the_turns_before(
    kind: str, server: MiniMaxServer, tmp_path: Path
) -> None:
    file = tmp_path / "chat.jsonl"
    server.script(Answer("first answer"), Stall())
    process = subprocess.Popen(
        [*COMMAND, "--history", str(file)],
        env=environment(server),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    deadline = threading.Timer(60, process.kill)
    deadline.start()
    process.stdin.write(b"first\nsecond\n")
    process.stdin.flush()
    seen = b""
    while b"Half an ans" not in seen:
        piece = os.read(process.stdout.fileno(), 1_000)
        assert piece, seen
        seen += piece
    time.sleep(0.3)  # Python begins to wait for more a moment after it has shown this
    process.send_signal(signal.Signals[kind])
    _, errors = process.communicate(timeout=60)
    deadline.cancel()
    assert process.returncode == (-signal.SIGKILL if kind == "SIGKILL" else 130)
    assert errors == b""
    assert [message["content"] for message in recorded(file)] == ["first", "first answer"]
    assert chat(server, "--history", str(file)).stderr == ""
