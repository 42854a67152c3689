"""The current run of an agent made smaller while it grows, before anything of the past is given up.

::

    run over its room? ──> 1 compress its results, oldest first ──> 2 fold its oldest answered rounds
                             each until a share of the room is reached; the newest rounds stay whole
    cheaper by now?    ──> compress the results of its old rounds, where a pointer leads back to them

The run is gone through from its beginning, message by message, as it grew. So each step of a run, also one that another
process resumes, folds the same rounds, and the beginning of the prompt changes only where a further round is folded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from gatekeeper_core.context.compaction.run_bill import RunBill
from gatekeeper_core.context.compaction.shrink import compress, compressed, drop_pointers
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
        settled: position of the last message before those that may give way next to save money: a cache mark goes
            there. None: without prices, and while all may.
    """

    folded: tuple[int, ...]
    replaced: tuple[tuple[int, Message], ...]
    tokens: int
    peak_tokens: int
    settled: int | None = None


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
    ``tokens_at`` gives the cost of the message at a position. With ``prices`` results also give way where that is
    cheaper; what a call then reads begins with ``before_tokens``, which must be the same at each step of the run. What
    ``compress_result`` raises passes.
    """
    whole = sum(map(tokens_at, positions))
    bill = RunBill(prices, before_tokens) if prices and config.compress_result else None
    if whole <= room and bill is None:
        return ShrunkRun((), (), whole, whole)  # and it was within its room at every step before
    run = messages[positions.start : positions.stop]
    ledger = Ledger((), token_counter=token_counter, max_tokens=room)
    shrinking = _Shrinking(messages, ledger, config, question)
    finished = {one.positions[-1]: one for one in read_rounds(run) if one.answered}
    rounds: list[Round] = []
    whole, peak = before_tokens, 0
    for place, at in enumerate(positions):
        ledger.add(run[place], at, tokens_at(at))
        whole += tokens_at(at)
        if place in finished:
            rounds.append(finished[place])
        if ledger.is_over():
            shrinking.give_way(rounds, share=1.0 if room < 0 else config.low_water)
        if bill and place in finished:
            bill.begin_call(whole)
            shrinking.save(rounds, bill, before_tokens=before_tokens)
        peak = max(peak, ledger.tokens)
    folded = shrinking.folded
    gone = frozenset(folded[1:])
    replaced = tuple(
        (positions[place], message)
        for place, message in enumerate(ledger.messages)
        if message is not run[place] and place not in gone
    )
    settled = next((positions[place] for place in reversed(range(shrinking.settled)) if place not in gone), None)
    return ShrunkRun(tuple(positions[place] for place in folded), replaced, ledger.tokens, peak, settled)


@dataclass(slots=True)
class _OldRound:
    """A round whose results may give way to save money.

    Attributes:
        number: of the round in its run, from 0.
        places: of its results.
        offers: compressed results by their places, with what they cost; None: nothing asked for them yet.
    """

    number: int
    places: tuple[int, ...]
    offers: dict[int, tuple[Message, int]] | None = None

    def gain(self, costs: Sequence[int]) -> int:
        """Return how many tokens its results can save; before the offers are known, all that they have."""
        if self.offers is None:
            return sum(costs[place] for place in self.places)
        return sum(max(0, costs[place] - tokens) for place, (_, tokens) in self.offers.items())


class _Shrinking:
    """A run that gives way as it grows.

    Attributes:
        folded: the places of the folded rounds, the first of which holds the summary.
        settled: how many places at the beginning can save nothing more.
    """

    def __init__(self, messages: Sequence[Message], ledger: Ledger, config: RunConfig, question: str) -> None:
        self._messages = messages
        self._ledger = ledger
        self._config = config
        self._question = question
        self._locale = config.locale or locale_of([question])
        self._memory = config.memory
        self._compressed = 0
        self._counts = Counts()
        self._old: list[_OldRound] = []
        self._changed = sys.maxsize  # the first place that changed since the last call
        self.folded: list[int] = []
        self.settled = 0

    @cached_property
    def _results(self) -> ToolResults | None:
        config = self._config
        if config.compress_result is None:
            return None
        # Pointers of the whole window are live, also those behind a result.
        return ToolResults(
            self._messages,
            config.compress_result,
            query=self._question,
            thread_id=config.thread_id,
            tenant=config.tenant,
        )

    def give_way(self, rounds: Sequence[Round], *, share: float) -> None:
        """Compress results, then fold rounds, the oldest first, until the run is within a share of its room."""
        ledger = self._ledger
        while self._results and self._compressed < len(rounds) and ledger.is_over(share):
            places, age = rounds[self._compressed].positions[1:], len(rounds) - 1 - self._compressed
            if compress(ledger, self._results, places, age_rounds=age):
                self._changed = min(self._changed, places[0])
            self._compressed += 1
        while self._counts.rounds < len(rounds) - self._config.keep_recent_rounds and ledger.is_over(share):
            self._fold(rounds[self._counts.rounds])
        if self.folded and ledger.is_over():
            drop_pointers(ledger, self.folded[0])
            self._changed = min(self._changed, self.folded[0])

    def save(self, rounds: Sequence[Round], bill: RunBill, *, before_tokens: int) -> None:
        """Compress the results of all old rounds together where that pays, and put the call on the bill."""
        ledger, measure = self._ledger, self._ledger.measures[1]
        newest = len(rounds) - 1 - self._config.keep_recent_rounds
        if newest >= 0:
            self._old.append(_OldRound(newest, rounds[newest].positions[1:]))
        tokens, stop = before_tokens + ledger.tokens, len(ledger.messages)
        same = tokens - measure.cost_of(range(min(self._changed, stop), stop))
        self._leave_out_what_saves_nothing()
        while self._old:
            gains = [one.gain(measure.costs) for one in self._old]
            carried = sum(gain * (newest - one.number) for gain, one in zip(gains, self._old, strict=True))
            asked = all(one.offers is not None for one in self._old)
            smaller = max(tokens - sum(gains), 0 if asked else bill.smallest)
            smaller_same = min(same, tokens - measure.cost_of(range(self.settled, stop)))
            if not bill.pays(tokens, smaller, same=same, smaller_same=smaller_same, carried=carried):
                break
            if asked:
                self._take_offers()
                same = smaller_same
            else:
                self._ask_for_offers(len(rounds))
                self._leave_out_what_saves_nothing()
        bill.end_call(before_tokens + ledger.tokens, same=same)
        self._changed = sys.maxsize

    def _leave_out_what_saves_nothing(self) -> None:
        costs = self._ledger.measures[1].costs
        while self._old and not self._old[0].gain(costs):
            self.settled = self._old.pop(0).places[-1] + 1
        self._old = [one for one in self._old if one.gain(costs)]

    def _ask_for_offers(self, round_count: int) -> None:
        """Ask what the old results would be like; only what a pointer leads back to may go."""
        results, ledger = self._results, self._ledger
        for one in self._old:
            if one.offers is not None or results is None:
                continue
            one.offers = {}
            for place in one.places:
                shorter = compressed(ledger, results, place, age_rounds=round_count - 1 - one.number)
                if shorter and our_pointers([shorter], self._memory):
                    one.offers[place] = (shorter, ledger.measures[1].cost(shorter))

    def _take_offers(self) -> None:
        ledger = self._ledger
        for one in self._old:
            for place, (shorter, tokens) in (one.offers or {}).items():
                if tokens < ledger.measures[1].costs[place]:
                    ledger.put(place, shorter)
        self.settled = self._old.pop().places[-1] + 1
        self._old = []

    def _fold(self, one: Round) -> None:
        """Fold one more round: the summary is written anew, with the pointers in what was sent."""
        ledger = self._ledger
        sent = [ledger.messages[place] for place in (*self.folded[:1], *one.all_positions)]
        ledger.drop(one.all_positions)
        self.folded += one.all_positions
        self._counts = self._counts.plus(Counts(1, one.calls))
        self._changed = min(self._changed, self.folded[0])
        pointers = our_pointers(sent, self._memory)
        ledger.put(self.folded[0], summary_of(self._counts, self._locale, pointers=pointers))
