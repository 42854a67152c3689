"""The recipe of each framework in the README of gatekeeper_hooks, run alone, and the examples in the docstrings of its module.

CrewAI is not among them: see crewai_alone.py.
"""

from __future__ import annotations

import doctest
import pkgutil
import re
import sys
from typing import TYPE_CHECKING

import pytest

import gatekeeper_hooks
from tests.test_docs import ROOT, python_program, run

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "integrations" / "gatekeeper_hooks" / "README.md").read_text(encoding="utf-8")
SECTIONS = [section for section in re.split(r"^## (?=\S)", PAGE, flags=re.MULTILINE) if python_program(section)]
MODULES = [module.name for module in pkgutil.iter_modules(gatekeeper_hooks.__path__) if module.name != "crewai"]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.partition("\n")[0])
def test_the_recipe_of_a_framework_runs_alone(section: str, tmp_path: Path) -> None:
    program = python_program(section)
    for package in re.findall(r"^(?:from|import) (\w+)", program, flags=re.MULTILINE):
        pytest.importorskip(package, reason=f"no {package}: pip install --group test-hooks")
    (tmp_path / "recipe.py").write_text(program, encoding="utf-8")
    run([sys.executable, str(tmp_path / "recipe.py")], tmp_path, LITELLM_LOCAL_MODEL_COST_MAP="True")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    module = pytest.importorskip(f"gatekeeper_hooks.{name}", reason="pip install --group test-hooks")
    failed, _ = doctest.testmod(module)
    assert failed == 0
