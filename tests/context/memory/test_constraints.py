"""Constraints of many threads: ordered, capped, and never lost between two writers."""

from __future__ import annotations

import pytest

from gatekeeper_core.context.memory.constraints import ThreadConstraints
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.errors import ConfigError, ConstraintLimitError, CorruptionError
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
    store = InMemoryStore()
    constraints = ThreadConstraints(store)
    constraints.set(T1, "language", "Chinese")
    assert ThreadConstraints(store).of(T1) == {"language": "Chinese"}, "of another object as well"
    assert constraints.of(Thread("t2")) == {}
    assert constraints.of(Thread("t1", tenant="other")) == {}


def test_a_zone_that_would_outgrow_its_cap_stays_as_it_was() -> None:
    constraints = ThreadConstraints(InMemoryStore(), max_tokens=40, token_counter=len)
    constraints.set(T1, "language", "Chinese")
    with pytest.raises(ConstraintLimitError):
        constraints.set(T1, "style", "as short as can be")
    assert constraints.of(T1) == {"language": "Chinese"}


def test_a_cap_without_room_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_tokens"):
        ThreadConstraints(InMemoryStore(), max_tokens=0)


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
