"""The callback of LiteLLM, with a server on loopback that refuses what OpenAI would refuse."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest

if not TYPE_CHECKING:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import asks the network for a newer table of prices
    pytest.importorskip("litellm", reason="no litellm: pip install --group test-hooks")

import litellm
from litellm.types.utils import CallTypes

from gatekeeper_hooks import GatekeeperCallback
from tests.hooks.hook_contract import CONFIG, Call, HookContract, Hooked, Line, Played, Run, recorded
from tests.native_lists import CHAT, RESPONSES, Round
from tests.native_lists import Call as Called
from tests.strict_server import StrictServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper_core import HistoryConfig

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "Look a number up.",
            "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}},
        },
    }
]
TALK = [
    {"role": "user", "content": "Our Redis cache uses port 6380."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "How is bread made? " + "It rises overnight. " * 100},
    {"role": "assistant", "content": "Slowly."},
    {"role": "user", "content": "Which port does our Redis cache use?"},
]


class Recorded(GatekeeperCallback):
    def __init__(self, config: HistoryConfig) -> None:
        super().__init__(config)
        self.hooked: list[Hooked] = []

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        returned = await super().async_pre_call_deployment_hook(kwargs, call_type)
        assert returned is not None
        recorded(self.hooked, kwargs["messages"], returned["messages"], self.last_view)
        return returned


def line_of(message: Any) -> Line:
    message = message if isinstance(message, dict) else message.model_dump()
    calls = tuple(call["id"] for call in message.get("tool_calls") or ())
    return Line(message["role"], message.get("content") or "", calls, message.get("tool_call_id") or "")


@pytest.fixture(autouse=True)
def no_callbacks() -> Iterator[None]:
    yield
    litellm.callbacks = []


class TestGatekeeperCallback(HookContract):
    def play(self, runs: Sequence[Run], config: HistoryConfig) -> Played:
        hook = Recorded(config)
        litellm.callbacks = [hook]
        steps = [
            Round("", "", (Called(step.id, "look_up", {"number": step.number}, step.result),))
            if isinstance(step, Call)
            else Round("", step)
            for run in runs
            for step in run.steps
        ]
        requests: list[list[Line]] = []
        messages: list[Any] = []

        async def all_runs(server: StrictServer) -> None:
            settings: dict[str, Any] = {"api_base": f"{server.url}/v1", "api_key": "none", "tools": TOOLS}
            for run in runs:
                messages.append({"role": "user", "content": run.question})
                for step in run.steps:
                    answer = await litellm.acompletion(model="openai/strict", messages=messages, **settings)
                    requests.append([line_of(message) for message in server.last_request["messages"]])
                    messages.append(answer.choices[0].message)
                    if isinstance(step, Call):
                        messages.append({"role": "tool", "tool_call_id": step.id, "content": step.result})

        with StrictServer() as server:
            server.begin(CHAT, [], steps)
            asyncio.run(all_runs(server))
            assert server.refused == []
        return Played(requests, [line_of(message) for message in messages], hook.hooked)


def test_a_router_selects_once_and_names_the_thread_by_the_session() -> None:
    gate = GatekeeperCallback(CONFIG)
    litellm.callbacks = [gate]
    router = litellm.Router([{"model_name": "chat", "litellm_params": {"model": "gpt-4o", "mock_response": "6380"}}])
    asyncio.run(router.acompletion("chat", TALK, litellm_session_id="s1"))
    assert gate.last_view is not None
    assert gate.last_view.left_out == (1,)
    assert gate.last_view.sizes.message_count == len(TALK)
    assert gate.selector.threads.view_of("s1") is not None


def test_reported_usage_corrects_the_account_of_the_session() -> None:
    gate = GatekeeperCallback(CONFIG)
    call = {"messages": TALK, "model": "gpt-4o", "litellm_session_id": "s1", "tools": TOOLS}
    asyncio.run(gate.async_pre_call_deployment_hook(call, CallTypes.acompletion))
    assert gate.last_view is not None
    assert gate.last_view.fixed_tokens > 0
    before = gate.selector.threads.policy_of("s1")
    answer = {"usage": {"prompt_tokens": 5000, "completion_tokens": 1}}
    asyncio.run(gate.async_log_success_event({"litellm_params": {"litellm_session_id": "s1"}}, answer, None, None))
    after = gate.selector.threads.policy_of("s1")
    assert before is not None
    assert after is not None
    assert after.ledger.paid > 5 * before.ledger.paid


def test_one_api_served_by_another_is_selected_from_once() -> None:
    gate = GatekeeperCallback(CONFIG)
    litellm.callbacks = [gate]
    with StrictServer() as server:
        server.begin(RESPONSES, [], [Round("", "6380")])
        settings = {"api_base": f"{server.url}/v1", "api_key": "none"}
        asyncio.run(litellm.anthropic_messages(model="openai/strict", messages=TALK, max_tokens=9, **settings))
        assert len(server.last_request["input"]) == 3
    assert gate.last_view is not None
    assert gate.last_view.sizes.message_count == len(TALK)


def test_a_message_object_comes_back() -> None:
    given = [TALK[0], litellm.Message(role="assistant", content="Noted."), *TALK[2:]]
    gate = GatekeeperCallback(CONFIG)
    returned = asyncio.run(gate.async_pre_call_deployment_hook({"messages": given}, CallTypes.acompletion))
    assert returned is not None
    assert [id(message) for message in returned["messages"]] == [id(given[at]) for at in (0, 1, 4)]


def test_each_key_of_the_proxy_is_a_tenant_and_generated_sessions_name_nothing() -> None:
    gate = GatekeeperCallback(CONFIG)

    def select(**metadata: Any) -> None:
        arguments = {"messages": TALK, "metadata": metadata}
        asyncio.run(gate.async_pre_call_deployment_hook(arguments, CallTypes.acompletion))

    select(session_id="s1", user_api_key_hash="a")
    select(session_id="s2", litellm_session_id_generated=True)
    threads = gate.selector.threads
    assert threads.view_of("s1", tenant="a") is not None
    assert threads.view_of("s1") is threads.view_of("s2") is None


def test_responses_are_selected_from_and_embeddings_are_not() -> None:
    gate = GatekeeperCallback(CONFIG)
    litellm.callbacks = [gate]
    with StrictServer() as server:
        server.begin(RESPONSES, [], [Round("", "6380")])
        asyncio.run(litellm.aresponses(model="openai/strict", input=TALK, api_base=f"{server.url}/v1", api_key="none"))
        assert [item["content"] for item in server.last_request["input"]] == [TALK[at]["content"] for at in (0, 1, 4)]
    embedded = {"input": [item["content"] for item in TALK]}
    assert asyncio.run(gate.async_pre_call_deployment_hook(embedded, CallTypes.aembedding)) is None
