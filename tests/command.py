"""The ``gatekeeper`` command for tests: run in this process, or as a program of its own."""

from __future__ import annotations

import json
import os
import sys
from contextvars import copy_context
from typing import TYPE_CHECKING

from tests.talks import dicts_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from typer.testing import Result

MAIN = "from gatekeeper_cli import main; main()"
PROGRAM = [sys.executable, "-W", "error", "-c", MAIN]


def run(*arguments: object, stdin: str | bytes | None = None, **environment: str) -> Result:
    """Run a command; of the settings of this machine only those are seen that are given here."""
    from typer.testing import CliRunner  # needs the extra, and tests are collected without it

    from gatekeeper_cli.app import app

    own: dict[str, str | None] = dict.fromkeys(
        name for name in os.environ if name.startswith(("MINIMAX_", "GATEKEEPER_"))
    )
    invoke = CliRunner().invoke
    context = copy_context()  # the language of a command ends with it
    return context.run(
        invoke, app, [*map(str, arguments)], input=stdin, env={**own, **environment}, catch_exceptions=False
    )


def chat_file(folder: Path, pairs: Iterable[tuple[str, str]]) -> Path:
    """Write a chat, a message in each line, and return its file."""
    file = folder / "chat.jsonl"
    file.write_text("".join(json.dumps(message) + "\n" for message in dicts_of(pairs)), "utf-8")
    return file
