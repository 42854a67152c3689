"""The task as a value: its JSON, and the status that the pin shows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.task import ActiveTask, Note, Step, status_text
from gatekeeper_core.errors import ConfigError, CorruptionError
from tests.case_files import from_file

seqs = st.integers(-1, 10**6)
words = st.text(max_size=20).map(lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))
note = st.builds(Note, words, seqs)
notes = st.lists(note, max_size=5).map(tuple)
tasks = st.builds(
    ActiveTask,
    goal=st.none() | note,
    sub_requests=notes,
    since_seq=seqs,
    phase=st.none() | note,
    open_step=st.none() | note,
    steps=st.lists(st.builds(Step, words, words, seqs, seqs), max_size=5).map(tuple),
    findings=notes,
    upto_seq=seqs,
    before=st.none() | st.builds(ActiveTask, sub_requests=notes, since_seq=seqs, upto_seq=seqs),
    version=st.integers(0, 99),
    digests=st.lists(st.tuples(seqs, words), max_size=3).map(tuple),
)


@given(tasks)
def test_a_task_comes_back_from_its_json_as_it_was(task: ActiveTask) -> None:
    """004-22."""
    body = task.to_json()
    assert ActiveTask.from_json(body) == task
    assert body.isascii()
    assert ActiveTask.from_json(body).to_json() == body


BODY = json.loads(ActiveTask().to_json())


@pytest.mark.parametrize(
    "body",
    [
        *("", "{", "null", "[]", "7", '"task"', "{}", "[" * 100_000),
        *(json.dumps({key: value for key, value in BODY.items() if key != gone}) for gone in BODY),
        *(json.dumps({**BODY, "goal": goal}) for goal in (7, ["x"], ["x", "y"], [1, 2], ["x", -2], ["x", True])),
        *(json.dumps({**BODY, "digests": digests}) for digests in ([[0]], [[0, 0]], [[0, "x", 1]], [0])),
        *(json.dumps({**BODY, "before": before}) for before in ([], {"goal": 7}, {**BODY, "goal": 7})),
        *(json.dumps({**BODY, "steps": steps}) for steps in (None, 7, {}, "", ["name"], [["name", "", 0]])),
        *(json.dumps({**BODY, **fields}) for fields in ({"format": 1}, {"upto_seq": 1.5}, {"surprise": []})),
    ],
)
def test_a_damaged_or_foreign_body_is_a_corruption_error(body: str) -> None:
    with pytest.raises(CorruptionError, match="make it anew"):
        ActiveTask.from_json(body)


def test_a_task_is_active_while_it_has_a_goal() -> None:
    assert (ActiveTask().status, ActiveTask(goal=Note("deploy", 0)).status) == ("idle", "active")
    assert status_text(ActiveTask()) == ""
    with pytest.raises(ConfigError, match="locale"):
        status_text(ActiveTask(), locale="fr")  # type: ignore[arg-type]


FULL = ActiveTask(
    goal=Note("部署 Redis", 0),
    sub_requests=(Note("写测试", 4), Note("add docs", 6)),
    phase=Note("executing", 2),
    open_step=Note("测试", 9),
    steps=(Step("plan", "", 1, 3), Step("安装", "端口是 6380", 4, 8)),
    findings=(Note("磁盘 90% 满", 5), Note('says "no"', 8)),
)


@from_file("settings", "lines")
def test_the_status_tells_goal_phase_steps_and_findings(settings: dict[str, Any], lines: list[str]) -> None:
    """004-22, 001-71, C17: in Chinese by default, and in English."""
    assert status_text(FULL, **settings).splitlines() == lines


def test_what_was_noted_for_an_earlier_goal_is_left_out() -> None:
    task = ActiveTask(
        goal=Note("fly", 10),
        since_seq=10,
        phase=Note("old phase", 3),
        open_step=Note("old step", 9),
        steps=(Step("old", "x", 1, 3), Step("new", "y", 11, 12)),
        findings=(Note("old finding", 9), Note("new finding", 10)),
    )
    text = status_text(task, locale="en")
    assert "old" not in text
    assert 'Steps done: 1, last "new": "y"' in text
    assert '- "new finding"' in text


def test_the_step_that_is_the_phase_is_said_once() -> None:
    task = ActiveTask(phase=Note("planning", 2), open_step=Note("planning", 3))
    assert status_text(task, locale="en") == '[TASK STATUS]\nPhase: "planning"'


@given(tasks, st.sampled_from(["zh", "en"]))
def test_a_status_is_bounded_and_each_text_stays_on_its_line(task: ActiveTask, locale: Any) -> None:
    """004-22: at most a dozen lines."""
    text = status_text(task, locale=locale)
    assert text == status_text(task, locale=locale)
    assert len(text.splitlines()) <= 12
    assert text.count("\n") == max(0, len(text.splitlines()) - 1)


def test_a_status_of_the_longest_texts_is_bounded() -> None:
    """004-22."""
    long = "x" * 10_000
    task = ActiveTask(
        goal=Note(long, 0),
        sub_requests=(Note(long, 1),) * 99,
        phase=Note(long, 1),
        open_step=Note("y" * 10_000, 1),
        steps=(Step(long, long, 1, 1),) * 99,
        findings=(Note(long, 1),) * 99,
    )
    assert len(status_text(task)) < 13 * 210
