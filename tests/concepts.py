"""A tiny embedding model for tests: a table of English and Chinese words for a few concepts, and chance for the rest."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.messages import Message

CONCEPTS = (
    ("car", "sedan", "vehicle", "汽车", "座驾"),
    ("doctor", "physician", "medic", "医生", "大夫", "牙医"),
    ("coffee", "espresso", "咖啡"),
    ("holiday", "vacation", "trip", "假期", "度假"),
)

QUESTIONS = {
    "paraphrase": "Which sedan is mine?",
    "english to chinese": "Which physician should I see?",
    "chinese to english": "我的座驾是什么样子？",
    "mixed": "我的medic叫什么名字？",
}
"""A question for each way of sharing no word with its turn."""

WANTED = {"paraphrase": 0, "english to chinese": 1, "chinese to english": 0, "mixed": 1}
"""The position of the turn in ``TALK`` that each asks for."""

_TURNS = [
    ("The car that we bought is dark green.", "A fine tone."),
    ("牙医姓林，诊所在城西。", "记下了。"),
    ("New topic: the roof leaks above the stairs.", "Call the landlord."),
    ("换个话题：周五的会议改到三点。", "好的。"),
    ("New topic: sourdough needs a longer rest.", "Ten hours at least."),
    ("换个话题：孩子的钢琴课停两周。", "知道了。"),
    ("New topic: the choir meets on Mondays.", "In the town hall."),
    ("换个话题：阳台的灯泡坏了。", "买一个新的。"),
]
TALK = [Message(role, text) for turn in _TURNS for role, text in zip(("user", "assistant"), turn, strict=True)]
"""Eight finished turns, of which none shares a word with a question."""

AT_ONCE = HistoryConfig(passthrough_below=0, keep_newest=0, on_error="raise", strategy="gate")
"""Settings with which the question alone says which turns are sent."""


def concepts(texts: Sequence[str], /) -> list[list[float]]:
    """Return a vector for each text: the directions of its concepts, and some numbers that are its own."""
    return [_vector(text) for text in texts]


def _vector(text: str) -> list[float]:
    words = re.findall(r"[a-z]+", text.lower())
    named = [row[0] for row in CONCEPTS if any(word in words or (word in text and not word.isascii()) for word in row)]
    rows = [_chance(concept, 1.0) for concept in named]
    return list(map(sum, zip(_chance(text, 0.25), *rows, strict=True)))


def _chance(text: str, spread: float) -> list[float]:
    numbers = random.Random(text)  # the same text has the same numbers
    return [numbers.gauss(0.0, spread) for _ in range(32)]
