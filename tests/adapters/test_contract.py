"""One contract for every adapter: what goes in, what comes out, on every kind of store.

A *door* is an adapter with a store behind it. It takes a history, asks with a question and gives back what the model
would have read. Doors with ``asks_inside`` have the question in the history as its last user message; the others hold
finished turns only.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_community.chat_message_histories import FileChatMessageHistory, SQLChatMessageHistory
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

from gatekeeper_core.context.history import select_history
from gatekeeper_core.messages import Message, group_turns, validate_messages
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.tokens import count_messages
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, GatekeeperSelector, select_messages
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBlock, GatekeeperMemoryBuffer
from tests.adapters.histories import TOPICS, histories, positions, talk, to_langchain, to_llama_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from langchain_core.chat_history import BaseChatMessageHistory

pytestmark = [
    pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:langchain_community.*"),
]

OPTIONS: dict[str, Any] = {"on_error": "raise"}
PROVIDERS = ("openai", "anthropic", "gemini", "minimax")


def tokens_of(text: str) -> int:
    """Count characters by four, rounded up: a counter that every door is given."""
    return (len(text) + 3) // 4


def tokenizer(text: str) -> list[str]:
    return [text[at : at + 4] for at in range(0, len(text), 4)]


class Door:
    """An adapter with a store behind it."""

    asks_inside = False

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.options = OPTIONS | options
        self.budget = self.options.pop("budget", 4000)

    def fill(self, messages: Sequence[Message]) -> None:
        """Make the stored history equal to the messages."""
        raise NotImplementedError

    def ask(self, query: str | None) -> list[int]:
        """Return the positions of what the model reads; the query goes in as its framework passes it."""
        raise NotImplementedError

    def view(self) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        """Let go of files."""


class ClassicMemory(Door):
    """GatekeeperChatMemory; ``store`` makes its history."""

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(folder, **options)
        self.history = self.store()
        self.memory = GatekeeperChatMemory(
            chat_memory=self.history,
            return_messages=True,
            token_budget=self.budget,
            token_counter=tokens_of,
            **self.options,
        )

    def store(self) -> BaseChatMessageHistory:
        return InMemoryChatMessageHistory()

    def fill(self, messages: Sequence[Message]) -> None:
        self.history.clear()
        self.history.add_messages(to_langchain(messages))

    def ask(self, query: str | None) -> list[int]:
        return positions(self.memory.load_memory_variables({"input": query} if query else {})["history"])

    def view(self) -> Any:
        return self.memory.last_selection


class AsyncClassicMemory(ClassicMemory):
    def ask(self, query: str | None) -> list[int]:
        loaded = asyncio.run(self.memory.aload_memory_variables({"input": query} if query else {}))
        return positions(loaded["history"])


class ClassicMemoryOnFile(ClassicMemory):
    def store(self) -> BaseChatMessageHistory:
        return FileChatMessageHistory(str(self.folder / "history.json"))


class ClassicMemoryOnSql(ClassicMemory):
    def store(self) -> BaseChatMessageHistory:
        return SQLChatMessageHistory("thread", connection=f"sqlite:///{self.folder / 'history.db'}")

    def close(self) -> None:
        self.history.engine.dispose()  # type: ignore[attr-defined]


class Selector(Door):
    """GatekeeperSelector before a prompt: the history and the question side by side."""

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(folder, **options)
        self.selector = GatekeeperSelector(token_budget=self.budget, token_counter=tokens_of, **self.options)
        self.messages: list[Any] = []

    def fill(self, messages: Sequence[Message]) -> None:
        self.messages = to_langchain(messages)

    def ask(self, query: str | None) -> list[int]:
        return positions(self.selector.invoke({"history": self.messages, "input": query or ""})["history"])

    def view(self) -> Any:
        return self.selector.last_selection


class SelectorOfAList(Selector):
    """GatekeeperSelector on a message list that ends with the question."""

    asks_inside = True

    def ask(self, query: str | None) -> list[int]:
        return positions(self.selector.invoke(self.messages))


class SelectMessages(Selector):
    """The function, which remembers nothing."""

    asks_inside = True

    def ask(self, query: str | None) -> list[int]:
        chosen = select_messages(self.messages, token_budget=self.budget, token_counter=tokens_of, **self.options)
        return positions(chosen)


class SelectorInHistory(Selector):
    """GatekeeperSelector inside RunnableWithMessageHistory, which reads and writes the store."""

    asks_inside = True

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(folder, **options)
        self.history = self.store()
        self.seen: list[Any] = []

        def model(messages: list[Any]) -> AIMessage:
            self.seen = messages
            return AIMessage("an answer", additional_kwargs={"position": -1})

        self.chain = RunnableWithMessageHistory(self.selector | RunnableLambda(model), lambda session_id: self.history)

    def store(self) -> BaseChatMessageHistory:
        return InMemoryChatMessageHistory()

    def fill(self, messages: Sequence[Message]) -> None:
        self.messages = to_langchain(messages)
        self.history.clear()
        self.history.add_messages(self.messages[:-1])

    def ask(self, query: str | None) -> list[int]:
        stored = len(self.history.messages)
        self.chain.invoke([self.messages[-1]], config={"configurable": {"session_id": "thread"}})
        assert len(self.history.messages) == stored + 2, "the store keeps everything"
        kept = self.history.messages[:-2]
        self.history.clear()
        self.history.add_messages(kept)
        return positions(self.seen)


class SelectorInFile(SelectorInHistory):
    def store(self) -> BaseChatMessageHistory:
        return FileChatMessageHistory(str(self.folder / "history.json"))


class SelectorInSql(SelectorInHistory):
    def store(self) -> BaseChatMessageHistory:
        return SQLChatMessageHistory("thread", connection=f"sqlite:///{self.folder / 'history.db'}")

    def close(self) -> None:
        self.history.engine.dispose()  # type: ignore[attr-defined]


class Recorder(GenericFakeChatModel):
    """A scripted model that remembers what it read."""

    seen: list[Any] = []  # noqa: RUF012 - a field of a pydantic model: each one gets its own list

    def _generate(self, messages: list[Any], *args: Any, **more: Any) -> Any:
        self.seen.append(list(messages))
        return super()._generate(messages, *args, **more)


class Middleware(Door):
    """GatekeeperMiddleware in an agent with a checkpointer; every question opens a thread of its own."""

    asks_inside = True

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(folder, **options)
        self.middleware = GatekeeperMiddleware(token_budget=self.budget, token_counter=tokens_of, **self.options)
        self.model = Recorder(messages=iter(lambda: AIMessage("an answer", additional_kwargs={"position": -1}), None))
        self.saver = self.checkpointer()
        self.agent = create_agent(self.model, middleware=[self.middleware], checkpointer=self.saver)
        self.messages: list[Any] = []
        self.thread = 0

    def checkpointer(self) -> Any:
        return InMemorySaver()

    def fill(self, messages: Sequence[Message]) -> None:
        self.messages = to_langchain(messages)

    def ask(self, query: str | None) -> list[int]:
        self.thread += 1
        config: Any = {"configurable": {"thread_id": str(self.thread)}}
        if self.messages[:-1]:
            self.agent.update_state(config, {"messages": self.messages[:-1]}, as_node="model")
        state = self.agent.invoke({"messages": [self.messages[-1]]}, config)
        assert len(state["messages"]) == len(self.messages) + 1, "the state keeps everything"
        return positions(self.model.seen[-1])

    def view(self) -> Any:
        return self.middleware.selection_for(str(self.thread))


class AsyncMiddleware(Middleware):
    def ask(self, query: str | None) -> list[int]:
        self.thread += 1
        config: Any = {"configurable": {"thread_id": str(self.thread)}}
        if self.messages[:-1]:
            self.agent.update_state(config, {"messages": self.messages[:-1]}, as_node="model")
        asyncio.run(self.agent.ainvoke({"messages": [self.messages[-1]]}, config))
        return positions(self.model.seen[-1])


class MiddlewareOnSqlite(Middleware):
    def checkpointer(self) -> Any:
        self.context = SqliteSaver.from_conn_string(str(self.folder / "checkpoints.db"))
        return self.context.__enter__()

    def close(self) -> None:
        self.context.__exit__(None, None, None)


class Buffer(Door):
    """GatekeeperMemoryBuffer with the question as the last message, as agents and SimpleChatEngine have it."""

    asks_inside = True

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(folder, **options)
        self.memory = GatekeeperMemoryBuffer.from_defaults(
            chat_store=SimpleChatStore(), token_limit=self.budget, tokenizer_fn=tokenizer, **self.options
        )

    def fill(self, messages: Sequence[Message]) -> None:
        self.memory.set(to_llama_index(messages))

    def ask(self, query: str | None) -> list[int]:
        return positions(self.memory.get())

    def view(self) -> Any:
        return self.memory.last_selection


class BufferOfEngine(Buffer):
    """GatekeeperMemoryBuffer as context engines ask it: the question is an argument."""

    asks_inside = False

    def ask(self, query: str | None) -> list[int]:
        return positions(asyncio.run(self.memory.aget(input=query or " ")))


class BufferReloaded(Buffer):
    """GatekeeperMemoryBuffer written to text and read again before each question."""

    def ask(self, query: str | None) -> list[int]:
        memory = GatekeeperMemoryBuffer.from_string(self.memory.to_string())
        memory.tokenizer_fn = tokenizer
        self.memory = memory
        return positions(memory.get())


class WholeMemory(Door):
    """GatekeeperMemory on an SQLite file."""

    asks_inside = True

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(folder, **options)
        self.memory = GatekeeperMemory.from_defaults(
            session_id="thread",
            token_limit=self.budget,
            tokenizer_fn=tokenizer,
            chat_store=SQLAlchemyChatStore(
                table_name="messages", async_database_uri=f"sqlite+aiosqlite:///{folder / 'chat.db'}"
            ),
            **self.options,
        )

    def fill(self, messages: Sequence[Message]) -> None:
        self.memory.reset()
        self.memory.put_messages(to_llama_index(messages))  # flushes: a part of them is archived

    def ask(self, query: str | None) -> list[int]:
        return positions(self.memory.get())

    def view(self) -> Any:
        return self.memory.last_selection


FINISHED_DOORS = [ClassicMemory, AsyncClassicMemory, ClassicMemoryOnFile, ClassicMemoryOnSql, Selector, BufferOfEngine]
ASKING_DOORS = [
    SelectorOfAList,
    SelectMessages,
    SelectorInHistory,
    SelectorInFile,
    SelectorInSql,
    Middleware,
    AsyncMiddleware,
    MiddlewareOnSqlite,
    Buffer,
    BufferReloaded,
    WholeMemory,
]
DOORS: list[type[Door]] = [*FINISHED_DOORS, *ASKING_DOORS]
REMEMBERING_DOORS = [door for door in DOORS if door not in (SelectMessages, BufferReloaded)]
# One door of each adapter, for the tests that draw many histories.
QUICK_DOORS: list[type[Door]] = [
    ClassicMemory,
    Selector,
    BufferOfEngine,
    SelectorOfAList,
    SelectMessages,
    Middleware,
    Buffer,
    WholeMemory,
]

every_door = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
quick_door = pytest.mark.parametrize("door", QUICK_DOORS, ids=lambda door: door.__name__)
three_scripts = pytest.mark.parametrize("script", sorted(TOPICS))
ALL_OF_IT: dict[str, Any] = {"floor_turns": 0, "passthrough_below": 0}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    """Return a function that opens doors, and close them at the end."""
    doors: list[Door] = []

    def open_door(door: type[Door], **options: Any) -> Door:
        doors.append(door(tmp_path, **options))
        return doors[-1]

    yield open_door
    for door in doors:
        door.close()


def asked(door: type[Door], pairs: Sequence[tuple[str, str]], question: str) -> list[Message]:
    return talk(pairs) + ([Message("user", question)] if door.asks_inside else [])


def chosen_by_core(messages: Sequence[Message], query: str, budget: int, *, inside: bool) -> list[int]:
    """Return the positions that the core chooses: text turns in, turn ids out."""
    past = messages[:-1] if inside else messages
    turns = group_turns(past)
    gatekeeper = ContextGatekeeper(token_counter=tokens_of)
    gatekeeper.sync(turns)
    room = budget - (tokens_of(query) if inside else 0)
    ids = [turn.turn_id for turn in gatekeeper.explain(query, token_budget=room, trim=False).turns]
    kept = [at for turn_id in ids for at in range(turns[turn_id].start, turns[turn_id].stop)]
    return kept + ([len(messages) - 1] if inside else [])


@every_door
@three_scripts
@pytest.mark.parametrize("budget", [40, 70, 4000])
def test_the_same_turns_are_kept_as_by_the_core(door: type[Door], script: str, budget: int, opened: Any) -> None:
    pairs, question = TOPICS[script]
    messages = asked(door, pairs, question)
    at_door = opened(door, budget=budget, **ALL_OF_IT)
    at_door.fill(messages)
    kept = at_door.ask(question)
    assert kept == chosen_by_core(messages, question, budget, inside=door.asks_inside)
    assert 0 < len(kept) < len(messages)


@every_door
@three_scripts
def test_a_rare_identifier_brings_its_turn_back_and_no_other(door: type[Door], script: str, opened: Any) -> None:
    pairs = [*TOPICS[script][0]]
    planted = {"english": "The crate has the number ZX-4471-Q.", "chinese": "这个箱子的编号是 ZX-4471-Q。"}
    pairs.insert(1, (planted.get(script, "这个 crate 的编号是 ZX-4471-Q。"), "OK."))
    question = {"english": "Where is ZX-4471-Q?", "chinese": "ZX-4471-Q 在哪里？"}.get(script, "ZX-4471-Q 在 where？")
    messages = asked(door, pairs, question)
    at_door = opened(door, **ALL_OF_IT)
    at_door.fill(messages)
    kept = at_door.ask(question)
    assert {2, 3} <= set(kept)
    assert not {6, 7, 8, 9} & set(kept), "the bread has nothing to do with the crate"


@every_door
def test_the_same_question_again_gets_the_same_answer(door: type[Door], opened: Any) -> None:
    pairs, question = TOPICS["mixed"]
    at_door = opened(door, budget=60, passthrough_below=0)
    at_door.fill(asked(door, pairs, question))
    first = at_door.ask(question)
    assert [at_door.ask(question) for _ in range(3)] == [first] * 3


CHANGES = {
    "edited": lambda pairs: [("Which port does the Postgres pool use?", "It uses 5432."), *pairs[1:]],
    "deleted": lambda pairs: pairs[1:],
    "shortened": lambda pairs: pairs[:2],
    "inserted": lambda pairs: [*pairs[:1], ("The Redis port moved.", "Noted: Redis is on 7000 now."), *pairs[1:]],
    "replaced": lambda pairs: [("What is a quince?", "A quince is a fruit."), ("And a medlar?", "Another one.")],
    "emptied": lambda pairs: [],
}


@pytest.mark.parametrize("door", REMEMBERING_DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("change", sorted(CHANGES))
def test_a_change_of_the_history_is_noticed(door: type[Door], change: str, opened: Any) -> None:
    pairs, question = TOPICS["english"]
    at_door = opened(door, **ALL_OF_IT)
    at_door.fill(asked(door, pairs, question))
    at_door.ask(question)
    messages = asked(door, CHANGES[change](list(pairs)), question)
    at_door.fill(messages)
    assert at_door.ask(question) == chosen_by_core(messages, question, 4000, inside=door.asks_inside)


@pytest.mark.parametrize("door", [ClassicMemoryOnFile, ClassicMemoryOnSql, WholeMemory], ids=lambda door: door.__name__)
def test_what_another_process_writes_to_the_store_is_noticed(door: type[Door], opened: Any) -> None:
    pairs, question = TOPICS["english"]
    here, elsewhere = opened(door, **ALL_OF_IT), opened(door, **ALL_OF_IT)
    here.fill(asked(door, pairs, question))
    here.ask(question)
    messages = asked(door, [*pairs[:1], ("The Redis port moved to 7000.", "Noted."), *pairs[1:]], question)
    elsewhere.fill(messages)
    assert here.ask(question) == chosen_by_core(messages, question, 4000, inside=door.asks_inside)


@every_door
def test_a_short_history_is_passed_through_less_its_greeting(door: type[Door], opened: Any) -> None:
    pairs, question = TOPICS["english"]
    messages = [Message("system", "Be brief."), Message("assistant", "Welcome!"), *asked(door, pairs, question)]
    at_door = opened(door)
    at_door.fill(messages)
    assert at_door.ask(question) == [0, *range(2, len(messages))]
    assert at_door.view() is None or at_door.view().status == "passthrough"


@every_door
def test_shadow_leaves_everything_as_it_is_and_reports(door: type[Door], opened: Any) -> None:
    pairs, question = TOPICS["english"]
    messages = asked(door, pairs, question)
    at_door = opened(door, shadow=True, **ALL_OF_IT)
    at_door.fill(messages)
    assert at_door.ask(question) == list(range(len(messages)))
    view = at_door.view()
    if view is not None:
        assert 0 < len(view.kept) < len(messages)


@pytest.mark.parametrize("door", FINISHED_DOORS, ids=lambda door: door.__name__)
def test_without_a_question_the_newest_turns_come(door: type[Door], opened: Any) -> None:
    pairs, _ = TOPICS["english"]
    at_door = opened(door, budget=60, **ALL_OF_IT)
    at_door.fill(talk(pairs))
    kept = at_door.ask(None)
    if door is BufferOfEngine:  # without an input LlamaIndex means the last user message
        return
    assert kept == list(range(kept[0], 2 * len(pairs)))
    assert 0 < len(kept) < 2 * len(pairs)
    assert at_door.view().status == "no_query"


@quick_door
@given(data=st.data(), budget=st.integers(1, 900), kind=st.sampled_from(["default", "strict"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_what_the_model_reads_is_valid_whole_and_within_the_budget(
    door: type[Door], data: st.DataObject, budget: int, kind: str, tmp_path: Path
) -> None:
    messages = data.draw(histories(open_run=door.asks_inside, current=door.asks_inside))
    query = messages[-1].text if door.asks_inside else "apples and crates 苹果"
    at_door = door(tmp_path, budget=budget, **(ALL_OF_IT if kind == "strict" else {}))
    if isinstance(at_door, Middleware) and messages[-1].role != "user":
        messages = [*messages, Message("assistant", "done"), Message("user", "apples?")]
    at_door.fill(messages)
    kept = at_door.ask(query)
    sent = [messages[at] for at in kept]
    assert kept == sorted(set(kept))

    turns = group_turns(messages)
    whole = [set(range(turn.start, turn.stop)) for turn in turns]
    assert all(turn <= set(kept) or not turn & set(kept) for turn in whole), "whole turns only"
    for provider in PROVIDERS:
        head = [message for message in sent if message.role == "system"] if provider == "anthropic" else []
        rest = [message for message in sent if message not in head]
        assert not validate_messages(head + rest, provider=provider, open_run=door.asks_inside)  # type: ignore[arg-type]

    head_positions = {at for at in range(turns[0].start if turns else len(messages)) if messages[at].role == "system"}
    cost = count_messages(sent, token_counter=tokens_of)
    if door.asks_inside:
        current = whole[-1]
        always = [messages[at] for at in sorted(head_positions | current)]
        assert head_positions | current <= set(kept)
        assert cost <= budget or cost == count_messages(always, token_counter=tokens_of)
    else:
        assert cost <= budget


@quick_door
def test_a_door_is_not_shut_by_what_fits_nowhere(door: type[Door], opened: Any) -> None:
    messages = asked(door, [("word " * 400, "answer " * 400)], "and now?")
    at_door = opened(door, budget=10)
    at_door.fill(messages)
    assert at_door.ask("and now?") == ([2] if door.asks_inside else [])
    view = at_door.view()
    assert view is None or view.status == "nothing_fits"


def test_the_block_brings_back_archived_turns(tmp_path: Path) -> None:
    pairs, question = TOPICS["english"]
    store = SQLAlchemyChatStore(table_name="m", async_database_uri=f"sqlite+aiosqlite:///{tmp_path / 'chat.db'}")
    block = GatekeeperMemoryBlock(chat_store=store, on_error="raise")

    async def run() -> str:
        await store.add_messages("s", to_llama_index(talk(pairs)))
        await store.archive_oldest_messages("s", n=len(pairs) * 2)
        return await block.aget(to_llama_index([Message("user", question)]), session_id="s")

    text = asyncio.run(run())
    assert "6380" in text
    assert "oven" not in text


def test_the_core_is_asked_the_same_way_by_hand() -> None:
    """The doors and ``select_history`` agree, so that what holds for one holds for the others."""
    pairs, question = TOPICS["chinese"]
    messages = [*talk(pairs), Message("user", question)]
    view = select_history(messages, gatekeeper=ContextGatekeeper(token_counter=tokens_of), budget_tokens=4000)
    assert list(view.kept) == chosen_by_core(messages, question, 4000, inside=True)
    assert HumanMessage(question).text == question
