"""The benchmark of the doors counts the needed turns of a prompt, in whatever form they are in it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.cost_talks import Call, Talk
from benchmarks.doors import DEFAULT, DOORS, FILES, TOPICS, WAYS, is_below, measured, signs, topic_chats
from benchmarks.talks import OWN, read_everyday
from gatekeeper_core import HistoryConfig, Message
from gatekeeper_core.tokens import estimate_text_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = [
    "Which port?",
    "The port is 6380. That is all.",
    "Wie alt?",
    "Sie ist 41 Jahre alt. That is all.",
    "端口？",
    "",
]
MESSAGES = tuple(Message("assistant" if at % 2 else "user", text) for at, text in enumerate(TEXTS))
TALK = Talk("t", "session", "mixed", 0, "3", MESSAGES, (Call(1), Call(3), Call(5, needed=((0,), (1,)))))


def test_a_turn_is_told_by_its_long_sentences_that_no_other_turn_has() -> None:
    assert signs(TALK) == [{"Which port?", "The port is 6380."}, {"Wie alt?", "Sie ist 41 Jahre alt."}, set()]


@pytest.mark.parametrize(
    ("prompt", "needed"),
    [
        (["Which port?", TEXTS[1], "端口？"], 50.0),
        (["[turn 1]\nassistant: Sie ist 41 Jahre alt. …\n\n[turn 0]\nThe port is 6380. …\n\n端口？"], 100.0),
        (["That is all.", "端口？"], 0.0),
    ],
)
def test_a_needed_turn_is_there_whole_cut_or_inside_the_question(prompt: list[str], needed: float) -> None:
    def door(*_: object) -> Iterator[list[str]]:
        yield from (["never counted"], ["never counted"], prompt)

    before = sum(map(estimate_text_tokens, TEXTS[:4]))
    config = HistoryConfig(token_budget=before - 1)
    tokens = sum(map(estimate_text_tokens, prompt)) - estimate_text_tokens("端口？")
    assert measured([TALK], door, config, count=estimate_text_tokens) == (needed, tokens)
    assert measured([TALK], door, HistoryConfig(token_budget=before), count=estimate_text_tokens) == (0.0, 0.0)


def test_the_command_prints_a_row_for_each_door_and_writes_the_figures(tmp_path: Path) -> None:
    (tmp_path / "everyday").mkdir()
    for file in FILES:
        shutil.copy(OWN, tmp_path / "everyday" / file)
    shape = ["--turns", "12", "--size", "200", "--budgets", "900", "--quick", "--json", str(tmp_path / "doors.json")]
    command = [sys.executable, "-m", "benchmarks.doors", "--data", str(tmp_path), *shape]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    tables = json.loads((tmp_path / "doors.json").read_text(encoding="utf-8"))["tables"]
    assert [*tables] == [name for file in FILES for name in (file, f"{file}, topics")], done.stderr
    rows, topics = tables["everyday_dev.jsonl"], {row["way"]: row for row in tables["everyday_dev.jsonl, topics"]}
    assert done.returncode == is_below(rows), done.stderr
    assert [row["door"] for row in rows] == [door for door in DOORS for _ in range(4)] + ["trim_messages"]
    assert all(row["tokens 900"] > 0 for row in rows)
    assert [*topics] == [*WAYS]
    assert topics["fill"]["in topic"] > 11 > 4 > topics[DEFAULT]["in topic"]
    assert topics["fill"]["returns"] == 100.0 >= topics[DEFAULT]["returns"] > 0.0


def test_a_chat_of_topics_has_twelve_and_its_questions_need_what_they_name() -> None:
    talks = read_everyday(OWN)
    messages, topics, drawn = topic_chats(talks, "zh", seed=0)
    assert len(messages) == 2 * len(topics) > 50
    assert [*dict.fromkeys(topics)] == [*range(TOPICS)]
    last = next(talk for talk in talks if talk.blocks[0].user == messages[2 * topics.index(TOPICS - 1)].text)
    assert drawn["asked"]["in topic"] in {question.text for question in last.questions}
    assert drawn["asked"]["new topic"] not in {message.text for message in messages}
    ((talk, back),) = [(talk, one) for talk in talks for one in talk.questions if one.text == drawn["asked"]["returns"]]
    needed = [{messages[2 * turn].text for turn in group} for group in drawn["needed"]]
    named = [{talk.blocks[turn].user for turn in group} for group in back.needed]
    assert all(texts and texts <= whole for texts, whole in zip(needed, named, strict=True))
    assert all(topics[min(group)] < TOPICS // 2 for group in drawn["needed"])
