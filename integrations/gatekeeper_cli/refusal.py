"""How a command ends that was given something that it cannot work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from gatekeeper_cli.showable import visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

__all__ = ["refuse"]


def refuse(reason: str, *, details: Sequence[str] = ()) -> NoReturn:
    """End the command with one line on standard error, and one for each detail, and exit status 2."""
    typer.echo(f"gatekeeper: {visible(reason)}", err=True)
    for detail in details:
        typer.echo(f"  {visible(detail)}", err=True)
    raise typer.Exit(2)
