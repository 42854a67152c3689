"""``gatekeeper chat``: the choice of the model, the loop at the terminal, and the slash commands."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.text import Text

from gatekeeper_cli.explain import topics_view, why_view
from gatekeeper_cli.explanation import meaning_line
from gatekeeper_cli.history_file import HistoryFile
from gatekeeper_cli.meaning import meaning_encoder
from gatekeeper_cli.models import CHAT_PIP_LINE, KEY_NAME, ClientModel, Model, client_at, client_from_env
from gatekeeper_cli.offline import OfflineModel
from gatekeeper_cli.options import HELP, BaseUrl, Budget, KeyEnv, Meaning, checked_budget
from gatekeeper_cli.output import refuse
from gatekeeper_cli.session import Session
from gatekeeper_cli.terminal import Terminal
from gatekeeper_cli.texts import spoken, visible
from gatekeeper_core.errors import GatekeeperError

_INTERRUPTED_STATUS = 130
_COMMANDS = {"why": "", "topics": "", "pin": "[KEY VALUE]", "unpin": "KEY", "budget": "[N]", "help": "", "quit": ""}


@dataclass(frozen=True)
class _ModelOptions:
    base_url: BaseUrl = None
    model: Annotated[str | None, typer.Option("--model", help=HELP("help.chat_model"), metavar="NAME")] = None
    key_env: KeyEnv = None
    env_file: Annotated[str | None, typer.Option(help=HELP("help.env_file"), metavar="FILE")] = None
    offline: Annotated[bool, typer.Option("--offline", help=HELP("help.offline"))] = False

    def open(self, terminal: Terminal) -> Model | None:
        """Return the model; without a key the scripted one, or None if the user at the terminal declines it."""
        if self.offline:
            return OfflineModel()
        if self.base_url is not None and self.model is not None:
            return ClientModel(client_at(self.base_url, self.model, self.key_env))
        client = client_from_env(self.env_file)
        if client is not None:
            return ClientModel(client)
        texts = spoken()
        terminal.complain(texts("chat.no_key", key=KEY_NAME))
        terminal.complain(texts("chat.no_client", line=CHAT_PIP_LINE))
        if not terminal.interactive:
            return OfflineModel()
        try:
            answer = terminal.read(texts("chat.offer"))
        except (EOFError, KeyboardInterrupt):
            terminal.write("\n")
            return None
        return None if answer.strip().lower().startswith("n") else OfflineModel()


def chat(
    history: Annotated[str | None, typer.Option(help=HELP("help.history"), metavar="FILE.jsonl")] = None,
    budget: Budget = 4000,
    meaning: Meaning = False,
    options: _ModelOptions = _ModelOptions(),
) -> None:
    """Chat with a model that is sent, with each question, only the turns that the question needs."""
    tokens, terminal, embedder = checked_budget(budget), Terminal(), meaning_encoder(wanted=meaning)
    if (options.base_url is None) != (options.model is None):
        refuse(spoken()("error.chat_model"))
    file = None if history is None else HistoryFile(history)
    model = options.open(terminal)
    if model is None:
        return
    with closing(model):
        session = Session(
            model,
            token_budget=tokens,
            messages=file.messages if file else (),
            store=file.append if file else None,
            embedder=embedder,
        )
        if file and file.note:
            terminal.complain(file.note)
        if terminal.interactive:
            turns = session.gatekeeper.turns
            name = "chat.hello_again" if turns else "chat.hello"
            terminal.note(spoken()(name, model=model.name, turns=len(turns)))
            terminal.remember(block.user_text for block in turns)
        raise typer.Exit(Chat(session, terminal).run())


class Chat:
    """A session at a terminal."""

    def __init__(self, session: Session, terminal: Terminal) -> None:
        self._session, self._terminal = session, terminal
        self._texts = spoken()
        self._is_over = False
        self._is_answering = False
        self._unanswered = 0

    def run(self) -> int:
        """Run the loop; return the exit status, 1 if a piped question got no answer (nobody reads a note there)."""
        interactive = self._terminal.interactive
        while not self._is_over:
            try:
                line = self._terminal.read()
                text = line.strip()
                if not text:
                    continue
                self._terminal.remember([line])
                if text.startswith("/") and not text.startswith("//"):
                    self._run_command(text)
                else:
                    self._answer(line.replace("//", "/", 1) if text.startswith("//") else line)
                if not self._is_over:
                    self._terminal.write("\n")
            except EOFError:
                self._terminal.write("\n" if interactive else "")
                break
            except KeyboardInterrupt:  # at a terminal it ends the line or the answer, not the chat
                if self._is_answering:
                    self._terminal.note(self._texts("chat.interrupted"))
                    self._is_answering = False
                self._terminal.write("\n")
                if not interactive:
                    return _INTERRUPTED_STATUS
        return int(self._unanswered > 0 and not interactive)

    def _answer(self, question: str) -> None:
        self._is_answering = True
        with closing(self._session.ask(question)) as answer:
            try:
                with self._terminal.waiting():
                    piece = next(answer)
                while True:
                    self._terminal.write(piece)
                    piece = next(answer)
            except StopIteration as end:
                self._is_answering = False
                self._terminal.note(end.value.line(self._texts))
            except GatekeeperError as error:
                self._is_answering = False
                self._unanswered += 1
                self._terminal.note(self._texts("chat.no_answer", error=error))

    # --- commands

    def _run_command(self, text: str) -> None:
        (name, rest), texts, terminal, session = _halves(text[1:]), self._texts, self._terminal, self._session
        command = name.lower()
        try:
            if command == "why":
                self._why()
            elif command == "topics":
                terminal.show(topics_view(session.gatekeeper, texts))
            elif command == "pin":
                self._pin(rest)
            elif command == "unpin":
                if not session.gatekeeper.remove_constraint(rest):
                    raise ValueError(texts("chat.not_pinned", key=rest) if rest else texts("chat.unpin_key"))
                terminal.note(texts("chat.unpinned", key=rest))
            elif command == "budget":
                if rest:
                    try:
                        tokens = int(rest)
                    except ValueError:
                        raise ValueError(texts("chat.budget_number", got=rest)) from None
                    session.token_budget = tokens
                terminal.note(texts("chat.budget", tokens=session.token_budget))
            elif command == "help":
                rows = [(f"/{known} {arguments}", texts(f"command.{known}")) for known, arguments in _COMMANDS.items()]
                width = max(len(usage) for usage, _ in rows)
                rows.append(("//text", texts("command.slash")))
                terminal.show(Text(f"{usage:{width}}  {words}") for usage, words in rows)
            elif command in ("quit", "exit"):
                self._is_over = True
            else:
                terminal.note(
                    texts("chat.unknown", name=name, known=", ".join(f"/{one}" for one in _COMMANDS), text=text)
                )
        except (GatekeeperError, ValueError) as error:
            terminal.note(f"/{name}: {error}")

    def _why(self) -> None:
        selection, texts = self._session.selection, self._texts
        if selection is None:
            self._terminal.note(texts("chat.no_question"))
            return
        self._terminal.show(why_view(selection, texts))
        if line := meaning_line(selection.embedder, selection.embedder_missed, texts):
            self._terminal.show([Text(line)])

    def _pin(self, rest: str) -> None:
        if not rest:
            constraints = self._session.gatekeeper.get_constraints()
            lines = [f"{visible(key)}: {visible(value)}" for key, value in constraints.items()]
            self._terminal.show(map(Text, lines or [self._texts("chat.no_pin")]))
            return
        key, value = _halves(rest)
        if not value:
            raise ValueError(self._texts("chat.pin_value", key=key))
        self._session.gatekeeper.set_constraint(key, value)
        self._terminal.note(self._texts("chat.pinned", key=key, value=value))


def _halves(text: str) -> tuple[str, str]:
    """Return the first word of a text and the rest."""
    first, *rest = text.split(None, 1) or [""]
    return first, "".join(rest).strip()
