"""What each message of a list costs in characters and tokens, kept right while messages are folded and cut."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from gatekeeper_core.context.rounds import Folding, Locale
from gatekeeper_core.messages import Message
from gatekeeper_core.tokens import TokenCounter, count_message
from gatekeeper_core.truncation import truncate_middle

__all__ = ["Ledger", "Measure", "cut", "shorten"]

_CUT_MARKERS: dict[Locale, str] = {"zh": "\n……[已省略 {omitted} 字节]……\n", "en": "\n… [{omitted} bytes omitted] …\n"}


class Measure(NamedTuple):
    """One way to measure messages, and the limit for all of them together."""

    counter: TokenCounter
    limit: float

    def cost(self, message: Message) -> int:
        """Return what a message costs."""
        return count_message(message, token_counter=self.counter)


class Ledger:
    """A list of messages with its books: each message is counted once, and again only when it changes.

    Args:
        messages: the messages.
        token_counter: counts a text.
        max_tokens: limit for the tokens of all.
        max_chars: limit for the characters of all; a part that is no text counts as many as it costs tokens.

    >>> ledger = Ledger([Message("user", "hello")], token_counter=len, max_tokens=4)
    >>> ledger.tokens, ledger.is_over()
    (5, True)
    """

    __slots__ = ("_totals", "costs", "measures", "messages", "sources")

    def __init__(
        self, messages: Sequence[Message], *, token_counter: TokenCounter, max_tokens: int, max_chars: float = math.inf
    ) -> None:
        self.measures = (Measure(len, max_chars), Measure(token_counter, max_tokens))
        self.messages = list(messages)
        self.sources: tuple[int | None, ...] = tuple(range(len(self.messages)))
        self.costs = tuple([measure.cost(message) for message in self.messages] for measure in self.measures)
        self._totals = [sum(costs) for costs in self.costs]

    @property
    def chars(self) -> int:
        """Characters of all messages."""
        return self._totals[0]

    @property
    def tokens(self) -> int:
        """Tokens of all messages."""
        return self._totals[1]

    def is_over(self, share: float = 1.0) -> bool:
        """Return whether one of the totals is over this share of its limit."""
        return any(total > share * measure.limit for total, measure in zip(self._totals, self.measures, strict=True))

    def excess(self, which: int, share: float) -> int:
        """Return by how much one of the totals is over this share of its limit, at least 0."""
        limit = self.measures[which].limit
        return 0 if limit == math.inf else max(0, self._totals[which] - math.floor(share * limit))

    def put(self, place: int, message: Message) -> None:
        """Put a message in the place of another."""
        self.messages[place] = message
        for which, measure in enumerate(self.measures):
            cost = measure.cost(message)
            self._totals[which] += cost - self.costs[which][place]
            self.costs[which][place] = cost

    def cost_of(self, which: int, places: Iterable[int]) -> int:
        """Return what some of the messages cost together."""
        return sum(map(self.costs[which].__getitem__, places))

    def folded(self, folding: Folding) -> Ledger:
        """Return the books of a folding of these messages; only its summary is counted."""
        other = Ledger.__new__(Ledger)
        other.measures, other.messages = self.measures, list(folding.messages)
        other.sources = tuple(None if at is None else self.sources[at] for at in folding.sources)
        pairs = list(zip(folding.sources, folding.messages, strict=True))
        other.costs = tuple(
            [measure.cost(message) if at is None else costs[at] for at, message in pairs]
            for measure, costs in zip(self.measures, self.costs, strict=True)
        )
        other._totals = [sum(costs) for costs in other.costs]
        return other


def shorten(
    ledger: Ledger, places: Iterable[int], *, locale: Locale, share: float = 1.0, floors: Sequence[int] = (0, 0)
) -> int:
    """Cut the texts of messages in their middle, one after another, until the totals are within a share of the limits.

    Args:
        ledger: the books; changed.
        places: which messages may be cut, in the order in which they are.
        locale: language of the mark at the cut.
        share: of each limit, that is aimed at.
        floors: what a message is not cut below, in characters and in tokens.

    Returns:
        How many messages were cut.
    """
    count = 0
    for place in places:
        message = ledger.messages[place]
        versions = [message]
        for which, measure in enumerate(ledger.measures):
            excess, cost = ledger.excess(which, share), ledger.costs[which][place]
            if excess and cost > floors[which]:
                versions.append(cut(message, max(floors[which], cost - excess), measure, locale=locale))
        shortest = min(versions, key=lambda version: (len(version.text), not isinstance(version.content, str)))
        if shortest is not message:
            ledger.put(place, shortest)
            count += 1
    return count


def cut(message: Message, budget: int, measure: Measure, *, locale: Locale) -> Message:
    r"""Return a message whose text lost its middle, so that it costs at most the budget if an empty text would.

    Parts that are no text go with the cut. Calls and names stay, and are part of the cost.

    >>> cut(Message("tool", "x" * 99, tool_call_id="a"), 30, Measure(len, 0), locale="en").text
    'xxxx\n… [93 bytes omitted] …\nxx'
    """
    bare = replace(message, content="")
    room = max(0, budget - measure.cost(bare))
    text = truncate_middle(message.text, room, token_counter=measure.counter, marker=_CUT_MARKERS[locale])
    return replace(bare, content=text)
