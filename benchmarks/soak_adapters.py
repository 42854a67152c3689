"""Conversations through the adapters of LangChain and LlamaIndex, for the soak: several side by side, then dropped.

A conversation has ``MESSAGES`` messages, each with the number of its thread, and asks after every tenth turn. It ends
with an error where a request holds the number of another thread.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.base.llms.types import ChatMessage

from benchmarks.corpus import GeneratedTurn, generate_turns
from benchmarks.report import SEED
from gatekeeper_core.context.history.strategies import HistoryConfig
from langchain_gatekeeper import GatekeeperMiddleware
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBlock, GatekeeperMemoryBuffer

MESSAGES = 200
"""Messages of a conversation."""

CONFIG = HistoryConfig(token_budget=4_000, passthrough_below=0, on_error="raise")

_SIDE_BY_SIDE = 8
_TURNS_A_QUESTION = 10
_NUMBER = re.compile(r"<thread (\d+)>")


def _tokens(text: str) -> list[int]:
    """Return as many items as a text has tokens, four characters each: much faster than LlamaIndex's default."""
    return list(range(0, len(text), 4))


class Talks:
    """Conversations of one adapter, up to eight at the same time."""

    def __init__(self, messages: int = MESSAGES, *, config: HistoryConfig = CONFIG) -> None:
        self.config = config
        self._turns = generate_turns(messages // 2, seed=SEED)
        self._pool = ThreadPoolExecutor(_SIDE_BY_SIDE)
        self._under_way: set[Future[None]] = set()
        self._count = 0

    def add(self, turn: GeneratedTurn) -> None:
        """Begin a conversation that opens with a turn; where eight are under way, wait for one of them.

        Raises:
            AssertionError: a request of an earlier one held a message of another thread.
        """
        if len(self._under_way) == _SIDE_BY_SIDE:
            self._wait(FIRST_COMPLETED)
        self._under_way.add(self._pool.submit(self.talk, self._count, [turn, *self._turns[1:]]))
        self._count += 1

    def ask(self, question: str) -> None:
        """Wait for all conversations, then hold one of a single question."""
        self._wait()
        self.talk(self._count, [GeneratedTurn(question, "", (), (), "en")])
        self._count += 1

    def talk(self, number: int, turns: Iterable[GeneratedTurn]) -> None:
        """Hold one conversation from beginning to end."""
        asyncio.run(self.atalk(number, turns))

    async def atalk(self, number: int, turns: Iterable[GeneratedTurn]) -> None:
        """Hold one conversation with an adapter that is awaited."""
        raise NotImplementedError

    def _wait(self, until: str = "ALL_COMPLETED") -> None:
        done, self._under_way = wait(self._under_way, return_when=until)
        for each in done:
            each.result()


def _said(number: int, turns: Iterable[GeneratedTurn]) -> Iterator[tuple[str, str, bool]]:
    """Yield question, answer and whether the model is asked."""
    for at, turn in enumerate(turns):
        yield f"<thread {number}> {turn.user}", f"<thread {number}> {turn.assistant}", at % _TURNS_A_QUESTION == 0


def check_request(number: int, texts: Iterable[str | None]) -> None:
    """Check that a request holds no message of another thread."""
    assert {*_NUMBER.findall(" ".join(text or "" for text in texts))} <= {str(number)}


class _Reading(BaseChatModel):
    """A model that answers with the numbers of threads that it reads."""

    @property
    def _llm_type(self) -> str:
        return "reading"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        numbers = dict.fromkeys(_NUMBER.findall(" ".join(message.text for message in messages)))
        answer = AIMessage(" ".join(f"<thread {number}>" for number in numbers))
        return ChatResult(generations=[ChatGeneration(message=answer)])


class Middleware(Talks):
    """One agent with ``GatekeeperMiddleware`` for all threads."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.gate = GatekeeperMiddleware(self.config, token_counter=lambda text: len(text) // 4, embedder=None)
        self._agent: Any = create_agent(_Reading(), middleware=[self.gate])

    def talk(self, number: int, turns: Iterable[GeneratedTurn]) -> None:
        messages: list[BaseMessage] = []
        for asked, answered, is_asked in _said(number, turns):
            messages.append(HumanMessage(asked))
            if is_asked:
                run = self._agent.invoke({"messages": messages}, {"configurable": {"thread_id": f"t{number}"}})
                check_request(number, [run["messages"][-1].text])
            messages.append(AIMessage(answered))


class Buffer(Talks):
    """A ``GatekeeperMemoryBuffer`` for each thread."""

    def talk(self, number: int, turns: Iterable[GeneratedTurn]) -> None:
        memory = GatekeeperMemoryBuffer.from_defaults(
            tokenizer_fn=_tokens, chat_store_key=f"t{number}", config=self.config, embedder=None
        )
        for asked, answered, is_asked in _said(number, turns):
            memory.put(ChatMessage(asked))
            if is_asked:
                check_request(number, (message.content for message in memory.get()))
            memory.put(ChatMessage(answered, role="assistant"))


class Memory(Talks):
    """A ``GatekeeperMemory`` for each thread, with a database of its own."""

    async def atalk(self, number: int, turns: Iterable[GeneratedTurn]) -> None:
        options: dict[str, Any] = {"tokenizer_fn": _tokens, "config": self.config, "embedder": None}
        memory = GatekeeperMemory.from_defaults(session_id=f"t{number}", **options)
        for asked, answered, is_asked in _said(number, turns):
            await memory.aput(ChatMessage(asked))
            if is_asked:
                check_request(number, [message.content for message in await memory.aget()])
            await memory.aput(ChatMessage(answered, role="assistant"))
        store: Any = memory.sql_store  # which has no way to close its connections
        await store._async_engine.dispose()


class Block(Talks):
    """One ``GatekeeperMemoryBlock`` for all threads, which are flushed to it turn by turn."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.block = GatekeeperMemoryBlock(config=self.config, tokenizer_fn=_tokens, embedder=None)

    async def atalk(self, number: int, turns: Iterable[GeneratedTurn]) -> None:
        session = f"t{number}"
        for asked, answered, is_asked in _said(number, turns):
            question = ChatMessage(asked)
            if is_asked:
                check_request(number, [await self.block.aget([question], session_id=session)])
            flushed = [question, ChatMessage(answered, role="assistant")]
            await self.block.aput(flushed, from_short_term_memory=True, session_id=session)
        self.block.forget(session)


ADAPTERS: dict[str, type[Talks]] = {"middleware": Middleware, "buffer": Buffer, "memory": Memory, "block": Block}
"""The adapters by the name of their soak."""
