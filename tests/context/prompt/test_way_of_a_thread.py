"""The way of a thread through a build is short, and is the one that the page on architecture lists."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import pytest

from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.loops import assistant, calls, result, user

PAGE = Path(__file__).resolve().parents[3] / "docs" / "architecture.md"
QUESTION = "Back to service-3: which port was it?\nAnd which host?"
LOG = "\n".join(f"12:00:{at % 60:02d} INFO worker {at} finished" for at in range(500))


def room_of(place: str) -> str:
    return place.partition("/")[0] if "/" in place else ""


class Step(NamedTuple):
    """A call from one module of the core into another; a place is ``prompt/builder.py``, or "" outside the core."""

    caller: str
    place: str
    function: str

    @property
    def rooms(self) -> tuple[str, str]:
        """The rooms that it leads out of and into; "" for the hall."""
        return room_of(self.caller), room_of(self.place)


def place_of(frame: FrameType | None) -> str:
    module = frame.f_globals.get("__name__", "") if frame else ""
    if not module.startswith("gatekeeper_core."):
        return ""
    return module.removeprefix("gatekeeper_core.").removeprefix("context.").replace(".", "/") + ".py"


def functions_of(module: object) -> Iterator[CodeType]:
    """Yield the functions and methods of a module, without properties and what makes and compares values."""
    for owner in (module, *(one for one in vars(module).values() if inspect.isclass(one))):
        for name, value in vars(owner).items():
            plain = getattr(value, "__func__", value)
            if inspect.isfunction(plain) and (name == "__call__" or not name.startswith("__")):
                yield plain.__code__


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    """The calls between modules in a build for a thread with summary, memories, task and a long tool result."""
    memory = LongTermMemory(InMemoryStore())
    memory.add(MemoryScope("default", "ada"), f"{QUESTION} 6383 on host kestrel.", category="user_preference")
    builder = ContextBuilder(ContextBuilderConfig(total_budget=6_000), memory=memory)
    said = [
        message
        for at in range(20)
        for message in (user(f"Which port does service-{at} use?"), assistant(f"Port {6380 + at}. " * 60))
    ]
    thread = Thread(
        "t1", (*said, user("Read its log."), calls("c1"), result("c1", LOG), assistant("Done.")), user="ada"
    )
    builder.constraints.set(thread, "language", "English")
    known: dict[str, set[CodeType]] = {}
    seen: list[Step] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not (place := place_of(frame)):
            return
        if place not in known:
            known[place] = set(functions_of(importlib.import_module(frame.f_globals["__name__"])))
        caller = frame.f_back
        while caller and not place_of(caller):
            caller = caller.f_back
        if frame.f_code in known[place] and place_of(caller) != place:
            seen.append(Step(place_of(caller), place, frame.f_code.co_name))

    sys.setprofile(note)
    try:
        context = builder.build(thread, QUESTION, "Be brief.")
    finally:
        sys.setprofile(None)
    assert context.metadata.used_summary
    assert context.metadata.retrieved_memory_count == 1
    return seen


def test_the_page_lists_the_calls_of_a_build_in_their_order(steps: list[Step]) -> None:
    block = PAGE.read_text(encoding="utf-8").partition("## The way of a thread")[2].split("```")[1]
    listed = re.findall(r"^ *(\w+/\w+\.py) +(\w+)", block, re.MULTILINE)
    made = iter([(step.place, step.function) for step in steps])
    assert 15 < len(listed) <= 30
    assert [each for each in listed if each not in made] == []  # ``in`` goes on where the one before it was found


def test_a_build_makes_at_most_twenty_five_calls_between_rooms(steps: list[Step]) -> None:
    """Each function counts once: those of rooms of the context, and the gatekeeper; not stores, nor analysis of text."""
    apart = {"", "storage"}
    between = {
        (step.place, step.function)
        for step in steps
        if step.rooms[0] != step.rooms[1]
        and apart.isdisjoint(step.rooms)
        and (step.rooms[1] != "selection" or step.place == "selection/gatekeeper.py")
    }
    assert 15 < len(between) <= 25
