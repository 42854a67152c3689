"""Faults: how long does a build of a prompt take while something around it sleeps, hangs, raises or talks nonsense?

A search of memories, an embedder, a model that summarises, one that extracts, and a compressor of tool results fail in
turn, each behind its protocol as a network service would be; a store of records, called directly, raises or lies. Each
fault gets a builder of its own, and so many builds of one thread in a row. Beside it stands a builder that awaits: it
asks for the same things one after the other, as long as each takes, and then builds the same prompt; where something
never returns it has no time, and where something raises it has no prompt.

Times are of the wall clock: a build waits, it does not work.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import threading
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.report import commit, print_table, write_json
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.context.tool_results.context import ResultContext
from gatekeeper_core.errors import ConflictError
from gatekeeper_core.messages import Message, ToolCall
from gatekeeper_core.storage.base import DerivedRecord, Memory, MemoryRecord, MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["NEVER", "Away", "Fault", "Timed", "awaited", "faults", "main", "row_of", "talk", "timed"]

QUESTION = "Which tea shall I buy? 我该买什么茶？"
NEVER = "never"

_SCOPE = MemoryScope("default", "ann")


class Away:
    """A store behind a protocol, not in this process; ``instead`` takes the place of some of its methods."""

    def __init__(
        self, inner: Any, before: Callable[[], object] | None = None, **instead: Callable[..., object]
    ) -> None:
        self._inner = inner
        self._before = before
        self._instead = instead

    def __getattr__(self, name: str) -> Any:
        if name == "is_in_process":
            raise AttributeError(name)
        method = self._instead.get(name) or getattr(self._inner, name)

        def asked(*arguments: Any, **named: Any) -> Any:
            if self._before:
                self._before()
            return method(*arguments, **named)

        return asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong around a build; None: nothing.

    Attributes:
        store: happens before each call to the store of records.
        records: methods of that store that do something else.
        search: happens before each call to the store of memories.
        memories: methods of that store that do something else.
        embedder: gives vectors.
        summarizer: writes summaries.
        extractor: finds what is worth remembering.
        compressor: makes tool results smaller.
        ends: whether one that awaits comes to an end.
    """

    store: Callable[[], object] | None = None
    records: dict[str, Callable[..., Any]] | None = None
    search: Callable[[], object] | None = None
    memories: dict[str, Callable[..., Any]] | None = None
    embedder: Callable[..., Any] | None = None
    summarizer: Callable[..., Any] | None = None
    extractor: Callable[..., Any] | None = None
    compressor: Callable[..., Any] | None = None
    ends: bool = True


def _raises(*_: object, **__: object) -> Any:
    raise ConnectionError("the service is down")


def _conflicts(*_: object, **__: object) -> Any:
    raise ConflictError("record", expected_version=0, stored_version=1)


def _vectors(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, 0.0] for _ in texts]


def _million(*_: object, **__: object) -> Any:
    return itertools.repeat(MemoryRecord(Memory("m", "green tea", "user_preference"), ("green", "tea")), 10**6)


def faults(sleep: Callable[..., Any], hang: Callable[..., Any]) -> dict[str, Fault]:
    """Return the faults by name, the first one being none.

    Args:
        sleep: a call that returns late.
        hang: a call that does not return as long as the benchmark runs.
    """

    def embeds(texts: Sequence[str]) -> list[list[float]]:
        sleep()
        return _vectors(texts)

    def summarises(*_: object) -> str:
        sleep()
        return "tea"

    def compresses(message: Message, _: object) -> str:
        sleep()
        return message.text[:80]

    damaged = {"load_record": lambda *_: DerivedRecord("{", 3, 1)}
    return {
        "nothing (healthy)": Fault(),
        "search sleeps": Fault(search=sleep),
        "search never returns": Fault(search=hang, ends=False),
        "search raises": Fault(search=_raises),
        "search gives 10^6 hits": Fault(memories={"find_memories": _million}),
        "embedder sleeps": Fault(embedder=embeds),
        "embedder never returns": Fault(embedder=hang, ends=False),
        "embedder raises": Fault(embedder=_raises),
        "embedder gives NaN": Fault(embedder=lambda texts: [[float("nan")] * 3 for _ in texts]),
        "embedder gives other dimensions": Fault(embedder=lambda texts: [[1.0] * 3 for _ in texts]),
        "store raises": Fault(store=_raises),
        "store gives damaged records": Fault(records=damaged),
        "store conflicts for ever": Fault(records={"save_record": _conflicts}),
        "summariser sleeps": Fault(summarizer=summarises),
        "summariser never returns": Fault(summarizer=hang, ends=False),
        "summariser raises": Fault(summarizer=_raises),
        "summariser gives nothing": Fault(summarizer=lambda *_: ""),
        "summariser gives ten times too much": Fault(summarizer=lambda *_: "tea " * 10_000),
        "extractor never returns": Fault(extractor=hang, ends=False),
        "compressor sleeps": Fault(compressor=compresses),
        "compressor never returns": Fault(compressor=hang, ends=False),
        "compressor raises": Fault(compressor=_raises),
        "everything never returns": Fault(search=hang, summarizer=hang, extractor=hang, compressor=hang, ends=False),
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


@dataclass(frozen=True, slots=True)
class Timed:
    """Builds in a row.

    Attributes:
        milliseconds: what each took; empty where the first one failed or never ended.
        outcome: what there was in the place of times: ``never`` or the type of an error; "" where there are times.
        misses: parts that were missing in any of them, in alphabetical order.
    """

    milliseconds: tuple[float, ...]
    outcome: str = ""
    misses: tuple[str, ...] = ()


class _Parts:
    """The stores and models of one builder, with a fault."""

    def __init__(self, fault: Fault) -> None:
        memories = InMemoryStore()
        LongTermMemory(memories, embedder=_vectors).add(_SCOPE, "I prefer green tea", category="user_preference")
        self.fault = fault
        self.store: Any = Away(InMemoryStore(), fault.store, **fault.records or {})
        away: Any = Away(memories, fault.search, **fault.memories or {})
        self.memory = LongTermMemory(away, embedder=fault.embedder)

    def builder(self, timeout_ms: int) -> ContextBuilder:
        """Return our builder with them."""
        return ContextBuilder(
            ContextBuilderConfig(call_timeout_ms=timeout_ms),
            store=self.store,
            memory=self.memory,
            summarizer=self.fault.summarizer,
            extractor=self.fault.extractor,
            tool_results=self.fault.compressor,
        )

    def ask(self, thread: Thread) -> None:
        """Ask for everything that the prompt is made of, one after the other, as long as each takes."""
        for kind in ("constraints", "summary", "task"):
            self.store.load_record(thread.tenant, thread.id, kind)
        list(self.memory.search(_SCOPE, QUESTION))
        if self.fault.summarizer:
            self.fault.summarizer(thread.messages, None, 1000)
        if self.fault.compressor:
            for message in thread.messages:
                if message.role == "tool":
                    self.fault.compressor(message, ResultContext())


def timed(fault: Fault, thread: Thread, *, builds: int, timeout_ms: int) -> Timed:
    """Return what builds of our builder take."""
    builder = _Parts(fault).builder(timeout_ms)
    took, misses = list[float](), set[str]()
    for _ in range(builds):
        start = time.perf_counter()
        context = builder.build(thread, QUESTION, "Be brief.", debug=False)
        took.append(1000 * (time.perf_counter() - start))
        misses.update(miss.part for miss in context.trace.misses)
    return Timed(tuple(took), "", tuple(sorted(misses)))


def awaited(fault: Fault, thread: Thread, *, builds: int) -> Timed:
    """Return what builds take that await whatever they ask for."""
    if not fault.ends:
        return Timed((), NEVER)
    parts, builder, took = _Parts(fault), ContextBuilder(), list[float]()
    for _ in range(builds):
        start = time.perf_counter()
        try:
            parts.ask(thread)
        except (ConnectionError, ConflictError) as error:
            return Timed((), type(error).__name__)
        builder.build(thread, QUESTION, "Be brief.", debug=False)
        took.append(1000 * (time.perf_counter() - start))
    return Timed(tuple(took))


def row_of(name: str, ours: Timed, healthy: Timed, other: Timed) -> dict[str, Any]:
    """Return a fault as a row: times in milliseconds, and what they add to those of healthy builds."""
    median = statistics.median(ours.milliseconds)
    usual = statistics.median(healthy.milliseconds)
    there = bool(other.milliseconds)
    waited = statistics.median(other.milliseconds) if there else None
    return {
        "fault": name,
        "median ms": median,
        "worst ms": max(ours.milliseconds),
        "median adds": median - usual,
        "worst adds": max(ours.milliseconds) - max(healthy.milliseconds),
        "median times healthy": median / usual,
        "missing": ", ".join(ours.misses) or "-",
        "awaiting ms": waited if there else other.outcome,
        "times ours": waited / median if waited is not None else None,
    }


def _rows(thread: Thread, *, builds: int, timeout_ms: int, sleep_ms: int) -> list[dict[str, Any]]:
    go, rows = threading.Event(), list[dict[str, Any]]()

    def sleeps(*_: object, **__: object) -> None:
        time.sleep(sleep_ms / 1000)

    def hangs(*_: object, **__: object) -> None:
        go.wait()

    found = faults(sleeps, hangs)
    ours: Callable[[Fault], Timed] = partial(timed, thread=thread, builds=builds, timeout_ms=timeout_ms)
    ours(Fault())  # patterns and tables are made once
    healthy = ours(Fault())
    try:
        for name, fault in found.items():
            # What sleeps is awaited twice: it takes the same each time.
            times = 2 if "sleeps" in name else builds
            rows.append(row_of(name, ours(fault), healthy, awaited(fault, thread, builds=times)))
    finally:
        go.set()
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the faults, print the table, write JSON if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--builds", type=int, default=20, help="builds in a row with each fault")
    parser.add_argument("--turns", type=int, default=40, help="turns of the thread")
    parser.add_argument("--timeout-ms", type=int, default=500, help="the limit of a build")
    parser.add_argument("--sleep-ms", type=int, default=2_000, help="how late what sleeps returns")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table, for a page")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args(arguments)
    commit()
    settings = {"builds": chosen.builds, "timeout_ms": chosen.timeout_ms, "sleep_ms": chosen.sleep_ms}
    rows = _rows(talk(chosen.turns), **settings)
    title = f"{chosen.builds} builds each, limit {chosen.timeout_ms} ms, what sleeps returns after {chosen.sleep_ms} ms"
    print_table(title, rows, markdown=chosen.markdown)
    write_json(chosen.json, "faults", {**settings, "turns": chosen.turns}, {"faults": rows})


if __name__ == "__main__":
    main(sys.argv[1:])
