"""Compaction of a tool loop: when a conversation outgrows its limits, the oldest rounds become one summary message.

::

    over a limit? ──no──> the same messages
         │yes
    1 compress tool results, where a compressor is given ──> 2 fold the oldest rounds ──> 3 cut what results are left
                      each until the low-water mark is reached, so that it happens rarely

Everything is a pure function of the messages: the caller's list is read, and what is not folded or cut comes back as
the same objects.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Sequence
from itertools import accumulate
from typing import Any, Literal

from gatekeeper_core.context.compaction.ledger import Ledger
from gatekeeper_core.context.compaction.rounds import (
    Counts,
    FoldingConfig,
    Round,
    counts_of,
    narration_before,
    our_pointers,
    read_rounds,
    summary_of,
    without_body,
)
from gatekeeper_core.context.compaction.shrink import Compaction, Shrinking, Strategy, check_share, compress
from gatekeeper_core.context.compaction.summarizer import MAX_MODEL_INPUT_TOKENS, PlainSummarizer, Summarizer
from gatekeeper_core.context.tool_results.context import ResultCompressor, ToolResults, memory_of
from gatekeeper_core.messages import Message, is_summary
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter

__all__ = ["compact_in_place", "compact_messages"]

_FLOORS = (800, 200)
"""Characters and tokens that a result of a round that stays is never cut below. Source: ours; a screen of ten lines."""


def compact_messages(
    messages: Sequence[Message],
    *,
    max_chars: int = 80_000,
    max_tokens: int = 20_000,
    keep_recent_rounds: int = 3,
    low_water: float = 0.6,
    summarizer: Summarizer | PlainSummarizer | None = None,
    max_model_input_tokens: int = MAX_MODEL_INPUT_TOKENS,
    compress_result: ResultCompressor | None = None,
    working_memory: Container[str] | None = None,
    token_counter: TokenCounter | None = None,
    locale: Locale | None = None,
    role: Literal["user", "system"] = "user",
) -> Compaction:
    """Return a conversation that is within both limits, its oldest rounds of tool use folded into one summary.

    Within the limits nothing happens. Over one of them, as many of the oldest rounds are folded as it takes to reach
    the low-water mark of both. System messages, every user message, answers to the user, the newest rounds and calls
    without a result stay. Where that is not enough, the results in the rounds that stay are cut in their middle, the
    oldest first, to 200 tokens or 800 characters at least. So a loop that goes on with the result is compacted again
    only when it has grown over a limit once more.

    Args:
        messages: the conversation; read, never changed.
        max_chars: the limit in characters, at least 1. Source: specification 002-18.
        max_tokens: the limit in tokens, at least 1, in Chinese reached long before ``max_chars``; where the counter is
            an estimate its margin is kept free. Source: specification 002-18.
        keep_recent_rounds: newest answered rounds that stay, at least 0. Source: specification 002-22.
        low_water: share of the limits that is aimed at, 0..1. Source: specification 002-32, against a compaction at
            every step.
        summarizer: writes a summary of the folded messages; where it fails the placeholder stands alone.
        max_model_input_tokens: what the summarizer is given to read at once, at least 1; see ``FoldingConfig``.
        compress_result: makes a tool result smaller, as ``ToolResultCompressor`` does; tried before anything is folded,
            not on what it made before or what was read from working memory. What it raises passes.
        working_memory: the ``WorkingMemory`` of the thread, or the ids that it holds: only these pointers stay. None:
            that of ``compress_result``; without any, pointers in results that are marked as compressed.
        token_counter: counts a text; None: ``TokenEstimator()``.
        locale: language of the placeholder and of the mark at a cut, ``zh`` or ``en``; None: that of the conversation,
            by its first user message.
        role: role of the summary, ``user`` or ``system``.

    Raises:
        ConfigError: a number is out of range, or a word is unknown.
        TypeError: an argument has the wrong type.

    Source: specification 002-14 to 002-34.

    >>> from gatekeeper_core.messages import ToolCall
    >>> talk = [Message("user", "fix the build")]
    >>> for number in range(6):
    ...     talk.append(Message("assistant", "", tool_calls=(ToolCall(f"c{number}", "bash", "{}"),)))
    ...     talk.append(Message("tool", "x" * 100, tool_call_id=f"c{number}"))
    >>> compaction = compact_messages(talk, max_chars=600, locale="en")
    >>> compaction.messages[1].text, compaction.calls_folded, compaction.chars_before > 600 > compaction.chars_after
    ('[3 tool calls executed, latest results below]', 3, True)
    """
    check_tokens("max_chars", max_chars, at_least=1)
    check_tokens("max_tokens", max_tokens, at_least=1)
    check_tokens("keep_recent_rounds", keep_recent_rounds)
    check_share("low_water", low_water)
    summary = FoldingConfig(
        locale=locale,
        role=role,
        summarizer=summarizer,
        max_model_input_tokens=max_model_input_tokens,
        working_memory=memory_of(compress_result) if working_memory is None else working_memory,
    )
    if compress_result is not None and not callable(compress_result):
        raise TypeError(f"compress_result must be callable, got {type(compress_result).__name__}")
    count = checked_counter(token_counter)
    ledger = Ledger(messages, token_counter=count, max_tokens=budget_within(count, max_tokens), max_chars=max_chars)
    shrinking = Shrinking(messages, ledger, summary)
    if not ledger.is_over():
        return shrinking.compaction("none")
    if compress_result:
        _compress_results(shrinking, compress_result, low_water)
    answered = [one for one in read_rounds(messages) if one.answered]
    rounds: Sequence[Round] = answered[: max(0, len(answered) - keep_recent_rounds)]
    rounds = _to_fold(rounds, ledger, summary, low_water) if rounds and ledger.is_over(low_water) else ()
    if rounds:
        shrinking.fold(rounds)
    if shrinking.ledger.is_over():
        results = [place for place, message in enumerate(shrinking.ledger.messages) if message.role == "tool"]
        shrinking.cut(results, share=low_water, floors=_FLOORS)
    if shrinking.ledger.is_over() and rounds:
        shrinking.trim()
    strategy: Strategy = "truncate" if shrinking.shortened else "summary" if rounds else "none"
    return shrinking.compaction(strategy)


def compact_in_place(messages: list[Message], **arguments: Any) -> Compaction:
    """Compact a list where it is, and return what was done; arguments and errors as for :func:`compact_messages`.

    Source: specification 002-23.

    >>> compact_in_place([Message("user", "hello")]).strategy
    'none'
    """
    if not isinstance(messages, list):
        raise TypeError(f"messages must be a list, got {type(messages).__name__}")
    compaction = compact_messages(messages, **arguments)
    messages[:] = compaction.messages
    return compaction


def _compress_results(shrinking: Shrinking, compress_result: ResultCompressor, share: float) -> None:
    """Compress tool results, the oldest first, until the totals are within a share of their limits; each once."""
    messages = shrinking.ledger.messages
    asked = (one.text for one in reversed(messages) if one.role == "user" and not is_summary(one))
    results = ToolResults(messages, compress_result, query=next(asked, ""))
    answered = [one for one in read_rounds(messages) if one.answered]
    ages = {at: age for age, one in enumerate(reversed(answered)) for at in one.positions[1:]}
    for place in range(len(messages)):
        if not shrinking.ledger.is_over(share):
            break
        shrinking.shortened += compress(shrinking.ledger, results, [place], age_rounds=ages.get(place, 0))


def _to_fold(rounds: Sequence[Round], ledger: Ledger, summary: FoldingConfig, share: float) -> Sequence[Round]:
    """Return the fewest of the oldest rounds that reach a share of the limits, or all, or none where none saves."""
    gone = [(*narration_before(ledger.messages, one.positions[0]), *one.positions) for one in rounds]
    earlier = [without_body(message) for message in ledger.messages if is_summary(message)]
    most = Counts(len(rounds), sum(one.calls for one in rounds))
    for message in earlier:
        most = most.plus(counts_of(message))
    folded = (ledger.messages[at] for places in gone for at in places)
    pointers = our_pointers([*earlier, *folded], summary.working_memory)
    written = summary_of(most, summary.locale_for(ledger.messages), pointers=pointers)
    needed = 0
    saves = False
    for which, measure in enumerate(ledger.measures):
        costs = measure.cost(written) - sum(map(measure.cost, earlier))
        saved = list(accumulate(ledger.cost_of(which, places) for places in gone))
        saves = saves or saved[-1] > costs
        needed = max(needed, bisect_left(saved, ledger.excess(which, share) + costs) + 1)
    return rounds[:needed] if saves else ()
