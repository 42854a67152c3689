"""Turns of the user's own logs, sampled by a seed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import ConfigError
from gatekeeper_eval.errors import EvalError
from gatekeeper_eval.sampling import TurnId, sample_turns
from tests.eval.chats import ANSWERS, PORTS, chat, write_chats

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_chats(tmp_path / "chats 聊天", *ANSWERS)


def test_a_turn_is_seen_as_its_model_saw_it(folder: Path) -> None:
    (turn,) = sample_turns(str(folder / "better.json")).turns
    assert turn.id == TurnId("better.json", 1, 2)
    assert [message.text for message in turn.messages] == [message["content"] for message in chat("Better")[:5]]
    assert (turn.past, turn.question, turn.next_text) == (4, PORTS["english"][1].format("Better"), "")


def test_a_seed_draws_the_same_turns_and_a_larger_sample_keeps_the_smaller_one(folder: Path) -> None:
    samples = [{turn.id for turn in sample_turns(str(folder), count=count, seed=5).turns} for count in (1, 2, 4, 50)]
    assert [len(sample) for sample in samples] == [1, 2, 4, 6]
    assert all(small < large for small, large in pairwise(samples))
    drawn = {next(iter(sample_turns(str(folder), count=1, seed=seed).turns)).id for seed in range(20)}
    assert len(drawn) > 3


def test_what_cannot_be_read_is_named_and_stops_nothing(folder: Path) -> None:
    (folder / "broken.jsonl").write_text('{"role": "robot"}\n', encoding="utf-8")
    sample = sample_turns(str(folder))
    assert len(sample.turns) == 6
    assert [each.file for each in sample.unread] == ["broken.jsonl"]


def test_logs_without_a_turn_to_compare_are_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "short.json").write_text('[{"role": "user", "content": "端口?"}]', encoding="utf-8")
    with pytest.raises(EvalError, match="none of 1 conversations has a question after 500 tokens"):
        sample_turns(str(tmp_path))
    with pytest.raises(EvalError, match="no conversation could be read"):
        sample_turns(str(tmp_path / "gone"))
    with pytest.raises(ConfigError, match="count must be 1 or more"):
        sample_turns(str(tmp_path), count=0)
