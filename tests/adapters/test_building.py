"""A context builder behind the adapters of both frameworks: what the model reads, and that the store keeps all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.llms.mock import MockLLM

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.parts import HEADINGS
from gatekeeper_core.errors import BudgetError
from gatekeeper_core.messages import Message, Provider, ToolCall, validate_messages
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.tokens import count_messages
from langchain_gatekeeper import GatekeeperMiddleware
from langchain_gatekeeper import messages as langchain
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from llama_index.memory.gatekeeper import messages as llama_index
from tests.adapters.histories import TOPICS, histories, to_langchain, to_llama_index
from tests.adapters.scripted import Scripted, on
from tests.histories import configured
from tests.talks import talk

if TYPE_CHECKING:
    from collections.abc import Sequence


QUESTION = [Message("user", "Which Redis port?")]


def builder(memory: LongTermMemory | None = None, **settings: Any) -> ContextBuilder:
    merged: dict[str, Any] = {"total_budget": 4000, "locale": "en"} | settings
    return ContextBuilder(ContextBuilderConfig(**merged), memory=memory)


class NamedScripted(Scripted):
    model_name: str = ""


class NamedMock(MockLLM):
    name: str = ""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name=self.name)


class Middleware:
    """The middleware in an agent, whose system prompt is the first message."""

    def __init__(
        self, history: Sequence[Message], built: ContextBuilder | None, model: str = "", user: str = "", **options: Any
    ) -> None:
        self.gate: Any = GatekeeperMiddleware(**configured(builder=built, **options))
        self.model, self.messages = NamedScripted(model_name=model), to_langchain(history)
        prompt = self.messages.pop(0).text if history[0].role == "system" else None
        saver = InMemorySaver()
        self.agent = create_agent(self.model, [], middleware=[self.gate], checkpointer=saver, system_prompt=prompt)
        self.config = on("t1")
        self.config["configurable"]["user_id"] = user

    def ask(self) -> list[Message]:
        """Return what the model reads."""
        self.agent.invoke({"messages": self.messages}, self.config)
        return [langchain.read_message(message) for message in self.model.seen[-1]]

    def keeps_everything(self) -> bool:
        return self.agent.get_state(self.config).values["messages"][:-1] == self.messages


class Buffer:
    """GatekeeperMemoryBuffer, asked for what it gives."""

    def __init__(
        self, history: Sequence[Message], built: ContextBuilder | None, model: str = "", **options: Any
    ) -> None:
        self.messages = to_llama_index(history)
        llm = NamedMock()
        llm.name = model
        self.gate: Any = self.opened(configured(builder=built, llm=llm, **options))

    def opened(self, options: dict[str, Any]) -> Any:
        return GatekeeperMemoryBuffer.from_defaults(self.messages, chat_store_key="t1", **options)

    def ask(self) -> list[Message]:
        return [llama_index.read_message(message) for message in self.gate.get()]

    def keeps_everything(self) -> bool:
        return self.gate.get_all() == self.messages


class Memory(Buffer):
    """GatekeeperMemory, asked for what it gives."""

    def opened(self, options: dict[str, Any]) -> Any:
        memory = GatekeeperMemory.from_defaults(session_id="t1", **options)
        memory.put_messages(self.messages)
        return memory


DOORS = (Middleware, Buffer, Memory)
each_door = pytest.mark.parametrize("door", DOORS)


@each_door
@pytest.mark.parametrize("script", TOPICS)
def test_what_is_known_stands_around_the_turns_and_the_store_keeps_everything(script: str, door: Any) -> None:
    pairs, question = TOPICS[script]
    memories = LongTermMemory(InMemoryStore(), min_similarity=0.0)
    memories.add(MemoryScope("default", "ada"), f"{question} 6380", category="user_preference")
    built = builder(memories, history=HistoryConfig(strategy="window"), sliding_window_size=2)
    built.constraints.set(Thread("t1"), "language", script)
    at_door = door([*talk(pairs * 3), Message("user", question)], built, user="ada")
    messages = at_door.ask()
    assert messages[0].role == "system"
    for heading in (f"language: {script}", HEADINGS["en"]["summary"], HEADINGS["en"]["retrieved"]):
        assert heading in messages[0].text
    assert [message.text for message in messages].count(question) == 1
    assert messages[-1].text == question
    assert at_door.keeps_everything()
    assert at_door.gate.context_for("t1") is at_door.gate.last_context is not None
    assert at_door.gate.selection_for("t1") is at_door.gate.last_selection is not None


@each_door
@pytest.mark.parametrize("script", TOPICS)
def test_what_is_over_the_budget_is_given_whole_and_alone(script: str, door: Any) -> None:
    pairs, question = TOPICS[script]
    messages = [Message("system", "rules " * 300), *talk(pairs), Message("user", question)]
    at_door = door(messages, builder(total_budget=100))
    assert [message.text for message in at_door.ask()] == [messages[0].text, messages[-1].text]
    assert (at_door.gate.last_context, at_door.gate.last_selection) == (None, None)
    with pytest.raises(BudgetError):
        door(messages, builder(total_budget=100), on_error="raise").ask()


@pytest.mark.parametrize("door", [Middleware, Buffer])
@given(histories(open_run=True), st.integers(100, 3000), st.sampled_from(get_args(Provider)))
def test_every_provider_takes_what_is_given(
    door: Any, messages: list[Message], budget: int, provider: Provider
) -> None:
    built = ContextBuilder(ContextBuilderConfig(total_budget=budget), token_counter=len)
    at_door = door(messages, built, provider=provider)
    read = at_door.ask()
    if at_door.gate.last_context is not None:  # else over the budget: whole, as the store has it
        assert validate_messages(read, provider=provider, open_run=True) == ()
        assert count_messages(read, token_counter=len) <= budget


@each_door
@pytest.mark.parametrize("is_built", [False, True])
def test_the_prices_are_those_of_the_model(is_built: bool, door: Any) -> None:
    dollars = []
    for name in ("claude-sonnet-4-5", "claude-haiku-4-5"):
        at_door = door(QUESTION, builder() if is_built else None, model=name)
        at_door.ask()
        dollars.append(at_door.gate.last_selection.bill.dollars)
    assert dollars[0] == pytest.approx(3 * dollars[1])  # 3.00 and 1.00 dollars a million


@pytest.mark.parametrize("adapter", [langchain, llama_index])
@pytest.mark.parametrize(
    "message",
    [
        Message("system", "[对话背景摘要]"),
        Message("user", "[2 tool calls executed]"),
        Message("assistant", "ok", tool_calls=(ToolCall("a", "port", '{"service":"redis"}'),)),
        Message("assistant", "", tool_calls=(ToolCall("b", "port", "{broken"),)),
        Message("tool", "[no result]", tool_call_id="a", name="port"),
    ],
)
def test_what_is_made_reads_as_it_was_made(message: Message, adapter: Any) -> None:
    assert adapter.read_message(adapter.write_built(message, [])) == message
