"""Constraints of many threads: ordered, capped, and never lost between two writers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from gatekeeper_core.context.thread.constraints import ThreadConstraints
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.errors import ConfigError, ConflictError, ConstraintLimitError, CorruptionError
from gatekeeper_core.storage.base import DerivedRecord
from gatekeeper_core.storage.sqlite import InMemoryStore

T1 = Thread("t1")


@pytest.mark.parametrize(
    ("key", "value"), [("language", "Chinese"), ("语言", "只用中文"), ("style 风格", "short 简短\n第二行")]
)
def test_constraints_keep_their_order_and_their_text(key: str, value: str) -> None:
    constraints = ThreadConstraints(InMemoryStore())
    constraints.set(T1, "first", "1")
    constraints.set(T1, key, "old")
    constraints.set(T1, "last", "3")
    constraints.set(T1, key, value)
    assert list(constraints.of(T1).items()) == [("first", "1"), (key, value), ("last", "3")]
    assert constraints.remove(T1, key)
    assert not constraints.remove(T1, key)
    assert list(constraints.of(T1)) == ["first", "last"]


@pytest.mark.parametrize("text", ["\ud83d\ude00", "\ud800", "中\udfff\ud800文", "😀", "\x00"])
def test_what_is_set_comes_back_code_point_by_code_point(text: str) -> None:
    """Two surrogates side by side are not read back as the one character that they would encode."""
    constraints = ThreadConstraints(InMemoryStore())
    constraints.set(T1, text, text)
    constraints.set(T1, "last", "")
    assert constraints.remove(T1, "last")
    assert [(list(key), list(value)) for key, value in constraints.of(T1).items()] == [(list(text), list(text))]


def test_threads_and_tenants_are_kept_apart() -> None:
    constraints = ThreadConstraints(InMemoryStore())
    constraints.set(T1, "language", "Chinese")
    assert constraints.of(Thread("t2")) == {}
    assert constraints.of(Thread("t1", tenant="other")) == {}


def test_another_object_on_the_same_store_sees_them() -> None:
    store = InMemoryStore()
    ThreadConstraints(store).set(T1, "language", "Chinese")
    assert ThreadConstraints(store).of(T1) == {"language": "Chinese"}


def test_a_zone_that_would_outgrow_its_cap_stays_as_it_was() -> None:
    constraints = ThreadConstraints(InMemoryStore(), max_tokens=40, token_counter=len)
    constraints.set(T1, "language", "Chinese")
    with pytest.raises(ConstraintLimitError):
        constraints.set(T1, "style", "as short as can be")
    assert constraints.of(T1) == {"language": "Chinese"}


def test_a_cap_without_room_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_tokens"):
        ThreadConstraints(InMemoryStore(), max_tokens=0)


def test_of_many_writers_none_undoes_another() -> None:
    constraints = ThreadConstraints(InMemoryStore())

    def write(number: int) -> None:
        while True:
            try:
                constraints.set(T1, f"rule {number}", "yes")
            except ConflictError:
                continue
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(24)))
    assert sorted(constraints.of(T1)) == sorted(f"rule {number}" for number in range(24))


class AlwaysLate(InMemoryStore):
    """Another worker is faster each time."""

    versions = 0

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        super().save_record(tenant, thread, kind, "{}", upto_seq=-1, expected_version=self.versions)
        self.versions += 1
        found = super().load_record(tenant, thread, kind)
        assert found is not None
        return found._replace(version=found.version - 1)


def test_where_others_are_always_faster_the_conflict_is_told() -> None:
    with pytest.raises(ConflictError):
        ThreadConstraints(AlwaysLate()).set(T1, "language", "Chinese")


@pytest.mark.parametrize("body", ["", "{", "[]", '{"a": 1}', "null"])
def test_a_damaged_record_is_a_typed_error(body: str) -> None:
    store = InMemoryStore()
    store.save_record("default", "t1", "constraints", body, upto_seq=-1, expected_version=0)
    constraints = ThreadConstraints(store)
    for call in (constraints.of, lambda thread: constraints.set(thread, "a", "b")):
        with pytest.raises(CorruptionError, match=r"clear\(\) them"):
            call(T1)
    constraints.clear(T1)
    constraints.set(T1, "language", "Chinese")
    assert constraints.of(T1) == {"language": "Chinese"}


def test_clearing_what_is_not_there_changes_nothing() -> None:
    store = InMemoryStore()
    ThreadConstraints(store).clear(T1)
    assert store.load_record("default", "t1", "constraints") is None
