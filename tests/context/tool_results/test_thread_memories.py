"""One working memory for each thread: what one put aside no other one can read, or ask about."""

from __future__ import annotations

import hmac
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.pointers import keyed_id
from gatekeeper_core.context.tool_results.working_memory import UNKNOWN_POINTER, ThreadMemories, WorkingMemory
from gatekeeper_core.errors import ForgottenError
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.storage.sqlite import SQLiteStore

SECRET = b"a secret of the tests"
names = st.text(st.characters(), min_size=1, max_size=8)  # lone surrogates, NUL and marks of direction too
TEXTS = ["ERROR disk full\n" * 9, "磁盘已满，备份失败。\n" * 9, "备份 backup failed\n" * 9]


def memories_of(blobs: InMemoryBlobStore | None = None, **settings: Any) -> ThreadMemories:
    return ThreadMemories(blobs or InMemoryBlobStore(), SECRET, **settings)


def put(memory: WorkingMemory, text: str) -> str:
    pointer = memory.offload(text)
    assert pointer is not None
    return pointer.id


@given(st.tuples(names, names), st.tuples(names, names), st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3))
@example(("a", "bc"), ("ab", "c"), TEXTS)
@example(("a\x00", "b"), ("a", "\x00b"), TEXTS)
@example(("\ud800", "t"), ("t", "\ud800"), TEXTS)
def test_no_id_of_a_thread_opens_anything_in_another_one(
    one: tuple[str, str], other: tuple[str, str], texts: list[str]
) -> None:
    """004-37: two tenants and two threads with the same contents; wrong and foreign pointers read alike."""
    memories = memories_of()
    owners = sorted({*product(*zip(one, other, strict=True))})
    ids = {owner: [put(memories.of(owner[1], tenant=owner[0]), text) for text in texts] for owner in owners}
    for (mine, here), (theirs, _) in permutations(ids.items(), 2):
        memory = memories.of(mine[1], tenant=mine[0])
        assert [memory.load(each) for each in here] == texts
        for foreign in ids[theirs]:
            assert foreign not in memory.ids
            for options in ({}, {"lines": (1, 2)}, {"query": "disk 磁盘"}, {"start": 3}):
                assert memory.read(foreign, **options) == memory.read("a" * 16, **options)
    assert len({each for found in ids.values() for each in found}) == len(owners) * len(set(texts))


def test_session_keys_stay_the_same_from_version_to_version() -> None:
    """What a store holds is found again only with the very same keys."""
    written = b"gatekeeper session key" + bytes([0] * 7 + [7]) + b"default" + bytes([0] * 7 + [2]) + b"t1"
    key = hmac.new(SECRET, written, "sha256").digest()
    assert memories_of().of("t1").pointer_to("text").id == keyed_id(key, b"text")
    assert memories_of().of("t1", tenant="租户").pointer_to("text").id == "tyu4zu7wg2kl24gr"


def test_a_thread_has_one_memory_and_finds_its_texts_after_a_restart() -> None:
    blobs = InMemoryBlobStore()
    memories = memories_of(blobs)
    found = put(memories.of("t1"), TEXTS[1])
    assert memories.of("t1") is memories.of("t1", tenant="default")
    assert memories_of(blobs).of("t1").load(found) == TEXTS[1]
    assert ThreadMemories(blobs, b"another secret!!").of("t1").load(found) is None


@pytest.mark.parametrize("text", TEXTS)
def test_a_whole_store_forgets_what_a_thread_put_aside_with_the_thread(text: str, tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "store.db") as store:
        memories = ThreadMemories(store, SECRET)
        pointers = {name: put(memories.of(name, tenant="acme"), text) for name in ("t1", "t2")}
        assert store.forget("acme", thread="t1").blobs == 1
        for either in (memories, ThreadMemories(store, SECRET)):
            assert either.of("t1", tenant="acme").load(pointers["t1"]) is None
            assert either.of("t1", tenant="acme").used_bytes == 0
            assert either.of("t2", tenant="acme").load(pointers["t2"]) == text
        with pytest.raises(ForgottenError, match="thread"):
            memories.of("t1", tenant="acme").offload(text)
        assert store.begin_anew("acme", thread="t1")
        assert put(memories.of("t1", tenant="acme"), text) == pointers["t1"]


def test_what_is_no_longer_kept_ready_is_made_again_with_its_texts_and_its_quota() -> None:
    """004-62: the cap holds over what the store has, whichever object put it there."""
    memories = memories_of(max_ready=2, quota_bytes=30)
    memory = memories.of("t0")
    first = put(memory, "a" * 20)
    for at in range(1, 3):
        assert memories.of("t0") is memory
        put(memories.of(f"t{at}"), "b" * 20)
    memories.of("t3")
    again = memories.of("t0")
    assert again is not memory
    assert again.used_bytes == 20
    assert again.offload("c" * 20, live=[first]) is None
    assert again.read(first).text.endswith("a" * 20)
    put(again, "c" * 20)
    assert again.read(first).text == UNKNOWN_POINTER
    assert again.used_bytes == 20


def test_each_memory_has_the_settings() -> None:
    now = [0.0]
    memories = memories_of(quota_bytes=100, ttl_seconds=60, clock=lambda: now[0], token_counter=len)
    memory = memories.of("t")
    old = put(memory, "a")
    assert len(memory.read(put(memory, "x" * 90), budget_tokens=50).text) <= 50
    now[0] = 100.0
    put(memory, "c")
    assert memory.load(old) is None


def test_the_secret_is_not_shown() -> None:
    memories = memories_of()
    assert "secret of" not in repr(memories) + repr(memories.of("t"))
