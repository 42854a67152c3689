"""Indexes kept in a store: what is loaded is equal to what is built, and whatever is wrong with it, it is built."""

from __future__ import annotations

import json
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext, Miss
from gatekeeper_core.context.thread.index_snapshots import INDEX_KIND, MIN_TURNS, IndexSnapshots, keeps_snapshots
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.errors import ForgottenError, StorageError
from gatekeeper_core.messages import MediaPart, Message, TextPart, Turn, group_turns
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.planner import GatekeeperConfig
from gatekeeper_core.selection.snapshot import read_sections
from gatekeeper_core.selection.topics import GateConfig
from gatekeeper_core.storage.base import Store
from gatekeeper_core.storage.in_memory import InMemoryRecordStore
from gatekeeper_core.storage.in_memory_store import InMemoryStore
from gatekeeper_core.storage.sqlite import SQLiteStore
from gatekeeper_core.token_estimate import TokenEstimator
from gatekeeper_core.tokens import TokenCounter, cached_counter
from tests.faults import PATIENCE, Remote, conflicting, raising

SIDES = [
    "Redis 用哪个端口？",
    "The api-gateway returns ERR-4035.",
    "换个话题，红烧肉炖多久？",
    "Back to Redis: which port was it?",
    "6380 端口，密码在 vault 里。",
    "\ud800 lone\nlines",
    "",
]
COUNT = TokenEstimator()
QUESTION = "Which port does Redis 缓存 use in room 7?"


def pairs(turns: Sequence[tuple[str, str]]) -> tuple[Turn, ...]:
    return group_turns(
        [Message(role, text) for turn in turns for role, text in zip(("user", "assistant"), turn, strict=True)]
    )


def talk(turn_count: int, *, start: int = 0) -> list[Message]:
    """Return turns on five topics, in Chinese, English and both, no two alike."""
    texts = (
        ("Which port does Redis use in room {}?", "It listens on {}380."),
        ("缓存 {} 的密码在哪里？", "第 {} 号密码在 vault 里。"),
        ("换个话题，sourdough {} 发酵多久？", "{} 小时，26 度。"),
        ("How long does build {} take?", "Build {} takes nine minutes, tests included."),
        ("我们决定 {} 号项目用 Kafka。", "记下了：{} 号用 Kafka。"),
    )
    roles = ("user", "assistant")
    turns = [(texts[at % 5], at) for at in range(start, start + turn_count)]
    return [Message(role, text.format(at)) for both, at in turns for role, text in zip(roles, both, strict=True)]


def built(
    turns: Sequence[Turn], counter: TokenCounter = COUNT, config: GatekeeperConfig | None = None
) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper(token_counter=counter, config=config)
    gatekeeper.sync(turns)
    return gatekeeper


def content(gatekeeper: ContextGatekeeper | bytes) -> dict[str, Any]:
    """Return everything that an index holds, however its postings are packed: what two equal ones have in common."""
    data = gatekeeper if isinstance(gatekeeper, bytes) else gatekeeper.to_bytes()
    sections = read_sections(b"history", data)
    index = read_sections(b"index", sections.pop("index"))
    postings: dict[int, list[int]] = {}
    for place in range(len(index.pop("bounds")) // 2):
        keys, ends, packed = (index.pop(f"{column}{place}") for column in ("keys", "ends", "postings"))
        for at, key in enumerate(keys):
            postings.setdefault(key, []).extend(packed[ends[at] : ends[at + 1]])
    return {**sections, **index, "words": sorted(index["words"]), "postings": postings}


def snapshots_in(store: Any, counter: TokenCounter = COUNT, config: GatekeeperConfig | None = None) -> IndexSnapshots:
    return IndexSnapshots(store, config=config, token_counter=counter)


def save(snapshots: IndexSnapshots, thread: Thread, turns: tuple[Turn, ...]) -> None:
    index = lambda: (built(turns, snapshots._count, snapshots._config).to_bytes(), turns)  # noqa: E731
    snapshots.save(thread, index, turn_count=len(turns), upto_seq=thread.last_seq)


def load(snapshots: IndexSnapshots, thread: Thread, turns: tuple[Turn, ...]) -> tuple[ContextGatekeeper | None, str]:
    return snapshots.restored(thread, snapshots.fetch(thread), turns)


MESSAGES = talk(15)
THREAD = Thread("t1", tuple(MESSAGES), "acme", "ann")
TURNS = group_turns(MESSAGES)
LONG = replace(THREAD, messages=tuple(talk(MIN_TURNS + 2)))
LONG_TURNS = group_turns(LONG.messages)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with SQLiteStore(tmp_path / "store.db") as store:
        yield store


# --- what is loaded is what would be built ----------------------------------------------------------------------------

sides = st.tuples(st.sampled_from(SIDES), st.sampled_from(SIDES))
steps = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6), st.lists(sides, max_size=4)), min_size=1, max_size=8)


@settings(deadline=None)
@given(steps)
def test_two_workers_that_take_turns_have_the_index_that_one_builds_anew(made: list[tuple[int, int, Any]]) -> None:
    """A step cuts turns off, adds some, and lets a worker that has just been started save what it has."""
    store, turns = InMemoryStore(), pairs(())
    workers = [snapshots_in(store), snapshots_in(store)]
    texts: list[tuple[str, str]] = []
    for worker, cut, more in made:
        texts = [*texts[: len(texts) - cut], *more]
        turns = pairs(texts)
        thread = Thread("t1", tuple(message for turn in turns for message in turn.messages))
        gatekeeper, origin = load(workers[worker], thread, turns)
        assert (gatekeeper is None) == (origin != "loaded")
        gatekeeper = gatekeeper or ContextGatekeeper(token_counter=COUNT)
        gatekeeper.sync(turns)
        assert content(gatekeeper) == content(built(turns))
        save(workers[worker], thread, turns)
        record = store.load_record("default", "t1", INDEX_KIND)
        assert record is not None
        bodies = store.blobs_of("default", "t1").records(INDEX_KIND)
        assert [blob.id for blob in bodies] == [json.loads(record.body)["body"]]


def test_a_snapshot_of_the_first_turns_is_built_on(store: SQLiteStore) -> None:
    save(snapshots_in(store), replace(THREAD, messages=THREAD.messages[:20]), TURNS[:10])
    gatekeeper, origin = load(snapshots_in(store), THREAD, TURNS)
    assert origin == "loaded"
    assert gatekeeper is not None
    assert len(gatekeeper.turns) == 10
    gatekeeper.sync(TURNS)
    assert content(gatekeeper) == content(built(TURNS))


class Counter:
    """A counter of the user's own, which may count in another way tomorrow."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def __call__(self, text: str) -> int:
        return len(text) * self.factor


def test_what_a_counter_of_the_users_own_counted_is_counted_anew(store: SQLiteStore) -> None:
    one, other = (cached_counter(Counter(factor)) for factor in (1, 2))
    save(snapshots_in(store, one), THREAD, TURNS)
    gatekeeper, origin = load(snapshots_in(store, other), THREAD, TURNS)
    assert origin == "loaded"
    assert gatekeeper is not None
    assert content(gatekeeper) == content(built(TURNS, other)) != content(built(TURNS, one))


# --- what is no snapshot ----------------------------------------------------------------------------------------------


def edited(**changes: object) -> Callable[[Any], None]:
    def edit(store: Any) -> None:
        record = store.load_record("acme", "t1", INDEX_KIND)
        body = json.dumps({**json.loads(record.body), **changes})
        store.save_record("acme", "t1", INDEX_KIND, body, upto_seq=record.upto_seq, expected_version=record.version)

    return edit


def said(body: str) -> Callable[[Any], None]:
    def say(store: Any) -> None:
        store.save_record("acme", "t1", INDEX_KIND, body, upto_seq=3, expected_version=1)

    return say


def body_changed(change: Callable[[bytes], bytes]) -> Callable[[Any], None]:
    def edit(store: Any) -> None:
        blobs = store.blobs_of("acme", "t1")
        (blob,) = blobs.records(INDEX_KIND)
        blobs.put(INDEX_KIND, blob.id, change(blobs.get(INDEX_KIND, blob.id)))

    return edit


def ahead(store: Any) -> None:
    record = store.load_record("acme", "t1", INDEX_KIND)
    store.save_record("acme", "t1", INDEX_KIND, record.body, upto_seq=THREAD.last_seq + 1, expected_version=1)


NAMED = group_turns([replace(MESSAGES[0], name="Bob"), *MESSAGES[1:]])

WRONG: dict[str, tuple[Callable[[Any], None], str]] = {
    "body gone": (lambda store: store.blobs_of("acme", "t1").delete(INDEX_KIND), "missing"),
    "body cut short": (body_changed(lambda body: body[:-9]), "damaged"),
    "body with another byte": (body_changed(lambda body: body[:90] + b"\0" + body[91:]), "damaged"),
    "body empty": (body_changed(lambda _: b""), "damaged"),
    "body of others with the same texts": (body_changed(lambda _: zlib.compress(built(NAMED).to_bytes())), "damaged"),
    "another name": (edited(body="0" * 32), "missing"),
    "another digest": (edited(digest="0" * 32), "changed"),
    "fewer turns": (edited(turns=len(TURNS) - 1), "changed"),
    "more turns": (edited(turns=10**9), "ahead"),
    "no turns": (edited(turns=-1), "schema"),
    "turns as text": (edited(turns="9"), "schema"),
    "another schema": (edited(schema="an older one"), "schema"),
    "a field more": (edited(more=1), "schema"),
    "record ahead": (ahead, "ahead"),
    **{f"record {text[:9]}": (said(text), "schema") for text in ("", "{", "[]", "null", "7", "[" * 50_000, '{"a": 1}')},
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_snapshot_is_noticed_and_the_next_save_replaces_it(name: str) -> None:
    damage, reason = WRONG[name]
    store = InMemoryStore()
    save(snapshots_in(store), THREAD, TURNS)
    damage(store)
    snapshots = snapshots_in(store)
    assert load(snapshots, THREAD, TURNS) == (None, reason)
    assert snapshots.due(THREAD, MIN_TURNS)
    save(snapshots, THREAD, TURNS)
    gatekeeper, origin = load(snapshots_in(store), THREAD, TURNS)
    assert origin == "loaded"
    assert gatekeeper is not None
    assert content(gatekeeper) == content(built(TURNS))


@pytest.mark.parametrize("damage", [lambda body: body[:-9], lambda _: zlib.compress(bytes(2**26), 1)])
def test_a_forged_body_is_damaged_and_takes_no_more_than_the_turns_allow(damage: Callable[[bytes], bytes]) -> None:
    """Its record names it by its digest: nothing but the body itself tells that it is none."""
    store = InMemoryStore()
    save(snapshots_in(store), THREAD, TURNS)
    blobs = store.blobs_of("acme", "t1")
    (blob,) = blobs.records(INDEX_KIND)
    body = damage(blobs.get(INDEX_KIND, blob.id))
    name = blake2b(body, digest_size=16).hexdigest()
    blobs.put(INDEX_KIND, name, body)
    edited(body=name)(store)
    tracemalloc.start()
    assert load(snapshots_in(store), THREAD, TURNS) == (None, "damaged")
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "端口缓存密码" * 50,
        "".join(map(chr, range(0x4E00, 0x5200))),
        "".join(map(chr, range(0x4E00, 0x9FFF))),
        "a b" * 90,
        "0 1 22 333 ab_c.d-e " * 40,
        "?",
        "",
    ],
)
def test_a_snapshot_of_any_turns_is_taken_back(text: str) -> None:
    turns = pairs([(f"{text[:: at + 5]} {at}", text[at :: at + 6]) for at in range(5)])
    thread = replace(THREAD, messages=tuple(message for turn in turns for message in turn.messages))
    store = InMemoryStore()
    save(snapshots_in(store), thread, turns)
    assert load(snapshots_in(store), thread, turns)[1] == "loaded"


OTHER: list[tuple[Message, Message]] = [
    (Message("user", "端口"), Message("user", "端口!")),
    (Message("user", "a", name="ann"), Message("user", "a", name="bob")),
    (Message("user", "a\nb"), Message("user", (TextPart("a"), TextPart("b")))),
    (Message("user", (TextPart("a"), TextPart("b\nc"))), Message("user", (TextPart("a\nb"), TextPart("c")))),
    (Message("user", "a"), Message("user", (TextPart("a"), MediaPart("image")))),
]


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_a_snapshot_of_other_turns_is_none(one: Message, other: Message) -> None:
    """Also where the texts are the same, and what they cost is not."""
    store = InMemoryStore()
    mine, theirs = (group_turns([message, *MESSAGES[1:]]) for message in (one, other))
    save(snapshots_in(store), THREAD, mine)
    assert load(snapshots_in(store), THREAD, theirs) == (None, "changed")
    assert load(snapshots_in(store), THREAD, mine)[1] == "loaded"


def test_a_result_that_is_another_one_in_its_middle_makes_other_turns() -> None:
    """It is searched by both ends alone, and costs what all of it does."""
    store = InMemoryStore()
    call = Message.from_dict({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"}}]})
    mine, theirs = (
        group_turns([MESSAGES[0], call, Message("tool", "a" * 2000 + middle + "b" * 2000, tool_call_id="c")])
        for middle in ("", "端口" * 90)
    )
    assert mine[0].assistant_text == theirs[0].assistant_text
    save(snapshots_in(store), THREAD, mine)
    assert load(snapshots_in(store), THREAD, theirs) == (None, "changed")


@pytest.mark.parametrize(
    "arguments",
    [
        {"config": GatekeeperConfig(gate=GateConfig(new_above=0.9))},
        {"counter": TokenEstimator("cl100k")},
        {"counter": TokenEstimator(factor=2.0)},
        {"counter": cached_counter(len)},
    ],
    ids=["gate", "profile", "factor", "counter"],
)
def test_a_snapshot_made_with_other_settings_is_none(arguments: dict[str, Any]) -> None:
    store = InMemoryStore()
    save(snapshots_in(store), THREAD, TURNS)
    other = snapshots_in(store, **arguments)
    assert load(other, THREAD, TURNS) == (None, "schema")
    save(other, THREAD, TURNS)
    assert load(other, THREAD, TURNS)[1] == "loaded"


def test_a_snapshot_made_by_other_code_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    store = InMemoryStore()
    save(snapshots_in(store), THREAD, TURNS)
    monkeypatch.setattr("gatekeeper_core.context.thread.index_snapshots._code", lambda: "another version")
    assert load(snapshots_in(store), THREAD, TURNS) == (None, "schema")


def test_settings_that_make_no_other_index_may_change() -> None:
    store = InMemoryStore()
    save(snapshots_in(store), THREAD, TURNS)
    other = snapshots_in(store, config=GatekeeperConfig(mode="fill"), counter=TokenEstimator(margin=0.3))
    assert load(other, THREAD, TURNS)[1] == "loaded"


# --- saving -----------------------------------------------------------------------------------------------------------


def test_all_snapshots_of_a_thread_together_are_a_bounded_number_of_times_the_last() -> None:
    snapshots = snapshots_in(InMemoryStore())
    saved = []
    for count in range(1_000):
        if snapshots.due(THREAD, count):
            saved.append(count)
            snapshots.save(THREAD, lambda: None, turn_count=count, upto_seq=count)
    assert saved[0] == MIN_TURNS
    assert sum(saved) <= 5 * saved[-1]
    assert saved[-1] >= 800


def test_a_snapshot_that_another_worker_has_just_saved_is_not_saved_again() -> None:
    writes: list[str] = []
    inner = InMemoryStore()

    def written(*arguments: Any, **named: Any) -> int:
        writes.append(arguments[2])
        return inner.save_record(*arguments, **named)

    store = Remote(inner, save_record=written)
    one, other = snapshots_in(store), snapshots_in(store)
    save(one, THREAD, TURNS)
    save(other, THREAD, TURNS)
    assert writes == [INDEX_KIND]
    assert [seen.turns for seen in [other._seen.get(("acme", "t1"))] if seen] == [len(TURNS)]


def test_whoever_is_too_late_leaves_the_snapshot_of_the_other_worker() -> None:
    store = InMemoryStore()
    one, other = snapshots_in(store), snapshots_in(store)

    def meanwhile() -> tuple[bytes, tuple[Turn, ...]]:
        save(other, THREAD, TURNS)
        return built(TURNS[:12]).to_bytes(), TURNS[:12]

    one.save(THREAD, meanwhile, turn_count=12, upto_seq=23)
    gatekeeper, _ = load(snapshots_in(store), THREAD, TURNS)
    assert gatekeeper is not None
    assert len(gatekeeper.turns) == len(TURNS)


def test_a_store_that_fails_at_any_call_leaves_a_snapshot_that_is_whole_or_none() -> None:
    """A record is never there before its body; what was left over goes with the next save."""
    earlier = TURNS[:10]
    for failing in range(1, 20):
        inner = InMemoryStore()
        save(snapshots_in(inner), THREAD, earlier)
        store = Failing(inner, failing)
        try:
            save(snapshots_in(store), THREAD, TURNS)
            assert store.calls < failing
            break
        except StorageError:
            assert store.calls == failing
        record = inner.load_record("acme", "t1", INDEX_KIND)
        assert record is not None
        assert inner.blobs_of("acme", "t1").get(INDEX_KIND, json.loads(record.body)["body"])
        gatekeeper, _ = load(snapshots_in(inner), THREAD, TURNS)
        assert gatekeeper is not None
        gatekeeper.sync(TURNS)
        assert content(gatekeeper) == content(built(TURNS))
        longer = group_turns(talk(2 * len(TURNS)))
        save(snapshots_in(inner), THREAD, longer)
        assert len(inner.blobs_of("acme", "t1").records(INDEX_KIND)) == 1
    else:
        pytest.fail("no save came through")
    assert failing >= 5


class Failing:
    """A store whose Nth call fails, before it does anything; those of a thread's blobs count."""

    def __init__(self, inner: Any, failing: int) -> None:
        self._inner = inner
        self._failing = failing
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name) if name == "is_in_process" else self._called(getattr(self._inner, name))

    def _called(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == self._failing:
                raise StorageError("down")
            return method(*arguments, **named)

        return call

    def blobs_of(self, tenant: str, thread: str) -> Any:
        blobs = self._inner.blobs_of(tenant, thread)
        return Remote(
            blobs, **{name: self._called(getattr(blobs, name)) for name in ("put", "get", "delete", "records")}
        )


def test_forgetting_the_thread_takes_its_index_along_and_a_late_save_brings_nothing_back(store: SQLiteStore) -> None:
    snapshots = snapshots_in(store)
    save(snapshots, THREAD, TURNS)
    gone = store.forget("acme", thread="t1")
    assert (gone.records, gone.blobs) == (1, 1)
    assert load(snapshots, THREAD, TURNS) == (None, "none")
    with pytest.raises(ForgottenError):
        save(snapshots, THREAD, TURNS)


@pytest.mark.parametrize(
    ("store", "keeps"),
    [(InMemoryStore(), False), (InMemoryRecordStore(), False), (Remote(InMemoryStore()), True), (object(), False)],
    ids=["in this process", "records alone", "a whole store elsewhere", "nothing"],
)
def test_snapshots_are_kept_where_they_outlive_the_process(store: Any, keeps: bool) -> None:
    assert (keeps_snapshots(store) is store) == keeps


# --- in a builder -----------------------------------------------------------------------------------------------------


def builder_of(store: Any, timeout_ms: int = 20_000, **settings_: Any) -> ContextBuilder:
    config = ContextBuilderConfig(total_budget=2_000, call_timeout_ms=timeout_ms, **settings_)
    return ContextBuilder(config, store=store)


def build(builder: ContextBuilder, thread: Thread = LONG) -> BuiltContext:
    return builder.build(thread, QUESTION, "Be brief.")


def until(ask: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not ask():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def saved(store: Store, name: str = "t1") -> Callable[[], object]:
    return lambda: store.load_record("acme", name, INDEX_KIND)


def index_in(builder: ContextBuilder) -> dict[str, Any]:
    found = builder._setup.selector.index_of("t1", tenant="acme")
    assert found is not None
    return content(found[0])


def test_a_worker_that_has_never_seen_a_thread_loads_its_index(store: SQLiteStore) -> None:
    first = builder_of(store)
    context = build(first)
    assert context.trace.index_origin == "none"
    until(saved(store))
    record = store.load_record("acme", "t1", INDEX_KIND)
    assert record is not None
    assert record.upto_seq == LONG.last_seq
    assert build(first).trace.index_origin == ""  # it knows the thread by now
    second = builder_of(store)
    again = build(second)
    assert again.trace.index_origin == again.facts()["index_origin"] == "loaded"
    assert again.messages == context.messages
    assert index_in(second) == index_in(first) == content(built(LONG_TURNS))


def test_workers_that_take_turns_on_a_growing_thread_have_one_workers_index(store: SQLiteStore) -> None:
    alone = builder_of(InMemoryStore())
    origins = []
    for turn_count in range(MIN_TURNS, MIN_TURNS + 30, 6):
        thread = Thread("t1", tuple(talk(turn_count)), "acme", "ann")
        worker = builder_of(store)
        context = build(worker, thread)
        origins.append(context.trace.index_origin)
        assert context.messages == build(alone, thread).messages
        assert index_in(worker) == index_in(alone)
        until(saved(store))
    assert origins == ["none", *["loaded"] * 4]


def test_a_thread_that_was_edited_is_indexed_anew_and_saved(store: SQLiteStore) -> None:
    build(builder_of(store))
    until(saved(store))
    other = replace(LONG, messages=(Message("user", "我改了主意"), *LONG.messages[1:]))
    worker = builder_of(store)
    assert build(worker, other).trace.index_origin == "changed"
    until(lambda: getattr(store.load_record("acme", "t1", INDEX_KIND), "version", 0) == 2)
    assert build(builder_of(store), other).trace.index_origin == "loaded"


@pytest.mark.parametrize("store_of", [InMemoryStore, InMemoryRecordStore, lambda: Remote(InMemoryRecordStore())])
def test_where_no_snapshots_are_kept_the_trace_says_nothing_of_them(store_of: Callable[[], Any]) -> None:
    store = store_of()
    assert build(builder_of(store)).trace.index_origin == ""
    assert store.load_record("acme", "t1", INDEX_KIND) is None


def test_a_short_thread_is_neither_saved_nor_looked_for() -> None:
    asked: list[str] = []
    inner = InMemoryStore()

    def load_record(*arguments: Any) -> Any:
        asked.append(arguments[2])
        return inner.load_record(*arguments)

    thread = replace(LONG, messages=LONG.messages[: MIN_TURNS - 2])
    assert build(builder_of(Remote(inner, load_record=load_record)), thread).trace.index_origin == ""
    assert INDEX_KIND not in asked
    assert "summary" in asked


FAULTS: dict[str, Callable[[Any], Any]] = {
    "records are down": lambda inner: Remote(inner, load_record=raising),
    "blobs are down": lambda inner: Remote(inner, blobs_of=raising),
    "no blob can be read": lambda inner: Remote(
        inner, blobs_of=lambda *names: Remote(inner.blobs_of(*names), get=raising)
    ),
    "a record that is none": lambda inner: Remote(inner, load_record=lambda *_: 7),
    "a body that is none": lambda inner: Remote(inner, blobs_of=lambda *_: Remote(inner, get=lambda *_: "text")),
    "nothing can be saved": lambda inner: Remote(inner, save_record=raising),
    "others are always faster": lambda inner: Remote(inner, save_record=conflicting),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_store_that_fails_costs_the_snapshot_and_nothing_else(name: str) -> None:
    inner = InMemoryStore()
    save(snapshots_in(inner), LONG, LONG_TURNS)
    builder = builder_of(FAULTS[name](inner))
    whole = build(builder_of(InMemoryStore()))
    context = build(builder)
    assert index_in(builder) == content(built(LONG_TURNS))
    if not {"summary", "task"} & {miss.part for miss in context.trace.misses}:
        assert context.messages == whole.messages
    assert context.trace.index_origin in ("loaded", "unavailable", "damaged")
    assert (context.trace.index_origin == "unavailable") == ("index" in [miss.part for miss in context.trace.misses])


def test_a_save_that_fails_is_told_by_the_next_build_and_not_repeated_at_each() -> None:
    tries: list[str] = []

    def save_record(*arguments: Any, **named: Any) -> int:
        if arguments[2] != INDEX_KIND:
            return inner.save_record(*arguments, **named)
        tries.append(INDEX_KIND)
        raise StorageError("secret")

    inner = InMemoryStore()
    builder = builder_of(Remote(inner, save_record=save_record))
    build(builder)
    until(lambda: tries)
    until(lambda: builder._setup.records._noted)
    assert Miss("index", "failed", "StorageError") in build(builder).trace.misses
    assert build(builder).trace.misses == ()
    assert tries == [INDEX_KIND]


def test_a_restored_index_is_of_the_thread_that_asks_whatever_the_tenant(store: SQLiteStore) -> None:
    build(builder_of(store))
    until(saved(store))
    for thread in (replace(LONG, tenant="other"), replace(LONG, id="t2")):
        assert build(builder_of(store), thread).trace.index_origin == "none"
