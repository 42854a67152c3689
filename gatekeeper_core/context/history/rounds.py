"""Rounds of tool use, and the engine that shrinks messages: one summary message replaces the oldest.

::

    system · user · [call · results] · [call · results] · [call · results] · [open call]
                    ╰──────── folded ────────╯            ╰── kept ──╯       ╰─ always ─╯
    system · user · summary                             · call · results   · open call

A round is an assistant message that calls tools, with the results of its calls. It is folded whole or not at all, so a
list that a provider accepted stays valid. A summary is recognised by its metadata, never by its text, which a person
may type too. It keeps the pointers of folded messages, except those that a tool made up. The engine compresses results,
folds rounds, cuts texts and trims the summary; ``tool_loop``, ``conversation`` and ``run`` decide what may go.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import compress
from typing import Literal, NamedTuple, get_args

from gatekeeper_core.context.history.ledger import CountedMessages
from gatekeeper_core.context.history.summarizer import (
    MAX_MODEL_INPUT_TOKENS,
    PlainSummarizer,
    Summarizer,
    ask,
    check_summarizer,
    readable,
)
from gatekeeper_core.context.tool_results.context import ToolResults
from gatekeeper_core.context.tool_results.pointers import COMPRESSED, defused, pointers_in
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.fences import fence
from gatekeeper_core.messages import (
    FOLDED,
    Message,
    checked_messages,
    common_beginning,
    conversation_locale,
    is_answer,
    is_summary,
)
from gatekeeper_core.text import LazyPattern, Locale
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter, count_messages

CompactionStrategy = Literal["none", "summary", "aggressive", "truncate"]

RESULT_FLOORS = (800, 200)
"""Characters and tokens that a result keeps while anything else can shrink. Source: ours; ten lines of a screen."""

MAX_POINTERS = 256
"""Maximum pointers of a summary; the oldest are dropped first. Source: ours; about 3,500 tokens of cl100k."""

_MAX_SUMMARY_TOKENS = 1000  # requested from a summarizer. Source: as SummaryConfig.max_summary_tokens
_MARKS = ("rounds", "tool_calls", "messages")  # metadata keys of a summary's counts
_REACH = "user_messages_before_last"
_TAG = "earlier_rounds"
_POINTERS = LazyPattern(r"\[\[wm:[a-z2-7]{16}\]\](?: \[\[wm:[a-z2-7]{16}\]\])*")


class Round(NamedTuple):
    """One step of a tool loop.

    Attributes:
        positions: of the assistant message and its results, ascending.
        calls: number of calls in the message.
        answered: whether each call has its result.
        narration: positions of the plain assistant messages directly before it, system messages aside. They are folded
            with the round; an answer followed by a user message does not count.
    """

    positions: tuple[int, ...]
    calls: int
    answered: bool
    narration: tuple[int, ...] = ()

    @property
    def all_positions(self) -> tuple[int, ...]:
        """The positions of the round and of its narration, ascending."""
        return self.narration + self.positions


class Counts(NamedTuple):
    """Counts of a summary: rounds, the calls in them, and other messages."""

    rounds: int = 0
    calls: int = 0
    messages: int = 0

    def plus(self, other: Counts) -> Counts:
        """Return the sum of both."""
        return Counts(*map(sum, zip(self, other, strict=True)))


def check_locale(name: str, value: object) -> None:
    """Raise ConfigError unless a language is ``zh``, ``en`` or None (that of the messages)."""
    if value is not None and value not in get_args(Locale):
        raise ConfigError(f'{name} must be "zh", "en" or None, got {value!r}')


def check_summary_settings(locale: object, working_memory: object, summarizer: object) -> None:
    """Check the settings that all summaries share; raise ConfigError or TypeError."""
    check_locale("locale", locale)
    holds_ids = isinstance(working_memory, Container) and not isinstance(working_memory, (str, bytes))
    if working_memory is not None and not holds_ids:
        raise TypeError(f"working_memory must be a WorkingMemory, got {type(working_memory).__name__}")
    check_summarizer(summarizer)


def read_rounds(messages: Sequence[Message]) -> tuple[Round, ...]:
    """Return the rounds of a conversation, oldest first.

    A result belongs to the nearest assistant message before it, system messages aside. Calls and results are matched by
    id, or by number if the calls or the results have no ids at all.

    Raises:
        TypeError: ``messages`` contains anything but messages.
    """
    steps: list[tuple[list[int], list[int]]] = []
    positions: list[int] = []
    narration: list[int] = []
    messages = checked_messages(messages)
    for at, message in enumerate(messages):
        if message.role == "tool":
            positions.append(at)
            narration = []
        elif message.role != "system":
            positions = [at]
            if message.role == "assistant" and message.tool_calls:
                steps.append((positions, narration))
            narration = [*narration, at] if is_answer(message) else []
    rounds = []
    for positions, narration in steps:
        calls = Counter(call.id for call in messages[positions[0]].tool_calls)
        answers = Counter(messages[at].tool_call_id or "" for at in positions[1:])
        by_number = set(calls) == {""} or set(answers) == {""}
        answered = answers.total() >= calls.total() if by_number else not calls - answers
        rounds.append(Round(tuple(positions), calls.total(), answered, tuple(narration)))
    return tuple(rounds)


def as_summary(message: Message) -> Message:
    """Return a message that other code wrote to replace earlier ones, marked as a summary that is always sent.

    >>> is_summary(as_summary(Message("user", "So far they set up Redis.")))
    True
    """
    return replace(message, metadata={**message.metadata, "synthetic": FOLDED, _REACH: 2**31})


def counts_of(message: Message) -> Counts:
    """Return the counts of a summary; a count that is not a positive int is 0."""
    marks = map(message.metadata.get, _MARKS)
    return Counts(*(mark if type(mark) is int and mark > 0 else 0 for mark in marks))


def counts_in(messages: Iterable[Message]) -> Counts:
    """Return the total counts of all summaries among messages."""
    return reduce(Counts.plus, map(counts_of, filter(is_summary, messages)), Counts())


def reach_of(message: Message) -> int:
    """Return how many user messages are between a summary and the last message that it replaces."""
    reach = message.metadata.get(_REACH)
    return reach if type(reach) is int and reach > 0 else 0


def placeholder(counts: Counts, locale: Locale) -> str:
    """Return the text that counts what was folded. Source: specification 002-20 if only rounds were, else ours."""
    calls, others = counts.calls, counts.messages
    texts, mark = (f"已执行 {calls} 次工具调用,最近结果见下文", f"已省略 {others} 条较早的消息"), ";"
    if locale == "en":
        done = f"{calls} tool call{'s' * (calls != 1)} executed, latest results below"
        texts, mark = (done, f"{others} earlier message{'s' * (others != 1)} left out"), "; "
    return f"[{mark.join(compress(texts, (calls, others)))}]"


def our_pointers(messages: Iterable[Message], working_memory: Container[str] | None = None) -> tuple[str, ...]:
    """Return the ids of the valid pointers in messages, each once, ordered by last mention; at most ``MAX_POINTERS``.

    A tool can write text that reads like a pointer. With a working memory, those that it holds are valid anywhere;
    without one, those in compressed results and on the pointer line of an earlier summary. The oldest are left out.
    """
    pointers: list[str] = []
    for message in messages:
        if working_memory is not None:
            pointers += [pointer for pointer in pointers_in(message.text) if pointer in working_memory]
        elif is_summary(message):
            pointers += _read(message.text)[1]
        elif message.metadata.get(COMPRESSED):
            pointers += pointers_in(message.text)
    return tuple(dict.fromkeys(reversed(pointers)))[:MAX_POINTERS][::-1]


def without_body(summary: Message) -> Message:
    """Return a summary without its body: only its placeholder and pointers."""
    heading, pointers, body = _read(summary.text)
    return replace(summary, content=_written(heading, pointers, "")) if body else summary


def _written(heading: str, pointers: Sequence[str], body: str) -> str:
    return "\n".join(filter(None, (heading, " ".join(f"[[wm:{one}]]" for one in pointers), body)))


def _read(text: str) -> tuple[str, tuple[str, ...], str]:
    """Return the placeholder of a summary, the ids on its pointer line, and its body."""
    heading, _, rest = text.partition("\n")
    line, _, body = rest.partition("\n")
    return (heading, pointers_in(line), body) if _POINTERS.fullmatch(line) else (heading, (), rest)


def _reach(messages: Sequence[Message], gone: Sequence[int]) -> int:
    """Return how many user messages after a summary precede the last message that it replaces."""
    users = [at for at, message in enumerate(messages) if message.role == "user" and not is_summary(message)]
    last = gone[-1]
    for at in gone:
        if is_summary(messages[at]) and (reach := reach_of(messages[at])):
            last = max(last, *users[bisect_left(users, at) :][:reach][-1:], at)
    return sum(1 for at in users if gone[0] < at <= last and at not in gone)


def summary_of(counts: Counts, locale: Locale, *, pointers: Sequence[str] = (), body: str = "") -> Message:
    """Return a summary: a placeholder, a line of pointers, and a body."""
    marks: dict[str, str | int] = {"synthetic": FOLDED, **dict(zip(_MARKS, counts, strict=True))}
    return Message("user", _written(placeholder(counts, locale), pointers, body), metadata=marks)


# --- the engine


class Compaction(NamedTuple):
    """A compacted conversation, and what was done to it.

    Attributes:
        messages: the new list; messages neither folded nor cut are the caller's own objects.
        sources: position of each in the caller's list, None for the summary.
        strategy: ``none``, ``summary`` (rounds became a summary), ``aggressive`` (nearly everything did), ``truncate``
            (texts were compressed or cut, whether or not rounds were folded).
        rounds_folded: rounds that this call folded.
        calls_folded: tool calls in them.
        calls_total: tool calls in the summary, earlier compactions included.
        results_shortened: messages whose text was compressed or cut.
        tokens_before: cost of the messages before.
        tokens_after: cost of the messages now.
        chars_before: their characters before; a part that is not text counts its tokens.
        chars_after: their characters now.
        same_beginning: unchanged messages at the start, which a prompt cache can still use.
        over_limit: whether what must stay exceeds a limit on its own.
        failure: why the summarizer's text is unused: ``error: `` and a type, ``not_text``, ``empty``, ``too_long``; or
            "".
    """

    messages: list[Message]
    sources: tuple[int | None, ...]
    strategy: CompactionStrategy
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
    """A list of messages being shrunk to its limits; its ``ledger`` is a copy. Settings as for ``fold_rounds``."""

    def __init__(
        self,
        ledger: CountedMessages,
        locale: Locale,
        working_memory: Container[str] | None,
        summarizer: Summarizer | PlainSummarizer | None = None,
    ) -> None:
        self._original, self.ledger = ledger, ledger.copy()
        self.locale, self.working_memory, self._summarizer = locale, working_memory, summarizer
        self._folded, self._counts, self._failure = list[int](), Counts(), ""

    def fold(self, rounds: Sequence[Round], *, others: Collection[int] = (), fit: bool = True) -> None:
        """Fold rounds, messages in other places and earlier summaries into one summary.

        Its body is the summarizer's text in a fence if that fits, else the text of earlier summaries. With ``fit``,
        summaries are trimmed if that keeps the limits. Without rounds or other places, nothing is folded.
        """
        ledger, messages, earlier = self.ledger, [*self.ledger.messages], self.summaries
        apart = frozenset(others).difference(earlier)
        folded = apart.union(*(one.all_positions for one in rounds))
        if folded:
            self._counts = Counts(len(rounds), sum(one.calls for one in rounds), len(apart))
            self._folded = gone = sorted(folded.union(earlier))
            summaries = [messages[at] for at in earlier]  # other code's text stays whole
            earlier_text = [_read(one.text)[2] if any(counts_of(one)) else one.text for one in summaries]
            pointers = our_pointers((messages[at] for at in gone), self.working_memory)
            body = "\n".join(filter(None, earlier_text))
            counts = counts_in(summaries).plus(self._counts)
            summary = summary_of(counts, self.locale, pointers=pointers, body=body)
            if reach := _reach(messages, gone):
                summary = replace(summary, metadata={**summary.metadata, _REACH: reach})
            ledger.drop(gone)
            ledger.put(gone[0], summary)
            if text := self._summarized([messages[at] for at in gone]):
                text = _written(placeholder(counts, self.locale), pointers, fence(defused(text, pointers), tag=_TAG))
                ledger.put(gone[0], replace(summary, content=text))
        if fit and ledger.is_over():
            full, failure = {place: ledger.messages[place] for place in self.summaries}, self._failure
            self.trim()
            if ledger.is_over():
                self._failure = failure
                for place, summary in full.items():
                    ledger.put(place, summary)

    def _summarized(self, folded: Sequence[Message]) -> str:
        """Return the summarizer's text for folded messages, within the room left; "" without a text or room."""
        if self._summarizer is None:
            return ""
        measure = self.ledger.measures[-1]
        room = measure.limit - self.ledger.tokens
        room = math.inf if room < 0 else room  # the rest alone is over the limit, but may still be cut
        max_tokens = min(_MAX_SUMMARY_TOKENS, room - measure.counter(f"\n{fence('', tag=_TAG)}"))
        if max_tokens < 1:
            self._failure = "too_long"
            return ""
        limit = budget_within(measure.counter, MAX_MODEL_INPUT_TOKENS)
        read = readable(folded, limit, token_counter=measure.counter, locale=self.locale)
        previous = "\n".join(message.text for message in read if is_summary(message))
        fresh = [message for message in read if not is_summary(message)]
        text, self._failure = ask(self._summarizer, fresh, previous or None, int(max_tokens))
        return text

    @property
    def summaries(self) -> list[int]:
        """Places of the summaries."""
        return [place for place in self.ledger.places if is_summary(self.ledger.messages[place])]

    def trim(self, *, pointers: bool = True) -> None:
        """Remove the body of each summary, then as many of its oldest ``pointers`` as the limits require."""
        places = self.summaries
        for place in places:
            self.ledger.put(place, without_body(self.ledger.messages[place]))
        for place in places:
            if pointers and self.ledger.is_over():
                drop_pointers(self.ledger, place)
        if self._folded and self._summarizer and not self._failure:
            self._failure = "too_long"

    @property
    def shortened(self) -> int:
        """Messages whose text was compressed or cut."""
        places = (place for place in self.ledger.places if not is_summary(self.ledger.messages[place]))
        return sum(self.ledger.messages[place] != self._original.messages[place] for place in places)

    def compaction(self, strategy: CompactionStrategy) -> Compaction:
        """Return the result."""
        ledger, messages = self.ledger, self._original.messages
        sent = ledger.sent
        return Compaction(
            messages=sent,
            sources=tuple(None if place in self._folded else place for place in ledger.places),
            strategy=strategy,
            rounds_folded=self._counts.rounds,
            calls_folded=self._counts.calls,
            calls_total=counts_in(sent).calls,
            results_shortened=self.shortened,
            tokens_before=self._original.tokens,
            tokens_after=ledger.tokens,
            chars_before=count_messages(messages, token_counter=len),
            chars_after=count_messages(sent, token_counter=len),
            same_beginning=common_beginning(messages, sent),
            over_limit=ledger.is_over(),
            failure=self._failure,
        )


def compressed(
    ledger: CountedMessages, results: ToolResults, place: int, *, position: int, age_rounds: int
) -> Message | None:
    """Return the compressed tool result in a place, or None if that does not cost less."""
    shorter = results.smaller(position, ledger.messages[place], age_rounds=age_rounds)
    return shorter if shorter and any(one.cost(shorter) < one.costs[place] for one in ledger.measures) else None


def drop_pointers(ledger: CountedMessages, place: int) -> None:
    """Drop the oldest pointers of the summary in a place, as few as meet the limits; all if that is not enough."""
    summary = ledger.messages[place]
    heading, pointers, body = _read(summary.text)
    for count in range(1, len(pointers) + 1):
        ledger.put(place, replace(summary, content=_written(heading, pointers[count:], body)))
        if not ledger.is_over():
            break


def fold_rounds(
    messages: Sequence[Message],
    keep: int,
    *,
    summarizer: Summarizer | PlainSummarizer | None = None,
    working_memory: Container[str] | None = None,
    locale: Locale | None = None,
    token_counter: TokenCounter | None = None,
) -> Compaction:
    """Return a conversation with one summary message in place of all answered rounds but the newest.

    System and user messages, answers to the user, and rounds with a call that has no result yet stay; so do messages
    that no provider would accept. An earlier summary is merged into the new one. With nothing to fold, you get the same
    messages in a new list. Source: specification 002-14, 002-20, 002-25, 002-28.

    Args:
        messages: the conversation.
        keep: newest answered rounds that stay, at least 0.
        summarizer: writes more than the placeholder. Source: specification 002-21.
        working_memory: of the thread, or the ids in it: only these pointers stay. None: those in compressed results.
        locale: ``zh`` or ``en``; None: as the first user message. Source: specification 002-20; English is ours.
        token_counter: counts tokens, also of the summarizer's input; None: ``TokenEstimator()``.

    Raises:
        ConfigError: ``keep`` is negative, or the language is unknown.
        TypeError: an argument has the wrong type.

    >>> from gatekeeper_core.messages import ToolCall
    >>> ask = Message("assistant", "", tool_calls=(ToolCall("a", "now", "{}"),))
    >>> answer = Message("tool", "12:00", tool_call_id="a")
    >>> [message.text for message in fold_rounds([Message("user", "?"), ask, answer, ask, answer], 1).messages]
    ['?', '[1 tool call executed, latest results below]', '', '12:00']
    """
    check_tokens("keep", keep)
    check_summary_settings(locale, working_memory, summarizer)
    count = checked_counter(token_counter)
    answered = [one for one in read_rounds(messages) if one.answered]
    locale = locale or conversation_locale(messages)
    rounds = answered[: max(0, len(answered) - keep)]
    ledger = CountedMessages(messages, token_counter=count, max_tokens=sys.maxsize)
    shrinking = Shrinking(ledger, locale, working_memory, summarizer)
    shrinking.fold(rounds)
    return shrinking.compaction("summary" if rounds else "none")
