"""What every ``MemoryStore`` must do, as a class of tests: a store's own test file inherits it and gives ``make_store``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.storage.base import EarlierText, Memory, MemoryRecord, MemoryScope, TermCounts
from gatekeeper_core.vectors import unit_vector

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper_core.storage.base import MemoryCategory, MemoryStore

ANN = MemoryScope("default", "ann")
OTHERS = [MemoryScope("default", "bob"), MemoryScope("other", "ann")]


def record(
    memory_id: str,
    *terms: str,
    category: MemoryCategory = "fact",
    key: str | None = None,
    version: int = 1,
    vector: tuple[float, ...] = (),
    superseded_by: str | None = None,
) -> MemoryRecord:
    memory = Memory(
        memory_id, f"{memory_id}: {' '.join(terms)}", category, key, version=version, superseded_by=superseded_by
    )
    return MemoryRecord(memory, terms, unit_vector(vector), "of" if vector else "")


def ids(records: Iterable[MemoryRecord]) -> list[str]:
    return sorted(found.memory.id for found in records)


class MemoryStoreContract:
    def make_store(self) -> MemoryStore:
        raise NotImplementedError

    @pytest.mark.parametrize("text", ["I like tea", "我喜欢喝茶", "用 Redis 做缓存", "a\u202e😀"])
    def test_a_memory_comes_back_as_it_went_in(self, text: str) -> None:
        """004-32: what was remembered is there for the next conversation."""
        store = self.make_store()
        earlier = (EarlierText("so it read", 1.5, "t0", 3),)
        memory = Memory("m1", text, "skill", "likes", "t1", 7, 2.5, 9.0, "m0", None, earlier, 1)
        put = MemoryRecord(memory, ("tea", "茶"), unit_vector([3.0, 4.0]), "hash")
        store.put_memories(ANN, [put])
        assert store.get_memory(ANN, "m1") == put
        assert store.find_memories(ANN, terms=["茶"], limit=1)[0] == put

    def test_scopes_are_kept_apart(self) -> None:
        """004-16: nothing of one user is found, counted, read or deleted through another."""
        store = self.make_store()
        store.put_memories(ANN, [record("m1", "tea")])
        for other in OTHERS:
            assert store.get_memory(other, "m1") is None
            assert not store.find_memories(other, terms=["tea"], limit=9)
            assert store.count_memories(other, ["tea"]).memories == 0
            assert store.delete_memories(other, ["m1"]) == store.delete_memories(other) == 0
            store.put_memories(other, [record("m1", "coffee")])
        assert ids(store.find_memories(ANN, limit=9)) == ["m1"]
        assert not store.find_memories(ANN, terms=["coffee"], limit=9)

    def test_a_term_finds_every_current_memory_that_holds_it(self) -> None:
        store = self.make_store()
        store.put_memories(ANN, [record("m1", "tea", "green"), record("m2", "tea"), record("m3", "coffee")])
        assert ids(store.find_memories(ANN, terms=["tea"], limit=9)) == ["m1", "m2"]
        assert ids(store.find_memories(ANN, terms=["green", "coffee"], limit=9)) == ["m1", "m3"]
        assert not store.find_memories(ANN, terms=["milk"], limit=9)

    def test_of_too_many_the_terms_that_stand_first_decide_then_the_newest(self) -> None:
        store = self.make_store()
        store.put_memories(ANN, [record("m1", "common", "rare"), *(record(f"n{n}", "common") for n in range(9))])
        assert ids(store.find_memories(ANN, terms=["rare", "common"], limit=2)) == ["m1", "n8"]
        assert ids(store.find_memories(ANN, terms=["common"], limit=2)) == ["n7", "n8"]

    def test_without_terms_the_newest_put_are_found(self) -> None:
        store = self.make_store()
        store.put_memories(ANN, [record(f"m{n}", "tea") for n in range(5)])
        store.put_memories(ANN, [record("m0", "tea", version=2)])
        assert ids(store.find_memories(ANN, limit=2)) == ["m0", "m4"]

    def test_keys_and_categories_narrow_what_is_found(self) -> None:
        store = self.make_store()
        store.put_memories(
            ANN,
            [
                record("m1", "tea", key="drink"),
                record("m2", "tea", category="skill", key="drink"),
                record("m3", "tea", category="user_preference"),
            ],
        )
        assert ids(store.find_memories(ANN, key="drink", limit=9)) == ["m1", "m2"]
        assert ids(store.find_memories(ANN, key="drink", categories=["skill"], limit=9)) == ["m2"]
        assert ids(store.find_memories(ANN, terms=["tea"], categories=["skill", "fact"], limit=9)) == ["m1", "m2"]
        assert ids(store.find_memories(ANN, terms=["tea"], key="drink", limit=1)) == ["m2"]
        assert not store.find_memories(ANN, key="food", limit=9)

    def test_a_vector_finds_the_nearest_of_its_dimension(self) -> None:
        """004-58: vectors are looked up in the store."""
        store = self.make_store()
        store.put_memories(
            ANN,
            [
                record("east", vector=(1.0, 0.0)),
                record("north", vector=(0.0, 1.0)),
                record("north-east", vector=(1.0, 1.0)),
                record("high", vector=(1.0, 0.0, 0.0)),
                record("none", "tea"),
            ],
        )
        east = unit_vector([9.0, 1.0])
        assert ids(store.find_memories(ANN, vector=east, limit=1)) == ["east"]
        assert ids(store.find_memories(ANN, vector=east, limit=2)) == ["east", "north-east"]
        assert "high" not in ids(store.find_memories(ANN, vector=east, limit=3))
        assert ids(store.find_memories(ANN, terms=["tea"], vector=east, limit=1)) == ["east", "none"]

    def test_what_another_memory_took_the_place_of_is_read_by_its_id_only(self) -> None:
        """004-65: a superseded memory stays, and is found no more."""
        store = self.make_store()
        store.put_memories(ANN, [record("old", "tea", key="drink", vector=(1.0,))])
        store.put_memories(
            ANN,
            [
                record("old", "tea", key="drink", vector=(1.0,), version=2, superseded_by="new"),
                record("new", "coffee", key="drink"),
            ],
        )
        assert not store.find_memories(ANN, terms=["tea"], limit=9)
        assert not store.find_memories(ANN, vector=unit_vector([1.0]), limit=9)
        assert ids(store.find_memories(ANN, key="drink", limit=9)) == ["new"]
        assert store.count_memories(ANN, ["tea", "coffee"]).memories == 1
        closed = store.get_memory(ANN, "old")
        assert closed.memory.superseded_by == "new"

    def test_many_terms_and_many_memories_at_once_are_all_looked_up(self) -> None:
        store = self.make_store()
        store.put_memories(ANN, [record(f"m{n}", f"term{n}") for n in range(1_200)])
        terms = [f"term{n}" for n in range(1_200)]
        assert len(store.find_memories(ANN, terms=terms, limit=2_000)) == 1_200
        assert ids(store.find_memories(ANN, terms=terms[70:], limit=2)) == ["m70", "m71"]
        assert len(store.count_memories(ANN, terms).by_term) == 1_200
        assert store.delete_memories(ANN, [f"m{n}" for n in range(1_100)]) == 1_100
        assert len(store.find_memories(ANN, terms=terms, limit=2_000)) == 100

    def test_of_an_id_that_is_put_twice_at_once_the_last_version_stays(self) -> None:
        store = self.make_store()
        store.put_memories(ANN, [record("m1", "tea"), record("m2", "tea"), record("m1", "milk", version=2)])
        assert [found.memory.id for found in store.find_memories(ANN, limit=9)] == ["m1", "m2"]
        assert ids(store.find_memories(ANN, terms=["tea"], limit=9)) == ["m2"]

    def test_counts_are_of_current_memories(self) -> None:
        store = self.make_store()
        store.put_memories(ANN, [record("m1", "tea", "green"), record("m2", "tea"), record("m3", "coffee")])
        store.put_memories(ANN, [record("m2", "coffee", version=2)])
        store.delete_memories(ANN, ["m3"])
        counted = store.count_memories(ANN, ["tea", "coffee", "milk"])
        assert counted.memories == 2
        assert [counted.by_term.get(term, 0) for term in ("tea", "coffee", "milk")] == [1, 1, 0]
        assert store.count_memories(MemoryScope("default", "nobody"), ["tea"]) == TermCounts(0, {})

    def test_what_is_deleted_is_gone_and_may_be_put_anew(self) -> None:
        store = self.make_store()
        store.put_memories(ANN, [record("m1", "tea"), record("m2", "tea"), record("m3", "tea")])
        assert store.delete_memories(ANN, ["m1", "nothing"]) == 1
        assert store.get_memory(ANN, "m1") is None
        assert ids(store.find_memories(ANN, terms=["tea"], limit=9)) == ["m2", "m3"]
        store.put_memories(ANN, [record("m1", "tea")])
        assert store.delete_memories(ANN) == 3
        assert not store.find_memories(ANN, limit=9)

    @pytest.mark.parametrize("version", [1, 3])
    def test_a_put_of_another_version_than_the_next_changes_nothing_at_all(self, version: int) -> None:
        store = self.make_store()
        store.put_memories(ANN, [record("m1", "tea")])
        with pytest.raises(ConflictError) as caught:
            store.put_memories(ANN, [record("m2", "milk"), record("m1", "coffee", version=version)])
        assert (caught.value.expected_version, caught.value.stored_version) == (version - 1, 1)
        assert ids(store.find_memories(ANN, limit=9)) == ["m1"]
        assert ids(store.find_memories(ANN, terms=["tea"], limit=9)) == ["m1"]

    def test_of_many_writers_at_once_one_wins_each_version(self) -> None:
        store = self.make_store()

        def put(writer: int) -> bool:
            try:
                store.put_memories(ANN, [record("m1", f"w{writer}"), record(f"m-{writer}", "tea")])
            except ConflictError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(put, range(64))) == 1
        assert store.count_memories(ANN, ["tea"]) == TermCounts(2, {"tea": 1})
