"""GatekeeperMemory: its queue, its memory blocks, its stores, and engines and agents that use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.memory import BaseMemoryBlock, InsertMethod, Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from pydantic import Field

from gatekeeper_core.selection.settings import GatekeeperConfig
from llama_index.memory.gatekeeper import GatekeeperMemory
from tests.adapters.chats import assistant, history_of, texts, user, words
from tests.histories import configured
from tests.talks import TALKS

each_talk = pytest.mark.parametrize("talk", TALKS)


def system(text: str) -> ChatMessage:
    return ChatMessage(text, role="system")


def memory(
    messages: Sequence[ChatMessage] | None = None, *, session: str = "s", chat_store: Any = None, **options: Any
) -> GatekeeperMemory:
    options = {"token_limit": 1000, "on_error": "raise", "keep_newest": 0, "passthrough_below": 0, **options}
    result = GatekeeperMemory.from_defaults(session, **configured(**options))
    if chat_store is not None:
        result.sql_store = chat_store  # from_defaults takes one from 0.14.24 on
    if messages:
        asyncio_run(result.sql_store.set_messages(session, list(messages)))
    return result


# --- what is chosen -------------------------------------------------------------------------------------------------


@each_talk
def test_archived_turns_can_be_chosen(talk: str) -> None:
    pairs, question = TALKS[talk]
    mine = memory(token_limit=250, token_flush_size=10, chat_history_token_ratio=0.1)
    for message in [*history_of(pairs), user(question)]:
        mine.put(message)
    assert pairs[0][0] not in texts(mine.get_all(MessageStatus.ACTIVE))
    assert texts(mine.get()) == [*pairs[0], question]
    assert len(mine.get_all()) == 7


class LiveStore(SQLAlchemyChatStore):
    """A store that gives out the very messages that it holds."""

    messages: list[ChatMessage] = Field(default_factory=list)

    async def get_messages(self, key: str, status: Any = MessageStatus.ACTIVE, **more: Any) -> list[ChatMessage]:
        return self.messages

    async def set_messages(self, key: str, messages: list[ChatMessage], status: Any = MessageStatus.ACTIVE) -> None:
        self.messages = messages


# --- memory blocks --------------------------------------------------------------------------------------------------


class Note(BaseMemoryBlock[Any]):
    """A block that says one thing and keeps what it was shown."""

    name: str = "note"
    says: Any = "noted"
    shown: list[ChatMessage] = Field(default_factory=list)
    arguments: dict[str, Any] = Field(default_factory=dict)
    flushed: list[ChatMessage] = Field(default_factory=list)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> Any:
        self.shown, self.arguments = list(messages or []), block_kwargs
        return self.says

    async def _aput(self, messages: list[ChatMessage]) -> None:
        self.flushed.extend(messages)


@pytest.mark.parametrize("method", [InsertMethod.SYSTEM, InsertMethod.USER, "system", "user"])
@pytest.mark.parametrize("head", [True, False])
def test_blocks_stand_where_llama_index_puts_them(method: Any, head: bool) -> None:
    messages = [*([system("Be brief.")] if head else []), user("hello"), assistant("hi"), user("again")]
    options: dict[str, Any] = {"insert_method": method, "token_limit": 3000}
    ours = GatekeeperMemory.from_defaults("s", messages, **configured(memory_blocks=[Note()], **options))
    stock = Memory.from_defaults("s", messages, memory_blocks=[Note()], **options)
    assert ours.get() == stock.get()
    assert "noted" in "".join(texts(ours.get()))


def test_what_blocks_say_is_part_of_the_limit() -> None:
    pairs, question = TALKS["english"]
    history = [*history_of(pairs), user(question)]
    assert len(memory(history, token_limit=100).get()) == 3
    note = Note(says="note " * 80, priority=0)  # never truncated
    got = memory(history, token_limit=100, memory_blocks=[note]).get()
    assert [message.role.value for message in got] == ["system", "user"]
    mine = memory(history, token_limit=100, memory_blocks=[Note(says=[system("note " * 80)])])
    assert question in texts(mine.get())
    assert mine.last_selection.fixed_tokens >= 80


def test_blocks_are_truncated_only_where_the_history_needs_the_room() -> None:
    note = Note(says="note " * 60, priority=1)
    assert "note" in texts(memory([user("hello")], token_limit=100, tokenizer_fn=words, memory_blocks=[note]).get())[0]
    crowd = history_of([(f"q{at} " * 10, f"a{at} " * 10) for at in range(20)])
    mine = memory([*crowd, user("q3")], token_limit=100, tokenizer_fn=words, memory_blocks=[note])
    assert "note" not in "".join(texts(mine.get()))


def test_blocks_see_the_active_messages_the_question_and_the_session() -> None:
    note = Note()
    mine = memory(token_limit=100, token_flush_size=10, tokenizer_fn=words, memory_blocks=[note])
    mine.put_messages(history_of([(f"q{at} " * 10, f"a{at} " * 10) for at in range(10)]))
    active = texts(mine.get_all(MessageStatus.ACTIVE))
    assert note.flushed
    assert len(active) < 20
    mine.get("what now?", initial_token_count=3)
    assert texts(note.shown) == [*active, "what now?"]
    assert note.arguments == {"session_id": "s", "initial_token_count": 3}
    question = ChatMessage(blocks=[TextBlock(text="what is it?"), ImageBlock(image=b"x")])
    mine.get(question)
    assert note.shown[-1] is question


@pytest.mark.parametrize("method", list(InsertMethod))
@pytest.mark.parametrize("shadow", [False, True])
def test_no_stored_message_is_changed_and_the_others_are_the_stores_own(method: InsertMethod, shadow: bool) -> None:
    store = LiveStore(table_name="m")
    history = [system("Be brief."), user("hello"), assistant("hi"), user("again")]
    mine = memory(history, chat_store=store, memory_blocks=[Note()], insert_method=method, shadow=shadow)
    before = [message.model_dump() for message in store.messages]
    first, second = mine.get(), mine.get()
    assert [message.model_dump() for message in store.messages] == before
    assert first == second
    notes = 1 if method == InsertMethod.SYSTEM or shadow else 0
    assert sum(any(message is one for one in store.messages) for message in first) == len(first) - 1
    assert len(first) >= 2 + notes


# --- shadow, errors, reports ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", [None, "Which port does the staging Redis listen on?"])
def test_shadow_mode_gives_what_llama_index_gives_and_reports_ours(question: str | None, events: list[Any]) -> None:
    pairs, last_question = TALKS["english"]
    history = [*history_of(pairs), *([] if question else [user(last_question)])]
    note = Note()
    mine = memory(history, shadow=True, memory_blocks=[note])
    stock = Memory.from_defaults("s", history, token_limit=1000, memory_blocks=[Note()])
    assert mine.get(question, initial_token_count=7) == stock.get(question)
    (event,) = events
    assert (event.memory, event.thread, event.shadow, event.turn_ids) == ("GatekeeperMemory", "s", True, [0])
    live = memory(history, memory_blocks=[Note()])
    live.get(question, initial_token_count=7)
    assert event.fixed_tokens == live.last_selection.fixed_tokens


# --- options and copies ---------------------------------------------------------------------------------------------


def test_the_dict_of_a_memory_holds_our_options() -> None:
    """LlamaIndex itself cannot read the dict of a ``Memory`` again, and its store is no part of it."""
    data = memory(reserve_tokens=5, strategy="fill", gatekeeper=GatekeeperConfig(strategy="fill")).to_dict()
    assert (data["class_name"], data["session_id"], data["config"]["reserve_tokens"]) == ("GatekeeperMemory", "s", 5)
    assert data["config"]["gatekeeper"]["strategy"] == "fill"
    assert set(Memory(token_limit=5).to_dict()) < set(data)
