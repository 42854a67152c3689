"""The specification's end-to-end test: whole conversations with a MiniMax model, judged by what the model was sent.

The loop is a user's: explain, to_messages, chat or stream, add_turn. The checks read the recorded request bodies back
into turns; they trust nothing that the gatekeeper says of itself.

1. recall: within a topic, later questions are sent with the earlier turns that they need.
2. gate: after a switch no turn of the old topic is sent, and after the return it is again.
3. referring words: a question that points back is sent with the turn before it.
4. budget: the history that is sent never costs more than the budget; with a small one the evidence is still there.

::

    python -m tests.minimax.end_to_end          # a local server that speaks the protocol
    python -m tests.minimax.end_to_end --live   # the real API, with MINIMAX_API_KEY from the environment or from .env
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import requests

from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.tokens import estimate_text_tokens
from gatekeeper_minimax import MiniMaxClient, MiniMaxConfig, MiniMaxError
from tests.minimax.conversations import CONVERSATIONS
from tests.minimax.server import API_KEY, Answer, MiniMaxServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gatekeeper_core.selection.verdicts import Verdict
    from gatekeeper_minimax import Reply
    from tests.minimax.conversations import Conversation, Turn

BUDGET_TOKENS = 500
SMALL_BUDGET_TOKENS = 100
"""Less than two turns of the scripts cost."""

GAP = "…"
"""What marks a gap in a trimmed text."""

THOUGHT = "private-thought-of-the-model"
"""Stands in each thinking of the scripted model; it must never come back to it."""

ENV_FILE = Path(__file__).resolve().parents[2] / ".env"

Wire = list[dict[str, Any]]


class Sent(NamedTuple):
    """One message of the history, as it stood in a request.

    Attributes:
        turn_id: the turn that it comes from.
        role: ``user`` or ``assistant``.
        text: the text, or its excerpt.
    """

    turn_id: int
    role: str
    text: str


class Request(NamedTuple):
    """One request, read back from its body.

    Attributes:
        number: the turn that it asks for.
        turn: that turn's script.
        gate: what the gate said, for the log; no check reads it.
        roles: the roles of all messages, in order.
        history: the messages between the system message and the question.
        tokens: what the history costs, counted on the text that was sent.
        token_budget: what the gatekeeper was given.
        full_tokens: what the whole conversation so far would have cost.
        reply: what the model answered.
    """

    number: int
    turn: Turn
    gate: Verdict
    roles: tuple[str, ...]
    history: tuple[Sent, ...]
    tokens: int
    token_budget: int
    full_tokens: int
    reply: Reply

    @property
    def turn_ids(self) -> frozenset[int]:
        """The turns that were sent."""
        return frozenset(sent.turn_id for sent in self.history)


# --- the loop ---------------------------------------------------------------------------------------------------------


@contextmanager
def recorded() -> Iterator[Wire]:
    """Give the list of the bodies that leave this process, filled as they are sent."""
    bodies: Wire = []
    send = requests.Session.send

    def sending(session: requests.Session, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        bodies.append(json.loads(request.body or b"{}"))
        return send(session, request, **options)

    with mock.patch.object(requests.Session, "send", sending):
        yield bodies


def run(
    client: MiniMaxClient,
    conversation: Conversation,
    *,
    gatekeeper: ContextGatekeeper,
    streaming: bool = False,
) -> list[Request]:
    """Talk through a script and return what was sent for each turn.

    Args:
        client: asks the model.
        conversation: what the user says.
        gatekeeper: empty at the beginning; holds the conversation at the end.
        streaming: whether the answers come as streams.

    Raises:
        AssertionError: a request holds something that the conversation does not.
    """
    asked = []
    for number, turn in enumerate(conversation.turns):
        selection = gatekeeper.explain(turn.user)
        with recorded() as bodies:
            reply = answer(client, selection.to_messages(), streaming=streaming)
        asked.append(_read(number, turn, selection.gate, bodies[-1]["messages"], gatekeeper, reply))
        gatekeeper.add_turn(turn.user, reply.text)
    return asked


def answer(client: MiniMaxClient, messages: list[dict[str, str]], *, streaming: bool) -> Reply:
    """Return the model's answer, whole or as a stream."""
    if not streaming:
        return client.chat(messages)
    with client.stream(messages) as stream:
        pieces = list(stream)
    assert "".join(pieces) == stream.reply.text, "the pieces of the stream are not the reply"
    return stream.reply


@contextmanager
def scripted_server(conversation: Conversation) -> Iterator[MiniMaxServer]:
    """Run a local server that answers as the script says, thinking before each answer."""

    def reply(body: Mapping[str, Any]) -> Answer:
        text = conversation.answers[body["messages"][-1]["content"]]
        return Answer(text, thinking=f"{THOUGHT}: {text[:20]}")

    with MiniMaxServer(reply) as server:
        yield server


@contextmanager
def local_client(conversation: Conversation) -> Iterator[MiniMaxClient]:
    """Give a client whose model is the script."""
    with (
        scripted_server(conversation) as server,
        MiniMaxClient(API_KEY, config=MiniMaxConfig(base_url=server.base_url)) as client,
    ):
        yield client


# --- from the wire back to turns --------------------------------------------------------------------------------------


def _read(
    number: int,
    turn: Turn,
    gate: Verdict,
    messages: Sequence[Mapping[str, str]],
    gatekeeper: ContextGatekeeper,
    reply: Reply,
) -> Request:
    said = [(block.user_text, block.assistant_text) for block in gatekeeper.turns]
    history = history_of(messages, said, question=turn.user)
    return Request(
        number=number,
        turn=turn,
        gate=gate,
        roles=tuple(message["role"] for message in messages),
        history=history,
        tokens=sum(estimate_text_tokens(sent.text) for sent in history),
        token_budget=gatekeeper.token_budget,
        full_tokens=sum(estimate_text_tokens(text) for pair in said for text in pair),
        reply=reply,
    )


def history_of(
    messages: Sequence[Mapping[str, str]], said: Sequence[tuple[str, str]], *, question: str
) -> tuple[Sent, ...]:
    """Return the messages of a request that come from earlier turns, each with its turn.

    Args:
        messages: the messages of the request.
        said: both texts of each turn so far.
        question: what the request must end with.

    Raises:
        AssertionError: the request does not end with the question, turns are out of order, or a message is no turn's.
    """
    *earlier, last = messages
    assert (last["role"], last["content"]) == ("user", question), f"the request ends with {last['content']!r}"
    sent = [_sent(message, said) for message in earlier if message["role"] != "system"]
    places = [(one.turn_id, one.role == "assistant") for one in sent]
    assert places == sorted(set(places)), f"the turns are sent out of order: {places}"
    return tuple(sent)


def _sent(message: Mapping[str, str], said: Sequence[tuple[str, str]]) -> Sent:
    role, text = message["role"], message["content"]
    side = ("user", "assistant").index(role)
    whole = [turn_id for turn_id, pair in enumerate(said) if pair[side] == text]
    found = whole or [turn_id for turn_id, pair in enumerate(said) if is_excerpt(text, pair[side])]
    assert len(found) == 1, f"a message is the text of {len(found)} turns: {role} {text!r}"
    return Sent(found[0], role, text)


def is_excerpt(text: str, whole: str) -> bool:
    """Return whether a text is made of pieces of another, in their order, with gaps between them.

    >>> is_excerpt("… b c … e", "a. b c d e"), is_excerpt("e … a", "a b c d e"), is_excerpt("…", "a")
    (True, False, False)
    """
    pieces = [piece.strip() for piece in text.split(GAP) if piece.strip()]
    at = 0
    for piece in pieces:
        at = whole.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return bool(pieces)


# --- the checks -------------------------------------------------------------------------------------------------------


def check_recall(asked: Sequence[Request]) -> None:
    """Check 1: a later question of a topic is sent with the earlier turns that it needs.

    Raises:
        AssertionError: one is missing.
    """
    for request in asked:
        missing = request.turn.recalls - request.turn_ids if request.turn.kind in ("same", "return") else frozenset()
        assert not missing, f"check 1, recall: {_named(request)} lacks the turns {sorted(missing)}"


def check_gate(asked: Sequence[Request]) -> None:
    """Check 2: nothing of a topic that was left is sent, and after the return to it something is.

    Raises:
        AssertionError: a turn of another topic is sent, or none of the topic that the user returns to.
    """
    for request in asked:
        unwanted = request.turn.excludes & request.turn_ids
        assert not unwanted, f"check 2, gate: {_named(request)} holds turns of another topic, {sorted(unwanted)}"
        back = request.turn.kind != "return" or request.turn_ids
        assert back, f"check 2, gate: {_named(request)} returns to a topic of which nothing is sent"


def check_referring(asked: Sequence[Request]) -> None:
    """Check 3: a question that points back is sent with the turn before it, or the last two.

    Raises:
        AssertionError: it is not.
    """
    for request in asked:
        inherits = request.turn.kind != "referring" or request.number - 1 in request.turn_ids
        assert inherits, f"check 3, referring words: {_named(request)} lacks the turn before it"


def check_budget(asked: Sequence[Request], *, budget_tokens: int) -> None:
    """Check 4, first half: the history that is sent costs no more than the budget.

    Raises:
        AssertionError: it costs more, or the conversation never grew beyond the budget, which would prove nothing.
    """
    for request in asked:
        within = request.tokens <= budget_tokens
        assert within, f"check 4, budget: {_named(request)} costs {request.tokens} of {budget_tokens} tokens"
    full = max((request.full_tokens for request in asked), default=0)
    assert full > budget_tokens, f"check 4, budget: the conversation of {full} tokens never needed the budget"


def check_evidence(asked: Sequence[Request]) -> None:
    """Check 4, second half: the piece of an answer that a question needs is sent, also where it is cut to the budget.

    Raises:
        AssertionError: it is not.
    """
    for request in asked:
        held = any(request.turn.evidence in sent.text for sent in request.history)
        assert held or not request.turn.evidence, (
            f"check 4, evidence: {_named(request)} lacks {request.turn.evidence!r}"
        )


def _named(request: Request) -> str:
    return f"request {request.number} ({request.turn.user!r}, sent with the turns {sorted(request.turn_ids)})"


# --- the report -------------------------------------------------------------------------------------------------------

LOG_HEAD = f"{'no':>2}  {'kind':<9}  {'gate':<26}  {'roles':<8}  {'turns':<12}  {'tokens sent':>11}  {'in full':>7}"


def wire_log(asked: Sequence[Request]) -> str:
    """Return one line for each request: roles as their initials, turns cut short with a star.

    The gate's column is what it says; all others are read from the wire.
    """
    return "\n".join([LOG_HEAD, *map(_log_line, asked)])


def _log_line(request: Request) -> str:
    gate = f"{request.gate.decision}: {request.gate.reason}"
    roles = "".join(role[0].upper() for role in request.roles)
    cut = {sent.turn_id for sent in request.history if GAP in sent.text}
    turns = " ".join(f"{turn_id}{'*' if turn_id in cut else ''}" for turn_id in sorted(request.turn_ids)) or "-"
    tokens = f"{request.tokens} of {request.token_budget}"
    number, kind = request.number, request.turn.kind
    return f"{number:>2}  {kind:<9}  {gate:<26}  {roles:<8}  {turns:<12}  {tokens:>11}  {request.full_tokens:>7}"


def verdicts(asked: Sequence[Request], *, budget_tokens: int, scripted: bool = True) -> dict[str, str]:
    """Return by check what it found wrong, "" where it holds.

    Args:
        asked: the requests of one conversation.
        budget_tokens: what the history of each may cost.
        scripted: whether the answers are the script's, so that its evidence is known.
    """
    found = {
        "1 recall": _fault(lambda: check_recall(asked)),
        "2 gate": _fault(lambda: check_gate(asked)),
        "3 referring words": _fault(lambda: check_referring(asked)),
        "4 budget": _fault(lambda: check_budget(asked, budget_tokens=budget_tokens)),
    }
    return {**found, "4 evidence": _fault(lambda: check_evidence(asked))} if scripted else found


def _fault(check: Callable[[], None]) -> str:
    try:
        check()
    except AssertionError as error:
        return str(error)
    return ""


def _report(conversation: Conversation, asked: Sequence[Request], *, scripted: bool) -> bool:
    budget_tokens = asked[0].token_budget
    print(f"\n{conversation.name}, {len(asked)} turns, budget {budget_tokens} tokens\n{wire_log(asked)}")
    found = verdicts(asked, budget_tokens=budget_tokens, scripted=scripted)
    for name, fault in found.items():
        print(f"  {name:<17} {fault or 'holds'}")
    return not any(found.values())


def _run_all_here() -> bool:
    good = True
    for conversation in CONVERSATIONS:
        for budget_tokens in (BUDGET_TOKENS, SMALL_BUDGET_TOKENS):
            with local_client(conversation) as client:
                asked = run(
                    client,
                    conversation,
                    gatekeeper=ContextGatekeeper(budget_tokens, token_counter=estimate_text_tokens),
                    streaming=True,
                )
            good = _report(conversation, asked, scripted=True) and good
    return good


def _run_all_live() -> bool:
    good = True
    for conversation in CONVERSATIONS:
        good = _report(conversation, live_run(conversation), scripted=False) and good
    return good


def live_run(conversation: Conversation) -> list[Request]:
    """Talk through a script with the real API, which gives answers of its own.

    Raises:
        MiniMaxError: there is no key, or no answer.
    """
    gatekeeper = ContextGatekeeper(BUDGET_TOKENS, token_counter=estimate_text_tokens)
    gatekeeper.set_constraint("answers", "two to four plain sentences in the language of the question, no lists")
    with live_client() as client:
        return run(client, conversation, gatekeeper=gatekeeper, streaming=True)


def live_client() -> MiniMaxClient:
    """Return a client of the real API, with the key of the environment or of ``.env``.

    Raises:
        MiniMaxNoKeyError: there is no key.
    """
    return MiniMaxClient.from_env(env_file=ENV_FILE if ENV_FILE.is_file() else None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all conversations, print the log and the verdicts, and return 0 where all checks hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.minimax.end_to_end", description=__doc__.splitlines()[0])
    parser.add_argument("--live", action="store_true", help="ask the real API (needs MINIMAX_API_KEY)")
    options = parser.parse_args(arguments)
    try:
        good = _run_all_live() if options.live else _run_all_here()
    except MiniMaxError as error:
        print(error, file=sys.stderr)
        return 2
    print("\nAll checks hold." if good else "\nA check does not hold.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
