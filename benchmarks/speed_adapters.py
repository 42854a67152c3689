"""What an adapter costs on an unchanged history: CPU time a message above the store's own read.

Run ``python -m benchmarks.speed_adapters [--sizes 100,1000] [--rounds 15] [--json FILE]``. A seeded history, plain or
with a tool call and its result in each turn, is asked about again and again; each round reads the store once and calls
the adapter once, for every adapter in turn, so that a noisy machine is noisy for all. Medians of CPU time
(``time.process_time``, all threads of the process).
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core._api import LangChainDeprecationWarning
from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.messages import BaseMessage

from benchmarks.adapters import CopyingHistory, scripted_model, to_langchain, to_llama_index, words
from benchmarks.corpus import generate_turns
from benchmarks.report import SEED, Row, numbers, options, report
from benchmarks.timing import cpu_ms, medians
from gatekeeper_core import Message, ToolCall
from gatekeeper_core.context.history.strategies import HistoryConfig
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, GatekeeperSelector
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer

TOKEN_LIMIT = 3000
SHAPES = ("plain", "tools")


class Adapter(NamedTuple):
    """One adapter at work on one history: what reads its store, and a whole call."""

    name: str
    read: Callable[[], object]
    call: Callable[[], object]


def conversation(size: int, *, shape: str, seed: int) -> list[Message]:
    """Return so many messages, the last one the question; with ``tools`` each turn calls a tool before it answers."""
    messages: list[Message] = []
    for number, turn in enumerate(generate_turns(size, seed=seed)):
        messages.append(Message("user", turn.user))
        if shape == "tools":
            call = ToolCall(f"c{number}", "search", f'{{"query":"part {number}","limit":5}}')
            messages.append(Message("assistant", "", tool_calls=(call,)))
            messages.append(Message("tool", turn.user, tool_call_id=call.id))
        messages.append(Message("assistant", turn.assistant))
        if len(messages) >= size:
            break
    return [*messages[: size - 1], Message("user", "Which port did we choose for Redis? 端口是多少？")]


def adapters(thread: Sequence[Message], run: Callable[[Any], object]) -> list[Adapter]:
    """Return every adapter, at work on a history; ``run`` runs a coroutine."""
    config, history = HistoryConfig(token_budget=TOKEN_LIMIT, on_error="raise"), to_langchain(thread)
    listed: list[BaseMessage] = [*to_langchain(thread[:-1])]
    selector, middleware = GatekeeperSelector(config, embedder=None), GatekeeperMiddleware(config, embedder=None)
    options: dict[str, Any] = {"system_prompt": None, "tool_choice": None, "tools": [], "response_format": None}
    state: Any = {"messages": history}
    request = ModelRequest(model=scripted_model(), messages=history, state=state, runtime=None, **options)
    handler: Any = lambda inputs: ModelResponse(result=list(inputs.messages))  # noqa: E731

    def classic(name: str, store: BaseChatMessageHistory, *, as_text: bool = False) -> Adapter:
        """Return ``GatekeeperChatMemory`` over a history; it is asked for what is not in it."""
        memory = GatekeeperChatMemory(chat_memory=store, return_messages=not as_text, config=config, embedder=None)
        inputs = {"input": thread[-1].text}
        return Adapter(name, lambda: store.messages, lambda: memory.load_memory_variables(inputs))

    buffer = GatekeeperMemoryBuffer.from_defaults(
        to_llama_index(thread), tokenizer_fn=words, config=config, embedder=None
    )
    queue = GatekeeperMemory.from_defaults(
        session_id="s", tokenizer_fn=words, config=replace(config, token_budget=2 * TOKEN_LIMIT), embedder=None
    )
    run(queue.sql_store.add_messages("s", to_llama_index(thread)))
    in_memory = InMemoryChatMessageHistory(messages=listed)
    return [
        Adapter("GatekeeperSelector.invoke", lambda: None, lambda: selector.invoke(history)),
        Adapter("GatekeeperMiddleware", lambda: None, lambda: middleware.wrap_model_call(request, handler)),
        classic("GatekeeperChatMemory", in_memory),
        classic("GatekeeperChatMemory, as text", in_memory, as_text=True),
        classic("GatekeeperChatMemory, a store that copies", CopyingHistory(listed)),
        Adapter("GatekeeperMemoryBuffer.get", buffer.get_all, buffer.get),
        Adapter("GatekeeperMemory.aget", lambda: run(queue.aget_all()), lambda: run(queue.aget())),
    ]


def measure(size: int, rounds: int, *, shape: str) -> list[Row]:
    """Return one row for each adapter: first call, store's read, unchanged call, and the difference a message."""
    thread, rows = conversation(size, shape=shape, seed=SEED), []
    loop = asyncio.new_event_loop()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LangChainDeprecationWarning)
            running = adapters(thread, loop.run_until_complete)
        first = [cpu_ms(adapter.call) for adapter in running]
        calls = {(each.name, part): getattr(each, part) for each in running for part in ("read", "call")}
        middle = medians(calls, [()] * rounds)
        for adapter, begin in zip(running, first, strict=True):
            read, call = (middle[adapter.name, part] for part in ("read", "call"))
            row: Row = {"adapter": adapter.name, "history": shape, "messages": size}
            row |= {"first, ms": f"{begin:.1f}", "store's read, ms": f"{read:.3f}", "unchanged, ms": f"{call:.3f}"}
            rows.append(row | {"above the read, µs a message": f"{1e3 * (call - read) / size:.2f}"})
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sizes", type=numbers, default=[100, 1000], help="messages of the histories (100,1000)")
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args(arguments)
    rows = [row for size in chosen.sizes for shape in SHAPES for row in measure(size, chosen.rounds, shape=shape)]
    report(chosen, "speed_adapters", {"unchanged": rows})


if __name__ == "__main__":
    main()
