"""The engine that makes messages smaller: compress results, fold rounds, cut texts, trim the summary.

Each step is taken where the one before was not enough, and no further than it must. Three entries decide which messages
may go: ``tool_loop``, ``conversation`` and ``run``.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from typing import Literal, NamedTuple

from gatekeeper_core.context.history.ledger import CountedMessages
from gatekeeper_core.context.history.rounds import (
    Counts,
    Folding,
    Round,
    counts_in,
    fold,
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


class Shrinking:
    """A list of messages on its way below its limits, and what was done to it.

    Args:
        ledger: the caller's messages with their counts; what changes is a copy, the attribute of this name.
        locale: language of a summary, as for ``fold_rounds``, as the next two.
        working_memory: has the pointers that stay.
        summarizer: writes more than a placeholder.
    """

    def __init__(
        self,
        ledger: CountedMessages,
        locale: Locale,
        working_memory: Container[str] | None,
        summarizer: Summarizer | PlainSummarizer | None = None,
    ) -> None:
        self._original, self.ledger = ledger, ledger.copy()
        self.locale, self.working_memory, self._summarizer = locale, working_memory, summarizer
        self._folding = Folding([], (), (), Counts())

    def fold(self, rounds: Sequence[Round], *, others: Collection[int] = ()) -> None:
        """Fold rounds, and messages in other places, into a summary; it is trimmed where this holds the limits."""
        self._folding = folding = fold(
            self.ledger,
            rounds,
            locale=self.locale,
            working_memory=self.working_memory,
            summarizer=self._summarizer,
            others=others,
        )
        if self.ledger.is_over():
            full = {place: self.ledger.messages[place] for place in self._summaries}
            self.trim()
            if self.ledger.is_over():
                self._folding = folding
                for place, summary in full.items():
                    self.ledger.put(place, summary)

    @property
    def _summaries(self) -> list[int]:
        return [place for place in self.ledger.places if is_summary(self.ledger.messages[place])]

    def trim(self, *, pointers: bool = True) -> None:
        """Take from each summary its body, then as many of its oldest pointers as the limits ask for."""
        for place in self._summaries:
            self.ledger.put(place, without_body(self.ledger.messages[place]))
        for place in self._summaries:
            if pointers and self.ledger.is_over():
                drop_pointers(self.ledger, place)
        if self._folding.folded and self._summarizer and not self._folding.failure:
            self._folding = self._folding._replace(failure="too_long")

    def without_summary(self) -> None:
        """Leave out every summary, where there is no room even for a placeholder."""
        self.ledger.drop(self._summaries)

    @property
    def shortened(self) -> int:
        """Messages whose text was compressed or cut."""
        places = (place for place in self.ledger.places if not is_summary(self.ledger.messages[place]))
        return sum(self.ledger.messages[place] != self._original.messages[place] for place in places)

    def compaction(self, strategy: Strategy) -> Compaction:
        """Return what became of the messages."""
        ledger, messages, folding = self.ledger, self._original.messages, self._folding
        sent = ledger.sent
        return Compaction(
            messages=sent,
            sources=tuple(None if place in folding.folded else place for place in ledger.places),
            strategy=strategy,
            rounds_folded=folding.counts.rounds,
            calls_folded=folding.counts.calls,
            calls_total=counts_in(sent).calls,
            results_shortened=self.shortened,
            tokens_before=self._original.tokens,
            tokens_after=ledger.tokens,
            chars_before=count_messages(messages, token_counter=len),
            chars_after=count_messages(sent, token_counter=len),
            same_beginning=common_beginning(messages, sent),
            over_limit=ledger.is_over(),
            failure=folding.failure,
        )


def compressed(
    ledger: CountedMessages, results: ToolResults, place: int, *, position: int, age_rounds: int
) -> Message | None:
    """Return the tool result in a place compressed, or None if that does not make it cost less."""
    shorter = results.smaller(position, ledger.messages[place], age_rounds=age_rounds)
    return shorter if shorter and any(one.cost(shorter) < one.costs[place] for one in ledger.measures) else None


def drop_pointers(ledger: CountedMessages, place: int) -> None:
    """Drop the oldest pointers of the summary in a place, as few as it takes, all where none will do."""
    summary = ledger.messages[place]
    for count in range(1, len(pointers_in(summary.text)) + 1):
        ledger.put(place, without_pointers(summary, count))
        if not ledger.is_over():
            break
