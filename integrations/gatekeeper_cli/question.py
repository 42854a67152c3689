"""A question: its anchors, looked for in the texts that are sent with it, and the turns that it is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.selection.anchors import count_terms, extract_anchors, has_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper_core.messages import Turn
    from gatekeeper_core.selection.anchors import Anchor
    from gatekeeper_core.selection.result import Selection

__all__ = ["QuestionAnchors", "without_current"]


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
