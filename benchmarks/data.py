"""Reads the labelled conversations that the benchmarks measure on; the data itself is given by path, never shipped."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ADVERSARIAL = 5
"""The category of questions without an answer in the conversation; they are left out."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Block:
    """Two adjacent messages of one session; ``ids`` are the messages in it, ``written`` when the session was."""

    ids: tuple[str, ...]
    user: str
    assistant: str
    written: datetime | None = None

    @property
    def text(self) -> str:
        """Both texts, as a peer indexes them."""
        return f"{self.user}\n{self.assistant}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the messages that hold its evidence, and its answer, "" where it is not given."""

    text: str
    evidence: tuple[str, ...]
    category: int
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    blocks: tuple[Block, ...]
    questions: tuple[Question, ...]


class Utterance(NamedTuple):
    """One message of a dialogue; ``shift`` says that a new topic begins with it."""

    role: str
    text: str
    shift: bool


class Dialogue(NamedTuple):
    """A dialogue with topic shifts; dialogues of equal ``topic`` are about the same thing."""

    name: str
    topic: str
    utterances: tuple[Utterance, ...]


class TopicSet(NamedTuple):
    """A data set of dialogues: its name, its file under ``topics/``, its language (``en`` or ``zh``)."""

    name: str
    file: str
    language: str


class MemoryQuery(NamedTuple):
    """A dialogue that one of its user's memories belongs to: the user's turns, oldest first, and the memories' ids."""

    user: str
    turns: tuple[str, ...]
    gold: tuple[str, ...]


TOPIC_SETS = (
    TopicSet("TIAGE", "tiage_dev.jsonl", "en"),
    TopicSet("CrossWOZ", "crosswoz_dev.jsonl", "zh"),
    TopicSet("KdConv", "kdconv_dev.jsonl", "zh"),
    TopicSet("DialSeg711", "dialseg711_dev.jsonl", "en"),
)


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file, which may be compressed (``.gz``)."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def sampled(items: Sequence[_T], count: int | None) -> list[_T]:
    """Return so many items at even distances, in their order; None or a larger count returns all."""
    if count is None or count >= len(items):
        return list(items)
    return [items[at * len(items) // count] for at in range(count)]


def read_locomo(path: Path) -> list[Conversation]:
    """Return the conversations of a LoCoMo file, as blocks of two messages, with their answerable questions.

    A block tells when its session was, where the file does ("1:56 pm on 8 May, 2023").
    """
    conversations = []
    for row in read_jsonl(path):
        turn_ids, questions = {turn["id"] for turn in row["turns"]}, []
        for item in row["qa"]:
            evidence = tuple(dict.fromkeys(e for e in item.get("evidence", ()) if e in turn_ids))
            if evidence and item["category"] != ADVERSARIAL:
                answer = str(item.get("answer", ""))
                questions.append(Question(str(item["question"]), evidence, int(item["category"]), answer))
        conversations.append(Conversation(str(row["conv"]), tuple(_blocks(row["turns"])), tuple(questions)))
    return conversations


def _blocks(turns: list[dict[str, Any]]) -> Iterator[Block]:
    at = 0
    while at < len(turns):
        pair = [turns[at]]
        if at + 1 < len(turns) and turns[at + 1]["session"] == turns[at]["session"]:
            pair.append(turns[at + 1])
        texts = [f"{turn['speaker']}: {turn['text']}" for turn in pair]
        written = datetime.strptime(pair[0]["date"], "%I:%M %p on %d %B, %Y") if pair[0]["date"] else None
        yield Block(tuple(turn["id"] for turn in pair), texts[0], texts[1] if len(texts) > 1 else "", written)
        at += len(pair)


def topic_sets(folder: Path) -> list[TopicSet]:
    """Return the sets whose file lies in ``folder/topics``."""
    return [each for each in TOPIC_SETS if (folder / "topics" / each.file).is_file()]


def read_dialogues(path: Path) -> list[Dialogue]:
    """Return the dialogues of a file of topic shifts; one without a topic of its own is a topic by itself."""
    return [
        Dialogue(
            str(row["id"]),
            str(row.get("topic", row["id"])),
            tuple(Utterance(each["role"], each["text"], bool(each["shift"])) for each in row["utts"]),
        )
        for row in read_jsonl(path)
    ]


def as_blocks(utterances: Sequence[Utterance]) -> list[Block]:
    """Return the utterances as turns of a user and an assistant; consecutive messages of one role are joined.

    ``ids`` are the positions of the utterances.
    """
    blocks: list[Block] = []
    for at, utterance in enumerate(utterances):
        user, assistant = (utterance.text, "") if utterance.role == "user" else ("", utterance.text)
        last = blocks[-1] if blocks else None
        if last is None or (user and last.assistant):
            blocks.append(Block((str(at),), user, assistant))
        else:
            blocks[-1] = Block((*last.ids, str(at)), _joined(last.user, user), _joined(last.assistant, assistant))
    return blocks


def _joined(first: str, second: str) -> str:
    return f"{first}\n{second}" if first and second else first or second


def read_memories(folder: Path) -> tuple[dict[str, list[Block]], list[MemoryQuery]]:
    """Return by user the memories as blocks of one message, and the queries."""
    memories: dict[str, list[Block]] = {}
    for row in read_jsonl(folder / "madial_zh_memories.jsonl"):
        memories.setdefault(str(row["user"]), []).append(Block((str(row["id"]),), row["event"], ""))
    queries = [
        MemoryQuery(
            user=str(row["user"]),
            turns=tuple(text for speaker, text in row["context"] if speaker != "Assistant"),
            gold=tuple(str(gold) for gold in row["gold"]),
        )
        for row in read_jsonl(folder / "madial_zh_queries_dev.jsonl")
    ]
    return memories, queries
