"""The current run of an agent made smaller while it grows, before anything of the past is given up.

::

    run over its room? ──> 1 compress its results, oldest first ──> 2 fold its oldest answered rounds
                             each until a share of the room is reached; the newest rounds stay whole

The run is gone through from its beginning, message by message, as it grew. So each step of a run, also one that another
process resumes, folds the same rounds, and the beginning of the prompt changes only where a further round is folded.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import NamedTuple, get_args

from gatekeeper_core.context.compaction.ledger import Ledger
from gatekeeper_core.context.compaction.rounds import (
    Counts,
    Round,
    check_memory,
    narration_before,
    our_pointers,
    read_rounds,
    summary_of,
)
from gatekeeper_core.context.compaction.shrink import compress, drop_pointers
from gatekeeper_core.context.tool_results.context import ResultCompressor, ToolResults, memory_of
from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.messages import Message
from gatekeeper_core.text import Locale, locale_of
from gatekeeper_core.tokens import TokenCounter

__all__ = ["RunConfig", "ShrunkRun", "shrink_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """How the current run gives way when a request is over its limit.

    Attributes:
        keep_recent_rounds: newest answered rounds that are never folded, >= 0. Source: specification 002-22.
        low_water: share of the room that is aimed at, 0..1. Source: specification 002-32.
        compress_result: makes the text of a tool message smaller, as ``ToolResultCompressor`` does; None: nothing does.
            It is called for the same messages at each step: it must give the same text, and should remember it.
        working_memory: the ``WorkingMemory`` of the thread, or the ids that it holds: only these pointers stay. None:
            that of ``compress_result``; without any, pointers in results that it compressed.
        locale: language of the placeholder, ``zh`` or ``en``; None: that of the question.
        thread_id: names the thread to ``compress_result``; ``ThreadSelector`` and ``ContextBuilder`` fill it in.
        tenant: names whose thread it is.
    """

    keep_recent_rounds: int = 3
    low_water: float = 0.6
    compress_result: ResultCompressor | None = None
    working_memory: Container[str] | None = None
    locale: Locale | None = None
    thread_id: str | None = None
    tenant: str = "default"

    def __post_init__(self) -> None:
        check_range(self, "keep_recent_rounds", low=0, whole=True)
        check_range(self, "low_water", low=0, high=1)
        if self.compress_result is not None and not callable(self.compress_result):
            raise TypeError(f"RunConfig.compress_result must be callable, got {type(self.compress_result).__name__}")
        check_memory(self.working_memory)
        if self.locale is not None and self.locale not in get_args(Locale):
            raise ConfigError(f'RunConfig.locale must be "zh", "en" or None, got {self.locale!r}')

    @property
    def memory(self) -> Container[str] | None:
        """The ids of the thread's working memory: the one that is given, else that of the compressor."""
        if self.working_memory is not None:
            return self.working_memory
        return memory_of(self.compress_result, self.thread_id, tenant=self.tenant)


class ShrunkRun(NamedTuple):
    """What is sent of a run.

    Attributes:
        folded: positions that the summary stands for, ascending; it takes the place of the first of them.
        replaced: position and message of what is sent in another form: the summary, and compressed results.
        tokens: what the run costs now.
        peak_tokens: the most that it cost at any of its steps: what the past never gets back.
    """

    folded: tuple[int, ...]
    replaced: tuple[tuple[int, Message], ...]
    tokens: int
    peak_tokens: int


def shrink_run(
    messages: Sequence[Message],
    positions: range,
    *,
    room: int,
    tokens_at: Callable[[int], int],
    token_counter: TokenCounter,
    config: RunConfig,
    question: str = "",
) -> ShrunkRun:
    """Return what is sent of a run, so that it keeps to its room where compressing and folding can do that.

    Args:
        messages: the conversation.
        positions: those of the run, without the user's question.
        room: tokens that the run may cost; may be negative.
        tokens_at: what the message at a position costs.
        token_counter: counts a text.
        config: the settings.
        question: the user's text: the query of a compressor, and the language of the placeholder.

    Raises:
        Exception: whatever ``compress_result`` raises.
    """
    whole = sum(map(tokens_at, positions))
    if whole <= room:
        return ShrunkRun((), (), whole, whole)  # and it was within its room at every step before
    replay = _Replay(messages, positions, Ledger((), token_counter=token_counter, max_tokens=room), config, question)
    finished = {one.positions[-1]: one for one in read_rounds(replay.run) if one.answered}
    for place, at in enumerate(positions):
        replay.add(place, tokens_at(at), finished.get(place))
    return replay.result()


class _Replay:
    """A run as it grows; a place is one in the run, a position one in the conversation."""

    def __init__(
        self, messages: Sequence[Message], positions: range, ledger: Ledger, config: RunConfig, question: str
    ) -> None:
        self.run = messages[positions.start : positions.stop]
        self._messages, self._positions = messages, positions
        self._ledger = ledger
        self._share = 1.0 if ledger.measures[1].limit < 0 else config.low_water
        self._config = config
        self._question = question
        self._locale: Locale = config.locale or locale_of([question])
        self._memory = config.memory
        self._results: ToolResults | None = None
        self._rounds: list[Round] = []
        self._compressed = 0
        self._counts = Counts()
        self._folded: list[int] = []
        self._peak = 0

    def add(self, place: int, tokens: int, finished: Round | None) -> None:
        """Add the next message, and the round that it finishes."""
        self._ledger.add(self.run[place], self._positions[place], tokens)
        if finished:
            self._rounds.append(finished)
        if self._ledger.is_over():
            self._compress()
            self._fold()
            if self._folded and self._ledger.is_over():
                drop_pointers(self._ledger, self._folded[0])
        self._peak = max(self._peak, self._ledger.tokens)

    def result(self) -> ShrunkRun:
        """Return what is sent of the run as it is now."""
        gone = frozenset(self._folded[1:])
        replaced = tuple(
            (self._positions[place], message)
            for place, message in enumerate(self._ledger.messages)
            if message is not self.run[place] and place not in gone
        )
        folded = tuple(self._positions[place] for place in self._folded)
        return ShrunkRun(folded, replaced, self._ledger.tokens, self._peak)

    def _compress(self) -> None:
        """Compress the results of the oldest rounds, each round once, as old as it is at this step."""
        compress_result = self._config.compress_result
        while compress_result and self._compressed < len(self._rounds) and self._ledger.is_over(self._share):
            # Pointers of the whole window are live, also those behind this place: made once, and where it is needed.
            self._results = self._results or ToolResults(
                self._messages,
                compress_result,
                query=self._question,
                thread_id=self._config.thread_id,
                tenant=self._config.tenant,
            )
            age = len(self._rounds) - 1 - self._compressed
            compress(self._ledger, self._results, self._rounds[self._compressed].positions[1:], age_rounds=age)
            self._compressed += 1

    def _fold(self) -> None:
        """Fold the oldest rounds into a summary, written anew for each, with the pointers in it as it was sent."""
        ledger, may_go = self._ledger, len(self._rounds) - self._config.keep_recent_rounds
        while self._counts.rounds < may_go and ledger.is_over(self._share):
            one = self._rounds[self._counts.rounds]
            places = [*narration_before(self.run, one.positions[0]), *one.positions]
            sent = [ledger.messages[place] for place in (*self._folded[:1], *places)]
            for place in places:
                ledger.drop(place)
            self._folded += places
            self._counts = self._counts.plus(Counts(1, one.calls))
            pointers = our_pointers(sent, self._memory)
            ledger.put(self._folded[0], summary_of(self._counts, self._locale, pointers=pointers))
