"""The real Python clients through the proxy: whole answers and streams, tools, and what the providers refuse."""

from __future__ import annotations

import json
import random
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

import anthropic
import httpx
import openai
import pytest
from starlette.responses import JSONResponse

from gatekeeper_core import HistoryConfig
from gatekeeper_core.native.reading import read_native
from gatekeeper_serve.apis import APIS
from gatekeeper_serve.reading import GrowingLists
from tests.native_lists import ANTHROPIC, CHAT, RESPONSES, Native, NativeTurn, talk, without_thoughts
from tests.serve.test_proxy import TALKS
from tests.serve.test_proxy import talk as talk_about
from tests.serve.upstream import CHAT as CHAT_PATH
from tests.serve.upstream import MESSAGES as MESSAGES_PATH
from tests.serve.upstream import RESPONSES as RESPONSES_PATH
from tests.serve.upstream import WEATHER, Upstream, proxied
from tests.strict_server import HISTORIES, StrictServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Items = list[dict[str, Any]]
OPENAI_TOOL = {"name": "weather", "description": "The weather.", "parameters": WEATHER}


class Answer(NamedTuple):
    """What a client made of a response: the text, and the items that go on from a call of the tool."""

    text: str
    going_on: Items


def chat(client: openai.OpenAI, items: Items, *, stream: bool = False, tools: bool = False) -> Answer:
    settings: dict[str, Any] = {"model": "gpt-4o", "messages": items}
    settings |= {"tools": [{"type": "function", "function": OPENAI_TOOL}]} if tools else {}
    if stream:
        with client.chat.completions.stream(**settings) as events:
            message = events.get_final_completion().choices[0].message
    else:
        message = client.chat.completions.create(**settings).choices[0].message
    if not message.tool_calls:
        return Answer(message.content or "", [])
    (call,) = message.tool_calls
    reply = {"role": "assistant", "tool_calls": [call.model_dump(include={"id", "type", "function"})]}
    reply["tool_calls"][0]["function"].pop("parsed_arguments", None)
    return Answer(
        "", [reply, {"role": "tool", "tool_call_id": call.id, "content": f"rain for {call.function.arguments}"}]
    )


def responses(client: openai.OpenAI, items: Items, *, stream: bool = False, tools: bool = False) -> Answer:
    settings: dict[str, Any] = {"model": "gpt-4o", "input": items, "store": False}
    settings |= {"tools": [{"type": "function", "strict": False, **OPENAI_TOOL}]} if tools else {}
    if stream:
        with client.responses.stream(**settings) as events:
            response = events.get_final_response()
    else:
        response = client.responses.create(**settings)
    calls = [item for item in response.output if item.type == "function_call"]
    if not calls:
        return Answer(response.output_text, [])
    call = {"type": "function_call"} | {name: getattr(calls[0], name) for name in ("call_id", "name", "arguments")}
    output = {"type": "function_call_output", "call_id": calls[0].call_id, "output": f"rain for {calls[0].arguments}"}
    return Answer("", [call, output])


def messages(client: anthropic.Anthropic, items: Items, *, stream: bool = False, tools: bool = False) -> Answer:
    settings: dict[str, Any] = {"model": "claude-of-this-test", "max_tokens": 1_000, "messages": items}
    settings |= {"tools": [{"name": "weather", "input_schema": WEATHER}]} if tools else {}
    if stream:
        with client.messages.stream(**settings) as events:
            message = events.get_final_message()
    else:
        message = client.messages.create(**settings)
    calls = [block for block in message.content if block.type == "tool_use"]
    if not calls:
        return Answer("".join(block.text for block in message.content if block.type == "text"), [])
    call = {name: getattr(calls[0], name) for name in ("type", "id", "name", "input")}
    text = f"rain for {json.dumps(calls[0].input)}"
    result = {"type": "tool_result", "tool_use_id": calls[0].id, "content": text}
    return Answer("", [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}])


class Client(NamedTuple):
    """A client of an API: how it is made for the address of the proxy, and how it asks."""

    make: Callable[..., Any]
    ask: Callable[..., Answer]
    native: Native
    field: str


def of_openai(url: str, key: str = "sk-test-1") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)


def of_anthropic(url: str, key: str = "sk-test-1") -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)


CLIENTS = {
    "chat": Client(of_openai, chat, CHAT, "messages"),
    "responses": Client(of_openai, responses, RESPONSES, "input"),
    "messages": Client(of_anthropic, messages, ANTHROPIC, "messages"),
}
each_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)


@each_client
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_client_talks_and_calls_tools(client: Client, stream: bool, upstream: Upstream, url: str) -> None:
    items = talk_about(*TALKS["mixed"])
    one = client.make(url)
    assert client.ask(one, items, stream=stream).text == "ok 好"
    called = client.ask(one, items, stream=stream, tools=True)
    assert "Köln" in json.dumps(called.going_on, ensure_ascii=False)
    assert client.ask(one, [*items, *called.going_on], stream=stream, tools=True).text == "ok 好"
    sent = [got.json[client.field] for got in upstream.got]
    assert all(items[0] in each and len(each) < len(items) for each in sent)
    assert sent[2][-2:] == called.going_on
    keys = {got.header("x-api-key") or got.header("authorization") for got in upstream.got}
    assert keys <= {"sk-test-1", "Bearer sk-test-1"}


@each_client
@pytest.mark.parametrize(("status", "error"), [(401, "AuthenticationError"), (429, "RateLimitError")])
def test_a_client_raises_its_own_errors(client: Client, status: int, error: str, upstream: Upstream, url: str) -> None:
    upstream.answer = lambda got: JSONResponse({"error": {"message": "not now"}}, status, {"retry-after": "9"})
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError), match="not now") as raised:
        client.ask(client.make(url), talk_about(*TALKS["english"]))
    assert type(raised.value).__name__ == error
    assert raised.value.response.headers["retry-after"] == "9"


@each_client
def test_an_error_of_the_proxy_is_one_of_the_clients_own(client: Client, upstream: Upstream) -> None:
    with (
        proxied(upstream, token="s3cret") as url,
        pytest.raises((openai.AuthenticationError, anthropic.AuthenticationError), match="x-gatekeeper-token"),
    ):
        client.ask(client.make(url), [])
    with (
        proxied("http://127.0.0.1:9") as url,
        pytest.raises((openai.InternalServerError, anthropic.InternalServerError), match="cannot be reached"),
    ):
        client.ask(client.make(url), [])


# --- what the providers refuse

CONFIGS = [
    HistoryConfig(strategy=strategy, token_budget=budget, passthrough_below=0, on_error="raise")
    for strategy, budget in (("gate", 60), ("gate", 400), ("fill", 150), ("fill", 1_500), ("cache", 400))
]


def steps(turns: list[NativeTurn]) -> Iterator[list[NativeTurn]]:
    """Yield a conversation as it is sent: at each question, and after each round of tools."""
    for at, turn in enumerate(turns):
        for count in range(len(turn.rounds) + 1):
            yield [*turns[:at], turn._replace(rounds=turn.rounds[:count], answer=None)]


@each_client
def test_nothing_that_the_proxy_sends_is_refused(client: Client) -> None:
    changed = 0
    with StrictServer() as server, ExitStack() as proxies:
        urls = [proxies.enter_context(proxied(server.url, history=config)) for config in CONFIGS]
        makers = [client.make(url) for url in urls]
        for seed in range(0, HISTORIES, 2):
            turns = talk(seed)
            turns = without_thoughts(turns) if client.native is CHAT else turns
            server.begin(client.native, turns, [])
            one = makers[random.Random(seed).randrange(len(makers))]
            for step in steps(turns):
                items = client.native.write(step)
                assert client.ask(one, items).text == "ok", f"seed {seed}: {server.refused}"
                changed += server.last_request[client.field] != items
        assert server.refused == []
    assert changed > HISTORIES // 4


@pytest.mark.parametrize(
    ("path", "name"), [(path, path.rpartition("/")[2]) for path in (CHAT_PATH, RESPONSES_PATH, MESSAGES_PATH)]
)
def test_a_conversation_is_one_thread_from_its_first_request_on(path: str, name: str, url: str) -> None:
    client = CLIENTS[name.replace("completions", "chat")]
    requests = [{client.field: client.native.write(step)} for step in steps(without_thoughts(talk(5)))]
    ids = {httpx.post(url + path, json=request).headers["x-gatekeeper-thread"] for request in requests}
    assert (len(requests) > 5, len(ids)) == (True, 1)


@each_client
def test_a_list_that_grows_is_read_as_if_it_were_new(client: Client) -> None:
    lists, api = GrowingLists(4), next(one for one in APIS if one.name == client.ask.__name__)
    for seed in range(6):
        for step in [*steps(talk(seed)), talk(seed)[:1]]:
            items = json.loads(json.dumps(client.native.write(step)))
            grown, new = lists.read(items, api.format, "t"), read_native(items, api.format)
            assert (grown.messages, grown.spans, grown.format) == (new.messages, new.spans, new.format)
