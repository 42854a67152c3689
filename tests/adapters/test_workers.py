"""Several processes on one thread of a history in a SQLite file; for the servers see ``test_server_workers``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from langchain.agents import create_agent
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.checkpoint.sqlite import SqliteSaver

from tests.adapters.doors import ClassicMemoryOnSql, MiddlewareOnSqlite, Place, WholeMemory
from tests.adapters.workers import (
    check_every_selection_saw_a_prefix,
    check_what_a_store_that_keeps_all_allows,
    check_what_every_store_allows,
    turns_of,
    work,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.processes import Processes

pytestmark = [
    pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:langchain_community.*"),
]


def test_a_history_of_langchain_keeps_all_and_every_selection_sees_a_prefix(workers: Processes, tmp_path: Path) -> None:
    worked = work(workers, ClassicMemoryOnSql, Place(tmp_path))
    check_what_a_store_that_keeps_all_allows(worked)
    check_every_selection_saw_a_prefix(worked)


def test_a_memory_of_llama_index_keeps_all(workers: Processes, tmp_path: Path) -> None:
    """No prefix: its messages stand in the order of the writers' clocks, read before they write."""
    check_what_a_store_that_keeps_all_allows(work(workers, WholeMemory, Place(tmp_path)))


def test_an_agent_sends_whole_turns_of_whatever_checkpoint_it_got(workers: Processes, tmp_path: Path) -> None:
    check_what_every_store_allows(work(workers, MiddlewareOnSqlite, Place(tmp_path)))


def test_langgraph_by_itself_keeps_one_of_two_runs_of_a_thread_at_once(tmp_path: Path) -> None:
    """Not ours to mend: each run goes on from the checkpoint that it began with, and the last one written is the state."""
    config: Any = {"configurable": {"thread_id": "t"}}
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        other = create_agent(GenericFakeChatModel(messages=iter([AIMessage("to the other")])), checkpointer=saver)

        def answers() -> Any:
            other.invoke({"messages": [("human", "in the meantime")]}, config)
            yield AIMessage("to the first")

        first = create_agent(GenericFakeChatModel(messages=answers()), checkpointer=saver)
        first.invoke({"messages": [("human", "the first")]}, config)
        kept = [message.text for message in first.get_state(config).values["messages"]]
    assert kept == ["the first", "to the first"]


def test_langchain_by_itself_loses_a_question_where_it_takes_the_history_for_a_part_of_the_input() -> None:
    """Not ours to mend: it cuts as many messages off the input as the history has when the run ends."""
    for keys in ({}, {"input_messages_key": "input", "history_messages_key": "history"}):
        history = InMemoryChatMessageHistory()

        def answers(_: Any, history: InMemoryChatMessageHistory = history) -> AIMessage:
            history.add_messages([HumanMessage("in the meantime"), AIMessage("to the other")])
            return AIMessage("to the first")

        chain = RunnableWithMessageHistory(RunnableLambda(answers), lambda session_id: history, **keys)  # noqa: B023
        question = {"input": "the first"} if keys else [HumanMessage("the first")]
        chain.invoke(question, {"configurable": {"session_id": "t"}})
        kept = [message.text for message in history.messages]
        assert kept == ["in the meantime", "to the other", *(["the first"] if keys else []), "to the first"]


def test_each_question_begins_a_turn() -> None:
    assert turns_of(["0.0.q", "1.0.q", "0.0.a", "1.0.a", "0.1.q"]) == [{0}, {1, 2, 3}, {4}]
