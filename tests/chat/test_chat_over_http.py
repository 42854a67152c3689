"""``gatekeeper chat`` against a server that speaks MiniMax's protocol: what goes over the wire, and what goes wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_core import Message
from gatekeeper_core.messages import group_turns
from gatekeeper_core.pricing.prices import prices_of_model
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.token_estimate import TokenEstimator
from tests.case_files import from_file
from tests.chat.server import API_KEY, Answer, Cut, MidStream, MiniMaxServer
from tests.command import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from typer.testing import Result

    from tests.chat.server import Behaviour

count_tokens = TokenEstimator()

pytestmark = pytest.mark.cli


@pytest.fixture
def server() -> Iterator[MiniMaxServer]:
    with MiniMaxServer(lambda body: f"回答 about {body['messages'][-1]['content'][:12]}") as running:
        yield running


def chat(server: MiniMaxServer | None, *arguments: object, lines: Sequence[str] = ("hello",), **changes: str) -> Result:
    address = {"MINIMAX_API_KEY": API_KEY, "MINIMAX_BASE_URL": server.base_url} if server else {}
    done = run("chat", *arguments, stdin="\n".join(lines), **{**address, **changes})
    assert API_KEY not in done.stdout + done.stderr
    return done


def recorded(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@from_file("questions")
def test_the_model_is_sent_what_the_gatekeeper_chooses(
    questions: list[str], server: MiniMaxServer, tmp_path: Path
) -> None:
    """000-51, 000-52, 000-53: asserted on the wire."""
    from gatekeeper_cli.explanation import shown_dollars

    prices = prices_of_model("MiniMax-M2.7")
    file = tmp_path / "chat.jsonl"
    done = chat(server, "--history", file, "--budget", "40", lines=questions)
    assert (done.exit_code, done.stderr) == (0, "")
    gatekeeper, history = ContextGatekeeper(40), list[Message]()
    answers = [message["content"] for message in recorded(file) if message["role"] == "assistant"]
    statuses = [line for line in done.stdout.splitlines() if " tokens sent, " in line]
    assert len(server.requests) == len(answers) == len(statuses) == 4
    for request, question, answer, status in zip(server.requests, questions, answers, statuses, strict=True):
        messages = gatekeeper.explain(question).to_messages()
        assert request.body["messages"] == messages
        assert f"> {question}\n{answer}\n{status}\n" in done.stdout
        sent = sum(count_tokens(message["content"]) for message in messages)
        assert status.startswith(f"[{sent} tokens sent, ")
        paid = shown_dollars(prices.dollars(Usage(sent, count_tokens(answer))))
        assert status.endswith(f" | model count {sent} (0 cached) | {paid}]")
        history += [Message("user", question), Message("assistant", answer)]
        gatekeeper.sync(group_turns(history))


FAULTS: dict[str, tuple[Behaviour, str]] = {
    "a cut stream": (Cut(), "cut off"),
    "an error in the stream": (MidStream(("Half ", "an ans"), 1000, "unknown error"), "unknown error"),
    "nothing": (Answer(""), "the model returned an empty answer"),
    "only thinking": (Answer("", thinking="hm"), "the model returned an empty answer"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_answer_is_one_line_and_the_chat_goes_on(fault: str, server: MiniMaxServer, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    behaviour, reason = FAULTS[fault]
    server.script(Answer("first answer"), behaviour, Answer("third answer"))
    done = chat(server, "--history", file, lines=["first", "second", "third"])
    assert (done.exit_code, done.stderr) == (1, "")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("no answer: ")]
    assert reason in line
    assert line.endswith("; nothing was saved")
    assert [message["content"] for message in recorded(file)] == ["first", "first answer", "third", "third answer"]
    assert "second" not in json.dumps(server.requests[-1].body)


def test_any_address_can_be_named(server: MiniMaxServer) -> None:
    done = chat(server, "--base-url", server.base_url, "--model", "qwen3", "--key-env", "OTHER_KEY", OTHER_KEY=API_KEY)
    assert (done.exit_code, done.stderr) == (0, "")
    assert server.requests[0].body["model"] == "qwen3"
    with MiniMaxServer(api_key=None) as local:
        assert chat(None, "--base-url", local.base_url, "--model", "qwen3").exit_code == 0
        assert "authorization" not in local.requests[0].headers


@from_file("arguments", "words")
def test_an_address_that_cannot_work_is_one_line(arguments: list[str], words: str) -> None:
    done = chat(None, *arguments)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert words in done.stderr
