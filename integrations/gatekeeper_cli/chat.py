"""The terminal chat: which model answers, the loop, and the slash commands."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from gatekeeper_cli.models import CHAT_PIP_LINE, KEY_NAME
from gatekeeper_cli.offline import OfflineModel
from gatekeeper_cli.phrases import meaning_line
from gatekeeper_cli.texts import spoken
from gatekeeper_cli.topics import topics_of
from gatekeeper_cli.views import exchange_line, topics_view, visible, why_view
from gatekeeper_core.errors import GatekeeperError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper_cli.session import Session
    from gatekeeper_cli.terminal import Terminal

__all__ = ["COMMANDS", "Chat", "offered_model"]

_INTERRUPTED_STATUS = 130


def offered_model(terminal: Terminal) -> OfflineModel | None:
    """Say in two lines how to get a model going, and return the scripted one if nobody at the terminal minds."""
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


class Chat:
    """A session at a terminal.

    Args:
        session: who answers.
        terminal: where the questions come from and the answers go.
    """

    def __init__(self, session: Session, terminal: Terminal) -> None:
        self._session = session
        self._terminal = terminal
        self._texts = spoken()
        self._over = False
        self._answering = False
        self._unanswered = 0

    def run(self) -> int:
        """Read and answer until the end of the input, ``/quit`` or ``/exit``; return the exit status.

        Through a pipe nobody reads a note, so a question without an answer is told by status 1.
        """
        interactive = self._terminal.interactive
        while not self._over:
            try:
                self._take(self._terminal.read())
            except EOFError:  # noqa: PERF203 - each line may be the last one
                self._terminal.write("\n" if interactive else "")
                break
            except KeyboardInterrupt:  # at a terminal it ends the line or the answer, not the chat
                if self._answering:
                    self._terminal.note(self._texts("chat.interrupted"))
                    self._answering = False
                self._terminal.write("\n")
                if not interactive:
                    return _INTERRUPTED_STATUS
        return int(self._unanswered > 0 and not interactive)

    def _take(self, line: str) -> None:
        text = line.strip()
        if not text:
            return
        self._terminal.remember([line])
        if text.startswith("/") and not text.startswith("//"):
            self._obey(text)
        else:
            self._answer(line.replace("//", "/", 1) if text.startswith("//") else line)
        if not self._over:
            self._terminal.write("\n")

    def _answer(self, question: str) -> None:
        self._answering = True
        with closing(self._session.ask(question)) as answer:
            try:
                with self._terminal.waiting():
                    piece = next(answer)
                while True:
                    self._terminal.write(piece)
                    piece = next(answer)
            except StopIteration as end:
                self._answering = False
                self._terminal.note(exchange_line(end.value, self._texts))
            except GatekeeperError as error:
                self._answering = False
                self._unanswered += 1
                self._terminal.note(self._texts("chat.no_answer", error=error))

    # --- commands

    def _obey(self, text: str) -> None:
        name, rest = _halves(text[1:])
        command = COMMANDS.get(_SAME.get(name.lower(), name.lower()))
        if command is None:
            known = ", ".join(f"/{known}" for known in COMMANDS)
            self._terminal.note(self._texts("chat.unknown", name=name, known=known, text=text))
            return
        try:
            command.obey(self, rest)
        except (GatekeeperError, ValueError) as error:
            self._terminal.note(f"/{name}: {error}")

    def _why(self, _rest: str) -> None:
        if self._session.selection is None:
            self._terminal.note(self._texts("chat.no_question"))
        else:
            self._terminal.show(why_view(self._session.selection, self._texts))
            if said := meaning_line(self._session.selection, self._texts):
                self._terminal.show([Text(said)])

    def _topics(self, _rest: str) -> None:
        gatekeeper = self._session.gatekeeper
        self._terminal.show(topics_view(topics_of(gatekeeper), gatekeeper.turns, self._texts))

    def _pin(self, rest: str) -> None:
        if not rest:
            pinned = self._session.gatekeeper.get_constraints()
            lines = [f"{visible(key)}: {visible(value)}" for key, value in pinned.items()]
            self._terminal.show(map(Text, lines or [self._texts("chat.no_pin")]))
            return
        key, value = _halves(rest)
        if not value:
            raise ValueError(self._texts("chat.pin_value", key=key))
        self._session.gatekeeper.set_constraint(key, value)
        self._terminal.note(self._texts("chat.pinned", key=key, value=value))

    def _unpin(self, rest: str) -> None:
        if not self._session.gatekeeper.remove_constraint(rest):
            raise ValueError(self._texts("chat.not_pinned", key=rest) if rest else self._texts("chat.unpin_key"))
        self._terminal.note(self._texts("chat.unpinned", key=rest))

    def _budget(self, rest: str) -> None:
        if rest:
            try:
                tokens = int(rest)
            except ValueError:
                raise ValueError(self._texts("chat.budget_number", got=rest)) from None
            self._session.token_budget = tokens
        self._terminal.note(self._texts("chat.budget", tokens=self._session.token_budget))

    def _help(self, _rest: str) -> None:
        width = max(len(f"/{name} {command.arguments}") for name, command in COMMANDS.items())
        for name, command in COMMANDS.items():
            said = self._texts(f"command.{name}")
            self._terminal.show([Text(f"{f'/{name} {command.arguments}':{width}}  {said}")])
        self._terminal.show([Text(f"{'//text':{width}}  {self._texts('command.slash')}")])

    def _quit(self, _rest: str) -> None:
        self._over = True


def _halves(text: str) -> tuple[str, str]:
    """Return the first word of a text and the rest."""
    first, *rest = text.split(None, 1) or [""]
    return first, "".join(rest).strip()


class _Command(NamedTuple):
    """A slash command: its arguments as the help shows them, and who does it; ``command.NAME`` says what it does."""

    arguments: str
    obey: Callable[[Chat, str], None]


COMMANDS = {
    "why": _Command("", Chat._why),
    "topics": _Command("", Chat._topics),
    "pin": _Command("[KEY VALUE]", Chat._pin),
    "unpin": _Command("KEY", Chat._unpin),
    "budget": _Command("[N]", Chat._budget),
    "help": _Command("", Chat._help),
    "quit": _Command("", Chat._quit),
}
"""The slash commands by their names, in the order of the help."""

_SAME = {"exit": "quit"}
"""Other names of commands."""
