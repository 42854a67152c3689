"""Processes for tests: they answer, and one that hangs at its end is no secret."""

from __future__ import annotations

import multiprocessing
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests import processes
from tests.processes import Processes

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def doubling(connection: Connection, hanging: float) -> None:
    """Answer each number with twice as much; at the end, sleep."""
    with suppress(EOFError):
        while True:
            connection.send(2 * connection.recv())
    time.sleep(hanging)


def test_each_answers_its_own_command_and_all_answer_one() -> None:
    with Processes(multiprocessing.get_context("spawn"), doubling, [(0.0,), (0.0,)]) as both:
        assert both.each([1, 2]) == [2, 4]
        assert both.all(3) == [6, 6]


def test_one_that_does_not_end_by_itself_is_named_and_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "SECONDS_TO_END", 5.0)
    with (
        pytest.raises(AssertionError, match=r"not ended 5 seconds after their pipe: the processes \[1\]"),
        Processes(multiprocessing.get_context("spawn"), doubling, [(0.0,), (600.0,)]) as both,
    ):
        assert both.all(1) == [2, 2]
    assert not multiprocessing.active_children()
