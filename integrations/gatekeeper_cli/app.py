"""The commands of ``gatekeeper``: arguments in, a view out.

Wrong input ends with one line on standard error and exit status 2.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from gatekeeper_cli.chat import Chat, offered_model
from gatekeeper_cli.convert import convert
from gatekeeper_cli.demo import DEMO_BUDGET_TOKENS, demo_dict, run_demo
from gatekeeper_cli.evaluate import evaluate
from gatekeeper_cli.explain import explain
from gatekeeper_cli.history_file import HistoryFile
from gatekeeper_cli.inspect import inspect
from gatekeeper_cli.meaning import meaning_encoder
from gatekeeper_cli.models import ClientModel, Model, client_at, client_from_env
from gatekeeper_cli.offline import OfflineModel
from gatekeeper_cli.opening import FromFormat, WhichConversation, open_conversation, say_left_out
from gatekeeper_cli.output import AsJson, Budget, Lang, Meaning, Query, Strategy, StrategyOption
from gatekeeper_cli.output import checked_budget as _checked
from gatekeeper_cli.output import print_json as _print_json
from gatekeeper_cli.output import show as _show
from gatekeeper_cli.question import without_current
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.session import Session
from gatekeeper_cli.store import store
from gatekeeper_cli.terminal import Terminal
from gatekeeper_cli.texts import Language, speak, spoken, texts_for
from gatekeeper_cli.topics import topics_of
from gatekeeper_cli.views import demo_view, selection_view, why_view
from gatekeeper_core import __version__
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.errors import GatekeeperError
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.planner import GatekeeperConfig

__all__ = ["app", "run"]

_HELP = texts_for(Language.auto)  # help is put together before any option is read

app = typer.Typer(
    name="gatekeeper",
    help=_HELP("help.app"),
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(store, name="store")
app.command(help=_HELP("help.convert"))(convert)


def run() -> None:
    """Run the command line; a reader that goes away (``| head``) ends it quietly."""
    try:
        app(prog_name="gatekeeper")
    finally:
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            # The interpreter flushes once more when it ends: that must not find the broken pipe again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gatekeeper {__version__}")
        raise typer.Exit


@app.callback(help=_HELP("help.app"))
def prepare(
    version: Annotated[  # noqa: ARG001 - acts in its callback
        bool, typer.Option("--version", help=_HELP("help.version"), callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Set up the language and the streams."""
    speak(Language.auto)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows ASCII only shows "?" for the rest; the default would end the command with a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


@app.command(help=_HELP("help.demo"))
def demo(budget: Budget = DEMO_BUDGET_TOKENS, as_json: AsJson = False, lang: Lang = Language.auto) -> None:
    """Ask a sample conversation seven questions and show what is kept for each, and why."""
    texts = speak(lang)
    result = run_demo(token_budget=_checked(budget))
    if as_json:
        _print_json(demo_dict(result))
    else:
        _show(demo_view(result, texts))


@app.command(help=_HELP("help.select"))
def select(
    file: Annotated[str, typer.Argument(help=_HELP("help.any_file"), metavar="FILE")],
    query: Query,
    budget: Budget = 4000,
    strategy: StrategyOption = Strategy.gate,
    meaning: Meaning = False,
    as_json: AsJson = False,
    why: Annotated[bool, typer.Option("--why", help=_HELP("help.why"))] = False,
    form: FromFormat = None,
    conversation: WhichConversation = None,
    lang: Lang = Language.auto,
) -> None:
    """Select the turns of a conversation that a question needs."""
    texts = speak(lang)
    config, embedder = GatekeeperConfig(strategy=strategy.value), meaning_encoder(wanted=meaning)
    gatekeeper = ContextGatekeeper(_checked(budget), config=config, embedder=embedder)
    reading = open_conversation(file, form=form, conversation=conversation)
    gatekeeper.sync(without_current(reading.turns, query=query))
    selection = gatekeeper.explain(query)
    if as_json:
        left_out = {"left_out": dict(sorted(reading.left_out.items()))} if reading.left_out else {}
        _print_json(selection.to_dict() | left_out)
        return
    say_left_out(reading.left_out, repeated_speakers=reading.repeated_speakers)
    _show(selection_view(selection, topics_of(gatekeeper), texts))
    if why:
        _show(why_view(selection, texts))


app.command(help=_HELP("help.inspect"))(inspect)
app.command(help=_HELP("help.explain"))(explain)
app.command("eval", help=_HELP("help.eval"))(evaluate)


@app.command(help=_HELP("help.chat"))
def chat(
    history: Annotated[str | None, typer.Option(help=_HELP("help.history"), metavar="FILE.jsonl")] = None,
    budget: Budget = 4000,
    meaning: Meaning = False,
    base_url: Annotated[str | None, typer.Option("--base-url", help=_HELP("help.base_url"), metavar="URL")] = None,
    model: Annotated[str | None, typer.Option("--model", help=_HELP("help.chat_model"), metavar="NAME")] = None,
    key_env: Annotated[str | None, typer.Option("--key-env", help=_HELP("help.key_env"), metavar="NAME")] = None,
    env_file: Annotated[str | None, typer.Option(help=_HELP("help.env_file"), metavar="FILE")] = None,
    offline: Annotated[bool, typer.Option("--offline", help=_HELP("help.offline"))] = False,
) -> None:
    """Chat with a model that is sent, with each question, only the turns that the question needs."""
    tokens, terminal, embedder = _checked(budget), Terminal(), meaning_encoder(wanted=meaning)
    if (base_url is None) != (model is None):
        refuse(spoken()("error.chat_model"))
    try:
        file = None if history is None else HistoryFile(history)
        if offline:
            client = None
        elif base_url is not None and model is not None:
            client = client_at(base_url, model, key_env)
        else:
            client = client_from_env(env_file)
    except GatekeeperError as error:
        refuse(str(error))
    answering = ClientModel(client) if client else OfflineModel() if offline else offered_model(terminal)
    if answering is None:
        return
    try:
        raise typer.Exit(_chat(answering, file, terminal, budget=tokens, embedder=embedder))
    finally:
        answering.close()


def _chat(
    model: Model, file: HistoryFile | None, terminal: Terminal, *, budget: int, embedder: TextEncoder | None
) -> int:
    session = Session(
        model,
        token_budget=budget,
        messages=file.messages if file else (),
        store=file.append if file else None,
        embedder=embedder,
    )
    if file and file.note:
        terminal.complain(file.note)
    if terminal.interactive:
        turns = len(session.gatekeeper.turns)
        terminal.note(spoken()("chat.hello_again" if turns else "chat.hello", model=model.name, turns=turns))
        terminal.remember(block.user_text for block in session.gatekeeper.turns)
    return Chat(session, terminal).run()
