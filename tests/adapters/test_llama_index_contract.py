"""What users of LlamaIndex's ChatMemoryBuffer and Memory rely on.

LlamaIndex ships no tests, so its contract is written here from its source and its issues. The tests run on our classes;
with GATEKEEPER_CONTRACT_OF=stock they run on LlamaIndex's own, for the comparison in ``tests/upstream/compare.py``.
"""

from __future__ import annotations

import asyncio
import copy
import os
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.storage.chat_store import SimpleChatStore

from tests.adapters.chats import assistant, user, words
from tests.histories import configured

OURS = os.environ.get("GATEKEEPER_CONTRACT_OF", "ours") == "ours"
if OURS:
    from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer

    BUFFER: type[ChatMemoryBuffer] = GatekeeperMemoryBuffer
    MEMORY: type[Memory] = GatekeeperMemory
else:
    BUFFER, MEMORY = ChatMemoryBuffer, Memory

# The frameworks' classes send whole messages.
STRICT: dict[str, Any] = configured(token_budget=None, on_error="raise", trim=False) if OURS else {}


def call(text: str, call_id: str = "c1") -> ChatMessage:
    block = ToolCallBlock(tool_call_id=call_id, tool_name="search", tool_kwargs={"q": text})
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=[block])


def result(text: str, call_id: str = "c1") -> ChatMessage:
    return ChatMessage(role=MessageRole.TOOL, content=text, additional_kwargs={"tool_call_id": call_id})


def buffer(**options: Any) -> ChatMemoryBuffer:
    return BUFFER.from_defaults(**{"tokenizer_fn": words, "token_limit": 100} | STRICT | options)


def memory(**options: Any) -> Memory:
    return MEMORY.from_defaults(**{"tokenizer_fn": words, "token_limit": 100} | STRICT | options)


# --- ChatMemoryBuffer ------------------------------------------------------------------------------------------------


def test_buffer_async_put_get() -> None:
    async def run() -> list[ChatMessage]:
        kept = buffer()
        await kept.aput(user("hello"))
        await kept.aput_messages([assistant("hi"), user("again")])
        assert await kept.aget_all() == [user("hello"), assistant("hi"), user("again")]
        return await kept.aget()

    assert asyncio.run(run())[-1] == user("again")


@pytest.mark.parametrize("question", ["hello", user("hello")])
def test_buffer_get_takes_the_input_by_position(question: Any) -> None:
    kept = buffer(chat_history=[user("hello"), assistant("hi")])
    assert kept.get(question) == [user("hello"), assistant("hi")]


@pytest.mark.parametrize("options", [{"token_limit": 0}, {"token_limit": -1}, {}])
def test_buffer_needs_a_token_limit_above_zero(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="Token limit must be set and greater than 0"):
        BUFFER(**options)


def test_buffer_counts_the_prefix() -> None:
    kept = buffer(chat_history=[user("a " * 30), assistant("b " * 30), user("c " * 30)])
    assert kept.get(initial_token_count=60) == [user("c " * 30)]


@pytest.mark.parametrize("opened", [buffer, memory])
def test_the_arguments_of_tool_calls_are_counted(opened: Any) -> None:
    full = opened()
    full.put_messages([user("a"), call("word " * 300), result("b"), assistant("c"), user("d")])
    kept = full.get()
    assert not any(block.block_type == "tool_call" for message in kept for block in message.blocks)


def test_buffer_gives_back_the_stored_objects() -> None:
    history = [user("hello"), assistant("hi"), user("again")]
    assert all(got is put for got, put in zip(buffer(chat_history=history).get(), history, strict=True))


def test_buffer_does_not_make_the_callers_list_its_store() -> None:
    history = [user("hello")]
    kept = buffer(chat_history=history)
    kept.put(assistant("hi"))
    kept.set(history)
    kept.put(assistant("hi"))
    assert history == [user("hello")]


def test_buffer_set_replaces_and_reset_empties() -> None:
    kept = buffer(chat_history=[user("hello"), assistant("hi")])
    kept.set([user("other")])
    assert kept.get() == [user("other")]
    kept.reset()
    assert kept.get() == []
    assert kept.get_all() == []


def test_buffer_gives_a_message_as_often_as_it_was_put() -> None:
    kept = buffer(chat_history=[user("hello")])
    kept.put(user("hello"))
    assert kept.get() == [user("hello")] * 2
    kept.set([user("hello")])
    assert kept.get() == [user("hello")]
    again = buffer()
    again.set([user("hello")] * 2)
    assert again.get() == [user("hello")] * 2


def test_buffer_keeps_two_keys_of_one_store_apart() -> None:
    store = SimpleChatStore()
    one, two = (buffer(chat_store=store, chat_store_key=key) for key in ("one", "two"))
    one.put(user("mine"))
    assert two.get() == []
    assert one.get() == [user("mine")]


def test_buffer_has_a_size_neither_as_length_nor_as_truth() -> None:
    assert buffer()
    assert not hasattr(buffer(), "__len__")


def test_buffer_can_be_copied_deeply() -> None:
    kept = buffer(chat_history=[user("hello")])
    kept.get()
    twin = copy.deepcopy(kept)
    twin.put(assistant("hi"))
    assert kept.get_all() == [user("hello")]
    assert twin.get() == [user("hello"), assistant("hi")]


# --- Memory ----------------------------------------------------------------------------------------------------------


def test_memory_stays_within_its_limit_after_set() -> None:
    kept = memory()
    kept.set([message for at in range(20) for message in (user(f"q{at} " * 10), assistant(f"a{at} " * 10))])
    kept.put(user("last"))
    assert sum(len(words(message.content or "")) for message in kept.get()) <= 100
