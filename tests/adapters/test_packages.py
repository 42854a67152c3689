"""The packages of the adapters: their names, each loaded with what it needs and no more, and a plain word where that is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import langchain_gatekeeper
import llama_index.memory.gatekeeper as llama_index_gatekeeper
from tests.case_files import from_file

PACKAGES: list[ModuleType] = [langchain_gatekeeper, llama_index_gatekeeper]
FRAMEWORKS = ("langchain", "langchain_classic", "langchain_core", "langgraph", "llama_index.core")
BUILDER = "gatekeeper_core.context.prompt.builder"
WITHOUT = """\
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {missing!r} or name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""

each_package = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)


def run(code: str, *, missing: tuple[str, ...] = ()) -> str:
    """Run code in a fresh interpreter in which some packages cannot be found, and return what it prints."""
    blocked = WITHOUT.format(missing=set(missing) or {""})
    command = [sys.executable, "-c", blocked + code]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def said_by(package: str, names: str, missing: str) -> list[str]:
    """Return the errors of imports, one after another."""
    code = f"for name in {names.split()!r}:\n    try:\n        exec(f'from {package} import {{name}}')\n"
    return run(f"{code}    except ImportError as error:\n        print(error)", missing=(missing,)).splitlines()


@each_package
def test_the_top_shows_its_names_and_no_other(package: ModuleType) -> None:
    names = list(package.__all__)
    assert names == sorted(names)
    assert set(names) <= set(dir(package))
    for name in names:
        public = getattr(package, name)
        assert name == (public.class_name() if hasattr(public, "class_name") else public.__name__)
    with pytest.raises(AttributeError, match="no attribute 'GatekeeperRetriever'"):
        package.GatekeeperRetriever  # noqa: B018 - reading it is the test


@each_package
def test_type_checkers_see_what_is_loaded_lazily(package: ModuleType) -> None:
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    shown = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert shown == set(package.__all__)
    assert Path(str(package.__file__)).with_name("py.typed").exists()


@each_package
def test_the_top_loads_no_framework_and_a_star_import_every_name_but_not_what_builds_prompts(
    package: ModuleType,
) -> None:
    name = package.__name__
    code = f"import sys, {name} as top\ndir(top)\nprint([n for n in {FRAMEWORKS!r} if n in sys.modules])"
    code += f"\nfrom {name} import *\nprint(all(name in globals() for name in {list(package.__all__)!r}))"
    assert run(f"{code}\nprint({BUILDER!r} in sys.modules)").split("\n") == ["[]", "True", "False"]


@from_file("names", "others")
def test_each_name_loads_only_its_own_part_of_the_framework(names: str, others: list[str]) -> None:
    code = f"from langchain_gatekeeper import {names}\nprint([n for n in {others!r} if n in sys.modules])"
    assert run(code) == "[]"


@from_file("names", "missing", "extras")
def test_a_missing_part_of_langchain_is_named_with_the_line_that_installs_it(
    names: str, missing: str, extras: str
) -> None:
    errors = said_by("langchain_gatekeeper", names, missing)
    for name, extra, error in zip(names.split(), extras.split(), errors, strict=True):
        assert error.startswith(f"{name} needs {missing}")
        assert error.endswith(f': pip install "context-gatekeeper[{extra}]"')


def test_without_llama_index_the_error_names_the_line_that_installs_it() -> None:
    lines = said_by("llama_index.memory.gatekeeper", "GatekeeperMemoryBuffer", "llama_index.core")
    assert lines == ['GatekeeperMemoryBuffer needs LlamaIndex: pip install "context-gatekeeper[llama-index]"']
