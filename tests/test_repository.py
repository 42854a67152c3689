"""What the repository promises to those who clone it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_git_ignores_the_file_of_secrets_and_an_example_shows_its_names() -> None:
    """000-58: ``.env`` never reaches a commit (the continuous integration asks git itself, too)."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert ".env" in ignored
    assert "!.env" not in ignored
    assert "MINIMAX_API_KEY=\n" in (ROOT / ".env.example").read_text(encoding="utf-8")


def test_each_room_of_the_core_has_its_tests() -> None:
    """000-58: the folders of ``tests`` are those of the core; tests go through the doors, not module by module."""
    import gatekeeper_core

    core = Path(gatekeeper_core.__file__).parent
    rooms = {source.parent.relative_to(core) for source in core.rglob("*.py") if source.stem != "__init__"}
    assert [str(room) for room in sorted(rooms) if not [*(ROOT / "tests" / room).glob("test_*.py")]] == []


def test_the_workflow_of_the_server_calls_the_one_script() -> None:
    """000-59: the workflow checks out and runs ``.ci/run``."""
    workflow = (ROOT / ".gitea" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert ".ci/run" in workflow
    assert (ROOT / ".ci" / "run").is_file()
