"""The sample conversations, and one question of each kind to ask at their end (``questions.json``).

Five topics with returns: a Redis cache, a trip to Lisbon, sourdough, a bug in an invoice import, piano lessons. The
samples of ``gatekeeper demo`` are in English and in Chinese, that of the documentation mixes Chinese, English and code.
All of it is made up.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from gatekeeper_formats import read_conversation

_FOLDER = Path(__file__).parent


class Question(NamedTuple):
    """A question about the conversation: its kind of reference to the history, and its text."""

    kind: str
    text: str


def sample(name: str) -> tuple[tuple[tuple[str, str], ...], tuple[Question, ...]]:
    """Return (user, assistant) turns of ``conversation``, ``demo.en`` or ``demo.zh`` in order, and its questions."""
    turns = read_conversation(_FOLDER / f"{name}.md", form="markdown").turns
    kinds = json.loads((_FOLDER / "questions.json").read_text(encoding="utf-8"))
    questions = tuple(Question(kind, texts[name]) for kind, texts in kinds.items())
    return tuple((turn.user_text, turn.assistant_text) for turn in turns), questions


CONVERSATION, QUESTIONS = sample("conversation")
