"""A talk and questions that share no word with the turns that they need, and an embedder that knows what they mean."""

from __future__ import annotations

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.messages import Message
from tests.tiny_embedder import TinyEmbedder

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
    ("The vehicle that we bought is dark green.", "A fine tone."),
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

concepts = TinyEmbedder("concepts")
