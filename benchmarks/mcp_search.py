"""Search across chats: does it find the turn that a question needs, and how does it grow?

``python -m benchmarks.mcp_search --data DIR`` measures recall: every conversation of a set is a thread of one user, and
each question is asked across all of them, beside bm25s over the same turns, whole texts. ``python -m
benchmarks.mcp_search --sizes 10000,100000`` measures growth: a seeded bilingual conversation in threads of 100 turns,
all of one user, or with ``--tenants`` spread over tenants of whom one searches. ``--postgres CONNINFO`` adds
PostgreSQL; the benchmark creates a database there and drops it at the end. Times are wall-clock medians.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.corpus import generate_questions, stream_turns
from benchmarks.data import Block, read_locomo
from benchmarks.peers import NOT_INSTALLED, PEERS, missing
from benchmarks.report import SEED, numbers, options, report
from benchmarks.stores import postgres_database
from benchmarks.talks import read_beam, read_memdaily
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore
from gatekeeper_mcp import UserThreads, index_of

if TYPE_CHECKING:
    from gatekeeper_core.storage.tables import TableStore
    from gatekeeper_mcp.search import ChatIndex

BM25S = "bm25s + stop words + stemming"
CUTS = (1, 5, 20)
_TENANT = "bench"
_TURNS_A_THREAD = 100
_QUESTIONS = 100
_WARM_UP = 5


class Talks(NamedTuple):
    """Conversations of a set: their turns, and questions with the places of the turns that answer them."""

    name: str
    threads: tuple[tuple[Block, ...], ...]
    questions: tuple[tuple[str, frozenset[tuple[int, int]]], ...]


def read_talks(folder: Path) -> Iterator[Talks]:
    """Yield the sets whose files lie in a folder."""
    for name, file, read in (
        ("BEAM", "beam/beam_128k_dev.jsonl.gz", read_beam),
        ("MemDaily", "memdaily/memdaily_zh_dev.jsonl", read_memdaily),
    ):
        if (folder / file).is_file():
            talks = read(folder / file)
            questions = [
                (question.text, frozenset((at, turn) for turn in question.useful))
                for at, talk in enumerate(talks)
                for question in talk.questions
            ]
            yield Talks(name, tuple(talk.blocks for talk in talks), tuple(each for each in questions if each[1]))
    if (folder / "selection/locomo_dev.jsonl").is_file():
        conversations = read_locomo(folder / "selection/locomo_dev.jsonl")
        questions = []
        for at, one in enumerate(conversations):
            turn_of = {message: turn for turn, block in enumerate(one.blocks) for message in block.ids}
            questions += [(each.text, frozenset((at, turn_of[e]) for e in each.evidence)) for each in one.questions]
        yield Talks("LoCoMo", tuple(one.blocks for one in conversations), tuple(questions))


def messages_of(user: str, assistant: str) -> list[Message]:
    """Return the messages of a turn; the answer may be empty."""
    return [Message("user", user), Message("assistant", assistant)]


def recall_rows(talks: Talks, stores: dict[str, TableStore], *, ours_only: bool) -> list[dict[str, Any]]:
    """Return a row for each way to search: the share of questions with a needed turn among the first so many."""
    rows = []
    for name, store in stores.items():
        for at, blocks in enumerate(talks.threads):
            messages = [message for block in blocks for message in messages_of(block.user, block.assistant)]
            store.append_messages(talks.name, str(at), messages)
        index = index_of(UserThreads(store, talks.name))

        def search(question: str, index: ChatIndex = index) -> list[tuple[int, int]]:
            return [(int(hit.thread), hit.seq // 2) for hit in index.search(question, limit=max(CUTS)).hits]

        rows.append(_recall_row(f"search_chats, {name}", talks, search))
    if ours_only or missing(BM25S):
        return rows if ours_only else [*rows, {"search": BM25S, "set": NOT_INSTALLED}]
    places = [(at, turn) for at, blocks in enumerate(talks.threads) for turn in range(len(blocks))]
    peer = PEERS[BM25S]([block for blocks in talks.threads for block in blocks])
    return [*rows, _recall_row(BM25S, talks, lambda question: [places[at] for at in peer.rank(question)[: max(CUTS)]])]


def _recall_row(name: str, talks: Talks, search: Callable[[str], Sequence[tuple[int, int]]]) -> dict[str, Any]:
    hits = dict.fromkeys(CUTS, 0)
    for question, needed in talks.questions:
        found = search(question)
        for cut in CUTS:
            hits[cut] += not needed.isdisjoint(found[:cut])
    turns = sum(map(len, talks.threads))
    row = {"set": talks.name, "threads": len(talks.threads), "turns": turns, "questions": len(talks.questions)}
    shares = {f"hit@{cut}": f"{100 * count / len(talks.questions):.1f} %" for cut, count in hits.items()}
    return {"search": name, **row, **shares}


class Database(NamedTuple):
    """A store to fill; ``sizes`` returns the bytes of its own tables and of the index."""

    name: str
    store: TableStore
    sizes: Callable[[], tuple[int, int]]
    tidy: Callable[[], object] = bool


def growth_row(database: Database, turns: int, tenants: int) -> dict[str, Any]:
    """Return what the index of so many turns costs, and how long a search of one tenant takes."""
    threads, stream = turns // _TURNS_A_THREAD, stream_turns(seed=SEED)
    for number in range(threads):
        texts = islice(stream, _TURNS_A_THREAD)
        messages = [message for each in texts for message in messages_of(each.user, each.assistant)]
        database.store.append_messages(_tenant(number * tenants // threads), str(number), messages)
    indexes = [index_of(UserThreads(database.store, _tenant(number))) for number in range(tenants)]
    begin = time.perf_counter()
    for index in indexes:
        index.update(max_messages=2 * turns)
    indexed = time.perf_counter() - begin
    database.tidy()
    stored_bytes, index_bytes = database.sizes()
    timed = time_searches(indexes[0], turns // tenants)
    row = {"database": database.name, "tenants": tenants, "threads": threads, "turns": turns}
    row |= {"store, bytes a turn": round(stored_bytes / turns), "index, bytes a turn": round(index_bytes / turns)}
    return {**row, "indexed a second": round(turns / indexed), **timed}


def time_searches(index: ChatIndex, turns: int) -> dict[str, str]:
    """Return the times of searches, of a look at all threads for what is new, and how many searches find their turn."""
    questions = generate_questions(islice(stream_turns(seed=SEED), turns), turns, _QUESTIONS + _WARM_UP, seed=SEED)
    found, times, cpu, news = 0, list[float](), list[float](), list[float]()
    for number, question in enumerate(questions):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        hits = index.search(question.text).hits
        ended, cpu_ended = time.perf_counter(), time.process_time()
        index.threads.last_seqs()
        if number >= _WARM_UP:
            times.append(1000 * (ended - begin))
            cpu.append(1000 * (cpu_ended - cpu_begin))
            news.append(1000 * (time.perf_counter() - ended))
            thread, turn = divmod(question.target, _TURNS_A_THREAD)
            found += (str(thread), 2 * turn) in {(hit.thread, hit.seq) for hit in hits}
    return {
        "search, ms": f"{statistics.median(times):.1f}",
        "95 %, ms": f"{statistics.quantiles(times, n=20)[-1]:.1f}",
        "CPU here, ms": f"{statistics.median(cpu):.1f}",
        "look at all threads, ms": f"{statistics.median(news):.1f}",
        "hit@5": f"{100 * found / _QUESTIONS:.0f} %",
    }


def _tenant(number: int) -> str:
    return f"{_TENANT}{number}"


@contextmanager
def sqlite_database(folder: str | None) -> Iterator[Database]:
    """Give a store in a file, gone at the end."""
    with tempfile.TemporaryDirectory(dir=folder) as place, SQLiteStore(f"{place}/chats.db") as store:

        def sizes() -> tuple[int, int]:
            files = [file for file in Path(place).rglob("*") if file.is_file()]
            index = sum(file.stat().st_size for file in files if file.parent != Path(place))
            return sum(file.stat().st_size for file in files) - index, index

        yield Database("SQLite", store, sizes)


@contextmanager
def postgres_store(conninfo: str) -> Iterator[Database]:
    """Give a store in a database of its own, gone at the end; what autovacuum does is done once."""
    psycopg: Any = import_module("psycopg")
    query = b"""
    SELECT coalesce(sum(pg_total_relation_size(c.oid)) FILTER (WHERE relname NOT LIKE 'chat%'), 0)::bigint,
    coalesce(sum(pg_total_relation_size(c.oid)) FILTER (WHERE relname LIKE 'chat%'), 0)::bigint
    FROM pg_class AS c WHERE relnamespace = 'gatekeeper'::regnamespace AND relkind = 'r'
    """
    with (
        postgres_database(conninfo) as own,
        import_module("gatekeeper_postgres").PostgresStore(own) as store,
        psycopg.connect(own, autocommit=True) as connection,
    ):
        yield Database(
            "PostgreSQL",
            store,
            lambda: connection.execute(query).fetchone(),
            lambda: connection.execute("VACUUM (ANALYZE)"),
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the tables, write JSON if asked to."""
    parser = options(__doc__, data="beam, memdaily and selection, or some of them", required=False)
    parser.add_argument("--sizes", type=numbers, default=[], help="turns to measure growth with, such as 10000,100000")
    parser.add_argument("--tenants", type=int, default=1, help="tenants that share the turns (1)")
    parser.add_argument("--postgres", default="", metavar="CONNINFO", help="a PostgreSQL server")
    parser.add_argument("--folder", help="folder for the files; default: the system's temporary folder")
    chosen = parser.parse_args(arguments)
    tables: dict[str, list[dict[str, Any]]] = {}
    if chosen.data:
        recall = []
        for talks in read_talks(chosen.data):
            with ExitStack() as opened:
                stores: dict[str, TableStore] = {"SQLite": InMemoryStore()}
                if chosen.postgres:
                    stores["PostgreSQL"] = opened.enter_context(postgres_store(chosen.postgres)).store
                recall += recall_rows(talks, stores, ours_only=chosen.ours_only)
        tables["Questions with a needed turn among the first hits, across all threads"] = recall
    if chosen.sizes:
        rows = []
        for turns in chosen.sizes:
            places = [sqlite_database(chosen.folder)]
            places += [postgres_store(chosen.postgres)] if chosen.postgres else []
            for place in places:
                with place as database:
                    rows.append(growth_row(database, turns, chosen.tenants))
                    print(rows[-1], file=sys.stderr, flush=True)
        tables["Growth of the index and of the time of a search"] = rows
    chosen.postgres = bool(chosen.postgres)  # no secrets in a file
    report(chosen, "mcp_search", tables, cores=os.cpu_count())


if __name__ == "__main__":
    main(sys.argv[1:])
