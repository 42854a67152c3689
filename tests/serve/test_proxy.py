"""What the proxy changes of a request, which is the list, and what it passes on as it came, which is all the rest."""

from __future__ import annotations

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from starlette.responses import JSONResponse, Response, StreamingResponse

from gatekeeper_core.errors import ConfigError
from gatekeeper_serve import ServeSettings
from tests.serve.upstream import CHAT, MESSAGES, RESPONSES, SMALL, Endless, Got, Upstream, proxied, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Item = dict[str, Any]

FIELDS = {CHAT: "messages", RESPONSES: "input", MESSAGES: "messages"}
each_api = pytest.mark.parametrize("path", FIELDS)

TALKS = {
    "english": ("Our Redis cache uses port 6380.", "Which port does our Redis cache use?"),
    "chinese": ("我们的缓存监听 6380 端口。", "缓存监听哪个端口？"),
    "mixed": ("我们的 Redis cache 用 6380 端口。", "Redis cache 用哪个端口？"),
}


def turn(text: str, answer: str = "Noted.") -> list[Item]:
    return [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]


FILLER = [item for number in range(8) for item in turn(f"Bread {number} rises for two hours, 面包发酵。" * 9)]


def talk(fact: str, question: str) -> list[Item]:
    return [*turn(fact), *FILLER, {"role": "user", "content": question}]


@each_api
@pytest.mark.parametrize(("fact", "question"), TALKS.values(), ids=TALKS)
def test_the_fact_is_sent_and_the_rest_left_out(
    fact: str, question: str, path: str, upstream: Upstream, url: str
) -> None:
    items = talk(fact, question)
    response = httpx.post(url + path, json={"model": "gpt-4o", FIELDS[path]: items})
    sent = upstream.got[0].json[FIELDS[path]]
    assert [sent[0], sent[-1]] == [items[0], items[-1]]
    assert len(sent) < len(items)
    facts = {name.removeprefix("x-gatekeeper-"): value for name, value in response.headers.items() if "-" in name}
    assert facts["status"] == "selected"
    assert int(facts["turns-kept"]) + int(facts["turns-left-out"]) == 9
    assert int(facts["tokens"]) <= 400 < int(facts["tokens-before"])
    assert 0 < float(facts["dollars"]) < float(facts["dollars-before"])


@each_api
def test_only_the_list_changes_and_every_other_byte_stays(path: str, upstream: Upstream, url: str) -> None:
    *past, last = talk(*TALKS["mixed"])
    items = [json.dumps(item, ensure_ascii=number % 2 == 0, indent=number % 3) for number, item in enumerate(past)]
    items.append(json.dumps({**last, "unknown": 1.50}))
    head = f'{{ "n" :1e0, "new_field":{{"a":[1.0 ,2]}},\n"{FIELDS[path]}": '
    tail = ' , "model":"gpt-\\u0034o"}\r\n'
    httpx.post(url + path, content=f"{head}[{', '.join(items)}]{tail}".encode())
    text = upstream.got[0].body.decode()
    assert text.startswith(head)
    assert text.endswith(tail)
    assert items[-1] in text
    assert len(text) < len("".join(items))
    short = f"{head}[{items[-1]} ]{tail}".encode()
    httpx.post(url + path, content=short)
    assert upstream.got[1].body == short


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b"no JSON", "not_json"),
        (b'{"messages": [', "not_json"),
        (b"[" * 100_000, "not_json"),
        (b"\xff\xfe", "not_json"),
        (b'{"messages": "text"}', "no_list"),
        (b'{"messages": [3]}', "message_format"),
        (b'{"messages": [{"kind": "request", "parts": [{"part_kind": "x"}]}]}', "message_format"),
    ],
)
def test_a_body_that_cannot_be_read_passes_and_the_response_says_so(
    body: bytes, cause: str, upstream: Upstream, url: str
) -> None:
    upstream.answer = lambda got: JSONResponse({"error": "refused"}, 400)
    response = httpx.post(url + CHAT, content=body)
    assert (response.status_code, response.json()) == (400, {"error": "refused"})
    assert upstream.got[0].body == body
    assert [response.headers[f"x-gatekeeper-{name}"] for name in ("status", "cause")] == ["unread", cause]


@pytest.mark.parametrize("name", ["previous_response_id", "conversation"])
def test_where_the_provider_stores_the_beginning_the_list_passes(name: str, upstream: Upstream, url: str) -> None:
    items = talk(*TALKS["english"])
    response = httpx.post(url + RESPONSES, json={name: "resp_1", "input": items})
    assert upstream.got[0].json["input"] == items
    assert response.headers["x-gatekeeper-cause"] == "stored_conversation"
    httpx.post(url + RESPONSES, json={name: None, "input": items})
    assert len(upstream.got[1].json["input"]) < len(items)


def test_headers_queries_and_unknown_paths_pass_as_they_came(upstream: Upstream, url: str) -> None:
    async def raw() -> AsyncIterator[bytes]:
        yield b"\x1f\x8bnot really gzip"

    def answer(got: Got) -> Response:
        response = StreamingResponse(raw(), 418, media_type="application/odd")
        response.raw_headers += [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"content-encoding", b"gzip")]
        response.raw_headers += [(b"connection", b"x-hop"), (b"x-hop", b"1")]
        return response

    upstream.answer = answer
    headers = [("x-odd", "1"), ("x-odd", "2"), ("authorization", "Bearer k"), ("connection", "x-mine"), ("x-mine", "1")]
    headers += [("accept-encoding", "odd"), ("user-agent", "me"), ("te", "trailers"), ("x-gatekeeper-token", "t")]
    request = httpx.Request("PUT", f"{url}/v9/a%2Fb/%E5%A5%BD?q=%20&q=2", headers=headers, content=b"\x00\x01")
    with httpx.Client() as client:
        response = client.send(request, stream=True)
        assert b"".join(response.iter_raw()) == b"\x1f\x8bnot really gzip"
    (got,) = upstream.got
    assert (got.method, got.path, got.query, got.body) == ("PUT", "/v9/a%2Fb/%E5%A5%BD", "q=%20&q=2", b"\x00\x01")
    own = {"host", "content-length", "connection"}
    assert [pair for pair in got.headers if pair[0] not in own] == [
        *headers[:3],
        ("accept-encoding", "odd"),
        ("user-agent", "me"),
    ]
    assert response.status_code == 418
    assert response.headers.get_list("set-cookie") == ["a=1", "b=2"]
    assert "x-hop" not in response.headers
    assert not [name for name in response.headers if name.startswith("x-gatekeeper")]


@pytest.mark.parametrize(
    ("path", "setting", "arrives"),
    [
        ("/v1/chat/completions", "", "/v1/chat/completions"),
        ("/chat/completions", "", "/v1/chat/completions"),
        ("/openai/v1/responses", "/base", "/base/responses"),
        ("/openai/responses", "/api/v1", "/api/v1/responses"),
        ("/v1/models", "/api/v1/", "/api/v1/models"),
        ("/messages", "", "/v1/messages"),
        ("/anthropic/v1/messages", "/anthropic", "/anthropic/v1/messages"),
        ("/v1/messages/count_tokens", "/v1", "/v1/messages/count_tokens"),
        ("/anthropic/v1/models", "", "/v1/models"),
        ("/health", "/api/v1", "/api/health"),
    ],
)
def test_the_base_url_of_any_client_leads_to_the_upstream(
    path: str, setting: str, arrives: str, upstream: Upstream
) -> None:
    with serving(upstream) as address:
        provider = "anthropic_url" if "messages" in path or "anthropic" in path else "openai_url"
        other = {"openai_url": "http://127.0.0.1:9", "anthropic_url": "http://127.0.0.1:9"}
        with proxied("", **(other | {provider: address + setting})) as url:
            httpx.post(url + path, json={"messages": []})
    assert [got.path for got in upstream.got] == [arrives]


@each_api
@pytest.mark.parametrize("status", [401, 429, 500])
def test_errors_of_the_upstream_pass(path: str, status: int, upstream: Upstream, url: str) -> None:
    upstream.answer = lambda got: JSONResponse({"error": {"message": "no"}}, status, {"retry-after": "7"})
    response = httpx.post(url + path, json={FIELDS[path]: talk(*TALKS["english"])})
    assert (response.status_code, response.json()) == (status, {"error": {"message": "no"}})
    assert response.headers["retry-after"] == "7"


@each_api
def test_an_upstream_that_refuses_or_hangs_is_an_error_in_the_form_of_the_api(path: str, upstream: Upstream) -> None:
    upstream.answer = lambda got: Endless(before=30)
    with serving(upstream) as address:
        for there, status in ((address, 504), ("http://127.0.0.1:9", 502)):
            with proxied(there, idle_seconds=0.2) as url:
                response = httpx.post(url + path, json={FIELDS[path]: [{"role": "user", "content": "hi"}]})
            error = response.json()["error"]
            assert response.status_code == status
            assert "upstream" in error["message"]
            assert error["type"] == (
                {504: "timeout_error", 502: "api_error"}[status] if path == MESSAGES else "server_error"
            )


def test_bytes_come_as_the_upstream_sends_them_and_a_slow_one_may_take_its_time(upstream: Upstream) -> None:
    upstream.answer = lambda got: Endless(between=0.1)
    with proxied(upstream, idle_seconds=5) as url, httpx.stream("POST", url + CHAT, json={"messages": []}) as response:
        chunks = response.iter_raw()
        assert [next(chunks) for _ in range(3)] == [b'data: {"n": %d}\n\n' % number for number in range(3)]


@pytest.mark.parametrize("before", [0.0, 30.0], ids=["in the stream", "before the response"])
def test_a_client_that_goes_away_ends_the_work_of_the_upstream(before: float, upstream: Upstream, url: str) -> None:
    upstream.answer = lambda got: Endless(before=before)
    with httpx.Client(timeout=0.5) as client:
        request = httpx.Request("POST", url + CHAT, content=b"{}")
        if before:
            with pytest.raises(httpx.ReadTimeout):
                client.send(request)
        else:
            assert next(client.send(request, stream=True).iter_raw())
    assert upstream.gone.wait(10)


def test_an_upstream_that_breaks_off_breaks_the_response_off(upstream: Upstream) -> None:
    async def half() -> AsyncIterator[bytes]:
        yield b"data: 1\n\n"
        raise ConnectionAbortedError

    upstream.answer = lambda got: StreamingResponse(half(), media_type="text/event-stream")
    with (
        proxied(upstream) as url,
        pytest.raises(httpx.RemoteProtocolError),
        httpx.stream("POST", url + CHAT, content=b"{}") as response,
    ):
        assert b"".join(response.iter_raw()) == b""


@each_api
def test_a_body_above_the_limit_is_refused_and_one_at_the_limit_passes(path: str, upstream: Upstream) -> None:
    with proxied(upstream, max_body_bytes=1_000) as url:
        assert httpx.post(url + path, content=b"x" * 1_000).status_code != 413
        response = httpx.post(url + path, content=b"x" * 1_001)
    assert response.status_code == 413
    assert "1,000" in response.json()["error"]["message"]
    assert len(upstream.got) == 1


def test_in_shadow_mode_the_request_passes_and_the_response_says_what_would_be_left_out(upstream: Upstream) -> None:
    body = json.dumps({"model": "gpt-4o", "messages": talk(*TALKS["english"])}).encode()
    with proxied(upstream, history=replace(SMALL, shadow=True)) as url:
        response = httpx.post(url + CHAT, content=body)
    assert upstream.got[0].body == body
    assert response.headers["x-gatekeeper-shadow"] == "true"
    assert int(response.headers["x-gatekeeper-turns-left-out"]) > 0


def test_a_fault_of_the_selection_fails_no_request(
    upstream: Upstream, url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("gatekeeper_hooks.native.prices_of_model", lambda model: 1 / 0)
    body = json.dumps({"messages": talk("secret text", "hm?")}).encode()
    response = httpx.post(url + CHAT, content=body)
    assert upstream.got[0].body == body
    assert response.headers["x-gatekeeper-cause"] == "failed"
    assert "ZeroDivisionError" in caplog.text
    assert "secret" not in caplog.text


def test_many_at_once_get_their_own_answers(upstream: Upstream) -> None:
    upstream.answer = lambda got: JSONResponse(
        {"seen": got.json["messages"][-1]["content"], "key": got.header("x-api-key")}
    )

    def ask(number: int) -> tuple[int, dict[str, str]]:
        items = talk(f"The port of customer {number} is {9000 + number}.", f"Which port has customer {number}?")
        headers = {"x-api-key": f"key-{number % 7}"}
        return number, client.post(url + MESSAGES, json={"messages": items}, headers=headers).json()

    limits = httpx.Limits(max_connections=None)
    with (
        proxied(upstream) as url,
        httpx.Client(timeout=120, limits=limits) as client,
        ThreadPoolExecutor(200) as pool,
    ):
        answers = [*pool.map(ask, range(200))]
    assert all(
        answer == {"seen": f"Which port has customer {number}?", "key": f"key-{number % 7}"}
        for number, answer in answers
    )
    for got in upstream.got:
        texts = [item["content"] for item in got.json["messages"]]
        number = texts[-1].removeprefix("Which port has customer ").removesuffix("?")
        assert f"The port of customer {number} is" in texts[0]


# --- who may enter


def test_a_host_beyond_loopback_wants_a_token() -> None:
    with pytest.raises(ConfigError, match="token"):
        ServeSettings(host="0.0.0.0")  # noqa: S104 - refused
    assert "secret" not in repr(ServeSettings(host="0.0.0.0", token="secret"))  # noqa: S104


@each_api
def test_the_token_is_asked_for_and_never_sent_on(path: str, upstream: Upstream) -> None:
    with proxied(upstream, token="s3cret") as url:
        for headers in ({}, {"x-gatekeeper-token": "wrong"}, {"authorization": "Bearer s3cret"}):
            response = httpx.post(url + path, json={}, headers=headers)
            assert response.status_code == 401
            assert "x-gatekeeper-token" in response.json()["error"]["message"]
        assert httpx.get(f"{url}/healthz").text == "ok\n"
        assert httpx.get(url).status_code == 401
        assert httpx.get(url, auth=("anybody", "s3cret")).status_code == 200
        assert httpx.post(url + path, json={}, auth=("anybody", "s3cret")).status_code == 401
        assert upstream.got == []
        assert httpx.post(url + path, json={}, headers={"x-gatekeeper-token": "s3cret"}).status_code == 200
    assert "s3cret" not in repr(upstream.got)


@pytest.mark.parametrize(("host", "status"), [("evil.example", 400), ("localhost:1", 200), ("127.0.0.1", 200)])
def test_a_foreign_name_that_leads_to_loopback_is_refused(host: str, status: int, url: str) -> None:
    for path in ("/", "/healthz", "/v1/models"):
        response = httpx.get(url + path, headers={"host": host, "origin": "http://evil.example"})
        assert response.status_code == status
        assert not [name for name in response.headers if name.startswith("access-control")]


def test_keys_are_in_no_log_and_on_no_page(upstream: Upstream, url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="gatekeeper")
    caplog.set_level(logging.INFO)
    headers = {"authorization": "Bearer sk-hidden", "x-api-key": "sk-hidden"}
    responses = [
        httpx.post(url + path, json={FIELDS[path]: talk(*TALKS["english"])}, headers=headers) for path in FIELDS
    ]
    pages = [httpx.get(url).text]
    pages += [httpx.get(f"{url}/threads/{one.headers['x-gatekeeper-thread']}").text for one in responses]
    assert all("6380" in page for page in pages[1:])
    assert "sk-hidden" not in "".join((caplog.text, *pages))
