"""Several workers on one thread of a framework's history, and what must hold whatever the order of their writes."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.adapters.worker import main, marks, opened
from tests.processes import Processes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.adapters.doors import Door, Place

WORKERS = 3
STEPS = 8


def started_workers() -> Processes:
    """Return processes that wait for commands; see ``worker``.

    They are forked from a program of its own that holds no connection and only saves them the time of their imports.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.adapters.doors", "tests.adapters.server_doors", "tests.adapters.worker"])
    return Processes(context, main, [()] * WORKERS)


@dataclass(frozen=True)
class Worked:
    """What several workers did on one thread.

    Attributes:
        selections: by worker, in their order.
        last: by worker, a selection for one more question when all had ended.
        stored: the marks of the messages that the store had then, in its order.
    """

    selections: tuple[tuple[Mapping[str, Any], ...], ...]
    last: tuple[Mapping[str, Any], ...]
    stored: tuple[str, ...]

    @property
    def saved(self) -> list[str]:
        """The marks of what was saved, by worker and step."""
        return [
            f"{worker}.{step}.{part}"
            for worker, selections in enumerate(self.selections)
            for step in range(len(selections))
            for part in "qa"
        ]

    def everything(self) -> Iterator[Mapping[str, Any]]:
        """Yield all selections."""
        for selections in self.selections:
            yield from selections
        yield from self.last


def work(workers: Processes, door: type[Door], place: Place) -> Worked:
    """Let all workers work on one thread at once."""
    with closing(opened(door, place)) as side:
        side.stored()  # makes the tables: two of the frameworks' classes that do so at once get in each other's way
        workers.each({"open": door, "place": place, "worker": number} for number in range(WORKERS))
        selections = workers.all({"steps": STEPS, "workers": WORKERS})
        stored = marks(side.stored())
        last = workers.all({"finish": True})
    return Worked(tuple(map(tuple, selections)), tuple(last), tuple(stored))


# --- what holds


def check_what_every_store_allows(worked: Worked) -> None:
    """What the adapters promise, whatever a store does with what it is given at once."""
    check_what_is_sent_was_given(worked)
    check_the_index_is_the_one_made_anew(worked)


def check_what_a_store_that_keeps_all_allows(worked: Worked) -> None:
    check_what_every_store_allows(worked)
    check_nothing_is_lost_or_doubled(worked)
    check_the_workers_met(worked)
    check_every_worker_reads_what_it_wrote(worked)
    check_all_see_the_same_in_the_end(worked)


def check_nothing_is_lost_or_doubled(worked: Worked) -> None:
    assert Counter(worked.stored) == Counter(worked.saved)
    for worker in range(WORKERS):
        own = [mark for mark in worked.stored if mark.startswith(f"{worker}.")]
        assert own == [mark for mark in worked.saved if mark.startswith(f"{worker}.")]


def check_the_workers_met(worked: Worked) -> None:
    for selections in worked.selections:
        assert len({mark.partition(".")[0] for mark in selections[-1]["given"]}) == WORKERS


def check_what_is_sent_was_given(worked: Worked) -> None:
    """Whole turns of the list that the store gave, in its order, the current turn among them."""
    left_out = 0
    for selection in worked.everything():
        given, kept = selection["given"], selection["kept"]
        assert kept == sorted(set(kept))
        sent = [given[at] for at in kept]
        assert selection["sent"] == sent
        assert len(set(given)) == len(given)
        for turn in turns_of(given):
            assert turn <= {*kept} or not turn & {*kept}
        left_out += len(given) - len(kept)
    assert left_out > 0


def turns_of(given: Sequence[str]) -> list[set[int]]:
    """Return the positions of each turn: a question, and everything up to the next one."""
    turns: list[set[int]] = []
    for at, mark in enumerate(given):
        if not turns or mark.endswith("q"):
            turns.append(set())
        turns[-1].add(at)
    return turns


def check_every_selection_saw_a_prefix(worked: Worked) -> None:
    for selection in worked.everything():
        given = selection["given"]
        before = given[: len(given) - selection["waiting"]]
        assert before == list(worked.stored[: len(before)])


def check_every_worker_reads_what_it_wrote(worked: Worked) -> None:
    for worker, selections in enumerate(worked.selections):
        for step, selection in enumerate(selections):
            own = [mark for mark in selection["given"] if mark.startswith(f"{worker}.")]
            whole = [f"{worker}.{before}.{part}" for before in range(step) for part in "qa"]
            assert own[: len(whole)] == whole


def check_the_index_is_the_one_made_anew(worked: Worked) -> None:
    for last in worked.last:
        assert last["is_rebuilt"]


def check_all_see_the_same_in_the_end(worked: Worked) -> None:
    for last in worked.last:
        assert last["given"] == list(worked.stored)
        assert last["sent"] == worked.last[0]["sent"]
