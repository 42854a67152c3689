"""Recall of turns that were left out of the prompt, on demand.

::

    query ──explain──> turns by value ──less those that are shown whole──> [turn 3] user: … assistant: … in a fence

A model asks for what it misses in a tool call. The result is part of its run, so the prompt's beginning stays the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gatekeeper_core.context.history.reading import read_history
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.context.tool_results.working_memory import RECALL_TOOL_NAME as RECALL_TOOL_NAME
from gatekeeper_core.errors import check_str
from gatekeeper_core.fences import fence, spoilt
from gatekeeper_core.messages import Message, Turn, both_ends, with_text
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.trimming import GAP
from gatekeeper_core.text import is_han, locale_of, split_thinking
from gatekeeper_core.token_estimate import budget_for
from gatekeeper_core.tokens import check_tokens
from gatekeeper_core.truncation import truncate_middle

if TYPE_CHECKING:
    from gatekeeper_core.context.history.reading import History
    from gatekeeper_core.selection.result import SelectedTurn, Selection

RECALL_TOOL_DESCRIPTION = (
    "Read earlier turns of this conversation that are not shown, or are shown in part (a gap is marked with …). "
    "`query`: what to look for, in words that were used."
)
"""The description of the tool for the model."""

RECALL_BUDGET_TOKENS = 1_000
"""Tokens of one answer. Source: ours; a few long turns."""

NOTHING_EARLIER = "[earlier turns: nothing else is found for this]"
"""The tool's answer if no hidden turn matches the query, or the conversation is unknown."""

_HINTS = {
    "en": f"Some earlier turns of this conversation are not shown; call {RECALL_TOOL_NAME} to read them.",
    "zh": f"本对话较早的部分轮次没有显示，需要时用 {RECALL_TOOL_NAME} 查看。",
}


def recall_earlier(
    query: str,
    *,
    messages: Sequence[Message],
    gatekeeper: ContextGatekeeper,
    view: HistoryView | None = None,
    max_tokens: int = RECALL_BUDGET_TOKENS,
) -> str:
    r"""Return earlier turns that match a query and that the model was not shown in full.

    Args:
        query: what to look for.
        messages: the whole conversation; its last turn is the current one.
        gatekeeper: the index of this conversation.
        view: what the model was shown; None: nothing of the past.
        max_tokens: token limit of the text, marks included, at least 1.

    Returns:
        Turns with their ids (0-based positions), oldest first, in a fence, long ones in part; or ``NOTHING_EARLIER``.

    Raises:
        TypeError: an argument has the wrong type.
        ConfigError: ``max_tokens`` is below 1.

    >>> talk = [Message("user", "The Redis port is 6380."), Message("assistant", "Noted."), Message("user", "Tea?")]
    >>> print(recall_earlier("Redis port", messages=talk, gatekeeper=ContextGatekeeper()))
    <earlier_turns-312662732645>
    [turn 0]
    user: The Redis port is 6380.
    assistant: Noted.
    </earlier_turns-312662732645>
    """
    past = read_history(messages).past
    gatekeeper.sync(past)
    return recall_turns(query, past, gatekeeper, view=view, max_tokens=max_tokens)


def recall_turns(
    query: str,
    past: Sequence[Turn],
    gatekeeper: ContextGatekeeper,
    *,
    view: HistoryView | None,
    max_tokens: int = RECALL_BUDGET_TOKENS,
) -> str:
    """Return the answer of :func:`recall_earlier` for past turns that the gatekeeper has.

    It has the selected turns that match the query; if all of these are shown, the hidden one with the best score; for a
    query about the conversation, its overview. Turns that are not shown at all come before those shown in part.
    """
    check_str("query", query)
    check_tokens("max_tokens", max_tokens, at_least=1)
    shown: dict[int, bool] = {}  # in full?
    if view:
        cut = {at for at, _ in view.replaced}
        shown = {one: cut.isdisjoint(range(past[one].start, past[one].stop)) for one in view.turns}
        shown |= {one: turn_text(past[one]) in view.recalled_text for one in view.recalled}
    budget = max_tokens + sum(gatekeeper.turn_tokens[turn_id] for turn_id in shown)
    selection = gatekeeper.explain(query, token_budget=budget_for(gatekeeper.token_counter, budget), trim=True)
    scores = {one.turn_id: one.score.total for one in selection.decisions if one.score and not shown.get(one.turn_id)}
    hidden = [turn_id for turn_id in selection.order if turn_id in scores]
    hidden = hidden or sorted(scores, key=scores.__getitem__)[-1:]
    if selection.gate.reason == "about_conversation":
        hidden = [turn_id for turn_id in selection.order if not shown.get(turn_id)]
    excerpts = {turn.turn_id: turn for turn in selection.turns}
    count = gatekeeper.token_counter
    texts: dict[int, str] = {}
    for turn_id in sorted(hidden, key=lambda turn_id: turn_id in shown):
        part = turn_text(past[turn_id], excerpts.get(turn_id))
        forms = [turn_text(past[turn_id]), part]

        def fenced_tokens(text: str, turn_id: int = turn_id) -> int:
            return count(fenced_turns({**texts, turn_id: text}))

        if not texts:
            forms.append(truncate_middle(part, max_tokens, token_counter=fenced_tokens))
        if text := next((form for form in forms if form and fenced_tokens(form) <= max_tokens), ""):
            texts[turn_id] = text
    return fenced_turns(texts) if texts else NOTHING_EARLIER


def recall_hint(opening: str) -> str:
    """Return the line that points a model to earlier turns, in the language of a conversation's opening.

    It has no number, so that the prompt stays the same from question to question.

    >>> recall_hint("Which port?")
    'Some earlier turns of this conversation are not shown; call recall_earlier to read them.'
    """
    return _HINTS["zh" if any(map(is_han, opening)) else "en"]


# --- rendering

_HEADINGS = {
    "en": "From earlier in this conversation; later turns, shown above, take precedence:",
    "zh": "以下为本对话较早的内容；如与上文较新的内容不一致，以较新的为准：",
}
_TAG = "earlier_turns"


def render_recalled(turns: Sequence[int], past: Sequence[Turn], selection: Selection | None, *, question: str) -> str:
    """Return past turns as a block for the user's message; those that the selection has not cut are quoted in full."""
    cut = {turn.turn_id: turn for turn in selection.turns if turn.trimmed} if selection else {}
    return recalled_block({turn: turn_text(past[turn], cut.get(turn)) for turn in turns}, question=question)


def recalled_block(texts: Mapping[int, str], *, question: str) -> str:
    """Return the texts of past turns under a heading in the language of the question, which follows them."""
    return f"{_HEADINGS[locale_of([question])]}\n{fenced_turns(texts)}"


def question_at(turn: Turn | None) -> int | None:
    """Return the position of the question in a turn: the last user message before the model's first."""
    question = None
    for at, message in enumerate(turn.messages, turn.start) if turn else ():
        if message.role in ("assistant", "tool"):
            break
        if message.role == "user":
            question = at
    return question


def question_with(history: History, turn: Turn | None, text: str) -> tuple[int, Message] | None:
    """Return the position of a turn's question, and the question with a text before it; None if either is missing."""
    at = question_at(turn)
    if at is None or not text:
        return None
    question = history.messages[at]
    return at, with_text(question, f"{text}\n\n{question.text}")


def turn_text(turn: Turn, part: SelectedTurn | None = None) -> str:
    r"""Return a turn as text, each message after its role; of a ``part``, no thinking, and both ends of long results.

    >>> from gatekeeper_core.messages import Message, Turn
    >>> print(turn_text(Turn((Message("user", "Port?\nuser: No."), Message("tool", "80\n[turn 7]")), 0, 2)))
    user: Port?
      user: No.
    tool: 80
    tool: [\turn 7]
    """
    cuts = dict(part.cuts) if part else {}
    parts = []
    for at, message in enumerate(turn.messages):
        text, head = cuts.get(at, message.text), f"{message.role}: "
        if part:
            text = f"\n{GAP.strip()}\n".join(both_ends(text)) if message.role == "tool" else split_thinking(text)[1]
            text = text if (part.user if message.role == "user" else part.assistant) else ""
        further = head if message.role == "tool" else "  "
        if text:
            parts.append(head + f"\n{further}".join(spoilt(text, "[turn", by="\\").splitlines()))
    return "\n".join(parts)


def fenced_turns(texts: Mapping[int, str]) -> str:
    """Return the texts of turns by id, oldest first, in a fence."""
    return fence("\n\n".join(f"[turn {turn_id}]\n{text}" for turn_id, text in sorted(texts.items())), tag=_TAG)
