"""Compaction of a tool loop: when a conversation outgrows its limits, the oldest rounds become one summary message.

::

    over a limit? ──no──> the same messages
         │yes
    1 compress tool results, where a compressor is given ──> 2 fold the oldest rounds ──> 3 cut what results are left
                      each until the low-water mark is reached, so that it happens rarely

The caller's list is not changed, and messages that are neither folded nor cut come back as the same objects.

>>> from gatekeeper_core.messages import ToolCall
>>> talk = [Message("user", "fix the build")]
>>> for number in range(6):
...     talk.append(Message("assistant", "", tool_calls=(ToolCall(f"c{number}", "bash", "{}"),)))
...     talk.append(Message("tool", "x" * 100, tool_call_id=f"c{number}"))
>>> compaction = compact_messages(talk, max_chars=600, locale="en")
>>> compaction.messages[1].text, compaction.calls_folded, compaction.chars_before > 600 > compaction.chars_after
('[3 tool calls executed, latest results below]', 3, True)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Sequence
from typing import Any

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.history.ledger import CountedMessages
from gatekeeper_core.context.history.rounds import (
    RESULT_FLOORS,
    Compaction,
    CompactionStrategy,
    Round,
    Shrinking,
    check_summary_settings,
    compressed,
    read_rounds,
)
from gatekeeper_core.context.history.summarizer import PlainSummarizer, Summarizer
from gatekeeper_core.context.tool_results.context import ResultCompressor, ToolResults, memory_of
from gatekeeper_core.errors import check_number, check_type
from gatekeeper_core.messages import Message, conversation_locale, is_summary
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter


@with_suggestions()
def compact_messages(
    messages: Sequence[Message],
    *,
    max_chars: int = 80_000,
    max_tokens: int = 20_000,
    keep_recent_rounds: int = 3,
    low_water: float = 0.6,
    summarizer: Summarizer | PlainSummarizer | None = None,
    compress_result: ResultCompressor | None = None,
    working_memory: Container[str] | None = None,
    token_counter: TokenCounter | None = None,
    locale: Locale | None = None,
) -> Compaction:
    """Return a conversation that fits both limits, its oldest tool rounds folded into one summary message.

    System messages, every user message, answers to the user, the newest rounds and calls without a result stay. Within
    the limits nothing changes; over one, compressing, folding and cutting each continue to the low-water mark, so a
    loop that continues with the result is seldom compacted again. Source: specification 002-14 to 002-34.

    * ``max_chars``, ``max_tokens``: the limits, at least 1; the margin of an estimate is kept free. Source:
      specification 002-18. In Chinese, ``max_tokens`` is reached long before ``max_chars``.
    * ``keep_recent_rounds``, ``low_water``, ``compress_result``: as in ``RunConfig``; the low-water mark is a share of
      both limits. Errors of ``compress_result`` propagate.
    * ``working_memory``, ``locale``, ``summarizer``: as for ``fold_rounds``; None: the memory of ``compress_result``.
    * ``token_counter``: counts the tokens of a text; defaults to ``TokenEstimator()``.

    Raises:
        ConfigError: a number is out of range, or the language is unknown.
        TypeError: an argument has the wrong type.
    """
    check_tokens("max_chars", max_chars, at_least=1)
    check_tokens("max_tokens", max_tokens, at_least=1)
    check_tokens("keep_recent_rounds", keep_recent_rounds)
    check_number("low_water", low_water, low=0, high=1)
    if compress_result is not None and not callable(compress_result):
        raise TypeError(f"compress_result must be callable, got {type(compress_result).__name__}")
    working_memory = memory_of(compress_result) if working_memory is None else working_memory
    check_summary_settings(locale, working_memory, summarizer)
    count = checked_counter(token_counter)
    limit = budget_within(count, max_tokens)
    counted = CountedMessages(messages, token_counter=count, max_tokens=limit, max_chars=max_chars)
    shrinking = Shrinking(counted, locale or conversation_locale(messages), working_memory, summarizer)
    ledger = shrinking.ledger
    if not ledger.is_over():
        return shrinking.compaction("none")
    answered = [one for one in read_rounds(ledger.messages) if one.answered]
    if compress_result:
        questions = (one.text for one in reversed(ledger.messages) if one.role == "user" and not is_summary(one))
        results = ToolResults(ledger.messages, compress_result, query=next(questions, ""))
        ages = {at: age for age, one in enumerate(reversed(answered)) for at in one.positions[1:]}
        for place in range(len(ledger.messages)):
            if not ledger.is_over(low_water):
                break
            if shorter := compressed(ledger, results, place, position=place, age_rounds=ages.get(place, 0)):
                ledger.put(place, shorter)
    rounds: Sequence[Round] = answered[: max(0, len(answered) - keep_recent_rounds)]
    rounds = _to_fold(rounds, shrinking, low_water) if rounds and ledger.is_over(low_water) else ()
    if rounds:
        shrinking.fold(rounds)
    if ledger.is_over():
        places = [place for place in ledger.places if ledger.messages[place].role == "tool"]
        ledger.cut(places, locale=shrinking.locale, share=low_water, floors=RESULT_FLOORS)
    if ledger.is_over() and rounds:
        shrinking.trim()
    strategy: CompactionStrategy = "truncate" if shrinking.shortened else "summary" if rounds else "none"
    return shrinking.compaction(strategy)


def compact_in_place(messages: list[Message], **arguments: Any) -> Compaction:
    """Compact a list in place; arguments and result as for :func:`compact_messages`. Source: specification 002-23.

    >>> compact_in_place([Message("user", "hello")]).strategy
    'none'
    """
    check_type("messages", messages, list)
    compaction = compact_messages(messages, **arguments)
    messages[:] = compaction.messages
    return compaction


def _to_fold(rounds: Sequence[Round], shrinking: Shrinking, share: float) -> Sequence[Round]:
    """Return the fewest oldest rounds that reach a share of the limits if folded, else all; none if this saves none."""
    before = shrinking.ledger

    def folded(count: int) -> CountedMessages:
        trial = Shrinking(before, shrinking.locale, shrinking.working_memory)
        trial.fold(rounds[:count], fit=False)  # a further round goes before a pointer
        trial.trim(pointers=False)
        return trial.ledger

    fewer = bisect_left(range(1, len(rounds)), True, key=lambda count: not folded(count).is_over(share))
    pairs = zip(before.measures, folded(len(rounds)).measures, strict=True)
    return rounds[: fewer + 1] if any(new.total < old.total for old, new in pairs) else ()
