"""The benchmark of need and price counts what it says: turns sent whole or cut, useless tokens, changes of topic."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.data import read_jsonl
from benchmarks.everyday import FILL, OURS, FullTurns, Sent, Tally, ask, changes, measured
from benchmarks.talks import OWN, SETS, Question, Talk, read_everyday
from gatekeeper_core.tokens import estimate_text_tokens

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TURNS = [
    {"user": "Which port does Redis use here?", "assistant": "Redis listens on port 6380.", "topic": "redis"},
    {"user": "And the timeout?", "assistant": "The timeout of Redis is 30 seconds.", "topic": "redis"},
    {"user": "How long do I bake a sourdough loaf?", "assistant": "Bake it for 45 minutes.", "topic": "bread"},
    {"user": "At which heat?", "assistant": "Bake at 240 degrees.", "topic": "bread"},
]
QUESTIONS = [
    {"after": 1, "query": "And the timeout?", "kind": "elliptical", "needed": [0], "helpful": []},
    {"after": 2, "query": TURNS[2]["user"], "kind": "new_topic_plain", "needed": [], "helpful": []},
    {"after": 3, "query": "At which heat?", "kind": "elliptical", "needed": [2], "helpful": []},
    {"after": 4, "query": "Port?", "kind": "return_plain", "needed": [0], "helpful": [1], "alternatives": {"0": [1]}},
]


@pytest.fixture
def talks(tmp_path: Path) -> list[Talk]:
    return read(tmp_path, {"id": "en-01", "lang": "en", "turns": TURNS, "questions": QUESTIONS}, read_everyday)


def read(folder: Path, row: dict[str, Any], reader: Callable[[Path], list[Talk]]) -> list[Talk]:
    (folder / "talks.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode()))
    return reader(folder / "talks.jsonl.gz")


def test_a_needed_turn_counts_the_root_of_what_is_sent_of_it(talks: list[Talk]) -> None:
    question = Question(4, "Both?", "multi", ((0, 1), (2,)))
    outcome = measured(question, [Sent(0, "…", 10, 40), Sent(1, "…", 9, 100), Sent(3, "…", 7, 7)])
    assert (outcome.hit, outcome.info, outcome.tokens, outcome.useless) == (0.5, 0.25, 26, 7)
    full = measured(question, [Sent(0, "…", 10, 40), Sent(1, "…", 100, 100), Sent(2, "…", 64, 100)])
    assert full.info == pytest.approx(0.9)
    helped = measured(talks[0].questions[3], [Sent(1, "…", 10, 10), Sent(2, "…", 7, 7)])
    assert (helped.hit, helped.info, helped.useless) == (1.0, 1.0, 7)


def test_tokens_are_counted_apart_where_something_is_needed_and_where_nothing_is(talks: list[Talk]) -> None:
    question, new = talks[0].questions[0], talks[0].questions[1]
    outcomes = [measured(question, [Sent(0, "…", 20, 80)]), measured(question, [])]
    row = Tally([*outcomes, measured(new, [Sent(0, "…", 7, 7)]), measured(new, [])]).row()
    assert (row["hit"], row["info"], row["all"], row["empty"]) == (50.0, 25.0, 50.0, 50.0)
    assert (row["tokens"], row["tokens, nothing"], row["tokens, all"]) == (10.0, 3.5, 6.75)
    nothing = Tally([measured(new, [Sent(0, "…", 9, 9)])]).row()
    assert (nothing["hit"], nothing["info"], nothing["tokens"], nothing["useless"]) == (None, None, None, 9.0)


def test_a_change_is_followed_to_the_question_after_it(talks: list[Talk]) -> None:
    everything = list(ask(talks, lambda: FullTurns(estimate_text_tokens, lambda question, *_: range(question.after))))
    needed = list(ask(talks, lambda: FullTurns(estimate_text_tokens, lambda q, *_: [group[0] for group in q.needed])))
    assert changes(everything) == {"changes": 1, "old turn at the change": 100.0, "old turn after it": 100.0}
    assert changes(needed) == {"changes": 1, "old turn at the change": 0.0, "old turn after it": 0.0}


def test_our_own_questions_name_turns_before_them_and_all_kinds_occur() -> None:
    talks = read_everyday(OWN)
    for talk in talks:
        for question in talk.questions:
            named = {*question.useful}
            assert all(0 <= at < question.after <= len(talk.blocks) for at in named), (talk.name, question.text)
            assert not question.helpful & {group[0] for group in question.needed}, (talk.name, question.text)
            if question.after < len(talk.blocks):
                assert question.text == talk.blocks[question.after].user
        positions = [question.after for question in talk.questions]
        assert set(range(1, len(talk.blocks) + 1)) == set(positions), talk.name
        assert all(block.user and block.assistant for block in talk.blocks)
    assert all(turn["topic"] for row in read_jsonl(OWN) for turn in row["turns"])
    assert len({question.kind for talk in talks for question in talk.questions}) == 17
    assert Counter(talk.language for talk in talks) == {"zh": 8, "en": 7, "mixed": 5}


def test_both_everyday_files_are_measured(tmp_path: Path) -> None:
    for labelled in SETS["everyday"]:
        (tmp_path / labelled.file).parent.mkdir(exist_ok=True)
        shutil.copy(OWN, tmp_path / labelled.file)
    out = ["--quick", "--ours-only", "--json", str(tmp_path / "out.json")]
    subprocess.run([sys.executable, "-m", "benchmarks.everyday", "--data", str(tmp_path), *out], check=True)
    tables = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["tables"]
    assert [*tables] == [f"{name}, {table}" for name in ("dev", "second") for table in ("methods", "groups", "asked")]
    assert {row["method"] for row in tables["dev, methods"]} == {OURS, FILL}
