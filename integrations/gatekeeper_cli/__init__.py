"""The ``gatekeeper`` command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; without the extra, print the line that installs it.

    Raises:
        SystemExit: always at the end of a command; status 2 for wrong input and for a missing extra.
    """
    try:
        from gatekeeper_cli.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("rich", "typer"):
            raise
        sys.stderr.write('gatekeeper needs the command-line extra: pip install "context-gatekeeper[cli]"\n')
        raise SystemExit(2) from None
    run()
