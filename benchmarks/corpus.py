"""A seeded conversation of any length: English, Chinese and mixed turns, topics, names, numbers, identifiers, code.

Words follow Zipf's law and new ones keep coming (Heaps' law): function words and everyday words stand at the head,
made-up words, written from their rank, fill the body, and a tail without an end follows. So a common word of a
question stands in a good part of all turns, as in real talk, and a rare one in very few. A topic has a vocabulary and
names of its own, lasts for several turns, and one time in four an earlier one comes back. Turns are drawn one after
the other: a longer conversation begins like a shorter one, and none has to be held in memory. Nothing comes from a
data set.

Source: Zipf 1949, "Human behavior and the principle of least effort", with Mandelbrot's shift; Heaps 1978,
"Information retrieval"; lengths and shares are ours.
"""

from __future__ import annotations

import math
import random
import sys
from array import array
from collections import Counter
from functools import cache, partial
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Language = Literal["en", "zh", "mixed"]

_BODY_WORDS = 6_000
_MANDELBROT_SHIFT = 10
_TAIL_SHARE = 0.02
_TABLE_BITS = 16
_TAIL_HEAD = 500  # ranks over which the tail is about flat
_TAIL_EXPONENT = 0.7  # of the number of different words, by Heaps
_LANGUAGES: tuple[Language, ...] = ("en",) * 9 + ("zh",) * 8 + ("mixed",) * 3
_TOPIC_TURNS = (3, 14)
_RETURNS, _RECENT_TOPICS = 0.25, 20
_FOLLOW_UPS = 5  # every fifth question


_LINES = Path(__file__).with_name("corpus.tsv").read_text(encoding="utf-8").splitlines()[1:]
_LISTS = dict(line.split("\t") for line in _LINES)
_ENGLISH_GLUE, _ENGLISH_WORDS = (_LISTS[f"english {name}"].split() for name in ("glue", "words"))
_CHINESE_GLUE, _CHINESE_WORDS = (_LISTS[f"chinese {name}"].split() for name in ("glue", "words"))
_SYLLABLES, _FIRST_NAMES, _CHARACTERS = _LISTS["syllables"].split(), _LISTS["first names"].split(), _LISTS["characters"]

_ABOUT, _FOLLOWING = (
    {language: _LISTS[f"{kind} {language}"].split(" | ") for language in ("en", "zh")}
    for kind in ("about", "following")
)


class GeneratedTurn(NamedTuple):
    """One turn: texts of 5 to 40 and 10 to 120 words, rare words and names in it, and some other words."""

    user: str
    assistant: str
    telling: tuple[str, ...]
    common: tuple[str, ...]
    language: Language


class Question(NamedTuple):
    """A question about one earlier turn, or following the last one: about eight content words, in Chinese five."""

    text: str
    kind: Literal["about", "follow-up"]
    language: Language
    target: int


class _Topic(NamedTuple):
    language: Language
    words: list[str]
    weights: list[float]


def generate_turns(count: int, *, seed: int) -> list[GeneratedTurn]:
    """Return so many turns; the same seed gives the same turns, and a longer conversation begins like a shorter one."""
    return list(islice(stream_turns(seed=seed), count))


def stream_turns(*, seed: int) -> Iterator[GeneratedTurn]:
    """Yield turn after turn, without an end."""
    rng = random.Random(f"{seed} turns")
    topics = 0
    while True:
        returns = topics > 1 and rng.random() < _RETURNS
        recent = max(0, topics - _RECENT_TOPICS) if rng.random() < 0.5 else 0
        topic = _topic(seed, rng.randrange(recent, topics) if returns else topics)
        topics += not returns
        for at in range(rng.randint(*_TOPIC_TURNS)):
            yield _turn(rng, topic, _cue(rng, topic, returns) if at == 0 else "")


def generate_questions(turns: Iterable[GeneratedTurn], turn_count: int, count: int, *, seed: int) -> list[Question]:
    """Return questions about turns drawn at random, every fifth about the last turn; the turns are read once."""
    rng = random.Random(f"{seed} questions {turn_count}")
    targets = [rng.randrange(turn_count) if at % _FOLLOW_UPS else turn_count - 1 for at in range(1, count + 1)]
    counts = Counter(targets)
    by_position = {at: turn for at, turn in enumerate(turns) if at in counts}
    numbered = enumerate(targets, start=1)
    return [_question(rng, by_position[target], target, at % _FOLLOW_UPS == 0) for at, target in numbered]


def _question(rng: random.Random, turn: GeneratedTurn, target: int, follows: bool) -> Question:
    english = turn.language == "en"
    everyday = _ENGLISH_WORDS if english else _CHINESE_WORDS
    telling, common = (min(count, len(words)) for count, words in ((rng.randint(1, 2), turn.telling), (3, turn.common)))
    slots = [*rng.sample(turn.telling, telling), *rng.sample(turn.common, common)]
    weights = [1.0 / (rank + _MANDELBROT_SHIFT) for rank in range(len(everyday))]
    slots += rng.choices(everyday, weights, k=8 - len(slots))
    frames = (_FOLLOWING if follows else _ABOUT)["en" if english else "zh"]
    text = rng.choice(frames).format(*slots)
    return Question(text, "follow-up" if follows else "about", turn.language, target)


# --- words ----------------------------------------------------------------------------------------------------------


def _word(parts: Sequence[str], first: int, step: int, rank: int) -> str:
    """Return the made-up word of a rank: two parts, then three, and so on."""
    word = parts[rank * first % len(parts)]
    rank = rank // len(parts) + 1
    while rank:
        word += parts[rank * step % len(parts)]
        rank //= len(parts)
    return word


_english_word, _chinese_word = partial(_word, _SYLLABLES, 1, 1), partial(_word, _CHARACTERS, 7, 11)


class Vocabulary:
    """The words of one language; in the table that they are drawn from, ``""`` stands for a draw from the tail."""

    def __init__(self, glue: Sequence[str], everyday: Sequence[str], spell: Callable[[int], str]) -> None:
        body = [*everyday, *(spell(rank) for rank in range(_BODY_WORDS - len(everyday)))]
        shifted = [1.0 / (rank + _MANDELBROT_SHIFT) for rank in range(1, len(body) + 1)]
        glued = [1.0 / (rank + 2) for rank in range(1, len(glue) + 1)]
        # Function words make up 45 % of a text.
        weights = [0.45 * weight / sum(glued) for weight in glued]
        weights += [(0.55 - _TAIL_SHARE) * weight / sum(shifted) for weight in shifted]
        self.body = body
        self.spell = spell
        self.glue = frozenset(glue)
        self._table = _spread([*glue, *body, ""], list(accumulate([*weights, _TAIL_SHARE])), 1 << _TABLE_BITS)

    def tail(self, rng: random.Random) -> str:
        """Return a word of the tail: the number of different ones grows with the draws to the power of 0.7."""
        beyond = (1.0 - rng.random()) ** (-1.0 / _TAIL_EXPONENT) - 1.0
        return self.spell(_BODY_WORDS + int(_TAIL_HEAD * beyond))

    def draw(self, rng: random.Random, count: int) -> list[str]:
        numbers = array("H", rng.randbytes(2 * count))
        if sys.byteorder == "big":
            numbers.byteswap()  # the same words on every machine
        drawn = [*map(self._table.__getitem__, numbers)]
        return [word or self.tail(rng) for word in drawn] if "" in drawn else drawn

    def of_any_rank(self, rng: random.Random) -> str:
        """Return a word of the body, each magnitude of rank as likely as the other."""
        low, high = math.log(30), math.log(len(self.body))
        return self.body[int(math.exp(rng.uniform(low, high))) - 1]


def _spread(words: list[str], cumulated: list[float], size: int) -> list[str]:
    """Return a table of a size in which each word stands as often as its share asks for: drawing is one look-up."""
    table, at = [], 0
    for entry in range(size):
        while cumulated[at] * size < (entry + 0.5) * cumulated[-1]:
            at += 1
        table.append(words[at])
    return table


@cache
def vocabularies() -> tuple[Vocabulary, Vocabulary]:
    return (
        Vocabulary(_ENGLISH_GLUE, _ENGLISH_WORDS, _english_word),
        Vocabulary(_CHINESE_GLUE, _CHINESE_WORDS, _chinese_word),
    )


def _topic(seed: int, number: int) -> _Topic:
    """Return a topic by its number: one that is returned to is made again rather than kept."""
    rng = random.Random(f"{seed} topic {number}")
    language = rng.choice(_LANGUAGES)
    english, chinese = vocabularies()
    terms = english if language != "zh" else chinese
    words = [terms.of_any_rank(rng) for _ in range(12)] + [terms.tail(rng) for _ in range(4)]
    # Names that no other topic has: whole numbers of the tail that grow with the topic.
    fresh = terms.spell(2_000_000 + 3 * number)
    person = rng.choice(_FIRST_NAMES) if language != "zh" else _CHARACTERS[rng.randrange(len(_CHARACTERS))] + fresh[:2]
    words += [person, fresh.title(), f"{_english_word(rng.randrange(40_000))}_{number:x}"]
    rng.shuffle(words)
    return _Topic(language, words, list(accumulate(1.0 / (rank + 2) for rank in range(len(words)))))


# --- turns ----------------------------------------------------------------------------------------------------------


def _cue(rng: random.Random, topic: _Topic, returns: bool) -> str:
    english = topic.language == "en"
    if rng.random() >= (0.3 if returns else 0.1):
        return ""
    if returns:
        return f"Back to {topic.words[0]}: " if english else f"回到{topic.words[0]}的问题，"
    return "New topic: " if english else "换个话题，"


def _turn(rng: random.Random, topic: _Topic, cue: str) -> GeneratedTurn:
    used: list[str] = []
    user = cue + _prose(rng, topic, min(40, 5 + int(rng.expovariate(1 / 10))), used, "?" if rng.random() < 0.6 else ".")
    assistant = _prose(rng, topic, min(120, 10 + int(rng.expovariate(1 / 38))), used, ".")
    form = rng.random()
    if form < 0.08:
        assistant += f"\n```python\n{_code(rng, topic)}\n```"
    elif form < 0.2:
        items = (_prose(rng, topic, rng.randint(3, 8), used, "").strip() for _ in range(rng.randint(3, 6)))
        assistant += "\n" + "\n".join(f"{number}. {item}" for number, item in enumerate(items, start=1))
    extra = _extra(rng)
    if extra:
        user += f" {extra}"
    own = set(topic.words)
    telling = dict.fromkeys((*([extra] if "_" in extra else ()), *(word for word in used if word in own)))
    glue = vocabularies()[topic.language != "en"].glue
    common = dict.fromkeys(word for word in used if word not in own and word not in glue)
    return GeneratedTurn(user, assistant, tuple(telling)[:4], tuple(common)[:12], topic.language)


def _prose(rng: random.Random, topic: _Topic, length: int, used: list[str], end: str) -> str:
    """Return sentences of so many words together, a fifth of them the topic's; the words are added to ``used``."""
    vocabulary = vocabularies()[topic.language != "en"]
    drawn = vocabulary.draw(rng, length)
    for word in rng.choices(topic.words, cum_weights=topic.weights, k=length // 5 + 1):
        drawn[int(rng.random() * length)] = word
    used += drawn
    sentences, at = [], 0
    while at < length:
        size = 6 + int(rng.random() * 11)
        sentences.append(_sentence(drawn[at : at + size], topic.language, end))
        at += size
    return (" " if topic.language == "en" else "").join(sentences)


def _sentence(words: list[str], language: Language, end: str) -> str:
    if language == "en":
        text = " ".join(words)
        return f"{text[0].upper()}{text[1:]}{end}"
    if language == "mixed":
        words = [f" {word} " if word.isascii() else word for word in words]
    if len(words) > 9:
        words.insert(len(words) // 2, "，")
    return "".join(words) + {"?": "？", ".": "。"}.get(end, "")


def _extra(rng: random.Random) -> str:
    """Return a number, a date, a version or an identifier that only one turn holds, or ""."""
    drawn = rng.random()
    if drawn < 0.2:
        return f"job_{rng.getrandbits(24):06x}" if drawn < 0.08 else str(rng.randint(2, 9999))
    if drawn < 0.25:
        return f"v{rng.randint(0, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}"
    return f"20{rng.randint(20, 29)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}" if drawn < 0.3 else ""


def _code(rng: random.Random, topic: _Topic) -> str:
    names = [word.lower() for word in topic.words if word.isascii()] or ["value", "result", "items"]
    pick = rng.choice
    return "\n".join(
        f"{pick(names)} = {pick(names)}({pick(names)}, {rng.randint(0, 99)})" for _ in range(rng.randint(3, 8))
    )
