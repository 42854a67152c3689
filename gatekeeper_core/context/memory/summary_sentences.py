"""The sentences of a conversation that belong in its summary, found by simple signs in their wording.

* **decisions**: the user settles something ("let's go with", 改用), or someone says that it is settled ("we decided").
* **preferences**: the user says what they like, or what should hold from now on.
* **details**: numbers, identifiers, versions, dates, amounts and code.
* **topics**: the most informative of the sentences that opened a topic, questions first.
* **facts**: other informative sentences: who did what, and when.

Only user and assistant messages are read, except thinking and summaries. Sentences are verbatim.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from gatekeeper_core.messages import Message, Turn, is_summary
from gatekeeper_core.selection.anchors import extract_anchors, folded, telling_terms
from gatekeeper_core.selection.cues import is_request, without_cues
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.information import idf_among
from gatekeeper_core.selection.speakers import speaker_of
from gatekeeper_core.text import LazyPattern, clean, data_pattern, is_question, sentences, split_thinking

Section = Literal["topics", "decisions", "preferences", "details", "facts"]
Speaker = Literal["user", "assistant"]

CONTEXT_TURNS = 8  # before the new ones, read again to see whether a topic continues. Source: ours
_MAX_READ_CHARS = 20_000  # of one message: a longer one is pasted, and its beginning identifies it
_MIN_CHARS, _MAX_CHARS, _MAX_LONG_CHARS = 2, 240, 400  # of a sentence; the last one for decisions and preferences
_MAX_OF_MESSAGE: dict[Section, dict[Speaker, int]] = {
    "details": {"user": 4, "assistant": 2},
    "facts": {"user": 3, "assistant": 2},
}
_DETAIL_THRESHOLD = 1.0
_MOST_ANCHORS = 4.0  # above it, a sentence is a list

_DIGIT = LazyPattern("[0-9]")
_LIST_MARK = LazyPattern(r"(?:[-*+•>#]+[ \t]+|[(（]?[0-9]{1,3}[.)、）][ \t]*)")

# Wordings, on folded text: lower case, simplified Chinese, ' for ’. Source: ours. IDLE only looks like a decision.
_SETTLED, _CHOSEN, _IDLE, _UNDECIDED, _STANDING, _LIKED, _CHANGED, _COURTESY, _TIME = (
    data_pattern("summary_patterns.tsv", name)
    for name in "SETTLED CHOSEN IDLE UNDECIDED STANDING LIKED CHANGED COURTESY TIME".split()  # noqa: SIM905 - a list
)


class SummaryItem(NamedTuple):
    """One sentence of a summary.

    Attributes:
        section: section of the summary.
        text: the sentence, as written in each of its messages.
        seqs: sequence numbers of the messages that contain it, ascending, at least one.
        speaker: its first speaker.
        replaces: sequence numbers of earlier messages on the same thing that no longer hold, ascending.
    """

    section: Section
    text: str
    seqs: tuple[int, ...]
    speaker: Speaker
    replaces: tuple[int, ...] = ()


def spoken_text(message: Message) -> str:
    """Return the text of a user's or assistant's message, without thinking; "" for others."""
    if message.role not in ("user", "assistant") or is_summary(message):
        return ""
    return split_thinking(message.text)[1] if message.role == "assistant" else message.text


def read_turns(turns: Sequence[Turn], *, from_seq: int) -> tuple[SummaryItem, ...]:
    """Return the sentences of finished turns for the summary, in order; before ``from_seq`` only topics are read.

    >>> turn = Turn.of("Let's use Redis for the cache.", "Good. It listens on port 6380.")
    >>> [(item.section, item.text) for item in read_turns([turn], from_seq=0)]
    [('decisions', "Let's use Redis for the cache."), ('details', 'It listens on port 6380.')]
    """
    items: dict[tuple[int, str], SummaryItem] = {}
    for turn in turns:
        for seq, message in enumerate(turn.messages, turn.start):
            if seq >= from_seq and (text := spoken_text(message)):
                speaker: Speaker = "user" if message.role == "user" else "assistant"
                for section, sentence in _items_of(text, speaker):
                    items[seq, sentence] = SummaryItem(section, sentence, (seq,), speaker)
    for opening in _topic_openings(turns, from_seq):
        same = items.get((opening.seqs[0], opening.text))
        if same is None or same.section in ("details", "facts"):  # no sentence twice
            items[opening.seqs[0], opening.text] = opening
    return tuple(sorted(items.values(), key=lambda item: item.seqs))


def _topic_openings(turns: Sequence[Turn], from_seq: int) -> Iterator[SummaryItem]:
    """Yield the opening sentence of each topic that began in the new turns; returns to earlier topics have none."""
    gatekeeper = ContextGatekeeper(token_counter=len)  # costs do not matter here
    gatekeeper.sync([(_side(turn, "user"), _side(turn, "assistant")) for turn in turns])
    verdicts = gatekeeper.verdicts
    for topic, start, stop in gatekeeper.topics:
        resumed = verdicts[start].resumed_topic
        if (resumed is None or resumed >= topic) and turns[start].start >= from_seq:
            openings = filter(None, map(_opening, turns[start:stop]))
            yield from islice(openings, 1)


def _side(turn: Turn, role: Speaker) -> str:
    return "\n".join(spoken_text(message)[:_MAX_READ_CHARS] for message in turn.messages if message.role == role)


def _opening(turn: Turn) -> SummaryItem | None:
    """Return the user's sentence with the highest score (questions count double), or None for small talk."""
    best_score, best = -1.0, None
    for seq, message in enumerate(turn.messages, turn.start):
        for text in _sentences(spoken_text(message)) if message.role == "user" else ():
            weight = sentence_weight(without_cues(text))
            score = weight.score * (2 if is_question(text) else 1)
            if len(text) <= _MAX_CHARS and weight.names_something and score > best_score:
                best_score, best = score, SummaryItem("topics", text, (seq,), "user")
    return best


def _items_of(message: str, speaker: Speaker) -> Iterator[tuple[Section, str]]:
    read = [(text, *_section_of(text, speaker)) for text in _sentences(message)]
    weightiest: set[int] = set()
    for section, most in _MAX_OF_MESSAGE.items():
        places = [at for at, (_, other, _) in enumerate(read) if other == section]
        weightiest.update(sorted(places, key=lambda at: -read[at][2])[: most[speaker]])
    for at, (text, of_section, _) in enumerate(read):
        if of_section and (at in weightiest or of_section not in _MAX_OF_MESSAGE):
            yield of_section, text


def _sentences(message: str) -> Iterator[str]:
    """Yield the sentences of a text without list marks, skipping code blocks and a sentence that is cut off."""
    read = message[:_MAX_READ_CHARS]
    for start, stop in sentences(read):
        if stop - start > _MAX_LONG_CHARS or (stop == len(read) < len(message)):
            continue
        text = read[start:stop]
        mark = _LIST_MARK.match(text)
        text = text[mark.end() :].strip() if mark else text
        if len(text) >= _MIN_CHARS and "```" not in text and "~~~" not in text:
            yield text


def _section_of(text: str, speaker: Speaker) -> tuple[Section | None, float]:
    """Return the section for a sentence, if any, and its weight among the sentences of its message."""
    low = _IDLE.sub(" ", _folded(text))
    asks = is_question(text)
    section: Section | None = None
    if speaker == "user" and (_STANDING.search(low) or (not asks and _LIKED.search(low))):
        section = "preferences"
    elif not asks and (_SETTLED.search(low) or (speaker == "user" and _CHOSEN.search(low))):
        section = None if _UNDECIDED.search(low) else "decisions"
    if section:  # the wording needs a subject: "let's do it" says nothing alone
        subject = _subject(low, section)
        if _DIGIT.search(low) or (any(map(_is_uncommon, subject)) if section == "decisions" else subject):
            return section, 0.0
    if asks or len(text) > _MAX_CHARS:
        return None, 0.0
    weight = detail_weight(text)
    if weight >= _DETAIL_THRESHOLD and not (speaker == "user" and is_request(text)):
        return "details", weight  # a request is no detail
    information = sentence_weight(text)
    return ("facts", information.score) if information.is_fact else (None, 0.0)


def says_change(text: str) -> bool:
    """Return whether a sentence announces a change ("instead", 改用)."""
    return _CHANGED.search(_folded(text)) is not None


@lru_cache(maxsize=512)  # the same sentences come at each update
def subject_of(item: SummaryItem) -> frozenset[str]:
    """Return the terms of a sentence's subject: its informative terms, without the wordings that made it an item."""
    if item.section == "topics":
        return frozenset(telling_terms(without_cues(item.text)))
    return _subject(_folded(item.text), item.section)


def _subject(low: str, section: Section) -> frozenset[str]:
    signs = (_CHANGED,) if section in ("details", "facts") else (_SETTLED, _CHOSEN, _STANDING, _LIKED, _CHANGED)
    for sign in signs:
        low = sign.sub(" ", low)
    return frozenset(telling_terms(low)) - {"us", "go", "good", "great", "pleas"}


def detail_weight(text: str) -> float:
    """Return the number of technical details in a sentence, at most 4; a number of one or two characters counts 0.25.

    >>> detail_weight("Redis 7.2 listens on port 6380."), detail_weight("Room 5 is free."), detail_weight("好的。")
    (2.0, 0.25, 0.0)
    """
    weight = 0.0
    for anchor in extract_anchors(text):
        if anchor.kind == "number":
            weight += 1.0 if len(anchor.term) > 2 else 0.25
        elif anchor.kind == "identifier":  # "well-known" and "don't" are words
            is_word = anchor.term.replace("-", "").replace("'", "").isalpha() and anchor.text.islower()
            weight += 0.0 if is_word else 1.0
        elif anchor.kind in ("version", "date", "amount", "code"):
            weight += 1.0
    return min(_MOST_ANCHORS, weight)


def _folded(text: str) -> str:
    return folded(clean(text)).replace("’", "'")


# --- The information in a sentence ------------------------------------------------------------------------------------
#
# score = (sum over the telling terms of their idf against everyday talk) * first person * names * time
#
# Greetings, thanks, small talk and the speaker's name are removed first. What is rare in everyday talk is what somebody
# may ask for later. No figure depends on the conversation: an incremental summary equals one made at once.

# Factors of a sentence in the first person, with a name, with a time. Source: ours, by ``benchmarks.summaries``.
_FACTOR_OF_FIRST_PERSON, _FACTOR_OF_NAMES, _FACTOR_OF_TIME = 1.4, 1.4, 1.3

_UNCOMMON_IDF = 3.0  # above the thousand commonest words of everyday talk. Source: ours
_LEAST_TERMS = 3

_FIRST_PERSON = LazyPattern(r"\b(?:i|we|my|our)\b|[我咱俺]")
_NAME = LazyPattern(r"(?<=[a-z0-9,;:)] )[A-Z]\w|[《「『“·]|(?<=[\u4e00-\u9fff])[A-Za-z]{2}")


class SentenceWeight(NamedTuple):
    """The information in a sentence."""

    weights: dict[str, float]  # its informative terms with their idf against everyday talk
    factor: float  # product of the factors that apply, 1 and more
    courteous: bool  # a greeting, thanks or small talk was removed
    signs: int  # first person and time, one each: 0 to 2

    @property
    def score(self) -> float:
        """The sum of the weights times the factor."""
        return round(math.fsum(self.weights.values()) * self.factor, 6)

    @property
    def is_fact(self) -> bool:
        """Whether it carries a fact: three informative terms; first person and time count as one each."""
        return len(self.weights) > 1 and len(self.weights) + self.signs >= _LEAST_TERMS and self.names_something

    @property
    def names_something(self) -> bool:
        """Whether it has a term that is uncommon in everyday talk; next to a greeting, two."""
        return sum(map(_is_uncommon, self.weights)) > self.courteous


@lru_cache(maxsize=512)  # the sentences of a summary are weighed again at each update
def sentence_weight(text: str) -> SentenceWeight:
    """Return the information in a sentence.

    >>> sentence_weight("Anna: Hey Ben, good to see you!").is_fact, sentence_weight("I went to Oslo yesterday.").is_fact
    (False, True)
    >>> sentence_weight("你好，好久不见！").score, sentence_weight("我昨天去了植物园。").is_fact
    (0.0, True)
    """
    if speaker_of(text):  # the speaker's name at the beginning of a message
        text = text[min(at for mark in ":：" if (at := text.find(mark)) >= 0) + 1 :]
    prose = clean(text)  # in this order: a wide colon needs no white space after it, an ASCII one does
    low = folded(prose).replace("’", "'")
    plain = _COURTESY.sub(" ", low)
    weights = {term: _idf(term) for term in sorted(telling_terms(plain))}
    own, timed = _FIRST_PERSON.search(plain) is not None, _TIME.search(plain) is not None
    factor = (_FACTOR_OF_FIRST_PERSON if own else 1.0) * (_FACTOR_OF_TIME if timed else 1.0)
    factor *= _FACTOR_OF_NAMES if _NAME.search(prose) else 1.0
    return SentenceWeight(weights, factor, plain != low, own + timed)


def _is_uncommon(term: str) -> bool:
    return _idf(term) >= _UNCOMMON_IDF


@lru_cache(maxsize=16_384)
def _idf(term: str) -> float:
    return idf_among(term, documents=0, frequency=0)
