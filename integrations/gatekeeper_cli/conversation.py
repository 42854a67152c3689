"""The sample conversations, and a question of each kind to each (``questions.json``).

Five topics with returns: a Redis cache, a trip to Lisbon, sourdough, a bug in an invoice import, piano lessons. The one
of ``gatekeeper demo`` is in the user's language, that of the documentation in Chinese, English and code. Everything in
them is made up. Each question is asked at the end of the conversation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from gatekeeper_formats import read_conversation

_FOLDER = Path(__file__).parent


class Question(NamedTuple):
    """A question to the conversation: its relation to what was said, and its text."""

    kind: str
    text: str


def sample(name: str) -> tuple[tuple[tuple[str, str], ...], tuple[Question, ...]]:
    """Return the turns of a sample (``conversation``, ``demo.en``, ``demo.zh``), oldest first, and the questions.

    A turn is the user's text and the assistant's answer.
    """
    turns = read_conversation(_FOLDER / f"{name}.md", form="markdown").turns
    kinds = json.loads((_FOLDER / "questions.json").read_text(encoding="utf-8"))
    questions = tuple(Question(kind, texts[name]) for kind, texts in kinds.items())
    return tuple((turn.user_text, turn.assistant_text) for turn in turns), questions


CONVERSATION, QUESTIONS = sample("conversation")
