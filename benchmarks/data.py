"""Reads the labelled conversations that the benchmarks measure on; the data itself is given by path, never shipped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Block", "Conversation", "Question", "read_jsonl", "read_locomo"]

ADVERSARIAL = 5
"""The category of questions without an answer in the conversation; they are left out."""


@dataclass(frozen=True, slots=True)
class Block:
    """Two adjacent messages of one session; ``ids`` are the messages in it."""

    ids: tuple[str, ...]
    user: str
    assistant: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the messages that hold its evidence."""

    text: str
    evidence: tuple[str, ...]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A labelled conversation."""

    name: str
    blocks: tuple[Block, ...]
    questions: tuple[Question, ...]


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def read_locomo(path: Path) -> list[Conversation]:
    """Return the conversations of a LoCoMo file, as blocks of two messages, with their answerable questions."""
    return [_conversation(row) for row in read_jsonl(path)]


def _conversation(row: dict[str, Any]) -> Conversation:
    known = {turn["id"] for turn in row["turns"]}
    questions = []
    for item in row["qa"]:
        evidence = tuple(dict.fromkeys(e for e in item.get("evidence", ()) if e in known))
        if evidence and item["category"] != ADVERSARIAL:
            questions.append(Question(str(item["question"]), evidence, int(item["category"])))
    return Conversation(str(row["conv"]), tuple(_blocks(row["turns"])), tuple(questions))


def _blocks(turns: list[dict[str, Any]]) -> Iterator[Block]:
    at = 0
    while at < len(turns):
        pair = [turns[at]]
        if at + 1 < len(turns) and turns[at + 1]["session"] == turns[at]["session"]:
            pair.append(turns[at + 1])
        texts = [f"{turn['speaker']}: {turn['text']}" for turn in pair]
        yield Block(tuple(turn["id"] for turn in pair), texts[0], texts[1] if len(texts) > 1 else "")
        at += len(pair)
