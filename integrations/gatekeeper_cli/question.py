"""The anchors of a question, looked for in the texts that are sent with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.selection.anchors import count_terms, extract_anchors, has_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper_core.selection.anchors import Anchor
    from gatekeeper_core.selection.result import Selection

__all__ = ["QuestionAnchors"]


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
