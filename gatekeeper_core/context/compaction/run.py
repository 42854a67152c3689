"""The current run of an agent made smaller while it grows, before anything of the past is given up.

::

    run over its room? ──> 1 compress its results, oldest first ──> 2 fold its oldest answered rounds
                             each until a share of the room is reached; the newest rounds stay whole
    cheaper by now?    ──> compress the results of all its old rounds; see ``run_costs``

The run is gone through from its beginning, message by message, as it grew. So each step of a run, also one that another
process resumes, folds the same rounds, and the beginning of the prompt changes only where a further round is folded.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.context.compaction.ledger import Ledger
from gatekeeper_core.context.compaction.rounds import (
    Counts,
    Round,
    check_language_and_memory,
    our_pointers,
    read_rounds,
    summary_of,
)
from gatekeeper_core.context.compaction.run_costs import RunSavings
from gatekeeper_core.context.compaction.shrink import compress, drop_pointers
from gatekeeper_core.context.tool_results.context import ResultCompressor, ToolResults, memory_of
from gatekeeper_core.errors import check_range
from gatekeeper_core.messages import Message
from gatekeeper_core.text import Locale, locale_of
from gatekeeper_core.tokens import TokenCounter

if TYPE_CHECKING:
    from gatekeeper_core.pricing.prices import ModelPrices

__all__ = ["RunConfig", "ShrunkRun", "shrink_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """How the current run gives way when a request is over its limit.

    Attributes:
        keep_recent_rounds: newest answered rounds that are never folded, nor compressed to save money, >= 0. Source:
            specification 002-22.
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
        check_language_and_memory(self.locale, self.working_memory)

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
        peak_tokens: the most that it cost at any of its steps.
        stable: position of the last message before those that gave way to save money since the step before: a cache
            mark there finds what it left. None: there is no such message, or no prices.
    """

    folded: tuple[int, ...]
    replaced: tuple[tuple[int, Message], ...]
    tokens: int
    peak_tokens: int
    stable: int | None = None


def shrink_run(
    messages: Sequence[Message],
    positions: range,
    *,
    room: int,
    tokens_at: Callable[[int], int],
    token_counter: TokenCounter,
    config: RunConfig,
    question: str = "",
    prices: ModelPrices | None = None,
    before_tokens: int = 0,
) -> ShrunkRun:
    """Return what is sent of a run of a conversation, so that it keeps to its room where that can be done.

    ``positions`` are those of the run, without the user's question; ``room`` is in tokens and may be negative;
    ``tokens_at`` gives the cost of the message at a position. With ``prices`` results are also compressed where that
    is cheaper; then ``before_tokens``, what stands before the run, must be the same at each of its steps. What
    ``compress_result`` raises passes.
    """
    whole = sum(map(tokens_at, positions))
    if whole <= room and (prices is None or config.compress_result is None):
        return ShrunkRun((), (), whole, whole)  # and it was within its room at every step before
    run = messages[positions.start : positions.stop]
    ledger = Ledger((), token_counter=token_counter, max_tokens=room)
    # Pointers of the whole window are live, also those behind a result.
    results = None
    if config.compress_result:
        results = ToolResults(
            messages, config.compress_result, query=question, thread_id=config.thread_id, tenant=config.tenant
        )
    savings = None
    if prices and results:
        savings = RunSavings(
            ledger,
            results,
            prices,
            before_tokens=before_tokens,
            keep_recent_rounds=config.keep_recent_rounds,
            working_memory=config.memory,
        )
    finished = {one.positions[-1]: one for one in read_rounds(run) if one.answered}
    shrinking = _Shrinking(ledger, results, config, config.locale or locale_of([question]))
    rounds: list[Round] = []
    whole = peak = 0
    for place, at in enumerate(positions):
        ledger.add(run[place], at, tokens_at(at))
        whole += tokens_at(at)
        if place in finished:
            rounds.append(finished[place])
        if ledger.is_over():
            if savings:
                savings.take_all(rounds)
            shrinking.give_way(rounds, share=1.0 if room < 0 else config.low_water)
        if savings and place in finished:
            savings.call(rounds, whole)
        peak = max(peak, ledger.tokens)
    folded = shrinking.folded
    gone = frozenset(folded[1:])
    replaced = tuple(
        (positions[place], message)
        for place, message in enumerate(ledger.messages)
        if message is not run[place] and place not in gone
    )
    sent = (positions[place] for place in reversed(range(savings.stable if savings else 0)) if place not in gone)
    return ShrunkRun(tuple(positions[place] for place in folded), replaced, ledger.tokens, peak, next(sent, None))


class _Shrinking:
    """A run that gives way as it grows.

    Attributes:
        folded: the places of the folded rounds, the first of which holds the summary.
    """

    def __init__(self, ledger: Ledger, results: ToolResults | None, config: RunConfig, locale: Locale) -> None:
        self._ledger = ledger
        self._results = results
        self._config = config
        self._locale = locale
        self._memory = config.memory
        self._compressed = 0
        self._counts = Counts()
        self.folded: list[int] = []

    def give_way(self, rounds: Sequence[Round], *, share: float) -> None:
        """Compress results, then fold rounds, the oldest first, until the run is within a share of its room."""
        ledger = self._ledger
        while self._results and self._compressed < len(rounds) and ledger.is_over(share):
            age = len(rounds) - 1 - self._compressed
            compress(ledger, self._results, rounds[self._compressed].positions[1:], age_rounds=age)
            self._compressed += 1
        while self._counts.rounds < len(rounds) - self._config.keep_recent_rounds and ledger.is_over(share):
            self._fold(rounds[self._counts.rounds])
        if self.folded and ledger.is_over():
            drop_pointers(ledger, self.folded[0])

    def _fold(self, one: Round) -> None:
        """Fold one more round: the summary is written anew, with the pointers in what was sent."""
        ledger = self._ledger
        sent = [ledger.messages[place] for place in (*self.folded[:1], *one.all_positions)]
        ledger.drop(one.all_positions)
        self.folded += one.all_positions
        self._counts = self._counts.plus(Counts(1, one.calls))
        pointers = our_pointers(sent, self._memory)
        ledger.put(self.folded[0], summary_of(self._counts, self._locale, pointers=pointers))
