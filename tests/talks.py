"""Short conversations in three scripts: for each its turns and a question about them; ``tests/cases/talks.jsonl``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.messages import Message
from tests.case_files import rows

if TYPE_CHECKING:
    from collections.abc import Iterable


def talks(name: str) -> dict[str, tuple[list[tuple[str, str]], str]]:
    """Return the conversations of one kind by script."""
    return {script: ([(user, reply) for user, reply in pairs], query) for script, pairs, query in rows("talks", name)}


TALKS = talks("talk")
"""Three turns, each on a topic of its own, and a question that goes back to the first."""


def sides(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the role and the text of each message of plain turns."""
    return [side for pair in pairs for side in zip(("user", "assistant"), pair, strict=True)]


def talk(pairs: Iterable[tuple[str, str]]) -> list[Message]:
    """Return the messages of plain turns."""
    return [Message(role, text) for role, text in sides(pairs)]


def dicts_of(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return the messages of plain turns as a file holds them."""
    return [{"role": role, "content": text} for role, text in sides(pairs)]
