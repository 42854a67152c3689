"""The current run of an agent made smaller while it grows, before anything of the past is given up.

::

    run over its room? ──> 1 compress its results, oldest first ──> 2 fold its oldest answered rounds
                             each until a share of the room is reached; the newest rounds stay whole

The run is gone through from its beginning, message by message, as it grew. So each step of a run, also one that another
process resumes, folds the same rounds, and the beginning of the prompt changes only where a further round is folded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, get_args

from gatekeeper_core.context.compaction.rounds import (
    Counts,
    Round,
    check_memory,
    narration_before,
    our_pointers,
    pointers_of,
    read_rounds,
    summary_of,
    without_pointers,
)
from gatekeeper_core.context.tool_results.context import ResultCompressor, ThreadedCompressor, ToolResults, memory_of
from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.messages import Message
from gatekeeper_core.text import Locale, locale_of
from gatekeeper_core.tokens import TokenCounter, count_message

__all__ = ["RunConfig", "ShrunkRun", "shrink_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """How the current run gives way when a request is over its limit.

    Attributes:
        keep_recent_rounds: newest answered rounds that are never folded, >= 0. Source: specification 002-22.
        low_water: share of the room that is aimed at, 0..1. Source: specification 002-32.
        compress_result: makes the text of a tool message smaller, as ``ToolResultCompressor`` does; None: nothing does.
            It is called for the same messages at each step: it must give the same text, and should remember it. One
            that serves many threads (``ThreadResultCompressor``) has to be told the thread: see ``for_thread``.
        working_memory: the ``WorkingMemory`` of the thread, or the ids that it holds: only these pointers stay. None:
            that of ``compress_result``; without any, pointers in results that it compressed.
        locale: language of the placeholder, ``zh`` or ``en``; None: that of the question.
    """

    keep_recent_rounds: int = 3
    low_water: float = 0.6
    compress_result: ResultCompressor | None = None
    working_memory: Container[str] | None = None
    locale: Locale | None = None

    def __post_init__(self) -> None:
        check_range(self, "keep_recent_rounds", low=0, whole=True)
        check_range(self, "low_water", low=0, high=1)
        if self.compress_result is not None and not callable(self.compress_result):
            raise TypeError(f"RunConfig.compress_result must be callable, got {type(self.compress_result).__name__}")
        check_memory(self.working_memory)
        if self.locale is not None and self.locale not in get_args(Locale):
            raise ConfigError(f'RunConfig.locale must be "zh", "en" or None, got {self.locale!r}')

    def for_thread(self, thread_id: str | None, *, tenant: str = "default") -> RunConfig:
        """Return the settings for one thread: with its own compressor, where ``compress_result`` has one for each.

        Args:
            thread_id: names the thread; None: it has no name.
            tenant: names whose thread it is.

        Raises:
            Exception: whatever the compressor's ``for_thread`` raises.
        """
        if not isinstance(self.compress_result, ThreadedCompressor):
            return self
        return replace(self, compress_result=self.compress_result.for_thread(thread_id, tenant=tenant))


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
    locale = config.locale or locale_of([question])
    replay = _Replay(messages, room, tokens_at, token_counter, config, locale, question)
    finished = {one.positions[-1]: one for one in _rounds_within(messages, positions) if one.answered}
    for at in positions:
        replay.add(at, finished.get(at))
    return replay.result()


def _rounds_within(messages: Sequence[Message], positions: range) -> list[Round]:
    found = read_rounds(messages[positions.start : positions.stop])
    return [one._replace(positions=tuple(at + positions.start for at in one.positions)) for one in found]


class _Replay:
    """A run as it grows."""

    def __init__(
        self,
        messages: Sequence[Message],
        room: int,
        tokens_at: Callable[[int], int],
        token_counter: TokenCounter,
        config: RunConfig,
        locale: Locale,
        question: str,
    ) -> None:
        self._messages = messages
        self._room = room
        self._mark = room if room < 0 else int(room * config.low_water)
        self._tokens_at = tokens_at
        self._count = token_counter
        self._config = config
        self._locale = locale
        self._question = question
        self._memory = memory_of(config.compress_result) if config.working_memory is None else config.working_memory
        self._results: ToolResults | None = None
        self._rounds: list[Round] = []
        self._compressed_rounds = self._folded_rounds = 0
        self._costs: dict[int, int] = {}
        self._replaced: dict[int, Message] = {}
        self._folded: list[int] = []
        self._summary: Message | None = None
        self._tokens = self._peak = self._summary_tokens = 0

    def add(self, at: int, finished: Round | None) -> None:
        """Add the next message, and the round that it finishes."""
        self._costs[at] = self._tokens_at(at)
        self._tokens += self._costs[at]
        if finished:
            self._rounds.append(finished)
        if self._tokens > self._room:
            self._compress()
            self._fold()
            self._drop_pointers()
        self._peak = max(self._peak, self._tokens)

    def result(self) -> ShrunkRun:
        """Return what is sent of the run as it is now."""
        folded = tuple(sorted(self._folded))
        replaced = dict(self._replaced)
        if self._summary is not None:
            replaced[folded[0]] = self._summary
        return ShrunkRun(folded, tuple(sorted(replaced.items())), self._tokens, self._peak)

    def _compress(self) -> None:
        compress = self._config.compress_result
        if compress is None:
            return
        # Pointers of the whole window are live, also those behind this place: made once, and only where it is needed.
        self._results = self._results or ToolResults(self._messages, compress, query=self._question)
        while self._tokens > self._mark and self._compressed_rounds < len(self._rounds):
            self._compress_round(self._results)
            self._compressed_rounds += 1

    def _compress_round(self, results: ToolResults) -> None:
        """Compress the oldest round that was not compressed yet, as old as it is at this step."""
        age = len(self._rounds) - 1 - self._compressed_rounds
        for at in self._rounds[self._compressed_rounds].positions[1:]:
            shorter = results.smaller(at, self._messages[at], age_rounds=age)
            if shorter is None:
                continue
            cost = count_message(shorter, token_counter=self._count)
            if cost < self._costs[at]:
                self._tokens += cost - self._costs[at]
                self._costs[at] = cost
                self._replaced[at] = shorter

    def _fold(self) -> None:
        may_go = len(self._rounds) - self._config.keep_recent_rounds
        while self._tokens > self._mark and self._folded_rounds < may_go:
            one = self._rounds[self._folded_rounds]
            self._folded_rounds += 1
            sent = []
            for at in (*narration_before(self._messages, one.positions[0]), *one.positions):
                self._tokens -= self._costs[at]
                sent.append(self._replaced.pop(at, self._messages[at]))
                self._folded.append(at)
            self._write_summary(sent)

    def _write_summary(self, sent: Sequence[Message]) -> None:
        """Write the summary anew, with the pointers in one more round as it was sent."""
        folded = self._rounds[: self._folded_rounds]
        counts = Counts(len(folded), sum(one.calls for one in folded))
        before = [self._summary] if self._summary else []
        pointers = our_pointers([*before, *sent], self._memory)
        self._put_summary(summary_of(counts, self._locale, pointers=pointers))

    def _put_summary(self, summary: Message) -> None:
        cost = count_message(summary, token_counter=self._count)
        self._tokens += cost - self._summary_tokens
        self._summary, self._summary_tokens = summary, cost

    def _drop_pointers(self) -> None:
        """Drop the oldest pointers of the summary, as few as it takes to keep to the room, all where none will do."""
        summary = self._summary
        if summary is None or self._tokens <= self._room:
            return

        def holds(dropped: int) -> bool:
            self._put_summary(without_pointers(summary, dropped))
            return self._tokens <= self._room

        count = len(pointers_of([summary.text]))
        self._put_summary(without_pointers(summary, bisect_left(range(count), True, key=holds)))
