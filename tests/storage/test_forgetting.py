"""What was named, what stands in its place, what a memory loses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.storage.forgetting import (
    Target,
    named_target,
    sources_of,
    tombstone,
    tombstones_of,
    without_source,
)
from tests.message_store_contract import texts
from tests.store_contract import memory

names = st.tuples(texts, st.sampled_from(["tenant", "thread", "user", "source"]), texts)


@given(names, names)
def test_two_things_have_two_tombstones(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    assert (tombstone(*one) == tombstone(*other)) == (one == other)
    assert len(tombstone(*one)) == 16


def test_a_forgotten_thread_is_a_forgotten_source() -> None:
    assert tombstones_of(Target("acme", "source", "t1"))[0] in tombstones_of(Target("acme", "thread", "t1"))


def test_a_target_is_the_tenant_or_one_thing_of_it() -> None:
    assert named_target("acme", thread=None, user=None, source=None) == Target("acme", "tenant", "")
    with pytest.raises(ConfigError, match="name one of"):
        named_target("acme", thread="t1", user=None, source="t1")
    with pytest.raises(ConfigError, match="thread must not be empty"):
        named_target("acme", thread="", user=None, source=None)


def test_a_memory_names_every_thread_that_it_comes_from() -> None:
    assert sources_of(memory("m1", "t1", earlier="t2")) == ("t1", "t2")
    assert sources_of(memory("m1")) == ()


def test_a_memory_goes_with_its_text_and_keeps_what_comes_from_elsewhere() -> None:
    assert without_source(memory("m1", "t1", earlier="t2"), "t1") is None
    kept = without_source(memory("m1", "t1", earlier="t2"), "t2")
    assert kept is not None
    assert (kept.memory.thread, kept.memory.earlier, kept.memory.version) == ("t1", (), 2)
