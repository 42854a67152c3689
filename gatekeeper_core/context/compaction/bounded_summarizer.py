"""A summarizer that is given no more than it can read.

::

    folded messages ──over the limit?──> the longest texts cut to one level ──still over──> oldest messages left out
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from gatekeeper_core.context.compaction.ledger import Ledger, cut
from gatekeeper_core.context.compaction.rounds import Summarizer
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message, is_summary
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter

__all__ = ["bounded_summarizer"]


def bounded_summarizer(
    summarizer: Summarizer, max_tokens: int, *, token_counter: TokenCounter | None = None, locale: Locale = "zh"
) -> Summarizer:
    """Return a summarizer that hands on at most so many tokens of messages: what a model's window holds.

    Messages within the limit are handed on as they are. Of others the longest texts lose their middle, all down to one
    level, so that short messages stay whole; where that is not enough, the oldest ones are left out, earlier summaries
    last.

    Args:
        summarizer: writes the text.
        max_tokens: what it may read, at least 1. Where the counter is an estimate its margin is kept free.
        token_counter: counts a text; None: ``TokenEstimator()``.
        locale: language of the mark at a cut, ``zh`` or ``en``.

    Raises:
        ConfigError: ``max_tokens`` is below 1, or the locale is unknown.
        TypeError: an argument has the wrong type.

    Source: specification 003-32 and 003-41 (cut before it is summarised, by the one counter); the level is ours.

    >>> def lengths(messages):
    ...     return ", ".join(str(len(message.text)) for message in messages)
    >>> bounded_summarizer(lengths, 60, token_counter=len)([Message("user", "port?"), Message("assistant", "x" * 900)])
    '5, 55'
    """
    if not callable(summarizer):
        raise TypeError(f"summarizer must be callable, got {type(summarizer).__name__}")
    check_tokens("max_tokens", max_tokens, at_least=1)
    if locale not in get_args(Locale):
        raise ConfigError(f'locale must be "zh" or "en", got {locale!r}')
    count = checked_counter(token_counter)
    limit = budget_within(count, max_tokens)

    def bounded(messages: Sequence[Message]) -> str:
        return summarizer(_within(Ledger(messages, token_counter=count, max_tokens=limit), limit, locale))

    return bounded


def _within(ledger: Ledger, limit: int, locale: Locale) -> Sequence[Message]:
    measure, costs = ledger.measures[1], ledger.costs[1]
    level = _level(costs, limit)
    for place, message in enumerate(ledger.messages):
        if costs[place] > level and ledger.is_over():
            ledger.put(place, cut(message, level, measure, locale=locale))
    return _newest(ledger, limit)


def _level(costs: Sequence[int], limit: int) -> int:
    """Return the highest level to which costs can be cut so that their sum is within a limit.

    >>> _level([5, 90, 30], 60)
    27
    """
    left = limit
    for lower, cost in enumerate(sorted(costs)):
        share = left // (len(costs) - lower)
        if cost > share:
            return share
        left -= cost
    return max(costs, default=0)


def _newest(ledger: Ledger, limit: int) -> Sequence[Message]:
    """Return the messages, without the oldest ones where they are over the limit; earlier summaries go last."""
    order = sorted(range(len(ledger.messages)), key=lambda place: (is_summary(ledger.messages[place]), place))
    over = ledger.tokens - limit
    gone = set()
    for place in order:
        if over <= 0:
            break
        over -= ledger.costs[1][place]
        gone.add(place)
    return [message for place, message in enumerate(ledger.messages) if place not in gone]
