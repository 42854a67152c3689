"""The picture of the import graph shows what the code imports."""

from __future__ import annotations

import importlib.util
import shutil
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


def test_an_import_that_the_page_does_not_show_is_seen(graph: ModuleType, tmp_path: Path) -> None:
    root = package(
        tmp_path,
        tokens="",
        storage__base="def load():\n    from gatekeeper_core.selection.index import Index",
        selection__index="import gatekeeper_core.tokens",
        context__thread__thread="from gatekeeper_core.storage.base import Store\nimport gatekeeper_core.selection.index",
    )
    rooms = graph.rooms_imported(root)
    assert rooms == {"hall": set(), "selection": {"hall"}, "storage": {"selection"}, "thread": {"selection", "storage"}}
    assert graph.direct(rooms) == [("selection", "hall"), ("storage", "selection"), ("thread", "storage")]
    assert "| `thread` | `selection`, `storage` |" in graph.table(rooms)


def test_a_page_without_the_marks_is_refused_and_not_cut(
    graph: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = graph.rooms_imported(graph.package_root())
    (tmp_path / "architecture.md").write_text("<!-- drawn by docs/import_graph.py -->\n\nThe rest.\n", encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "pictures", tmp_path / "pictures")
    monkeypatch.setattr(graph, "DOCS", tmp_path)
    with pytest.raises(ValueError, match="end of the drawing"):
        graph.drawn(rooms)


def test_a_circle_and_a_room_without_a_lane_are_refused(graph: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="circle"):
        graph.floors({"selection": {"storage"}, "storage": {"selection"}})
    with pytest.raises(ValueError, match="cellar"):
        graph.picture(graph.rooms_imported(package(tmp_path, context__cellar__wine="")), 0)
