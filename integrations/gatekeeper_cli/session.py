"""A chat without its terminal: it takes a question, yields the answer in pieces, and records the turn.

::

    question ──explain──> selection ──to_messages──> model ──pieces──> caller
                                                                └─end──> file, then the gatekeeper's history
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_cli.explanation import shown_dollars
from gatekeeper_cli.texts import Texts, spoken
from gatekeeper_cli.topics import spans
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.errors import ConfigError, GatekeeperError
from gatekeeper_core.messages import Message, group_turns
from gatekeeper_core.pricing.prices import prices_of_model
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.result import Selection

if TYPE_CHECKING:
    from gatekeeper_cli.models import Model  # which needs the extra

_MAX_SPANS = 12


class Exchange(NamedTuple):
    """An answered question: its selection, topic and tokens, and the usage that the model reported.

    ``sent_tokens`` count kept turns, question, constraints and head; ``full_tokens`` all turns instead of the kept.
    """

    selection: Selection
    sent_tokens: int
    full_tokens: int
    topic_id: int
    usage: Usage | None

    def line(self, texts: Texts) -> str:
        """Return one line with its cost, the saving, and how its turns were chosen."""
        gate, saved = self.selection.gate, self.full_tokens - self.sent_tokens
        turn_ids = [turn.turn_id for turn in self.selection.turns]
        kept = texts("chat.kept", kept=len(turn_ids), count=self.selection.turn_count)
        topic = {"topic": self.topic_id, "decision": texts(f"chat.{gate.decision}")}
        parts = [
            texts("chat.sent", sent=self.sent_tokens, saved=saved, share=texts.percent(saved, self.full_tokens)),
            texts("chat.topic", **topic)
            if gate.resumed_topic is None
            else texts("chat.topic_back", **topic, back=gate.resumed_topic),
            f"{kept}: {spans(turn_ids, texts, limit=_MAX_SPANS)}" if turn_ids else kept,
        ]
        if self.usage is not None:
            parts.append(texts("chat.counted", tokens=self.usage.input_tokens, cached=self.usage.cached_tokens))
            if prices := prices_of_model(self.usage.model):
                parts.append(shown_dollars(prices.dollars(self.usage)))
        return f"[{' | '.join(parts)}]"


class Session:
    """A conversation with a model, which is sent the turns that each question needs.

    System messages before the first user message go with each question. An answered turn is stored before it is
    recorded; after an ``OSError`` it is not. ``selection`` is the latest one, even of a question without an answer.
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
        self._model, self._store = model, store
        self._token_budget = token_budget
        self._messages = list(messages)
        head = takewhile(lambda message: message.role != "user", self._messages)
        self._head = [message.text for message in head if message.role == "system"]
        self.gatekeeper.sync(group_turns(self._messages))

    @property
    def token_budget(self) -> int:
        """The budget of the kept turns."""
        return self._token_budget

    @token_budget.setter
    def token_budget(self, tokens: int) -> None:
        if tokens < 1:
            raise ConfigError(spoken()("chat.budget_least", got=tokens))
        self._token_budget = tokens

    def ask(self, question: str) -> Generator[str, None, Exchange]:
        """Yield the answer in pieces; then record the turn and return the exchange.

        A generator that is closed early or raises records nothing.

        Raises:
            GatekeeperError: the model failed or answered with nothing, or the turn could not be stored.
        """
        selection = self.selection = self.gatekeeper.explain(question, token_budget=self._token_budget)
        # Head and constraints are one message, as some models take a single system message.
        system = "\n\n".join(filter(None, (*self._head, render_constraints(selection.constraints))))
        prompt = [message for message in selection.to_messages() if message["role"] != "system"]
        if system:
            prompt.insert(0, {"role": "system", "content": system})
        pieces: list[str] = []
        usage: Usage | None = None
        with closing(self._model.answer(prompt)) as answer:
            while True:
                try:
                    pieces.append(next(answer))
                except StopIteration as end:
                    usage = end.value
                    break
                yield pieces[-1]
        text = "".join(pieces)
        if not text.strip():
            raise GatekeeperError(spoken()("chat.nothing_said"))
        # An interrupt here could leave the turn in the store but not in the history.
        in_main_thread = threading.current_thread() is threading.main_thread()
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main_thread else None
        try:
            if self._store is not None:
                try:
                    self._store(question, text)
                except OSError as error:
                    raise GatekeeperError(spoken()("chat.not_stored", reason=error.strerror or error)) from error
            self._messages += [Message("user", question), Message("assistant", text)]
            # Not add_turn: an unanswered question at the end of a file and this one are one turn, as when read.
            self.gatekeeper.sync(group_turns(self._messages))
        finally:
            if in_main_thread:
                signal.signal(signal.SIGINT, signal.SIG_DFL if previous is None else previous)
        fixed = self.gatekeeper.token_counter(question) + self.gatekeeper.token_counter(system)
        return Exchange(
            selection=selection,
            sent_tokens=fixed + selection.tokens,
            full_tokens=fixed + selection.history_tokens,
            topic_id=sum(verdict.decision == "switch" for verdict in self.gatekeeper.verdicts) - 1,
            usage=usage,
        )
