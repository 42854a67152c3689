"""``--meaning`` with the model that the extra brings: questions in other words and in another language."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.case_files import rows
from tests.command import chat_file, run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.cli

CONVERSATION = [(user, reply) for user, reply in rows("command", "conversation")]
each_question = pytest.mark.parametrize(
    ("question", "turn_id"),
    [("狗在哪里睡觉？", 0), ("修水管的那笔钱几号要付？", 1), ("Where shall we travel on our days off?", 2)],
)


@pytest.fixture
def chat(tmp_path: Path) -> str:
    return str(chat_file(tmp_path, CONVERSATION))


def why(file: str, question: str, *options: str) -> dict[int, str]:
    result = run("explain", file, question, "--json", *options)
    assert (result.exit_code, result.stderr) == (0, "")
    decisions = json.loads(result.stdout)["selection"]["decisions"]
    return {one["turn_id"]: one["why"] for one in decisions if one["outcome"] != "dropped"}


@each_question
def test_a_question_finds_the_turn_that_means_the_same(question: str, turn_id: int, chat: str) -> None:
    assert turn_id not in why(chat, question)
    assert why(chat, question, "--meaning")[turn_id] == "meaning"


def test_a_chat_sends_the_turn_and_tells_why(chat: str) -> None:
    shown = run("chat", "--offline", "--history", chat, "--meaning", stdin="狗在哪里睡觉？\n/why\n").stdout
    assert "kept: 0" in shown
    assert "embedder: universal-sentence-encoder-multilingual-3/" in shown
    without = run("chat", "--offline", "--history", chat, stdin="狗在哪里睡觉？\n/why\n").stdout
    assert "meaning" not in without
