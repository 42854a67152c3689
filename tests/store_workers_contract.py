"""What holds for several processes on one thread of a store, as a class of tests: a store's test file gives ``place``."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.builder import ContextBuilder
from tests.processes import Processes
from tests.store_worker import CONFIG, QUESTION, TENANT, THREAD, main, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS, RULES = 8, 5
COUNTS = (4,) if os.environ.get("GATEKEEPER_FAULT_ROUNDS", "1") == "1" else (2, 3, 4)


class StoreWorkersContract:
    """Each worker appends to one thread, and builds prompts from it in between."""

    @pytest.fixture(params=COUNTS)
    def workers(self, place: str, request: pytest.FixtureRequest) -> Iterator[Processes]:
        own = [(place, number) for number in range(request.param)]
        with Processes(multiprocessing.get_context("spawn"), main, own) as processes:
            processes.all(("ready",))
            yield processes

    def test_several_processes_on_one_thread_are_as_good_as_one(self, place: str, workers: Processes) -> None:
        worked = workers.all(("work", STEPS, workers.count))
        workers.all(("rule", RULES))
        with closing(open_store(place)) as store:
            stored = [message.id for message in store.read_messages(TENANT, THREAD)]
            assert store.last_seq(TENANT, THREAD) == len(stored) - 1, "no gap"
            bodies = store.blobs_of(TENANT, THREAD).records("bodies")
        ids = [
            f"{number}.{step}.{part}"
            for number, built in enumerate(worked)
            for step in range(len(built))
            for part in "qa"
        ]
        assert Counter(stored) == Counter(ids), "nothing lost, nothing doubled"
        assert sorted(body.id for body in bodies) == sorted(name for name in ids if name.endswith("q"))
        left_out = 0
        for number, builds in enumerate(worked):
            assert {str(name).partition(".")[0] for name in builds[-1]["read"]} == set(map(str, range(workers.count)))
            for step, built in enumerate(builds):
                assert built["failed"] == []
                assert built["read"] == stored[: len(built["read"])], "a prefix"
                assert built["read"][built["seq"]] == f"{number}.{step}.a", "each reads what it wrote"
                assert built["sent"] == [name for name in built["read"] if name in built["sent"]], "in their order"
                assert len(set(built["sent"])) == len(built["sent"])
                left_out += len(built["read"]) - len(built["sent"])
        assert left_out > 0
        self.check_the_end(place, workers, stored)

    def check_the_end(self, place: str, workers: Processes, stored: list[str]) -> None:
        """All know the same, and what they keep is what a worker makes that never saw the thread before."""
        workers.all(("build",))
        ends = workers.all(("finish",))
        for end in ends:
            assert end["read"] == stored
            assert end["is_rebuilt"]
            assert end["misses"] == ()
            assert set(end["constraints"]) == {f"rule {at}.{n}" for at in range(workers.count) for n in range(RULES)}
            assert (end["prompt"], end["summary"]) == (ends[0]["prompt"], ends[0]["summary"])
        with closing(open_store(place)) as store:
            thread = Thread(THREAD, store.read_messages(TENANT, THREAD), tenant=TENANT)
            anew = ContextBuilder(CONFIG, store=store).build(thread, QUESTION, "Be brief.", include_current_input=True)
        assert [(message.role, message.text) for message in anew.messages] == ends[0]["prompt"]
