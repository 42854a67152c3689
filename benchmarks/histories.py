"""Histories: what cutting long messages saves, and from which size on a history is long enough to choose from.

Run ``python -m benchmarks.histories --data DIR``, where ``DIR/everyday/everyday_dev.jsonl`` holds the conversations of
:mod:`benchmarks.everyday`. Each question goes through ``select_history`` with a budget of 4,000 tokens: with whole
messages and with cut ones; then with everything passed through while the history is below so many tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.budget import counter
from benchmarks.data import sampled
from benchmarks.everyday import Method, Sent, ask, by_group, changes, cross_fitted
from benchmarks.report import Row, options, report
from benchmarks.talks import GROUPS, SETS
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig, HistoryConfig, Message, TokenCounter, select_history

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.data import Block
    from benchmarks.talks import Question, Talk


LABELLED = SETS["everyday"][0]
BUDGET = 4000
SIZES = (0, 250, 500, 1000, 2000)


class History(Method):
    """A list of messages, selected from for each question."""

    def __init__(self, count: TokenCounter, *, trim: bool = True, passthrough_below: int = 0) -> None:
        gatekeeper = ContextGatekeeper(config=GatekeeperConfig(trim=trim), token_counter=count)
        self._gatekeeper = cross_fitted(gatekeeper, LABELLED.fitted_on)
        self._count = count
        self._config = HistoryConfig(token_budget=BUDGET, passthrough_below=passthrough_below, run=None)
        self._messages: list[Message] = []

    def read(self, block: Block) -> None:
        self._messages += [Message("user", block.user), Message("assistant", block.assistant)]

    def send(self, question: Question) -> list[Sent]:
        messages = [*self._messages, Message("user", question.text)]
        view = select_history(messages, gatekeeper=self._gatekeeper, config=self._config)
        cut, sent = dict(view.replaced), list[Sent]()
        for turn in sorted(view.turns):
            places = (2 * turn, 2 * turn + 1)
            texts = [cut.get(at, self._messages[at]).text for at in places]
            full = sum(self._count(self._messages[at].text) for at in places)
            sent.append(Sent(turn, "\n".join(texts), sum(map(self._count, texts)), full))
        return sent


def measured(talks: Sequence[Talk], count: TokenCounter, **arguments: Any) -> Row:
    outcomes = list(ask(talks, lambda: History(count, **arguments)))
    groups = by_group(outcomes)
    row = groups["all questions"].row()
    shown = {name: row[name] for name in ("hit", "info", "tokens", "tokens, all", "useless")}
    hanging, back = (groups[name].row()["hit"] if name in groups else None for name in list(GROUPS)[:2])
    return {**shown, "follow-ups": hanging, "going back": back, **changes(outcomes)}


def main() -> None:
    parser = options(__doc__, data=LABELLED.file, counter="estimate")
    chosen = parser.parse_args()
    talks = sampled(LABELLED.read(chosen.data / LABELLED.file), 10 if chosen.quick else None)
    count = counter(chosen.counter)
    ways = {"whole messages": False, "cut": True}
    cut = [{"sent": name, **measured(talks, count, trim=trim)} for name, trim in ways.items()]
    passed = [{"everything below": size, **measured(talks, count, passthrough_below=size)} for size in SIZES]
    titles = ("Long messages of past turns", "Everything is sent while the history is below so many tokens")
    report(chosen, "histories", dict(zip(titles, (cut, passed), strict=True)))


if __name__ == "__main__":
    main()
