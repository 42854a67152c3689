"""Search across the threads of a user.

::

    ChatSearch ── ChatIndex ── SQLiteIndex      FTS5 in a file of its own, or in memory
                            ── PostgresIndex    one GIN index, in the tables of the store's schema
               ── LogSearch                     a folder of logs, over a SQLiteIndex in memory

    store ──new turns──> terms ──> index ──BM25──> places of turns ──store──> texts

An index holds terms and places, but no text: hits are read from the store, so forgotten text never appears. Terms are
the anchors of the selection (``gatekeeper_core.selection.anchors``); the databases do the rest.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple, Protocol, TypeAlias

from gatekeeper_core.errors import ConfigError, check_str
from gatekeeper_core.messages import Message, Turn, group_turns
from gatekeeper_core.selection.anchors import count_terms, extract_anchors, query_terms, term_weight
from gatekeeper_core.selection.retrieval import Query
from gatekeeper_core.selection.trimming import Excerpt, Sentences, Trimmer
from gatekeeper_core.storage.codec import encode_text
from gatekeeper_core.token_estimate import TokenEstimator
from gatekeeper_core.tokens import check_tokens
from gatekeeper_mcp.threads import UserThreads

Place: TypeAlias = tuple[str, int, int]
"""The place of a turn: thread, first message, and the one after the last."""

MAX_HITS = 20
"""Maximum hits of a search. Source: ours; with 200 tokens each, what an agent reads at once."""

EXCERPT_TOKENS = 200
"""Maximum tokens of the text of a hit. Source: ours; a few sentences of each side."""

K1, B = 1.2, 0.75
"""Constants of BM25. Source: SQLite's FTS5, where they are fixed; so both databases rank alike."""

MAX_RANKED = 20_000
"""Turns to rank, about; beyond that only the rarest terms count. Source: ours; more costs seconds, changes little."""

_MESSAGES_A_SEARCH = 20_000
"""Maximum messages that a search indexes. Source: ours; one or two seconds."""

_MESSAGES_A_BATCH = 1_000
_LIGHTEST = 0.4  # lighter terms count only if the query has no others


@dataclass(frozen=True, slots=True)
class ChatHit:
    """A search hit: one turn.

    Attributes:
        thread: id of its thread.
        seq: sequence number of its first message.
        date: day on which it was written, such as ``2025-03-08``, or None if unknown.
        matched: words of the query that it contains, in the query's order.
        user: the user's text, or the sentences that matter.
        assistant: the answer, likewise.
    """

    thread: str
    seq: int
    date: str | None
    matched: tuple[str, ...]
    user: str
    assistant: str


@dataclass(frozen=True)  # without slots, which the package ``mcp`` takes for defaults
class ChatHits:
    """The result of a search.

    Attributes:
        hits: the turns found, best first.
        pending: threads with messages that are not indexed yet; the next searches index them.
    """

    hits: tuple[ChatHit, ...]
    pending: int = 0


class ChatSearch(Protocol):
    """A search across the threads of one user."""

    def search(self, query: str, /, *, limit: int = 5) -> ChatHits:
        """Return the turns that best match a query, best first.

        Raises:
            TypeError: the query is not a str, or the limit not an int.
            ConfigError: the query is blank, or the limit is not between 1 and 20.
            StorageError: the store or the index cannot be read.
        """

    def read(self, thread: str, /) -> tuple[Message, ...]:
        """Return the messages of a thread, oldest first; none if the user has no such thread."""


class IndexedThread(NamedTuple):
    """The state of a thread in an index: its newest message there, and the first message of its newest turn."""

    last_seq: int
    start: int


class IndexedTurn(NamedTuple):
    """A turn for an index: first message, the one after the last, and terms with their counts."""

    start: int
    stop: int
    terms: Mapping[str, int]


class ThreadUpdate(NamedTuple):
    """The turns of a thread from a message on; they replace the indexed ones."""

    thread: str
    from_seq: int
    last_seq: int
    turns: tuple[IndexedTurn, ...]

    @property
    def state(self) -> IndexedThread:
        """The state of the thread after the update."""
        return IndexedThread(self.last_seq, self.turns[-1].start if self.turns else self.from_seq)


class Frequencies(NamedTuple):
    """Counts of indexed turns."""

    turns: int
    by_term: Mapping[str, int]  # number of turns with a term; terms without turns are missing
    mean_length: float = 0.0  # mean terms per turn; 0.0 if the database has its own ranking

    def idf(self, term: str) -> float:
        """Return the idf of a term. Source: Robertson and Walker 1994, as in FTS5: never below 1e-6."""
        count = self.by_term[term]
        others = max(self.turns - count, 0)  # another process may have written between the two counts
        return max(math.log((others + 0.5) / (count + 0.5)), 1e-6)


def scope_of(threads: UserThreads) -> bytes:
    """Return 16 bytes for a user of a tenant, or for the tenant. Source: BLAKE2b, 128 bits, over names and lengths."""
    parts = [encode_text(threads.tenant), b"" if threads.user is None else b"u" + encode_text(threads.user)]
    return blake2b(b"".join(b"%d:%b" % (len(part), part) for part in parts), digest_size=16).digest()


def check_search(query: str, limit: int) -> None:
    """Check the arguments of a search."""
    if not check_str("query", query).strip():
        raise ConfigError("query must not be blank: use words from the chats")
    check_tokens("limit", limit, at_least=1)
    if limit > MAX_HITS:
        raise ConfigError(f"limit must be between 1 and {MAX_HITS}, got {limit}")


class ChatIndex(ChatSearch):
    """A ``ChatSearch`` over a subclass's index in a database; each search first indexes new messages of the store."""

    def __init__(self, threads: UserThreads) -> None:
        self.threads = threads
        self._sentences = Sentences(TokenEstimator())
        self._version: object = None  # of the store when all of it was indexed

    def search(self, query: str, /, *, limit: int = 5) -> ChatHits:
        """Return the turns that best match a query, as every ``ChatSearch`` does."""
        check_search(query, limit)
        pending = self.update()
        terms = list(query_terms(query))
        telling = [term for term in terms if term_weight(term) >= _LIGHTEST] or terms
        frequencies = self._frequencies(telling)
        rarest = _rarest(frequencies)
        ranked = self._ranked(rarest, frequencies, limit) if rarest else ()
        idf = {term: frequencies.idf(term) for term in frequencies.by_term}
        hits = self._hits(Query(query, extract_anchors(query), idf), ranked)
        return ChatHits(tuple(hits), pending)

    def read(self, thread: str, /) -> tuple[Message, ...]:
        """Return the messages of a thread of the user, oldest first."""
        return self.threads.read(thread)

    def close(self) -> None:
        """Close the index."""

    def update(self, *, max_messages: int = _MESSAGES_A_SEARCH) -> int:
        """Index about ``max_messages`` new messages, and return the number of threads with more."""
        version = self.threads.version()
        if version == self._version:
            return 0
        stored, states = self.threads.last_seqs(), self._indexed()
        gone = [thread for thread, state in states.items() if stored.get(thread, -1) < state.last_seq]
        if gone:
            self.remove(gone)
            states = {thread: state for thread, state in states.items() if stored.get(thread, -1) >= state.last_seq}
        fresh = IndexedThread(-1, 0)
        changed = [thread for thread, last in stored.items() if last > states.get(thread, fresh).last_seq]
        batch, messages = list[ThreadUpdate](), 0
        for at, thread in enumerate(changed):
            state = states.get(thread, fresh)
            while state.last_seq < stored[thread]:
                if max_messages <= 0:
                    self._write(batch)
                    return len(changed) - at
                limit = max(_MESSAGES_A_BATCH, 2 * (state.last_seq - state.start + 1))  # a turn may be longer than that
                update = self._read_turns(thread, state.start, limit)
                if update.last_seq <= state.last_seq:
                    break  # forgotten in the meantime
                batch.append(update)
                state = update.state
                read = update.last_seq + 1 - update.from_seq
                messages, max_messages = messages + read, max_messages - read
                if messages >= _MESSAGES_A_BATCH:
                    self._write(batch)
                    batch, messages = [], 0
        self._write(batch)
        self._version = version
        return 0

    def remove(self, threads: Sequence[str]) -> None:
        """Remove threads and their terms from the index; the next search reads them again."""
        self._version = None
        self._remove(threads)

    @abstractmethod
    def _remove(self, threads: Sequence[str]) -> None: ...

    @abstractmethod
    def _indexed(self) -> dict[str, IndexedThread]:
        """Return the state of each indexed thread."""

    @abstractmethod
    def _write(self, updates: Sequence[ThreadUpdate]) -> None:
        """Store updates, all or none; no updates change nothing."""

    @abstractmethod
    def _frequencies(self, terms: Sequence[str]) -> Frequencies:
        """Return the number of turns of each term."""

    @abstractmethod
    def _ranked(self, terms: Sequence[str], frequencies: Frequencies, limit: int) -> Sequence[Place]:
        """Return the turns with the highest BM25 scores, best first; ties in any fixed order."""

    def _read_turns(self, thread: str, from_seq: int, limit: int) -> ThreadUpdate:
        messages = self.threads.read(thread, from_seq=from_seq, limit=limit)
        turns = [
            IndexedTurn(from_seq + turn.start, from_seq + turn.stop, count_terms(_text(turn)))
            for turn in group_turns(messages)
        ]
        return ThreadUpdate(thread, from_seq, from_seq + len(messages) - 1, tuple(turns))

    def _hits(self, query: Query, ranked: Sequence[Place]) -> Iterator[ChatHit]:
        trimmer, count = Trimmer(query, sentences=self._sentences), self._sentences.count
        words = [(anchor.term, anchor.text) for anchor in query.anchors if anchor.term in query.idf]
        for thread, start, stop in ranked:
            messages = self.threads.read(thread, from_seq=start, limit=stop - start)
            for turn in group_turns(messages)[:1]:
                user, assistant = turn.user_text, turn.assistant_text
                full = Excerpt(user, assistant, count(user), count(assistant))
                part = full if full.tokens <= EXCERPT_TOKENS else trimmer.tight(full, budget_tokens=EXCERPT_TOKENS)
                terms, date = count_terms(_text(turn)), turn.created_at
                yield ChatHit(
                    thread,
                    start,
                    date.date().isoformat() if date else None,
                    tuple(dict.fromkeys(word for term, word in words if term in terms)),
                    part.user if part else "",
                    part.assistant if part else "",
                )


def _text(turn: Turn) -> str:
    return f"{turn.user_text}\n{turn.assistant_text}"


def _rarest(frequencies: Frequencies) -> list[str]:
    """Return the rarest terms, rarest first, up to ``MAX_RANKED`` turns in total, but at least one if any."""
    chosen, turns = list[str](), 0
    for term in sorted(frequencies.by_term, key=frequencies.by_term.__getitem__):
        turns += frequencies.by_term[term]
        if chosen and turns > MAX_RANKED:
            break
        chosen.append(term)
    return chosen
