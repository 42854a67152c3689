"""The engine that makes messages smaller: compress results, fold rounds, cut texts, trim the summary.

Each step is taken where the one before was not enough, and no further than it must. Three entries decide which messages
may go: ``tool_loop``, ``conversation`` and ``run``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gatekeeper_core.context.history.ledger import CountedMessages, cut
from gatekeeper_core.context.history.rounds import (
    Folding,
    Round,
    counts_in,
    fold,
    with_summary,
    without_body,
    without_pointers,
)
from gatekeeper_core.context.history.summarizer import PlainSummarizer, Summarizer
from gatekeeper_core.context.tool_results.context import ToolResults
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.messages import Message, common_beginning, is_summary
from gatekeeper_core.text import Locale
from gatekeeper_core.tokens import count_messages

Strategy = Literal["none", "summary", "aggressive", "truncate"]

RESULT_FLOORS = (800, 200)
"""Characters and tokens that a result keeps while anything else can give way. Source: ours; ten lines of a screen."""


class Compaction(NamedTuple):
    """A conversation made smaller, and how.

    Attributes:
        messages: the new list; what was neither folded nor cut are the caller's own objects.
        sources: position of each in the caller's list, None for the summary.
        strategy: ``none``, ``summary`` (rounds became a summary), ``aggressive`` (nearly everything did), ``truncate``
            (texts were compressed or cut, whatever was folded besides).
        rounds_folded: rounds that this call folded.
        calls_folded: tool calls in them.
        calls_total: tool calls in the summary, earlier compactions included.
        results_shortened: messages whose text was compressed or cut.
        tokens_before: cost of the messages before.
        tokens_after: cost of the messages now.
        chars_before: their characters before; a part that is not text counts its tokens.
        chars_after: their characters now.
        same_beginning: messages at the start that are as they were, which a prompt cache can still use.
        over_limit: whether what must stay alone is over a limit.
        failure: why a summarizer's text is not in use: ``error: `` and its type, ``not_text``, ``empty``, ``too_long``;
            "" otherwise.
    """

    messages: list[Message]
    sources: tuple[int | None, ...]
    strategy: Strategy
    rounds_folded: int
    calls_folded: int
    calls_total: int
    results_shortened: int
    tokens_before: int
    tokens_after: int
    chars_before: int
    chars_after: int
    same_beginning: int
    over_limit: bool
    failure: str

    @property
    def prefix_changed(self) -> bool:
        """Whether a cache of the prefix is lost from ``same_beginning`` on."""
        return self.strategy != "none"


@dataclass(slots=True)
class Shrinking:
    """A list of messages on its way below its limits, and what was done to it.

    Attributes:
        messages: the caller's messages.
        ledger: their books. Cutting changes them; folding takes new ones.
        locale: language of a summary, as for ``fold_rounds``, as the next two.
        working_memory: has the pointers that stay.
        summarizer: writes more than a placeholder.
        shortened: messages whose text was compressed or cut.
    """

    messages: Sequence[Message]
    ledger: CountedMessages
    locale: Locale
    working_memory: Container[str] | None
    summarizer: Summarizer | PlainSummarizer | None = None
    shortened: int = 0
    _folding: Folding | None = field(init=False, default=None)
    _tokens_before: int = field(init=False)

    def __post_init__(self) -> None:
        self._tokens_before = self.ledger.tokens

    def fold(self, rounds: Sequence[Round], *, others: Collection[int] = ()) -> None:
        """Fold rounds, and messages in other places, into a summary; it is trimmed where this holds the limits."""
        ledger, measure = self.ledger, self.ledger.measures[-1]
        folding = fold(ledger.messages, rounds, locale=self.locale, working_memory=self.working_memory, others=others)
        full = ledger.folded(folding.messages, folding.sources)
        if self.summarizer is not None:
            room = measure.limit - full.tokens
            folding = with_summary(
                folding,
                ledger.messages,
                summarizer=self.summarizer,
                token_counter=measure.counter,
                locale=self.locale,
                room=room if room >= 0 else math.inf,  # what stays is over the limit alone: it may be cut yet
            )
            full = ledger.folded(folding.messages, folding.sources)
        self.ledger, self._folding = ledger.folded(folding.messages, folding.sources), folding
        if self.ledger.is_over():
            self.trim()
            if self.ledger.is_over():
                self.ledger, self._folding = full, folding

    def cut(self, places: Iterable[int], *, share: float = 1.0, floors: Sequence[int] = (0, 0)) -> None:
        """Cut texts as :func:`cut_texts` does."""
        self.shortened += cut_texts(self.ledger, places, locale=self.locale, share=share, floors=floors)

    def trim(self, *, pointers: bool = True) -> None:
        """Take from each summary its body, then as many of its oldest pointers as the limits ask for."""
        places = [place for place, message in enumerate(self.ledger.messages) if is_summary(message)]
        for place in places:
            self.ledger.put(place, without_body(self.ledger.messages[place]))
        for place in places:
            if pointers and self.ledger.is_over():
                drop_pointers(self.ledger, place)
        if self._folding and self.summarizer and not self._folding.failure:
            self._folding = self._folding._replace(failure="too_long")

    def without_summary(self) -> None:
        """Leave out every summary, where there is no room even for a placeholder."""
        stays = [place for place, message in enumerate(self.ledger.messages) if not is_summary(message)]
        self.ledger = self.ledger.folded([self.ledger.messages[place] for place in stays], stays)

    def compaction(self, strategy: Strategy) -> Compaction:
        """Return what became of the messages."""
        ledger, messages, folding = self.ledger, list(self.messages), self._folding
        return Compaction(
            messages=ledger.messages,
            sources=tuple(ledger.sources),
            strategy=strategy,
            rounds_folded=folding.counts.rounds if folding else 0,
            calls_folded=folding.counts.calls if folding else 0,
            calls_total=counts_in(ledger.messages).calls,
            results_shortened=self.shortened,
            tokens_before=self._tokens_before,
            tokens_after=ledger.tokens,
            chars_before=count_messages(messages, token_counter=len),
            chars_after=count_messages(ledger.messages, token_counter=len),
            same_beginning=common_beginning(messages, ledger.messages),
            over_limit=ledger.is_over(),
            failure=folding.failure if folding else "",
        )


def compressed(
    ledger: CountedMessages, results: ToolResults, place: int, *, position: int, age_rounds: int
) -> Message | None:
    """Return the tool result in a place compressed, or None if that does not make it cost less."""
    shorter = results.smaller(position, ledger.messages[place], age_rounds=age_rounds)
    return shorter if shorter and any(one.cost(shorter) < one.costs[place] for one in ledger.measures) else None


def cut_texts(
    ledger: CountedMessages,
    places: Iterable[int],
    *,
    locale: Locale,
    share: float = 1.0,
    floors: Sequence[int] = (0, 0),
) -> int:
    """Cut the texts in these places, one after another, until the totals are within a share of the limits.

    ``floors`` are the characters and tokens that a message is not cut below. Return how many were cut.
    """
    count = 0
    for place in places:
        message = ledger.messages[place]
        for measure, floor in zip(ledger.measures, floors[-len(ledger.measures) :], strict=True):
            excess, cost = measure.excess(share), measure.costs[place]
            if excess and cost > floor:
                ledger.put(place, cut(ledger.messages[place], max(floor, cost - excess), measure, locale=locale))
        count += ledger.messages[place] != message
    return count


def drop_pointers(ledger: CountedMessages, place: int) -> None:
    """Drop the oldest pointers of the summary in a place, as few as it takes, all where none will do."""
    summary = ledger.messages[place]
    for count in range(1, len(pointers_in(summary.text)) + 1):
        ledger.put(place, without_pointers(summary, count))
        if not ledger.is_over():
            break
