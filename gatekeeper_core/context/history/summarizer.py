"""Summarizers that you plug in: accepted functions, their input, and their answers.

::

    messages ──over the limit?──> the longest texts cut to one level ──still over──> oldest messages left out ──> ask
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from gatekeeper_core.context.history.ledger import CountedMessages, cut
from gatekeeper_core.messages import FOLDED, Message, is_summary
from gatekeeper_core.text import Locale
from gatekeeper_core.tokens import TokenCounter

MAX_MODEL_INPUT_TOKENS = 24_000
"""Maximum tokens that a summarizer reads at once. Source: ours; eight times the trigger of a running summary."""


class Summarizer(Protocol):
    """A function that writes summaries, usually with a model; a ``PlainSummarizer`` of one argument works too."""

    def __call__(self, messages: Sequence[Message], previous: str | None, max_tokens: int, /) -> str:
        """Return a summary of the messages and of the previous summary.

        Args:
            messages: what to summarise, oldest first.
            previous: the summary of what came before the messages, or None.
            max_tokens: token limit of the text.
        """
        ...


PlainSummarizer = Callable[[Sequence[Message]], str]
"""A summarizer that takes only messages, an earlier summary first."""


class Answer(NamedTuple):
    """The text of a summarizer, stripped; "" with a failure: ``error: `` and its type, ``not_text`` or ``empty``."""

    text: str
    failure: str = ""


def check_summarizer(summarizer: object) -> None:
    """Check that a summarizer, if any, can be called; one without a readable signature passes.

    Raises:
        TypeError: it is not callable, is async, or takes other arguments.
    """
    if summarizer is None:
        return
    if not callable(summarizer):
        raise TypeError(f"summarizer must be callable, got {type(summarizer).__name__}")
    if inspect.iscoroutinefunction(summarizer) or inspect.iscoroutinefunction(type(summarizer).__call__):
        raise TypeError("summarizer must not be async: wrap it in a function that waits for the text")
    if not _arguments_of(summarizer):
        raise TypeError(
            "summarizer must take (messages, previous, max_tokens), or (messages) alone; "
            f"it takes {inspect.signature(summarizer)}"
        )


def _arguments_of(summarizer: Callable[..., object]) -> Literal[0, 1, 3]:
    """Return how many arguments to pass to a summarizer: 3 if required, named or any number; else 1; 0 if none fits."""
    try:
        signature = inspect.signature(summarizer)
    except (TypeError, ValueError):
        return 3

    def takes(count: int) -> bool:
        try:
            signature.bind(*[None] * count)
        except TypeError:
            return False
        return True

    parameters = tuple(signature.parameters.values())
    named = [one.name for one in parameters[1:3]] == ["previous", "max_tokens"]
    if takes(3) and (named or not takes(1) or any(one.kind is one.VAR_POSITIONAL for one in parameters)):
        return 3
    return 1 if takes(1) and parameters[0].annotation not in (str, "str") else 0


def ask(
    summarizer: Summarizer | PlainSummarizer, messages: Sequence[Message], previous: str | None, max_tokens: int
) -> Answer:
    """Return a summarizer's answer, or why there is no text; the caller checks the length."""
    call: Any = summarizer
    try:
        if _arguments_of(call) == 3:
            text = call(messages, previous, max_tokens)
        else:
            before = [Message("user", previous, metadata={"synthetic": FOLDED})] if previous else []
            text = call([*before, *messages])
    except Exception as error:  # noqa: BLE001 - the caller's own function, most often a model: it may raise anything
        return Answer("", f"error: {type(error).__name__}")
    if not isinstance(text, str):
        return Answer("", "not_text")
    return Answer(text.strip(), "" if text.strip() else "empty")


def readable(messages: Sequence[Message], limit: int, *, token_counter: TokenCounter, locale: Locale) -> list[Message]:
    """Return messages that fit in a token limit; ``locale`` is the language of the mark at a cut.

    The longest texts lose their middle, all down to one level, so that short messages stay whole; if that is not
    enough, the oldest messages are dropped, earlier summaries last. Source: specification 003-32 and 003-41 (cut before
    it is summarised, by the one counter); the level is ours.
    """
    ledger = CountedMessages(messages, token_counter=token_counter, max_tokens=limit)
    measure = ledger.measures[-1]
    costs = measure.costs
    level = _level(costs, limit)
    for place, message in enumerate(ledger.messages):
        if costs[place] > level and ledger.is_over():
            ledger.put(place, cut(message, level, measure, locale=locale))
    for place in sorted(range(len(costs)), key=lambda place: (is_summary(ledger.messages[place]), place)):
        if ledger.is_over():
            ledger.drop([place])
    return ledger.sent


def _level(costs: Sequence[int], limit: int) -> int:
    """Return the highest level to which each cost can be cut so that their sum is within a limit.

    >>> _level([5, 90, 30], 60)
    27
    """
    remaining = limit
    for lower, cost in enumerate(sorted(costs)):
        share = remaining // (len(costs) - lower)
        if cost > share:
            return share
        remaining -= cost
    return max(costs, default=0)
