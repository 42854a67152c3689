"""The specification read word for word, to compare with: what its rules give where nothing is added to them.

Anchors are plain words, and pairs and triples of Han characters, none left out and none joined. ``lex`` is BM25 on its
raw scale, ``exact_match`` counts the words and numbers that are hit, the best 20 blocks are candidates, and blocks are
taken by newly covered idf per token until 85 % of the query's idf is covered once. The gate compares the query's
anchors with those of all turns since its last ``switch``. On a switch the turns of the topic that is left are no
candidates; a referring word takes the newest two turns first.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from gatekeeper_core.tokens import estimate_text_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.data import Block

__all__ = ["LiteralGate", "LiteralSpecification", "anchors"]

CONTINUE_ABOVE, SWITCH_BELOW, NEW_ABOVE = 0.45, 0.20, 0.70
ETA, CANDIDATES, INHERITED = 0.85, 20, 2
K1, B = 1.2, 0.75

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_RUN = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+")
_REFERRING = re.compile(r"这个|那个|它|上面|刚才|继续|展开|\b(?:it|this|that|these|those|above|continue)\b")


def anchors(text: str) -> list[str]:
    """Return the words of a text and the pairs and triples of its Han characters."""
    found: list[str] = []
    for match in _RUN.finditer(text.lower()):
        run = match.group()
        if run[0] < "\u3400" or run[0] > "\u9fff":
            found.append(run)
        else:
            found.extend(run[at : at + size] for size in (2, 3) for at in range(len(run) - size + 1))
    return found


class LiteralGate:
    """The rule of section 3.2 over the anchors of the active topic."""

    def __init__(self) -> None:
        self._active: set[str] | None = None

    def switches(self, text: str) -> bool:
        """Return whether a query switches; nothing is changed."""
        found = set(anchors(text))
        if self._active is None:
            return True
        if not found or _REFERRING.search(text.lower()):
            return False
        overlap = len(found & self._active) / len(found)
        return overlap < SWITCH_BELOW and 1 - overlap > NEW_ABOVE

    def read(self, text: str, *, switched: bool = False) -> None:
        """Take a text into the active topic, a new one where the gate has switched."""
        if switched or self._active is None:
            self._active = set()
        self._active.update(anchors(text))


class LiteralSpecification:
    """Sections 3.1 to 3.4 over the blocks of one conversation; a block's order is that in which it is taken."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._gate = LiteralGate()
        self._start = 0
        for at, block in enumerate(blocks):
            switched = self._gate.switches(block.user)
            self._start = at if switched else self._start
            self._gate.read(block.user, switched=switched)
            self._gate.read(block.assistant)
        self._fields = [(Counter(anchors(block.user)), Counter(anchors(block.assistant))) for block in blocks]
        self._costs = [
            max(1, estimate_text_tokens(block.user) + estimate_text_tokens(block.assistant)) for block in blocks
        ]
        self._frequency = Counter(anchor for user, assistant in self._fields for anchor in {*user, *assistant})
        count = max(1, len(blocks))
        self._lengths = [(sum(user.values()), sum(assistant.values())) for user, assistant in self._fields]
        self._means = [max(1.0, sum(pair[side] for pair in self._lengths) / count) for side in (0, 1)]

    def rank(self, question: str) -> list[int]:
        """Return the blocks that the rules select, in the order in which they are taken."""
        idf = {anchor: self._idf(anchor) for anchor in anchors(question)}
        switched = self._gate.switches(question)
        open_blocks = range(self._start if switched else len(self._fields))
        scored = sorted(((self._score(at, idf), at) for at in open_blocks if self._held(at, idf)), reverse=True)
        inherited = [] if switched or not _REFERRING.search(question.lower()) else self._newest()
        return self._cover(inherited, [at for _, at in scored[:CANDIDATES]], idf)

    def _newest(self) -> list[int]:
        return list(range(len(self._fields) - 1, -1, -1))[:INHERITED]

    def _cover(self, taken: list[int], candidates: list[int], idf: dict[str, float]) -> list[int]:
        open_idf = dict(idf)
        for at in taken:
            self._close(at, open_idf)
        left = [at for at in candidates if at not in taken]
        while left and sum(open_idf.values()) > (1 - ETA) * sum(idf.values()):
            gains = [sum(open_idf[a] for a in self._held(at, open_idf)) / self._costs[at] for at in left]
            best = max(range(len(left)), key=gains.__getitem__)
            if gains[best] <= 0:
                break
            self._close(left[best], open_idf)
            taken = [*taken, left.pop(best)]
        return taken

    def _close(self, at: int, open_idf: dict[str, float]) -> None:
        for anchor in self._held(at, open_idf):
            del open_idf[anchor]

    def _held(self, at: int, idf: dict[str, float]) -> list[str]:
        user, assistant = self._fields[at]
        return [anchor for anchor in idf if anchor in user or anchor in assistant]

    def _score(self, at: int, idf: dict[str, float]) -> float:
        user, assistant = (self._lex(at, side, idf) for side in (0, 1))
        exact = sum(anchor.isascii() for anchor in self._held(at, idf))
        return 1.5 * user + 0.7 * assistant + 1.0 * exact + 0.2 * at / max(1, len(self._fields) - 1)

    def _lex(self, at: int, side: int, idf: dict[str, float]) -> float:
        field = self._fields[at][side]
        norm = K1 * (1 - B + B * self._lengths[at][side] / self._means[side])
        return sum(weight * field[a] * (K1 + 1) / (field[a] + norm) for a, weight in idf.items() if field[a])

    def _idf(self, anchor: str) -> float:
        frequency = self._frequency[anchor]
        return math.log1p((len(self._fields) - frequency + 0.5) / (frequency + 0.5))
