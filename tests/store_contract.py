"""What every ``Store`` must do beside its parts, as a class of tests: forgetting, and tenants that never meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from gatekeeper_core.errors import ConfigError, ForgottenError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import EarlierText, Forgotten, Memory, MemoryRecord, MemoryScope
from gatekeeper_core.vectors import unit_vector
from tests.message_store_contract import ids_of, messages_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper_core.storage.base import Store

ANN = MemoryScope("acme", "ann")


def memory(memory_id: str, thread: str | None = None, *, earlier: str | None = None, version: int = 1) -> MemoryRecord:
    before = (EarlierText("so it read", 0.0, earlier, 0),) if earlier else ()
    kept = Memory(memory_id, f"text of {memory_id}", "fact", thread=thread, seq=0, earlier=before, version=version)
    return MemoryRecord(kept, ("tea",), unit_vector([1.0, 0.5]), "of")


def fill(store: Store, tenant: str = "acme") -> None:
    """Store two threads with all that belongs to them, and memories of two users."""
    for thread in ("t1", "t2"):
        store.append_messages(tenant, thread, messages_of(0, 1))
        store.save_record(tenant, thread, "summary", '"about it"', upto_seq=1, expected_version=0)
        store.blobs_of(tenant, thread).put("scope", "body", b"a long result")
    store.put_memories(MemoryScope(tenant, "ann"), [memory("m1", "t1"), memory("m2", "t2", earlier="t1"), memory("m3")])
    store.put_memories(MemoryScope(tenant, "bob"), [memory("m1", "t1"), memory("m2", "t2")])


def seen(store: Store, tenant: str = "acme") -> dict[str, Any]:
    """Return everything that can be read of a tenant."""
    return {
        "messages": {thread: ids_of(store, tenant, thread) for thread in ("t1", "t2")},
        "records": {thread: store.load_record(tenant, thread, "summary") for thread in ("t1", "t2")},
        "blobs": {thread: store.blobs_of(tenant, thread).records("scope") for thread in ("t1", "t2")},
        "memories": {
            user: sorted(store.find_memories(MemoryScope(tenant, user), terms=["tea"], limit=9), key=_id_of)
            for user in ("ann", "bob")
        },
    }


def _id_of(record: MemoryRecord) -> str:
    return record.memory.id


class StoreContract:
    steps = 15
    """How many calls the state machine makes in each example; fewer where a call takes its time."""

    def make_store(self) -> Store:
        raise NotImplementedError

    def test_a_forgotten_thread_takes_along_everything_that_came_from_it(self) -> None:
        store = self.make_store()
        fill(store)
        assert store.forget("acme", thread="t1") == Forgotten(messages=2, records=1, memories=3, blobs=1)
        remaining = seen(store)
        assert remaining["messages"] == {"t1": [], "t2": ["m0", "m1"]}
        assert remaining["records"]["t1"] is None
        assert remaining["records"]["t2"] is not None
        assert [len(remaining["blobs"][thread]) for thread in ("t1", "t2")] == [0, 1]
        assert [_id_of(record) for record in remaining["memories"]["ann"]] == ["m2", "m3"]
        assert [_id_of(record) for record in remaining["memories"]["bob"]] == ["m2"]

    def test_a_memory_that_only_once_came_from_the_thread_loses_its_earlier_text(self) -> None:
        store = self.make_store()
        store.put_memories(ANN, [memory("m1", "t2", earlier="t1"), memory("m2", "t3")])
        assert store.forget("acme", source="t1").memories == 1
        kept = store.get_memory(ANN, "m1")
        assert (kept.memory.earlier, kept.memory.version) == ((), 2)
        assert kept in store.find_memories(ANN, terms=["tea"], limit=9)
        assert store.find_memories(ANN, terms=["tea"], limit=1)[0].memory.id == "m2"
        assert store.forget("acme", source="t1").memories == 0
        assert store.forget("acme", source="t2").memories == 1

    def test_a_closed_memory_is_forgotten_with_its_source(self) -> None:
        store = self.make_store()
        first = memory("m1", "t1")
        store.put_memories(ANN, [first])
        closed = first.memory._replace(superseded_by="m2", version=2)
        store.put_memories(ANN, [first._replace(memory=closed), memory("m2", "t2")])
        assert store.forget("acme", thread="t1").memories == 1
        assert store.get_memory(ANN, "m1") is None
        assert store.get_memory(ANN, "m2") is not None

    def test_a_late_job_cannot_bring_back_what_was_forgotten(self) -> None:
        store = self.make_store()
        fill(store)
        store.forget("acme", thread="t1")
        store.forget("acme", user="bob")
        late: dict[str, list[Callable[[], object]]] = {
            "thread": [
                lambda: store.append_messages("acme", "t1", messages_of(0)),
                lambda: store.save_record("acme", "t1", "summary", "{}", upto_seq=1, expected_version=1),
                lambda: store.save_record("acme", "t1", "task", "{}", upto_seq=1, expected_version=0),
                lambda: store.blobs_of("acme", "t1").put("scope", "body", b"x"),
            ],
            "source": [
                lambda: store.put_memories(ANN, [memory("m8"), memory("m9", "t1")]),
                lambda: store.put_memories(ANN, [memory("m9", "t2", earlier="t1")]),
            ],
            "user": [lambda: store.put_memories(MemoryScope("acme", "bob"), [memory("m9", "t2")])],
        }
        before = seen(store)
        for what, jobs in late.items():
            for job in jobs:
                with pytest.raises(ForgottenError) as caught:
                    job()
                assert caught.value.what == what
        assert seen(store) == before
        store.append_messages("other", "t1", messages_of(0))
        store.put_memories(MemoryScope("other", "bob"), [memory("m9", "t1")])

    def test_what_was_forgotten_can_be_begun_anew_and_starts_from_nothing(self) -> None:
        store = self.make_store()
        fill(store)
        for named in ({"thread": "t1"}, {"user": "ann"}, {"source": "t2"}, {}):
            store.forget("acme", **named)
            assert store.begin_anew("acme", **named)
            assert not store.begin_anew("acme", **named)
        assert store.append_messages("acme", "t1", messages_of(0)) == 0
        assert store.save_record("acme", "t1", "summary", "{}", upto_seq=0, expected_version=0) == 1
        store.put_memories(ANN, [memory("m1", "t1"), memory("m2", "t2")])
        store.blobs_of("acme", "t1").put("scope", "body", b"x")

    def test_a_call_without_a_tenant_fails_closed(self) -> None:
        store = self.make_store()
        for call in (
            lambda: store.load_record("", "t1", "summary"),
            lambda: store.save_record("", "t1", "summary", "{}", upto_seq=0, expected_version=0),
            lambda: store.load_record("acme", "t1", ""),
            lambda: store.put_memories(MemoryScope("", "ann"), []),
            lambda: store.get_memory(MemoryScope("acme", ""), "m1"),
            lambda: store.find_memories(MemoryScope("", "ann"), limit=1),
            lambda: store.count_memories(MemoryScope("", "ann"), []),
            lambda: store.delete_memories(MemoryScope("", "ann")),
            lambda: store.blobs_of("", "t1"),
            lambda: store.blobs_of("acme", ""),
            lambda: store.forget(""),
            lambda: store.forget("acme", thread=""),
            lambda: store.begin_anew("acme", user=""),
            lambda: store.forget("acme", thread="t1", user="ann"),
        ):
            with pytest.raises(ConfigError):
                call()

    def test_two_tenants_with_the_same_names_and_texts_never_meet(self) -> None:
        """Threads, messages, users and blobs bear the same names with both, and the texts are the same."""
        make_store = self.make_store

        class Machine(TwoTenants):
            def make_store(self) -> Store:
                return make_store()

        run_state_machine_as_test(Machine, settings=settings(stateful_step_count=self.steps))


tenants = st.sampled_from(["acme", "other"])
threads = st.sampled_from(["t1", "t2"])
users = st.sampled_from(["ann", "bob"])
numbers = st.integers(0, 3)


class TwoTenants(RuleBasedStateMachine):
    """A store beside plain dictionaries, one set of them for each tenant."""

    def make_store(self) -> Store:
        raise NotImplementedError

    def __init__(self) -> None:
        super().__init__()
        self.store = self.make_store()
        self.messages: dict[tuple[str, str], list[Message]] = {}
        self.records: dict[tuple[str, str], tuple[str, int]] = {}
        self.memories: dict[tuple[str, str], dict[str, MemoryRecord]] = {}
        self.blobs: dict[tuple[str, str], dict[str, bytes]] = {}
        self.stones: set[tuple[str, str, str]] = set()

    def _is_forgotten(self, tenant: str, *named: tuple[str, str]) -> bool:
        return any((tenant, *name) in self.stones for name in (("tenant", ""), *named))

    def _try(self, job: Callable[[], object], *, forgotten: bool) -> bool:
        if not forgotten:
            job()
            return True
        with pytest.raises(ForgottenError):
            job()
        return False

    @rule(tenant=tenants, thread=threads, number=numbers)
    def append(self, tenant: str, thread: str, number: int) -> None:
        message = messages_of(number)[0]
        forgotten = self._is_forgotten(tenant, ("thread", thread))
        if self._try(lambda: self.store.append_messages(tenant, thread, [message]), forgotten=forgotten):
            kept = self.messages.setdefault((tenant, thread), [])
            if message not in kept:
                kept.append(message)

    @rule(tenant=tenants, thread=threads)
    def save(self, tenant: str, thread: str) -> None:
        version = self.records.get((tenant, thread), ("", 0))[1]
        body = f'"{version}"'
        forgotten = self._is_forgotten(tenant, ("thread", thread))
        if self._try(
            lambda: self.store.save_record(tenant, thread, "task", body, upto_seq=0, expected_version=version),
            forgotten=forgotten,
        ):
            self.records[tenant, thread] = (body, version + 1)

    @rule(tenant=tenants, user=users, number=numbers, thread=threads, earlier=st.none() | threads)
    def remember(self, tenant: str, user: str, number: int, thread: str, earlier: str | None) -> None:
        kept = self.memories.setdefault((tenant, user), {})
        before = kept.get(f"m{number}")
        record = memory(f"m{number}", thread, earlier=earlier, version=before.memory.version + 1 if before else 1)
        sources = [("source", name) for name in (thread, earlier) if name]
        forgotten = self._is_forgotten(tenant, ("user", user), *sources)
        if self._try(lambda: self.store.put_memories(MemoryScope(tenant, user), [record]), forgotten=forgotten):
            kept[f"m{number}"] = record

    @rule(tenant=tenants, user=users, number=numbers)
    def drop(self, tenant: str, user: str, number: int) -> None:
        kept = self.memories.setdefault((tenant, user), {})
        deleted = self.store.delete_memories(MemoryScope(tenant, user), [f"m{number}"])
        assert deleted == (kept.pop(f"m{number}", None) is not None)

    @rule(tenant=tenants, thread=threads, number=numbers, size=numbers)
    def put_aside(self, tenant: str, thread: str, number: int, size: int) -> None:
        blobs = self.store.blobs_of(tenant, thread)
        forgotten = self._is_forgotten(tenant, ("thread", thread))
        if self._try(lambda: blobs.put("scope", f"b{number}", b"x" * size), forgotten=forgotten):
            self.blobs.setdefault((tenant, thread), {})[f"b{number}"] = b"x" * size

    @rule(tenant=tenants, thread=threads)
    def forget_thread(self, tenant: str, thread: str) -> None:
        self.store.forget(tenant, thread=thread)
        self.stones |= {(tenant, "thread", thread), (tenant, "source", thread)}
        for shelf in (self.messages, self.records, self.blobs):
            shelf.pop((tenant, thread), None)
        for scope, kept in self.memories.items():
            if scope[0] == tenant:
                self.memories[scope] = _without(kept, thread)

    @rule(tenant=tenants, user=users)
    def forget_user(self, tenant: str, user: str) -> None:
        self.store.forget(tenant, user=user)
        self.stones.add((tenant, "user", user))
        self.memories.pop((tenant, user), None)

    @rule(tenant=tenants, kind=st.sampled_from(["thread", "user", "tenant"]), thread=threads, user=users)
    def begin_anew(self, tenant: str, kind: str, thread: str, user: str) -> None:
        if kind == "tenant":
            self.store.begin_anew(tenant)
            self.stones.discard((tenant, "tenant", ""))
        elif kind == "user":
            self.store.begin_anew(tenant, user=user)
            self.stones.discard((tenant, "user", user))
        else:
            self.store.begin_anew(tenant, thread=thread)
            self.stones -= {(tenant, "thread", thread), (tenant, "source", thread)}

    @rule(tenant=tenants)
    def forget_tenant(self, tenant: str) -> None:
        self.store.forget(tenant)
        self.stones.add((tenant, "tenant", ""))
        for shelf in (self.messages, self.records, self.blobs, self.memories):
            for key in [key for key in shelf if key[0] == tenant]:
                del shelf[key]

    @invariant()
    def each_tenant_has_its_own_and_nothing_else(self) -> None:
        for tenant in ("acme", "other"):
            for thread in ("t1", "t2"):
                assert list(self.store.read_messages(tenant, thread)) == self.messages.get((tenant, thread), [])
                record = self.store.load_record(tenant, thread, "task")
                assert (record and (record.body, record.version)) == self.records.get((tenant, thread))
                blobs = self.store.blobs_of(tenant, thread)
                found = {blob.id: blobs.get("scope", blob.id) for blob in blobs.records("scope")}
                assert found == self.blobs.get((tenant, thread), {})
            for user in ("ann", "bob"):
                scope, kept = MemoryScope(tenant, user), self.memories.get((tenant, user), {})
                by_term = self.store.find_memories(scope, terms=["tea"], limit=9)
                near = self.store.find_memories(scope, vector=unit_vector([1.0, 1.0]), limit=9)
                for found_records in (by_term, near):
                    assert {record.memory.id: record for record in found_records} == kept
                assert self.store.count_memories(scope, ["tea"]).memories == len(kept)


def _without(kept: dict[str, MemoryRecord], source: str) -> dict[str, MemoryRecord]:
    remaining = {}
    for name, record in kept.items():
        old = record.memory
        if old.thread == source:
            continue
        earlier = tuple(text for text in old.earlier if text.thread != source)
        version = old.version + (len(earlier) != len(old.earlier))
        remaining[name] = record._replace(memory=old._replace(earlier=earlier, version=version))
    return remaining
