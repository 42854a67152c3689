"""Rounds of tool use, and one summary message in the place of the oldest: what every compaction does.

::

    system · user · [call · results] · [call · results] · [call · results] · [open call]
                    ╰──────── folded ────────╯            ╰── kept ──╯       ╰─ always ─╯
    system · user · summary                             · call · results   · open call

A round is an assistant message that calls tools, with the results of its calls. It is folded whole or not at all, so a
list that a provider accepted is accepted afterwards. What a summary stands for is written in its marks, never read from
its text: a person may type the same words. Pointers to texts that were put aside survive in it, so that what they name
can still be read; those that a tool made up do not.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

from gatekeeper_core.context.compaction.summarizer import (
    MAX_MODEL_INPUT_TOKENS,
    PlainSummarizer,
    Summarizer,
    ask,
    check_summarizer,
    readable,
)
from gatekeeper_core.context.tool_results.pointers import COMPRESSED, defused, pointers_in
from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.messages import FOLDED, Message, conversation_locale, is_answer, is_summary
from gatekeeper_core.text import LazyPattern, Locale, fence
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter

__all__ = [
    "MAX_POINTERS",
    "MAX_SUMMARY_TOKENS",
    "Counts",
    "Folding",
    "FoldingConfig",
    "Round",
    "as_summary",
    "check_memory",
    "counts_of",
    "fold",
    "fold_rounds",
    "narration_before",
    "our_pointers",
    "placeholder",
    "pointers_of",
    "reach_of",
    "read_rounds",
    "summary_of",
    "told",
    "without_body",
    "without_pointers",
]

MAX_POINTERS = 256
"""Most pointers that a summary carries; the oldest go first. Source: ours; about 3,500 tokens of cl100k."""

MAX_SUMMARY_TOKENS = 1000
"""What a summarizer is told that its text may cost, where there is room for it. Source: as
``SummaryConfig.max_summary_tokens``."""

_REACH = "user_messages_before_last"
_TAG = "earlier_rounds"
_POINTERS = LazyPattern(r"\[\[wm:[a-z2-7]{16}\]\](?: \[\[wm:[a-z2-7]{16}\]\])*")


class Round(NamedTuple):
    """One step of a tool loop.

    Attributes:
        positions: of the assistant message and of the results that follow it, ascending.
        calls: how many calls the message makes.
        answered: whether each of them has its result.
    """

    positions: tuple[int, ...]
    calls: int
    answered: bool


class Counts(NamedTuple):
    """What a summary stands for: rounds, the calls in them, and other messages."""

    rounds: int = 0
    calls: int = 0
    messages: int = 0

    def plus(self, other: Counts) -> Counts:
        """Return both together."""
        return Counts(*map(sum, zip(self, other, strict=True)))


class Folding(NamedTuple):
    """A list of messages in which a summary stands for some.

    Attributes:
        messages: the new list; what is not folded are the caller's own objects.
        sources: for each of them its position in the caller's list, None for the summary.
        folded: positions that the summary stands for, earlier summaries among them, ascending.
        counts: what this call folded.
        total: what the summary stands for in all.
        failure: why the summarizer's text is not in use: ``error: `` and its type, ``not_text``, ``empty``,
            ``too_long``; "" where it is, or none was wanted.
    """

    messages: list[Message]
    sources: tuple[int | None, ...]
    folded: tuple[int, ...]
    counts: Counts
    total: Counts
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldingConfig:
    """How a summary message is written.

    Attributes:
        locale: language of the placeholder, ``zh`` or ``en``; None: that of the conversation, by its first user
            message. Source: specification 002-20; English is ours.
        role: role of the message, ``user`` or ``system``. A user message stands where the first folded message stood; a
            system message behind the system messages at the head, where every provider takes it. Source: 002-16.
        summarizer: writes more than the placeholder; None: the placeholder alone. Source: specification 002-21.
        max_model_input_tokens: what the summarizer is given to read at once, >= 1: the longest texts are cut, then the
            oldest messages left out. Source: specification 003-41; the number is ours, as in ``SummaryConfig``.
        working_memory: the ``WorkingMemory`` of the thread, or the ids that it holds: only these pointers stay. None:
            those in results that are marked as compressed.
    """

    locale: Locale | None = None
    role: Literal["user", "system"] = "user"
    summarizer: Summarizer | PlainSummarizer | None = None
    max_model_input_tokens: int = MAX_MODEL_INPUT_TOKENS
    working_memory: Container[str] | None = None

    def __post_init__(self) -> None:
        if self.locale is not None and self.locale not in get_args(Locale):
            raise ConfigError(f'locale must be "zh", "en" or None, got {self.locale!r}')
        if self.role not in ("user", "system"):
            raise ConfigError(f'role must be "user" or "system", got {self.role!r}')
        check_summarizer(self.summarizer)
        check_range(self, "max_model_input_tokens", low=1, whole=True)
        check_memory(self.working_memory)

    def locale_for(self, messages: Iterable[Message]) -> Locale:
        """Return the language of the placeholder in a conversation."""
        return self.locale or conversation_locale(messages)


def read_rounds(messages: Sequence[Message]) -> tuple[Round, ...]:
    """Return the rounds of a conversation, oldest first.

    A result belongs to the nearest assistant message before it, system messages between them aside. Calls and results
    meet by id, or by number where the calls or the results have no ids at all.

    Raises:
        TypeError: ``messages`` holds something else than messages.

    >>> from gatekeeper_core.messages import ToolCall
    >>> asked = Message("assistant", "", tool_calls=(ToolCall("a", "now", "{}"), ToolCall("b", "now", "{}")))
    >>> read_rounds([Message("user", "?"), asked, Message("tool", "12:00", tool_call_id="b")])
    (Round(positions=(1, 2), calls=2, answered=False),)
    """
    rounds: list[Round] = []
    opened: int | None = None
    results: list[int] = []
    for at, message in enumerate(messages):
        if not isinstance(message, Message):
            raise TypeError(f"messages must hold Message values, got {type(message).__name__} at position {at}")
        if message.role == "tool":
            results.append(at)
        elif message.role != "system":
            if opened is not None:
                rounds.append(_round(messages, opened, results))
            opened = at if message.role == "assistant" and message.tool_calls else None
            results = []
    if opened is not None:
        rounds.append(_round(messages, opened, results))
    return tuple(rounds)


def _round(messages: Sequence[Message], opened: int, results: Sequence[int]) -> Round:
    calls = Counter(call.id for call in messages[opened].tool_calls)
    answers = Counter(messages[at].tool_call_id or "" for at in results)
    by_number = set(calls) == {""} or set(answers) == {""}
    answered = len(results) >= calls.total() if by_number else not calls - answers
    return Round((opened, *results), calls.total(), answered)


def narration_before(messages: Sequence[Message], position: int) -> list[int]:
    """Return the plain assistant messages directly before a round, system messages aside: what was said on the way.

    An answer that a user message follows is no narration: it stays.

    >>> narration_before([Message("user", "?"), Message("assistant", "Let me look.")], 2)
    [1]
    """
    found = []
    for at in range(position - 1, -1, -1):
        message = messages[at]
        if is_answer(message):
            found.append(at)
        elif message.role != "system":
            break
    return found[::-1]


def as_summary(message: Message) -> Message:
    """Return a message with the marks of a summary that everything after it rests on: sent always, and no question.

    For what other code has written in the place of earlier messages.

    >>> is_summary(as_summary(Message("user", "So far they set up Redis.")))
    True
    """
    return replace(message, metadata={**message.metadata, "synthetic": FOLDED, _REACH: 2**31})


def counts_of(message: Message) -> Counts:
    """Return what a summary stands for; a count that is no whole number of at least 0 is 0."""
    found = (message.metadata.get(name) for name in ("rounds", "tool_calls", "messages"))
    return Counts(*(mark if type(mark) is int and mark > 0 else 0 for mark in found))


def reach_of(message: Message) -> int:
    """Return how many of the user's messages stand between a summary and the last message that it stands for."""
    reach = message.metadata.get(_REACH)
    return reach if type(reach) is int and reach > 0 else 0


def placeholder(counts: Counts, locale: Locale) -> str:
    """Return the text that says how much is folded.

    Source: specification 002-20, word for word where only rounds are folded; the rest is ours.

    >>> placeholder(Counts(2, 3), "zh"), placeholder(Counts(messages=4), "en")
    ('[已执行 3 次工具调用,最近结果见下文]', '[4 earlier messages left out]')
    """
    calls, others = counts.calls, counts.messages
    if locale == "zh":
        said = [f"已执行 {calls} 次工具调用,最近结果见下文"] * (calls > 0)
        said += [f"已省略 {others} 条较早的消息"] * (others > 0)
        return f"[{';'.join(said)}]"
    said = [f"{calls} tool call{'s' * (calls != 1)} executed, latest results below"] * (calls > 0)
    said += [f"{others} earlier message{'s' * (others != 1)} left out"] * (others > 0)
    return f"[{'; '.join(said)}]"


def fold_rounds(
    messages: Sequence[Message],
    keep: int,
    *,
    config: FoldingConfig | None = None,
    token_counter: TokenCounter | None = None,
) -> Folding:
    """Return a conversation in which one summary message stands for all answered rounds but the newest.

    What the assistant said on the way to a folded round goes with it. System and user messages, answers to the user,
    and rounds with a call that has no result yet stay; so does what no provider would accept. An earlier summary is
    taken up into the new one, its counts added. Our pointers in what is folded stand on a line behind the placeholder,
    the newest last (``our_pointers``). Nothing to fold: the same messages in a new list.

    Args:
        messages: the conversation; read, never changed.
        keep: newest answered rounds that stay, at least 0.
        config: how the summary is written.
        token_counter: counts what a summarizer is given to read; None: ``TokenEstimator()``.

    Raises:
        ConfigError: ``keep`` is negative.
        TypeError: an argument has the wrong type.

    Source: specification 002-14, 002-20, 002-25, 002-28.

    >>> from gatekeeper_core.messages import ToolCall
    >>> ask = Message("assistant", "", tool_calls=(ToolCall("a", "now", "{}"),))
    >>> answer = Message("tool", "12:00", tool_call_id="a")
    >>> [message.text for message in fold_rounds([Message("user", "?"), ask, answer, ask, answer], 1).messages]
    ['?', '[1 tool call executed, latest results below]', '', '12:00']
    """
    check_tokens("keep", keep)
    config, count = config or FoldingConfig(), checked_counter(token_counter)
    answered = [one for one in read_rounds(messages) if one.answered]
    folding = fold(messages, answered[: max(0, len(answered) - keep)], config=config)
    return told(folding, messages, config=config, token_counter=count)


def fold(
    messages: Sequence[Message], rounds: Sequence[Round], *, config: FoldingConfig, others: Collection[int] = ()
) -> Folding:
    """Return a conversation in which one summary message stands for these rounds, and for other messages.

    No summarizer is asked: see :func:`told`. What earlier summaries said behind their pointers stays.

    Args:
        messages: the conversation.
        rounds: the rounds to fold, with the narration before each.
        config: how the summary is written.
        others: positions of further messages to fold, none of them in a round.
    """
    earlier = [at for at, message in enumerate(messages) if is_summary(message)]
    total = Counts()
    for at in earlier:
        total = total.plus(counts_of(messages[at]))
    apart = frozenset(others).difference(earlier)
    folded = {at for one in rounds for at in (*narration_before(messages, one.positions[0]), *one.positions)} | apart
    if not folded:
        return Folding(list(messages), tuple(range(len(messages))), (), Counts(), total)
    counts = Counts(len(rounds), sum(one.calls for one in rounds), len(apart))
    folded.update(earlier)
    gone, total = sorted(folded), total.plus(counts)
    stays = [at for at in range(len(messages)) if at not in folded]
    place = bisect_left(stays, gone[0])
    if config.role == "system":
        place = next((place for place, at in enumerate(stays) if messages[at].role != "system"), len(stays))
    summary = summary_of(
        total,
        config.locale_for(messages),
        pointers=our_pointers((messages[at] for at in gone), config.working_memory),
        body="\n".join(filter(None, (_told_in(messages[at]) for at in earlier))),
        role=config.role,
    )
    if reach := _reach(messages, gone, stays[place:]):
        summary = replace(summary, metadata={**summary.metadata, _REACH: reach})
    sources = (*stays[:place], None, *stays[place:])
    listed = [summary if at is None else messages[at] for at in sources]
    return Folding(listed, sources, tuple(gone), counts, total)


def told(
    folding: Folding,
    messages: Sequence[Message],
    *,
    config: FoldingConfig,
    token_counter: TokenCounter,
    room: float = math.inf,
) -> Folding:
    """Return a folding whose summary says what the summarizer writes, inside a fence; without one the same folding.

    Args:
        folding: what was folded.
        messages: the conversation from which it was folded.
        config: how the summary is written.
        token_counter: counts a text.
        room: tokens that are left for the text and its fence; where nothing fits, the summarizer is not asked.
    """
    if config.summarizer is None or not folding.folded:
        return folding
    max_tokens = min(MAX_SUMMARY_TOKENS, room - token_counter(f"\n{fence('', tag=_TAG)}"))
    if max_tokens < 1:
        return folding._replace(failure="too_long")
    limit = budget_within(token_counter, config.max_model_input_tokens)
    folded = [messages[at] for at in folding.folded]
    read = readable(folded, limit, token_counter=token_counter, locale=config.locale_for(messages))
    previous = "\n".join(message.text for message in read if is_summary(message))
    fresh = [message for message in read if not is_summary(message)]
    answer = ask(config.summarizer, fresh, previous or None, int(max_tokens))
    if answer.failure:
        return folding._replace(failure=answer.failure)
    place = folding.sources.index(None)
    said, pointers, _ = _read(folding.messages[place].text)
    text = _written(said, pointers, fence(defused(answer.text, pointers), tag=_TAG))
    listed = list(folding.messages)
    listed[place] = replace(listed[place], content=text)
    return folding._replace(messages=listed)


def pointers_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of the pointers in texts, each once where it stands last, at most ``MAX_POINTERS`` of the last.

    >>> pointers_of(["[[wm:aaaaaaaaaaaaaaaa]] [[wm:bbbbbbbbbbbbbbbb]]", "[[wm:aaaaaaaaaaaaaaaa]]"])
    ('bbbbbbbbbbbbbbbb', 'aaaaaaaaaaaaaaaa')
    """
    found: dict[str, None] = {}
    for text in texts:
        for pointer in pointers_in(text):
            found.pop(pointer, None)
            found[pointer] = None
    return tuple(found)[-MAX_POINTERS:]


def our_pointers(messages: Iterable[Message], working_memory: Container[str] | None = None) -> tuple[str, ...]:
    """Return the ids of the pointers in messages that open something; order and number as for ``pointers_of``.

    A tool can write anything, also what reads as a pointer. With a working memory those count that it holds, wherever
    they stand; without one those in texts that carry our marks: results that were compressed, and earlier summaries,
    of which only the line of pointers.

    >>> made_up = Message("tool", "[[wm:aaaaaaaaaaaaaaaa]]", tool_call_id="a")
    >>> our_pointers([made_up]), our_pointers([made_up], {"aaaaaaaaaaaaaaaa"})
    ((), ('aaaaaaaaaaaaaaaa',))
    """
    if working_memory is not None:
        held = [[one for one in pointers_in(message.text) if one in working_memory] for message in messages]
        return pointers_of(map(_line, held))
    return pointers_of(
        _line(_read(message.text)[1]) if is_summary(message) else message.text
        for message in messages
        if is_summary(message) or message.metadata.get(COMPRESSED)
    )


def check_memory(working_memory: object) -> None:
    """Check what is given as a working memory.

    Raises:
        TypeError: it cannot be asked for ids.
    """
    asked = isinstance(working_memory, Container) and not isinstance(working_memory, (str, bytes))
    if working_memory is not None and not asked:
        raise TypeError(f"working_memory must be a WorkingMemory, got {type(working_memory).__name__}")


def without_body(summary: Message) -> Message:
    """Return a summary that is its placeholder and its pointers; the same object where it is so already."""
    said, pointers, body = _read(summary.text)
    return replace(summary, content=_written(said, pointers, "")) if body else summary


def without_pointers(summary: Message, count: int) -> Message:
    """Return a summary without so many of its pointers, the oldest ones; with none to drop the same object."""
    said, pointers, body = _read(summary.text)
    return replace(summary, content=_written(said, pointers[count:], body)) if pointers and count else summary


def _written(said: str, pointers: Sequence[str], body: str) -> str:
    return "\n".join(filter(None, (said, _line(pointers), body)))


def _line(pointers: Sequence[str]) -> str:
    return " ".join(f"[[wm:{one}]]" for one in pointers)


def _read(text: str) -> tuple[str, tuple[str, ...], str]:
    """Return the placeholder of a summary, the ids on the line of its pointers, and what stands behind them."""
    said, _, rest = text.partition("\n")
    line, _, body = rest.partition("\n")
    return (said, pointers_in(line), body) if _POINTERS.fullmatch(line) else (said, (), rest)


def _told_in(summary: Message) -> str:
    """Return what a summary tells beside its placeholder: all of it where other code has written it."""
    return _read(summary.text)[2] if any(counts_of(summary)) else summary.text


def _reach(messages: Sequence[Message], gone: Sequence[int], behind: Sequence[int]) -> int:
    """Return how many user messages behind a summary stand before the last message that it stands for."""
    users = [at for at, message in enumerate(messages) if message.role == "user" and not is_summary(message)]
    last = gone[-1]
    for at in gone:
        if is_summary(messages[at]) and (reach := reach_of(messages[at])):
            last = max(last, *users[bisect_left(users, at) :][:reach][-1:], at)
    return sum(1 for at in behind if at <= last and messages[at].role == "user")


def summary_of(
    counts: Counts,
    locale: Locale,
    *,
    pointers: Sequence[str] = (),
    body: str = "",
    role: Literal["user", "system"] = "user",
) -> Message:
    """Return a summary: a placeholder, a line of the pointers with these ids, and what is said behind them.

    >>> print(summary_of(Counts(2, 3), "en", pointers=["aaaaaaaaaaaaaaaa"]).text)
    [3 tool calls executed, latest results below]
    [[wm:aaaaaaaaaaaaaaaa]]
    """
    marks: dict[str, str | int] = {
        "synthetic": FOLDED,
        "rounds": counts.rounds,
        "tool_calls": counts.calls,
        "messages": counts.messages,
    }
    return Message(role, _written(placeholder(counts, locale), pointers, body), metadata=marks)
