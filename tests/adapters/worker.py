"""One worker of several: a process that adds to one thread through an adapter, and selects in between.

It is told what to do through a connection, and answers each time::

    {"open": DOOR, "place": PLACE, "worker": N}    ──> "ready"
    {"steps": N, "workers": N}                    ──> [selection, ...]       each step: a turn is saved, and selected for
    {"finish": true}                              ──> selection and whether its index is the one made anew

A selection tells by the marks of messages which list the store gave, and which of it the model would have read.
"""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_meaning import adapter
from tests.gatekeeper_state import state_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from multiprocessing.connection import Connection

    from gatekeeper_core.context.history.selector import ThreadSelector
    from tests.adapters.doors import Door, Place

BUDGET = 160
# What is cut may lose its mark, so messages go whole here.
OPTIONS: dict[str, Any] = {"keep_newest": 0, "passthrough_below": 0, "trim": False}
QUESTION = "Which port did the Redis cache get, 缓存的端口是多少？"
SUBJECTS = (
    ("Which port does the Redis cache of depot {} listen on?", "It listens on port 63{}, behind the proxy."),
    ("酸面包第 {} 次要发酵多久？", "在二十六度下发酵 {} 个小时。"),
    ("换个话题，choir 的 minutes 第 {} 份谁负责？", "第 {} 份 minutes 由 Marta 负责。"),
)
_MARK = re.compile(r"<(\d+\.\d+\.[qa])>")


def said(worker: int, step: int) -> tuple[str, str]:
    """Return question and answer of a step, each with its mark."""
    asked, answered = SUBJECTS[step % len(SUBJECTS)]
    return f"{asked.format(step)} <{worker}.{step}.q>", f"{answered.format(step)} <{worker}.{step}.a>"


def marks(texts: Iterable[str]) -> list[str]:
    return [found for text in texts for found in _MARK.findall(text)[-1:]]  # recalled turns come before the question


class Side:
    """An adapter on a thread, from the side of one worker.

    Attributes:
        waiting: how many messages at the end of what was selected from last were not in the store yet.
    """

    waiting = 0

    def __init__(self, door: Any) -> None:
        self.door = door
        self.close = door.close

    def turn(self, asked: str, answered: str) -> list[str]:
        """Save a turn as the adapter does, and return the texts that the model would have read for it."""
        raise NotImplementedError

    def ask(self, question: str) -> list[str]:
        """Return the texts that the model would read for a question."""
        raise NotImplementedError

    def stored(self) -> list[str]:
        """Return the texts that the store has."""
        raise NotImplementedError

    @property
    def selector(self) -> ThreadSelector[Any]:
        raise NotImplementedError

    def selection(self, sent: Iterable[str]) -> dict[str, Any]:
        """Return what was sent, and what the store had given for it."""
        thread = self.selector._threads.newest()
        assert thread is not None
        assert thread.last.view is not None
        given = [marks([message.text]) for message in thread.messages]
        assert all(len(one) == 1 for one in given), "each message has one mark"
        return {
            "given": [one[0] for one in given],
            "waiting": self.waiting,
            "kept": list(thread.last.view.kept),
            "sent": marks(sent),
        }

    def is_rebuilt(self) -> bool:
        """Return whether the index of the thread is the one that its messages give when it is made anew."""
        thread = self.selector._threads.newest()
        assert thread is not None
        assert thread.last.history is not None
        assert thread.gatekeeper is not None
        fresh = ContextGatekeeper(token_counter=thread.gatekeeper.token_counter)
        fresh.sync(thread.last.history.past)
        return state_of(thread.gatekeeper) == state_of(fresh)


# --- LangChain


class MemorySide(Side):
    def __init__(self, door: Any) -> None:
        super().__init__(door)
        self.memory = door.memory

    def turn(self, asked: str, answered: str) -> list[str]:
        sent = self.ask(asked)
        self.memory.save_context({"input": asked}, {"output": answered})
        return sent

    def ask(self, question: str) -> list[str]:
        return [message.text for message in self.memory.load_memory_variables({"input": question})["history"]]

    def stored(self) -> list[str]:
        return [message.text for message in self.door.store.messages]

    @property
    def selector(self) -> ThreadSelector[Any]:
        return self.memory._current_selector()


class RunnableSide(Side):
    def __init__(self, door: Any) -> None:
        from langchain_core.messages import AIMessage
        from langchain_core.runnables import RunnableLambda
        from langchain_core.runnables.history import RunnableWithMessageHistory

        super().__init__(door)
        self.gate = door.selector
        self.seen: list[str] = []
        self.answer = ""

        def model(prompt: dict[str, Any]) -> AIMessage:
            self.seen = [message.text for message in prompt["history"]]
            return AIMessage(self.answer)

        # Without a key for the history LangChain by itself loses questions; see test_workers.
        self.chain = RunnableWithMessageHistory(
            self.gate | RunnableLambda(model),
            lambda session_id: door.store,
            input_messages_key="input",
            history_messages_key="history",
        )

    def turn(self, asked: str, answered: str) -> list[str]:
        self.answer = answered
        self.chain.invoke({"input": asked}, config={"configurable": {"session_id": "thread"}})
        return self.seen

    def ask(self, question: str) -> list[str]:
        asked = {"history": self.door.store.messages, "input": question}
        chosen = self.gate.invoke(asked, config={"configurable": {"session_id": "thread"}})
        return [message.text for message in chosen["history"]]

    def stored(self) -> list[str]:
        return [message.text for message in self.door.store.messages]

    @property
    def selector(self) -> ThreadSelector[Any]:
        return self.gate._selector


class AgentSide(Side):
    waiting = 1

    def __init__(self, door: Any) -> None:
        from langchain_core.messages import AIMessage

        super().__init__(door)
        self.answer = ""
        self.config: Any = {"configurable": {"thread_id": door.place.thread}}
        self.agent = door.agent
        door.model.messages = iter(lambda: AIMessage(self.answer), None)

    def turn(self, asked: str, answered: str) -> list[str]:
        self.answer = answered
        self.agent.invoke({"messages": [("human", asked)]}, self.config)
        return [message.text for message in self.door.model.seen[-1]]

    def ask(self, question: str) -> list[str]:
        mark = f"{os.getpid()}.99"  # a question is saved too: that of another worker may be there already
        return self.turn(f"{question} <{mark}.q>", f"<{mark}.a>")

    def stored(self) -> list[str]:
        return [message.text for message in self.agent.get_state(self.config).values.get("messages", [])]

    @property
    def selector(self) -> ThreadSelector[Any]:
        return self.door.middleware._selector


# --- LlamaIndex


class BufferSide(Side):
    def __init__(self, door: Any) -> None:
        super().__init__(door)
        self.memory = door.memory

    def turn(self, asked: str, answered: str) -> list[str]:
        from llama_index.core.llms import ChatMessage

        self.memory.put(ChatMessage(asked))
        sent = [str(message.content) for message in self.memory.get()]
        self.memory.put(ChatMessage(answered, role="assistant"))
        return sent

    def ask(self, question: str) -> list[str]:
        return [str(message.content) for message in self.memory.get(question)]

    def stored(self) -> list[str]:
        return [str(message.content) for message in self.memory.get_all()]

    @property
    def selector(self) -> ThreadSelector[Any]:
        return self.memory._current_selector()


def opened(door: type[Door], place: Place) -> Side:
    """Return the side of a new worker at a door; the frameworks are imported by who uses them."""
    from tests.adapters import doors

    sides: dict[type, type[Side]] = {
        doors.ClassicMemory: MemorySide,
        doors.SelectorInHistory: RunnableSide,
        doors.Middleware: AgentSide,
        doors.Buffer: BufferSide,
        doors.WholeMemory: BufferSide,
    }
    side = next(sides[kind] for kind in door.__mro__ if kind in sides)
    return side(door(place, budget=BUDGET, **OPTIONS))


def worked(side: Side, worker: int, *, steps: int, workers: int) -> list[dict[str, Any]]:
    """Take so many steps, and go on until the others have been seen at work, four times as many at most."""
    selections: list[dict[str, Any]] = []
    seen: set[str] = set()
    for step in range(4 * steps):
        selections.append(side.selection(side.turn(*said(worker, step))))
        seen.update(mark.partition(".")[0] for mark in selections[-1]["given"])
        if step + 1 >= steps and len(seen) == workers:
            break
    return selections


def main(connection: Connection) -> None:
    """Do what comes until nothing comes any more."""
    asyncio.set_event_loop(asyncio.new_event_loop())
    side, worker = Side(connection), 0
    adapter.packaged_encoder = lambda: None  # words alone, as in the other tests
    with suppress(EOFError):
        while command := connection.recv():
            answer: Any = "ready"
            if "open" in command:
                side, worker = opened(command["open"], command["place"]), command["worker"]
                side.stored()  # so that tables and connections are there
            elif "steps" in command:
                answer = worked(side, worker, steps=command["steps"], workers=command["workers"])
            else:
                answer = side.selection(side.ask(QUESTION)) | {"is_rebuilt": side.is_rebuilt()}
            connection.send(answer)
