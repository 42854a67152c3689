"""The specification's end-to-end test: whole conversations with a MiniMax model, judged by what the model was sent.

The loop is a user's: explain, to_messages, chat or stream, add_turn. The checks read the recorded request bodies back
into turns; they trust nothing that the gatekeeper says of itself.

1. recall: within a topic, later questions are sent with the earlier turns that they need.
2. gate: after a switch no turn of the old topic is sent, and after the return it is again.
3. referring words: a question that points back is sent with the turn before it.
4. budget: the history that is sent never costs more than the budget; with a small one the evidence is still there.

And no thinking comes back to the model. ::

    python -m tests.chat.end_to_end          # a local server that speaks the protocol
    python -m tests.chat.end_to_end --live   # the real API, with MINIMAX_API_KEY from the environment or from .env
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import requests

from gatekeeper_chat import ChatClient, ChatConfig, ChatError
from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.tokens import estimate_text_tokens
from tests.chat.server import API_KEY, Answer, MiniMaxServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gatekeeper_chat import Reply
    from gatekeeper_core.selection.topics import Verdict

BUDGET_TOKENS = 500
SMALL_BUDGET_TOKENS = 100
"""Less than two turns of the scripts cost."""

GAP = "…"
"""Marks a gap in a trimmed text."""

THOUGHT = "private-thought-of-the-model"
"""Stands in each thinking of the scripted model."""

ENV_FILE = Path(__file__).resolve().parents[2] / ".env"


@dataclass(frozen=True)
class Turn:
    """One turn of a script.

    Attributes:
        kind: ``open``, ``same``, ``referring``, ``switch`` or ``return``.
        user: the question.
        assistant: the model's answer.
        recalls: numbers of the turns that must be sent along.
        excludes: numbers of the turns that must not.
        evidence: a piece of an earlier answer that the question cannot be answered without, or "".
    """

    kind: str
    user: str
    assistant: str
    recalls: Sequence[int] = ()
    excludes: Sequence[int] = ()
    evidence: str = ""


@dataclass(frozen=True)
class Conversation:
    """A script."""

    name: str
    turns: tuple[Turn, ...]


CONVERSATIONS = tuple(
    Conversation(script["name"], tuple(Turn(**turn) for turn in script["turns"]))
    for script in json.loads((Path(__file__).parent / "conversations.json").read_text(encoding="utf-8"))
)
"""Three made-up conversations: Chinese, English and both."""


class Request(NamedTuple):
    """One request, read back from its body.

    Attributes:
        number: the turn that it asks for.
        turn: that turn's script.
        gate: the gate's verdict, for the log; no check reads it.
        history: the messages between the system message and the question, each with its turn.
        tokens: the cost of the history, counted on the text that was sent.
        full_tokens: the cost of the whole conversation so far.
        reply: the model's answer.
    """

    number: int
    turn: Turn
    gate: Verdict
    history: tuple[tuple[int, Mapping[str, str]], ...]
    tokens: int
    full_tokens: int
    reply: Reply

    @property
    def turn_ids(self) -> frozenset[int]:
        """The turns that were sent."""
        return frozenset(turn_id for turn_id, _ in self.history)


@contextmanager
def recorded() -> Iterator[list[dict[str, Any]]]:
    """Give the list of the bodies that leave this process, filled as they are sent."""
    bodies: list[dict[str, Any]] = []
    send = requests.Session.send

    def sending(session: requests.Session, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        bodies.append(json.loads(request.body or b"{}"))
        return send(session, request, **options)

    with mock.patch.object(requests.Session, "send", sending):
        yield bodies


def run(
    client: ChatClient, conversation: Conversation, gatekeeper: ContextGatekeeper, *, streaming: bool = True
) -> list[Request]:
    """Talk through a script and return what was sent for each turn.

    Raises:
        AssertionError: a request holds something that the conversation does not.
    """
    exchanges = []
    for number, turn in enumerate(conversation.turns):
        selection = gatekeeper.explain(turn.user)
        with recorded() as bodies:
            reply = answer(client, selection.to_messages(), streaming=streaming)
        pairs = [(block.user_text, block.assistant_text) for block in gatekeeper.turns]
        history = history_of(bodies[-1]["messages"], pairs, question=turn.user)
        tokens = sum(estimate_text_tokens(message["content"]) for _, message in history)
        full_tokens = sum(estimate_text_tokens(text) for pair in pairs for text in pair)
        exchanges.append(Request(number, turn, selection.gate, history, tokens, full_tokens, reply))
        gatekeeper.add_turn(turn.user, reply.text)
    return exchanges


def answer(client: ChatClient, messages: list[dict[str, str]], *, streaming: bool) -> Reply:
    """Return the model's answer, whole or as a stream."""
    if not streaming:
        return client.chat(messages)
    with client.stream(messages) as stream:
        pieces = list(stream)
    assert "".join(pieces) == stream.reply.text, "the pieces of the stream are not the reply"
    return stream.reply


@contextmanager
def scripted(conversation: Conversation) -> Iterator[tuple[MiniMaxServer, ChatClient]]:
    """Give a local server that answers as the script says, thinking before each answer, and its client."""
    answers = {turn.user: turn.assistant for turn in conversation.turns}

    def reply(body: Mapping[str, Any]) -> Answer:
        text = answers[body["messages"][-1]["content"]]
        return Answer(text, thinking=f"{THOUGHT}: {text[:20]}")

    with MiniMaxServer(reply) as server:
        config = ChatConfig(base_url=server.base_url)
        with ChatClient(API_KEY, config=config, sleep=lambda seconds: None) as client:
            yield server, client


def history_of(
    messages: Sequence[Mapping[str, str]], pairs: Sequence[tuple[str, str]], *, question: str
) -> tuple[tuple[int, Mapping[str, str]], ...]:
    """Return the messages of a request that come from earlier turns, each with its turn.

    Args:
        messages: the messages of the request.
        pairs: both texts of each turn so far.
        question: what the request must end with.

    Raises:
        AssertionError: the request does not end with the question, turns are out of order, or a message is no turn's.
    """
    *earlier, last = messages
    assert (last["role"], last["content"]) == ("user", question), f"the request ends with {last['content']!r}"
    history = [(_turn_of(message, pairs), message) for message in earlier if message["role"] != "system"]
    places = [(turn_id, message["role"] == "assistant") for turn_id, message in history]
    assert places == sorted(set(places)), f"the turns are sent out of order: {places}"
    return tuple(history)


def _turn_of(message: Mapping[str, str], pairs: Sequence[tuple[str, str]]) -> int:
    side, text = ("user", "assistant").index(message["role"]), message["content"]
    exact = [turn_id for turn_id, pair in enumerate(pairs) if pair[side] == text]
    matches = exact or [turn_id for turn_id, pair in enumerate(pairs) if is_excerpt(text, pair[side])]
    assert len(matches) == 1, f"a message is the text of {len(matches)} turns: {message}"
    return matches[0]


def is_excerpt(text: str, full: str) -> bool:
    """Return whether a text is made of pieces of another, in their order, with gaps between them."""
    pieces = [piece.strip() for piece in text.split(GAP) if piece.strip()]
    at = 0
    for piece in pieces:
        at = full.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return bool(pieces)


def faults(exchanges: Sequence[Request], *, budget_tokens: int, scripted: bool = True) -> dict[str, str]:
    """Return what each check finds wrong; an empty dict where all hold.

    Args:
        exchanges: the requests of one conversation.
        budget_tokens: what the history of each may cost.
        scripted: whether the answers are the script's, so that its evidence is known.
    """
    found: dict[str, str] = {}
    for request in exchanges:
        turn, sent = request.turn, request.turn_ids
        wrong = {
            "1 recall": turn.kind in ("same", "return") and not sent >= set(turn.recalls),
            "2 gate": bool(sent & set(turn.excludes)) or (turn.kind == "return" and not sent),
            "3 referring words": turn.kind == "referring" and request.number - 1 not in sent,
            "4 budget": request.tokens > budget_tokens,
            "4 evidence": scripted and not any(turn.evidence in message["content"] for _, message in request.history),
            "thinking": any("<think>" in message["content"] for _, message in request.history),
        }
        wrong["4 evidence"] = wrong["4 evidence"] and bool(turn.evidence)
        for name in (name for name, is_wrong in wrong.items() if is_wrong):
            found.setdefault(name, f"request {request.number} ({turn.user!r}) was sent with the turns {sorted(sent)}")
    if max(request.full_tokens for request in exchanges) <= budget_tokens:
        found["4 budget"] = "the conversation never needed the budget"
    return found


def wire_log(exchanges: Sequence[Request], budget_tokens: int) -> str:
    """Return one line for each request; a turn that was cut short has a star."""
    lines = [f"{'no':>2}  {'kind':<9}  {'gate':<26}  {'turns':<12}  {'tokens sent':>11}  {'in full':>7}"]
    for request in exchanges:
        gate = f"{request.gate.decision}: {request.gate.reason}"
        cut = {turn_id for turn_id, message in request.history if GAP in message["content"]}
        turns = " ".join(f"{turn_id}{'*' if turn_id in cut else ''}" for turn_id in sorted(request.turn_ids)) or "-"
        tokens, kind = f"{request.tokens} of {budget_tokens}", request.turn.kind
        lines.append(f"{request.number:>2}  {kind:<9}  {gate:<26}  {turns:<12}  {tokens:>11}  {request.full_tokens:>7}")
    return "\n".join(lines)


def _run_all(*, live: bool) -> bool:
    good = True
    for conversation in CONVERSATIONS:
        for budget_tokens in (BUDGET_TOKENS,) if live else (BUDGET_TOKENS, SMALL_BUDGET_TOKENS):
            gatekeeper = ContextGatekeeper(budget_tokens, token_counter=estimate_text_tokens)
            if live:
                gatekeeper.set_constraint("answers", "two to four plain sentences in the question's language, no lists")
                with ChatClient.from_env(env_file=ENV_FILE if ENV_FILE.is_file() else None) as client:
                    exchanges = run(client, conversation, gatekeeper)
            else:
                with scripted(conversation) as (_, client):
                    exchanges = run(client, conversation, gatekeeper)
            found = faults(exchanges, budget_tokens=budget_tokens, scripted=not live)
            print(f"\n{conversation.name}, {len(exchanges)} turns\n{wire_log(exchanges, budget_tokens)}")
            print("\n".join(f"  {name}: {fault}" for name, fault in found.items()) or "  all checks hold")
            good = good and not found
    return good


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all conversations, print the log and the faults, and return 0 where all checks hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.chat.end_to_end", description=__doc__.splitlines()[0])
    parser.add_argument("--live", action="store_true", help="ask the real API (needs MINIMAX_API_KEY)")
    try:
        return 0 if _run_all(live=parser.parse_args(arguments).live) else 1
    except ChatError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
