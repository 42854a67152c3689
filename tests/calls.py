"""The calls between modules of the core while something runs, seen by ``sys.setprofile``."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

PAGE = Path(__file__).resolve().parents[1] / "docs" / "architecture.md"


class Step(NamedTuple):
    """A call from one module of the core into another; a place is ``prompt/builder.py``, or "" outside the core."""

    caller: str
    place: str
    function: str

    @property
    def rooms(self) -> tuple[str, str]:
        """The rooms that it leads out of and into; "" for the hall."""
        caller, place = (place.partition("/")[0] if "/" in place else "" for place in (self.caller, self.place))
        return caller, place


def place_of(frame: FrameType | None) -> str:
    module = frame.f_globals.get("__name__", "") if frame else ""
    if not module.startswith("gatekeeper_core."):
        return ""
    return module.removeprefix("gatekeeper_core.").removeprefix("context.").replace(".", "/") + ".py"


def functions_of(module: object) -> Iterator[CodeType]:
    """Yield the functions and methods of a module, without properties and what makes and compares values."""
    for owner in (module, *(each for each in vars(module).values() if inspect.isclass(each))):
        for name, value in vars(owner).items():
            plain = inspect.unwrap(getattr(value, "__func__", value)) if callable(value) else value
            if inspect.isfunction(plain) and (name == "__call__" or not name.startswith("__")):
                yield plain.__code__


def steps_of(run: Callable[[], Any]) -> list[Step]:
    """Return the calls between modules while a function runs, in their order."""
    functions: dict[str, set[CodeType]] = {}
    steps: list[Step] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not (place := place_of(frame)):
            return
        if place not in functions:
            functions[place] = set(functions_of(importlib.import_module(frame.f_globals["__name__"])))
        caller = frame.f_back
        while caller and not place_of(caller):
            caller = caller.f_back
        if frame.f_code in functions[place] and place_of(caller) != place:
            steps.append(Step(place_of(caller), place, frame.f_code.co_name))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return steps


def first_column(page: str, heading: str) -> list[str]:
    """Return the first cells of the table under a heading of a page in ``docs``."""
    section = (PAGE.parent / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2]
    rows = section[section.index("\n|") :].strip().partition("\n\n")[0].splitlines()[2:]
    return [row.split("|")[1].strip() for row in rows]


def listed_calls(heading: str) -> list[tuple[str, str]]:
    """Return the places and functions that the page on architecture lists under a heading."""
    block = PAGE.read_text(encoding="utf-8").partition(f"## {heading}")[2].split("```")[1]
    return re.findall(r"^ *(\w+/\w+\.py) +(\w+)", block, re.MULTILINE)
