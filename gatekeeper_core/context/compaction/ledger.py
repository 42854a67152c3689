"""What each message of a list costs in characters and tokens, kept right while messages are folded and cut."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gatekeeper_core.messages import MediaKind, MediaPart, Message, TextPart, with_text
from gatekeeper_core.text import Locale
from gatekeeper_core.tokens import TokenCounter, count_message
from gatekeeper_core.truncation import truncate_middle

__all__ = ["Ledger", "Measure", "cut", "shorten"]

_CUT_MARKERS: dict[Locale, str] = {"zh": "\n……[已省略 {omitted} 字节]……\n", "en": "\n… [{omitted} bytes omitted] …\n"}
_LONG_MARK = "1000000"  # what a mark may say, for the room that it needs
_MEDIA_NAMES: dict[Locale, Mapping[MediaKind, str]] = {
    "zh": {"image": "图片", "audio": "音频", "video": "视频", "document": "文件", "other": "其他内容"},
    "en": {"image": "image", "audio": "recording", "video": "video", "document": "document", "other": "attachment"},
}


class Measure(NamedTuple):
    """A way to measure messages, and the limit for all of them together."""

    counter: TokenCounter
    limit: float

    def cost(self, message: Message) -> int:
        """Return what a message costs."""
        return count_message(message, token_counter=self.counter)


class Ledger:
    """A list of messages with its books: each message is counted once, and again only when it changes.

    Its two measures are characters and tokens, in this order. In both, a part that is no text counts its tokens.

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
        self.sources: list[int | None] = [*range(len(self.messages))]
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

    def add(self, message: Message, source: int, tokens: int) -> None:
        """Add a message from a position of the caller's list, whose tokens are known."""
        self.messages.append(message)
        self.sources.append(source)
        for which, cost in enumerate((self.measures[0].cost(message), tokens)):
            self.costs[which].append(cost)
            self._totals[which] += cost

    def drop(self, places: Iterable[int]) -> None:
        """Take messages off the books: they keep their places, and cost nothing any more."""
        for place in places:
            for which, costs in enumerate(self.costs):
                self._totals[which] -= costs[place]
                costs[place] = 0

    def cost_of(self, which: int, places: Iterable[int]) -> int:
        """Return what some of the messages cost together."""
        return sum(map(self.costs[which].__getitem__, places))

    def folded(self, messages: Sequence[Message], sources: Sequence[int | None]) -> Ledger:
        """Return the books of some of these messages, and of a summary: the only one that is counted.

        Args:
            messages: the new list.
            sources: for each of them its place in this list, None for the summary.
        """
        other = Ledger.__new__(Ledger)
        other.measures, other.messages = self.measures, list(messages)
        other.sources = [None if at is None else self.sources[at] for at in sources]
        pairs = list(zip(sources, messages, strict=True))
        other.costs = tuple(
            [measure.cost(message) if at is None else costs[at] for at, message in pairs]
            for measure, costs in zip(self.measures, self.costs, strict=True)
        )
        other._totals = [sum(costs) for costs in other.costs]
        return other


def shorten(
    ledger: Ledger, places: Iterable[int], *, locale: Locale, share: float = 1.0, floors: Sequence[int] = (0, 0)
) -> int:
    """Cut the texts in these places, one after another, until the totals are within a share of the limits.

    Args:
        ledger: the books; changed.
        places: which messages may be cut, in their order.
        locale: language of the mark at the cut.
        share: of each limit, that is aimed at.
        floors: what a message is not cut below, in characters and in tokens.

    Returns:
        How many messages were cut.
    """
    count = 0
    for place in places:
        message = ledger.messages[place]
        for which, measure in enumerate(ledger.measures):
            excess, cost = ledger.excess(which, share), ledger.costs[which][place]
            if excess and cost > floors[which]:
                shorter = cut(ledger.messages[place], max(floors[which], cost - excess), measure, locale=locale)
                ledger.put(place, shorter)
        count += ledger.messages[place] != message
    return count


def cut(message: Message, budget: int, measure: Measure, *, locale: Locale) -> Message:
    r"""Return a message whose text lost its middle, so that it costs at most the budget if an empty text would.

    Parts that are no text stay, in their order, as long as a text with the mark of its cut fits beside them. Otherwise
    the text ends with what they were, if there is room. Calls and names stay.

    >>> cut(Message("tool", "x" * 99, tool_call_id="a"), 30, Measure(len, 0), locale="en").text
    'xxxx\n… [93 bytes omitted] …\nxx'
    """
    mark, count = _CUT_MARKERS[locale], measure.counter
    parts = () if isinstance(message.content, str) else message.content
    media = [part.kind for part in parts if isinstance(part, MediaPart)]
    room = budget - measure.cost(with_text(message, ""))
    if media and room >= count(mark.replace("{omitted}", _LONG_MARK)):
        return with_text(message, truncate_middle(message.text, room, token_counter=count, marker=mark))
    bare = replace(message, content="")
    room = max(0, budget - measure.cost(bare))
    note = _left_out(media, locale) if media else ""
    note = note if count(note) <= room else ""
    text = truncate_middle(message.text, room - count(note), token_counter=count, marker=mark)
    # A part each, because counts do not add up where texts are joined.
    return replace(bare, content=(TextPart(text), TextPart(note)) if text and note else text or note)


def _left_out(media: Iterable[MediaKind], locale: Locale) -> str:
    """Return the line that says which parts are gone.

    >>> _left_out(["image", "document", "image"], "en"), _left_out(["image", "audio"], "zh")
    ('[2 images, 1 document omitted]', '[已省略 1 个图片、1 个音频]')
    """
    counts, names = Counter(media), _MEDIA_NAMES[locale]
    if locale == "zh":
        return f"[已省略 {'、'.join(f'{count} 个{names[kind]}' for kind, count in counts.items())}]"
    said = (f"{count} {names[kind]}{'s' * (count > 1)}" for kind, count in counts.items())
    return f"[{', '.join(said)} omitted]"
