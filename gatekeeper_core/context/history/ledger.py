"""Costs of each message in characters and tokens, kept up to date while messages are folded and cut."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from gatekeeper_core.messages import MediaKind, MediaPart, Message, TextPart, with_text
from gatekeeper_core.text import Locale
from gatekeeper_core.tokens import TokenCounter, count_message
from gatekeeper_core.truncation import truncate_middle

_CUT_MARKERS: dict[Locale, str] = {"zh": "\n……[已省略 {omitted} 字节]……\n", "en": "\n… [{omitted} bytes omitted] …\n"}
_LONG_MARK = "1000000"  # the longest count in a mark, to reserve room for it
_MEDIA_NAMES: dict[Locale, Mapping[MediaKind, str]] = {
    "zh": {"image": "图片", "audio": "音频", "video": "视频", "document": "文件", "other": "其他内容"},
    "en": {"image": "image", "audio": "recording", "video": "video", "document": "document", "other": "attachment"},
}


class Measure:
    """Costs of each message in one unit, and the limit of their sum."""

    def __init__(self, counter: TokenCounter, limit: float, costs: Iterable[int] = ()) -> None:
        self.counter = counter
        self.limit = limit
        self.costs = list(costs)
        self.total = sum(self.costs)

    def cost(self, message: Message) -> int:
        """Return the cost of a message."""
        return count_message(message, token_counter=self.counter)

    def cost_of(self, places: Iterable[int]) -> int:
        """Return the total cost of the messages in some places."""
        return sum(map(self.costs.__getitem__, places))

    def excess(self, share: float) -> int:
        """Return by how much the total exceeds this share of the limit, at least 0."""
        return max(0, self.total - math.floor(share * self.limit))

    def put(self, place: int, cost: int) -> None:
        """Set the cost of a place."""
        self.total += cost - self.costs[place]
        self.costs[place] = cost


class CountedMessages:
    """A list of messages with their costs: each message is counted once, and again only when it changes.

    The last measure is tokens; characters come before it if they have a limit. In both, a part that is not text counts
    its tokens. A dropped message keeps its place, is listed in ``gone``, and costs nothing.
    """

    def __init__(
        self, messages: Sequence[Message], *, token_counter: TokenCounter, max_tokens: int, max_chars: float = math.inf
    ) -> None:
        self.messages = list(messages)
        self.gone: set[int] = set()
        limits: tuple[tuple[TokenCounter, float], ...] = ((len, max_chars), (token_counter, max_tokens))
        self.measures = tuple(
            Measure(counter, limit, [count_message(message, token_counter=counter) for message in self.messages])
            for counter, limit in limits
            if limit < math.inf
        )

    def copy(self) -> CountedMessages:
        """Return an independent copy."""
        other = copy(self)
        other.messages, other.gone = [*self.messages], {*self.gone}
        other.measures = tuple(Measure(one.counter, one.limit, one.costs) for one in self.measures)
        return other

    @property
    def places(self) -> list[int]:
        """Places of the messages that are not dropped."""
        return [place for place in range(len(self.messages)) if place not in self.gone]

    @property
    def sent(self) -> list[Message]:
        """The messages that are not dropped."""
        return [self.messages[place] for place in self.places]

    @property
    def tokens(self) -> int:
        """Tokens of all messages."""
        return self.measures[-1].total

    def is_over(self, share: float = 1.0) -> bool:
        """Return whether any total exceeds this share of its limit."""
        return any(measure.excess(share) for measure in self.measures)

    def put(self, place: int, message: Message) -> None:
        """Replace the message in a place, even a dropped one."""
        self.messages[place] = message
        self.gone.discard(place)
        for measure in self.measures:
            measure.put(place, measure.cost(message))

    def add(self, message: Message, tokens: int) -> None:
        """Append a message; the list must be measured in tokens only."""
        self.messages.append(message)
        self.measures[-1].costs.append(tokens)
        self.measures[-1].total += tokens

    def drop(self, places: Iterable[int]) -> None:
        """Drop the messages in these places."""
        for place in places:
            self.gone.add(place)
            for measure in self.measures:
                measure.put(place, 0)

    def cut(self, places: Iterable[int], *, locale: Locale, share: float = 1.0, floors: Sequence[int] = (0, 0)) -> None:
        """Cut texts, in this order, until the totals are within a share of the limits; none below the ``floors``."""
        for place in places:
            for measure, floor in zip(self.measures, floors[-len(self.measures) :], strict=True):
                excess, cost = measure.excess(share), measure.costs[place]
                if excess and cost > floor:
                    self.put(place, cut(self.messages[place], max(floor, cost - excess), measure, locale=locale))


def cut(message: Message, budget: int, measure: Measure, *, locale: Locale) -> Message:
    r"""Return a message with the middle of its text cut, to cost at most the budget if an empty text would.

    Media parts stay, in order, if a text with the mark of its cut fits beside them. Otherwise the text ends with a line
    that counts them, as ``[2 images, 1 document omitted]``, if there is room. Calls and names stay.

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
    kinds, names = Counter(media).items(), _MEDIA_NAMES[locale]
    if locale == "zh":
        note = f"[已省略 {'、'.join(f'{number} 个{names[kind]}' for kind, number in kinds)}]"
    else:
        parts_gone = ", ".join(f"{number} {names[kind]}{'s' * (number > 1)}" for kind, number in kinds)
        note = f"[{parts_gone} omitted]"
    note = note if media and count(note) <= room else ""
    text = truncate_middle(message.text, room - count(note), token_counter=count, marker=mark)
    # Separate parts, because counts do not add up when texts are joined.
    return replace(bare, content=(TextPart(text), TextPart(note)) if text and note else text or note)
