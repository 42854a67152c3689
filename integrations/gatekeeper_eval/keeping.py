"""An assertion that a turn is sent with a question."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from gatekeeper_core.messages import Message, group_turns
from gatekeeper_core.native.reading import read_messages
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.result import Selection
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_formats import read_conversation

Chat = str | os.PathLike[str] | Sequence[Message] | Sequence[Mapping[str, Any]] | ContextGatekeeper
"""A file in any supported format, messages, dicts in a provider's format, or a gatekeeper with its turns."""

_SHOWN_CHARACTERS = 160
_WHY = {
    "no_shared_anchor": "it shares nothing with the question",
    "not_a_candidate": "other turns match better",
    "low_need": "not worth its tokens",
    "no_room": "no room in the budget",
    "repeat": "it repeats another turn",
}


def assert_keeps(
    chat: Chat,
    question: str,
    turn: int | str,
    *,
    token_budget: int | None = None,
    config: GatekeeperConfig | None = None,
) -> Selection:
    """Assert that a turn of a chat is sent with a question, and return the selection.

    Args:
        chat: the chat without the question. A ``ContextGatekeeper`` selects with its own budget and settings.
        question: what the user asks next.
        turn: number of a turn, from 0, negative from the end; or text of a turn, which must be among the text sent.
        token_budget: token limit of the turns; defaults to that of ``ContextGatekeeper``.
        config: settings of the selection.

    Raises:
        AssertionError: the turn is not sent; the message shows why, and what is sent instead.
        ValueError: no turn contains the text.
        IndexError: the chat has no such turn.
        TypeError: a budget or settings are given with a gatekeeper, which has its own.

    >>> chat = [{"role": "user", "content": "The Redis port is 6380."}, {"role": "assistant", "content": "Noted."}]
    >>> assert_keeps(chat, "Which port does Redis use?", "6380").tokens
    9
    """
    __tracebackhide__ = True  # pytest shows the caller's line
    if not isinstance(chat, ContextGatekeeper):
        budget: dict[str, Any] = {} if token_budget is None else {"token_budget": token_budget}
        gatekeeper = ContextGatekeeper(**budget, config=config)
        if isinstance(chat, (str, os.PathLike)):
            turns = read_conversation(Path(chat)).turns
        elif all(isinstance(message, Message) for message in chat):
            turns = group_turns(cast("Sequence[Message]", chat))
        else:
            turns = group_turns(read_messages(cast("Sequence[Mapping[str, Any]]", chat)))
        gatekeeper.sync(turns)
    elif token_budget is None and config is None:
        gatekeeper = chat
    else:
        raise TypeError("a gatekeeper has its own budget and settings: set them when you create it")
    selection = gatekeeper.explain(question)
    texts = [f"{block.user_text}\n{block.assistant_text}" for block in gatekeeper.turns]
    sent = {kept.turn_id: f"{kept.user}\n{kept.assistant}" for kept in selection.turns}
    if isinstance(turn, str):
        turn_ids = [at for at, text in enumerate(texts) if turn in text]
        if not turn_ids:
            raise ValueError(f"no turn of the chat contains {turn!r}")
        is_kept = any(turn in text for text in sent.values())
    else:
        turn_ids = [range(len(texts))[turn]]
        is_kept = turn_ids[0] in sent
    if not is_kept:
        raise AssertionError(_message(selection, question, turn, turn_ids, texts, sent))
    return selection


def _message(
    selection: Selection, question: str, turn: int | str, wanted: list[int], texts: list[str], sent: dict[int, str]
) -> str:
    """Return why the turn is not sent, what would have kept it, and what is sent instead."""
    what = f"turn {turn}" if isinstance(turn, int) else f"no turn with {turn!r}"
    lines = [f"{what} is {'not ' if isinstance(turn, int) else ''}sent with {question!r}"]
    for at in wanted[:3]:
        decision = selection.decision(at)
        ways = []
        if decision.kept_from_tokens is not None:
            ways.append(f"a budget of {decision.kept_from_tokens} tokens")
        if decision.kept_from_coverage is not None:
            ways.append(f"GatekeeperConfig(coverage={decision.kept_from_coverage:g})")
        if decision.kept_with:
            ways.append(f"a question that mentions {' or '.join(decision.kept_with)}")
        would = f"; {', or '.join(ways)} would keep it" if ways else ""
        why = "kept, but cut to other sentences" if at in sent else _WHY.get(decision.why, decision.why)
        lines += [f"  turn {at}: {why}{would}", f"    {_shown(texts[at])}"]
    gate = selection.gate
    lines.append(
        f"sent instead: {len(selection.turns)} of {selection.turn_count} turns, {selection.tokens} tokens of a budget "
        f"of {selection.token_budget}; topic: {gate.decision} ({gate.reason})"
    )
    for kept in selection.turns:
        decision = selection.decision(kept.turn_id)
        need = "" if decision.need is None else f", need {decision.need:.2f}"
        shared = f": {', '.join((*decision.shared, *decision.related))}" if decision.shared or decision.related else ""
        lines += [
            f"  turn {kept.turn_id}: {decision.why}{shared}{need}, {kept.tokens} tokens",
            f"    {_shown(sent[kept.turn_id])}",
        ]
    return "\n".join(lines)


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
