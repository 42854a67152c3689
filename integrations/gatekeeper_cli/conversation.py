"""The conversation that ``gatekeeper demo`` is about, and the seven questions that it asks, as data.

Five topics with returns, in Chinese, English and code: a Redis cache, a trip to Lisbon, sourdough, a bug in an invoice
import, piano lessons. Everything in it is made up. Each question is asked at the end of the conversation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from gatekeeper_formats import read_conversation

QuestionKind = Literal[
    "continuing",
    "referring back",
    "switching",
    "returning",
    "an exact identifier",
    "about the conversation",
    "nothing relevant",
]


class Question(NamedTuple):
    """A question to the conversation: how it stands to what was said, and its text."""

    kind: QuestionKind
    text: str


QUESTIONS: tuple[Question, ...] = (
    Question("continuing", "朵朵这周六发烧了，还要付那 160 元吗？"),
    Question("referring back", "展开说说"),
    Question("switching", "换个话题，我想养一只猫，第一周要准备哪些东西？"),
    Question("returning", "Back to Lisbon: which neighbourhood did we choose, and what does the guesthouse cost now?"),
    Question("an exact identifier", "What exactly does INV-4035 mean?"),
    Question("about the conversation", "我们今天都聊了些什么？"),
    Question("nothing relevant", "Who won the chess world championship in Moscow in 1985?"),
)
"""One question of each kind."""

CONVERSATION: tuple[tuple[str, str], ...] = tuple(
    (turn.user_text, turn.assistant_text)
    for turn in read_conversation(Path(__file__).with_suffix(".md"), form="markdown").turns
)
"""The turns of ``conversation.md``, oldest first: what the user said, what the assistant answered."""
