"""The gatekeeper, which selects the earlier turns that a model needs.

A query becomes anchors, scores of the turns that share them, the topic decision with its link to the newest turn, and a
choice of excerpts (:mod:`gatekeeper_core.selection.planner`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from gatekeeper_core.arguments import missing_attribute, with_suggestions
from gatekeeper_core.caching import LruCache
from gatekeeper_core.embedding import Embedder
from gatekeeper_core.encoder import TextEncoder, encoder_of
from gatekeeper_core.errors import check_str, check_type
from gatekeeper_core.events import GATE, SELECTION
from gatekeeper_core.messages import Turn, common_beginning
from gatekeeper_core.observation import stage
from gatekeeper_core.selection.anchors import count_terms, query_terms
from gatekeeper_core.selection.blocks import Block
from gatekeeper_core.selection.constraints import with_constraint
from gatekeeper_core.selection.cues import Cues, read_cues, without_cues
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.meaning import Meaning, QueryVector, excerpt
from gatekeeper_core.selection.need import Reading, need_weights
from gatekeeper_core.selection.planner import Conversation, Planner, Question
from gatekeeper_core.selection.result import Selection, selection_of
from gatekeeper_core.selection.retrieval import expand_query, read_query
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_core.selection.topics import Topic, TopicMap, Verdict, judge, read_question
from gatekeeper_core.selection.trimming import Sentences
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter
from gatekeeper_core.vectors import PackedVector

_DEFAULT_CONFIG = GatekeeperConfig()  # shared: a process may hold a hundred thousand gatekeepers


@with_suggestions()
class ContextGatekeeper:
    """A selector of the few earlier turns of a conversation that a query needs.

    Selecting changes nothing: the same turns, constraints, settings and query give the same answer on every machine.
    Thread-safe.

    Args:
        token_budget: token limit of all chosen turns, at least 1. Constraints have their own cap.
        config: the settings.
        token_counter: counts the tokens of a text; default: :class:`~gatekeeper_core.token_estimate.TokenEstimator`.
        embedder: returns vectors of texts, to find turns that share no word with the query; several gatekeepers may
            share a ``TextEncoder``. Vectors are computed when a turn is added, after :meth:`sync` at the next question;
            if they fail or are late, only words are used. None disables semantic search.

    Raises:
        ConfigError: the budget is not positive.
        TypeError: an argument has the wrong type.

    Attributes:
        derived: cache for values that other code of this package derives from the turns, by name.

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
        check_type("config", config, GatekeeperConfig, None)
        check_tokens("token_budget", token_budget, at_least=1)
        self._token_budget = token_budget
        self._config = config or _DEFAULT_CONFIG
        self._count = checked_counter(token_counter)
        self._sentences = Sentences(self._count)
        self._constraints: dict[str, str] = {}
        self._lock = threading.RLock()
        self._blocks: list[Block] = []
        self._index = TurnIndex()
        self._topic_map = TopicMap()
        self._weights = need_weights()
        self._encoder = encoder_of(embedder)
        self._vectors: list[PackedVector | None] = []
        self._is_embedded = True  # False: turns may wait for their vectors until the next question
        self._history_tokens = 0
        self._synced: tuple[object, ...] | None = None
        self._judged: tuple[str, Verdict] | None = None
        self.derived: LruCache[str, Any] = LruCache(max_entries=8)

    if not TYPE_CHECKING:  # a type checker knows the names

        def __getattr__(self, name):
            raise missing_attribute("a ContextGatekeeper", name, [*vars(ContextGatekeeper)])

    def __repr__(self) -> str:
        """Return the budget, the strategy and the size of the history; no text of the conversation."""
        with self._lock:
            turns, tokens = len(self._blocks), self._history_tokens
        budget, strategy = self._token_budget, self._config.strategy
        return f"ContextGatekeeper(token_budget={budget}, {strategy=}, {turns=}, {tokens=})"

    @property
    def token_budget(self) -> int:
        """The token limit of all chosen turns."""
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
        """Cost of each whole turn in tokens, oldest first; each at least 1."""
        with self._lock:
            return tuple([block.tokens for block in self._blocks])

    @property
    def turns(self) -> Sequence[Block]:
        """The turns so far, oldest first, as read-only blocks."""
        with self._lock:
            return tuple(self._blocks)

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topics of the conversation so far, oldest first; the last one is active."""
        with self._lock:
            return self._topic_map.topics

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The topic decision on each turn, given the turns before it."""
        with self._lock:
            return tuple(self._topic_map.verdicts)

    def add_turn(self, user_text: str, assistant_text: str) -> None:
        """Add one turn to the history.

        Args:
            user_text: what the user said.
            assistant_text: what the assistant answered; "" for a turn that waits for its answer. Leading thinking
                (``<think>``) is ignored.

        Raises:
            TypeError: an argument is not a str.
        """
        check_str("user_text", user_text)
        check_str("assistant_text", assistant_text)
        with self._lock:
            self._append(Block.of((user_text, assistant_text), len(self._blocks), self._count))
        self._embed_missing()

    def sync(self, turns: Iterable[Turn | tuple[str, str]]) -> None:
        """Make the history equal to the given turns; only turns after the longest common beginning are processed.

        Args:
            turns: all turns, oldest first: ``Turn`` values or ``(user, assistant)`` pairs.

        Raises:
            TypeError: an element is neither; the history is unchanged.
        """
        self._is_embedded = False
        if turns is self._synced:
            return
        listed = turns if isinstance(turns, tuple) else tuple(turns)
        with self._lock:
            cached = same = common_beginning(self._synced or (), listed)  # identical objects are not compared
            changed = [_checked_turn(position, turn) for position, turn in enumerate(listed[cached:], cached)]
            self._synced = None
            for turn in changed:
                if same == len(self._blocks) or not self._blocks[same].equals(turn):
                    break
                same += 1
            new = [Block.of(turn, same + at, self._count) for at, turn in enumerate(changed[same - cached :])]
            self._cut(same)
            for block in new:
                self._append(block)
            if isinstance(turns, tuple) and all(isinstance(turn, Turn) for turn in changed):
                self._synced = turns  # immutable: the same object means the same turns

    def select(self, query: str) -> list[dict[str, str | int]]:
        """Return the turns that the query needs, oldest first.

        Args:
            query: the new question; it is not added to the history.

        Returns:
            Dicts with exactly the keys ``user``, ``assistant`` and ``turn_id``; together they fit the budget.

        Raises:
            TypeError: the query is not a str.
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
        """Return the same choice as :meth:`select`, with the reasons.

        Args:
            query: the new question.
            token_budget: budget for this call; None: that of the gatekeeper, likewise for the next three.
            strategy: ``gate`` or ``fill``, see ``GatekeeperConfig``.
            coverage: share of what the answer needs to send, 0..1.
            trim: whether long messages are cut.
            asked_at: time of the question, from which "yesterday" counts; defaults to the day of the newest turn. If
                neither is known, such words count as ordinary words.

        Raises:
            TypeError: the query is not a str, or ``asked_at`` not a datetime.
            ConfigError: the budget is not positive, or a setting is out of range.
        """
        check_str("query", query)
        budget = self._token_budget if token_budget is None else token_budget
        check_tokens("token_budget", budget, at_least=1)
        options: dict[str, Any] = {"strategy": strategy, "coverage": coverage, "trim": trim}
        changed = {name: value for name, value in options.items() if value not in (None, getattr(self._config, name))}
        config = replace(self._config, **changed) if changed else self._config
        check_type("asked_at", asked_at, datetime, None)
        with stage(SELECTION) as seen:
            vector = self._query_vector(query)
            with self._lock:
                question = self._question(query, vector, asked_at)
                conversation = Conversation(
                    blocks=self._blocks,
                    turn_count=len(self._blocks),
                    tokens=self._history_tokens,
                    index=self._index,
                    starts=tuple(self._topic_map.starts),
                    sentences=self._sentences,
                )
                planner = Planner(question, conversation, config, token_budget=budget)
                planner.choose()
                selection = selection_of(planner, self._constraints)
            seen.tell(selection.facts)
            return selection

    def _question(self, text: str, vector: QueryVector | None, asked_at: datetime | None) -> Question:
        query, cues = read_query(text, self._index, about=without_cues(text)), read_cues(text)
        reading = read_question(text, query.idf, self._topic_map, self._index)
        with stage(GATE) as seen:
            verdict = self._verdict(reading, cues)
            facts = {name: getattr(verdict, name) for name in ("decision", "reason", "need", "link")}
            seen.tell(lambda: {"topics": len(self._topic_map.starts), **facts})
        self._judged = text, verdict  # usually the question becomes the next turn's user text
        newest_day = self._blocks[-1].day if self._blocks else None
        query = expand_query(query, self._index, newest_day if asked_at is None else asked_at.date())
        meaning = Meaning(vector, self._vectors) if vector else None
        return Question(query, cues, reading, verdict, self._weights, meaning)

    def set_constraint(self, key: str, value: str) -> None:
        """Set a constraint; setting the same key again replaces its value.

        Raises:
            TypeError: the key or the value is not a str.
            ConstraintLimitError: the constraints would exceed their cap; nothing is changed.
        """
        with self._lock:
            self._constraints = with_constraint(self._constraints, key, value, count=self._count)

    def remove_constraint(self, key: str) -> bool:
        """Remove a constraint, and return whether it existed."""
        with self._lock:
            return self._constraints.pop(key, None) is not None

    def get_constraints(self) -> dict[str, str]:
        """Return a copy of all constraints, in the order they were first set."""
        with self._lock:
            return dict(self._constraints)

    def _append(self, block: Block) -> None:
        user_terms, assistant_terms = count_terms(block.user_text), count_terms(block.assistant_text)
        if self._judged is not None and self._judged[0] == block.user_text:
            verdict = self._judged[1]
        else:
            about = without_cues(block.user_text)
            terms = query_terms(about, counts=user_terms if about == block.user_text else None)
            reading = read_question(block.user_text, terms, self._topic_map, self._index)
            verdict = self._verdict(reading, read_cues(block.user_text))
        self._index.add(block.date_terms | user_terms, assistant_terms, texts=block.openings)
        self._topic_map.add(verdict, {**user_terms, **assistant_terms}.keys())
        self._blocks.append(block)
        if self._encoder:
            self._vectors.append(None)
        self._history_tokens += block.tokens
        self._synced = self._judged = None

    def _verdict(self, reading: Reading | None, cues: Cues) -> Verdict:
        tokens = self._blocks[-1].tokens if self._blocks else 0
        return judge(reading, cues, self._topic_map, newest_tokens=tokens, config=self._config, weights=self._weights)

    def _embed_missing(self) -> None:
        """Compute missing vectors outside the lock; failures are retried at the next call.

        Newest first: if time is short they matter most, and texts that the embedder fails on do not delay them.
        """
        encoder = self._encoder
        if encoder is None:
            return
        with self._lock:
            missing = [at for at, vector in enumerate(self._vectors) if vector is None][::-1]
            texts = {at: excerpt(*self._blocks[at].texts) for at in missing}
        vectors = encoder.encode(list(texts.values())).vectors
        with self._lock:
            # Meanwhile turns may have been cut, or embedded by another thread.
            for (at, text), vector in zip(texts.items(), vectors, strict=True):
                is_missing = at < len(self._vectors) and self._vectors[at] is None
                if vector and is_missing and excerpt(*self._blocks[at].texts) == text:
                    self._vectors[at] = vector

    def _query_vector(self, query: str) -> QueryVector | None:
        encoder = self._encoder
        if encoder is None:
            return None
        if not self._is_embedded:
            self._embed_missing()
            self._is_embedded = True  # not earlier: a concurrent question must not see half of the vectors
        (vector,), missed = encoder.encode_query(excerpt(query))
        calibration = encoder.calibration if vector else None
        if vector is None or calibration is None:
            return QueryVector(encoder.name, missed=missed or ("not_calibrated" if vector else "no_vector"))
        return QueryVector(encoder.name, vector, *calibration)

    def _cut(self, turn_count: int) -> None:
        """Keep the first ``turn_count`` turns; earlier selections keep their own list of blocks."""
        if turn_count == len(self._blocks):
            return
        self._judged, self._sentences = None, Sentences(self._count)
        for block in reversed(self._blocks[turn_count:]):
            self._index.remove_last(block.date_terms | count_terms(block.user_text) | count_terms(block.assistant_text))
            self._history_tokens -= block.tokens
        self._blocks, self._vectors = self._blocks[:turn_count], self._vectors[:turn_count]
        newest = [map(count_terms, block.texts) for block in self._blocks[-TopicMap.NEWEST :]]
        self._topic_map.cut(turn_count, newest=[user.keys() | assistant.keys() for user, assistant in newest])


def _checked_turn(position: int, turn: object) -> Turn | tuple[str, str]:
    if isinstance(turn, Turn):
        return turn
    if isinstance(turn, tuple | list) and len(turn) == 2:
        for side, text in enumerate(turn):
            if not isinstance(text, str):
                check_str(f"turns[{position}][{side}]", text)
        return tuple(turn)
    raise TypeError(f"turns[{position}] must be a Turn or a (user, assistant) pair, got {type(turn).__name__}")
