"""Several processes on one thread of a framework's store in a file; for servers see ``test_server_histories``."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from tests.adapters.chats import history_of
from tests.adapters.door_contract import ALL_OF_IT, for_doors
from tests.adapters.doors import ClassicMemory, ClassicMemoryOnSql, Place, WholeMemory

if TYPE_CHECKING:
    from pathlib import Path

    from tests.adapters.doors import Door


WORKERS, STEPS = 3, 6
TALKS = [
    [(f"Which port has {worker}.{step}?", f"Port {worker}.{step}.") for step in range(STEPS)] for worker in range(3)
]


def talk_on(door: type[Any], place: Place, worker: int) -> tuple[list[list[str]], list[str]]:
    """Save turns and select from the thread, and return each selection and what the store has in the end."""
    asyncio.set_event_loop(asyncio.new_event_loop())
    selections = []
    with closing(door(place, **ALL_OF_IT)) as at_door:
        memory = at_door.memory
        for question, answer in TALKS[worker]:
            if isinstance(at_door, ClassicMemory):
                memory.save_context({"input": question}, {"output": answer})
                selections.append([one.text for one in memory.load_memory_variables({"input": question})["history"]])
                stored = [one.text for one in at_door.store.messages]
            else:
                memory.put_messages(history_of([(question, answer)]))
                selections.append([one.content for one in memory.get(question)])
                stored = [one.content for one in memory.get_all()]
    return selections, stored


def check_that_workers_lose_nothing(door: type[Door], place: Place) -> None:
    with closing(door(place)) as at_door:  # makes the tables
        at_door.ask("Which port?")
    context = multiprocessing.get_context("forkserver")  # which loads the frameworks once for all workers
    has_servers = os.environ.get("GATEKEEPER_REQUIRE_SERVERS") == "1"
    context.set_forkserver_preload([__name__, *(["tests.adapters.server_doors"] if has_servers else [])])
    with context.Pool(WORKERS) as pool:
        worked = pool.starmap(talk_on, [(door, place, worker) for worker in range(WORKERS)])
    everything = {text for turns in TALKS for turn in turns for text in turn}
    assert everything in ({*stored} for _, stored in worked), "the last to end sees all"
    for sent in (sent for selections, _ in worked for sent in selections):
        assert 0 < len(sent) == len({*sent} & everything)


@for_doors([ClassicMemoryOnSql, WholeMemory])
def test_nothing_is_lost_and_no_message_is_sent_twice(door: type[Door], tmp_path: Path) -> None:
    check_that_workers_lose_nothing(door, Place(tmp_path))


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
