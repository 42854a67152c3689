"""One chat without its terminal: a question goes in, the answer comes out in pieces, the whole turn is recorded.

::

    question ──explain──> selection ──to_messages──> model ──pieces──> caller
                                                                └─end──> file, then the gatekeeper's history
"""

from __future__ import annotations

import signal
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_cli.texts import spoken
from gatekeeper_core.errors import ConfigError, GatekeeperError
from gatekeeper_core.messages import Message, group_turns
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from gatekeeper_cli.models import Model
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.pricing.usage import Usage
    from gatekeeper_core.selection.result import Selection

__all__ = ["EmptyAnswerError", "Exchange", "NotStoredError", "Session"]


class EmptyAnswerError(GatekeeperError):
    """The model ended without a word that could be recorded."""


class NotStoredError(GatekeeperError):
    """The turn could not be stored, so it was not said."""


class Exchange(NamedTuple):
    """What one answered question cost.

    Attributes:
        selection: what was chosen for it.
        sent_tokens: tokens of what was sent: the kept turns, the question, the constraints, the head.
        full_tokens: what it would have been with the whole history in place of the kept turns.
        topic_id: the topic that the turn was recorded in.
        usage: what the model counted for the same, or None where it does not say.
    """

    selection: Selection
    sent_tokens: int
    full_tokens: int
    topic_id: int
    usage: Usage | None


class Session:
    """A conversation with a model, each question with the turns that it needs.

    Args:
        model: what answers.
        token_budget: what the kept turns may cost together, at least 1.
        messages: the conversation so far; system messages before its first user message are sent with each question.
        store: is given each answered turn before it counts as said; after an ``OSError`` the turn was not said.
        embedder: finds turns by their meaning, too; see ``ContextGatekeeper``.

    Attributes:
        gatekeeper: what chooses.
        selection: the latest one, also of a question that was not answered; None before the first.

    Raises:
        ConfigError: the budget is not positive.
    """

    def __init__(
        self,
        model: Model,
        *,
        token_budget: int = 4000,
        messages: Iterable[Message] = (),
        store: Callable[[str, str], None] | None = None,
        embedder: TextEncoder | None = None,
    ) -> None:
        self.gatekeeper = ContextGatekeeper(token_budget, embedder=embedder)
        self.selection: Selection | None = None
        self._model = model
        self._token_budget = token_budget
        self._store = store
        self._messages = list(messages)
        self._head = tuple(_head_texts(self._messages))
        self.gatekeeper.sync(group_turns(self._messages))

    @property
    def token_budget(self) -> int:
        """What the kept turns may cost together."""
        return self._token_budget

    @token_budget.setter
    def token_budget(self, tokens: int) -> None:
        if tokens < 1:
            raise ConfigError(spoken()("chat.budget_least", got=tokens))
        self._token_budget = tokens

    def ask(self, question: str) -> Generator[str, None, Exchange]:
        """Yield the answer in pieces; at its end record the turn and return what it cost.

        A generator that is closed or raises has recorded nothing.

        Raises:
            GatekeeperError: the model failed or answered with nothing, or the turn could not be stored.
        """
        selection = self.selection = self.gatekeeper.explain(question, token_budget=self._token_budget)
        system = "\n\n".join(filter(None, (*self._head, render_constraints(selection.constraints))))
        pieces: list[str] = []
        with closing(self._model.answer(_prompt(selection, system))) as answer:
            usage = yield from _noted(answer, pieces)
        with _undisturbed():
            self._record(question, "".join(pieces))
        count = self.gatekeeper.token_counter
        fixed = count(question) + count(system)
        return Exchange(
            selection=selection,
            sent_tokens=fixed + selection.tokens,
            full_tokens=fixed + selection.history_tokens,
            topic_id=sum(verdict.decision == "switch" for verdict in self.gatekeeper.verdicts) - 1,
            usage=usage,
        )

    def _record(self, question: str, answer: str) -> None:
        if not answer.strip():
            raise EmptyAnswerError(spoken()("chat.nothing_said"))
        if self._store is not None:
            try:
                self._store(question, answer)
            except OSError as error:
                raise NotStoredError(spoken()("chat.not_stored", reason=error.strerror or error)) from error
        self._messages += [Message("user", question), Message("assistant", answer)]
        # Not add_turn: after an unanswered question at the end of a file, both are one turn, as when it is read again.
        self.gatekeeper.sync(group_turns(self._messages))


def _head_texts(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        if message.role == "user":
            return
        if message.role == "system":
            yield message.text


def _prompt(selection: Selection, system: str) -> list[dict[str, str]]:
    """Return what is sent; head and constraints are one message, as some models take a single system message."""
    rest = [message for message in selection.to_messages() if message["role"] != "system"]
    return [{"role": "system", "content": system}, *rest] if system else rest


def _noted(answer: Generator[str, None, Usage | None], pieces: list[str]) -> Generator[str, None, Usage | None]:
    """Yield what an answer yields and return what it returns, with its pieces noted."""
    while True:
        try:
            piece = next(answer)
        except StopIteration as end:
            usage: Usage | None = end.value
            return usage
        pieces.append(piece)
        yield piece


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let an interrupt from the keyboard pass without effect: a turn that is whole is recorded in every place."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous if previous is not None else signal.SIG_DFL)
