"""The commands of ``gatekeeper``; wrong input ends with one line on standard error and exit status 2."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from gatekeeper_cli.chat import chat
from gatekeeper_cli.convert import convert
from gatekeeper_cli.demo import demo
from gatekeeper_cli.evaluate import evaluate
from gatekeeper_cli.explain import explain, select
from gatekeeper_cli.inspect import inspect
from gatekeeper_cli.mcp import mcp
from gatekeeper_cli.options import HELP, with_groups
from gatekeeper_cli.serve import serve
from gatekeeper_cli.store import store
from gatekeeper_cli.texts import Language, speak
from gatekeeper_core import __version__

app = typer.Typer(
    name="gatekeeper",
    help=HELP("help.app"),
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(store, name="store")
app.command("convert", help=HELP("help.convert"))(with_groups(convert))
app.command("demo", help=HELP("help.demo"))(with_groups(demo))
app.command("select", help=HELP("help.select"))(with_groups(select))
app.command("inspect", help=HELP("help.inspect"))(with_groups(inspect))
app.command("explain", help=HELP("help.explain"))(with_groups(explain))
app.command("eval", help=HELP("help.eval"))(with_groups(evaluate))
app.command("chat", help=HELP("help.chat"))(with_groups(chat))
app.command("mcp", help=HELP("help.mcp"))(with_groups(mcp))
app.command("serve", help=HELP("help.serve"))(with_groups(serve))


def run() -> None:
    """Run the command line; a closed pipe (``| head``) ends it quietly."""
    try:
        app(prog_name="gatekeeper")
    finally:
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            # The interpreter flushes again at exit and must not hit the broken pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@app.callback(help=HELP("help.app"), invoke_without_command=True)
def prepare(version: Annotated[bool, typer.Option("--version", help=HELP("help.version"))] = False) -> None:
    """Set up the language and the streams."""
    if version:
        typer.echo(f"gatekeeper {__version__}")
        raise typer.Exit
    speak(Language.auto)
    for stream in (sys.stdout, sys.stderr):
        # An ASCII-only terminal shows "?" for other characters; by default the command would end with a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
