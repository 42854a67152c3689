"""Faults: how long does a build of a prompt take while something around it sleeps, hangs, raises or talks nonsense?

A search of memories, an embedder, a model that summarises, one that extracts, and a compressor of tool results fail in
turn, each behind its protocol as a network service would be; a store of records, called directly, raises or lies. Each
fault gets a builder of its own, and so many builds of one thread in a row. Beside it a builder awaits: it asks for the
same things one after the other, as long as each takes, and then builds the same prompt; where something never returns
it has no time, and where something raises it has no prompt. Times are of the wall clock: a build waits.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.report import report, simple_options
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.tool_results.context import ResultContext
from gatekeeper_core.errors import ConflictError
from gatekeeper_core.messages import Message, ToolCall
from gatekeeper_core.storage.base import DerivedRecord, Memory, MemoryRecord, MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

QUESTION = "Which tea shall I buy? 我该买什么茶？"
NEVER = "never"
_SCOPE = MemoryScope("default", "ann")


class Remote:
    """A store behind its protocol, as one over a network is: not in this process.

    Args:
        inner: the store that it is where nothing is wrong.
        before: called before each method.
        instead: by name, what takes the place of a method.
    """

    def __init__(self, inner: Any, before: Callable[[], object] | None = None, **instead: Callable[..., Any]) -> None:
        self._inner, self._before, self._instead = inner, before, instead

    def __getattr__(self, name: str) -> Any:
        if name == "is_in_process":
            raise AttributeError(name)
        method = self._instead.get(name) or getattr(self._inner, name)

        def called(*arguments: Any, **named: Any) -> Any:
            if self._before:
                self._before()
            return method(*arguments, **named)

        return called


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong around a build: calls before each call to a store, methods of it, models; None: nothing."""

    store: Callable[[], object] | None = None
    records: dict[str, Callable[..., Any]] | None = None
    search: Callable[[], object] | None = None
    memories: dict[str, Callable[..., Any]] | None = None
    embedder: Callable[..., Any] | None = None
    summarizer: Callable[..., Any] | None = None
    extractor: Callable[..., Any] | None = None
    compressor: Callable[..., Any] | None = None


def _raises(*_: object, **__: object) -> Any:
    raise ConnectionError("the service is down")


def _conflicts(*_: object, **__: object) -> Any:
    raise ConflictError("record", expected_version=0, stored_version=1)


def _vectors(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, 0.0] for _ in texts]


def _million(*_: object, **__: object) -> Any:
    return itertools.repeat(MemoryRecord(Memory("m", "green tea", "user_preference"), ("green", "tea")), 10**6)


def faults(sleep: Callable[..., Any], hang: Callable[..., Any]) -> dict[str, Fault]:
    """Return the faults by name, the first one being none; ``sleep`` returns late, ``hang`` not as long as it lasts."""

    def late(answer: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            sleep()
            return answer(*arguments)

        return call

    damaged = {"load_record": lambda *_: DerivedRecord("{", 3, 1)}
    return {
        "nothing (healthy)": Fault(),
        "search sleeps": Fault(search=sleep),
        "search never returns": Fault(search=hang),
        "search raises": Fault(search=_raises),
        "search gives 10^6 hits": Fault(memories={"find_memories": _million}),
        "embedder sleeps": Fault(embedder=late(_vectors)),
        "embedder never returns": Fault(embedder=hang),
        "embedder raises": Fault(embedder=_raises),
        "embedder gives NaN": Fault(embedder=lambda texts: [[float("nan")] * 3 for _ in texts]),
        "embedder gives other dimensions": Fault(embedder=lambda texts: [[1.0] * 3 for _ in texts]),
        "store raises": Fault(store=_raises),
        "store gives damaged records": Fault(records=damaged),
        "store conflicts for ever": Fault(records={"save_record": _conflicts}),
        "summariser sleeps": Fault(summarizer=late(lambda *_: "tea")),
        "summariser never returns": Fault(summarizer=hang),
        "summariser raises": Fault(summarizer=_raises),
        "summariser gives nothing": Fault(summarizer=lambda *_: ""),
        "summariser gives ten times too much": Fault(summarizer=lambda *_: "tea " * 10_000),
        "extractor never returns": Fault(extractor=hang),
        "compressor sleeps": Fault(compressor=late(lambda message, _: message.text[:80])),
        "compressor never returns": Fault(compressor=hang),
        "compressor raises": Fault(compressor=_raises),
        "everything never returns": Fault(search=hang, summarizer=hang, extractor=hang, compressor=hang),
    }


def talk(turns: int) -> Thread:
    """Return a thread of so many turns in two languages, with a tool result in every fifth."""
    messages: list[Message] = []
    for number in range(turns):
        asked = f"How do I brew tea number {number}?" if number % 2 else f"第 {number} 种茶怎么泡？"
        messages.append(Message("user", asked))
        if number % 5 == 0:
            call = ToolCall(f"c{number}", "look_up", f'{{"tea": {number}}}')
            text = "".join(f"{line} cups at {60 + line % 40} degrees, 3 minutes\n" for line in range(40))
            messages += [Message("assistant", "", tool_calls=(call,)), Message("tool", text, tool_call_id=call.id)]
        messages.append(Message("assistant", f"Steep it for {number % 7 + 1} minutes. 水温 {70 + number % 30} 度。"))
    return Thread("talk", tuple(messages), user=_SCOPE.user)


class Timed(NamedTuple):
    """Builds in a row: milliseconds of each, or ``never`` or an error in their place; parts missing in any of them."""

    milliseconds: tuple[float, ...]
    outcome: str = ""
    misses: tuple[str, ...] = ()


def _stores(fault: Fault) -> tuple[Any, LongTermMemory]:
    """Return the store of records and the memory of a builder."""
    memories = InMemoryStore()
    LongTermMemory(memories, embedder=_vectors).add(_SCOPE, "I prefer green tea", category="user_preference")
    remote: Any = Remote(memories, fault.search, **fault.memories or {})
    memory = LongTermMemory(remote, embedder=fault.embedder)
    return Remote(InMemoryStore(), fault.store, **fault.records or {}), memory


def timed(fault: Fault, thread: Thread, *, builds: int, timeout_ms: int) -> Timed:
    """Return what builds of our builder take."""
    store, memory = _stores(fault)
    builder = ContextBuilder(
        ContextBuilderConfig(call_timeout_ms=timeout_ms),
        store=store,
        memory=memory,
        summarizer=fault.summarizer,
        extractor=fault.extractor,
        tool_results=fault.compressor,
    )
    took, misses = list[float](), set[str]()
    for _ in range(builds):
        start = time.perf_counter()
        context = builder.build(thread, QUESTION, "Be brief.", debug=False)
        took.append(1000 * (time.perf_counter() - start))
        misses.update(miss.part for miss in context.trace.misses)
    return Timed(tuple(took), "", tuple(sorted(misses)))


def awaited(fault: Fault, thread: Thread, *, builds: int) -> Timed:
    """Return what builds take that await whatever they ask for, one after the other."""
    (store, memory), builder, took = _stores(fault), ContextBuilder(), list[float]()
    for _ in range(builds):
        start = time.perf_counter()
        try:
            for kind in ("constraints", "summary", "task"):
                store.load_record(thread.tenant, thread.id, kind)
            list(memory.search(_SCOPE, QUESTION))
            if fault.summarizer:
                fault.summarizer(thread.messages, None, 1000)
            for message in thread.messages:
                if message.role == "tool" and fault.compressor:
                    fault.compressor(message, ResultContext())
        except (ConnectionError, ConflictError) as error:
            return Timed((), type(error).__name__)
        builder.build(thread, QUESTION, "Be brief.", debug=False)
        took.append(1000 * (time.perf_counter() - start))
    return Timed(tuple(took))


def row_of(name: str, ours: Timed, other: Timed) -> dict[str, Any]:
    """Return a fault as a row, in milliseconds."""
    return {
        "fault": name,
        "median ms": statistics.median(ours.milliseconds),
        "worst ms": max(ours.milliseconds),
        "missing": ", ".join(ours.misses) or "-",
        "awaiting ms": statistics.median(other.milliseconds) if other.milliseconds else other.outcome,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the faults, print the table, write JSON if asked to."""
    parser = simple_options(__doc__)
    parser.add_argument("--builds", type=int, default=20, help="builds in a row with each fault")
    parser.add_argument("--turns", type=int, default=40, help="turns of the thread")
    parser.add_argument("--timeout-ms", type=int, default=500, help="the limit of a build")
    parser.add_argument("--sleep-ms", type=int, default=2_000, help="how late what sleeps returns")
    chosen = parser.parse_args(arguments)
    go, rows, thread = threading.Event(), list[dict[str, Any]](), talk(chosen.turns)
    ours: Callable[[Fault], Timed] = partial(timed, thread=thread, builds=chosen.builds, timeout_ms=chosen.timeout_ms)
    ours(Fault())  # patterns and tables are made once

    def sleeps(*_: object, **__: object) -> None:
        time.sleep(chosen.sleep_ms / 1000)

    def hangs(*_: object, **__: object) -> None:
        go.wait()

    try:
        for name, fault in faults(sleeps, hangs).items():
            # What sleeps is awaited twice: it takes the same each time.
            builds = 2 if "sleeps" in name else chosen.builds
            other = Timed((), NEVER) if NEVER in name else awaited(fault, thread, builds=builds)
            rows.append(row_of(name, ours(fault), other))
    finally:
        go.set()
    report(chosen, "faults", {"faults": rows})


if __name__ == "__main__":
    main(sys.argv[1:])
