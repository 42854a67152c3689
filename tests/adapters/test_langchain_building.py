"""A context builder behind the middleware, in real agents: what the model reads, and that the state keeps everything."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware.types import ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from langchain_gatekeeper import GatekeeperMiddleware
from langchain_gatekeeper.models import provider_of
from langchain_gatekeeper.requests import system_of
from tests.adapters.histories import TOPICS
from tests.adapters.scripted import Scripted, contents, on, run_again, talk
from tests.adapters.test_building import builder
from tests.adapters.test_langchain_middleware import CONFIG, calling, request_of, sent

if TYPE_CHECKING:
    from collections.abc import Sequence
GATED: dict[str, Any] = {"history": HistoryConfig(keep_newest=0, passthrough_below=0), "locale": "en"}


def read(messages: Sequence[BaseMessage]) -> str:
    return "\n".join(str(message.text) for message in messages)


# --- in agents ------------------------------------------------------------------------------------------------------


def hexadecimal(tenant: str) -> LongTermMemory:
    memory = LongTermMemory(InMemoryStore(), min_similarity=0.0)
    memory.add(MemoryScope(tenant, "ada"), "Ada wants the Redis port in hexadecimal.", category="user_preference")
    return memory


def test_threads_users_and_tenants_do_not_mix() -> None:
    built = builder(hexadecimal("acme"))
    built.constraints.set(Thread("t1", tenant="acme"), "tone", "formal")
    model, gate = Scripted(), GatekeeperMiddleware(builder=built)
    agent = create_agent(model, [], middleware=[gate], checkpointer=InMemorySaver())
    found = []
    for thread, user, tenant in (
        ("t1", "ada", "acme"),
        ("t2", "ada", "acme"),
        ("t3", "bob", "acme"),
        ("t4", "ada", ""),
    ):
        config = on(thread)
        config["configurable"] |= {"user_id": user, "tenant_id": tenant}
        agent.invoke({"messages": "Which Redis port does Ada want?"}, config)
        found.append(("hexadecimal" in read(model.seen[-1]), "formal" in read(model.seen[-1])))
        run_again(agent, config)
    assert found == [(True, True), (True, False), (False, False), (False, False)]
    assert gate.context_for("t4") is gate.last_context is not None
    ours = gate.context_for("t1", tenant="acme")
    assert gate.selection_for("t1", tenant="acme") is ours.trace.view is not gate.last_selection
    assert gate.context_for("t1") is None


@dataclass
class Who:
    """The context of a run."""

    user_id: str


@pytest.mark.parametrize(
    ("user", "kind"), [("user_id", Who), ("user_id", dict), (lambda runtime: runtime.context.user_id, Who)]
)
def test_the_user_is_found_in_the_context_of_the_run(user: Any, kind: Any) -> None:
    gate = GatekeeperMiddleware(builder=builder(hexadecimal("default")), user=user)
    request = request_of([HumanMessage("Which Redis port?")], runtime=SimpleNamespace(context=kind(user_id="ada")))
    request = sent(gate, request)
    system = system_of(request)
    assert "hexadecimal" in read([*([system] if system else []), *request.messages])


@pytest.mark.parametrize("builds", [False, True])
def test_a_summary_by_another_middleware_is_always_sent_and_never_the_question(builds: bool) -> None:
    pairs, question = TOPICS["english"]
    summary = HumanMessage("so far: zebras, at length", additional_kwargs={"lc_source": "summarization"})
    gate = GatekeeperMiddleware(builder=builder(**GATED)) if builds else GatekeeperMiddleware(CONFIG)
    passed = sent(gate, request_of([summary, *talk(pairs), HumanMessage(question)])).messages
    assert any(message is summary for message in passed)
    assert question in passed[-1].text
    assert pairs[3][1] not in contents(passed)
    later = [*talk(pairs), summary, AIMessage("I see."), *talk(pairs[:1]), HumanMessage(question)]
    assert summary not in sent(gate, request_of(later)).messages, "a client may have written the mark"
    alone = sent(gate, request_of([summary, calling(), ToolMessage("6380", tool_call_id="c1")])).messages
    assert [message.text for message in alone] == [summary.text, "", "6380"]
    marked = AIMessage("an answer", additional_kwargs={"lc_source": "summarization"})
    assert sent(gate, request_of([HumanMessage("hi"), marked, HumanMessage("yo")])).messages[-1].text == "yo"


# --- what the model takes -------------------------------------------------------------------------------------------


def test_the_provider_is_the_one_that_the_model_names_and_the_strictest_for_others() -> None:
    named = ("openai", "azure", "anthropic", "google_genai", "minimax")
    providers = [lambda name=name: {"ls_provider": name} for name in named]
    found = [provider_of(SimpleNamespace(_get_ls_params=params)) for params in (*providers, dict, lambda: None)]
    assert found == ["openai", "openai", "anthropic", "gemini", "minimax", "gemini", "gemini"]
    assert provider_of(SimpleNamespace()) == "gemini"


def test_system_blocks_and_their_cache_marks_stay() -> None:
    if not hasattr(request_of([]), "system_message"):
        pytest.skip("in this version of LangChain a system prompt is a text")
    blocks: list[Any] = [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}]
    built = builder()
    built.constraints.set(Thread("t1"), "language", "中文")
    gate = GatekeeperMiddleware(builder=built)
    system = SystemMessage(blocks, id="s1")
    model = Scripted()
    agent = create_agent(model, [], middleware=[gate], system_prompt=system)
    agent.invoke({"messages": "hi"}, on("t1"))
    first = model.seen[0][0]
    assert first.content[0] == blocks[0]
    assert "中文" in read([first])
    run_again(agent, on("t1"))
    assert system.content == blocks


# --- over budget, shadow, settings, events --------------------------------------------------------------------------


def test_what_the_provider_reports_corrects_the_bill_of_a_build() -> None:
    class Named(Scripted):
        model_name: str = "claude-sonnet-4-5"

    gate, paid = GatekeeperMiddleware(builder=builder()), 0.0
    usage = {"input_tokens": 1_000_000, "output_tokens": 0, "total_tokens": 1_000_000}
    messages: list[BaseMessage] = []
    for question in ("Which Redis port?", "And which host?"):
        messages.append(HumanMessage(question))
        answer = AIMessage("6380.", usage_metadata=usage)  # type: ignore[arg-type]
        gate.wrap_model_call(request_of(list(messages), model=Named()), lambda _, reply=answer: ModelResponse([reply]))
        messages.append(answer)
        paid = gate.last_selection.bill.paid - gate.last_selection.bill.dollars
    assert paid == pytest.approx(3.0)  # the first call, at 3.00 dollars a million
