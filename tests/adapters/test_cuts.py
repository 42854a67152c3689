"""Long answers through every adapter and the builder: what is sent is a copy that holds what the question needs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ThinkingBlock

from benchmarks.long_answers import long_talks
from gatekeeper_core import ContextBuilder, ContextBuilderConfig
from gatekeeper_core.selection.planner import GatekeeperConfig
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, GatekeeperSelector, select_messages
from langchain_gatekeeper.messages import read_message as read_langchain
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from llama_index.memory.gatekeeper.messages import read_message as read_llama_index
from tests.adapters.test_langchain_middleware import request_of, sent
from tests.histories import configured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.long_answers import LongTalk

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning")

TALKS = {talk.language: talk for talk in long_talks(3)}
LITTLE = GatekeeperConfig(coverage=0.4)
"""A coverage at which half of an answer of thirty sentences is not worth its tokens, however sure its need."""
MARKS = {"source": "kept as it is"}


def langchain_of(talk: LongTalk, **marks: Any) -> list[BaseMessage]:
    kinds = {"user": HumanMessage, "assistant": AIMessage}
    return [
        kinds[message.role](message.text, id=str(at), name="Ada", additional_kwargs={**MARKS, **marks})
        for at, message in enumerate(talk.messages)
    ]


def llama_index_of(talk: LongTalk, **marks: Any) -> list[ChatMessage]:
    return [ChatMessage(one.text, role=one.role, additional_kwargs={**MARKS, **marks}) for one in talk.messages]


def through_chat_memory(messages: list[BaseMessage], **options: Any) -> list[BaseMessage]:
    memory = GatekeeperChatMemory(**configured(return_messages=True, **options))
    memory.chat_memory.add_messages(messages[:-1])
    return [*memory.load_memory_variables({"input": messages[-1].content})["history"], messages[-1]]


def through_selector(messages: list[BaseMessage], **options: Any) -> list[BaseMessage]:
    chosen: list[BaseMessage] = GatekeeperSelector(**configured(**options)).invoke(messages)
    return chosen


def through_function(messages: list[BaseMessage], **options: Any) -> list[BaseMessage]:
    return select_messages(messages, **configured(**options))


def through_middleware(messages: list[BaseMessage], **options: Any) -> list[BaseMessage]:
    return sent(GatekeeperMiddleware(**configured(**options)), request_of([*messages])).messages


def through_built_middleware(messages: list[BaseMessage], **options: Any) -> list[BaseMessage]:
    history = configured(**options)["config"]
    config = ContextBuilderConfig(history=history, enable_instruction_pinning=False)
    return through_middleware(messages, builder=ContextBuilder(config))


def through_buffer(messages: list[ChatMessage], **options: Any) -> list[ChatMessage]:
    return GatekeeperMemoryBuffer.from_defaults(messages, **configured(token_limit=4000, **options)).get()


def through_memory(messages: list[ChatMessage], **options: Any) -> list[ChatMessage]:
    async def run() -> list[ChatMessage]:
        memory = GatekeeperMemory.from_defaults(**configured(session_id="s", token_limit=4000, **options))
        await memory.aput_messages(messages)
        return await memory.aget()

    return asyncio.run(run())


LANGCHAIN = [through_chat_memory, through_selector, through_function, through_middleware, through_built_middleware]
LLAMA_INDEX = [through_buffer, through_memory]
three_scripts = pytest.mark.parametrize("talk", TALKS.values(), ids=TALKS)


def needed(talk: LongTalk, sent: Sequence[Any]) -> Any:
    """Return the message that is sent with the fact in it; no other one is."""
    [found] = [message for message in sent if talk.fact.strip() in message.content]
    return found


def made_for(through: Callable[..., Any], talk: LongTalk, **marks: Any) -> list[Any]:
    return llama_index_of(talk, **marks) if through in LLAMA_INDEX else langchain_of(talk, **marks)


@three_scripts
@pytest.mark.parametrize("through", [*LANGCHAIN, *LLAMA_INDEX])
def test_a_message_is_sent_as_a_cut_copy_of_itself(through: Callable[..., Any], talk: LongTalk) -> None:
    messages, options = made_for(through, talk), {"passthrough_below": 0, "strategy": "gate", "gatekeeper": LITTLE}
    original = messages[2 * talk.needed + 1]
    before = original.model_copy(deep=True)
    copy = needed(talk, through(messages, **options))
    assert 2 * len(copy.content) < len(original.content)
    assert MARKS.items() <= copy.additional_kwargs.items()
    assert original == before
    whole = needed(talk, through(messages, trim=False, **options))
    assert whole.content == original.content
    if through in LANGCHAIN:
        assert copy.model_copy(update={"content": original.content}) == original
        assert whole is original


@pytest.mark.parametrize("key", ["reasoning_content", "thought_signatures"])
@pytest.mark.parametrize("through", [*LANGCHAIN, *LLAMA_INDEX])
def test_a_message_with_thinking_beside_its_text_is_sent_whole(through: Callable[..., Any], key: str) -> None:
    talk = TALKS["en"]
    found = through(made_for(through, talk, **{key: "hm"}), passthrough_below=0, gatekeeper=LITTLE)
    assert needed(talk, found).content == talk.messages[2 * talk.needed + 1].text


def test_a_single_thought_or_a_list_of_blocks_is_signed_or_in_parts() -> None:
    thought = ChatMessage(role="assistant", blocks=[ThinkingBlock(content="hm")])
    assert dict(read_llama_index(thought).metadata) == {"signed": True}
    said = ChatMessage(role="assistant", blocks=[ThinkingBlock(content="hm"), TextBlock(text="6380")])
    listed = AIMessage([{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "6380"}])
    assert all(isinstance(read.content, tuple) for read in (read_llama_index(said), read_langchain(listed)))
