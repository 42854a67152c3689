"""Evidence recall of selection on labelled conversations, beside named peers in the same run.

Run ``python -m benchmarks.selection --data DIR``, where ``DIR/selection/locomo_dev.jsonl`` holds the conversations. Two
adjacent messages of a session are a turn; the question alone is the query; the whole conversation is the history.

* ``fill``: the budget is used, best turns first; recall at five budgets. Peers take blocks in the order of their rank,
  passing over what does not fit.
* ``gate``: the default strategy, over ``coverage``: recall against the mean tokens spent.

A message is found if it is sent whole, or if 70 % of the words that it shares with the answer are in the cut that
is sent; peers send whole messages. Recall is the mean over questions of (evidence messages found / evidence messages),
all-hit the share of questions with every one found, and verbatim is recall where only whole messages count.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.budget import block_costs, counter, take_in_order
from benchmarks.data import Block, Conversation, read_locomo, sampled
from benchmarks.peers import NOT_INSTALLED, PEERS, missing
from benchmarks.report import Row, Tables, options, report
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig, TokenCounter
from gatekeeper_core.selection.anchors import telling_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from benchmarks.data import Block
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.selection.result import SelectedTurn

    Ranking = Callable[[Conversation], Callable[[str, Collection[str]], list[int]]]

BUDGETS = (250, 500, 1000, 2000, 4000)
COVERAGES = (0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90, 0.95)
OURS = "context-gatekeeper"
QUICK_CONVERSATIONS, QUICK_QUESTIONS = 2, 60
SHARE_OF_WORDS = 0.7
"""Of the wanted words that a cut must keep. Source: ours; evidence is labelled by message, not passage."""
_LARGEST = BUDGETS[-1]


class Tally:
    def __init__(self) -> None:
        self._questions: list[tuple[float, bool, float, int]] = []

    def add(self, evidence: Collection[str], full: Collection[str], tokens: int, *, cut: Collection[str] = ()) -> None:
        """Count one question: evidence, messages that are sent whole, and in part with the words of the answer."""
        hits, verbatim = (sum(each in sent for each in evidence) for sent in ({*full, *cut}, full))
        size = len(evidence)
        self._questions.append((hits / size, hits == size, verbatim / size, tokens))

    def row(self) -> dict[str, float]:
        """Return the means, in per cent and tokens."""
        measures = ("recall", 100), ("all-hit", 100), ("verbatim", 100), ("tokens", 1)
        columns = list(zip(*self._questions, strict=True)) or [()] * len(measures)
        count = max(1, len(self._questions))
        return {name: scale * sum(column) / count for (name, scale), column in zip(measures, columns, strict=True)}


def measure_ours(
    conversations: Iterable[Conversation],
    config: GatekeeperConfig,
    budgets: Iterable[int],
    count: TokenCounter,
    embedder: TextEncoder | None = None,
) -> dict[int, Tally]:
    tallies = {budget: Tally() for budget in budgets}
    for conversation in conversations:
        gatekeeper = ContextGatekeeper(config=config, token_counter=count, embedder=embedder)
        gatekeeper.sync([(block.user, block.assistant) for block in conversation.blocks])
        for question in conversation.questions:
            for budget, tally in tallies.items():
                selection = gatekeeper.explain(question.text, token_budget=budget)
                full, cut = messages_sent(conversation.blocks, selection.turns, question.answer)
                tally.add(question.evidence, full, selection.tokens, cut=cut)
    return tallies


def messages_sent(blocks: Sequence[Block], turns: Iterable[SelectedTurn], answer: str) -> tuple[set[str], set[str]]:
    """Return the messages that are sent whole, and those of which the words of the answer are sent."""
    full, cut, answer_terms = set(), set(), telling_terms(answer)
    for turn in turns:
        block = blocks[turn.turn_id]
        sides = zip(block.ids, (block.user, block.assistant), (turn.user, turn.assistant), strict=False)
        for message, text, sent in sides:
            words = telling_terms(text) & answer_terms
            if sent == text:
                full.add(message)
            elif words and len(telling_terms(sent) & words) >= SHARE_OF_WORDS * len(words):
                cut.add(message)
    return full, cut


def measure_ranking(conversations: Iterable[Conversation], rank: Ranking, count: TokenCounter) -> dict[int, Tally]:
    """Return a tally by budget for a method that ranks blocks."""
    tallies = {budget: Tally() for budget in BUDGETS}
    for conversation in conversations:
        costs = block_costs(conversation.blocks, count)
        ranker = rank(conversation)
        for question in conversation.questions:
            order = ranker(question.text, question.evidence)
            for budget, tally in tallies.items():
                selected, spent = take_in_order(order, costs, budget)
                sent = {message for at in selected for message in conversation.blocks[at].ids}
                tally.add(question.evidence, sent, spent)
    return tallies


def oracle(conversation: Conversation) -> Callable[[str, Collection[str]], list[int]]:
    def rank(_question: str, evidence: Collection[str]) -> list[int]:
        return [at for at, block in enumerate(conversation.blocks) if any(m in evidence for m in block.ids)]

    return rank


def peer_ranking(name: str) -> Ranking:
    def for_conversation(conversation: Conversation) -> Callable[[str, Collection[str]], list[int]]:
        peer = PEERS[name](conversation.blocks)
        return lambda question, _evidence: peer.rank(question)

    return for_conversation


def fill_rows(conversations: Sequence[Conversation], count: TokenCounter, *, peers: bool) -> list[tuple[str, Any]]:
    """Return by method its tallies by budget, or None where it is not installed; oracle and peers only if wanted."""
    rows: list[tuple[str, Any]] = [
        (name, None if missing(name) else measure_ranking(conversations, peer_ranking(name), count))
        for name in (PEERS if peers else ())
    ]
    rows.append((OURS, measure_ours(conversations, GatekeeperConfig(strategy="fill"), BUDGETS, count)))
    if peers:
        rows.append(("oracle", measure_ranking(conversations, oracle, count)))
    return rows


def by_budget(name: str, tallies: dict[int, Tally] | None, measure: str) -> Row:
    if tallies is None:
        return {"method": name, **dict.fromkeys(map(str, BUDGETS)), str(BUDGETS[0]): NOT_INSTALLED}
    return {"method": name, **{str(budget): tally.row()[measure] for budget, tally in tallies.items()}}


def gate_rows(
    conversations: Sequence[Conversation], count: TokenCounter, embedder: TextEncoder | None = None
) -> list[Row]:
    rows = []
    for coverage in COVERAGES:
        tally = measure_ours(conversations, GatekeeperConfig(coverage=coverage), (_LARGEST,), count, embedder)[_LARGEST]
        rows.append({"coverage": f"{coverage:.2f}", **tally.row()})
    return rows


def run(conversations: Sequence[Conversation], counter_name: str, *, peers: bool) -> Tables:
    count = counter(counter_name)
    fill = fill_rows(conversations, count, peers=peers)
    shown = {"Evidence recall": "recall", "All-hit": "all-hit", "Recall of whole messages alone": "verbatim"}
    return {
        **{
            f"{title} in per cent, fill, by token budget": [by_budget(name, each, measure) for name, each in fill]
            for title, measure in shown.items()
        },
        "Strategy gate over coverage, at a budget of 4000 tokens": gate_rows(conversations, count),
    }


def quick_sample(conversations: Sequence[Conversation]) -> list[Conversation]:
    """Return an even sample of the conversations, with an even sample of their questions."""
    return [
        replace(each, questions=tuple(sampled(each.questions, QUICK_QUESTIONS)))
        for each in sampled(conversations, QUICK_CONVERSATIONS)
    ]


def main() -> None:
    chosen = options(__doc__, data="selection/locomo_dev.jsonl", counter="estimate").parse_args()
    conversations = read_locomo(chosen.data / "selection" / "locomo_dev.jsonl")
    if chosen.quick:
        conversations = quick_sample(conversations)
    tables = run(conversations, chosen.counter, peers=not chosen.ours_only)
    report(chosen, "selection", tables, questions=sum(len(each.questions) for each in conversations))


if __name__ == "__main__":
    main()
