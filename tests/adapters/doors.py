"""The doors of the adapters' contract, on the stores that need no server.

A *door* is an adapter with a store behind it. It takes a history, asks with a question and gives back what the model
would have read. Doors with ``asks_inside`` have the question in the history as its last user message; the others hold
finished turns only. Doors with ``runs_an_agent`` run it three times for a question, on one memory or thread.
"""

from __future__ import annotations

import asyncio
import uuid
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent
from langchain_community.chat_message_histories import FileChatMessageHistory, SQLChatMessageHistory
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, GatekeeperSelector, select_messages
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from tests.adapters.histories import positions, to_langchain, to_llama_index
from tests.adapters.scripted_llama_index import CallingModel, run_agent
from tests.histories import configured

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from gatekeeper_core.messages import Message

OPTIONS: dict[str, Any] = {"on_error": "raise"}
NEXT = "And now?"


def tokens_of(text: str) -> int:
    """Count characters by four, rounded up: a counter that every door is given."""
    return (len(text) + 3) // 4


def tokenizer(text: str) -> list[str]:
    return [text[at : at + 4] for at in range(0, len(text), 4)]


@dataclass(frozen=True)
class Place:
    """Where the stores of a test are.

    Attributes:
        folder: of the files.
        postgres: a database, as a URL.
        redis: a database, as a URL.
        thread: names the thread; a UUID on PostgreSQL, because langchain-postgres takes nothing else.
    """

    folder: Path = Path()
    postgres: str = ""
    redis: str = ""
    thread: str = "thread"


def now(work: Coroutine[Any, Any, Any]) -> Any:
    """Return what comes of it, in the loop of the test: connections of asynchronous clients belong to a loop."""
    return asyncio.get_event_loop().run_until_complete(work)


# --- the stores; the frameworks' own classes have no way to close their connections


def history_in_file(place: Place) -> Any:
    return nullcontext(FileChatMessageHistory(str(place.folder / "history.json")))


@contextmanager
def history_in_sql(place: Place) -> Iterator[SQLChatMessageHistory]:
    history = SQLChatMessageHistory(place.thread, connection=f"sqlite:///{place.folder / 'history.db'}")
    yield history
    history.engine.dispose()  # type: ignore[attr-defined]


@contextmanager
def sqlalchemy_store(table: str, uri: str) -> Iterator[SQLAlchemyChatStore]:
    store = SQLAlchemyChatStore(table_name=table, async_database_uri=uri)
    yield store
    if store._async_engine is not None:
        now(store._async_engine.dispose())


# --- the doors


class Door:
    """An adapter with a store behind it.

    Args:
        place: where the store is.
        options: those of the adapter, but for its budget.

    Attributes:
        opens: returns a context with the store that is at a place.
    """

    asks_inside = False
    runs_an_agent = False
    opens: Callable[[Place], Any] = staticmethod(lambda place: nullcontext())

    def __init__(self, place: Place, **options: Any) -> None:
        self.place = place
        self.options = OPTIONS | options
        self.budget = self.options.pop("budget", 4000)
        self.context = type(self).opens(place)
        self.store = self.enter()

    def enter(self) -> Any:
        return self.context.__enter__()

    def fill(self, messages: Sequence[Message]) -> None:
        """Make the stored history equal to the messages."""
        raise NotImplementedError

    def ask(self, query: str | None) -> list[int]:
        """Return the positions of what the model reads; the query goes in as its framework passes it."""
        raise NotImplementedError

    def noted(self, messages: Sequence[Any]) -> list[int]:
        """Keep what the model reads, and return its positions."""
        self.sent = list(messages)
        return positions(messages)

    def view(self) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        """Let go of files and connections."""
        self.context.__exit__(None, None, None)


class ClassicMemory(Door):
    """GatekeeperChatMemory."""

    opens = staticmethod(lambda place: nullcontext(InMemoryChatMessageHistory()))

    def __init__(self, place: Place, **options: Any) -> None:
        super().__init__(place, **options)
        self.memory = GatekeeperChatMemory(
            **configured(
                chat_memory=self.store,
                return_messages=True,
                token_budget=self.budget,
                token_counter=tokens_of,
                **self.options,
            )
        )

    def fill(self, messages: Sequence[Message]) -> None:
        self.store.clear()
        self.store.add_messages(to_langchain(messages))

    def ask(self, query: str | None) -> list[int]:
        return self.noted(self.memory.load_memory_variables({"input": query} if query else {})["history"])

    def view(self) -> Any:
        return self.memory.last_selection


class AsyncClassicMemory(ClassicMemory):
    def ask(self, query: str | None) -> list[int]:
        loaded = asyncio.run(self.memory.aload_memory_variables({"input": query} if query else {}))
        return self.noted(loaded["history"])


class ClassicMemoryOnFile(ClassicMemory):
    opens = staticmethod(history_in_file)


class ClassicMemoryOnSql(ClassicMemory):
    opens = staticmethod(history_in_sql)


class Selector(Door):
    """GatekeeperSelector before a prompt: the history and the question side by side."""

    def __init__(self, place: Place, **options: Any) -> None:
        super().__init__(place, **options)
        self.selector = GatekeeperSelector(
            **configured(token_budget=self.budget, token_counter=tokens_of, **self.options)
        )
        self.messages: list[Any] = []

    def fill(self, messages: Sequence[Message]) -> None:
        self.messages = to_langchain(messages)

    def ask(self, query: str | None) -> list[int]:
        return self.noted(self.selector.invoke({"history": self.messages, "input": query or ""})["history"])

    def view(self) -> Any:
        return self.selector.last_selection


class SelectorOfAList(Selector):
    """GatekeeperSelector on a message list that ends with the question."""

    asks_inside = True

    def ask(self, query: str | None) -> list[int]:
        return self.noted(self.selector.invoke(self.messages))


class SelectMessages(Selector):
    """The function, which remembers nothing."""

    asks_inside = True

    def ask(self, query: str | None) -> list[int]:
        chosen = select_messages(
            self.messages, **configured(token_budget=self.budget, token_counter=tokens_of, **self.options)
        )
        return self.noted(chosen)


class SelectorInHistory(Selector):
    """GatekeeperSelector inside RunnableWithMessageHistory, which reads and writes the store."""

    asks_inside = True
    opens = ClassicMemory.opens

    def __init__(self, place: Place, **options: Any) -> None:
        super().__init__(place, **options)
        self.seen: list[Any] = []

        def model(messages: list[Any]) -> AIMessage:
            self.seen = messages
            return AIMessage("an answer", additional_kwargs={"position": -1})

        self.chain = RunnableWithMessageHistory(self.selector | RunnableLambda(model), lambda session_id: self.store)

    def fill(self, messages: Sequence[Message]) -> None:
        self.messages = to_langchain(messages)
        self.store.clear()
        self.store.add_messages(self.messages[:-1])

    def ask(self, query: str | None) -> list[int]:
        stored = len(self.store.messages)
        self.chain.invoke([self.messages[-1]], config={"configurable": {"session_id": "thread"}})
        assert len(self.store.messages) == stored + 2, "the store keeps everything"
        kept = self.store.messages[:-2]
        self.store.clear()
        self.store.add_messages(kept)
        return self.noted(self.seen)


class SelectorInFile(SelectorInHistory):
    opens = staticmethod(history_in_file)


class SelectorInSql(SelectorInHistory):
    opens = staticmethod(history_in_sql)


class Recorder(GenericFakeChatModel):
    """A scripted model that remembers what it read."""

    seen: list[Any] = []  # noqa: RUF012 - a field of a pydantic model: each one gets its own list

    def _generate(self, messages: list[Any], *args: Any, **more: Any) -> Any:
        self.seen.append(list(messages))
        return super()._generate(messages, *args, **more)


class Middleware(Door):
    """GatekeeperMiddleware in an agent with a checkpointer; every question opens a thread of its own."""

    asks_inside = True
    runs_an_agent = True
    opens = staticmethod(lambda place: nullcontext(InMemorySaver()))

    def __init__(self, place: Place, **options: Any) -> None:
        super().__init__(place, **options)
        self.middleware = GatekeeperMiddleware(
            **configured(token_budget=self.budget, token_counter=tokens_of, **self.options)
        )
        self.model = Recorder(messages=iter(lambda: AIMessage("an answer", additional_kwargs={"position": -1}), None))
        self.agent = create_agent(self.model, middleware=[self.middleware], checkpointer=self.store)
        self.messages: list[Any] = []
        self.thread = ""
        self.first_view: Any = None

    def new_thread(self) -> Any:
        self.thread = str(uuid.uuid4())
        return {"configurable": {"thread_id": self.thread}}

    def fill(self, messages: Sequence[Message]) -> None:
        self.messages = to_langchain(messages)

    def remember(self, messages: list[Any], config: Any) -> None:
        self.agent.update_state(config, {"messages": messages}, as_node="model")

    def run(self, message: Any, config: Any) -> Any:
        return self.agent.invoke({"messages": [message]}, config)

    def ask(self, query: str | None) -> list[int]:
        config = self.new_thread()
        if self.messages[:-1]:
            self.remember(self.messages[:-1], config)
        self.run(self.messages[-1], config)
        kept, self.first_view = self.noted(self.model.seen[-1]), self.middleware.selection_for(self.thread)
        for runs in (2, 3):
            state = self.run(HumanMessage(NEXT), config)
            assert len(state["messages"]) == len(self.messages) + 2 * runs - 1, "the state keeps everything"
            assert self.model.seen[-1][-1].text.endswith(NEXT)
        return kept

    def view(self) -> Any:
        return self.first_view


class AsyncMiddleware(Middleware):
    def run(self, message: Any, config: Any) -> Any:
        return asyncio.run(self.agent.ainvoke({"messages": [message]}, config))


class MiddlewareOnSqlite(Middleware):
    opens = staticmethod(lambda place: SqliteSaver.from_conn_string(str(place.folder / "checkpoints.db")))


class Buffer(Door):
    """GatekeeperMemoryBuffer with the question as the last message, as agents and SimpleChatEngine have it."""

    asks_inside = True
    opens = staticmethod(lambda place: nullcontext(SimpleChatStore()))
    key = "chat_history"

    def __init__(self, place: Place, **options: Any) -> None:
        super().__init__(place, **options)
        self.memory = GatekeeperMemoryBuffer.from_defaults(
            **configured(
                chat_store=self.store,
                chat_store_key=self.key or self.place.thread,
                token_limit=self.budget,
                tokenizer_fn=tokenizer,
                **self.options,
            )
        )

    def fill(self, messages: Sequence[Message]) -> None:
        self.memory.set(to_llama_index(messages))

    def ask(self, query: str | None) -> list[int]:
        return self.noted(self.memory.get())

    def view(self) -> Any:
        return self.memory.last_selection


class BufferOfEngine(Buffer):
    """GatekeeperMemoryBuffer as context engines ask it: the question is an argument."""

    asks_inside = False

    def ask(self, query: str | None) -> list[int]:
        return self.noted(now(self.memory.aget(input=query or " ")))


class BufferOfAgent(Buffer):
    """GatekeeperMemoryBuffer in an agent, which writes and reads its context between two runs."""

    runs_an_agent = True

    def fill(self, messages: Sequence[Message]) -> None:
        self.messages = to_llama_index(messages)
        self.memory.set(self.messages[:-1])

    def ask(self, query: str | None) -> list[int]:
        seen: list[tuple[list[ChatMessage], Any]] = []

        def respond(messages: Sequence[ChatMessage], **more: Any) -> ChatMessage:
            seen.append((list(messages), self.memory.last_selection))
            return ChatMessage("an answer", role="assistant", additional_kwargs={"position": -1})

        agent = FunctionAgent(llm=CallingModel(response_generator=respond), streaming=False)
        run_agent(agent, self.memory, self.messages[-1], NEXT, NEXT)
        assert len(self.memory.get_all()) == len(self.messages) + 5, "the store keeps everything"
        self.memory.set(self.messages[:-1])
        sent, self.first_view = seen[0]
        return self.noted(sent)

    def view(self) -> Any:
        return self.first_view


class BufferReloaded(Buffer):
    """GatekeeperMemoryBuffer written to text and read again before each question."""

    def ask(self, query: str | None) -> list[int]:
        pins = {"pinned": self.memory.pinned, "exclude": self.memory.exclude}
        memory = GatekeeperMemoryBuffer.from_string(self.memory.to_string(), **pins)
        memory.tokenizer_fn = tokenizer
        self.memory = memory
        return self.noted(memory.get())


class WholeMemory(Door):
    """GatekeeperMemory on an SQLite file."""

    asks_inside = True
    opens = staticmethod(lambda place: sqlalchemy_store("messages", f"sqlite+aiosqlite:///{place.folder / 'chat.db'}"))

    def __init__(self, place: Place, **options: Any) -> None:
        super().__init__(place, **options)
        self.memory = GatekeeperMemory.from_defaults(
            **configured(session_id=self.place.thread, token_limit=self.budget, tokenizer_fn=tokenizer, **self.options)
        )
        self.memory.sql_store = self.store  # from_defaults takes one from 0.14.24 on

    def fill(self, messages: Sequence[Message]) -> None:
        self.memory.reset()
        self.memory.put_messages(to_llama_index(messages))  # flushes: a part of them is archived

    def ask(self, query: str | None) -> list[int]:
        return self.noted(self.memory.get())

    def view(self) -> Any:
        return self.memory.last_selection
