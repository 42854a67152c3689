"""Every adapter in many threads and in an event loop: one object serves them all, and no loop waits for a selection."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.tokens import estimate_text_tokens
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, GatekeeperSelector
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from tests.adapters.chats import history_of, texts, user
from tests.adapters.histories import TOPICS
from tests.adapters.scripted import Scripted, contents, talk, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Counter = Callable[[str], int]

# LangChain silences its own warning while it makes a request, for all threads or for none.
pytestmark = pytest.mark.filterwarnings("ignore:Direct attribute assignment to ModelRequest:DeprecationWarning")

PAIRS, QUESTION = TOPICS["english"]
GIVEN: Any = [*talk(PAIRS), HumanMessage(QUESTION)]
CONFIG = HistoryConfig(on_error="raise", passthrough_below=0, keep_newest=0, token_budget=200)


class Opened(NamedTuple):
    """An adapter on the English history, whose first two turns answer the question.

    Attributes:
        step: asks in both ways; its answer is the texts of what was selected.
        write: adds a turn about another topic, where the adapter has a store.
    """

    step: Any
    write: Callable[[], object] | None = None


def chat_memory(counter: Counter) -> Opened:
    memory = GatekeeperChatMemory(config=CONFIG, token_counter=counter, return_messages=True)
    memory.chat_memory.add_messages(talk(PAIRS))

    async def load(_: Any) -> list[Any]:
        return contents((await memory.aload_memory_variables({"input": QUESTION}))["history"])

    step = RunnableLambda(lambda _: contents(memory.load_memory_variables({"input": QUESTION})["history"]), load)
    return Opened(step, lambda: memory.save_context({"input": "note"}, {"output": "noted"}))


def selector(counter: Counter) -> Opened:
    gate = GatekeeperSelector(CONFIG, token_counter=counter)
    return Opened(RunnableLambda(lambda _: GIVEN) | gate | RunnableLambda(lambda kept: contents(kept)[:-1]))


def middleware(counter: Counter) -> Opened:
    gate = GatekeeperMiddleware(CONFIG, token_counter=counter)

    def agent() -> tuple[Scripted, Any]:
        model = Scripted()
        return model, create_agent(model, [], middleware=[gate])

    def thrice(_: Any) -> list[Any]:
        model, runs = agent()
        for _ in range(3):
            runs.invoke({"messages": GIVEN})
        return contents(model.seen[-1])[:-1]

    async def athrice(_: Any) -> list[Any]:
        model, runs = agent()
        for _ in range(3):
            await runs.ainvoke({"messages": GIVEN})
        return contents(model.seen[-1])[:-1]

    return Opened(RunnableLambda(thrice, athrice))


def buffer(counter: Counter, kind: Any = GatekeeperMemoryBuffer) -> Opened:
    memory = kind.from_defaults(config=CONFIG, tokenizer_fn=lambda text: [""] * counter(text))
    memory.set(history_of(PAIRS))

    async def get(_: Any) -> list[Any]:
        return texts(await memory.aget(QUESTION))

    note = [user("note"), *history_of([("note", "noted")])[1:]]
    return Opened(RunnableLambda(lambda _: texts(memory.get(QUESTION)), get), lambda: memory.put_messages(note))


def whole_memory(counter: Counter) -> Opened:
    return buffer(counter, GatekeeperMemory)


@pytest.mark.parametrize(
    "door", [chat_memory, selector, middleware, buffer]
)  # a loop of LlamaIndex's is that of one thread
def test_many_threads_of_the_process_may_share_one_object(door: Any) -> None:
    opened, start = door(estimate_text_tokens), threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        for _ in range(8):
            if opened.write and number < 2:
                opened.write()
            assert opened.step.invoke(None)[:4] == texts_of(PAIRS[:2])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


@pytest.mark.parametrize("door", [chat_memory, selector, middleware, buffer, whole_memory])
def test_no_loop_waits_for_a_selection_and_one_that_is_cancelled_leaves_no_half_state(door: Any) -> None:
    started, go_on = threading.Event(), threading.Event()
    threads = set()

    def slow(text: str) -> int:
        threads.add(threading.current_thread())
        started.set()
        go_on.wait(10)
        return estimate_text_tokens(text)

    opened = door(slow)

    async def run() -> list[Any]:
        task = asyncio.create_task(opened.step.ainvoke(None))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        return await opened.step.ainvoke(None)

    assert asyncio.get_event_loop().run_until_complete(run()) == texts_of(PAIRS[:2])
    assert threading.main_thread() not in threads
