"""The package's top: seven names, each loaded with what it needs and no more, and a plain word where that is missing."""

from __future__ import annotations

import ast
import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import langchain_gatekeeper

pytestmark = pytest.mark.adapters

NAMES = [
    "GatekeeperChatMemory",
    "GatekeeperMiddleware",
    "GatekeeperSelector",
    "recall_tool",
    "select_messages",
    "working_memory_tool",
]
FRAMEWORKS = ("langchain", "langchain_classic", "langchain_core", "langgraph", "llama_index")
MODULES = [
    "building",
    "cache_marks",
    "content",
    "events",
    "memory",
    "middleware",
    "owners",
    "provider_side",
    "reading",
    "runnable",
    "schemas",
    "selecting",
    "selectors",
    "tools",
    "writing",
]

WITHOUT = """\
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""


def run(code: str, *, missing: tuple[str, ...] = ()) -> str:
    """Run code in a fresh interpreter in which some packages cannot be found, and return what it prints."""
    blocked = WITHOUT.format(missing=set(missing) or {""})
    command = [sys.executable, "-c", blocked + code]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_top_shows_its_names() -> None:
    assert sorted(langchain_gatekeeper.__all__) == NAMES
    assert set(NAMES) <= set(dir(langchain_gatekeeper))
    for name in NAMES:
        assert getattr(langchain_gatekeeper, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'GatekeeperBuffer'"):
        langchain_gatekeeper.GatekeeperBuffer  # noqa: B018


def test_star_import_gives_the_same_names() -> None:
    assert run(f"from langchain_gatekeeper import *\nprint(all(name in globals() for name in {NAMES!r}))") == "True\n"


def test_type_checkers_see_what_is_loaded_lazily() -> None:
    tree = ast.parse(Path(str(langchain_gatekeeper.__file__)).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    shown = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert sorted(shown) == NAMES
    assert Path(str(langchain_gatekeeper.__file__)).with_name("py.typed").exists()


def test_importing_the_top_loads_no_framework() -> None:
    code = f"import langchain_gatekeeper\ndir(langchain_gatekeeper)\nprint([n for n in {FRAMEWORKS!r} if n in sys.modules])"
    assert run(code) == "[]\n"


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("GatekeeperSelector", ("langchain", "langchain_classic", "langgraph")),
        ("select_messages", ("langchain", "langchain_classic", "langgraph")),
        ("working_memory_tool", ("langchain", "langchain_classic", "langgraph")),
        ("GatekeeperMiddleware", ("langchain_classic",)),
        ("GatekeeperChatMemory", ("langchain", "langgraph")),
    ],
)
def test_each_name_loads_only_its_own_part_of_the_framework(name: str, others: tuple[str, ...]) -> None:
    code = f"from langchain_gatekeeper import {name}\nprint([n for n in {others!r} if n in sys.modules])"
    assert run(code) == "[]\n"
    assert run(f"from langchain_gatekeeper import {name}\nprint({name}.__name__)", missing=others) == f"{name}\n"


@pytest.mark.parametrize("name", NAMES)
def test_what_builds_prompts_is_loaded_with_a_builder_only(name: str) -> None:
    rooms = tuple(f"gatekeeper_core.context.{room}" for room in ("memory", "prompt", "summary", "task"))
    code = f"import sys\nfrom langchain_gatekeeper import {name}\nprint([n for n in {rooms!r} if n in sys.modules])"
    assert run(code) == "[]\n"


@pytest.mark.parametrize(
    ("name", "missing", "extra"),
    [
        ("GatekeeperSelector", "langchain_core", "langchain-core"),
        ("select_messages", "langchain_core", "langchain-core"),
        ("GatekeeperMiddleware", "langchain", "langchain"),
        ("GatekeeperMiddleware", "langchain_core", "langchain"),
        ("GatekeeperChatMemory", "langchain_classic", "langchain-classic"),
    ],
)
def test_a_missing_part_is_named_with_the_line_that_installs_it(name: str, missing: str, extra: str) -> None:
    code = f"try:\n    from langchain_gatekeeper import {name}\nexcept ImportError as error:\n    print(error)"
    said = run(code, missing=(missing,))
    assert said.startswith(f"{name} needs {missing}")
    assert said.endswith(f': pip install "context-gatekeeper[{extra}]"\n')


def test_what_else_is_missing_is_no_matter_of_an_extra() -> None:
    code = """\
try:
    from langchain_gatekeeper import GatekeeperSelector
except ModuleNotFoundError as error:
    print(error.name)
"""
    assert run(code, missing=("gatekeeper_core",)) == "gatekeeper_core\n"


@pytest.mark.filterwarnings("ignore:The class `InMemoryChatMessageHistory` was deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(f"langchain_gatekeeper.{name}"))
    assert failed == 0


def test_every_module_has_its_examples_checked() -> None:
    folder = Path(str(langchain_gatekeeper.__file__)).parent
    assert sorted(path.stem for path in folder.glob("[!_]*.py")) == MODULES
