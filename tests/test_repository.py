"""What the repository promises to those who clone it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULES_WITHOUT_LOGIC = {"__init__", "lexicon"}
TESTED_THROUGH_A_DOOR = {"bounded_results", "lookups", "appending", "forgetting", "tables", "shrink", "decisions"}
"""Shown by the gatekeeper, the builder, a run and the stores: ``test_planner.py``, ``store_contract.py`` and so on."""
TESTED_THROUGH_A_DOOR |= {"digest", "delimited", "lines", "listings", "rows", "templates", "traces"}
"""Shown by the compressor of tool results: ``test_registry.py`` of its formats."""


def test_git_ignores_the_file_of_secrets_and_an_example_shows_its_names() -> None:
    """000-58: ``.env`` never reaches a commit (the continuous integration asks git itself, too)."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert ".env" in ignored
    assert "!.env" not in ignored
    assert "MINIMAX_API_KEY=\n" in (ROOT / ".env.example").read_text(encoding="utf-8")


def test_each_module_of_the_core_has_its_tests() -> None:
    """000-58: one file of tests for each module, in the same folder of ``tests``; word lists are tested in one."""
    import gatekeeper_core

    core = Path(gatekeeper_core.__file__).parent
    modules = [
        source.relative_to(core)
        for source in core.rglob("*.py")
        if source.stem not in MODULES_WITHOUT_LOGIC | TESTED_THROUGH_A_DOOR
    ]
    wanted = [ROOT / "tests" / module.with_name(f"test_{module.name}") for module in sorted(modules)]
    assert [str(path.relative_to(ROOT)) for path in wanted if not path.is_file()] == []


def test_the_workflow_of_the_server_calls_the_one_script() -> None:
    """000-59: the workflow checks out and runs ``.ci/run``."""
    workflow = (ROOT / ".gitea" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert ".ci/run" in workflow
    assert (ROOT / ".ci" / "run").is_file()
