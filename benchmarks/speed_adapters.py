"""What an adapter costs on an unchanged history: CPU time a message above the store's own read.

Run ``python -m benchmarks.speed_adapters [--sizes 100,1000] [--rounds 15] [--json FILE]``. A seeded history, plain or
with a tool call and its result in each turn, is asked about again and again; each round reads the store once and calls
the adapter once, for every adapter in turn, so that a noisy machine is noisy for all. Medians of CPU time
(``time.process_time``, all threads of the process).
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core._api import LangChainDeprecationWarning
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import BaseMessage

from benchmarks.adapters import CopyingHistory, scripted_model, to_langchain, to_llama_index, words
from benchmarks.corpus import generate_turns
from benchmarks.report import print_table, write_json
from gatekeeper_core import Message, ToolCall
from gatekeeper_core.context.history.strategies import HistoryConfig
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, GatekeeperSelector
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer

SEED = 20_261_121
TOKEN_LIMIT = 3000
SHAPES = ("plain", "tools")
CONFIG = HistoryConfig(token_budget=TOKEN_LIMIT, on_error="raise")


class Adapter(NamedTuple):
    """One adapter at work on one history: what reads its store, and a whole call."""

    name: str
    read: Callable[[], object]
    call: Callable[[], object]


def conversation(size: int, *, shape: str, seed: int) -> list[Message]:
    """Return so many messages; the last one is the question.

    Args:
        size: messages, at least 1.
        shape: ``plain``, or ``tools``: each turn calls a tool before it answers.
        seed: of the texts.
    """
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


def nothing() -> None:
    """Read no store: the messages are handed over."""


def selector(given: Sequence[Message]) -> Adapter:
    """Return ``GatekeeperSelector``."""
    gate, history = GatekeeperSelector(CONFIG, embedder=None), to_langchain(given)
    return Adapter("GatekeeperSelector.invoke", nothing, lambda: gate.invoke(history))


def middleware(given: Sequence[Message]) -> Adapter:
    """Return ``GatekeeperMiddleware``, with a handler that calls no model."""
    gate, history = GatekeeperMiddleware(CONFIG, embedder=None), to_langchain(given)
    options: dict[str, Any] = {"system_prompt": None, "tool_choice": None, "tools": [], "response_format": None}
    request = ModelRequest(
        model=scripted_model(), messages=history, state=cast("Any", {"messages": history}), runtime=None, **options
    )
    handler: Any = lambda asked: ModelResponse(result=list(asked.messages))  # noqa: E731
    return Adapter("GatekeeperMiddleware", nothing, lambda: gate.wrap_model_call(request, handler))


def classic(given: Sequence[Message], name: str, *, copies: bool, as_text: bool = False) -> Adapter:
    """Return ``GatekeeperChatMemory`` over a history in memory, which may copy; it is asked for what is not in it."""
    listed: list[BaseMessage] = [*to_langchain(given[:-1])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        history = CopyingHistory(listed) if copies else InMemoryChatMessageHistory(messages=listed)
        memory = GatekeeperChatMemory(chat_memory=history, return_messages=not as_text, config=CONFIG, embedder=None)
    asked = {"input": given[-1].text}
    return Adapter(name, lambda: history.messages, lambda: memory.load_memory_variables(asked))


def buffer(given: Sequence[Message]) -> Adapter:
    """Return ``GatekeeperMemoryBuffer`` over a ``SimpleChatStore``."""
    memory = GatekeeperMemoryBuffer.from_defaults(
        to_llama_index(given), tokenizer_fn=words, config=CONFIG, embedder=None
    )
    return Adapter("GatekeeperMemoryBuffer.get", memory.get_all, memory.get)


def queue(given: Sequence[Message], run: Callable[[Any], object]) -> Adapter:
    """Return ``GatekeeperMemory`` over SQLite; ``run`` runs a coroutine."""
    memory = GatekeeperMemory.from_defaults(
        session_id="s", tokenizer_fn=words, config=replace(CONFIG, token_budget=2 * TOKEN_LIMIT), embedder=None
    )
    run(memory.sql_store.add_messages("s", to_llama_index(given)))
    return Adapter("GatekeeperMemory.aget", lambda: run(memory.aget_all()), lambda: run(memory.aget()))


def adapters(given: Sequence[Message], run: Callable[[Any], object]) -> list[Adapter]:
    """Return every adapter, at work on a history."""
    return [
        selector(given),
        middleware(given),
        classic(given, "GatekeeperChatMemory", copies=False),
        classic(given, "GatekeeperChatMemory, as text", copies=False, as_text=True),
        classic(given, "GatekeeperChatMemory, a store that copies", copies=True),
        buffer(given),
        queue(given, run),
    ]


def cpu_ms(call: Callable[[], object]) -> float:
    """Return the CPU time of one call in milliseconds."""
    begin = time.process_time()
    call()
    return 1e3 * (time.process_time() - begin)


def measure(size: int, rounds: int, *, shape: str) -> list[dict[str, Any]]:
    """Return one row for each adapter: first call, store's read, unchanged call, and the difference a message."""
    given, rows = conversation(size, shape=shape, seed=SEED), []
    loop = asyncio.new_event_loop()
    try:
        running = adapters(given, loop.run_until_complete)
        first = [cpu_ms(adapter.call) for adapter in running]
        times: list[list[tuple[float, float]]] = [[] for _ in running]
        for _ in range(rounds):
            for adapter, taken in zip(running, times, strict=True):
                taken.append((cpu_ms(adapter.read), cpu_ms(adapter.call)))
        for adapter, begin, taken in zip(running, first, times, strict=True):
            read, call = (statistics.median(column) for column in zip(*taken, strict=True))
            row: dict[str, Any] = {"adapter": adapter.name, "history": shape, "messages": size}
            row |= {"first, ms": f"{begin:.1f}", "store's read, ms": f"{read:.3f}", "unchanged, ms": f"{call:.3f}"}
            rows.append(row | {"above the read, µs a message": f"{1e3 * (call - read) / size:.2f}"})
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, write JSON if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default="100,1000", help="messages of the histories, separated by commas")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables, for a page")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.sizes.split(",")]
    rows = [row for size in sizes for shape in SHAPES for row in measure(size, options.rounds, shape=shape)]
    print_table(f"Unchanged histories, {options.rounds} interleaved rounds, CPU time", rows, markdown=options.markdown)
    settings = {"sizes": sizes, "rounds": options.rounds, "seed": SEED}
    write_json(options.json, "speed_adapters", settings, {"unchanged": rows})


if __name__ == "__main__":
    main()
