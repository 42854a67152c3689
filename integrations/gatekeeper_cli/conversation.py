"""The sample conversations and the seven questions to each, as data.

Five topics with returns: a Redis cache, a trip to Lisbon, sourdough, a bug in an invoice import, piano lessons. The one
of ``gatekeeper demo`` is in the user's language, that of the documentation in Chinese, English and code. Everything in
them is made up. Each question is asked at the end of the conversation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple, get_args

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
    """A question to the conversation: its relation to what was said, and its text."""

    kind: QuestionKind
    text: str


def _questions(*texts: str) -> tuple[Question, ...]:
    return tuple(map(Question, get_args(QuestionKind), texts))


def _turns(name: str) -> tuple[tuple[str, str], ...]:
    path = Path(__file__).with_name(name)
    return tuple((turn.user_text, turn.assistant_text) for turn in read_conversation(path, form="markdown").turns)


QUESTIONS = _questions(
    "朵朵这周六发烧了，还要付那 160 元吗？",
    "展开说说",
    "换个话题，我想养一只猫，第一周要准备哪些东西？",
    "Back to Lisbon: which neighbourhood did we choose, and what does the guesthouse cost now?",
    "What exactly does INV-4035 mean?",
    "我们今天都聊了些什么？",
    "Who won the chess world championship in Moscow in 1985?",
)
"""One question of each kind to the conversation in both languages."""

CONVERSATION = _turns("conversation.md")
"""The turns of ``conversation.md``, oldest first: the user's text, the assistant's answer."""

_DEMO_QUESTIONS = {
    "en": _questions(
        "Ella has a fever this Saturday. Do we still pay the 20 euros?",
        "Tell me more.",
        "New topic: we want to adopt a cat. Which breed suits a small flat?",
        "Back to Lisbon: which neighbourhood did we choose, and what does the guesthouse cost now?",
        "What exactly does INV-4035 mean?",
        "What did we talk about today?",
        "Who won the chess world championship in Moscow in 1985?",
    ),
    "zh": _questions(
        "朵朵这周六发烧了，还要付那 160 元吗？",
        "展开说说",
        "换个话题，我想养一只猫，第一周要准备哪些东西？",
        "说回里斯本：我们选了哪个街区，民宿现在多少钱？",
        "INV-4035 到底是什么意思？",
        "我们今天都聊了些什么？",
        "1985 年国际象棋世界冠军是谁？",
    ),
}


def demo_of(language: str) -> tuple[tuple[tuple[str, str], ...], tuple[Question, ...]]:
    """Return the turns of the demo in a language (``en``, ``zh``), oldest first, and a question of each kind."""
    return _turns(f"demo.{language}.md"), _DEMO_QUESTIONS[language]
