"""GatekeeperMemoryBuffer on its stores and through its serializers, and both memories in LlamaIndex's engines and agents."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine, SimpleChatEngine
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.chat_store import BaseChatStore
from llama_index.core.tools import FunctionTool
from pydantic import Field

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.errors import BudgetError
from gatekeeper_core.messages import validate_messages
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.selection.settings import GatekeeperConfig
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from llama_index.memory.gatekeeper.messages import read_message
from tests.adapters.chats import assistant, history_of, texts, user
from tests.adapters.doors import now
from tests.adapters.pickling import by_pickle
from tests.adapters.scripted_llama_index import CallingModel, RememberingModel, run_agent
from tests.adapters.test_llama_index_memory import memory
from tests.histories import configured
from tests.talks import TALKS as CHATS

TALKS = {script: (pairs, question, "6380") for script, (pairs, question) in CHATS.items()}
each_talk = pytest.mark.parametrize("talk", TALKS)
each_way = pytest.mark.parametrize("asynchronous", [False, True])


def buffer(messages: Sequence[ChatMessage] = (), **options: Any) -> GatekeeperMemoryBuffer:
    arguments = {"token_limit": 1000, "on_error": "raise", "keep_newest": 0, "passthrough_below": 0} | options
    return GatekeeperMemoryBuffer.from_defaults(list(messages), **configured(**arguments))


each_memory = pytest.mark.parametrize("opened", [buffer, memory])


# --- what is chosen -------------------------------------------------------------------------------------------------


def test_a_prefix_over_the_limit_is_refused_in_the_words_of_the_stock_class() -> None:
    memory = buffer([user("hi")], token_limit=100)
    with pytest.raises(ValueError, match="Initial token count") as stock:
        ChatMemoryBuffer.from_defaults(token_limit=100).get(initial_token_count=101)
    for get in (memory.get, lambda **arguments: asyncio.run(memory.aget(**arguments))):
        with pytest.raises(ValueError, match="Initial token count") as ours:
            get(initial_token_count=101)
        assert (type(ours.value), str(ours.value)) == (type(stock.value), str(stock.value))
        assert isinstance(ours.value.__cause__, BudgetError)
        assert (ours.value.__cause__.needed_tokens, ours.value.__cause__.available_tokens) == (101, 100)


# --- what is stored -------------------------------------------------------------------------------------------------


class AsyncOnlyStore(BaseChatStore):
    """A store of a server whose driver has no synchronous side."""

    kept: list[ChatMessage] = Field(default_factory=list)

    def get_messages(self, key: str) -> list[ChatMessage]:
        raise NotImplementedError

    async def aget_messages(self, key: str) -> list[ChatMessage]:
        await asyncio.sleep(0)
        return list(self.kept)

    async def async_add_message(self, key: str, message: ChatMessage) -> None:
        self.kept.append(message)

    set_messages = add_message = delete_messages = delete_message = delete_last_message = get_keys = get_messages  # type: ignore[assignment]


def test_a_store_with_asynchronous_methods_only_will_do() -> None:
    async def run() -> list[ChatMessage]:
        memory = GatekeeperMemoryBuffer(
            token_limit=100, chat_store=AsyncOnlyStore(), config=HistoryConfig(token_budget=None, on_error="raise")
        )
        await memory.aput(user("hello"))
        return await memory.aget()

    assert texts(asyncio.run(run())) == ["hello"]


def test_shadow_mode_gives_what_llama_index_gives_and_reports_ours(events: list[Any]) -> None:
    pairs, question, _ = TALKS["english"]
    history = [*history_of(pairs), user(question)]
    memory = buffer(history, shadow=True, token_limit=70)
    stock = ChatMemoryBuffer.from_defaults(history, token_limit=70)
    assert memory.get() == stock.get() == asyncio.run(memory.aget())
    assert len(stock.get()) == 5
    assert memory.last_selection.kept == (0, 1, 6)
    assert [(event.shadow, event.turn_ids) for event in events] == [(True, [0])] * 2


# --- what is reported -----------------------------------------------------------------------------------------------


def test_changed_options_hold_from_the_next_call_on() -> None:
    pairs, question, _ = TALKS["english"]
    memory = buffer([*history_of(pairs), user(question)], trim=False)
    assert len(memory.get()) == 3
    memory.config = replace(memory.config, passthrough_below=500)
    assert len(memory.get()) == 7
    memory.token_limit = 20
    assert texts(memory.get()) == [question]
    memory.tokenizer_fn = lambda text: []
    assert len(memory.get()) == 7


# --- writing and reading --------------------------------------------------------------------------------------------

CONFIG = HistoryConfig(
    strategy="fill",
    coverage=0.7,
    token_budget=77,
    reserve_tokens=5,
    keep_newest=2,
    pin_instructions=False,
    passthrough_below=3,
    prices=ModelPrices(input=3, output=15, cache_read=0.3, cache_write=6),
    on_error="raise",
    gatekeeper=GatekeeperConfig(strategy="fill", new_above=0.5),
)


def rich_history() -> list[ChatMessage]:
    call = ToolCallBlock(tool_call_id="c1", tool_name="search", tool_kwargs={"q": "面包"})
    selection = ToolSelection(tool_id="c2", tool_name="now", tool_kwargs={})
    return [
        ChatMessage(blocks=[TextBlock(text="看"), ImageBlock(image=b"x", image_mimetype="image/png")]),
        ChatMessage(role="assistant", blocks=[call], additional_kwargs={"tool_calls": [selection]}),
        ChatMessage("42", role="tool", additional_kwargs={"tool_call_id": "c1"}),
        assistant("done"),
    ]


def test_a_memory_goes_through_text_and_back_with_its_options() -> None:
    memory = GatekeeperMemoryBuffer.from_defaults(rich_history(), config=replace(CONFIG, shadow=True))
    again = GatekeeperMemoryBuffer.from_string(memory.to_string())
    assert type(again) is GatekeeperMemoryBuffer
    assert again.to_dict() == memory.to_dict()
    assert (again.token_limit, again.config) == (77, replace(CONFIG, shadow=True, token_budget=None, run=None))
    assert [message.model_dump(mode="json") for message in again.get_all()] == [
        message.model_dump(mode="json") for message in rich_history()
    ]


def test_llama_index_reads_ours_and_ours_reads_llama_indexs() -> None:
    ours = buffer([user("hello"), assistant("hi")], chat_store_key="t")
    stock = ChatMemoryBuffer.from_string(ours.to_string())
    assert type(stock) is ChatMemoryBuffer
    assert stock.get_all() == ours.get_all()
    written = {
        "chat_store": {
            "store": {"t": [{"role": MessageRole.USER, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "hello"}]}]},
            "class_name": "SimpleChatStore",
        },
        "chat_store_key": "t",
        "token_limit": 3000,
        "class_name": "ChatMemoryBuffer",
    }  # fmt: skip
    again = GatekeeperMemoryBuffer.from_dict(written)
    assert (texts(again.get()), again.config) == (["hello"], None)


@pytest.mark.parametrize(
    ("embedder", "written"), [(None, None), ("auto", "auto"), (lambda texts: [[1.0]] * len(texts), "auto")]
)
def test_words_alone_are_written_and_another_embedder_is_given_again(embedder: Any, written: str | None) -> None:
    for each in (GatekeeperMemoryBuffer.from_defaults(token_limit=9, embedder=embedder), memory(embedder=embedder)):
        assert each.to_dict()["embedder"] == written
    text = buffer(embedder=embedder).to_string()
    assert GatekeeperMemoryBuffer.from_string(text).embedder == written
    assert GatekeeperMemoryBuffer.from_string(text, embedder=None).embedder is None


def test_a_pickled_memory_works_and_the_original_stays_whole(caplog: pytest.LogCaptureFixture) -> None:
    memory = GatekeeperMemoryBuffer.from_defaults(history_of(TALKS["english"][0]), config=CONFIG)
    before = memory.get()
    again = by_pickle(memory)
    assert again.get() == before
    assert again.config == memory.config
    assert not caplog.records
    memory.tokenizer_fn = lambda text: list(text)
    by_pickle(memory)
    assert memory.tokenizer_fn("ab") == ["a", "b"]
    assert [record.message for record in caplog.records] == ["Removing unpickleable attribute tokenizer_fn"]


# --- chat engines ---------------------------------------------------------------------------------------------------


class OneNote(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="a note"), score=1.0)]


def listening() -> RememberingModel:
    return RememberingModel(max_tokens=2)


@pytest.mark.parametrize("kind", [GatekeeperMemoryBuffer, GatekeeperMemory])
def test_an_engine_makes_the_memory_itself_and_keeps_an_empty_one(kind: Any) -> None:
    engine = SimpleChatEngine.from_defaults(llm=listening(), memory_cls=kind, chat_history=[user("a")])
    engine.chat("again")
    assert isinstance(engine._memory, kind)
    assert engine._memory.token_limit == listening().metadata.context_window - 256
    assert texts(engine.chat_history)[:2] == ["a", "again"]
    empty = kind.from_defaults(token_limit=1000)
    assert SimpleChatEngine.from_defaults(llm=listening(), memory=empty)._memory is empty


@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
@each_way
def test_a_context_engine_gets_past_turns_and_adds_the_question_itself(kind: Any, asynchronous: bool) -> None:
    pairs, question, _ = TALKS["english"]
    llm, memory = listening(), buffer(history_of(pairs))
    engine = kind.from_defaults(retriever=OneNote(), llm=llm, memory=memory)
    now(engine.achat(question)) if asynchronous else engine.chat(question)
    sent = [text for text in texts(llm.last_chat_messages or []) if "a note" not in text]
    assert sent == [*pairs[0], question]
    assert len(memory.get_all()) == 8


# --- agents ---------------------------------------------------------------------------------------------------------


class Model(CallingModel):
    """A model that says what its script says, then "Done.", and keeps what it was sent."""

    sent: list[list[str]] = Field(default_factory=list)


def scripted(*script: ChatMessage) -> Model:
    steps = iter(script)

    def respond(messages: Sequence[ChatMessage], **more: Any) -> ChatMessage:
        model.sent.append(texts(messages))
        return copy.deepcopy(next(steps, assistant("Thought: I can answer.\nAnswer: Done.")))

    model = Model(response_generator=respond)
    return model


def calling(name: str, call_id: str, **arguments: Any) -> ChatMessage:
    block = ToolCallBlock(tool_call_id=call_id, tool_name=name, tool_kwargs=arguments)
    return ChatMessage(role="assistant", blocks=[block])


def look_up(key: str) -> str:
    """Look something up."""
    return f"{key} found"


LOOK_UP = FunctionTool.from_defaults(look_up)


@each_talk
@pytest.mark.parametrize("streaming", [False, True])
@each_memory
def test_a_function_agent_chooses_the_same_past_in_each_round(
    opened: Any, talk: str, streaming: bool, events: list[Any]
) -> None:
    pairs, question, _ = TALKS[talk]
    llm = scripted(calling("look_up", "c1", key="bread"), calling("look_up", "c2", key="flour"), assistant("6380"))
    memory = opened(history_of(pairs))

    agent = FunctionAgent(tools=[LOOK_UP], llm=llm, system_prompt="Be brief.", streaming=streaming)
    assert run_agent(agent, memory, question)[0] == "6380"
    opening = ["Be brief.", *pairs[0], question]
    assert [sent[: len(opening)] for sent in llm.sent[:3]] == [opening] * 3
    assert {tuple(event.turn_ids) for event in events if event.turn_count == 3} == {(0,)}
    # At the end the runs are stored whole: question, call, result, call, result, answer.
    roles = ["user", *["assistant", "tool"] * 2, "assistant", *["user", "assistant"] * 2]
    assert [message.role.value for message in memory.get_all()[6:]] == roles
    asked_again = memory.get("What was found for flour?")
    assert not validate_messages([read_message(message) for message in asked_again], provider="openai")
