"""The turns of a conversation as the gatekeeper stores them: both texts and their cost."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from gatekeeper_core.messages import Turn
from gatekeeper_core.selection.anchors import MAX_TURN_ANCHORS, extract_anchors
from gatekeeper_core.selection.dates import date_terms
from gatekeeper_core.text import split_thinking
from gatekeeper_core.tokens import TokenCounter, count_messages


class Block(NamedTuple):
    """A turn of the history, as a read-only value.

    Attributes:
        user_text: the user's text.
        assistant_text: the assistant's text, "" while it is pending.
        tokens_user: tokens of the user's text.
        tokens_assistant: tokens of the assistant's text; for a turn of messages, of everything but the user's.
        turn_id: 0-based position in the current history; numbers of removed turns are reused.
        source: the turn of messages it was built from; None for a pair of texts.
    """

    user_text: str
    assistant_text: str
    tokens_user: int
    tokens_assistant: int
    turn_id: int
    source: Turn | None = None

    @classmethod
    def of(cls, turn: Turn | tuple[str, str], turn_id: int, count: TokenCounter) -> Block:
        """Return the block of a turn."""
        if isinstance(turn, Turn):
            user = [message for message in turn.messages if message.role == "user"]
            rest = [message for message in turn.messages if message.role != "user"]
            tokens_user, tokens_rest = (count_messages(side, token_counter=count) for side in (user, rest))
            return cls(turn.user_text, turn.assistant_text, tokens_user, tokens_rest, turn_id, turn)
        question, answer = turn[0], split_thinking(turn[1])[1]
        return cls(question, answer, count(question), count(answer), turn_id)

    @property
    def anchors(self) -> list[str]:
        """The anchors as written, each once, in order of first occurrence; single characters are left out."""
        sides = (extract_anchors(text, limit=MAX_TURN_ANCHORS) for text in self.texts)
        return list(dict.fromkeys(anchor.text for side in sides for anchor in side if anchor.kind != "character"))

    @property
    def texts(self) -> tuple[str, str]:
        """Both texts, the user's first."""
        return self[:2]

    @property
    def tokens(self) -> int:
        """The cost of the full turn, at least 1."""
        return self.tokens_user + self.tokens_assistant or 1

    @property
    def day(self) -> date | None:
        """The day it was written, in the writer's time zone; None if its messages carry no time."""
        written = self.source.created_at if self.source is not None else None
        return written.date() if written is not None else None

    @property
    def date_terms(self) -> dict[str, int]:
        """The terms of the day it was written, each with a count of 1."""
        return dict.fromkeys(date_terms(self.day), 1) if self.day is not None else {}

    @property
    def openings(self) -> tuple[str, str]:
        """Both texts for finding speakers; ``name: `` alone if the messages of a side carry a name."""
        names: dict[str, str] = {}
        for message in self.source.messages if self.source is not None else ():
            if message.name:
                names.setdefault(message.role, f"{message.name}: ")
        return names.get("user", self.user_text), names.get("assistant", self.assistant_text)

    def equals(self, turn: Turn | tuple[str, str]) -> bool:
        """Return whether a turn has the same content."""
        if not isinstance(turn, Turn):
            return self.source is None and self.texts == (turn[0], split_thinking(turn[1])[1])
        source = self.source
        return source is not None and (source.messages, source.preamble) == (turn.messages, turn.preamble)
