"""A wheel and a source archive of each distribution, in one folder: ``python distributions/build.py dist``.

``langchain-gatekeeper`` and ``llama-index-memory-gatekeeper`` hold no module. Each requires ``context-gatekeeper`` of
the same version with the extra of its framework, so no file belongs to two distributions. Needs hatchling.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
THIN = sorted(path.parent for path in (ROOT / "distributions").glob("*/pyproject.toml"))
LICENSES = ("LICENSE", "NOTICE")
DYNAMIC = re.compile(r"^dynamic = .*", re.MULTILINE)
REQUIREMENT = re.compile(r'"(context-gatekeeper\[[\w,-]+\])"')


def hatchling(*arguments: str, source: Path) -> str:
    """Run hatchling in a source folder and return what it prints."""
    command = [sys.executable, "-m", "hatchling", *arguments]
    done = subprocess.run(  # noqa: S603 - our own interpreter, a fixed program
        command, cwd=source, stdout=subprocess.PIPE, encoding="utf-8", check=True
    )
    return done.stdout


def fill_in(settings: str, library: dict[str, Any]) -> str:
    """Return the pyproject.toml of a thin distribution with the version and the addresses of the library.

    Args:
        settings: its text in the checkout.
        library: the metadata of ``context-gatekeeper``, as hatchling prints it.
    """
    addresses = ", ".join(f"{json.dumps(name)} = {json.dumps(url)}" for name, url in library.get("urls", {}).items())
    values = f'version = "{library["version"]}"\nurls = {{ {addresses} }}'
    pinned = REQUIREMENT.sub(rf'"\1=={library["version"]}"', settings)
    return DYNAMIC.sub(lambda _: values, pinned)


def main(folder: Path) -> None:
    """Build everything into ``folder``.

    The thin distributions are built from copies with all their metadata written out: their source archives build
    anywhere, and what reads a pyproject.toml without building it finds version and requirement.
    """
    hatchling("build", "-d", str(folder), source=ROOT)
    library = json.loads(hatchling("metadata", source=ROOT))
    for thin in THIN:
        with tempfile.TemporaryDirectory() as temporary:
            source = Path(shutil.copytree(thin, Path(temporary, thin.name)))
            for name in LICENSES:
                shutil.copy(ROOT / name, source)
            settings = source / "pyproject.toml"
            text = fill_in(settings.read_text(encoding="utf-8"), library)
            settings.write_text(text, encoding="utf-8", newline="\n")
            hatchling("build", "-d", str(folder), source=source)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve())
