"""Rent or buy in a run: its old results are compressed when carrying them has cost as much as rewriting the prompt.

::

    call ──> old results as compressed, or as their pointers alone ──rent paid?──> ──within the promise?──> compressed

Each call reads what earlier calls had in common with it from the cache, and pays the full price behind the first
change. Only what a pointer leads back to gives way, so the model can read it again.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gatekeeper_core.context.compaction.ledger import Ledger
from gatekeeper_core.context.compaction.rounds import Round, our_pointers
from gatekeeper_core.context.compaction.shrink import compressed
from gatekeeper_core.context.tool_results.context import ToolResults
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.messages import Message, with_text
from gatekeeper_core.pricing.cache import FIRST_CUT, MOST, input_cost

if TYPE_CHECKING:
    from gatekeeper_core.pricing.prices import ModelPrices

__all__ = ["RunBill", "RunSavings"]

_COMPRESSED, _POINTERS = 0, 1  # the forms of an offer


class RunBill:
    """The input bill of a run, call by call, ours beside that of everything sent; the cache stays warm.

    Prompts are in tokens, with what stands before the run; money is in dollars.

    Args:
        prices: of the model.
        before_tokens: what stands before the run; the cache holds it when the run begins.
    """

    __slots__ = ("_cached", "_changed", "_prices", "_whole", "everything", "paid")

    def __init__(self, prices: ModelPrices, before_tokens: int) -> None:
        self._prices = prices
        self._cached = self._whole = before_tokens
        self.paid = self.everything = self._cost(before_tokens, before_tokens)
        self._changed = False

    @property
    def smallest(self) -> int:
        """The smallest prompt that is cached; 0 where none is."""
        return self._prices.min_cached_tokens or 0

    def begin_call(self, whole: int) -> None:
        """Begin a call whose prompt would have so many tokens with everything."""
        self.everything += self._cost(whole, self._whole)
        self._whole = whole

    def pays(self, tokens: int, smaller: int, *, same: int, smaller_same: int, carried: int) -> bool:
        """Return whether a smaller prompt pays, by rent or buy.

        Args:
            tokens: the prompt of the call that has begun, as it is.
            smaller: the prompt that it could be.
            same: tokens at its beginning that are those of the call before.
            smaller_same: the same of the smaller prompt.
            carried: tokens that it would have spared the calls before.

        Source: Karlin et al. 1988, "Competitive snoopy caching": buy when the rent paid so far reaches the price.
        """
        if smaller >= tokens or (not self._changed and self._whole - smaller < FIRST_CUT * self._whole):
            return False
        price = self._cost(smaller, smaller_same) - self._cost(tokens, same)
        return price <= carried * self._prices.cache_read / 1_000_000

    def allows(self, smaller: int, *, smaller_same: int) -> bool:
        """Return whether a smaller prompt keeps the bill within the promise, now and at each later call.

        Each later call costs at most what it costs with everything: the prompt is large enough to be cached again, and
        what it saves is at least what is lost where hits are rounded to whole steps.
        """
        prices, gain = self._prices, self._whole - smaller
        rounding = abs(prices.cache_write - prices.cache_read) * (prices.step_tokens - 1)
        if self.smallest and (smaller < self.smallest or gain * prices.cache_read < rounding):
            return False
        return self.paid + self._cost(smaller, smaller_same) <= MOST * self.everything

    def end_call(self, tokens: int, *, same: int) -> None:
        """Pay for the call: so many tokens, ``same`` of which, at the beginning, are those of the call before."""
        self.paid += self._cost(tokens, same)
        self._cached = tokens
        self._changed = self._changed or tokens < self._whole

    def _cost(self, tokens: int, same: int) -> float:
        cached = min(same, self._cached)
        return input_cost(tokens, cached=cached, written_to=tokens, prices=self._prices)


@dataclass(slots=True)
class _OldRound:
    """A round whose results may give way.

    Attributes:
        number: of the round in its run, from 0.
        places: of its results.
        offers: by place the forms that a result may take, with their tokens; None: the compressor was not asked yet.
    """

    number: int
    places: tuple[int, ...]
    offers: dict[int, tuple[tuple[Message, int], ...]] | None = None

    def gain(self, costs: Sequence[int], form: int = _COMPRESSED) -> int:
        """Return how many tokens its results save in a form; at best, before the compressor was asked."""
        if self.offers is None:
            return sum(costs[place] for place in self.places)
        return sum(max(0, costs[place] - forms[form][1]) for place, forms in self.offers.items())


class RunSavings:
    """What compressing the old results of a run saves, and when it is done.

    Args:
        ledger: the books of the run; changed.
        results: gives results compressed.
        prices: of the model.
        before_tokens: what stands before the run.
        keep_recent_rounds: newest answered rounds that stay whole.
        working_memory: as in ``RunConfig``.

    Attributes:
        stable: how many places at the beginning could save nothing more after the call before the last one: nothing
            gave way there to save money.
    """

    def __init__(
        self,
        ledger: Ledger,
        results: ToolResults,
        prices: ModelPrices,
        *,
        before_tokens: int,
        keep_recent_rounds: int,
        working_memory: Container[str] | None,
    ) -> None:
        self._ledger = ledger
        self._results = results
        self._bill = RunBill(prices, before_tokens)
        self._before = before_tokens
        self._keep = keep_recent_rounds
        self._memory = working_memory
        self._newest = -1
        self._old: list[_OldRound] = []
        self._gains = [0, 0]  # tokens that all old rounds save, by form
        self._carried = 0  # tokens that they would have spared the calls since they became old
        self._settled = self._settled_before = 0
        self.stable = 0

    def take_all(self, rounds: Sequence[Round]) -> None:
        """Leave the pointers of all old results alone, because the run is over its room: the prompt changes anyway."""
        self._age(rounds)
        self._ask()
        self._take(_POINTERS)

    def call(self, rounds: Sequence[Round], whole: int) -> None:
        """Let the model be called after these rounds, ``whole`` tokens of messages: compress where that pays.

        A result is compressed as soon as that pays. Where the promise does not allow it, its pointers alone stay: that
        makes the smaller prompt that has to be written.
        """
        self._age(rounds)
        self.stable = self._settled_before
        ledger, bill = self._ledger, self._bill
        bill.begin_call(self._before + whole)
        tokens, same = self._before + ledger.tokens, self._before + ledger.same_tokens
        if same < tokens:
            self._recount()
        while self._old:
            is_known = self._old[-1].offers is not None
            least = 0 if is_known else bill.smallest  # the best that may come
            sizes = [max(least, tokens - gain) for gain in self._gains]
            settled = min(same, tokens - sum(ledger.measures[1].costs[self._settled :]))
            pays = bill.pays(tokens, sizes[_COMPRESSED], same=same, smaller_same=settled, carried=self._carried)
            forms = [form for form, size in enumerate(sizes) if pays and bill.allows(size, smaller_same=settled)]
            if not forms:
                break
            if is_known:
                self._take(forms[0])
                same = settled
            else:
                self._ask()
        bill.end_call(self._before + ledger.tokens, same=same)
        ledger.note()
        self._settled_before = self._settled

    def _age(self, rounds: Sequence[Round]) -> None:
        """Note which rounds are old by now."""
        while self._newest < len(rounds) - 1 - self._keep:
            self._newest += 1
            self._carried += self._gains[_COMPRESSED]
            old = _OldRound(self._newest, rounds[self._newest].positions[1:])
            at_best = old.gain(self._ledger.measures[1].costs)
            self._gains = [gain + at_best for gain in self._gains]
            self._old.append(old)

    def _ask(self) -> None:
        """Ask the compressor for the old results; what no pointer leads back to stays."""
        ledger = self._ledger
        for old in self._old:
            if old.offers is None:
                old.offers = {}
                age = self._newest + self._keep - old.number
                for place in old.places:
                    shorter = compressed(ledger, self._results, place, age_rounds=age)
                    if shorter and our_pointers([shorter], self._memory):
                        lines = [line for line in shorter.text.split("\n") if pointers_in(line)]
                        forms = shorter, with_text(shorter, "\n".join(lines))
                        old.offers[place] = tuple((form, ledger.measures[1].cost(form)) for form in forms)
        self._recount()

    def _recount(self) -> None:
        """Leave out the rounds that save nothing any more, and count anew what the others do."""
        costs = self._ledger.measures[1].costs
        while self._old and not self._old[0].gain(costs):
            self._settled = self._old.pop(0).places[-1] + 1
        self._old = [old for old in self._old if old.gain(costs)]
        self._gains = [sum(old.gain(costs, form) for old in self._old) for form in (_COMPRESSED, _POINTERS)]
        self._carried = sum(old.gain(costs) * (self._newest - old.number) for old in self._old)

    def _take(self, form: int) -> None:
        for old in self._old:
            for place, forms in (old.offers or {}).items():
                message, tokens = forms[form]
                if tokens < self._ledger.measures[1].costs[place]:
                    self._ledger.put(place, message)
            self._settled = old.places[-1] + 1
        self._old = []
        self._recount()
