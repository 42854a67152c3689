"""A context builder behind the memories, with engines and agents: what the model reads, and that the store keeps all."""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, LLMMetadata, TextBlock, ToolCallBlock
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import StaticMemoryBlock
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from gatekeeper_core.context.history.modes import HistoryConfig
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.search import MemoryConfig
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.parts import HEADINGS
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.errors import BudgetError
from gatekeeper_core.messages import MediaPart, Message, Provider, TextPart, ToolCall, validate_messages
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.tokens import count_messages
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from llama_index.memory.gatekeeper.reading import read_message
from llama_index.memory.gatekeeper.writing import write_built
from tests.adapters.chats import TALKS, assistant, history_of, user
from tests.adapters.histories import histories, to_llama_index
from tests.histories import configured

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.adapters

PIN = "[CRITICAL INSTRUCTION]"
each_script = pytest.mark.parametrize("script", TALKS)
each_memory = pytest.mark.parametrize("kind", ["buffer", "memory"])


def builder(memory: LongTermMemory | None = None, **settings: Any) -> ContextBuilder:
    merged: dict[str, Any] = {"total_budget": 4000, "locale": "en"} | settings
    return ContextBuilder(ContextBuilderConfig(**merged), memory=memory)


def memory_of(kind: str, history: Sequence[ChatMessage], built: ContextBuilder | None, **options: Any) -> Any:
    if kind == "buffer":
        return GatekeeperMemoryBuffer.from_defaults(
            **configured(chat_history=list(history), chat_store_key="t1", builder=built, **options)
        )
    made = GatekeeperMemory.from_defaults(**configured(session_id="t1", builder=built, **options))
    made.put_messages(list(history))
    return made


def got(memory: Any, **arguments: Any) -> list[ChatMessage]:
    return asyncio.run(memory.aget(**arguments))


def texts_of(messages: Sequence[ChatMessage]) -> list[str]:
    return [message.content or "" for message in messages]


@each_memory
@each_script
def test_what_is_known_stands_around_the_turns_and_the_store_keeps_everything(script: str, kind: str) -> None:
    pairs, question = TALKS[script]
    known = LongTermMemory(InMemoryStore(), config=MemoryConfig(min_similarity=0.0))
    known.add(MemoryScope("default", "ada"), f"{question} 6380", category="user_preference")
    built = builder(known, history=HistoryConfig(mode="window"), sliding_window_size=2)
    built.constraints.set(Thread("t1"), "language", script)
    history = [*history_of(pairs * 4), user(question)]
    memory = memory_of(kind, history, built, user="ada")
    messages = got(memory)
    assert messages[0].role == "system"
    for heading in (f"language: {script}", HEADINGS["en"]["summary"], HEADINGS["en"]["retrieved"]):
        assert heading in texts_of(messages)[0]
    assert texts_of(messages).count(question) == 1
    assert texts_of(messages)[-1] == question
    assert memory.get_all() == history
    assert memory.context_for("t1") is memory.last_context is not None
    assert memory.selection_for("t1") is memory.last_selection is not None


@each_script
def test_a_chat_engine_talks_through_it(script: str) -> None:
    pairs, question = TALKS[script]
    memory = memory_of(
        "buffer", [], builder(history=HistoryConfig(floor_turns=0, passthrough_below=0), enable_summary=False)
    )
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=3), memory=memory, system_prompt="be brief")
    for asked, _ in pairs:
        engine.chat(asked)
    engine.chat(question)
    assert len(engine.chat_history) == 8
    view = memory.last_selection
    assert view.status == "selected"
    assert pairs[0][0] in texts_of(memory.get_all()[at] for at in view.kept)
    asyncio.run(engine.achat(question))
    assert len("".join(engine.stream_chat(question).response_gen)) > 0
    assert len(memory.get_all()) == 12


class Nodes(BaseRetriever):
    def _retrieve(self, _: Any) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="a node"), score=1.0)]


@each_script
def test_an_engine_that_says_the_question_itself_gets_neither_question_nor_pin(script: str) -> None:
    pairs, question = TALKS[script]
    question = f"{question}\n{question}"
    memory = memory_of("buffer", history_of(pairs), builder(enable_instruction_pinning=True))
    messages = memory.get(input=question)
    assert memory.last_context.trace.safety_net
    assert question not in texts_of(messages)
    assert not [text for text in texts_of(messages) if PIN in text]
    assert messages[-1].role == "assistant"
    engine = ContextChatEngine.from_defaults(retriever=Nodes(), llm=MockLLM(max_tokens=3), memory=memory)
    engine.chat(question)
    assert texts_of(memory.get_all())[-2] == question


@each_memory
def test_what_is_over_the_budget_is_given_whole_and_alone(kind: str) -> None:
    pairs, question = TALKS["english"]
    head = ChatMessage("rules " * 300, role="system")
    memory = memory_of(kind, [head, *history_of(pairs), user(question)], builder(total_budget=100))
    assert texts_of(got(memory)) == [head.content, question]
    assert memory.last_context is None
    strict = memory_of(kind, [head, *history_of(pairs), user(question)], builder(total_budget=100), on_error="raise")
    with pytest.raises(BudgetError):
        got(strict)


def test_the_prefix_of_an_engine_counts() -> None:
    pairs, question = TALKS["english"]
    memory = memory_of("buffer", [*history_of(pairs * 10), user(question)], builder(total_budget=1000))
    memory.get(initial_token_count=500)
    assert memory.last_context.trace.available_tokens <= 500
    with pytest.raises(ValueError, match="Initial token count exceeds token limit"):
        memory.get(initial_token_count=1001)


def test_blocks_of_a_memory_work_beside_it() -> None:
    pairs, question = TALKS["english"]
    block = StaticMemoryBlock(static_content="The user is a gardener.")
    memory = memory_of("memory", [*history_of(pairs), user(question)], builder(), memory_blocks=[block])
    messages = got(memory)
    assert "gardener" in "".join(texts_of(messages))
    assert "gardener" not in "".join(texts_of(memory.get_all()))
    assert memory.last_context.trace.shares.reserved > 0


def test_memories_with_the_common_key_are_told_apart_by_what_was_said() -> None:
    built = builder()
    built.constraints.set(Thread("chat_history"), "language", "English")
    for first in ("The staging Redis listens on port 6380.", "酸面包要发酵十二个小时。"):
        history = [user(first), assistant("ok"), *history_of([("and?", "so.")] * 12), user("What next?")]
        said = texts_of(GatekeeperMemoryBuffer.from_defaults(history, builder=built).get())[0]
        assert first in said
        assert "language" not in said  # whoever has the common key would have it


@given(histories(open_run=True), st.integers(100, 3000), st.sampled_from(get_args(Provider)))
def test_every_provider_takes_what_is_given(messages: list[Message], budget: int, provider: Provider) -> None:
    built = ContextBuilder(ContextBuilderConfig(total_budget=budget), token_counter=len)
    memory = memory_of("buffer", to_llama_index(messages), built, provider=provider)
    read = [read_message(message) for message in memory.get()]
    if memory.last_context is not None:
        assert validate_messages(read, provider=provider, open_run=True) == ()
        assert count_messages(read, token_counter=len) <= budget


def test_in_shadow_mode_the_stock_class_answers() -> None:
    pairs, question = TALKS["english"]
    history = [*history_of(pairs), user(question)]
    memory = memory_of("buffer", history, builder(), shadow=True)
    assert memory.get() == history
    assert memory.last_context is not None


def test_settings_that_contradict_the_builder_are_refused() -> None:
    for options, named in (
        ({"token_limit": 100}, "token_limit is 100"),
        ({"token_budget": 100}, "HistoryConfig.token_budget is 100"),
        ({"floor_turns": 2}, "floor_turns: "),
    ):
        with pytest.raises(ValueError, match=named):
            GatekeeperMemoryBuffer.from_defaults(**configured(builder=builder(), **options))
        with pytest.raises(ValueError, match=named):
            GatekeeperMemory.from_defaults(**configured(builder=builder(), **options))
    with pytest.raises(TypeError, match="builder"):
        GatekeeperMemoryBuffer(token_limit=10, builder="b")


def test_a_memory_is_written_without_its_builder_and_read_with_one() -> None:
    pairs, question = TALKS["english"]
    built = builder()
    memory = memory_of("buffer", [*history_of(pairs), user(question)], built, user="ada")
    first = texts_of(memory.get())
    again = GatekeeperMemoryBuffer.from_string(memory.to_string(), builder=built)
    assert (again.user, texts_of(again.get())) == ("ada", first)
    stored = GatekeeperMemoryBuffer.from_dict(memory.to_dict(), chat_store=memory.chat_store, builder=built)
    assert texts_of(stored.get()) == first
    assert memory.__getstate__()["__dict__"]["builder"] is None
    assert texts_of(copy.deepcopy(memory).get()) == first


# --- messages that are written --------------------------------------------------------------------------------------


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
def test_what_is_made_reads_as_it_was_made(message: Message) -> None:
    assert read_message(write_built(message, [])) == message


def test_what_is_changed_keeps_media_calls_and_marks() -> None:
    call = ToolCallBlock(tool_call_id="a", tool_name="port", tool_kwargs={"service": "redis"})
    picture = ImageBlock(url="data:,")
    original = ChatMessage(
        role="assistant", blocks=[TextBlock(text="long"), picture, call], additional_kwargs={"mark": 1}
    )
    message = Message("assistant", (TextPart("短"), MediaPart("image")), tool_calls=read_message(original).tool_calls)
    written = write_built(message, [(message, original)])
    assert written.blocks == [TextBlock(text="短"), picture, call]
    assert written.additional_kwargs == {"mark": 1}
    named = Message("assistant", "long", tool_calls=(ToolCall("call_1_0", "port", "{}"),))
    assert read_message(write_built(named, [(named, original)])) == named
    result = ChatMessage("long", role="tool", additional_kwargs={"tool_call_id": "", "mark": 2})
    answer = Message("tool", "short", tool_call_id="call_1_0")
    assert write_built(answer, [(answer, result)]).additional_kwargs == {"tool_call_id": "call_1_0", "mark": 2}
    assert original.blocks[0].text == "long"


@each_memory
@pytest.mark.parametrize("is_built", [False, True])
def test_the_prices_are_those_of_the_model(is_built: bool, kind: str) -> None:
    class Named(MockLLM):
        name: str = ""

        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name=self.name)

    dollars = []
    for name in ("claude-sonnet-4-5", "claude-haiku-4-5"):
        llm = Named()
        llm.name = name
        memory = memory_of(kind, [user("Which Redis port?")], builder() if is_built else None, llm=llm)
        got(memory)
        assert memory.last_selection.bill is not None
        dollars.append(memory.last_selection.bill.dollars)
    assert dollars[0] == pytest.approx(3 * dollars[1])  # 3.00 and 1.00 dollars a million
