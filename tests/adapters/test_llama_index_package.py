"""The package ``llama_index.memory.gatekeeper``: its names, and what happens without LlamaIndex."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import llama_index.memory.gatekeeper as package

pytestmark = pytest.mark.adapters

MODULES = [
    "block",
    "buffer",
    "building",
    "cache_marks",
    "events",
    "memory",
    "options",
    "reading",
    "recalled",
    "tools",
    "writing",
]


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", package.__all__)
def test_every_public_name_can_be_imported_and_is_listed(name: str) -> None:
    public = getattr(package, name)
    assert public.__name__ == public.class_name() if hasattr(public, "class_name") else name
    assert name in dir(package)


def test_the_public_names_are_sorted() -> None:
    assert package.__all__ == sorted(package.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'GatekeeperRetriever'"):
        package.GatekeeperRetriever  # noqa: B018 - reading it is the test


def test_importing_the_package_loads_no_framework() -> None:
    code = "import sys, llama_index.memory.gatekeeper; print('llama_index.core' in sys.modules)"
    assert run_python(code) == "False"


def test_what_builds_prompts_is_loaded_with_a_builder_only() -> None:
    rooms = tuple(f"gatekeeper_core.context.{room}" for room in ("memory", "prompt", "summary", "task"))
    code = f"import sys; from {package.__name__} import *; print([name for name in {rooms!r} if name in sys.modules])"
    assert run_python(code) == "[]"


def test_the_folders_above_stay_open_for_other_packages() -> None:
    for name in ("llama_index", "llama_index.memory"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is None
    assert importlib.util.find_spec("llama_index.core") is not None


def test_without_llama_index_the_error_names_the_line_that_installs_it() -> None:
    code = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "llama_index.core":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import llama_index.memory.gatekeeper as package
try:
    package.GatekeeperMemoryBuffer
except ImportError as error:
    print(type(error).__name__, error)
"""
    wanted = 'ImportError GatekeeperMemoryBuffer needs LlamaIndex: pip install "context-gatekeeper[llama-index]"'
    assert run_python(code) == wanted


def test_another_missing_module_is_not_blamed_on_llama_index() -> None:
    code = """
import sys
sys.modules["sqlalchemy"] = None
import llama_index.memory.gatekeeper as package
try:
    package.GatekeeperMemory
except ImportError as error:
    print(error.name, "context-gatekeeper" in str(error))
"""
    assert run_python(code).startswith("sqlalchemy")
    assert run_python(code).endswith("False")


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_the_docstrings_run(module: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(f"llama_index.memory.gatekeeper.{module}"))
    assert failed == 0


def test_no_module_was_forgotten() -> None:
    folder = Path(package.__file__ or "").parent
    assert sorted(path.stem for path in folder.glob("*.py")) == ["__init__", *MODULES]
