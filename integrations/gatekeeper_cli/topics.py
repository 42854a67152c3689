"""Topics for display: their turns and tokens, those on the same subject, and a title for each subject.

The index needs no Chinese words: it holds every pair of characters. Titles and displayed anchors use the longest
listed word at a position; two to four characters between listed words and grammar also count as a word.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

from gatekeeper_cli.texts import Texts, visible
from gatekeeper_core.selection import lexicon
from gatekeeper_core.selection.anchors import extract_anchors, folded, telling_terms
from gatekeeper_core.selection.cues import without_cues
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.information import LEAST_INFORMATION, LEAST_RARITY, surprise
from gatekeeper_core.text import clean, is_wide, word_strings

_TITLE_WORDS = 3
_MIN_LIKENESS = 0.05
_USER_WEIGHT = 1.5
_NEWEST_SUBJECTS = 20  # that contain a term
_MAX_READ = 2_000  # characters of one side of a turn
_LONGEST_UNLISTED = 4
_GRAMMAR = lexicon.HAN_PARTICLES | lexicon.HAN_LIGHT | lexicon.HAN_GENERIC | lexicon.KANA_PARTICLES


class Topic(NamedTuple):
    """One segment of the conversation: turns ``start`` to ``stop - 1``; ``topic_id`` counts from 0."""

    topic_id: int
    start: int
    stop: int
    title: tuple[str, ...] = ()  # of its subject: up to three words, the most telling first
    returns_to: int | None = None  # the last earlier topic on the same subject


class Subject(NamedTuple):
    """All topics on the same subject, with their common title."""

    topic_ids: tuple[int, ...]
    title: tuple[str, ...]
    turn_ids: tuple[int, ...]
    tokens: int

    def name(self, texts: Texts) -> str:
        """Return the title; without one, the number of the first topic."""
        return texts("comma").join(map(visible, self.title)) or texts("untitled", topic=self.topic_ids[0])


class Timeline(NamedTuple):
    """A conversation by topics: the segments, the subjects by their first turn, and the tokens of each turn."""

    topics: tuple[Topic, ...]
    subjects: tuple[Subject, ...]
    turn_tokens: tuple[int, ...]

    @classmethod
    def of(cls, gatekeeper: ContextGatekeeper) -> Timeline:
        """Return the timeline of a gatekeeper's conversation."""
        topics, tokens = topics_of(gatekeeper), gatekeeper.turn_tokens
        segments: defaultdict[int, list[Topic]] = defaultdict(list)
        for topic, number in zip(topics, subject_numbers(topics), strict=True):
            segments[number].append(topic)
        subjects = []
        for parts in segments.values():
            turn_ids = tuple(turn_id for topic in parts for turn_id in range(topic.start, topic.stop))
            cost = sum(tokens[turn_id] for turn_id in turn_ids)
            subjects.append(Subject(tuple(topic.topic_id for topic in parts), parts[0].title, turn_ids, cost))
        return cls(topics, tuple(subjects), tokens)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values, without any message."""
        topic_ids = [topic.topic_id for topic in self.topics for _ in range(topic.start, topic.stop)]
        return {
            "turn_count": len(self.turn_tokens),
            "history_tokens": sum(self.turn_tokens),
            "topics": [{**topic._asdict(), "title": list(topic.title)} for topic in self.topics],
            "turns": [
                {"turn_id": turn_id, "topic_id": topic_id, "tokens": tokens}
                for turn_id, (topic_id, tokens) in enumerate(zip(topic_ids, self.turn_tokens, strict=True))
            ],
        }


def subject_numbers(topics: Sequence[Topic]) -> list[int]:
    """Return the subject number of each topic, from 0 in order of their first turns."""
    numbers: list[int] = []
    for topic in topics:
        new = max(numbers, default=-1) + 1
        numbers.append(new if topic.returns_to is None else numbers[topic.returns_to])
    return numbers


def spans(turn_ids: Sequence[int], texts: Texts, *, limit: int | None = None) -> str:
    """Return turn numbers as text, neighbours as a span; at most ``limit`` spans.

    >>> from gatekeeper_cli.texts import Language
    >>> spans([0, 1, 2, 5, 7, 8], Texts(Language.en)), spans([0, 2, 4], Texts(Language.en), limit=2)
    ('0 to 2, 5, 7 to 8', '0, 2 ...')
    """
    runs: list[list[int]] = []
    for turn_id in turn_ids:
        if runs and turn_id == runs[-1][1] + 1:
            runs[-1][1] = turn_id
        else:
            runs.append([turn_id, turn_id])
    shown = [str(first) if first == last else texts("span", first=first, last=last) for first, last in runs[:limit]]
    return texts("comma").join(shown) + (" ..." if len(shown) < len(runs) else "")


def topics_of(gatekeeper: ContextGatekeeper) -> tuple[Topic, ...]:
    """Return the topics of a conversation with titles and returns, oldest first; the last one is active.

    An explicit return decides alone. Else a topic belongs to the subject with the highest likeness of 0.05 or more,
    the newest of equals; after an explicit switch, not to the one just before it. Likeness, summed over the topic's
    terms, with ``n`` of the subject's turns containing the term::

        2 * sum(information(term) * n / (n + turns)) / max(25.6, sum(information(term)))

    Source: ours, with the length normalisation of BM25 at b = 1 (Robertson and Zaragoza 2009);
    ``benchmarks.topics`` measures it.
    """
    turns = [(block.user_text, block.assistant_text) for block in gatekeeper.turns]
    terms = [telling_terms(user) | telling_terms(assistant) for user, assistant in turns]
    scale = math.log(len(turns) + 1) or 1.0
    information = {
        term: surprise(term) * max(LEAST_RARITY, math.log((len(turns) + 1) / (frequency + 0.5)) / scale)
        for term, frequency in Counter(chain.from_iterable(terms)).items()
    }
    counts_by_term: defaultdict[str, dict[int, int]] = defaultdict(dict)  # by subject, how many turns hold the term
    subjects: list[int] = []
    turns_of: list[list[tuple[str, str]]] = []  # by subject
    verdicts = gatekeeper.verdicts
    for topic_id, start, stop in gatekeeper.topics:
        counts = Counter(chain.from_iterable(terms[start:stop]))
        resumed, reason = verdicts[start].resumed_topic, verdicts[start].reason
        if reason == "explicit_return" and resumed is not None and resumed < topic_id:
            subject = subjects[resumed]
        else:
            likeness: defaultdict[int, float] = defaultdict(float)
            for term in counts:
                holders = counts_by_term.get(term, {})
                for subject in islice(reversed(holders), _NEWEST_SUBJECTS):
                    count = holders[subject]
                    likeness[subject] += information[term] * count / (count + len(turns_of[subject]))
            least = _MIN_LIKENESS / 2 * max(2 * LEAST_INFORMATION, math.fsum(map(information.__getitem__, counts)))
            if subjects and reason == "explicit_switch":
                likeness.pop(subjects[-1], None)
            alike = {subject: round(value, 6) for subject, value in likeness.items() if value >= least}
            subject = max(alike, key=lambda subject: (alike[subject], subject), default=len(turns_of))
        if subject == len(turns_of):
            turns_of.append([])
        turns_of[subject] += turns[start:stop]
        subjects.append(subject)
        for term, count in counts.items():
            holders = counts_by_term[term]
            holders[subject] = holders.pop(subject, 0) + count  # the newest last
    titles = _titles(turns_of)
    last: dict[int, int] = {}
    topics = []
    for topic, subject in zip(gatekeeper.topics, subjects, strict=True):
        topics.append(Topic(*topic, title=titles[subject], returns_to=last.get(subject)))
        last[subject] = topic.topic_id
    return tuple(topics)


def _titles(subjects: Sequence[Sequence[tuple[str, str]]]) -> list[tuple[str, ...]]:
    """Return a title for each subject, given its turns.

    A word is worth the number of the subject's turns with it, times its surprise against everyday talk, times the
    share of its turns that are in the subject; half as much again if the user writes it.
    """
    words = [[words_of(*turn) for turn in turns] for turns in subjects]
    totals = Counter(term for turns in words for turn in turns for term in turn)
    titles = []
    for turns in words:
        counts = Counter(term for turn in turns for term in turn)
        first = {term: word for turn in reversed(turns) for term, word in turn.items()}
        by_user = {term for turn in turns for term, word in turn.items() if word.by_user}
        worth = {}
        for term, count in counts.items():
            if count > 1 or not first[term].is_guess:
                parts = telling_terms(first[term].text)  # for a script without spaces: its pairs
                bits = math.fsum(map(surprise, parts)) / len(parts) if parts else 0.0
                worth[term] = round(count * count / totals[term] * bits * (_USER_WEIGHT if term in by_user else 1), 6)
        title: dict[str, str] = {}
        for term in sorted(worth, key=lambda term: (-worth[term], -len(term))):  # of equals, the first
            if worth[term] > 0 and len(title) < _TITLE_WORDS and not any(term in one or one in term for one in title):
                title[term] = first[term].text
        titles.append(tuple(title.values()))
    return titles


class Word(NamedTuple):
    """A word as first written, whether the user wrote it, and whether it counts only if it occurs again."""

    text: str
    by_user: bool
    is_guess: bool = False


def words_of(user: str, assistant: str) -> dict[str, Word]:
    """Return the words of a turn by the term that all their forms share, the user's first.

    >>> [(term, word.text, word.by_user) for term, word in words_of("Which ports?", "端口是 6380，one port").items()]
    [('port', 'ports', True), ('端口', '端口', False)]
    """
    words: dict[str, Word] = {}
    for text, by_user in ((without_cues(user[:_MAX_READ]), True), (assistant[:_MAX_READ], False)):
        tokens = word_strings(clean(text))
        for anchor in extract_anchors(" ".join(token for token in tokens if not is_wide(token[0]))):
            if anchor.kind in ("word", "identifier") and (len(anchor.text) > 2 or anchor.text.isupper()):
                words.setdefault(anchor.term, Word(anchor.text.removesuffix("'s"), by_user))
        for word in chain.from_iterable(chinese_words(token) for token in tokens if is_wide(token[0])):
            words.setdefault(word, Word(word, by_user))
            for part in () if folded(word) in _listed()[0] else (word[:2], word[-2:]):  # 西湖 in 西湖边住
                words.setdefault(part, Word(part, by_user, is_guess=True))
    return words


def words_by_pair(text: str) -> dict[str, str]:
    """Return, for each pair of characters in a script without spaces, the first word with it.

    >>> words_by_pair("地铁口是 Exit B，博物馆")
    {'地铁': '地铁', '博物': '博物馆', '物馆': '博物馆'}
    """
    words: dict[str, str] = {}
    for run in word_strings(clean(text)):
        for word in chinese_words(run) if is_wide(run[0]) else ():
            for pair in map("".join, pairwise(word)):
                words.setdefault(pair, word)
    return words


def chinese_words(run: str) -> list[str]:
    """Return the words of a run of text in a script without spaces, in order, as written.

    >>> chinese_words("那三个库存扣减的接口最后是怎么修的"), chinese_words("我们想去故宫博物馆")
    (['库存', '扣减', '接口'], ['故宫', '博物馆'])
    """
    (listed, longest), plain = _listed(), folded(run)
    words: list[str] = []
    begin = at = 0  # start of the characters outside listed words, and the position
    while at < len(run):
        size = next((size for size in range(longest, 1, -1) if plain[at : at + size] in listed), 0)
        if size or plain[at] in _GRAMMAR:
            words += [run[begin:at], run[at : at + size]]
            begin = at = at + max(1, size)
        else:
            at += 1
    words.append(run[begin:])
    return [word for word in words if len(word) > 1 and (folded(word) in listed or len(word) <= _LONGEST_UNLISTED)]


@cache
def _listed() -> tuple[frozenset[str], int]:
    """Return the listed words that are more than grammar and numerals, and the length of the longest."""
    lists = chain(chain.from_iterable(lexicon.translations().values()), lexicon.synonyms(), *lexicon.kinds().values())
    words = frozenset(word for word in lists if len(word) > 1 and not word.isascii() and not _GRAMMAR.issuperset(word))
    return words, max(map(len, words))
