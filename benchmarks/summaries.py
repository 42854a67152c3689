"""What the running summary keeps of a conversation, beside other ways to choose sentences, in the same run.

Run ``python -m benchmarks.summaries --data DIR``, where ``DIR`` holds ``selection/locomo_dev.jsonl`` and ``topics/``.
The summary is brought up to date after every ten messages and never sees what is to come; the others see the whole
conversation at once, and take its sentences as they are cut, in the order of their rank, while they fit.
Each has 1,000 tokens, and no more than a third of what was said.

* English (LoCoMo), of all messages, and of the first 120 with the questions all of whose evidence lies in them.
  **evidence**: the share of the questions of which a sentence of an evidence message stands in the summary.
  **answers**: the mean over questions of the share of the answer's telling words that stand in the summary; counted are
  those that an evidence message holds, the speakers' names aside, and questions whose answer has one. **both**: the
  share of these questions of which a sentence of an evidence message that holds such a word stands in the summary.
* Chinese (CrossWOZ, KdConv): ten dialogues after one another are a conversation. **user's words**, **all words**: the
  share of the idf of the user's (of all) telling words that stand in the summary, each word once; the idf is that over
  the dialogues of the set.

Telling words are the anchors that weigh 1 and have two characters or more. All in per cent.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.data import as_blocks, read_dialogues, read_locomo, sampled, topic_sets
from benchmarks.peers import terms
from benchmarks.report import SEED, Row, options, report
from gatekeeper_core.context.memory.summary import SummaryConfig, ThreadSummary
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.messages import Message
from gatekeeper_core.selection.anchors import telling_terms
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.text import sentences
from gatekeeper_core.token_estimate import TokenEstimator, budget_within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.data import Block, Conversation, Dialogue, Question


OURS = "ThreadSummary"
MAX_TOKENS = 1000
MOST_OF_TEXT = 1 / 3
EVERY = 10
FIRST_MESSAGES = 120
DIALOGUES = 200
QUICK_DIALOGUES = 40
DIALOGUES_A_TALK = 10


class Line(NamedTuple):
    """A sentence and the message that it stands in."""

    seq: int
    text: str


class Talk(NamedTuple):
    """A conversation: its messages, and by the id of a labelled message its position."""

    messages: tuple[Message, ...]
    places: dict[str, int]


def talk_of(blocks: Sequence[Block]) -> Talk:
    """Return the messages of blocks; the first message of a block is the user's."""
    messages: list[Message] = []
    places: dict[str, int] = {}
    for block in blocks:
        sides = [Message("user", block.user)] * bool(block.user)
        sides += [Message("assistant", block.assistant)] * bool(block.assistant)
        for at, name in enumerate(block.ids):
            places[name] = len(messages) + min(at, len(sides) - 1)
        messages += sides
    return Talk(tuple(messages), places)


# --- The ways to choose -----------------------------------------------------------------------------------------------


def ours(talk: Talk, language: str) -> list[Line]:
    locale: Any = language
    config = SummaryConfig(max_summary_tokens=MAX_TOKENS)
    summaries = ThreadSummary(InMemoryStore(), config=config, locale=locale)
    summary = None
    for stop in (*range(EVERY, len(talk.messages), EVERY), len(talk.messages)):
        summary = summaries.update_if_needed(Thread("talk", talk.messages[:stop])).summary
    return [Line(seq, item.text) for item in summary.items for seq in item.seqs] if summary else []


THRESHOLD, DAMPING, STEPS = 0.1, 0.15, 30


def lexrank(texts: Sequence[str]) -> list[int]:
    """Return the positions of sentences, the most central first; of equals the earlier one first.

    Sentences are nodes, the cosine of their tf-idf vectors joins two of them from ``THRESHOLD`` on, and the rank is the
    stationary distribution of a walk over the graph that jumps anywhere in one step of seven.

    Source: Erkan and Radev 2004, "LexRank: Graph-based lexical centrality as salience in text summarization"
    (continuous LexRank, with their threshold and damping). Words are those of the other peers.

    >>> lexrank(["The cat sat.", "A cat on a mat.", "The cat on the mat sat.", "Rain."])[0]
    2
    """
    import numpy as np

    counts = [Counter(terms(text)) for text in texts]
    frequencies = Counter(term for each in counts for term in each)
    column = {term: at for at, term in enumerate(frequencies)}
    vectors = np.zeros((len(texts), len(column)))
    for at, each in enumerate(counts):
        for term, count in each.items():
            vectors[at, column[term]] = count * math.log(1 + len(texts) / frequencies[term])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    cosines = vectors @ vectors.T
    edges = np.where(cosines >= THRESHOLD, cosines, 0.0)
    np.fill_diagonal(edges, 1.0)
    steps, rank = edges / edges.sum(axis=1, keepdims=True), np.full(len(texts), 1 / max(1, len(texts)))
    for _ in range(STEPS):
        rank = DAMPING / len(texts) + (1 - DAMPING) * rank @ steps
    return sorted(range(len(texts)), key=lambda at: (-round(float(rank[at]), 9), at))


def random_sentences(lines: Sequence[Line]) -> list[int]:
    """Return any order, the same in each run."""
    order = list(range(len(lines)))
    random.Random(SEED).shuffle(order)
    return order


PEERS: dict[str, Callable[[Sequence[Line]], list[int]]] = {
    "first sentences": lambda lines: list(range(len(lines))),
    "last sentences": lambda lines: list(range(len(lines)))[::-1],
    "random sentences": random_sentences,
    "LexRank": lambda lines: lexrank([line.text for line in lines]),
}


def lines_of(talk: Talk) -> list[Line]:
    return [
        Line(seq, message.text[start:stop])
        for seq, message in enumerate(talk.messages)
        for start, stop in sentences(message.text)
    ]


def fitting(lines: Sequence[Line], order: Sequence[int], room: int, count: Callable[[str], int]) -> list[Line]:
    """Return the sentences that fit, in their order of rank; what does not fit, or stands there, is passed over."""
    taken: dict[str, Line] = {}
    for at in order:
        cost = count(f"- {lines[at].text}\n")
        if cost <= room and lines[at].text not in taken:
            taken[lines[at].text] = lines[at]
            room -= cost
    return list(taken.values())


def chosen(talk: Talk, method: str, language: str) -> list[Line]:
    if method == OURS:
        return ours(talk, language)
    count = TokenEstimator()
    texts_by_seq = sum(count(message.text) for message in talk.messages)
    room = min(budget_within(count, MAX_TOKENS), math.floor(MOST_OF_TEXT * texts_by_seq))
    lines = lines_of(talk)
    return fitting(lines, PEERS[method](lines), room, count)


# --- The measures -----------------------------------------------------------------------------------------------------


def question_measures(talk: Talk, questions: Sequence[Question], kept: Sequence[Line]) -> dict[str, list[float]]:
    """Return by measure a value for each question that it counts, 0 to 1."""
    texts_by_seq: dict[int, set[str]] = {}
    for line in kept:
        texts_by_seq.setdefault(line.seq, set()).update(telling_terms(line.text))
    terms = set().union(*texts_by_seq.values())
    names = set().union(*(telling_terms(message.text.partition(":")[0]) for message in talk.messages[:4]))
    answerable = [one for one in questions if all(name in talk.places for name in one.evidence)]
    answers: list[tuple[Question, set[str]]] = []
    for one in answerable:
        evidence = set().union(*(telling_terms(talk.messages[talk.places[name]].text) for name in one.evidence))
        if words := telling_terms(one.answer) & evidence - names:
            answers.append((one, words))
    return {
        "evidence": [float(any(talk.places[name] in texts_by_seq for name in one.evidence)) for one in answerable],
        "answers": [len(words & terms) / len(words) for _, words in answers],
        "both": [
            float(any(words & texts_by_seq.get(talk.places[name], set()) for name in one.evidence))
            for one, words in answers
        ],
    }


def word_measures(talk: Talk, kept: Sequence[Line], idf: Mapping[str, float]) -> dict[str, list[float]]:
    """Return by measure the share of the idf of a conversation's words that its summary holds, 0 to 1."""
    terms = set().union(*(telling_terms(line.text) for line in kept))
    shares = {}
    for name, roles in (("user's words", ("user",)), ("all words", ("user", "assistant"))):
        texts_by_seq = set().union(*(telling_terms(message.text) for message in talk.messages if message.role in roles))
        shares[name] = [_idf_of(texts_by_seq & terms, idf) / (_idf_of(texts_by_seq, idf) or 1.0)]
    return shares


def _idf_of(terms: set[str], idf: Mapping[str, float]) -> float:
    return math.fsum(idf[term] for term in terms)


def idf_over(dialogues: Sequence[Dialogue]) -> dict[str, float]:
    """Return the idf of every telling word, by how many dialogues hold it."""
    terms_of = [set().union(*(telling_terms(utterance.text) for utterance in each.utterances)) for each in dialogues]
    frequencies = Counter(chain.from_iterable(terms_of))
    return {term: math.log(1 + len(dialogues) / count) for term, count in frequencies.items()}


# --- The tables -------------------------------------------------------------------------------------------------------


def english_rows(conversations: Sequence[Conversation], *, peers: bool) -> list[Row]:
    rows = []
    for part, most in ((f"first {FIRST_MESSAGES} messages", FIRST_MESSAGES), ("all", None)):
        talks = []
        for each in conversations:
            messages, places = talk_of(each.blocks)
            stop = len(messages) if most is None else most
            begun = {name: at for name, at in places.items() if at < stop}
            talks.append((Talk(messages[:stop], begun), each.questions))
        for method in (*PEERS, OURS) if peers else (OURS,):
            kept = [chosen(talk, method, "en") for talk, _ in talks]
            both = zip(talks, kept, strict=True)
            measures = [question_measures(talk, questions, each) for (talk, questions), each in both]
            rows.append({"method": method, "conversation": part, **_means(measures)})
    return rows


def chinese_rows(name: str, dialogues: Sequence[Dialogue], idf: Mapping[str, float], *, peers: bool) -> list[Row]:
    talks = [
        talk_of([block for each in dialogues[at : at + DIALOGUES_A_TALK] for block in as_blocks(each.utterances)])
        for at in range(0, len(dialogues), DIALOGUES_A_TALK)
    ]
    rows = []
    for method in (*PEERS, OURS) if peers else (OURS,):
        kept = [chosen(talk, method, "zh") for talk in talks]
        measures = [word_measures(talk, each, idf) for talk, each in zip(talks, kept, strict=True)]
        rows.append({"method": method, "set": name, **_means(measures)})
    return rows


def _means(measures: Sequence[Mapping[str, Sequence[float]]]) -> Row:
    means: Row = {}
    for measure in measures[0] if measures else ():
        values = [value for each in measures for value in each[measure]]
        means[measure] = 100 * math.fsum(values) / len(values) if values else None
    return means


def main() -> None:
    arguments = options(__doc__, data="selection/locomo_dev.jsonl and topics/*.jsonl").parse_args()
    folder, peers, chinese = arguments.data, not arguments.ours_only, list[Row]()
    path = folder / "selection" / "locomo_dev.jsonl"
    conversations = sampled(read_locomo(path), 1 if arguments.quick else None) if path.is_file() else []
    for each in topic_sets(folder):
        if each.language == "zh":
            dialogues = read_dialogues(folder / "topics" / each.file)
            some = sampled(dialogues, QUICK_DIALOGUES if arguments.quick else DIALOGUES)
            chinese += chinese_rows(each.name, some, idf_over(dialogues), peers=peers)
    english = english_rows(conversations, peers=peers) if conversations else []
    tables = {"Summaries of LoCoMo, per cent": english, "Summaries of Chinese dialogues, per cent": chinese}
    report(arguments, "summaries", tables)


if __name__ == "__main__":
    main()
