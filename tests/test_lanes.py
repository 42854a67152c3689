"""The schedule of ``make thorough`` (``.ci/lanes.sh``), in a repository of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
STEPS = """
. .ci/lanes.sh
here() { echo "on $(taskset -pc $$)"; }
fails() { echo "no good"; return 3; }
without() { echo "no npm"; return "$left_out"; }
export_functions
beside "first" 20 here
beside "second" 20 fails
beside "third (slow)" 0.2 sleep 20
beside "fourth" 20 without
alone "fifth" 20 here
conclude
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="steps are pinned to cores by taskset, which is Linux's"
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".ci").mkdir()
    for name in ("lanes.sh", "steps.sh"):
        shutil.copy(ROOT / ".ci" / name, tmp_path / ".ci")
    (tmp_path / ".ci" / "these").write_text(STEPS, encoding="utf-8")
    (tmp_path / ".gitignore").write_text("build/\n", encoding="utf-8")
    git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "Begin"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    return tmp_path


def rows(repository: Path) -> tuple[list[str], str]:
    """Run the steps; return the titles of those that were begun, and the table."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", ".ci/these"], cwd=repository, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    begun, _, table = done.stdout.partition("\n=== commit ")
    return [line.split(" (core")[0].split(" ", 2)[2] for line in begun.splitlines() if line.startswith("===")], table


def test_a_step_that_fails_stops_no_other_and_only_what_passed_on_the_commit_is_kept(repository: Path) -> None:
    begun, table = rows(repository)
    assert begun == ["first", "second", "third (slow)", "fourth", "fifth"]
    outcomes = [line.split(" s  ")[1] for line in table.splitlines()[1:6]]
    assert outcomes == [
        "passed    first",
        "FAILED    second",
        "LATE      third (slow)",
        "left out  fourth: no npm",
        "passed    fifth",
    ]
    (log,) = repository.glob("build/thorough/*/all.log")
    text = log.read_text(encoding="utf-8")
    assert "affinity list: 0\n" in text
    assert "affinity list: 0,1\n" in text
    assert "no good\n" in text
    assert text.count("passed    first") == 2, "in its own log, and in the table"

    begun, again = rows(repository)
    assert begun == ["second", "third (slow)", "fourth"]
    assert again.splitlines()[1] == table.splitlines()[1], "when it ran, and how long"

    (repository / "new.py").touch()
    assert len(rows(repository)[0]) == 5
    assert len(rows(repository)[0]) == 5
