"""Seeded samples of turns from your own logs.

::

    file or folder ──readable_conversations──> conversations ──eligible──> turns ──smallest hashes──> Sample
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from heapq import heappush, heappushpop
from pathlib import PurePath
from typing import NamedTuple

from gatekeeper_core.context.history.strategies import PASSTHROUGH_BELOW
from gatekeeper_core.errors import check_number
from gatekeeper_core.messages import Message
from gatekeeper_core.tokens import count_message
from gatekeeper_eval.errors import EvalError
from gatekeeper_formats import SUFFIXES, Conversation, Unread, conversation_files, readable_conversations


class TurnId(NamedTuple):
    """The place of a turn in the logs.

    Attributes:
        file: path relative to the folder, with ``/``; the name of a single file.
        conversation: number of the conversation in the file, from 1.
        turn: number of the turn in the conversation, from 0.
    """

    file: str
    conversation: int
    turn: int

    def __str__(self) -> str:
        number = "" if self.conversation == 1 else f" #{self.conversation}"
        return f"{self.file}{number}, turn {self.turn}"


class SampledTurn(NamedTuple):
    """A turn of the logs as its model saw it, with its answer and what the user said next.

    Attributes:
        id: place of the turn.
        messages: conversation up to the question, oldest first; the last ones are the user's.
        past: number of messages before the turn.
        question: the user's text.
        answer: the assistant's text (``Turn.assistant_text``).
        next_text: the user's text in the next turn, or "".
    """

    id: TurnId
    messages: tuple[Message, ...]
    past: int
    question: str
    answer: str
    next_text: str


class Sample(NamedTuple):
    """Sampled turns, and the size of the logs.

    Attributes:
        turns: the turns, ordered by file, conversation and turn.
        eligible: number of turns to sample from.
        conversations: number of conversations read.
        unread: files and conversations that could not be read.
    """

    turns: tuple[SampledTurn, ...]
    eligible: int
    conversations: int
    unread: tuple[Unread, ...]


def sample_turns(
    source: str, *, count: int = 50, seed: int = 0, form: str | None = None, least_tokens: int = PASSTHROUGH_BELOW
) -> Sample:
    """Return a random sample of turns from a file or a folder; the same seed gives the same turns.

    The seed and the place of a turn are hashed, and the smallest hashes win: a larger count keeps the turns of a
    smaller one, and added conversations change little.

    Args:
        source: a file in any supported format, or a folder.
        count: maximum number of turns, >= 1.
        seed: seed of the sample.
        form: format of the files; detected by default.
        least_tokens: minimum size of the history before a turn; a shorter one is sent in full.

    Raises:
        EvalError: nothing could be read, or no turn is long enough.
        ConfigError: ``count`` is below 1.

    Source: bottom-k sampling, Cohen and Kaplan 2007, "Summarizing data using bottom-k sketches".
    """
    check_number("count", count, low=1, integer=True)
    drawn: list[tuple[int, SampledTurn]] = []
    unread: list[Unread] = []
    eligible = conversations = 0
    for name, conversation in _conversations(source, form, unread):
        conversations += 1
        for turn in _eligible(name, conversation, least_tokens):
            eligible += 1
            digest = blake2b(f"{seed}\0{'|'.join(map(str, turn.id))}".encode("utf-8", "replace"), digest_size=8)
            entry = (-int.from_bytes(digest.digest(), "big"), turn)
            if len(drawn) < count:
                heappush(drawn, entry)
            elif entry[0] > drawn[0][0]:
                heappushpop(drawn, entry)
    if not conversations:
        reason = f": {unread[0].file}: {unread[0].reason}" if unread else f": it has no file {', '.join(SUFFIXES)}"
        raise EvalError(f"{source}: no conversation could be read{reason}")
    if not eligible:
        raise EvalError(
            f"{source}: none of {conversations:,} conversations has a question after {least_tokens} tokens of history; "
            "a shorter history is sent in full, so there is nothing to compare: use longer chats"
        )
    return Sample(tuple(sorted(turn for _, turn in drawn)), eligible, conversations, tuple(unread))


def read_turn(source: str, place: TurnId, *, form: str | None = None) -> SampledTurn | None:
    """Return the turn at a place in the logs, or None."""
    conversations = _conversations(source, form, [], only=place.file)
    turns = (turn for name, conversation in conversations for turn in _eligible(name, conversation, 0))
    return next((turn for turn in turns if turn.id == place), None)


def _conversations(
    source: str, form: str | None, unread: list[Unread], *, only: str | None = None
) -> Iterator[tuple[str, Conversation]]:
    files = {source: PurePath(source).name}
    if os.path.isdir(source):
        paths = conversation_files(source, unread)
        files = {file: PurePath(os.path.relpath(file, source)).as_posix() for file in paths}
    for file, name in files.items():
        if only in (None, name):
            for conversation in readable_conversations(file, name, unread=unread, form=form):
                yield name, conversation


def _eligible(name: str, conversation: Conversation, least_tokens: int) -> Iterator[SampledTurn]:
    messages, turns = conversation.messages, conversation.turns
    history = counted = 0
    for at, turn in enumerate(turns):
        history += sum(map(count_message, messages[counted : turn.start]))
        counted = turn.start
        question = turn.user_text
        if at == 0 or history < least_tokens or not question.strip():
            continue
        answer_start = next((stop for stop in range(turn.start, turn.stop) if messages[stop].role != "user"), turn.stop)
        next_text = turns[at + 1].user_text if at + 1 < len(turns) else ""
        place = TurnId(name, conversation.heading.number, at)
        yield SampledTurn(place, messages[:answer_start], turn.start, question, turn.assistant_text, next_text)
