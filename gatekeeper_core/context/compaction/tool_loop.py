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
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from gatekeeper_core.context.compaction.ledger import Ledger, shorten
from gatekeeper_core.context.compaction.rounds import (
    Counts,
    Folding,
    FoldingConfig,
    Round,
    Summarizer,
    counts_of,
    fold,
    narration_before,
    our_pointers,
    pointers_of,
    read_rounds,
    summary_of,
    without_body,
    without_pointers,
)
from gatekeeper_core.context.tool_results.context import ResultCompressor, ToolResults, memory_of
from gatekeeper_core.errors import check_range
from gatekeeper_core.messages import Message, common_beginning, is_summary
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, checked_counter

__all__ = [
    "Compaction",
    "CompactionConfig",
    "Strategy",
    "compact_in_place",
    "compact_messages",
    "compaction_of",
    "fold_within",
    "trim_summaries",
]

Strategy = Literal["none", "summary", "aggressive", "truncate"]
_FLOORS = (800, 200)
"""Characters and tokens that a result of a round that stays is never cut below. Source: ours; a screen of ten lines."""


class Compaction(NamedTuple):
    """A conversation made smaller, and how.

    Attributes:
        messages: the new list; what was neither folded nor cut are the caller's own objects.
        sources: for each of them its position in the caller's list, None for the summary.
        strategy: ``none``, ``summary`` (rounds became a summary), ``aggressive`` (nearly everything did), ``truncate``
            (texts were compressed or cut, whatever was folded besides).
        rounds_folded: rounds that this call folded.
        calls_folded: tool calls in them.
        calls_total: tool calls that the summary stands for, earlier compactions included.
        results_shortened: messages whose text was compressed or cut.
        tokens_before: what the messages cost before.
        tokens_after: what they cost now.
        chars_before: their characters before; a part that is no text counts as many as it costs tokens.
        chars_after: their characters now.
        same_beginning: messages at the start that are as they were: what a cache of the prompt's prefix can still use.
        over_limit: whether what must stay is over a limit by itself.
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
        """Whether the messages are others than before: a cache of their prefix is lost from ``same_beginning`` on."""
        return self.strategy != "none"

    def facts(self) -> dict[str, Any]:
        """Return flat JSON-ready facts for logs: counts, never text."""
        left_out = ("messages", "sources")
        facts = {name: value for name, value in self._asdict().items() if name not in left_out}
        return {**facts, "message_count": len(self.messages), "prefix_changed": self.prefix_changed}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionConfig:
    """When a tool loop is compacted, and how far; either limit is enough.

    Attributes:
        max_chars: characters, >= 1. Source: specification 002-18.
        max_tokens: tokens, >= 1. Source: specification 002-18; in Chinese it is reached long before ``max_chars``.
        keep_recent_rounds: newest answered rounds that are never folded, >= 0. Source: specification 002-22.
        low_water: share of each limit that is aimed at, 0..1. Source: specification 002-32, against a compaction at
            every step.
    """

    max_chars: int = 80_000
    max_tokens: int = 20_000
    keep_recent_rounds: int = 3
    low_water: float = 0.6

    def __post_init__(self) -> None:
        check_range(self, "max_chars", "max_tokens", low=1, whole=True)
        check_range(self, "keep_recent_rounds", low=0, whole=True)
        check_range(self, "low_water", low=0, high=1)


def compact_messages(
    messages: Sequence[Message],
    *,
    max_chars: int = 80_000,
    max_tokens: int = 20_000,
    keep_recent_rounds: int = 3,
    low_water: float = 0.6,
    summarizer: Summarizer | None = None,
    compress_result: ResultCompressor | None = None,
    working_memory: Container[str] | None = None,
    token_counter: TokenCounter | None = None,
    locale: Locale = "zh",
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
        max_chars: the limit in characters, at least 1.
        max_tokens: the limit in tokens, at least 1. Where the counter is an estimate its margin is kept free.
        keep_recent_rounds: newest answered rounds that stay, at least 0.
        low_water: share of the limits that is aimed at, 0..1.
        summarizer: writes a summary of the folded messages; where it fails the placeholder stands alone.
        compress_result: makes a tool result smaller, as ``ToolResultCompressor`` does; tried before anything is folded,
            not on what it made before or what was read from working memory. What it raises passes.
        working_memory: the ``WorkingMemory`` of the thread, or the ids that it holds: only these pointers stay. None:
            that of ``compress_result``; without any, pointers in results that are marked as compressed.
        token_counter: counts a text; None: ``TokenEstimator()``.
        locale: language of the placeholder and of the mark at a cut, ``zh`` or ``en``.
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
    config = CompactionConfig(
        max_chars=max_chars, max_tokens=max_tokens, keep_recent_rounds=keep_recent_rounds, low_water=low_water
    )
    memory = memory_of(compress_result) if working_memory is None else working_memory
    summary = FoldingConfig(locale=locale, role=role, summarizer=summarizer, working_memory=memory)
    if compress_result is not None and not callable(compress_result):
        raise TypeError(f"compress_result must be callable, got {type(compress_result).__name__}")
    count = checked_counter(token_counter)
    limit = budget_within(count, max_tokens)
    ledger = Ledger(messages, token_counter=count, max_tokens=limit, max_chars=max_chars)
    if not ledger.is_over():
        return compaction_of(messages, ledger, before=(ledger.chars, ledger.tokens), strategy="none")
    before = (ledger.chars, ledger.tokens)
    shortened = _compress_results(ledger, compress_result, low_water) if compress_result else 0
    folding = None
    rounds = _rounds_to_fold(ledger, config, summary) if ledger.is_over(low_water) else []
    if rounds:
        folding, ledger = fold_within(ledger, rounds, summary)
    if ledger.is_over():
        results = [place for place, message in enumerate(ledger.messages) if message.role == "tool"]
        shortened += shorten(ledger, results, locale=locale, share=low_water, floors=_FLOORS)
    if ledger.is_over() and folding:
        trim_summaries(ledger)
        folding = folding._replace(failure="too_long" if summarizer and not folding.failure else folding.failure)
    strategy: Strategy = "truncate" if shortened else "summary" if folding else "none"
    return compaction_of(messages, ledger, before=before, strategy=strategy, folding=folding, shortened=shortened)


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


def fold_within(
    ledger: Ledger, rounds: Sequence[Round], config: FoldingConfig, *, others: Collection[int] = ()
) -> tuple[Folding, Ledger]:
    """Return a folding and its books; as much of a summary goes as it takes, where that holds the limits.

    Args:
        ledger: the messages.
        rounds: the rounds to fold.
        config: how the summary is written.
        others: further places to fold.
    """
    folding = fold(ledger.messages, rounds, others=others, config=config)
    books = ledger.folded(folding)
    if books.is_over() and None in folding.sources:
        short = ledger.folded(folding)
        trim_summaries(short)
        if not short.is_over():
            failure = "too_long" if config.summarizer and not folding.failure else folding.failure
            return folding._replace(messages=list(short.messages), failure=failure), short
    return folding, books


def compaction_of(
    messages: Sequence[Message],
    ledger: Ledger,
    *,
    before: tuple[int, int],
    strategy: Strategy,
    folding: Folding | None = None,
    shortened: int = 0,
) -> Compaction:
    """Return the result of a compaction.

    Args:
        messages: the caller's messages.
        ledger: the books of what became of them.
        before: characters and tokens of the caller's messages.
        strategy: the last thing that was done.
        folding: what was folded.
        shortened: how many texts were compressed or cut.
    """
    return Compaction(
        messages=ledger.messages,
        sources=ledger.sources,
        strategy=strategy,
        rounds_folded=folding.counts.rounds if folding else 0,
        calls_folded=folding.counts.calls if folding else 0,
        calls_total=sum(counts_of(message).calls for message in ledger.messages if is_summary(message)),
        results_shortened=shortened,
        tokens_before=before[1],
        tokens_after=ledger.tokens,
        chars_before=before[0],
        chars_after=ledger.chars,
        same_beginning=common_beginning(list(messages), ledger.messages),
        over_limit=ledger.is_over(),
        failure=folding.failure if folding else "",
    )


def trim_summaries(ledger: Ledger, *, pointers: bool = True) -> None:
    """Take from each summary what was told in it, then its oldest pointers, as many as the limits ask for.

    Args:
        ledger: the books; changed.
        pointers: whether pointers may go.
    """
    places = [place for place, message in enumerate(ledger.messages) if is_summary(message)]
    for place in places:
        ledger.put(place, without_body(ledger.messages[place]))
    for place in places:
        if pointers and ledger.is_over():
            _drop_pointers(ledger, place)


def _drop_pointers(ledger: Ledger, place: int) -> None:
    summary = ledger.messages[place]

    def holds(dropped: int) -> bool:
        ledger.put(place, without_pointers(summary, dropped))
        return not ledger.is_over()

    pointers = pointers_of([summary.text])
    ledger.put(place, without_pointers(summary, bisect_left(range(len(pointers)), True, key=holds)))


def _compress_results(ledger: Ledger, compress_result: ResultCompressor, share: float) -> int:
    """Compress tool results, the oldest first, until the totals are within a share of their limits; each once."""
    asked = (one.text for one in reversed(ledger.messages) if one.role == "user" and not is_summary(one))
    results = ToolResults(ledger.messages, compress_result, query=next(asked, ""))
    answered = [one for one in read_rounds(ledger.messages) if one.answered]
    ages = {at: age for age, one in enumerate(reversed(answered)) for at in one.positions[1:]}
    count = 0
    for place, message in enumerate(ledger.messages):
        if not ledger.is_over(share):
            break
        shorter = results.smaller(place, message, age_rounds=ages.get(place, 0))
        if shorter is not None:
            ledger.put(place, shorter)
            count += 1
    return count


def _rounds_to_fold(ledger: Ledger, config: CompactionConfig, writing: FoldingConfig) -> Sequence[Round]:
    """Return the fewest of the oldest rounds that reach the low-water mark, or all that may go, or none to save."""
    answered = [one for one in read_rounds(ledger.messages) if one.answered]
    rounds = answered[: max(0, len(answered) - config.keep_recent_rounds)]
    if not rounds:
        return ()
    gone = [(*narration_before(ledger.messages, one.positions[0]), *one.positions) for one in rounds]
    earlier = [without_body(message) for message in ledger.messages if is_summary(message)]
    most = Counts(len(rounds), sum(one.calls for one in rounds))
    for message in earlier:
        most = most.plus(counts_of(message))
    folded = (ledger.messages[at] for places in gone for at in places)
    pointers = our_pointers([*earlier, *folded], writing.working_memory)
    summary = summary_of(most, writing.locale, pointers=pointers)
    needed = 0
    saves = False
    for which, measure in enumerate(ledger.measures):
        costs = measure.cost(summary) - sum(map(measure.cost, earlier))
        saved = list(accumulate(ledger.cost_of(which, places) for places in gone))
        saves = saves or saved[-1] > costs
        excess = ledger.excess(which, config.low_water) + costs
        needed = max(needed, bisect_left(saved, excess) + 1)
    return rounds[:needed] if saves else ()
