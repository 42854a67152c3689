"""The task as a value: its JSON, and the status that the pin shows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.task.task import ActiveTask, Note, Step, status_text
from gatekeeper_core.errors import ConfigError, CorruptionError
from tests.case_files import from_file

seqs = st.integers(-1, 10**6)
words = st.text(max_size=20).map(lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))
tasks = st.builds(
    ActiveTask,
    goal=st.none() | st.builds(Note, words, seqs),
    sub_requests=st.lists(st.builds(Note, words, seqs), max_size=5).map(tuple),
    since_seq=seqs,
    phase=st.none() | st.builds(Note, words, seqs),
    open_step=st.none() | st.builds(Note, words, seqs),
    steps=st.lists(st.builds(Step, words, words, seqs, seqs), max_size=5).map(tuple),
    findings=st.lists(st.builds(Note, words, seqs), max_size=8).map(tuple),
    upto_seq=seqs,
    before=st.none()
    | st.builds(
        ActiveTask,
        goal=st.none() | st.builds(Note, words, seqs),
        sub_requests=st.lists(st.builds(Note, words, seqs), max_size=3).map(tuple),
        since_seq=seqs,
        upto_seq=seqs,
    ),
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


@pytest.mark.parametrize(
    "body",
    [
        *("", "{", "null", "[]", "7", '"task"', "{}", '{"format":1}', "[" * 100_000),
        *('{"format":2,"steps":null}', '{"format":2,"before":[]}', '{"format":2,"before":{"goal":7}}'),
        *('{"format":2,"goal":7}', '{"format":2,"goal":["x"]}', '{"format":2,"goal":["x","y"]}'),
        *('{"format":2,"goal":[1,2]}', '{"format":2,"goal":["x",-2]}', '{"format":2,"goal":["x",true]}'),
        *('{"format":2,"steps":7}', '{"format":2,"upto_seq":1.5}', '{"format":2,"surprise":[]}'),
        *('{"format":2,"digests":[[0]]}', '{"format":2,"digests":[[0,0]]}', '{"format":2,"findings":[["x","0"]]}'),
    ],
)
def test_a_damaged_or_foreign_body_is_a_corruption_error(body: str) -> None:
    with pytest.raises(CorruptionError, match="build it anew"):
        ActiveTask.from_json(body)


def test_a_task_is_active_while_it_has_a_goal() -> None:
    assert ActiveTask().status == "idle"
    assert ActiveTask(goal=Note("deploy", 0)).status == "active"


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


@pytest.mark.parametrize("locale", ["zh", "en"])
def test_an_empty_task_has_no_status(locale: Any) -> None:
    assert status_text(ActiveTask(), locale=locale) == ""


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


def test_an_unknown_locale_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="locale"):
        status_text(ActiveTask(), locale="fr")  # type: ignore[arg-type]
