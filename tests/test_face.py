"""The face of the library: about 40 names in one list, and nothing in their signatures that a user cannot name."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from functools import cache
from types import FunctionType, GenericAlias, ModuleType

import gatekeeper_core

MOST_NAMES = 46


@cache
def imported_into(module: ModuleType) -> dict[str, str]:
    """Return by name the module that a name comes from, also where only the type checker reads the import."""
    tree = ast.parse(inspect.getsource(module))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: node.module or "" for node in imports for alias in node.names}


def annotations_of(value: object) -> list[str]:
    """Return the annotations of what is public in a class, or of a function, as they are written."""
    if isinstance(value, type):
        members = [
            getattr(member, "fget", None) or getattr(member, "__func__", member)
            for name, member in vars(value).items()
            if name == "__init__" or not name.startswith("_")
        ]
        fields = {name: kind for name, kind in inspect.get_annotations(value).items() if not name.startswith("_")}
        functions = [member for member in members if isinstance(member, FunctionType)]
        return [*map(str, fields.values()), *(text for member in functions for text in annotations_of(member))]
    if isinstance(value, FunctionType):
        return [str(kind) for kind in inspect.get_annotations(value).values()]
    return []


def types_in_the_signatures_of(value: object) -> set[tuple[str, str]]:
    """Return module and name of the library's own types that stand in what is public of a value."""
    module = importlib.import_module(getattr(value, "__module__", "builtins"))
    named = {name for text in annotations_of(value) for name in re.findall(r"\b[A-Z]\w+", text)}
    places = {name: imported_into(module).get(name, module.__name__) for name in named}
    return {(place, name) for name, place in places.items() if place.startswith(gatekeeper_core.__name__)}


def test_the_face_is_one_short_list() -> None:
    assert list(gatekeeper_core.__all__) == sorted(gatekeeper_core._MODULE_OF)
    assert len(gatekeeper_core.__all__) <= MOST_NAMES
    shown = imported_into(gatekeeper_core)
    assert {name: shown[name].partition(".")[2] for name in gatekeeper_core.__all__} == gatekeeper_core._MODULE_OF
    places = {name: getattr(value, "__module__", "") for name, value in vars(gatekeeper_core).items() if name[0] != "_"}
    loaded = {name for name, place in places.items() if place.startswith("gatekeeper_core.")}
    assert loaded <= {*gatekeeper_core.__all__} <= {*dir(gatekeeper_core)}


def test_every_type_in_a_public_signature_is_public_and_documented() -> None:
    faults = []
    for face in gatekeeper_core.__all__:
        for place, name in sorted(types_in_the_signatures_of(getattr(gatekeeper_core, face))):
            module = importlib.import_module(place)
            if not hasattr(module, name):
                continue  # a type variable of the module itself, or a name of the standard library
            if name.startswith("_"):
                faults.append(f"{face} names {place}.{name}, which is private")
            elif (
                inspect.isclass(shown := getattr(module, name))
                and not isinstance(shown, GenericAlias)
                and not shown.__doc__
            ):
                faults.append(f"{face} names {place}.{name}, which has no docstring")
    assert faults == []


def test_a_type_that_only_the_type_checker_imports_is_seen() -> None:
    seen = types_in_the_signatures_of(gatekeeper_core.ContextBuilder)
    assert ("gatekeeper_core.context.prompt.budget", "ContextBuilderConfig") in seen
    assert ("gatekeeper_core.storage.base", "RecordStore") in seen
