"""The option ``--check`` of the scripts that generate files."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_check(files: dict[Path, str]) -> None:
    """Write generated files, or exit with status 1 if ``--check`` is passed and one is out of date."""
    if "--check" not in sys.argv[1:]:
        for path, text in files.items():
            path.write_text(text, encoding="utf-8", newline="\n")
        return
    stale = [path.name for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run python docs/{Path(sys.argv[0]).name}")
