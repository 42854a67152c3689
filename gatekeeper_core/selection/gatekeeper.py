"""The gatekeeper: text in, the turns that the model needs out.

A query becomes anchors, scores of the turns that share them, the gate's verdict with its link to the newest turn, and
a choice of excerpts (:mod:`gatekeeper_core.selection.planner`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from gatekeeper_core.encoder import TextEncoder, encoder_of
from gatekeeper_core.errors import ConfigError, check_str
from gatekeeper_core.events import GATE, SELECTION
from gatekeeper_core.messages import Turn, common_beginning
from gatekeeper_core.observation import stage
from gatekeeper_core.selection.anchors import MAX_TURN_ANCHORS, count_terms, extract_anchors, query_terms
from gatekeeper_core.selection.constraints import with_constraint
from gatekeeper_core.selection.cues import asking_sentence, read_cues, without_cues
from gatekeeper_core.selection.dates import date_terms
from gatekeeper_core.selection.decisions import explained
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.meaning import Asked, Meaning, TurnVectors, excerpt
from gatekeeper_core.selection.need import need_weights
from gatekeeper_core.selection.planner import GatekeeperConfig, Planner
from gatekeeper_core.selection.records import Record, Records
from gatekeeper_core.selection.retrieval import expand_query, read_query, with_dates
from gatekeeper_core.selection.topic_map import Topic, TopicMap
from gatekeeper_core.selection.topics import judge, read_terms
from gatekeeper_core.selection.trimming import Sentences
from gatekeeper_core.selection.verdicts import Verdict, VerdictLog
from gatekeeper_core.text import split_thinking
from gatekeeper_core.tokens import checked_counter, count_messages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gatekeeper_core.embedding import Embedder
    from gatekeeper_core.selection.cues import Cues
    from gatekeeper_core.selection.need import Reading
    from gatekeeper_core.selection.result import Selection
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["Block", "ContextGatekeeper"]

_GATE_FACTS = ("decision", "reason", "need", "link")
_DEFAULT_CONFIG = GatekeeperConfig()  # one for all: a hundred thousand gatekeepers may be held at the same time


class Block(NamedTuple):
    """One turn of the history, as a read-only value.

    Attributes:
        user_text: the user's text.
        assistant_text: the assistant's text, "" while it is pending.
        tokens_user: tokens of the user's text.
        tokens_assistant: tokens of the assistant's text (of a turn made of messages: of everything but the user's).
        anchors: its anchors as written, without repetition, in the order of their first occurrence.
        turn_id: 0-based position in the current history; a cut back frees the numbers.
    """

    user_text: str
    assistant_text: str
    tokens_user: int
    tokens_assistant: int
    anchors: list[str]
    turn_id: int


class _Blocks(Sequence[Block]):
    """The turns as blocks, each made on demand."""

    def __init__(self, records: Sequence[Record], turn_count: int) -> None:
        self._records = records
        self._turn_count = turn_count

    def __len__(self) -> int:
        return self._turn_count

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | Sequence[Block]:
        positions = range(self._turn_count)[index]
        if isinstance(positions, range):
            return tuple(self._block(position) for position in positions)
        return self._block(positions)

    def _block(self, turn_id: int) -> Block:
        record = self._records[turn_id]
        sides = (extract_anchors(text, limit=MAX_TURN_ANCHORS) for text in (record.user, record.assistant))
        anchors = dict.fromkeys(anchor.text for side in sides for anchor in side if anchor.kind != "character")
        return Block(*record[:4], anchors=list(anchors), turn_id=turn_id)


class ContextGatekeeper:
    """Chooses, from the earlier turns of one conversation, the smallest set that a query needs.

    Selecting changes nothing: the same turns, constraints, settings and query give the same answer, on every machine.
    Safe to use from several threads.

    Args:
        token_budget: what the chosen turns may cost together, at least 1. Constraints have a cap of their own.
        config: the settings.
        token_counter: counts the tokens of a text; None takes :class:`~gatekeeper_core.token_estimate.TokenEstimator`.
        embedder: gives vectors of texts, so that turns are found that share no word with the query; a ``TextEncoder``
            may serve several gatekeepers. Vectors are made when a turn is added, those of :meth:`sync` at the next
            question; where they fail or come late, words alone decide until the next of these. None: words alone.

    Raises:
        ConfigError: the budget is not positive.
        TypeError: an argument has the wrong type.

    >>> gatekeeper = ContextGatekeeper(token_budget=200)
    >>> gatekeeper.add_turn("Which port does Redis use?", "Redis listens on 6379 by default.")
    >>> gatekeeper.add_turn("New topic: how do I bake sourdough?", "Feed the starter, fold, proof, bake at 240 °C.")
    >>> [turn["turn_id"] for turn in gatekeeper.select("What was the Redis port again?")]
    [0]
    """

    def __init__(
        self,
        token_budget: int = 4000,
        *,
        config: GatekeeperConfig | None = None,
        token_counter: TokenCounter | None = None,
        embedder: Embedder | TextEncoder | None = None,
    ) -> None:
        if config is not None and not isinstance(config, GatekeeperConfig):
            raise TypeError(f"config must be a GatekeeperConfig, got {type(config).__name__}")
        self._token_budget = _checked_budget(token_budget)
        self._config = config or _DEFAULT_CONFIG
        self._count = checked_counter(token_counter)
        self._sentences = Sentences(self._count)
        self._constraints: dict[str, str] = {}
        self._lock = threading.RLock()
        self._records = Records()
        self._verdicts = VerdictLog()
        self._index = TurnIndex()
        self._topic_map = TopicMap()
        self._weights = need_weights()
        self._encoder = encoder_of(embedder)
        self._vectors = TurnVectors()
        self._is_embedded = True  # False: turns may wait for their vectors until the next question
        self._history_tokens = 0
        self._synced: tuple[object, ...] | None = None
        self._judged: tuple[str, Verdict] | None = None

    def __repr__(self) -> str:
        """Return the budget, the strategy, and how much it holds; no text of the conversation."""
        with self._lock:
            turns, tokens = len(self._records), self._history_tokens
        budget, strategy = self._token_budget, self._config.strategy
        return f"ContextGatekeeper(token_budget={budget}, {strategy=}, {turns=}, {tokens=})"

    @property
    def token_budget(self) -> int:
        """The token limit of the chosen turns together."""
        return self._token_budget

    @property
    def config(self) -> GatekeeperConfig:
        """The settings."""
        return self._config

    @property
    def token_counter(self) -> TokenCounter:
        """The token counter."""
        return self._count

    @property
    def turn_tokens(self) -> tuple[int, ...]:
        """The cost of each whole turn in tokens, oldest first; each at least 1."""
        with self._lock:
            return self._records.tokens

    @property
    def turns(self) -> Sequence[Block]:
        """The turns so far, oldest first, as read-only blocks made on demand."""
        with self._lock:
            return _Blocks(self._records, len(self._records))

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topics of the conversation so far, oldest first; the last one is active."""
        with self._lock:
            return self._topic_map.topics

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The gate's verdict on each turn's user text, read against the turns before it."""
        with self._lock:
            return tuple(self._verdicts)

    def set_embedder(self, embedder: Embedder | TextEncoder | None) -> None:
        """Take another embedder from now on, None for words alone; the one that is in use changes nothing.

        The vectors of another name go; those of the new one are made at the next add.

        Raises:
            TypeError: it is no embedder.
        """
        with self._lock:
            known = self._encoder
            if embedder is known or (known is not None and known.is_of(embedder)):
                return
            self._encoder = encoder_of(embedder)
            if known is None or self._encoder is None or known.name != self._encoder.name:
                self._vectors = TurnVectors()
                self._vectors.extend(len(self._records) if self._encoder else 0)

    def add_turn(self, user_text: str, assistant_text: str) -> None:
        """Add one turn to the history.

        Args:
            user_text: what the user said.
            assistant_text: what the assistant answered; "" for a turn that waits for its answer. What it thought aloud
                at the start (``<think>``) is left out.

        Raises:
            TypeError: an argument is no text.
        """
        _check_text("user_text", user_text)
        _check_text("assistant_text", assistant_text)
        with self._lock:
            self._append(self._record((user_text, assistant_text)))
        self._embed_missing()

    def sync(self, turns: Iterable[Turn | tuple[str, str]]) -> None:
        """Make the history equal to the given turns, at the price of what differs.

        The longest common beginning stays; what comes after it is cut back and what is new is added.

        Args:
            turns: all turns, oldest first: ``Turn`` values or ``(user, assistant)`` pairs.

        Raises:
            TypeError: an element is neither; the history stays as it was.
        """
        self._is_embedded = False
        if turns is self._synced:
            return
        listed = turns if isinstance(turns, tuple) else tuple(turns)
        with self._lock:
            known = same = common_beginning(self._synced or (), listed)  # no look inside what is the same object
            wanted = [_checked_turn(position, turn) for position, turn in enumerate(listed[known:], known)]
            self._synced = None
            for turn in wanted:
                if same == len(self._records) or not self._records[same].equals(turn):
                    break
                same += 1
            fresh = [self._record(turn) for turn in wanted[same - known :]]
            self._cut(same)
            for record in fresh:
                self._append(record)
            if isinstance(turns, tuple) and all(isinstance(turn, Turn) for turn in wanted):
                self._synced = turns  # it cannot change: to see it again is to see the same

    def select(self, query: str) -> list[dict[str, str | int]]:
        """Return the turns that the query needs, oldest first.

        Args:
            query: the new question; it is not added to the history.

        Returns:
            Dicts with exactly the keys ``user``, ``assistant`` and ``turn_id``; their tokens sum to the budget at most.

        Raises:
            TypeError: the query is no text.
        """
        chosen = self.explain(query).turns
        return [{"user": turn.user, "assistant": turn.assistant, "turn_id": turn.turn_id} for turn in chosen]

    def explain(
        self,
        query: str,
        *,
        token_budget: int | None = None,
        strategy: Literal["gate", "fill"] | None = None,
        coverage: float | None = None,
        trim: bool | None = None,
        asked_at: datetime | None = None,
    ) -> Selection:
        """Return the same choice as :meth:`select`, with the reason for everything.

        Args:
            query: the new question.
            token_budget: another budget for this call; None takes that of the gatekeeper, as with the next three.
            strategy: ``gate`` or ``fill``, see ``GatekeeperConfig``.
            coverage: the share of what the answer needs that is to be sent, 0..1.
            trim: whether long messages are cut.
            asked_at: when it is asked: "yesterday" counts from that day. None takes the day of the newest turn; where
                that tells none, such words are words like others.

        Raises:
            TypeError: the query is no text, or ``asked_at`` no datetime.
            ConfigError: the budget is not positive, or a setting is out of range.
        """
        _check_text("query", query)
        budget = self._token_budget if token_budget is None else _checked_budget(token_budget)
        given: dict[str, Any] = {"strategy": strategy, "coverage": coverage, "trim": trim}
        changed = {name: value for name, value in given.items() if value not in (None, getattr(self._config, name))}
        config = replace(self._config, **changed) if changed else self._config
        if asked_at is not None and not isinstance(asked_at, datetime):
            raise TypeError(f"asked_at must be a datetime or None, got {type(asked_at).__name__}")
        with stage(SELECTION) as seen:
            asked = self._asked(query)
            with self._lock:
                selection = self._selection(query, asked, config, budget=budget, asked_at=asked_at)
            seen.tell(selection.facts)
            return selection

    def _selection(
        self, query: str, asked: Asked | None, config: GatekeeperConfig, *, budget: int, asked_at: datetime | None
    ) -> Selection:
        """Return the choice for a question; see :meth:`explain`."""
        read, cues = read_query(query, self._index, about=without_cues(query)), read_cues(query)
        reading = self._read(query, read.idf)
        verdict = self._judge(query, reading, cues)
        newest_day = self._records[-1].day if self._records else None
        dated = with_dates(read, self._index, newest_day if asked_at is None else asked_at.date())
        planner = Planner(
            query=expand_query(dated, self._index),
            cues=cues,
            verdict=verdict,
            reading=reading,
            starts=self._topic_map.starts,
            index=self._index,
            records=self._records,
            history_tokens=self._history_tokens,
            token_budget=budget,
            config=config,
            sentences=self._sentences,
            weights=self._weights,
            meaning=Meaning(asked, self._vectors) if asked else None,
        )
        planner.choose()
        return explained(planner, self._constraints)

    def set_constraint(self, key: str, value: str) -> None:
        """Set a stable constraint; the same key again replaces its value.

        Raises:
            TypeError: the key or the value is no text.
            ConstraintLimitError: the zone would outgrow its cap; nothing is changed.
        """
        with self._lock:
            cap, before = self._config.constraint_tokens, self._constraints
            self._constraints = with_constraint(before, key, value, max_tokens=cap, count=self._count)

    def remove_constraint(self, key: str) -> bool:
        """Remove a stable constraint and return whether it was there."""
        with self._lock:
            return self._constraints.pop(key, None) is not None

    def get_constraints(self) -> dict[str, str]:
        """Return a copy of all constraints, in the order in which they were first set."""
        with self._lock:
            return dict(self._constraints)

    def _record(self, turn: Turn | tuple[str, str]) -> Record:
        if isinstance(turn, Turn):
            user = [message for message in turn.messages if message.role == "user"]
            rest = [message for message in turn.messages if message.role != "user"]
            tokens_user, tokens_rest = (count_messages(side, token_counter=self._count) for side in (user, rest))
            return Record(turn.user_text, turn.assistant_text, tokens_user, tokens_rest, source=turn)
        question, answer = turn[0], split_thinking(turn[1])[1]
        return Record(question, answer, self._count(question), self._count(answer))

    def _append(self, record: Record) -> None:
        user_terms, assistant_terms = count_terms(record.user), count_terms(record.assistant)
        if self._judged is not None and self._judged[0] == record.user:
            verdict = self._judged[1]
        else:
            about = without_cues(record.user)
            terms = query_terms(about, counts=user_terms if about == record.user else None)
            verdict = self._verdict(self._read(record.user, terms), read_cues(record.user))
        self._index.add(_date_terms(record) | user_terms, assistant_terms, texts=_openings(record))
        self._topic_map.add(verdict, {**user_terms, **assistant_terms}.keys())
        self._verdicts.append(verdict)
        self._records.append(record)
        if self._encoder:
            self._vectors.extend(1)
        self._history_tokens += record.tokens
        self._synced = self._judged = None

    def _read(self, text: str, terms: Collection[str]) -> Reading | None:
        """Return the terms of a question, read against the conversation; None where that is empty."""
        if not self._records:
            return None
        reading = read_terms(terms, self._topic_map, self._index)
        sentence = asking_sentence(text)
        if sentence is None:
            return reading
        question = read_terms(query_terms(without_cues(sentence)), self._topic_map, self._index)
        return reading._replace(last_question=max(question.newest, question.elsewhere))

    def _verdict(self, reading: Reading | None, cues: Cues) -> Verdict:
        newest_tokens = self._records.tokens_of(len(self._records) - 1) if self._records else 0
        config, weights = self._config.gate, self._weights
        return judge(reading, cues, self._topic_map, newest_tokens=newest_tokens, config=config, weights=weights)

    def _judge(self, query: str, reading: Reading | None, cues: Cues) -> Verdict:
        """Return the gate's verdict on a question, and keep it: mostly the question is the next turn's user text."""
        with stage(GATE) as seen:
            verdict = self._verdict(reading, cues)
            topics = self._topic_map.topic_count
            seen.tell(lambda: {"topics": topics, **{name: getattr(verdict, name) for name in _GATE_FACTS}})
        self._judged = query, verdict
        return verdict

    def _embed_missing(self) -> None:
        """Make the vectors that are missing, outside of the lock; what fails is tried again at the next add.

        The newest come first: where time is short they are asked for most, and texts that the embedder has no vector
        for fill no batch before them.
        """
        encoder = self._encoder
        if encoder is None:
            return
        with self._lock:
            texts = {turn_id: excerpt(*self._records.text_of(turn_id)) for turn_id in self._vectors.missing()[::-1]}
        made = encoder.encode(list(texts.values())).vectors
        with self._lock:
            # Meanwhile turns may have been cut, or embedded by another thread.
            missing = {*self._vectors.missing()} if encoder is self._encoder else {}
            for (turn_id, text), vector in zip(texts.items(), made, strict=True):
                if vector and turn_id in missing and excerpt(*self._records.text_of(turn_id)) == text:
                    self._vectors.put(turn_id, vector)

    def _asked(self, query: str) -> Asked | None:
        """Return a question, embedded; None without an embedder."""
        encoder = self._encoder
        if encoder is None:
            return None
        if not self._is_embedded:
            self._embed_missing()
            self._is_embedded = True  # not before: another question that is asked meanwhile sees no half of it
        (vector,), missed = encoder.encode_query(excerpt(query))
        calibration = encoder.calibration if vector else None
        if vector is None or calibration is None:
            return Asked(encoder.name, missed=missed or ("not_calibrated" if vector else "no_vector"))
        return Asked(encoder.name, vector, *calibration)

    def _cut(self, turn_count: int) -> None:
        """Keep the first turns; what reads the list of records from before keeps its own."""
        if turn_count == len(self._records):
            return
        self._judged, self._sentences = None, Sentences(self._count)
        for record in reversed(self._records[turn_count:]):
            terms = count_terms(record.user) | count_terms(record.assistant)
            self._index.remove_last(_date_terms(record) | terms)
            self._history_tokens -= record.tokens
        self._records = self._records.first(turn_count)
        self._verdicts.cut(turn_count)
        self._vectors = self._vectors.first(turn_count)
        newest = self._records[-TopicMap.NEWEST :]
        sides = [count_terms(record.user).keys() | count_terms(record.assistant).keys() for record in newest]
        self._topic_map.cut(turn_count, newest=sides)


def _date_terms(record: Record) -> dict[str, int]:
    """Return the terms of the day on which a turn was written, where it is known."""
    return dict.fromkeys(date_terms(record.day), 1) if record.day is not None else {}


def _openings(record: Record) -> tuple[str, str]:
    """Return how both sides of a turn begin, with the names that its messages carry."""
    if record.source is None:
        return record.user, record.assistant
    names: dict[str, str] = {}
    for message in record.source.messages:
        if message.name:
            names.setdefault(message.role, f"{message.name}: ")
    return names.get("user", record.user), names.get("assistant", record.assistant)


def _check_text(name: str, text: object) -> None:
    check_str(f"{name}", text)


def _checked_budget(token_budget: int) -> int:
    if isinstance(token_budget, bool) or not isinstance(token_budget, int):
        raise TypeError(f"token_budget must be an int, got {type(token_budget).__name__}")
    if token_budget < 1:
        raise ConfigError(f"token_budget must be 1 or more tokens, got {token_budget}")
    return token_budget


def _checked_turn(position: int, turn: object) -> Turn | tuple[str, str]:
    if isinstance(turn, Turn):
        return turn
    if isinstance(turn, tuple | list) and len(turn) == 2:
        for side, text in enumerate(turn):
            if not isinstance(text, str):
                _check_text(f"turns[{position}][{side}]", text)
        return tuple(turn)
    raise TypeError(f"turns[{position}] must be a Turn or a (user, assistant) pair, got {type(turn).__name__}")
