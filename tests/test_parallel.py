"""Calls at the same time give what the same calls give one after another, in an order that explains all results.

Two worlds get the same calls: in one they run at once, on threads or from an event loop, in the other one by one. What
the first world answers says in which order the second one has to make them.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from operator import attrgetter
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from gatekeeper_core import plugins
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.thread import StoredThreads, Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.working_memory import ThreadMemories
from gatekeeper_core.errors import ConflictError, ForgottenError, StorageError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore
from tests.message_store_contract import ids_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatekeeper_core.context.prompt.result import BuiltContext

Result = TypeVar("Result")

TENANT = "default"
ANN = MemoryScope(TENANT, "ann")
PAIRS = (
    ("Which port does the Redis cache of depot {0} listen on?", "We decided that it listens on port 63{0}."),
    ("{0}号仓库的酸面包要发酵多久？", "在二十六度下发酵 {0} 个小时。"),
    ("换个话题，choir 的 minutes 第 {0} 份谁负责？", "第 {0} 份 minutes 由 Marta 负责，until Friday."),
)
QUESTIONS = ("Which port did the Redis cache of depot 1 get?", "酸面包要发酵多久？", "第 2 份 minutes 谁负责?")
LOG = "\n".join(f"12:00:{at % 60:02} INFO 端口 port {at} is up" for at in range(120))
PATIENT = HistoryConfig(keep_newest=3, passthrough_below=0)
CONFIG = ContextBuilderConfig(total_budget=1_500, history=PATIENT, call_timeout_ms=60_000)

NO_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - files in memory: no sync is waited for

names = st.sampled_from(["t1", "t2"])
ways = st.sampled_from(["threads", "asyncio"])
sizes = st.lists(st.integers(1, 3), min_size=1, max_size=4)
several = st.integers(2, 4)


def at_once(way: str, calls: Sequence[Callable[[], Result]]) -> list[Result | type[StorageError]]:
    """Return what calls return, or the type of a store's error, all of them made at the same time."""
    start = Barrier(len(calls))

    def outcome(call: Callable[[], Result]) -> Result | type[StorageError]:
        start.wait(60)
        return outcome_of(call)

    with ThreadPoolExecutor(len(calls)) as pool:
        if way == "threads":
            return list(pool.map(outcome, calls))

        async def gathered() -> list[Any]:
            loop = asyncio.get_running_loop()
            return await asyncio.gather(*(loop.run_in_executor(pool, outcome, call) for call in calls))

        return asyncio.run(gathered())


def outcome_of(call: Callable[[], Result]) -> Result | type[StorageError]:
    try:
        return call()
    except StorageError as error:
        return type(error)


class World:
    """A store with everything that works on it."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.threads = StoredThreads(store)
        self.memory = LongTermMemory(store)
        self.memories = ThreadMemories(store, b"a secret of this test")
        self.results = ToolResultCompressor(working_memory=self.memories)
        self.builder = ContextBuilder(CONFIG, store=store, tool_results=self.results)
        self.selector = ThreadSelector[Message](lambda message: message, config=replace(PATIENT, token_budget=1_500))

    def build(self, name: str, question: str) -> BuiltContext:
        return self.builder.build(self.threads.load(name), question, "Be brief.")

    def build_awaited(self, name: str, question: str) -> BuiltContext:
        return asyncio.run(self.builder.abuild(self.threads.load(name), question, "Be brief."))

    def view(self, name: str, question: str) -> Any:
        return self.selector.view(
            self.threads.load(name).messages, HistoryRequest(query=question, all_past=True), thread=name
        )

    def compress(self, name: str, text: str) -> Any:
        return self.results.compress(text, query="port 77", thread_id=name)

    def settle(self) -> None:
        """Wait for what builds have left to be done behind them."""
        deadline = time.monotonic() + 60
        while plugins._plugins:
            assert time.monotonic() < deadline
            time.sleep(0.001)


def messages_and_trace_of(context: BuiltContext) -> str:
    """Return all that a build tells, but how much of the prompt before it stayed."""
    trace = context.trace._replace(prefix_tokens=0)
    return repr(context.messages) + json.dumps(trace.to_dict(), sort_keys=True, default=repr)


def messages_and_trace_but_misses_of(context: BuiltContext) -> str:
    return messages_and_trace_of(replace(context, trace=context.trace._replace(misses=())))


class TwoWorlds(RuleBasedStateMachine):
    """The calls of each rule at once in ``many``, one after another in ``one``."""

    def opened(self, name: str) -> Any:
        raise NotImplementedError

    def __init__(self) -> None:
        super().__init__()
        self.many, self.one = World(self.opened("many")), World(self.opened("one"))
        self.numbers = count()
        self.forgotten: set[str] = set()
        self.refused: set[str] = set()
        """Threads that were forgotten at the last reading or since."""

    def batch(self, size: int) -> list[Message]:
        """Return so many turns that nobody has said before."""
        turns = []
        for number in (next(self.numbers) for _ in range(size)):
            question, answer = PAIRS[number % len(PAIRS)]
            turns += [Message("user", question.format(number), id=f"{number}.q")]
            turns += [Message("assistant", answer.format(number), id=f"{number}.a")]
        return turns

    @rule(name=names, sizes=sizes, is_repeated=st.booleans(), way=ways)
    def append(self, name: str, sizes: list[int], is_repeated: bool, way: str) -> None:
        batches = [self.batch(size) for size in sizes]
        batches += batches[:is_repeated]
        found = at_once(way, [partial(self.many.threads.append, name, batch) for batch in batches])
        self.explain(name, batches, found)

    def explain(self, name: str, batches: list[list[Message]], found: list[Any]) -> None:
        """Make the appends that came through in the order of their numbers, and then those that were refused."""
        through = sorted((seq, at) for at, seq in enumerate(found) if isinstance(seq, int))
        assert bool(through) is (name not in self.forgotten)
        for seq, at in through:
            assert self.one.threads.append(name, batches[at]) == seq
        for at, error in enumerate(found):
            if not isinstance(error, int):
                assert error is outcome_of(partial(self.one.threads.append, name, batches[at])) is ForgottenError

    @rule(name=names, writers=several, way=ways)
    def append_behind_the_same_message(self, name: str, writers: int, way: str) -> None:
        if name in self.forgotten:
            return
        last, batches = self.many.store.last_seq(TENANT, name), [self.batch(1) for _ in range(writers)]
        found = at_once(way, [partial(self.many.threads.append, name, one, expected_seq=last) for one in batches])
        winners = [at for at, seq in enumerate(found) if seq == last + 2]
        assert len(winners) == 1
        assert found.count(ConflictError) == writers - 1
        self.one.threads.append(name, batches[winners[0]], expected_seq=last)

    @rule(name=names, keys=st.sets(st.sampled_from("abcdef"), min_size=2, max_size=4), way=ways)
    def lay_down(self, name: str, keys: set[str], way: str) -> None:
        thread, values = Thread(name), {key: f"说中文 {next(self.numbers)}" for key in sorted(keys)}
        found = at_once(way, [partial(self.many.builder.constraints.set, thread, *rule) for rule in values.items()])
        assert found == [ForgottenError if name in self.forgotten else None] * len(keys)
        order = [key for key in self.many.builder.constraints.of(thread) if key in keys]
        assert len(order) == (0 if name in self.forgotten else len(keys)), "no update is lost"
        for key in order:
            self.one.builder.constraints.set(thread, key, values[key])

    @rule(writers=several, has_key=st.booleans(), way=ways)
    def remember(self, writers: int, has_key: bool, way: str) -> None:
        """Each statement is there once; of those that answer one question each takes the place of the one before."""
        key = "residence" if has_key else None
        texts = [f"I moved to house {next(self.numbers)} 号, 在北京" for _ in range(writers)]
        add = {"category": "fact", "key": key}
        found: list[Any] = at_once(way, [partial(self.many.memory.add, ANN, text, **add) for text in texts])
        assert [memory.text for memory in found] == texts
        if has_key:
            newest = next(memory for memory in self.many.memory.newest(ANN, limit=10_000) if memory.key)
            texts = [memory.text for memory in self.many.memory.history(ANN, newest.id) if memory.text in texts][::-1]
        assert len(texts) == writers, "no update is lost"
        for text in texts:
            self.one.memory.add(ANN, text, **add)

    @rule(name=names, readers=several, question=st.sampled_from(QUESTIONS), is_same=st.booleans(), way=ways)
    def compress(self, name: str, readers: int, question: str, is_same: bool, way: str) -> None:
        texts = [f"{LOG}\nERROR of {question} {0 if is_same else at}" for at in range(readers)]
        found: list[Any] = at_once(way, [partial(self.many.compress, name, text) for text in texts])
        assert found == [outcome_of(partial(self.one.compress, name, text)) for text in texts]
        for text, result in zip(texts, found, strict=True):
            if getattr(result, "pointer", None):
                assert self.many.memories.of(name).load(result.pointer.text) == text

    @rule(questions=st.tuples(*[st.sampled_from(QUESTIONS)] * 2), readers=several, way=ways)
    def read(self, questions: tuple[str, str], readers: int, way: str) -> None:
        """One question to each thread, asked several times, beside everything else that reads."""
        requests = list(zip(("t1", "t2"), questions, strict=True))
        build = "build" if way == "threads" else "build_awaited"

        def builds(world: World) -> list[Callable[[], Any]]:
            return [partial(getattr(world, build), *each) for each in requests * readers]

        def others(world: World) -> list[Callable[[], Any]]:
            found: list[Callable[[], Any]] = [partial(world.view, *each) for each in requests * 2]
            found += [partial(world.store.read_messages, TENANT, name) for name, _ in requests]
            return [*found, *(partial(world.memory.search, ANN, question) for question in questions)]

        built = 2 * readers
        found = at_once(way, [*builds(self.many), *others(self.many)])
        wanted = [call() for call in (*builds(self.one), *others(self.one))]
        assert found[built:] == wanted[built:]
        for at, (name, _) in enumerate(requests):
            # What was not saved of a forgotten thread, one of the builds behind it tells: which one is a matter of chance.
            outcome = messages_and_trace_but_misses_of if name in self.refused else messages_and_trace_of
            for each in (outcome, attrgetter("trace.prefix_tokens", "trace.prefix_share")):
                assert set(map(each, found[at:built:2])) <= set(map(each, wanted[at:built:2]))
        self.many.settle()
        self.one.settle()
        self.refused &= self.forgotten

    @rule(name=names, sizes=sizes, way=ways)
    def forget(self, name: str, sizes: list[int], way: str) -> None:
        """Beside writers and a reader: what came through is forgotten with the rest, what came later is refused."""
        before, batches = ids_of(self.many.store, TENANT, name), [self.batch(size) for size in sizes]
        appends: list[Callable[[], Any]] = [partial(self.many.threads.append, name, batch) for batch in batches]
        read = partial(ids_of, self.many.store, TENANT, name)
        *found, seen, gone = at_once(way, [*appends, read, partial(self.many.store.forget, TENANT, thread=name)])
        through = sorted((seq, at) for at, seq in enumerate(found) if isinstance(seq, int))
        for seq, at in through:
            assert self.one.threads.append(name, batches[at]) == seq
        everything = [*before, *(message.id for _, at in through for message in batches[at])]
        assert seen in ([], *([everything[:stop] for stop in range(len(before), len(everything) + 1)]))
        assert gone.messages == self.one.store.forget(TENANT, thread=name).messages == len(everything)
        self.forgotten.add(name)
        self.refused.add(name)
        assert found.count(ForgottenError) == len(batches) - len(through)
        assert ids_of(self.many.store, TENANT, name) == []

    @rule(name=names, callers=several, way=ways)
    def begin_anew(self, name: str, callers: int, way: str) -> None:
        found = at_once(way, [partial(self.many.store.begin_anew, TENANT, thread=name)] * callers)
        assert sum(map(bool, found)) == self.one.store.begin_anew(TENANT, thread=name) == (name in self.forgotten)
        self.forgotten.discard(name)

    def teardown(self) -> None:
        """Let the workers of both worlds end: the machine itself lives until its garbage is collected."""
        del self.many, self.one

    @invariant()
    def both_worlds_hold_the_same(self) -> None:
        many, one = self.many, self.one
        for name in ("t1", "t2"):
            assert many.threads.load(name) == one.threads.load(name)
            assert many.store.read_messages(TENANT, name) == one.store.read_messages(TENANT, name)
            for kind in ("constraints", "summary", "task"):
                both = [world.store.load_record(TENANT, name, kind) for world in (many, one)]
                assert len({record and (record.body, record.upto_seq) for record in both}) == 1, kind
        assert many.memory.newest(ANN, limit=10_000) == one.memory.newest(ANN, limit=10_000)


class InMemory(TwoWorlds):
    def opened(self, name: str) -> Any:
        return InMemoryStore()


class InFiles(TwoWorlds):
    def opened(self, name: str) -> Any:
        if not hasattr(self, "folder"):
            self.folder = tempfile.TemporaryDirectory(dir=NO_DISK)
        return SQLiteStore(Path(self.folder.name, f"{name}.db"), busy_timeout_ms=60_000)

    @rule()
    def reopen(self) -> None:
        """Another process goes on: whatever these ones remembered is gone."""
        self.many.store.close()
        self.one.store.close()
        self.many, self.one = World(self.opened("many")), World(self.opened("one"))

    def teardown(self) -> None:
        for world in (self.many, self.one):
            assert world.store.check() == ()
            world.store.close()
        self.folder.cleanup()
        super().teardown()


def steps() -> settings:
    """Fewer examples than elsewhere: each makes some hundred calls."""
    return settings(max_examples=max(2, settings.default.max_examples // 3), stateful_step_count=12)


def test_calls_at_once_equal_calls_in_turn_over_a_store_in_memory() -> None:
    run_state_machine_as_test(InMemory, settings=steps())


def test_calls_at_once_equal_calls_in_turn_over_a_file() -> None:
    """001-16, 001-79."""
    run_state_machine_as_test(InFiles, settings=steps())


def test_builds_at_once_of_a_long_thread_that_this_process_has_not_read() -> None:
    for _ in range(5):
        worlds = InFiles()
        worlds.append(name="t1", sizes=[32] * 2, is_repeated=False, way="threads")
        worlds.reopen()
        worlds.read(questions=(QUESTIONS[0], QUESTIONS[2]), readers=3, way="threads")
        worlds.teardown()
