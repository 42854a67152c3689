"""The way of a thread through a build is short, and is the one that the page on architecture lists."""

from __future__ import annotations

import pytest

from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.calls import Step, listed_calls, steps_of
from tests.loops import assistant, calls, result, user

QUESTION = "Back to service-3: which port was it?\nAnd which host?"
LOG = "\n".join(f"12:00:{at % 60:02d} INFO worker {at} finished" for at in range(500))


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    """The calls between modules in a build for a thread with summary, memories, task and a long tool result."""
    memory = LongTermMemory(InMemoryStore())
    memory.add(MemoryScope("default", "ada"), f"{QUESTION} 6383 on host kestrel.", category="user_preference")
    builder = ContextBuilder(ContextBuilderConfig(total_budget=6_000), memory=memory)
    messages = [
        message
        for at in range(20)
        for message in (user(f"Which port does service-{at} use?"), assistant(f"Port {6380 + at}. " * 60))
    ]
    thread = Thread(
        "t1", (*messages, user("Read its log."), calls("c1"), result("c1", LOG), assistant("Done.")), user="ada"
    )
    builder.constraints.set(thread, "language", "English")
    built = []
    seen = steps_of(lambda: built.append(builder.build(thread, QUESTION, "Be brief.")))
    (context,) = built
    assert context.metadata.used_summary
    assert context.metadata.retrieved_memory_count == 1
    return seen


def test_the_page_lists_the_calls_of_a_build_in_their_order(steps: list[Step]) -> None:
    listed = listed_calls("Path of a thread")
    path = iter([(step.place, step.function) for step in steps])
    assert 15 < len(listed) <= 30
    assert [each for each in listed if each not in path] == []  # ``in`` goes on where the one before it was found


def test_a_build_makes_at_most_twenty_five_calls_between_rooms(steps: list[Step]) -> None:
    """Each function counts once: those of rooms of the context, and the gatekeeper; not stores, nor analysis of text."""
    apart = {"", "storage"}
    between = {
        (step.place, step.function)
        for step in steps
        if step.rooms[0] != step.rooms[1]
        and apart.isdisjoint(step.rooms)
        and step.place != "tool_results/pointers.py"
        and (step.rooms[1] != "selection" or step.place == "selection/gatekeeper.py")
    }
    assert 15 < len(between) <= 25
