"""Compaction of an agent's current run as it grows, before any past turn is dropped.

::

    run over its room? ──> 1 compress its results, oldest first ──> 2 fold its oldest answered rounds
                             each until a share of the room is reached; a line of each call stays
    over it without the past? ──> 3 cut the results of the newest rounds, then fold all rounds but the last
    cheaper by now?    ──> compress the results of all its old rounds, or keep only their pointers; see ``RunBill``

The run is replayed from its beginning, message by message. So each step, even in another process that resumes the run,
folds the same rounds, and the beginning of the prompt changes only when a further round is folded.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.history.call_log import CallLog, LiveIdentifiers
from gatekeeper_core.context.history.ledger import CountedMessages
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.rounds import (
    RESULT_FLOORS,
    Counts,
    Round,
    compressed,
    drop_pointers,
    our_pointers,
    read_rounds,
    summary_of,
    without_body,
)
from gatekeeper_core.context.tool_results.context import ResultCompressor, ToolResults
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.errors import check_range
from gatekeeper_core.messages import Message, common_beginning, with_text
from gatekeeper_core.pricing.cache import FIRST_CUT, MOST, input_cost
from gatekeeper_core.text import locale_of
from gatekeeper_core.tokens import TokenCounter

if TYPE_CHECKING:
    from gatekeeper_core.pricing.prices import ModelPrices

_COMPRESSED, _POINTERS = 0, 1  # the forms of an offer

_NEWEST_SHARE = 0.5
"""Share of the room that the newest rounds of a long run may use; above it all but the last are folded. Source: ours,
``python -m benchmarks.agent_runs``: coding runs at 4,000 tokens cost 0.68 of everything, not 0.84, and the prompt holds
96.5 % of the values that the next call uses, not 96.3."""

_LOG_SHARE, _CALLS_SHARE = 0.2, 0.1
"""Shares of the room for the log of folded calls, and for the lines of calls in it. Source: ours, recorded runs of
agents; each chosen on one half of the coding runs and confirmed on the other."""


@with_suggestions()
@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """Settings for compacting a run when a request exceeds its limit.

    Attributes:
        keep_recent_rounds: newest answered rounds, >= 0, neither compressed to save money nor folded while the past or
            their results can shrink, unless they use over half the room; the last stays. Source: specification 002-22.
        low_water: target share of the room, 0..1. Source: specification 002-32.
        compress_result: shortens the text of a tool message, as ``ToolResultCompressor`` does; None turns this off. It
            is called for the same messages at each step, so it must return the same text, and should cache it. If it
            has a ``working_memory``, only pointers in that memory stay.
    """

    keep_recent_rounds: int = 3
    low_water: float = 0.6
    compress_result: ResultCompressor | None = None

    def __post_init__(self) -> None:
        check_range(self, "keep_recent_rounds", low=0, integer=True)
        check_range(self, "low_water", low=0, high=1)
        if self.compress_result is not None and not callable(self.compress_result):
            raise TypeError(f"RunConfig.compress_result must be callable, got {type(self.compress_result).__name__}")

    @property
    def memory(self) -> Container[str] | None:
        """The pointer ids in the working memory of the compressor, which is the thread's."""
        memory = getattr(self.compress_result, "working_memory", None)
        return memory if isinstance(memory, Container) else None


class ShrunkRun(NamedTuple):
    """The part of a run that is sent.

    Attributes:
        folded: positions that the summary replaces, ascending; it is at the first of them.
        replaced: position and new message of the summary and of shortened results.
        tokens: current cost of the run.
        peak_tokens: highest cost at any of its steps.
        stable: position of the last message before those shortened to save money since the previous step: a cache mark
            there hits what that step left. None: no such message, or no prices.
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
    config: RunConfig | None,
    request: HistoryRequest,
    prices: ModelPrices | None = None,
    past_tokens: int = 0,
    before_tokens: int = 0,
    kept: LruCache[str, Any] | None = None,
) -> ShrunkRun:
    """Return the part of a run that is sent, within its room if possible; all of it without a ``config``.

    ``positions`` are those of the run, without the user's question; ``room`` is in tokens and may be negative. Rounds
    shrink so that ``past_tokens`` of past turns fit beside them; results are cut only if the run alone is over the
    room. ``tokens_at`` returns the cost of the message at a position; ``request`` has the question, the language and
    whether results are cut. With ``prices``, results are also compressed if that is cheaper; then ``before_tokens``,
    what precedes the run, must be the same at each of its steps. Errors of ``compress_result`` propagate. ``kept``
    holds the run of the previous step, to continue it; without it the run is read from its first message.
    """
    run_tokens = sum(map(tokens_at, positions))
    may_save = config is not None and config.compress_result is not None and prices is not None
    if config is None or (run_tokens <= room - past_tokens and not may_save):
        return ShrunkRun((), (), run_tokens, run_tokens)  # and it was within its room at every step before
    run = messages[positions.start : positions.stop]
    rounds = [one for one in read_rounds(run) if one.answered]
    call = (request.query, request.locale, request.cut_results)
    key = (positions.start, room, past_tokens, before_tokens, prices, config, call)
    kept = LruCache(max_entries=1) if kept is None else kept
    key_before, growing = kept.pop("run") or ((), None)  # lost if the compressor raises
    if growing is None or key_before != key or not growing.is_beginning_of(run, rounds):
        ledger = CountedMessages((), token_counter=token_counter, max_tokens=room - past_tokens)
        bill = RunBill(prices, before_tokens) if may_save and prices else None
        growing = _GrowingRun(positions.start, ledger, bill, config, request, room)
    if config.compress_result:  # pointers of the whole window are live, even after a result
        growing.results = ToolResults(messages, config.compress_result, query=request.query or "")
    ended = {one.positions[-1]: one for one in rounds}
    for place in range(len(growing.run), len(run)):
        growing.add(run[place], tokens_at(positions[place]), ended.get(place))
    kept.put("run", (key, growing))
    return growing.shrunk()


class RunBill:
    """The input bill of a run, call by call, next to that of sending everything; the cache stays warm.

    Prompts are in tokens, including what precedes the run; money is in dollars. Shrinking by price pays in long runs of
    large results: ``python -m benchmarks.agent_loop``, 100 rounds at 100,000 tokens: 0.41 of everything, not 0.78.

    Args:
        prices: of the model.
        before_tokens: what precedes the run; the cache holds it when the run begins.

    Attributes:
        smallest: the smallest prompt that is cached; 0 if none is.
    """

    def __init__(self, prices: ModelPrices, before_tokens: int) -> None:
        self._prices = prices
        self.smallest = prices.min_cached_tokens or 0
        self.before = self._cached = self._full_tokens = before_tokens
        self.paid = self.everything = self._cost(before_tokens, before_tokens)
        self._changed = False

    def begin_call(self, everything_tokens: int) -> None:
        """Begin a call whose prompt would have ``everything_tokens`` if nothing were shortened."""
        self.everything += self._cost(everything_tokens, self._full_tokens)
        self._full_tokens = everything_tokens

    def pays(self, tokens: int, smaller: int, *, same: int, smaller_same: int, carried: int) -> bool:
        """Return whether a smaller prompt pays, by rent or buy.

        Args:
            tokens: the prompt of this call.
            smaller: the smaller prompt that it could be.
            same: leading tokens that are unchanged since the previous call.
            smaller_same: the same for the smaller prompt.
            carried: tokens that the smaller prompt would have saved in earlier calls.

        Source: Karlin et al. 1988, "Competitive snoopy caching": buy when the rent paid so far reaches the price.
        """
        if smaller >= tokens or (not self._changed and self._full_tokens - smaller < FIRST_CUT * self._full_tokens):
            return False
        price = self._cost(smaller, smaller_same) - self._cost(tokens, same)
        return price <= carried * self._prices.cache_read / 1_000_000

    def allows(self, smaller: int, *, smaller_same: int) -> bool:
        """Return whether a smaller prompt keeps the bill within the promise, now and at each later call.

        No later call costs more than with everything: the prompt is cacheable, and saves what rounded hits may lose.
        """
        prices, gain = self._prices, self._full_tokens - smaller
        rounding = abs(prices.cache_write - prices.cache_read) * (prices.step_tokens - 1)
        if self.smallest and (smaller < self.smallest or gain * prices.cache_read < rounding):
            return False
        return self.paid + self._cost(smaller, smaller_same) <= MOST * self.everything

    def end_call(self, tokens: int, *, same: int) -> None:
        """Pay for the call: ``tokens``, the first ``same`` of which are unchanged since the previous call."""
        self.paid += self._cost(tokens, same)
        self._cached = tokens
        self._changed = self._changed or tokens < self._full_tokens

    def _cost(self, tokens: int, same: int) -> float:
        cached = min(same, self._cached)
        return input_cost(tokens, cached=cached, written_to=tokens, prices=self._prices)


class _GrowingRun:
    """A run that shrinks as it grows: when over its room, and with a bill also when that is cheaper.

    Args:
        start: position of its first message.
        ledger: counts its messages; still empty.
        bill: None: the run shrinks only for lack of room.
        config, request: as for :func:`shrink_run`.
        most: tokens that it may use once the past is dropped.

    Attributes:
        run: the original messages so far.
        results: compresses results of the current conversation; None without a compressor.
        folded: the places of the folded rounds, the first of which holds the summary.
        stable: number of leading places with nothing left to save after the call before the last one.
    """

    def __init__(
        self,
        start: int,
        ledger: CountedMessages,
        bill: RunBill | None,
        config: RunConfig,
        request: HistoryRequest,
        most: int,
    ) -> None:
        measure, question = ledger.measures[-1], request.query or ""
        self.run: list[Message] = []
        self.results: ToolResults | None = None
        self._start = start
        self._rounds: list[Round] = []
        self._full_tokens = self._peak = 0
        self._ledger = ledger
        self._bill = bill
        self._low_water = 1.0 if measure.limit < 0 else config.low_water
        self._keep = config.keep_recent_rounds
        self._can_cut = request.cut_results
        self._memory = config.memory
        self._locale = request.locale or locale_of([question])
        self._most = most
        self._log = CallLog(measure.counter, _CALLS_SHARE * most)
        self._live = LiveIdentifiers(question)
        self._compressed_rounds = self._folded_rounds = 0
        self._unwritten: list[int] = []
        self._offers: dict[int, tuple[tuple[Message, int], ...]] = {}  # the forms that a result may take, by place
        self._done = 0  # rounds that can save nothing more
        self._settled = self._settled_before = 0
        self._sent: list[Message] = []  # at the previous call, by place
        self.folded: list[int] = []
        self.stable = 0

    def is_beginning_of(self, run: Sequence[Message], rounds: Sequence[Round]) -> bool:
        """Return whether the run so far is the beginning of these messages, with the same answered rounds."""
        count = len(self.run)
        return [*run[:count]] == self.run and [one for one in rounds if one.positions[-1] < count] == self._rounds

    def add(self, message: Message, tokens: int, ended: Round | None) -> None:
        """Add a message, and shrink the run if needed; ``ended`` is the round that the message completes."""
        self.run.append(message)
        self._ledger.add(message, tokens)
        self._live.add(message)
        self._full_tokens += tokens
        if ended:
            self._rounds.append(ended)
        if self._ledger.is_over():
            self.give_way()
        if ended and self._bill:
            self.call(self._bill)
        self._peak = max(self._peak, self._ledger.tokens)

    def shrunk(self) -> ShrunkRun:
        """Return the part of the run that is sent."""
        start, gone = self._start, self._ledger.gone
        replaced = tuple(
            (start + place, message)
            for place, message in enumerate(self._ledger.messages)
            if message is not self.run[place] and place not in gone
        )
        stable = next((start + place for place in reversed(range(self.stable)) if place not in gone), None)
        folded = tuple(start + place for place in self.folded)
        return ShrunkRun(folded, replaced, self._ledger.tokens, self._peak, stable)

    def give_way(self) -> None:
        """Compress results, then fold rounds, the oldest first, until the run is within a share of its room."""
        ledger, rounds, share = self._ledger, self._rounds, self._low_water
        if self._bill:
            self._ask()
            self._take(_POINTERS)  # of all old results: the prompt changes anyway
        while self.results and self._compressed_rounds < len(rounds) and ledger.is_over(share):
            for place in rounds[self._compressed_rounds].positions[1:]:
                if shorter := self._shorter(place, self._compressed_rounds):
                    ledger.put(place, shorter)
            self._compressed_rounds += 1
        costs = ledger.measures[-1].costs
        while self._folded_rounds < len(rounds) - 1 and ledger.is_over(share):
            newest = sum(costs[place] for one in rounds[self._folded_rounds :] for place in one.all_positions)
            is_long = self._can_cut and len(rounds) > self._keep and newest > _NEWEST_SHARE * self._most
            if self._folded_rounds >= len(rounds) - self._keep and not is_long:
                break
            self._fold()
        self._write()
        if ledger.tokens > self._most:
            self._cut()

    def _cut(self) -> None:
        """Cut results to a few lines, fold all rounds but the last, drop pointers and log, then cut results further.

        Oldest first, until the run fits without the past; without ``cut_results``, only pointers and log are dropped.
        """
        ledger, measure = self._ledger, self._ledger.measures[-1]
        room, measure.limit = measure.limit, self._most
        if self._can_cut:
            self._cut_results(RESULT_FLOORS)
        while self._can_cut and self._folded_rounds < len(self._rounds) - 1 and ledger.is_over():
            self._fold()
        self._write()
        if self.folded and ledger.is_over():
            drop_pointers(ledger, self.folded[0])
        if self.folded and ledger.is_over():
            ledger.put(self.folded[0], without_body(ledger.messages[self.folded[0]]))
        if self._can_cut:
            self._cut_results((0, 0))
        measure.limit = room

    def _cut_results(self, floors: Sequence[int]) -> None:
        messages = self._ledger.messages
        results = [place for place in self._ledger.places if messages[place].role == "tool"]
        self._ledger.cut(results, locale=self._locale, floors=floors)

    def _fold(self) -> None:
        """Fold the next round; until the summary is written, it counts as a full log."""
        ledger, one = self._ledger, self._rounds[self._folded_rounds]
        self._log.add([ledger.messages[one.positions[0]]])
        ledger.drop(one.all_positions)
        self._folded_rounds += 1
        self.folded += one.all_positions
        self._unwritten += one.all_positions
        ledger.measures[-1].put(self.folded[0], max(0, round(_LOG_SHARE * self._most)))

    def _write(self) -> None:
        """Write the summary: pointers of the folded messages, the log of calls, and identifiers that are still live."""
        ledger = self._ledger
        if self._unwritten:
            places = dict.fromkeys((self.folded[0], *self._unwritten))
            pointers = our_pointers([ledger.messages[place] for place in places], self._memory)
            body = self._log.text(pointers, identifiers=self._live.of(self.folded), room=_LOG_SHARE * self._most)
            counts = Counts(self._folded_rounds, sum(one.calls for one in self._rounds[: self._folded_rounds]))
            ledger.put(self.folded[0], summary_of(counts, self._locale, pointers=pointers, body=body))
            self._unwritten = []

    def call(self, bill: RunBill) -> None:
        """Account for a model call after these rounds, and compress results as soon as that pays."""
        ledger, costs = self._ledger, self._ledger.measures[-1].costs
        self.stable = self._settled_before
        bill.begin_call(bill.before + self._full_tokens)
        tokens, unchanged = bill.before + ledger.tokens, common_beginning(self._sent, ledger.messages)
        same = bill.before + sum(costs[:unchanged])
        if unchanged < len(self._sent):
            self._settle()
        while gains := self._gains(_COMPRESSED):
            newest = max(gains)
            is_known = self._rounds[newest].positions[1] in self._offers
            least = 0 if is_known else bill.smallest  # the best possible
            sizes = [max(least, tokens - sum(self._gains(form).values())) for form in (_COMPRESSED, _POINTERS)]
            carried = sum(gain * (self._old - 1 - number) for number, gain in gains.items())
            settled = min(same, tokens - sum(costs[self._settled :]))
            pays = bill.pays(tokens, sizes[_COMPRESSED], same=same, smaller_same=settled, carried=carried)
            forms = [form for form, size in enumerate(sizes) if pays and bill.allows(size, smaller_same=settled)]
            if not forms:
                break
            if is_known:
                self._take(forms[0])  # pointers alone if the promise allows only the smaller prompt
                same = settled
            else:
                self._ask()
        bill.end_call(bill.before + ledger.tokens, same=same)
        self._sent, self._settled_before = [*ledger.messages], self._settled

    @property
    def _old(self) -> int:
        """The number of old rounds, whose results may shrink to save money."""
        return max(0, len(self._rounds) - self._keep)

    def _gains(self, form: int) -> dict[int, int]:
        """Return how many tokens each old round saves in a form; its maximum until the compressor was asked."""
        costs = self._ledger.measures[-1].costs

        def gain(place: int) -> int:
            return max(0, costs[place] - (self._offers[place][form][1] if place in self._offers else 0))

        gains = {at: sum(map(gain, self._rounds[at].positions[1:])) for at in range(self._done, self._old)}
        return {number: tokens for number, tokens in gains.items() if tokens}

    def _ask(self) -> None:
        """Ask the compressor for the old results; a result without a valid pointer to it stays whole."""
        for number in self._gains(_COMPRESSED):
            for place in self._rounds[number].positions[1:]:
                if place not in self._offers:
                    forms = [self._ledger.messages[place]] * 2
                    shorter = self._shorter(place, number)
                    if shorter and our_pointers([shorter], self._memory):
                        lines = [line for line in shorter.text.split("\n") if pointers_in(line)]
                        forms = [shorter, with_text(shorter, "\n".join(lines))]
                    self._offers[place] = tuple((form, self._ledger.measures[-1].cost(form)) for form in forms)
        self._settle()

    def _shorter(self, place: int, number: int) -> Message | None:
        """Return the compressed result in a place, of a round; None if that does not cost less."""
        if self.results is None:
            return None
        age = len(self._rounds) - 1 - number
        return compressed(self._ledger, self.results, place, position=self._start + place, age_rounds=age)

    def _settle(self) -> None:
        """Skip the oldest rounds that can save nothing more."""
        first = min(self._gains(_COMPRESSED), default=self._old)
        if first > self._done:
            self._done, self._settled = first, self._rounds[first - 1].positions[-1] + 1

    def _take(self, form: int) -> None:
        for number in self._gains(_COMPRESSED):
            for place in self._rounds[number].positions[1:]:
                message, tokens = self._offers[place][form]
                if tokens < self._ledger.measures[-1].costs[place]:
                    self._ledger.put(place, message)
            self._settled = self._rounds[number].positions[-1] + 1
        self._done = self._old
