"""The client over real HTTP on loopback: answers, streams, every kind of failure, and a key that never shows."""

from __future__ import annotations

import copy
import json
import logging
import os
import pickle
import socket
import threading
import traceback
from typing import TYPE_CHECKING, Any

import pytest

import gatekeeper_minimax
from gatekeeper_core.calibration import UsageCalibrator
from gatekeeper_core.errors import ConfigError, GatekeeperError, MessageFormatError
from gatekeeper_core.messages import Message
from gatekeeper_minimax import (
    MiniMaxAuthError,
    MiniMaxBalanceError,
    MiniMaxClient,
    MiniMaxConfig,
    MiniMaxConnectionError,
    MiniMaxContentError,
    MiniMaxError,
    MiniMaxNoKeyError,
    MiniMaxRateLimitError,
    MiniMaxRequestError,
    MiniMaxResponseError,
    MiniMaxServerError,
    Usage,
)
from gatekeeper_minimax.stream import MAX_LINE_BYTES
from tests.minimax.server import (
    API_KEY,
    Answer,
    Behaviour,
    Cut,
    Failure,
    Garbage,
    InBody,
    MidStream,
    MiniMaxServer,
    Redirect,
    Slow,
    Stall,
)
from tests.timing import ALLOWANCE, least_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.minimax

ASK = [{"role": "user", "content": "缓存用哪个 port？"}]
TOOL = {"type": "function", "function": {"name": "lookup"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": '{"key": "端口"}'}}


@pytest.fixture
def server() -> Iterator[MiniMaxServer]:
    with MiniMaxServer() as running:
        yield running


class Patience:
    """Notes the waits, and does not wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


def client_of(
    server: MiniMaxServer,
    sleep: Callable[[float], None] | None = None,
    calibrator: UsageCalibrator | None = None,
    **settings: Any,
) -> MiniMaxClient:
    config = MiniMaxConfig(base_url=server.base_url, **{"read_timeout_seconds": 5.0, **settings})
    patience = sleep or Patience()
    return MiniMaxClient(API_KEY, config=config, sleep=patience, jitter=lambda: 1.0, calibrator=calibrator)


def whole(client: MiniMaxClient, **arguments: Any) -> tuple[str, Any]:
    reply = client.chat(ASK, **arguments)
    return reply.text, reply


def streamed(client: MiniMaxClient, **arguments: Any) -> tuple[str, Any]:
    with client.stream(ASK, **arguments) as stream:
        return "".join(stream), stream.reply


both_ways = pytest.mark.parametrize("ask", [whole, streamed])
TEXTS = {
    "english": "The port is 6380.",
    "chinese": "缓存监听 6380 端口，别忘了。",
    "mixed": "Redis 用 6380 port。\n\n好的。",
}


# --- answers --------------------------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(
    "variant", [{}, {"done": False}, {"comments": True, "line_end": "\r\n"}, {"cut_characters": True}, {"usage": None}]
)
def test_an_answer_comes_as_it_was_said(server: MiniMaxServer, ask: Any, text: str, variant: dict[str, Any]) -> None:
    """000-50: whole or in pieces, with and without the end mark, comments, characters cut in two."""
    server.script(Answer(text, **variant))
    with client_of(server) as client:
        said, reply = ask(client)
    assert said == reply.text == text
    assert reply.finish_reason == "stop"
    assert reply.message == {"role": "assistant", "content": text}
    assert (reply.usage is None) == ("usage" in variant)
    assert reply.request_id == f"{1:032x}"


@both_ways
def test_the_request_is_what_the_api_takes(server: MiniMaxServer, ask: Any) -> None:
    with client_of(server, max_completion_tokens=100, temperature=0.5, model="MiniMax-M2") as client:
        ask(client)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {API_KEY}"
    assert request.headers["content-type"] == "application/json"
    expected = {"model": "MiniMax-M2", "messages": ASK, "max_completion_tokens": 100, "temperature": 0.5}
    streaming = {"stream": True, "stream_options": {"include_usage": True}} if ask is streamed else {"stream": False}
    assert request.body == {**expected, **streaming}
    assert "缓存用哪个" in request.raw.decode("utf-8")


@both_ways
def test_usage_calibrates_the_estimate(server: MiniMaxServer, ask: Any) -> None:
    """003-77, 003-95: what the model counts for a prompt is set against what was estimated for it."""
    calibrator = UsageCalibrator()
    tools = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]
    estimated = sum(calibrator.base(message["content"]) for message in ASK)
    usage = {"prompt_tokens": estimated * 3 // 2, "completion_tokens": 1, "total_tokens": estimated * 3 // 2 + 1}
    server.script(Answer("ok", usage=usage), Answer("ok", usage=None), Answer("ok", usage=usage))
    with client_of(server, calibrator=calibrator) as client:
        ask(client)
        ask(client)
        model = client.config.model
        assert calibrator.factor(model) == round(estimated * 3 // 2 / estimated, 4)
        assert [len(ratios) for ratios in calibrator.to_dict()["ratios"].values()] == [1]
        ask(client, tools=tools)
        assert calibrator.factor(model) < 1.45  # the tools are a part of the prompt


@both_ways
def test_usage_is_returned(server: MiniMaxServer, ask: Any) -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    server.script(
        Answer("ok", usage={**usage, "prompt_tokens_details": {"cached_tokens": 5}}), Answer("ok", usage=usage)
    )
    with client_of(server) as client:
        assert ask(client)[1].usage == Usage(11, 7, cached_tokens=5)
        assert ask(client)[1].usage == Usage(11, 7)


@both_ways
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize(
    ("thinking", "text"),
    [("用户想要端口。", "是 6380。"), ("They want the port.", "It is 6380."), ("用户问 port。", "Redis 用 6380。")],
)
def test_thinking_is_told_apart_and_kept_in_the_message(
    server: MiniMaxServer, ask: Any, split: bool, thinking: str, text: str
) -> None:
    """000-50: in the content or beside it; the message is what a tool loop has to send back."""
    server.script(Answer(text, thinking=thinking))
    with client_of(server, reasoning_split=split or None) as client:
        said, reply = ask(client)
    assert (said, reply.text, reply.thinking) == (text, text, thinking)
    inline = f"<think>\n{thinking}\n</think>\n\n{text}"
    assert reply.message["content"] == (text if split else inline)
    details = [{"type": "reasoning.text", "text": thinking}] if split else None
    assert reply.message.get("reasoning_details") == details
    assert server.requests[0].body.get("reasoning_split") == (True if split else None)


@both_ways
def test_tool_calls_are_read_and_can_be_sent_back(server: MiniMaxServer, ask: Any) -> None:
    """000-50: within an open tool loop the thinking goes back as it came; after it, it does not."""
    server.script(
        Answer("", thinking="look it up", tool_calls=(CALL,)), Answer("6380", thinking="found"), Answer("yes")
    )
    with client_of(server) as client:
        _, reply = ask(client, tools=[TOOL])
        assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
            ("c1", "lookup", '{"key": "端口"}')
        ]
        assert reply.finish_reason == "tool_calls"
        loop = [*ASK, reply.message, {"role": "tool", "tool_call_id": "c1", "content": "6380"}]
        answer = client.chat(loop, tools=[TOOL])
        client.chat([*loop, answer.message, {"role": "user", "content": "sure?"}])
    first, second, third = (request.body for request in server.requests)
    assert first["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert second["messages"][1]["content"].startswith("<think>\nlook it up\n</think>")
    assert "think" not in json.dumps(third["messages"])
    assert third["messages"][1]["tool_calls"][0]["id"] == "c1"
    assert third["messages"][3]["content"] == "6380"


@both_ways
def test_an_answer_that_was_all_thinking_is_empty(server: MiniMaxServer, ask: Any) -> None:
    server.script(Answer("", pieces=("<think>\nand so", " on and on"), finish_reason="length"))
    with client_of(server) as client:
        said, reply = ask(client)
    assert (said, reply.thinking, reply.finish_reason) == ("", "and so on and on", "length")


def test_a_whole_answer_in_place_of_a_stream_is_taken(server: MiniMaxServer) -> None:
    body = {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "whole"}}]}
    server.script(Garbage(json.dumps(body).encode(), content_type="application/json"))
    with client_of(server) as client:
        assert streamed(client)[0] == "whole"


def test_pieces_come_while_the_answer_is_still_being_made(server: MiniMaxServer) -> None:
    server.script(Stall(("first ", "second"), seconds=60))
    with client_of(server, read_timeout_seconds=0.5) as client, client.stream(ASK) as stream:
        pieces = iter(stream)
        assert next(pieces) == "first "
        with pytest.raises(RuntimeError, match="has not come to its end"):
            _ = stream.reply
        assert next(pieces) == "second"
        assert stream.text == "first second"


def test_a_stream_without_chunks_comes_in_pieces_too() -> None:
    """Some gateways answer in HTTP/1.0: until the connection closes."""
    line = 'data: {"choices": [{"delta": {"content": "%s"}, "finish_reason": %s}]}\n\n'
    release = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            asked = b""
            while not asked.endswith(b"}"):
                asked += connection.recv(65_536)
            connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            connection.sendall((line % ("first", "null")).encode())
            release.wait(30)
            connection.sendall((line % ("last", '"stop"')).encode())

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        config = MiniMaxConfig(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}/v1", read_timeout_seconds=2)
        with MiniMaxClient(API_KEY, config=config) as client, client.stream(ASK) as stream:
            pieces = iter(stream)
            assert next(pieces) == "first"
            release.set()
            assert list(pieces) == ["last"]
        thread.join()


def test_a_long_line_costs_no_more_without_chunks(server: MiniMaxServer) -> None:
    line = 'data: {"choices": [{"delta": {"content": "%s"}, "finish_reason": "stop"}]}' % ("x" * 2**20)

    def work_of(content_type: str | None) -> Callable[[], object]:
        def read() -> None:
            body = line if content_type else line.removeprefix("data: ")
            server.script(Garbage(body.encode(), content_type=content_type))
            assert len(streamed(client)[0]) == 2**20

        return read

    with client_of(server) as client:
        chunked, plain = (least_seconds(work_of(kind)) for kind in (None, "text/event-stream"))
    assert plain <= 3 * chunked + ALLOWANCE


def test_a_line_without_end_is_an_error_with_the_text_so_far(server: MiniMaxServer) -> None:
    begun = b'data: {"choices": [{"delta": {"content": "half"}}]}\n\ndata: '
    body = begun.ljust(MAX_LINE_BYTES + len(begun) + 1, b"x")
    server.script(Garbage(body, content_type="text/event-stream"))
    with client_of(server) as client, client.stream(ASK) as stream, pytest.raises(MiniMaxResponseError) as caught:
        list(stream)
    assert caught.value.partial == "half"
    assert f"a line of more than {MAX_LINE_BYTES} bytes" in str(caught.value)


def test_a_stream_that_is_given_up_closes_its_connection(server: MiniMaxServer) -> None:
    server.script(Answer("one two three " * 50, pause_seconds=0.01))
    with client_of(server) as client:
        stream = client.stream(ASK)
        assert next(iter(stream))
        stream.close()
        assert client.chat(ASK).text == "Hello."


# --- failures -------------------------------------------------------------------------------------------------------

LIMITED = Failure(429, code=1002, message="rate limit")


@both_ways
@pytest.mark.parametrize(
    "failures",
    [
        (LIMITED,),
        (Failure(429),),
        (Failure(500), Failure(503)),
        (Failure(529, body=b"<html>overloaded</html>"),),
        (InBody(1002, "rate limit"), InBody(1000, "unknown error")),
        (Failure(429, code=2045, message="rate growth limit"), InBody(1024, "internal error"), Failure(502)),
    ],
)
def test_limits_and_faults_of_the_server_are_tried_again(
    server: MiniMaxServer, ask: Any, failures: tuple[Behaviour, ...]
) -> None:
    """000-50: 429 and 5xx, and the codes that mean the same under HTTP 200."""
    server.script(*failures, Answer("at last"))
    patience = Patience()
    with client_of(server, patience) as client:
        assert ask(client)[0] == "at last"
    assert len(server.requests) == len(failures) + 1
    assert patience.waits == [1.0, 2.0, 4.0][: len(failures)]
    assert len({request.raw for request in server.requests}) == 1


NEVER_AGAIN: list[tuple[Behaviour, type[MiniMaxError], int | None, int | None]] = [
    (
        Failure(400, code=2013, message="invalid params, tool result's tool id not found"),
        MiniMaxRequestError,
        400,
        2013,
    ),
    (Failure(401, code=1004, message="login fail"), MiniMaxAuthError, 401, 1004),
    (Failure(403), MiniMaxAuthError, 403, None),
    (Failure(402), MiniMaxBalanceError, 402, None),
    (Failure(429, code=1008, message="insufficient balance"), MiniMaxBalanceError, 429, 1008),
    (Failure(429, code=2056, message="usage limit exceeded"), MiniMaxBalanceError, 429, 2056),
    (Failure(404, body=b"404 page not found"), MiniMaxRequestError, 404, None),
    (Failure(422, body={"error": "unprocessable"}), MiniMaxRequestError, 422, None),
    (Failure(400, body={"error": {"message": "bad", "code": 400}}), MiniMaxRequestError, 400, None),
    (InBody(1004, "not authorized"), MiniMaxAuthError, 200, 1004),
    (InBody(2049, "invalid api key"), MiniMaxAuthError, 200, 2049),
    (InBody(1008, "insufficient balance"), MiniMaxBalanceError, 200, 1008),
    (InBody(1026, "input new_sensitive"), MiniMaxContentError, 200, 1026),
    (InBody(1027, "output new_sensitive"), MiniMaxContentError, 200, 1027),
    (InBody(2013, "invalid params"), MiniMaxRequestError, 200, 2013),
    (InBody(9999, "something new"), MiniMaxRequestError, 200, 9999),
    (Redirect("https://elsewhere.example/v1"), MiniMaxRequestError, 307, None),
    (Garbage(content_type="application/json"), MiniMaxResponseError, 200, None),
    (Garbage(b"[]", content_type="application/json"), MiniMaxResponseError, 200, None),
    (Garbage(b'{"choices": []}', content_type="application/json"), MiniMaxResponseError, 200, None),
    (
        Garbage(b'{"choices": [{"message": {"content": 7}}]}', content_type="application/json"),
        MiniMaxResponseError,
        None,
        None,
    ),
]


@both_ways
@pytest.mark.parametrize(("failure", "kind", "status", "code"), NEVER_AGAIN, ids=lambda value: repr(value)[:40])
def test_other_errors_are_told_at_once(
    server: MiniMaxServer, ask: Any, failure: Behaviour, kind: type[MiniMaxError], status: int | None, code: int | None
) -> None:
    """000-50: never tried again, and each told by its own type."""
    server.script(failure)
    patience = Patience()
    with client_of(server, patience) as client, pytest.raises(MiniMaxError) as caught:
        ask(client)
    assert type(caught.value) is kind
    assert (caught.value.status, caught.value.code) == (status, code)
    assert len(server.requests) == 1
    assert patience.waits == []


@both_ways
def test_the_last_try_tells_its_error(server: MiniMaxServer, ask: Any) -> None:
    server.script(LIMITED, Failure(500), Failure(429, code=1002, message="rate limit", headers=(("Retry-After", "9"),)))
    patience = Patience()
    with client_of(server, patience, max_attempts=3) as client, pytest.raises(MiniMaxRateLimitError) as caught:
        ask(client)
    error = caught.value
    assert (error.status, error.code, error.retry_after_seconds) == (429, 1002, 9.0)
    assert error.request_id == f"{3:032x}"
    assert "rate limit (HTTP 429, code 1002, request" in str(error)
    assert len(server.requests) == 3
    assert len(patience.waits) == 2


@pytest.mark.parametrize(
    ("asked", "waited"),
    [("7", 7.0), ("0.2", 1.0), ("900", 30.0), ("soon", 1.0), ("-5", 1.0), ("inf", 1.0), ("nan", 1.0)],
)
def test_a_wait_that_the_server_asks_for_is_kept(server: MiniMaxServer, asked: str, waited: float) -> None:
    server.script(Failure(429, headers=(("Retry-After", asked),)), Answer("ok"))
    patience = Patience()
    with client_of(server, patience) as client:
        client.chat(ASK)
    assert patience.waits == [waited]


def test_waits_double_up_to_the_longest_and_vary_by_half(server: MiniMaxServer) -> None:
    server.script(*[Failure(503)] * 7)
    patience = Patience()
    config = MiniMaxConfig(base_url=server.base_url, max_attempts=8, backoff_seconds=2, max_backoff_seconds=20)
    with MiniMaxClient(API_KEY, config=config, sleep=patience, jitter=lambda: 0.0) as client:
        client.chat(ASK)
    assert patience.waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0]


def test_a_stream_that_is_cut_off_tells_what_had_come(server: MiniMaxServer) -> None:
    server.script(Cut(("缓存用 ", "6380")))
    with client_of(server) as client, client.stream(ASK) as stream, pytest.raises(MiniMaxResponseError) as caught:
        list(stream)
    assert caught.value.partial == "缓存用 6380"
    assert "cut off" in str(caught.value)
    assert len(server.requests) == 1


def test_a_stream_that_ends_without_a_reason_is_cut_off(server: MiniMaxServer) -> None:
    server.script(Garbage(b'data: {"choices": [{"delta": {"content": "half"}}]}\n\n', content_type="text/event-stream"))
    with client_of(server) as client, client.stream(ASK) as stream, pytest.raises(MiniMaxResponseError) as caught:
        list(stream)
    assert caught.value.partial == "half"


def test_an_answer_that_is_cut_off_is_an_error(server: MiniMaxServer) -> None:
    server.script(Cut())
    with client_of(server) as client, pytest.raises(MiniMaxResponseError, match="cut off"):
        client.chat(ASK)


def test_a_stream_of_something_else_is_an_error(server: MiniMaxServer) -> None:
    server.script(Garbage(b"{not json"), Garbage(b"[1]"))
    with client_of(server) as client:
        with pytest.raises(MiniMaxResponseError, match=r"no JSON$"):
            streamed(client)
        with pytest.raises(MiniMaxResponseError, match=r"no JSON object$"):
            streamed(client)


def test_an_error_in_the_middle_of_a_stream_is_told_and_not_tried_again(server: MiniMaxServer) -> None:
    server.script(MidStream(("one ", "two"), 1000, "unknown error"))
    with client_of(server) as client, client.stream(ASK) as stream:
        with pytest.raises(MiniMaxServerError) as caught:
            list(stream)
        assert stream.text == "one two"
    assert caught.value.code == 1000
    assert len(server.requests) == 1


def test_an_error_in_place_of_the_first_piece_is_tried_again(server: MiniMaxServer) -> None:
    server.script(MidStream((), 1002, "rate limit"), Answer("ok"))
    with client_of(server) as client:
        assert streamed(client)[0] == "ok"


@both_ways
def test_a_server_that_says_nothing_is_waited_for_so_long_and_no_longer(server: MiniMaxServer, ask: Any) -> None:
    server.script(Slow(60))
    with client_of(server, read_timeout_seconds=0.2) as client, pytest.raises(MiniMaxConnectionError, match="silent"):
        ask(client)
    assert len(server.requests) == 1


@both_ways
def test_a_server_that_falls_silent_is_waited_for_so_long_and_no_longer(server: MiniMaxServer, ask: Any) -> None:
    server.script(Stall())
    with client_of(server, read_timeout_seconds=0.2) as client, pytest.raises(MiniMaxConnectionError, match="silent"):
        ask(client)


@both_ways
def test_no_server_is_told_at_once(ask: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = MiniMaxClient(API_KEY, config=MiniMaxConfig(base_url=f"http://127.0.0.1:{port}/v1"), sleep=Patience())
    with client, pytest.raises(MiniMaxConnectionError, match="could not be reached: ConnectionError"):
        ask(client)


def test_the_key_does_not_follow_a_redirect(server: MiniMaxServer) -> None:
    with MiniMaxServer() as other:
        server.script(Redirect(f"{other.base_url}/chat/completions"))
        with client_of(server) as client, pytest.raises(MiniMaxRequestError, match="MINIMAX_BASE_URL"):
            client.chat(ASK)
        assert other.requests == []


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([], MessageFormatError),
        ([{"role": "system", "content": "be brief"}], MessageFormatError),
        ([{"role": "robot", "content": "hi"}], MessageFormatError),
        ([*ASK, {"role": "tool", "tool_call_id": "c9", "content": "42"}], MessageFormatError),
        (["hello"], TypeError),
    ],
)
def test_messages_that_cannot_be_sent_are_refused_before_anything_is(
    server: MiniMaxServer, messages: Any, error: type[Exception]
) -> None:
    with client_of(server) as client:
        with pytest.raises(error):
            client.chat(messages)
        with pytest.raises(error):
            client.stream(messages)
    assert server.requests == []


@pytest.mark.parametrize(
    "settings",
    [
        {"base_url": "api.minimax.io/v1"},
        {"base_url": "ftp://api.minimax.io"},
        {"base_url": "https://"},
        {"base_url": "https://name:s3cr3t@api.minimax.io/v1"},
        {"base_url": "https://api.minimax.io/v1?x=1"},
        {"base_url": "http://[::1"},
        {"model": " "},
        {"connect_timeout_seconds": 0},
        {"read_timeout_seconds": -1},
        {"read_timeout_seconds": float("nan")},
        {"max_attempts": 0},
        {"backoff_seconds": -1},
        {"max_backoff_seconds": -0.1},
        {"max_completion_tokens": 0},
        {"temperature": 2.5},
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        MiniMaxConfig(**settings)
    assert "s3cr3t" not in str(caught.value)


def test_settings_of_a_wrong_type_are_refused() -> None:
    with pytest.raises(TypeError, match="base_url"):
        MiniMaxConfig(base_url=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="max_attempts"):
        MiniMaxConfig(max_attempts=2.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="api_key"):
        MiniMaxClient(None)  # type: ignore[arg-type]


# --- the environment ------------------------------------------------------------------------------------------------


def test_the_environment_gives_key_address_and_model(server: MiniMaxServer) -> None:
    """000-50, 000-56."""
    env = {"MINIMAX_API_KEY": f" {API_KEY}\n", "MINIMAX_BASE_URL": server.base_url, "MINIMAX_MODEL": "MiniMax-M2"}
    with MiniMaxClient.from_env(env=env, config=MiniMaxConfig(max_attempts=1, model="other")) as client:
        assert client.chat(ASK).text == "Hello."
        assert (client.config.model, client.config.max_attempts) == ("MiniMax-M2", 1)


def test_the_defaults_are_the_international_address_and_a_model_of_today() -> None:
    with MiniMaxClient.from_env(env={"MINIMAX_API_KEY": API_KEY, "MINIMAX_MODEL": ""}) as client:
        assert client.config == MiniMaxConfig()
        assert repr(client) == "MiniMaxClient(base_url='https://api.minimax.io/v1', model='MiniMax-M2.7')"


def test_the_process_environment_is_read_when_nothing_else_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINIMAX_API_KEY", API_KEY)
    monkeypatch.setenv("MINIMAX_MODEL", "MiniMax-M2")
    with MiniMaxClient.from_env() as client:
        assert client.config.model == "MiniMax-M2"


def test_a_file_that_is_named_is_read_and_the_environment_wins(
    server: MiniMaxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """000-56: the format of the specification."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / ".env"
    file.write_text(
        f"# 我的\nMINIMAX_API_KEY={API_KEY}\nMINIMAX_MODEL='from file'\nMINIMAX_BASE_URL={server.base_url}\n",
        encoding="utf-8-sig",
    )
    with pytest.raises(MiniMaxAuthError):
        MiniMaxClient.from_env(env={})
    with MiniMaxClient.from_env(env={"MINIMAX_MODEL": "from env", "MINIMAX_API_KEY": ""}, env_file=file) as client:
        assert client.config.model == "from env"
        assert client.chat(ASK).text == "Hello."
    assert "MINIMAX_API_KEY" not in os.environ


def test_the_file_of_the_working_folder_is_read_where_the_environment_has_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """000-56: and a key of the environment never goes to the address in a file that nobody named."""
    monkeypatch.chdir(tmp_path)
    for name in ("MINIMAX_API_KEY", "MINIMAX_BASE_URL", "MINIMAX_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MiniMaxNoKeyError):
        MiniMaxClient.from_env()
    text = f"MINIMAX_API_KEY={API_KEY}\nMINIMAX_BASE_URL=https://elsewhere.example/v1\n"
    (tmp_path / ".env").write_text(text, encoding="utf-8")
    with MiniMaxClient.from_env() as client:
        assert client.config.base_url == "https://elsewhere.example/v1"
    with pytest.raises(MiniMaxNoKeyError):
        MiniMaxClient.from_env(env={})
    monkeypatch.setenv("MINIMAX_API_KEY", API_KEY)
    with MiniMaxClient.from_env() as client:
        assert client.config.base_url == "https://api.minimax.io/v1"


def test_a_value_of_a_file_is_taken_as_it_stands(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("MINIMAX_API_KEY=sk-${HOME}-x\nMINIMAX_MODEL=${MINIMAX_API_KEY}\n", encoding="utf-8")
    with MiniMaxClient.from_env(env={}, env_file=file) as client:
        assert client.config.model == "${MINIMAX_API_KEY}"


@pytest.mark.parametrize("key", ["", "  ", "sk test", "sk-\u4e2d", "sk-\x00", "sk\ttest"])
def test_no_key_and_an_impossible_key_are_refused(key: str) -> None:
    with pytest.raises(MiniMaxAuthError) as caught:
        MiniMaxClient.from_env(env={"MINIMAX_API_KEY": key})
    assert isinstance(caught.value, MiniMaxNoKeyError) == (not key.strip())
    assert "MINIMAX_API_KEY" in str(caught.value)
    assert not key.strip() or key not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.env: No such file"):
        MiniMaxClient.from_env(env={}, env_file=tmp_path / "missing.env")
    (tmp_path / "latin.env").write_bytes(b"MINIMAX_API_KEY=sk-\xff\n")
    with pytest.raises(ConfigError, match=r"latin\.env: not UTF-8"):
        MiniMaxClient.from_env(env={}, env_file=tmp_path / "latin.env")


# --- the key --------------------------------------------------------------------------------------------------------

ECHO = f"invalid api key {API_KEY}"
LEAKS: list[Behaviour] = [
    Failure(401, code=2049, message=ECHO),
    Failure(400, body={"error": ECHO}),
    Failure(500, code=1000, message=ECHO),
    InBody(2049, ECHO),
    MidStream(("one",), 1004, ECHO),
    Cut(),
    Garbage(),
    Stall(),
    Redirect(f"http://127.0.0.1:9/{API_KEY}"),
]


@both_ways
@pytest.mark.parametrize("failure", LEAKS, ids=lambda failure: type(failure).__name__)
def test_the_key_is_in_no_error_no_log_and_no_traceback(
    server: MiniMaxServer, ask: Any, failure: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    """000-50: not even where the server repeats it, and not among the local variables of our frames."""
    caplog.set_level(logging.DEBUG)
    server.script(failure)
    client = client_of(server, read_timeout_seconds=0.3, max_attempts=1)
    with client, pytest.raises(MiniMaxError) as caught:
        ask(client)
    ours = [
        frame for frame in traceback.walk_tb(caught.value.__traceback__) if "test_client" not in str(frame[0].f_code)
    ]
    assert ours
    error = caught.value
    assert error.__context__ is None or isinstance(error.__context__, GatekeeperError | ValueError)
    assert error.__cause__ is None or isinstance(error.__cause__, ValueError)
    trace = "".join(traceback.format_exception(error))
    assert API_KEY not in trace + repr(error) + str(error) + repr(vars(error)) + repr(client) + caplog.text
    for frame, _ in ours:
        assert not [name for name, value in frame.f_locals.items() if API_KEY in f"{value!r} {value!s}"], frame.f_code
    assert all(API_KEY not in repr(vars(record)) for record in caplog.records)


def test_the_key_is_in_no_error_where_there_is_no_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = MiniMaxClient(API_KEY, config=MiniMaxConfig(base_url=f"http://127.0.0.1:{port}/{API_KEY}"))
    with client, pytest.raises(MiniMaxConnectionError) as caught:
        client.chat(ASK)
    assert caught.value.__context__ is None
    assert API_KEY not in str(caught.value)


def test_the_key_is_in_no_frame_of_a_refused_setting() -> None:
    bad = f"{API_KEY} {API_KEY}"
    for env in ({"MINIMAX_API_KEY": bad}, {"MINIMAX_API_KEY": API_KEY, "MINIMAX_BASE_URL": "nowhere"}):
        with pytest.raises(GatekeeperError) as caught:
            MiniMaxClient.from_env(env=env)
        for frame, _ in traceback.walk_tb(caught.value.__traceback__):
            if frame.f_code.co_filename != __file__:
                shown_here = {name: repr(value) for name, value in frame.f_locals.items() if name != "env"}
                assert API_KEY not in repr(shown_here), frame.f_code


def test_logs_hold_counts_and_no_text(server: MiniMaxServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="gatekeeper")
    server.script(LIMITED, Answer("秘密的答案"))
    with client_of(server) as client:
        client.chat(ASK)
    retried, answered = [record for record in caplog.records if record.name == "gatekeeper.minimax"]
    assert (retried.getMessage(), answered.getMessage()) == ("request to the model is tried again", "model answered")
    facts = vars(retried)
    assert (facts["gatekeeper_http_status"], facts["gatekeeper_code"], facts["gatekeeper_attempt"]) == (429, 1002, 1)
    assert vars(answered)["gatekeeper_output_tokens"] > 0
    assert "秘密" not in repr([vars(record) for record in caplog.records])
    assert "缓存" not in repr([vars(record) for record in caplog.records])


# --- errors as values -----------------------------------------------------------------------------------------------


def test_an_error_survives_a_copy_and_the_way_to_another_process() -> None:
    error = MiniMaxResponseError("cut off", partial="half", status=200, code=1000, request_id="r1")
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own
        assert type(again) is MiniMaxResponseError
        assert str(again) == str(error) == "cut off (HTTP 200, code 1000, request r1)"
        assert vars(again) == vars(error)


def test_every_error_is_one_of_the_family() -> None:
    names = [name for name in gatekeeper_minimax.__all__ if name.endswith("Error")]
    assert len(names) == 10
    for name in names:
        assert issubclass(getattr(gatekeeper_minimax, name), GatekeeperError)
    assert sorted(gatekeeper_minimax.__all__) == gatekeeper_minimax.__all__


def test_messages_may_be_values_of_the_core(server: MiniMaxServer) -> None:
    with client_of(server) as client:
        client.chat([Message("system", "简短回答"), Message("user", "hi", id="local-7")])
    assert server.requests[0].body["messages"] == [
        {"role": "system", "content": "简短回答"},
        {"role": "user", "content": "hi"},
    ]
