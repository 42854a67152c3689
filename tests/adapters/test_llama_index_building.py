"""A context builder behind the memories, with engines and agents: what the model reads, and that the store keeps all."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import StaticMemoryBlock
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from llama_index.memory.gatekeeper.messages import read_message, write_built
from tests.adapters.chats import history_of, user
from tests.adapters.test_building import builder
from tests.histories import configured
from tests.talks import TALKS

if TYPE_CHECKING:
    from collections.abc import Sequence


PIN = "[CRITICAL INSTRUCTION]"
each_script = pytest.mark.parametrize("script", TALKS)


def buffer_of(history: Sequence[ChatMessage], built: ContextBuilder, **options: Any) -> Any:
    return GatekeeperMemoryBuffer.from_defaults(
        list(history), chat_store_key="t1", **configured(builder=built, **options)
    )


def texts_of(messages: Sequence[ChatMessage]) -> list[str]:
    return [message.content or "" for message in messages]


class Nodes(BaseRetriever):
    def _retrieve(self, _: Any) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="a node"), score=1.0)]


@each_script
def test_an_engine_that_says_the_question_itself_gets_neither_question_nor_pin(script: str) -> None:
    pairs, question = TALKS[script]
    question = f"{question}\n{question}"
    memory = buffer_of(history_of(pairs), builder(enable_instruction_pinning=True))
    messages = memory.get(input=question)
    assert memory.last_context.trace.safety_net
    assert question not in texts_of(messages)
    assert not [text for text in texts_of(messages) if PIN in text]
    assert messages[-1].role == "assistant"
    engine = ContextChatEngine.from_defaults(retriever=Nodes(), llm=MockLLM(max_tokens=3), memory=memory)
    engine.chat(question)
    assert texts_of(memory.get_all())[-2] == question


def test_blocks_of_a_memory_work_beside_it() -> None:
    pairs, question = TALKS["english"]
    block = StaticMemoryBlock(static_content="The user is a gardener.")
    memory = GatekeeperMemory.from_defaults(builder=builder(), memory_blocks=[block])
    memory.put_messages([*history_of(pairs), user(question)])
    messages = memory.get()
    assert "gardener" in "".join(texts_of(messages))
    assert "gardener" not in "".join(texts_of(memory.get_all()))
    assert memory.last_context.trace.shares.reserved > 0


def test_a_memory_is_written_without_its_builder_and_read_with_one() -> None:
    pairs, question = TALKS["english"]
    built = builder()
    memory = buffer_of([*history_of(pairs), user(question)], built, user="ada")
    first = texts_of(memory.get())
    again = GatekeeperMemoryBuffer.from_string(memory.to_string(), builder=built)
    assert (again.user, texts_of(again.get())) == ("ada", first)
    stored = GatekeeperMemoryBuffer.from_dict(memory.to_dict(), chat_store=memory.chat_store, builder=built)
    assert texts_of(stored.get()) == first
    assert memory.__getstate__()["__dict__"]["builder"] is None
    assert texts_of(copy.deepcopy(memory).get()) == first


# --- messages that are written --------------------------------------------------------------------------------------


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
