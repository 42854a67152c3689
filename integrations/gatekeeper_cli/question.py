"""A question: its anchors as sent texts hold them and as a reader takes them, and the turns that it is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_cli.words import words_by_pair
from gatekeeper_core.selection.anchors import count_terms, extract_anchors, has_whole
from gatekeeper_core.text import is_han

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gatekeeper_core.messages import Turn
    from gatekeeper_core.selection.anchors import Anchor
    from gatekeeper_core.selection.result import Selection

__all__ = ["QuestionAnchors", "readable", "without_current", "without_parts"]


class QuestionAnchors:
    """The anchors of the question of a selection, as the question writes them, in its order.

    Args:
        selection: which of all anchors count: those that it calls covered or uncovered.

    Attributes:
        written: the anchors.
    """

    def __init__(self, selection: Selection) -> None:
        known = {*selection.covered, *selection.uncovered}
        self._by_text: dict[str, list[Anchor]] = {}
        for anchor in extract_anchors(selection.query):
            if anchor.text in known:
                self._by_text.setdefault(anchor.text, []).append(anchor)
        self.written = tuple(self._by_text)

    def counts(self, user: str, assistant: str) -> dict[str, int]:
        """Return how often each anchor stands in both texts of a turn; a quoted phrase and code count once."""
        users, assistants = count_terms(user), count_terms(assistant)
        folded = f"{user}\n{assistant}".casefold()

        def count(anchor: Anchor) -> int:
            if anchor.kind in ("quote", "code"):
                return int(has_whole(anchor.term, folded))
            return users.get(anchor.term, 0) + assistants.get(anchor.term, 0)

        return {text: max(map(count, anchors)) for text, anchors in self._by_text.items()}

    def held(self, pairs: Iterable[tuple[str, str]]) -> int:
        """Return how many of the anchors stand in some pair of user and assistant."""
        return len({text for pair in pairs for text, count in self.counts(*pair).items() if count})


def without_current(turns: tuple[Turn, ...], *, query: str) -> tuple[Turn, ...]:
    """Return the turns without the last one where that is the query itself, still waiting for its answer.

    White space at the ends is no difference. A turn waits if its last message is the user's, a tool call, a tool
    result, or empty.

    >>> from gatekeeper_core.messages import Turn
    >>> turns = (Turn.of("hi", "hello"), Turn.of("and now?", ""))
    >>> [turn.user_text for turn in without_current(turns, query="and now? ")]
    ['hi']
    """
    if not turns or turns[-1].user_text.strip() != query.strip():
        return turns
    last = turns[-1].messages[-1]
    answered = last.role == "assistant" and last.content and not last.tool_calls
    return turns if answered else turns[:-1]


def readable(anchors: Sequence[str], query: str) -> dict[str, tuple[str, ...]]:
    """Return anchors of a question as a reader takes them, in their order, each with the anchors that it stands for.

    Pairs of Chinese characters make up the words of the question; one that crosses two words or is grammar is left out.

    >>> list(readable(["三个", "个库", "库存", "怎么", "INV-4035", "inv"], "三个库存怎么对应 INV-4035？"))
    ['库存', 'INV-4035', 'inv']
    """
    words = words_by_pair(query)
    shown: dict[str, tuple[str, ...]] = {}
    for anchor in anchors:
        is_pair = len(anchor) == 2 and all(map(is_han, anchor))
        text = words.get(anchor) if is_pair else anchor
        if text is not None:
            shown[text] = (*shown.get(text, ()), anchor)
    return shown


def without_parts(anchors: Sequence[str]) -> list[str]:
    """Return anchors without those that are a part of another one.

    >>> without_parts(["INV-4035", "inv", "160", "160 元", "error"])
    ['INV-4035', '160 元', 'error']
    """
    folded = {text: text.casefold().replace("-", " ") for text in anchors}
    return [
        text for text in folded if not any(other != text and has_whole(folded[text], folded[other]) for other in folded)
    ]
