"""The server of these tests does what it says, as a plain HTTP client of the standard library sees it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from tests.minimax.server import (
    API_KEY,
    PATH,
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
    tool_call,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

QUESTIONS = ["缓存的端口是多少？", "Which port is it?", "Redis 的 port 是 6380 吗？"]


@pytest.fixture
def server() -> Iterator[MiniMaxServer]:
    with MiniMaxServer("Hello.") as running:
        yield running


@contextmanager
def opened(
    server: MiniMaxServer, *, question: str = "Hi?", key: str | None = API_KEY, path: str = PATH, **settings: object
) -> Iterator[http.client.HTTPResponse]:
    host, port = server.origin.removeprefix("http://").split(":")
    body = {"model": "MiniMax-M2.7", "messages": [{"role": "user", "content": question}], **settings}
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    with closing(http.client.HTTPConnection(host, int(port), timeout=5)) as connection:
        connection.request("POST", path, json.dumps(body).encode(), headers)
        with connection.getresponse() as response:
            yield response


def answered(server: MiniMaxServer, **settings: Any) -> tuple[int, bytes]:
    with opened(server, **settings) as response:
        return response.status, response.read()


def streamed(server: MiniMaxServer, **settings: Any) -> list[dict[str, Any]]:
    wanted = {"stream": True, "stream_options": {"include_usage": True}, **settings}
    _, body = answered(server, **wanted)
    data = [line.removeprefix("data: ") for line in body.decode().splitlines() if line.startswith("data: {")]
    return [json.loads(line) for line in data]


def deltas(events: list[dict[str, Any]], name: str) -> list[Any]:
    found = (choice["delta"].get(name) for event in events for choice in event["choices"])
    return [value for value in found if value]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_whole_answer_is_a_chat_completion_and_the_request_is_kept(question: str) -> None:
    with MiniMaxServer(lambda body: f"→ {body['messages'][-1]['content']}") as server:
        status, body = answered(server, question=question)
    answer = json.loads(body)
    assert status == 200
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": f"→ {question}"}
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["base_resp"]["status_code"] == 0
    assert answer["usage"]["prompt_tokens"] > 0
    [request] = server.requests
    assert (request.path, request.headers["authorization"]) == (PATH, f"Bearer {API_KEY}")
    assert request.body["messages"][0]["content"] == question
    assert json.loads(request.raw) == request.body


@pytest.mark.parametrize("text", ["端口是六三八零，重启后生效。", "It listens on port 6380.", "用 port 6380 就好。"])
@pytest.mark.parametrize("cut", [False, True])
def test_a_stream_brings_the_text_in_pieces_then_the_reason_the_usage_and_the_end(
    server: MiniMaxServer, text: str, cut: bool
) -> None:
    server.script(Answer(text, thinking="想一想", cut_characters=cut, comments=True))
    events = streamed(server)
    assert "".join(deltas(events, "content")) == f"<think>\n想一想\n</think>\n\n{text}"
    assert len(deltas(events, "content")) > 2
    assert [
        choice["finish_reason"] for event in events for choice in event["choices"] if "finish_reason" in choice
    ] == ["stop"]
    assert events[-1]["choices"] == []
    assert events[-1]["usage"]["total_tokens"] > 0


@pytest.mark.parametrize(("done", "line_end"), [(True, "\n"), (False, "\n"), (True, "\r\n")])
def test_the_end_of_a_stream_may_be_missing(server: MiniMaxServer, done: bool, line_end: str) -> None:
    server.script(Answer("Hi.", done=done, line_end=line_end))
    _, body = answered(server, stream=True)
    assert body.endswith(f"data: [DONE]{line_end * 2}".encode()) is done
    assert b"usage" not in body


def test_the_usage_may_be_missing_or_another(server: MiniMaxServer) -> None:
    server.script(Answer("Hi.", usage=None), Answer("Hi.", usage={"total_tokens": 7}))
    assert "usage" not in streamed(server)[-1]
    assert json.loads(answered(server)[1])["usage"] == {"total_tokens": 7}


def test_thinking_in_a_field_of_its_own_comes_as_snapshots(server: MiniMaxServer) -> None:
    server.script(Answer("Hi.", thinking="First this, then that."), Answer("Hi.", thinking="Hm.", split=True))
    events = streamed(server, reasoning_split=True)
    snapshots = [details[0]["text"] for details in deltas(events, "reasoning_details")]
    assert snapshots[-1] == "First this, then that."
    assert all(later.startswith(earlier) for earlier, later in pairwise(snapshots))
    assert deltas(events, "content") == ["Hi."]
    message = json.loads(answered(server)[1])["choices"][0]["message"]
    assert message["content"] == "Hi."
    assert message["reasoning_details"] == [{"type": "reasoning.text", "text": "Hm."}]


def test_a_call_comes_whole_or_in_parts(server: MiniMaxServer) -> None:
    call = tool_call("call_1", "weather", '{"city": "杭州"}')
    server.script(Answer("", tool_calls=(call,)), Answer("", tool_calls=(call,)))
    whole = json.loads(answered(server)[1])["choices"][0]
    assert (whole["message"]["tool_calls"], whole["finish_reason"]) == ([call], "tool_calls")
    parts = [part for calls in deltas(streamed(server), "tool_calls") for part in calls]
    assert "".join(part["function"]["arguments"] for part in parts) == call["function"]["arguments"]
    assert [part["index"] for part in parts] == [0, 0]


@pytest.mark.parametrize("key", [None, "sk-test-another"])
def test_without_the_key_nobody_comes_in_and_the_script_waits(server: MiniMaxServer, key: str | None) -> None:
    server.script(Answer("Later."))
    status, body = answered(server, key=key)
    assert (status, json.loads(body)["error"]["type"]) == (401, "authorized_error")
    assert server.unplayed == (Answer("Later."),)
    assert len(server.requests) == 1


def test_behaviours_are_played_in_order_then_the_reply_answers(server: MiniMaxServer) -> None:
    server.script(
        Failure(429, code=1002, message="rate limit", headers=(("Retry-After", "1"),)), Failure(500, body=b"x")
    )
    with opened(server) as response:
        assert (response.status, response.headers["Retry-After"]) == (429, "1")
        assert json.loads(response.read())["error"]["message"] == "rate limit (1002)"
    assert answered(server) == (500, b"x")
    assert json.loads(answered(server)[1])["choices"][0]["message"]["content"] == "Hello."
    assert server.unplayed == ()


@pytest.mark.parametrize("stream", [False, True])
def test_an_error_in_the_body_is_json_with_a_good_status(server: MiniMaxServer, stream: bool) -> None:
    server.script(InBody(1008, "insufficient balance"))
    status, body = answered(server, stream=stream)
    assert (status, json.loads(body)["choices"]) == (200, None)
    assert json.loads(body)["base_resp"] == {"status_code": 1008, "status_msg": "insufficient balance"}


def test_a_stream_can_turn_into_an_error(server: MiniMaxServer) -> None:
    server.script(MidStream(("半句", "话"), 1000, "unknown error"))
    events = streamed(server)
    assert deltas(events[:-1], "content") == ["半句", "话"]
    assert events[-1]["base_resp"]["status_code"] == 1000


@pytest.mark.parametrize("stream", [False, True])
def test_a_cut_answer_is_incomplete(server: MiniMaxServer, stream: bool) -> None:
    server.script(Cut(("Half",)))
    with opened(server, stream=stream) as response, pytest.raises(http.client.IncompleteRead) as caught:
        response.read()
    assert caught.value.partial


@pytest.mark.parametrize("stream", [False, True])
def test_garbage_and_places_elsewhere_are_sent_as_they_are(server: MiniMaxServer, stream: bool) -> None:
    server.script(Garbage(), Garbage(b"<html>", "text/html"), Redirect("http://127.0.0.1:9/v1"))
    assert answered(server, stream=stream)[1] == (b"data: {not json\n\n" if stream else b"{not json")
    assert answered(server, stream=stream) == (200, b"<html>")
    with opened(server, stream=stream) as response:
        assert (response.status, response.headers["Location"]) == (307, "http://127.0.0.1:9/v1")


def test_other_places_are_not_found(server: MiniMaxServer) -> None:
    assert answered(server, path="/chat/completions") == (404, b"404 page not found")


@pytest.mark.parametrize("behaviour", [Slow(60.0), Stall(("Half",), 60.0)])
def test_what_waits_stops_when_the_server_closes_and_no_thread_is_left(behaviour: Behaviour) -> None:
    before = set(threading.enumerate())
    started = time.monotonic()
    with MiniMaxServer() as server:
        server.script(behaviour)
        client = threading.Thread(target=_until_it_ends, args=(server,))
        client.start()
        while not server.requests:
            time.sleep(0.001)
    client.join()
    assert time.monotonic() - started < 10
    assert set(threading.enumerate()) == before


def _until_it_ends(server: MiniMaxServer) -> None:
    with pytest.raises((http.client.HTTPException, ConnectionError)), opened(server, stream=True) as response:
        response.read()


def test_a_client_that_goes_away_is_no_error_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with MiniMaxServer() as server:
        server.script(Answer("A long answer. " * 2_000, pause_seconds=0.0001))
        with opened(server, stream=True) as response:
            assert response.status == 200
        assert answered(server)[0] == 200
    assert capfd.readouterr() == ("", "")


def test_a_fault_of_a_scripted_reply_is_not_swallowed() -> None:
    def reply(body: dict[str, Any]) -> str:
        raise KeyError("no such answer")

    server = MiniMaxServer(reply)
    with pytest.raises(KeyError, match="no such answer"), server, suppress(http.client.RemoteDisconnected):
        answered(server)
    assert server.requests
