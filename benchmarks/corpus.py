"""A seeded conversation of any length, half English, half Chinese, with topics, identifiers and a Zipf tail of words.

Words are made up from syllables and characters, so nothing here comes from a data set. A turn draws its words from the
everyday vocabulary (ranked by a Zipf law) and from the small vocabulary of its topic; a question names two words of an
earlier turn's topic and sometimes an identifier that only this turn holds.
"""

from __future__ import annotations

import random
from itertools import accumulate, pairwise
from typing import NamedTuple

__all__ = ["GeneratedTurn", "generate_questions", "generate_turns"]

_SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo bra cle dri flo gru".split()  # noqa: SIM905
_ENGLISH_GLUE = "the a is of to in and we that for it you on with as have be this was not are can will do".split()  # noqa: SIM905
_CHINESE_GLUE = list("的了是我在有和就不也这你要吗呢把都很给对")
_CHARACTERS = "".join(chr(0x4E00 + 7 * step) for step in range(2400))
_TOPIC_TURNS = (4, 16)


class GeneratedTurn(NamedTuple):
    """One turn: both texts, and the words that tell it from others."""

    user: str
    assistant: str
    telling: tuple[str, ...]


class _Vocabulary:
    """Words of one language with Zipf weights."""

    def __init__(self, words: list[str], glue: list[str], joiner: str) -> None:
        self._words = words
        self._weights = list(accumulate(1.0 / rank for rank in range(1, len(words) + 1)))
        self._glue = glue
        self._joiner = joiner

    def topic(self, rng: random.Random) -> list[str]:
        """Return the small vocabulary of a topic: words from anywhere in the tail."""
        return rng.sample(self._words, 30)

    def sentence(self, rng: random.Random, topic: list[str], length: int) -> str:
        """Return a sentence of glue, everyday words and words of the topic."""
        drawn = rng.choices(self._words, cum_weights=self._weights, k=length)
        parts = []
        for word in drawn:
            parts.append(rng.choice(self._glue))
            parts.append(rng.choice(topic) if rng.random() < 0.3 else word)
        return self._joiner.join(parts) + ("." if self._joiner else "。")


def _vocabularies(rng: random.Random, size: int) -> tuple[_Vocabulary, _Vocabulary]:
    english = list({"".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))): None for _ in range(size)})
    chinese = list({"".join(rng.choices(_CHARACTERS, k=2)): None for _ in range(size)})
    return _Vocabulary(english, _ENGLISH_GLUE, " "), _Vocabulary(chinese, _CHINESE_GLUE, "")


def generate_turns(count: int, *, seed: int) -> list[GeneratedTurn]:
    """Return so many turns; the same seed gives the same turns, and a longer conversation begins like a shorter one."""
    rng = random.Random(seed)
    vocabularies = _vocabularies(rng, 40_000)
    turns: list[GeneratedTurn] = []
    while len(turns) < count:
        vocabulary = vocabularies[rng.random() < 0.5]
        topic = vocabulary.topic(rng)
        turns.extend(_turn(rng, vocabulary, topic) for _ in range(rng.randint(*_TOPIC_TURNS)))
    return turns[:count]


def _turn(rng: random.Random, vocabulary: _Vocabulary, topic: list[str]) -> GeneratedTurn:
    user = vocabulary.sentence(rng, topic, rng.randint(3, 10))
    assistant = " ".join(vocabulary.sentence(rng, topic, rng.randint(4, 12)) for _ in range(rng.randint(1, 3)))
    telling = tuple(word for word in topic if word in user or word in assistant)[:2]
    if rng.random() < 0.1:
        name = f"job_{rng.getrandbits(24):06x}"
        user, telling = f"{user} {name}", (*telling, name)
    return GeneratedTurn(user, assistant, telling)


def generate_questions(turns: list[GeneratedTurn], count: int, *, seed: int) -> list[str]:
    """Return questions about turns drawn at random, each with words of two of them."""
    rng = random.Random(seed + 1)
    drawn = rng.choices(turns, k=count + 1)
    return [
        " ".join((*first.telling, rng.choice(_ENGLISH_GLUE), *second.telling[:1])) for first, second in pairwise(drawn)
    ]
