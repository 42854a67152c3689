"""The terminal chat: which model answers, the loop, and the slash commands."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from gatekeeper_cli.models import KEY_NAME, MINIMAX_PIP_LINE
from gatekeeper_cli.offline import OfflineModel
from gatekeeper_cli.views import exchange_line, topics_view, visible, why_view
from gatekeeper_core.errors import GatekeeperError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper_cli.session import Session
    from gatekeeper_cli.terminal import Terminal

__all__ = ["COMMANDS", "Chat", "offered_model"]

_NO_KEY = (
    f"No {KEY_NAME}: get a key at https://platform.minimax.io and put it into the environment, "
    "or into a file .env in this folder (.env.example shows its lines).",
    f"The client comes with {MINIMAX_PIP_LINE}. Until then a scripted offline model can answer, from what it is sent.",
)
_INTERRUPTED_STATUS = 130


def offered_model(terminal: Terminal) -> OfflineModel | None:
    """Say in two lines how to get a model going, and return the scripted one if nobody at the terminal minds."""
    for line in _NO_KEY:
        terminal.complain(line)
    if not terminal.interactive:
        return OfflineModel()
    try:
        answer = terminal.read("Chat with the scripted offline model? [Y/n] ")
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
        self._over = False
        self._answering = False
        self._unanswered = 0

    def run(self) -> int:
        """Read and answer until the end of the input, ``/quit`` or ``/exit``; return the exit status.

        Through a pipe nobody reads a note, so a question without an answer is told by status 1.
        """
        status = None
        while status is None:
            status = self._step()
        return status

    def _step(self) -> int | None:
        """Take one line; return the exit status where the chat ends with it."""
        try:
            self._take(self._terminal.read())
        except EOFError:
            self._terminal.write("\n" if self._terminal.interactive else "")
            return self._status
        except KeyboardInterrupt:
            self._interrupted()
            return None if self._terminal.interactive else _INTERRUPTED_STATUS
        return self._status if self._over else None

    @property
    def _status(self) -> int:
        return int(self._unanswered > 0 and not self._terminal.interactive)

    def _interrupted(self) -> None:
        if self._answering:
            self._terminal.note("interrupted: nothing was recorded")
            self._answering = False
        self._terminal.write("\n")

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
                self._terminal.note(exchange_line(end.value))
            except GatekeeperError as error:
                self._answering = False
                self._unanswered += 1
                self._terminal.note(f"no answer: {error}; nothing was recorded")

    # --- commands

    def _obey(self, text: str) -> None:
        name, rest = _halves(text[1:])
        command = COMMANDS.get(_SAME.get(name.lower(), name.lower()))
        if command is None:
            known = ", ".join(f"/{known}" for known in COMMANDS)
            self._terminal.note(f"no command /{name}; there are {known}; to send a text like this, write /{text}")
            return
        try:
            command.obey(self, rest)
        except (GatekeeperError, ValueError) as error:
            self._terminal.note(f"/{name}: {error}")

    def _why(self, _rest: str) -> None:
        if self._session.selection is None:
            self._terminal.note("There was no question yet.")
        else:
            self._terminal.show(why_view(self._session.selection))

    def _topics(self, _rest: str) -> None:
        gatekeeper = self._session.gatekeeper
        self._terminal.show(topics_view(gatekeeper.topics, gatekeeper.turns))

    def _pin(self, rest: str) -> None:
        if not rest:
            pinned = self._session.gatekeeper.get_constraints()
            lines = [f"{visible(key)}: {visible(value)}" for key, value in pinned.items()]
            self._terminal.show(map(Text, lines or ["Nothing is pinned."]))
            return
        key, value = _halves(rest)
        if not value:
            raise ValueError(f"give a value: /pin {key} VALUE (or /unpin {key})")
        self._session.gatekeeper.set_constraint(key, value)
        self._terminal.note(f"Pinned, and sent with every question: {key}: {value}")

    def _unpin(self, rest: str) -> None:
        if not self._session.gatekeeper.remove_constraint(rest):
            raise ValueError(f"nothing is pinned as {rest}" if rest else "give a key: /unpin KEY")
        self._terminal.note(f"No longer pinned: {rest}")

    def _budget(self, rest: str) -> None:
        if rest:
            try:
                tokens = int(rest)
            except ValueError:
                raise ValueError(f"give a whole number of tokens, got {rest}") from None
            self._session.token_budget = tokens
        self._terminal.note(f"The kept turns may cost {self._session.token_budget:,} tokens together.")

    def _help(self, _rest: str) -> None:
        width = max(len(f"/{name} {command.arguments}") for name, command in COMMANDS.items())
        for name, command in COMMANDS.items():
            self._terminal.show([Text(f"{f'/{name} {command.arguments}':{width}}  {command.help}")])
        self._terminal.show([Text(f"{'//text':{width}}  send a text that starts with a slash")])

    def _quit(self, _rest: str) -> None:
        self._over = True


def _halves(text: str) -> tuple[str, str]:
    """Return the first word of a text and the rest."""
    first, *rest = text.split(None, 1) or [""]
    return first, "".join(rest).strip()


class _Command(NamedTuple):
    """A slash command: its arguments as the help shows them, what it does, and who does it."""

    arguments: str
    help: str
    obey: Callable[[Chat, str], None]


COMMANDS = {
    "why": _Command("", "why the turns for the last question were kept or dropped", Chat._why),
    "topics": _Command("", "the topics so far", Chat._topics),
    "pin": _Command("[KEY VALUE]", "send a rule with every question; alone, list them", Chat._pin),
    "unpin": _Command("KEY", "stop sending it", Chat._unpin),
    "budget": _Command("[N]", "tokens that the kept turns may cost together", Chat._budget),
    "help": _Command("", "this list", Chat._help),
    "quit": _Command("", "end the chat (as /exit and Ctrl-D do)", Chat._quit),
}
"""The slash commands by their names, in the order of the help."""

_SAME = {"exit": "quit"}
"""Other names of commands."""
