"""A talk and questions that share no word with the turns that they need, and an embedder that knows what they mean."""

from __future__ import annotations

from gatekeeper_core.context.history.strategies import HistoryConfig
from tests.case_files import rows
from tests.talks import talk
from tests.tiny_embedder import TinyEmbedder

QUESTIONS = dict(rows("concepts", "question"))
"""A question for each way of sharing no word with its turn."""

WANTED = {"paraphrase": 0, "english to chinese": 1, "chinese to english": 0, "mixed": 1}
"""The position of the turn in ``TALK`` that each asks for."""

TALK = talk(rows("concepts", "turn"))
"""Eight finished turns, of which none shares a word with a question."""

AT_ONCE = HistoryConfig(passthrough_below=0, keep_newest=0, on_error="raise", strategy="gate")
"""Settings with which the question alone says which turns are sent."""

concepts = TinyEmbedder("concepts")
