"""GatekeeperMemoryBlock beside LlamaIndex's Memory."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.fences import fence
from llama_index.memory.gatekeeper import GatekeeperMemoryBlock
from llama_index.memory.gatekeeper.messages import RecalledText
from tests.adapters.chats import assistant, history_of, user, words
from tests.adapters.doors import now
from tests.adapters.pickling import by_pickle
from tests.case_files import from_file
from tests.histories import configured
from tests.talks import TALKS as CHATS

UNRELATED = {
    "english": "New topic: who painted the Mona Lisa?",
    "chinese": "换个话题，蒙娜丽莎是谁画的？",
    "mixed": "换个话题，Mona Lisa 是谁画的？",
}
TALKS = {script: (pairs, question, UNRELATED[script]) for script, (pairs, question) in CHATS.items()}
each_talk = pytest.mark.parametrize("talk", TALKS)


def recall(block: GatekeeperMemoryBlock, question: str, session: str | None = "s") -> str:
    return now(block.aget([user(question)], session_id=session))


def flushed(messages: Sequence[ChatMessage], session: str | None = "s", **options: Any) -> GatekeeperMemoryBlock:
    """Return a block to which a memory has flushed these messages."""
    block = GatekeeperMemoryBlock(**configured(**{"on_error": "raise", "passthrough_below": 0} | options))
    now(block.aput(list(messages), from_short_term_memory=True, session_id=session))
    return block


# --- what comes back ------------------------------------------------------------------------------------------------


@each_talk
def test_archived_turns_on_topic_come_back_as_fenced_text(talk: str) -> None:
    pairs, question, _ = TALKS[talk]
    past_question, past_answer = pairs[0]
    expected = fence(f"user: {past_question}\nassistant: {past_answer}", tag="recalled_turns")
    assert recall(flushed(history_of(pairs)), question) == expected


@pytest.mark.parametrize("messages", [None, [], [assistant("hi")], [user(" ")], [ChatMessage(blocks=[ImageBlock()])]])
def test_without_a_question_nothing_comes_back(messages: Any) -> None:
    block = flushed(history_of(TALKS["english"][0]))
    assert now(block.aget(messages, session_id="s")) == ""


def test_the_question_is_the_last_user_message_alone() -> None:
    pairs, question, unrelated = TALKS["english"]
    block = flushed(history_of(pairs))
    talk = [user("Who wrote Faust?"), assistant("Goethe."), user(unrelated), user(question), assistant("Let me see.")]
    assert "6380" in now(block.aget(talk, session_id="s"))
    talk = [user(question), assistant("On port 6380."), user(unrelated)]
    assert now(block.aget(talk, session_id="s")) == ""


def test_a_question_that_an_agent_hands_over_twice_is_one_question() -> None:
    pairs, question, _ = TALKS["english"]
    block = flushed(history_of(pairs))
    now(block.aget([user(question)], session_id="s"))
    once = block.last_selection
    now(block.aget([user(question), user(question)], session_id="s"))
    assert block.last_selection == once


def test_system_messages_are_no_turns() -> None:
    pairs, question, _ = TALKS["english"]
    messages = [ChatMessage("word " * 5000, role="system"), *history_of(pairs)]
    assert "6380" in recall(flushed(messages), question)
    assert "word" not in recall(flushed(messages), question)


@from_file("name", "tag")
def test_the_tag_is_the_blocks_name_where_it_can_be_one(name: str, tag: str) -> None:
    block = flushed(history_of(TALKS["english"][0]), name=name)
    assert recall(block, TALKS["english"][1]).startswith(f"<{tag}-")


def test_the_text_stays_within_the_budget_with_labels_and_fence() -> None:
    messages = [m for at in range(40) for m in (user(f"Redis port of server{at}?"), assistant(f"It is {6000 + at}."))]
    for budget in (1, 5, 20, 50, 100):
        block = flushed(messages, tokenizer_fn=words, token_budget=budget)
        text = recall(block, "What is the Redis port of server7?")
        assert len(words(text)) <= budget
        assert ("6007" in text) == (budget >= 20)


# --- giving way -----------------------------------------------------------------------------------------------------


def test_truncation_gives_up_whole_turns_the_least_valuable_first() -> None:
    block = GatekeeperMemoryBlock(tokenizer_fn=words)
    text = RecalledText.of([(3, "user: b b"), (1, "user: a a"), (9, "user: c c")], name="recalled_turns")
    assert len(words(text)) == 11
    assert now(block.atruncate(text, 0)) == text
    for tokens in (1, 2, 3):
        assert now(block.atruncate(text, tokens)) == fence("user: a a\n\nuser: b b", tag="recalled_turns")
    assert now(block.atruncate(text, 4)) == fence("user: b b", tag="recalled_turns")
    assert now(block.atruncate(text, 7)) is None
    assert now(block.atruncate(text, 1000)) is None


@pytest.mark.parametrize("content", [[], "", "text of somebody else"])
def test_what_the_block_has_not_made_is_given_up(content: Any) -> None:
    assert now(GatekeeperMemoryBlock().atruncate(content, 1)) is None


# --- where archived messages come from ------------------------------------------------------------------------------


def test_sessions_are_kept_apart_and_can_be_forgotten() -> None:
    pairs, question, _ = TALKS["english"]
    block = flushed(history_of(pairs), session="one")
    assert recall(block, question, "two") == ""
    assert "6380" in recall(block, question, "one")
    block.forget("two")
    assert "6380" in recall(block, question, "one")
    block.forget("one")
    assert recall(block, question, "one") == ""


def sql(path: Path) -> SQLAlchemyChatStore:
    return SQLAlchemyChatStore(table_name="m", async_database_uri=f"sqlite+aiosqlite:///{path / 'chat.db'}")


def test_with_a_store_a_restart_another_process_and_a_reset_are_noticed(tmp_path: Path) -> None:
    pairs, question, _ = TALKS["english"]

    async def talk_it_over() -> None:
        writer, reader = sql(tmp_path), sql(tmp_path)
        await writer.add_messages("s", history_of(pairs), status=MessageStatus.ARCHIVED)
        block = GatekeeperMemoryBlock(chat_store=reader, config=HistoryConfig(on_error="raise", passthrough_below=0))
        assert "6380" in await block.aget([user(question)], session_id="s")
        assert await block.aget([user(question)], session_id="t") == ""
        await writer.delete_messages("s")
        assert await block.aget([user(question)], session_id="s") == ""

    now(talk_it_over())


@each_talk
@pytest.mark.parametrize("with_store", [False, True])
def test_a_stock_memory_shows_the_model_what_it_had_flushed(talk: str, with_store: bool, tmp_path: Path) -> None:
    pairs, question, _ = TALKS[talk]
    store = sql(tmp_path)
    block = GatekeeperMemoryBlock(
        chat_store=store if with_store else None, config=HistoryConfig(on_error="raise", passthrough_below=0)
    )

    async def talk_it_over() -> list[ChatMessage]:
        memory = Memory.from_defaults(
            "s", token_limit=400, token_flush_size=20, chat_history_token_ratio=0.2, memory_blocks=[block]
        )
        memory.sql_store = store  # from_defaults takes one from 0.14.24 on
        for message in [*history_of(pairs), *history_of([("word " * 20, "word " * 20)])]:
            await memory.aput(message)
        await memory.aput(user(question))
        return await memory.aget()

    got = now(talk_it_over())
    assert pairs[0][0] not in [message.content for message in got]
    assert pairs[0][0] in (got[0].content or "")
    assert pairs[1][0] not in (got[0].content or "")
    assert got[-1].content == question


# --- options, reports, copies ---------------------------------------------------------------------------------------


def test_shadow_mode_brings_nothing_back_and_reports(events: list[Any]) -> None:
    pairs, question, _ = TALKS["english"]
    block = flushed(history_of(pairs), shadow=True)
    assert recall(block, question) == ""
    assert [(event.memory, event.thread, event.turn_ids) for event in events] == [("GatekeeperMemoryBlock", "s", [0])]
    assert block.last_selection is block.selection_for("s") is not None


def test_a_copy_knows_what_was_flushed() -> None:
    pairs, question, _ = TALKS["english"]
    block = flushed(history_of(pairs))
    for twin in (copy.deepcopy(block), by_pickle(block)):
        assert recall(twin, question) == recall(block, question)
        twin.forget("s")
    assert recall(block, question)
