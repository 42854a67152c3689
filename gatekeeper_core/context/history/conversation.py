"""Compression of a conversation to a limit in up to three steps, each starting from the original messages.

::

    within max_tokens? ──yes──> the same list
       │no
    1 summary: all but the newest messages become one summary, user messages last
    2 aggressive: all but the very newest
    3 truncate: texts are cut, results of tools before others, the oldest first; at last the newest user message

System messages and calls without a result never change; the newest user message is never folded; rounds go whole.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import partial

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.history.ledger import CountedMessages
from gatekeeper_core.context.history.rounds import (
    Compaction,
    CompactionStrategy,
    Round,
    Shrinking,
    check_summary_settings,
    read_rounds,
)
from gatekeeper_core.context.history.summarizer import PlainSummarizer, Summarizer
from gatekeeper_core.errors import BudgetError, check_number
from gatekeeper_core.events import COMPRESSION, COMPRESSION_STEP
from gatekeeper_core.messages import Message, conversation_locale, is_summary
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_for, budget_within
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter, count_messages

_MARKED = 40
"""Tokens below which no text is cut while others can be, so that the mark of the cut survives."""


@with_suggestions()
class ContextCompressor:
    """A compressor that fits conversations into a limit. Source: specification 003-48 to 003-66, 003-93 and 003-97.

    Args:
        max_tokens: token limit of a conversation, at least 1; the margin of an estimate is kept free.
        keep_recent: newest messages, except system messages, that are not summarised, at least 0.
        headroom: share of ``max_tokens`` above which :meth:`should_compress` returns True, 0..1.
        aggressive_keep: newest messages that an aggressive summary keeps, at least 0. 2 is safer and costs more.
        summarizer: writes the summary; if it fails or its text is too long, a placeholder is used.
        token_counter: counts the tokens of a text; defaults to ``TokenEstimator()``.
        locale: language of the placeholder and of the mark at a cut; see ``fold_rounds``.
        working_memory: holds the pointers that stay; see ``fold_rounds``.

    Raises:
        ConfigError: a number is out of range, or the language is unknown.
        TypeError: an argument has the wrong type.

    >>> compressor = ContextCompressor(60, token_counter=len, locale="en")
    >>> talk = [Message("user", f"question {number}") for number in range(9)]
    >>> [message.text for message in compressor.compress(talk)]
    ['[6 earlier messages left out]', 'question 6', 'question 7', 'question 8']
    """

    def __init__(
        self,
        max_tokens: int,
        *,
        keep_recent: int = 3,
        headroom: float = 0.8,
        aggressive_keep: int = 1,
        summarizer: Summarizer | PlainSummarizer | None = None,
        token_counter: TokenCounter | None = None,
        locale: Locale | None = None,
        working_memory: Container[str] | None = None,
    ) -> None:
        check_tokens("max_tokens", max_tokens, at_least=1)
        check_tokens("keep_recent", keep_recent)
        check_tokens("aggressive_keep", aggressive_keep)
        check_number("headroom", headroom, low=0, high=1)
        self._max_tokens, self._headroom = max_tokens, headroom
        self._keep_recent, self._aggressive_keep = keep_recent, aggressive_keep
        check_summary_settings(locale, working_memory, summarizer)
        self._summarizer, self._working_memory, self._locale = summarizer, working_memory, locale
        self._count = checked_counter(token_counter)
        self._limit = budget_within(self._count, max_tokens)

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        """Return the cost of messages by the compressor's counter; see ``count_messages``."""
        return count_messages(messages, token_counter=self._count)

    def should_compress(self, messages: Sequence[Message]) -> bool:
        """Return whether messages cost more than the headroom allows. Source: specification 003-49 (the trigger)."""
        return self.estimate_tokens(messages) > self._headroom * self._max_tokens

    def compress(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return messages that cost at most ``max_tokens``: the same object if they do already, else a new list.

        Raises:
            BudgetError: system messages and calls without a result alone exceed the limit.
            TypeError: ``messages`` contains anything but messages.
        """
        compaction = self.explain(messages)
        return messages if compaction.strategy == "none" else compaction.messages

    def explain(self, messages: Sequence[Message]) -> Compaction:
        """Return the result of :meth:`compress` with its figures; the same errors are raised."""
        with stage(COMPRESSION) as seen:
            ledger = CountedMessages(messages, token_counter=self._count, max_tokens=self._limit)
            locale = self._locale or conversation_locale(messages)
            begin = partial(Shrinking, ledger, locale, self._working_memory)
            compaction = self._compressed(ledger, begin) if ledger.is_over() else begin().compaction("none")
            before, after = compaction.tokens_before, compaction.tokens_after
            seen.tell(  # source: specification 003-54
                lambda: {
                    "tokens_before": before,
                    "tokens_after": after,
                    "ratio": round(after / before, 4) if before else 1.0,
                    "saved": before - after,
                    "message_count": len(compaction.messages),
                    "strategy": compaction.strategy,
                },
                level="DEBUG" if compaction.strategy == "none" else "INFO",
            )
        return compaction

    def _compressed(self, ledger: CountedMessages, begin: Callable[..., Shrinking]) -> Compaction:
        """Fold old messages in steps, never a summary of a summary. Source: specification 003-51, 003-57."""
        parts = _Parts(ledger)
        if parts.needed_tokens > self._limit:
            needed = budget_for(self._count, parts.needed_tokens)
            raise BudgetError(needed_tokens=needed, available_tokens=self._max_tokens)
        steps: tuple[tuple[CompactionStrategy, int, bool], ...] = (
            ("summary", self._keep_recent, False),
            ("summary", self._keep_recent, True),
            ("aggressive", self._aggressive_keep, True),
        )
        for strategy, keep, users in steps:
            rounds, others = parts.before(keep, users=users)
            stays = ledger.tokens - parts.cost_of(rounds, others)
            if not (rounds or others) or stays > self._limit:
                continue  # no summary can help: do not call the summarizer
            shrinking = begin(self._summarizer)
            shrinking.fold(rounds, others=others)
            tell(COMPRESSION_STEP, strategy=strategy, tokens=shrinking.ledger.tokens)
            if not shrinking.ledger.is_over():
                return shrinking.compaction(strategy)
        return self._truncated(parts, begin)

    def _truncated(self, parts: _Parts, begin: Callable[..., Shrinking]) -> Compaction:
        """Cut texts after an aggressive fold: oldest tool results first, the newest user message last."""
        # Fewer messages are better than unmarked cuts; the summary is dropped before the newest user message is cut.
        keeps = [self._aggressive_keep]
        while keeps[-1]:
            keeps.append(keeps[-1] // 2)
        tries = [(keep, floor, True) for floor in (_MARKED, 0) for keep in keeps] + [(0, 0, False)]
        for keep, floor, summarised in tries:
            rounds, others = parts.before(keep, users=True)
            shrinking = begin()
            shrinking.fold(rounds, others=others)
            if summarised:
                shrinking.trim(pointers=False)
            else:
                shrinking.ledger.drop(shrinking.summaries)  # no room even for a placeholder
            ledger, sent = shrinking.ledger, shrinking.ledger.messages
            places = [at for at in ledger.places if at not in parts.protected and not is_summary(sent[at])]
            places.sort(key=lambda at: sent[at].role != "tool")
            ledger.cut(places, locale=shrinking.locale, floors=(0, floor))
            shrinking.trim()
            if not ledger.is_over():
                break
        else:
            ledger.cut([] if parts.newest is None else [parts.newest], locale=shrinking.locale)
        return shrinking.compaction("truncate")


class _Parts:
    """Rounds and other messages of a compression; ``needed_tokens``: of what must stay, with cuttable texts empty."""

    def __init__(self, ledger: CountedMessages) -> None:
        self.ledger = ledger
        messages = list(enumerate(ledger.messages))
        self._rounds = read_rounds(ledger.messages)
        self._round_at = {at: one for one in self._rounds for at in one.positions}
        self._summaries = [at for at, message in messages if is_summary(message)]
        self._places = [at for at, message in messages if message.role != "system" and not is_summary(message)]
        opened = [one.positions[0] for one in self._rounds if not one.answered]
        systems = (at for at, message in messages if message.role == "system" and not is_summary(message))
        required = frozenset([*opened, *systems])
        self.newest = next((at for at in reversed(self._places) if ledger.messages[at].role == "user"), None)
        self.protected = required if self.newest is None else required | {self.newest}
        results = {at for one in self._rounds if not one.answered for at in one.positions[1:]}
        empty = (replace(ledger.messages[at], content="") for at in results | (self.protected - required))
        measure = ledger.measures[-1]
        self.needed_tokens = measure.cost_of(required) + sum(map(measure.cost, empty))

    def before(self, keep: int, *, users: bool) -> tuple[list[Round], list[int]]:
        """Return the rounds and other positions to fold; the ``keep`` newest messages stay, with their whole round."""
        start = len(self.ledger.messages)
        if keep:
            start = self._places[-keep] if keep <= len(self._places) else 0
            start = self._round_at[start].positions[0] if start in self._round_at else start
        rounds = [one for one in self._rounds if one.answered and one.positions[0] < start]
        apart = self.protected.union(self._round_at, *(one.narration for one in rounds))
        roles = ("user", "assistant", "tool") if users else ("assistant", "tool")
        places = (at for at in self._places if at < start and at not in apart)
        return rounds, [at for at in places if self.ledger.messages[at].role in roles]

    def cost_of(self, rounds: Sequence[Round], others: Sequence[int]) -> int:
        """Return the tokens saved by folding rounds and other messages; earlier summaries go with them."""
        places = {*others, *self._summaries}.union(*(one.all_positions for one in rounds))
        return self.ledger.measures[-1].cost_of(places)
