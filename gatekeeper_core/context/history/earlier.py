"""Earlier turns told as text, in a fence: as the answer of a tool, or inside the question.

::

    From earlier in this conversation; …:
    <earlier_turns-…>
    [turn 3]
    user: …
    tool: …
    tool: …        each line of what a tool wrote says so
    assistant: …
      …            a further line of the same message
    </earlier_turns-…>

So no text reads as another turn or another speaker; what looks like the head of a turn gets a backslash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gatekeeper_core.fences import fence, spoilt
from gatekeeper_core.messages import both_ends, with_text
from gatekeeper_core.selection.trimming import GAP
from gatekeeper_core.text import locale_of, split_thinking

if TYPE_CHECKING:
    from gatekeeper_core.context.history.strategies import History
    from gatekeeper_core.messages import Message, Turn
    from gatekeeper_core.selection.result import SelectedTurn, Selection

__all__ = ["fenced_turns", "question_at", "question_with", "render_recalled", "turn_text"]

_HEADINGS = {
    "en": "From earlier in this conversation; later turns, shown above, take precedence:",
    "zh": "以下为本对话较早的内容；如与上文较新的内容不一致，以较新的为准：",
}
_TAG = "earlier_turns"


def render_recalled(turns: Sequence[int], past: Sequence[Turn], selection: Selection | None, *, question: str) -> str:
    """Return some past turns as a block that stands before the question in the user's message.

    Args:
        turns: their ids.
        past: the finished turns.
        selection: has the excerpts; a turn that it has not cut is told whole.
        question: tells the language.
    """
    cut = {turn.turn_id: turn for turn in selection.turns if turn.trimmed} if selection else {}
    told = fenced_turns({turn: turn_text(past[turn], cut.get(turn)) for turn in turns})
    return f"{_HEADINGS[locale_of([question])]}\n{told}"


def question_at(history: History, turn: Turn | None) -> int | None:
    """Return the position of the question in a turn: the last user message before the model's first."""
    asked = None
    for at in range(turn.start, turn.stop) if turn else ():
        role = history.seen[at].role
        if role in ("assistant", "tool"):
            break
        if role == "user":
            asked = at
    return asked


def question_with(history: History, turn: Turn | None, text: str) -> tuple[int, Message] | None:
    """Return the position of the question of a turn, and the question with a text before it, or None."""
    at = question_at(history, turn)
    if at is None or not text:
        return None
    asked = history.messages[at]
    return at, with_text(asked, f"{text}\n\n{asked.text}")


def turn_text(turn: Turn, part: SelectedTurn | None = None) -> str:
    r"""Return what a turn says, each message under its role; of a ``part``, no thinking, and both ends of long results.

    >>> from gatekeeper_core.messages import Message, Turn
    >>> print(turn_text(Turn((Message("user", "Port?\nuser: No."), Message("tool", "80\n[turn 7]")), 0, 2)))
    user: Port?
      user: No.
    tool: 80
    tool: [\turn 7]
    """
    cuts = dict(part.cuts) if part else {}
    said = []
    for at, message in enumerate(turn.messages):
        text, head = cuts.get(at, message.text), f"{message.role}: "
        if part:
            text = f"\n{GAP.strip()}\n".join(both_ends(text)) if message.role == "tool" else split_thinking(text)[1]
            text = text if (part.user if message.role == "user" else part.assistant) else ""
        further = head if message.role == "tool" else "  "
        if text:
            said.append(head + f"\n{further}".join(spoilt(text, "[turn", by="\\").splitlines()))
    return "\n".join(said)


def fenced_turns(told: Mapping[int, str]) -> str:
    """Return the texts of turns by id, oldest first, in a fence."""
    return fence("\n\n".join(f"[turn {turn_id}]\n{text}" for turn_id, text in sorted(told.items())), tag=_TAG)
