"""Memories in PostgreSQL: pgvector finds the nearest of a user, whatever others have stored, and gives no vector back changed."""

from __future__ import annotations

import math
import random
from array import array
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from gatekeeper_core.storage.base import Memory, MemoryRecord, MemoryScope
from gatekeeper_core.vectors import cosine, unit_vector
from gatekeeper_postgres import PostgresStore, connections
from gatekeeper_postgres import store as module
from tests.memory_store_contract import ids, record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


ANN = MemoryScope("acme", "ann")
BOB = MemoryScope("acme", "bob")


def near(draw: random.Random, numbers: Sequence[float], by: float) -> tuple[float, ...]:
    return tuple(number + draw.uniform(-by, by) for number in numbers)


def put_vectors(store: PostgresStore, scope: MemoryScope, vectors: Sequence[Sequence[float]]) -> None:
    store.put_memories(scope, [record(f"m{at}", vector=tuple(vector)) for at, vector in enumerate(vectors)])


def best(store: PostgresStore, vector: array[float], limit: int) -> list[str]:
    """Return the ids of the nearest, as a comparison of all of Ann's memories finds them."""
    all_of_them = store.find_memories(ANN, limit=10_000)
    ranked = sorted(all_of_them, key=lambda found: -cosine(found.vector or array("f"), vector))
    return sorted(found.memory.id for found in ranked[:limit])


SORTING_IS_DEAR = "?options=-c%20enable_sort%3Doff"
"""So the server takes the index of vectors, whatever it thinks of few rows."""
INDEX_GIVES_UP = f"{SORTING_IS_DEAR}%20-c%20hnsw.max_scan_tuples%3D1"


@pytest.mark.parametrize(
    ("options", "exact_up_to", "ways"),
    [
        (SORTING_IS_DEAR, 0, ["index"]),
        (INDEX_GIVES_UP, 0, ["index", "one by one"]),
        ("", 10_000, ["one by one"]),
    ],
    ids=["by the index", "by an index that gives up", "one by one"],
)
def test_memories_of_others_that_are_nearer_take_no_place_away(
    conninfo: str, monkeypatch: pytest.MonkeyPatch, options: str, exact_up_to: int, ways: list[str]
) -> None:
    """A filter behind an index would see the others only: 40 candidates, none of them Ann's."""
    monkeypatch.setattr(module, "EXACT_UP_TO", exact_up_to)
    draw = random.Random(5)
    target = [1.0, *[0.0] * 7]
    others = [near(draw, target, 0.05) for _ in range(300)]
    with PostgresStore(conninfo + options) as store:
        for scope in (BOB, MemoryScope("other", "ann")):
            put_vectors(store, scope, others)
        put_vectors(store, ANN, [near(draw, [0.3, *[1.0] * 7], 0.5) for _ in range(60)])
        query = unit_vector(target)
        with watched(monkeypatch) as seen:
            assert ids(store.find_memories(ANN, vector=query, limit=10)) == best(store, query, 10)
        assert seen == ways
        assert ids(store.find_memories(ANN, vector=query, limit=60)) == sorted(f"m{n}" for n in range(60))
        assert len(store.find_memories(ANN, vector=query, limit=100)) == 60


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Note in which way the server is asked for the nearest."""
    ways: list[str] = []

    marked = connections._marked

    def noted(sql: str) -> bytes:
        if "ORDER BY (embedding" in sql:
            ways.append("index" if "(embedding::" in sql else "one by one")
        return marked(sql)

    with monkeypatch.context() as patched:
        patched.setattr(connections, "_marked", noted)
        yield ways


@pytest.mark.parametrize("dimensions", [1, 2_000, 4_000, 4_001, 16_001])
def test_a_vector_of_any_length_comes_back_to_the_bit_and_is_found(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, dimensions: int
) -> None:
    monkeypatch.setattr(module, "EXACT_UP_TO", 0)
    draw = random.Random(dimensions)
    vectors = [unit_vector([draw.gauss(0, 1) for _ in range(dimensions)]) for _ in range(3)]
    for at, vector in enumerate(vectors):
        store.put_memories(ANN, [MemoryRecord(Memory(f"m{at}", "tea", "fact"), (), vector, "of")])
    for at, vector in enumerate(vectors):
        (found,) = store.find_memories(ANN, vector=vector, limit=1)
        assert found.vector.tobytes() == vector.tobytes()
        assert found.memory.id == f"m{at}" or dimensions == 1


def test_vectors_that_no_index_can_hold_are_kept_all_the_same(store: PostgresStore) -> None:
    """Numbers that are none, and zeros: near to nothing, and no error."""
    odd = [array("f", [math.nan, 1.0]), array("f", [math.inf, 0.0]), array("f", [0.0, 0.0]), array("f")]
    for at, vector in enumerate(odd):
        store.put_memories(ANN, [MemoryRecord(Memory(f"m{at}", "tea", "fact"), ("tea",), vector, "of")])
    store.put_memories(ANN, [record("good", vector=(1.0, 0.0))])
    for at, vector in enumerate(odd):
        kept = store.get_memory(ANN, f"m{at}")
        assert kept.vector.tobytes() == vector.tobytes()
        store.find_memories(ANN, vector=vector, limit=9)
    assert ids(store.find_memories(ANN, vector=unit_vector([1.0, 0.1]), limit=1)) == ["good"]


def test_without_pgvector_vectors_are_compared_here(postgres_database: str) -> None:
    """A server without the extension loses nothing; when it is installed, older vectors are found beside new ones."""
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("DROP EXTENSION vector")
        connection.execute("CREATE ROLE plain LOGIN")
        connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO plain")
        try:
            plain = postgres_database.replace("postgres@", "plain@")
            with PostgresStore(plain) as without:  # a role that may not install it
                assert without.info().vectors == "compared one by one"
                put_vectors(without, ANN, [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
                assert ids(without.find_memories(ANN, vector=unit_vector([9.0, 1.0]), limit=2)) == ["m0", "m2"]
                connection.execute("CREATE EXTENSION vector")
                with PostgresStore(plain) as store:
                    assert store.info().vectors == "pgvector"
                    # One that was opened before still writes without an embedding.
                    without.put_memories(ANN, [record("late", vector=(1.0, 0.05))])
                    store.put_memories(ANN, [record("indexed", vector=(1.0, 0.2))])
                    found = store.find_memories(ANN, vector=unit_vector([9.0, 1.0]), limit=3)
                    assert ids(found) == ["indexed", "late", "m0"]
        finally:
            connection.execute("DROP OWNED BY plain")
            connection.execute("DROP ROLE plain")
