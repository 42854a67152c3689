"""Five ways to choose, on one conversation and one question: full history, window, literal specification, both modes.

python -m benchmarks.compare chat.json "Which port did we agree on?" --budget 2000,4000
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from benchmarks.literal import LiteralSpecification
from benchmarks.report import print_table
from gatekeeper_cli.question import QuestionAnchors
from gatekeeper_core.context.history.window import newest_turns
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.planner import GatekeeperConfig
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_formats import read_conversation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gatekeeper_core.messages import Turn
    from gatekeeper_core.selection.result import Selection

__all__ = ["METHODS", "Comparison", "Method", "Sent", "compare_ways"]

Method = Literal["full_history", "window", "literal", "minimal", "fill"]
METHODS: tuple[Method, ...] = ("full_history", "window", "literal", "minimal", "fill")


class Sent(NamedTuple):
    """What one way sends.

    Attributes:
        method: ``full_history``; ``window`` (the newest turns that fit); ``literal`` (the specification read word for
            word); ``minimal`` and ``fill`` (the gatekeeper).
        token_budget: what it might have sent.
        turn_ids: the turns that it sends, oldest first.
        tokens: what they cost, by the gatekeeper's counter; of a trimmed turn, what is left of it.
        anchors_held: how many anchors of the question stand in what it sends.
    """

    method: Method
    token_budget: int
    turn_ids: tuple[int, ...]
    tokens: int
    anchors_held: int


class Comparison(NamedTuple):
    """All ways at all budgets.

    Attributes:
        query: the question.
        turn_count: turns in the conversation.
        history_tokens: what they cost together.
        anchor_count: anchors of the question.
        usable: what each budget leaves for counts that are estimates, by the budget.
        sent: a row for each way and budget, by budget as given.
    """

    query: str
    turn_count: int
    history_tokens: int
    anchor_count: int
    usable: dict[int, int]
    sent: tuple[Sent, ...]

    def fits(self, row: Sent) -> bool:
        """Return whether a row stays within its budget, the margin of an estimate kept free."""
        return row.tokens <= self.usable[row.token_budget]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "query": self.query,
            "turn_count": self.turn_count,
            "history_tokens": self.history_tokens,
            "anchor_count": self.anchor_count,
            "sent": [
                {**row._asdict(), "turn_ids": list(row.turn_ids), "within_budget": self.fits(row)} for row in self.sent
            ],
        }


class _Pair(NamedTuple):
    user: str
    assistant: str


def compare_ways(turns: Sequence[Turn], query: str, *, budgets: Sequence[int]) -> Comparison:
    """Return what each way would send for a question, at each budget.

    All ways are measured alike: whole turns by the gatekeeper's counter, and the margin of an estimate kept free.

    Args:
        turns: the conversation, oldest first.
        query: the question; it is no part of the conversation.
        budgets: in tokens, each at least 1.
    """
    gatekeepers = {mode: ContextGatekeeper(config=GatekeeperConfig(mode=mode)) for mode in _MODES}
    for gatekeeper in gatekeepers.values():
        gatekeeper.sync(turns)
    minimal = gatekeepers["minimal"]
    costs, pairs = minimal.turn_tokens, [_Pair(turn.user_text, turn.assistant_text) for turn in turns]
    anchors, order = QuestionAnchors(minimal.explain(query)), LiteralSpecification(pairs).rank(query)
    rows, usable = [], {}
    for budget in budgets:
        room = usable[budget] = budget_within(minimal.token_counter, budget)
        whole: dict[Method, Sequence[int]] = {
            "full_history": range(len(costs)),
            "window": newest_turns(costs, budget_tokens=room),
            "literal": _in_order(order, costs, room),
        }
        for method, turn_ids in whole.items():
            tokens = sum(costs[at] for at in turn_ids)
            rows.append(Sent(method, budget, tuple(turn_ids), tokens, anchors.held(pairs[at] for at in turn_ids)))
        for mode, gatekeeper in gatekeepers.items():
            rows.append(_selected(mode, gatekeeper.explain(query, token_budget=budget), anchors))
    return Comparison(query, len(costs), sum(costs), len(anchors.written), usable, tuple(rows))


_MODES: tuple[Literal["minimal", "fill"], ...] = ("minimal", "fill")


def _selected(mode: Literal["minimal", "fill"], selection: Selection, anchors: QuestionAnchors) -> Sent:
    kept = selection.turns
    held = anchors.held(_Pair(turn.user, turn.assistant) for turn in kept)
    return Sent(mode, selection.token_budget, tuple(turn.turn_id for turn in kept), selection.tokens, held)


def _in_order(order: Iterable[int], costs: Sequence[int], room: int) -> list[int]:
    """Return the turns that fit when they are taken in order, oldest first; what does not fit is passed over."""
    taken = []
    for at in order:
        if costs[at] <= room:
            taken.append(at)
            room -= costs[at]
    return sorted(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="a conversation in any format that gatekeeper_formats reads")
    parser.add_argument("query", help="the new question; it is no part of the conversation")
    parser.add_argument("--conversation", help="number, id or title, if the file holds several")
    parser.add_argument("--budget", default="2000,4000", help="tokens; several: 2000,4000")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    given = parser.parse_args()
    turns = read_conversation(given.file, conversation=given.conversation).turns
    comparison = compare_ways(turns, given.query, budgets=[int(part) for part in given.budget.split(",")])
    if given.json:
        print(json.dumps(comparison.to_dict(), ensure_ascii=False, indent=2))
        return
    for budget in comparison.usable:
        rows = [
            {
                "method": row.method,
                "turns": len(row.turn_ids),
                "tokens": row.tokens,
                "anchors": f"{row.anchors_held}/{comparison.anchor_count}",
                "within budget": "yes" if comparison.fits(row) else "no",
            }
            for row in comparison.sent
            if row.token_budget == budget
        ]
        print_table(f"{comparison.turn_count} turns, {comparison.history_tokens} tokens; budget {budget}", rows)


if __name__ == "__main__":
    main()
