"""The picture of the import graph shows what the code imports."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.test_architecture import CORE_MODULES, imports

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "docs" / "import_graph.py"


@pytest.fixture(scope="module")
def graph() -> ModuleType:
    """The script as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPT.parent)
        return importlib.import_module(SCRIPT.stem)


def test_picture_and_table_of_the_page_show_what_the_code_imports() -> None:
    """Where they do not: python docs/import_graph.py."""
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_graph_has_every_import_that_the_rules_of_the_house_read(graph: ModuleType) -> None:
    arrows = set()
    for module in CORE_MODULES:
        for target in imports(module):
            if module.name not in {"", "context"} and target.startswith("gatekeeper_core."):
                arrows.add((graph.room_of(module.name), graph.room_of(target.removeprefix("gatekeeper_core."))))
    rooms = graph.rooms_imported(graph.package_root())
    assert {(room, other) for room, others in rooms.items() for other in others} == {
        (a, b) for a, b in arrows if a != b
    }
