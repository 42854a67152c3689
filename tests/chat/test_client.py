"""The client over real HTTP on loopback: answers, streams, every kind of failure, and a key that never shows."""

from __future__ import annotations

import gc
import json
import logging
import os
import pickle
import socket
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_chat import (
    ChatAuthError,
    ChatBalanceError,
    ChatClient,
    ChatConfig,
    ChatConnectionError,
    ChatContentError,
    ChatError,
    ChatNoKeyError,
    ChatRateLimitError,
    ChatRequestError,
    ChatResponseError,
    ChatServerError,
)
from gatekeeper_core.calibration import UsageCalibrator
from gatekeeper_core.errors import ConfigError, GatekeeperError
from tests.case_files import from_file
from tests.chat.server import (
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


ASK = [{"role": "user", "content": "缓存用哪个 port？"}]
TOOL = {"type": "function", "function": {"name": "lookup"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": '{"key": "端口"}'}}


@pytest.fixture
def server() -> Iterator[MiniMaxServer]:
    with MiniMaxServer() as running:
        yield running


def client_of(
    server: MiniMaxServer,
    sleep: Callable[[float], None] = lambda seconds: None,
    calibrator: UsageCalibrator | None = None,
    **settings: Any,
) -> ChatClient:
    config = ChatConfig(base_url=server.base_url, **{"read_timeout_seconds": 5.0, **settings})
    return ChatClient(API_KEY, config=config, sleep=sleep, jitter=lambda: 1.0, calibrator=calibrator)


def chat(client: ChatClient, **arguments: Any) -> tuple[str, Any]:
    reply = client.chat(ASK, **arguments)
    return reply.text, reply


def streamed(client: ChatClient, **arguments: Any) -> tuple[str, Any]:
    with client.stream(ASK, **arguments) as stream:
        return "".join(stream), stream.reply


both_ways = pytest.mark.parametrize("ask", [chat, streamed])


# --- answers --------------------------------------------------------------------------------------------------------


@both_ways
@from_file("variant")
def test_an_answer_comes_as_it_was_said(server: MiniMaxServer, ask: Any, variant: dict[str, Any]) -> None:
    """000-50: whole or in pieces, with and without the end mark, comments, characters cut in two."""
    text = "缓存监听 6380 端口。\n\nRedis 用 6380 port, don't forget."
    server.script(Answer(text, **variant))
    with client_of(server) as client:
        answer, reply = ask(client)
    assert answer == reply.text == text
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
        ask(client, tools=tools)
        assert calibrator.factor(model) < 1.45  # the tools are a part of the prompt


@both_ways
@pytest.mark.parametrize("split", [False, True])
def test_thinking_is_kept_apart_and_in_the_message(server: MiniMaxServer, ask: Any, split: bool) -> None:
    """000-50: in the content or beside it; the message is what a tool loop has to send back."""
    thinking, text = "They want the port：用户问 port。", "Redis 用 6380。"
    server.script(Answer(text, thinking=thinking, split=split))
    with client_of(server) as client:
        answer, reply = ask(client)
    assert (answer, reply.text, reply.thinking) == (text, text, thinking)
    assert reply.message["content"] == (text if split else f"<think>\n{thinking}\n</think>\n\n{text}")
    details = [{"type": "reasoning.text", "text": thinking}] if split else None
    assert reply.message.get("reasoning_details") == details


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


def test_pieces_come_while_the_answer_is_still_being_made(server: MiniMaxServer) -> None:
    server.script(Stall(("first ", "second")))
    with client_of(server, read_timeout_seconds=0.5) as client, client.stream(ASK) as stream:
        pieces = iter(stream)
        assert next(pieces) == "first "
        with pytest.raises(RuntimeError, match="is not complete"):
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
            request = b""
            while not request.endswith(b"}"):
                request += connection.recv(65_536)
            connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            connection.sendall((line % ("first", "null")).encode())
            release.wait(30)
            connection.sendall((line % ("last", '"stop"')).encode())

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        config = ChatConfig(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}/v1", read_timeout_seconds=2)
        with ChatClient(API_KEY, config=config) as client, client.stream(ASK) as stream:
            pieces = iter(stream)
            assert next(pieces) == "first"
            release.set()
            assert list(pieces) == ["last"]
        thread.join()


# --- failures -------------------------------------------------------------------------------------------------------

LIMITED = Failure(429, code=1002, message="rate limit")


@both_ways
@pytest.mark.parametrize(
    "failures",
    [
        (LIMITED,),
        (Failure(429), Failure(500), Failure(503)),
        (Failure(529, body=b"<html>overloaded</html>"),),
        (InBody(1002, "rate limit"), InBody(1000, "unknown error"), InBody(1039)),
        (Failure(429, code=2045, message="rate growth limit"), InBody(1024, "internal error"), Failure(502)),
        (MidStream((), 1041, "too many connections"), InBody(1001), InBody(1013), InBody(1033)),
    ],
)
def test_limits_and_faults_of_the_server_are_tried_again(
    server: MiniMaxServer, ask: Any, failures: tuple[Behaviour, ...]
) -> None:
    """000-50: 429 and 5xx, and the codes that mean the same under HTTP 200; a stream until its first piece."""
    server.script(*failures, Answer("at last"))
    waits: list[float] = []
    with client_of(server, waits.append) as client:
        assert ask(client)[0] == "at last"
    assert len(server.requests) == len(failures) + 1
    assert waits == [1.0, 2.0, 4.0, 8.0][: len(failures)]
    assert len({request.raw for request in server.requests}) == 1


def answered(text: str) -> Behaviour:
    return Garbage(text.encode(), content_type="application/json")


# Behaviour, error, status, code, words of the error.
FAULTS: dict[str, tuple[Behaviour, type[ChatError], int | None, int | None, str]] = {
    "bad params": (Failure(400, code=2013, message="invalid params"), ChatRequestError, 400, 2013, "invalid params"),
    "login": (Failure(401, code=1004, message="login fail"), ChatAuthError, 401, 1004, "MINIMAX_API_KEY"),
    "to be paid": (Failure(402), ChatBalanceError, 402, None, "check the balance"),
    "no balance": (Failure(429, code=1008, message="insufficient"), ChatBalanceError, 429, 1008, "insufficient"),
    "not there": (Failure(404, body=b"404 page not found"), ChatConnectionError, 404, None, "HTTP 404"),
    "text as error": (Failure(422, body={"error": "unprocessable"}), ChatRequestError, 422, None, "unprocessable"),
    "status as code": (
        Failure(400, body={"error": {"message": "bad", "code": 400}}),
        ChatRequestError,
        400,
        None,
        "bad",
    ),
    "code as text": (Failure(400, body={"error": {"message": "", "code": "1026"}}), ChatContentError, 400, 1026, ""),
    "bad key": (InBody(2049, "invalid api key"), ChatAuthError, 200, 2049, "invalid api key"),
    "output": (InBody(1027, "output new_sensitive"), ChatContentError, 200, 1027, "output"),
    "unknown": (InBody(9999, "something new"), ChatRequestError, 200, 9999, "something new"),
    "elsewhere": (Redirect("https://elsewhere.example/v1"), ChatConnectionError, 307, None, "redirects"),
    "garbage": (Garbage(content_type="application/json"), ChatResponseError, 200, None, "not JSON"),
    "a list": (answered("[]"), ChatResponseError, 200, None, "without a message"),
    "a number": (
        answered('{"choices": [{"message": {"content": 7}}]}'),
        ChatResponseError,
        None,
        None,
        "cannot be read",
    ),
    "cut": (Cut(), ChatResponseError, None, None, "cut off"),
    "silent": (Slow(60), ChatConnectionError, None, None, "sent nothing for too long: raise read_timeout_seconds"),
    "error in stream": (MidStream(("one ",), 2013, "invalid params"), ChatRequestError, 200, 2013, "invalid params"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_other_faults_raise_at_once(server: MiniMaxServer, fault: str) -> None:
    """000-50: never tried again, and each has its own type."""
    behaviour, kind, status, code, words = FAULTS[fault]
    waits: list[float] = []
    for tries, ask in enumerate((chat, streamed), 1):
        server.script(behaviour)
        with client_of(server, waits.append, read_timeout_seconds=0.3) as client, pytest.raises(ChatError) as caught:
            ask(client)
        assert type(caught.value) is kind
        assert (caught.value.status, caught.value.code) == (status, code)
        assert words in str(caught.value)
        assert len(server.requests) == tries
    assert waits == []


@both_ways
def test_the_last_try_raises_its_error(server: MiniMaxServer, ask: Any) -> None:
    server.script(LIMITED, Failure(500), Failure(429, code=1002, message="rate limit", headers=(("Retry-After", "9"),)))
    waits: list[float] = []
    with client_of(server, waits.append, max_attempts=3) as client, pytest.raises(ChatRateLimitError) as caught:
        ask(client)
    error = caught.value
    assert (error.status, error.code, error.retry_after_seconds) == (429, 1002, 9.0)
    assert error.request_id == f"{3:032x}"
    assert "rate limit (HTTP 429, code 1002, request" in str(error)
    assert len(server.requests) == 3
    assert len(waits) == 2
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (type(copied), str(copied), vars(copied)) == (ChatRateLimitError, str(error), vars(error))


@from_file("header", "waited")
def test_a_wait_that_the_server_asks_for_is_kept(server: MiniMaxServer, header: str, waited: float) -> None:
    server.script(Failure(429, headers=(("Retry-After", header),)), Answer("ok"))
    waits: list[float] = []
    with client_of(server, waits.append) as client:
        client.chat(ASK)
    assert waits == [waited]


def test_waits_double_up_to_the_longest_and_vary_by_half(server: MiniMaxServer) -> None:
    server.script(*[Failure(503)] * 7)
    waits: list[float] = []
    config = ChatConfig(base_url=server.base_url, max_attempts=8)
    with ChatClient(API_KEY, config=config, sleep=waits.append, jitter=lambda: 0.0) as client:
        client.chat(ASK)
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0]


PARTS: dict[str, tuple[Behaviour, type[ChatError]]] = {
    "cut": (Cut(("缓存用 ", "6380")), ChatResponseError),
    "no reason to end": (
        Garbage(b'{"choices": [{"delta": {"content": "\xe7\xbc\x93\xe5\xad\x98\xe7\x94\xa8 6380"}}]}'),
        ChatResponseError,
    ),
    "an error": (MidStream(("缓存用 ", "6380"), 1000, "unknown error"), ChatServerError),
    "silence": (Stall(("缓存用 ", "6380")), ChatConnectionError),
}


@pytest.mark.parametrize("fault", PARTS)
def test_a_stream_that_breaks_keeps_what_had_come_and_is_not_tried_again(server: MiniMaxServer, fault: str) -> None:
    behaviour, kind = PARTS[fault]
    server.script(behaviour)
    with client_of(server, read_timeout_seconds=0.3) as client, client.stream(ASK) as stream:
        with pytest.raises(kind) as caught:
            list(stream)
        assert stream.text == caught.value.partial == "缓存用 6380"
    assert len(server.requests) == 1


@pytest.fixture
def no_collection() -> Iterator[None]:
    """No garbage collection: a finalizer that runs at the end of the stack cannot."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("data", [b"{not json", b"[1]", b"7", b'"x"', b"[" * 100_000])
def test_a_stream_of_something_else_is_an_error(server: MiniMaxServer, data: bytes) -> None:
    server.script(Garbage(data))
    with client_of(server) as client, pytest.raises(ChatResponseError, match=r"not (a )?JSON"):
        streamed(client)


@both_ways
def test_no_server_is_an_error_without_the_key(ask: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    config = ChatConfig(base_url=f"http://127.0.0.1:{port}/{API_KEY}")
    with (
        ChatClient(API_KEY, config=config, sleep=lambda seconds: None) as client,
        pytest.raises(ChatConnectionError) as caught,
    ):
        ask(client)
    assert "could not be reached: ConnectionError" in str(caught.value)
    assert API_KEY not in str(caught.value)
    assert caught.value.__context__ is None


def test_the_key_does_not_follow_a_redirect(server: MiniMaxServer) -> None:
    with MiniMaxServer() as other:
        server.script(Redirect(f"{other.base_url}/chat/completions"))
        with client_of(server) as client, pytest.raises(ChatConnectionError, match="base URL"):
            client.chat(ASK)
        assert other.requests == []


def test_without_a_key_no_header_goes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local server wants none; a netrc file is not read for one."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password s3cr3t\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with MiniMaxServer(api_key=None) as server:
        with ChatClient("", config=ChatConfig(base_url=server.base_url)) as client:
            assert client.chat(ASK).text == "Hello."
        assert "authorization" not in server.requests[0].headers


def test_one_client_serves_several_threads(server: MiniMaxServer) -> None:
    with client_of(server) as client, ThreadPoolExecutor(8) as pool:
        assert {reply.text for reply in pool.map(client.chat, [ASK] * 40)} == {"Hello."}


# --- bad input ------------------------------------------------------------------------------------------------------


@from_file("settings")
def test_impossible_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        ChatConfig(**settings)
    assert "s3cr3t" not in str(caught.value)


# --- the environment ------------------------------------------------------------------------------------------------


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Set variables in a working folder without a file."""
    monkeypatch.chdir(tmp_path)
    return lambda **values: [monkeypatch.setenv(f"MINIMAX_{name}", value) for name, value in values.items()] and None


def test_the_environment_gives_key_address_and_model(server: MiniMaxServer, env: Callable[..., None]) -> None:
    """000-50, 000-56."""
    env(API_KEY=f" {API_KEY}\n", BASE_URL=server.base_url, MODEL="MiniMax-M2")
    with ChatClient.from_env(config=ChatConfig(max_attempts=1, model="other")) as client:
        assert client.chat(ASK).text == "Hello."
        assert (client.config.model, client.config.max_attempts) == ("MiniMax-M2", 1)
    env(BASE_URL="", MODEL="")
    with ChatClient.from_env() as client:
        assert client.config == ChatConfig()
        assert repr(client) == "ChatClient(base_url='https://api.minimax.io/v1', model='MiniMax-M2.7')"


def test_a_file_that_is_named_is_read_and_the_environment_wins(
    server: MiniMaxServer, tmp_path: Path, env: Callable[..., None]
) -> None:
    """000-56: the format of the specification; a value is taken as it is written."""
    file = tmp_path / "my.env"
    file.write_text(
        f"# 我的\nMINIMAX_API_KEY={API_KEY}\nMINIMAX_MODEL='${{HOME}} file'\nMINIMAX_BASE_URL={server.base_url}\n",
        encoding="utf-8-sig",
    )
    with ChatClient.from_env(env_file=file) as client:
        assert client.config.model == "${HOME} file"
    env(MODEL="from env", API_KEY="")
    with ChatClient.from_env(env_file=file) as client:
        assert client.config.model == "from env"
        assert client.chat(ASK).text == "Hello."
    assert os.environ["MINIMAX_API_KEY"] == ""


def test_the_file_of_the_working_folder_is_read_where_the_environment_has_no_key(
    tmp_path: Path, env: Callable[..., None]
) -> None:
    """000-56: and a key of the environment never goes to the address in a file that nobody named."""
    env()
    with pytest.raises(ChatNoKeyError):
        ChatClient.from_env()
    text = f"MINIMAX_API_KEY={API_KEY}\nMINIMAX_BASE_URL=https://elsewhere.example/v1\n"
    (tmp_path / ".env").write_text(text, encoding="utf-8")
    with ChatClient.from_env() as client:
        assert client.config.base_url == "https://elsewhere.example/v1"
    env(API_KEY=API_KEY)
    with ChatClient.from_env() as client:
        assert client.config.base_url == "https://api.minimax.io/v1"


@pytest.mark.parametrize("key", ["", "  ", "sk test", "sk-\u4e2d", "sk-\x7f", "sk\ttest"])
def test_no_key_and_an_impossible_key_are_refused(key: str, env: Callable[..., None]) -> None:
    env(API_KEY=key)
    with pytest.raises(ChatAuthError) as caught:
        ChatClient.from_env()
    assert isinstance(caught.value, ChatNoKeyError) == (not key.strip())
    assert "MINIMAX_API_KEY" in str(caught.value)
    assert not key.strip() or key not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.env: No such file"):
        ChatClient.from_env(env_file=tmp_path / "missing.env")
    (tmp_path / "latin.env").write_bytes(b"MINIMAX_API_KEY=sk-\xff\n")
    with pytest.raises(ConfigError, match=r"latin\.env: not UTF-8"):
        ChatClient.from_env(env_file=tmp_path / "latin.env")


# --- the key --------------------------------------------------------------------------------------------------------

ECHO = f"invalid api key {API_KEY}"
LEAKS: dict[str, Behaviour] = {
    "refused": Failure(401, code=2049, message=ECHO),
    "error as text": Failure(400, body={"error": ECHO}),
    "server": Failure(500, code=1000, message=ECHO),
    "in body": InBody(2049, ECHO),
    "in stream": MidStream(("one",), 1004, ECHO),
    "cut": Cut(),
    "garbage": Garbage(),
    "stall": Stall(),
    "redirect": Redirect(f"http://127.0.0.1:9/{API_KEY}"),
}


def leaks_of(error: BaseException) -> list[str]:
    """Return the functions of the library in a traceback whose local variables hold the key."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename != __file__]
    assert frames
    return [
        f"{frame.f_code.co_name}: {name}"
        for frame in frames
        for name, value in frame.f_locals.items()
        if API_KEY in f"{value!r} {value!s}"
    ]


@both_ways
@pytest.mark.parametrize("leak", LEAKS)
def test_the_key_is_in_no_error_no_log_and_no_traceback(
    server: MiniMaxServer, ask: Any, leak: str, caplog: pytest.LogCaptureFixture
) -> None:
    """000-50: not even where the server repeats it, and not among the local variables of our frames."""
    caplog.set_level(logging.DEBUG)
    server.script(LEAKS[leak])
    client = client_of(server, read_timeout_seconds=0.3, max_attempts=1)
    with client, pytest.raises(ChatError) as caught:
        ask(client)
    error = caught.value
    for other in (error.__context__, error.__cause__):
        assert other is None or isinstance(other, GatekeeperError | ValueError)
    shown = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error)) + repr(client) + caplog.text
    assert API_KEY not in shown
    assert leaks_of(error) == []
    assert all(API_KEY not in repr(vars(record)) for record in caplog.records)


def test_logs_hold_counts_and_no_text(server: MiniMaxServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="gatekeeper")
    server.script(LIMITED, Answer("秘密的答案"))
    with client_of(server) as client:
        client.chat(ASK)
    retried, answered = [record for record in caplog.records if record.name == "gatekeeper.chat"]
    assert (retried.getMessage(), answered.getMessage()) == ("retrying a request to the model", "model answered")
    facts = vars(retried)
    assert (facts["gatekeeper_http_status"], facts["gatekeeper_code"], facts["gatekeeper_attempt"]) == (429, 1002, 1)
    assert vars(answered)["gatekeeper_output_tokens"] > 0
    logged = repr([vars(record) for record in caplog.records])
    assert "秘密" not in logged
    assert "缓存" not in logged
