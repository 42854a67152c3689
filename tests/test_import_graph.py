"""The picture of the import graph shows what the code imports."""

from __future__ import annotations

import importlib.util
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
    spec = importlib.util.spec_from_file_location("import_graph", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(folder: Path, **modules: str) -> Path:
    """Write a package ``gatekeeper_core`` of modules named as ``selection__index`` with their source, and return it."""
    for name, source in modules.items():
        path = folder / "gatekeeper_core" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return folder / "gatekeeper_core"


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
