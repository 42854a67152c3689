"""Evidence recall of selection on labelled conversations, beside named peers in the same run.

Run ``python -m benchmarks.selection --data DIR``, where ``DIR/selection/locomo_dev.jsonl`` holds the conversations. Two
adjacent messages of a session are a turn; the question alone is the query; the whole conversation is the history.

* ``fill``: the budget is used, best turns first; recall at five budgets. Peers take blocks in the order of their rank,
  passing over what does not fit.
* ``minimal``: the default stop, over ``eta``: recall against the mean tokens spent.

Recall is the mean over questions of (evidence messages selected / evidence messages); all-hit the share of questions
with every evidence message selected. Nothing is trimmed, so that a selected message is a whole one.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.data import Conversation, read_locomo
from benchmarks.peers import PEERS
from benchmarks.report import print_table, write_json
from gatekeeper_core import ContextGatekeeper, CoverageConfig, GatekeeperConfig, estimate_text_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

BUDGETS = (250, 500, 1000, 2000, 4000)
ETAS = (0.70, 0.75, 0.80, 0.85, 0.90, 0.95)
OURS = "context-gatekeeper"


class Tally:
    """Sums recall, all-hit and tokens over questions."""

    def __init__(self) -> None:
        self._recall = self._all_hit = 0.0
        self._tokens = self._questions = 0

    def add(self, evidence: Collection[str], selected: Collection[str], tokens: int) -> None:
        """Count one question."""
        hits = sum(message in selected for message in evidence)
        self._recall += hits / len(evidence)
        self._all_hit += hits == len(evidence)
        self._tokens += tokens
        self._questions += 1

    def row(self) -> dict[str, float]:
        """Return the means, in per cent and tokens."""
        count = max(1, self._questions)
        return {
            "recall": 100 * self._recall / count,
            "all-hit": 100 * self._all_hit / count,
            "tokens": self._tokens / count,
        }


def counter(name: str) -> Callable[[str], int]:
    """Return the token counter to measure with: the library's estimate, or tiktoken's cl100k.

    tiktoken would fetch its table; ``TIKTOKEN_CACHE_DIR`` must name a folder that holds it (llama-index-core ships one
    in ``llama_index/core/_static/tiktoken_cache``).
    """
    if name == "estimate":
        return estimate_text_tokens
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        raise SystemExit(
            "--counter cl100k needs TIKTOKEN_CACHE_DIR, a folder with tiktoken's tables: nothing is downloaded"
        )
    import tiktoken

    encoding = tiktoken.get_encoding("cl100k_base")
    return cache(lambda text: len(encoding.encode(text, disallowed_special=())))


def gatekeeper_for(
    conversation: Conversation, config: GatekeeperConfig, count: Callable[[str], int]
) -> ContextGatekeeper:
    """Return a gatekeeper that has read a conversation."""
    gatekeeper = ContextGatekeeper(config=config, token_counter=count)
    gatekeeper.sync([(block.user, block.assistant) for block in conversation.blocks])
    return gatekeeper


def measure_ours(
    conversations: Iterable[Conversation], config: GatekeeperConfig, budgets: Iterable[int], count: Callable[[str], int]
) -> dict[int, Tally]:
    """Return a tally by budget for the gatekeeper."""
    tallies = {budget: Tally() for budget in budgets}
    for conversation in conversations:
        gatekeeper = gatekeeper_for(conversation, config, count)
        for question in conversation.questions:
            for budget, tally in tallies.items():
                selection = gatekeeper.explain(question.text, token_budget=budget, trim=False)
                selected = {m for turn in selection.turns for m in conversation.blocks[turn.turn_id].ids}
                tally.add(question.evidence, selected, selection.tokens)
    return tallies


def measure_ranking(
    conversations: Iterable[Conversation],
    rank: Callable[[Conversation], Callable[[str, Collection[str]], list[int]]],
    count: Callable[[str], int],
) -> dict[int, Tally]:
    """Return a tally by budget for a method that ranks blocks."""
    tallies = {budget: Tally() for budget in BUDGETS}
    for conversation in conversations:
        costs = [max(1, count(block.user) + count(block.assistant)) for block in conversation.blocks]
        ranker = rank(conversation)
        for question in conversation.questions:
            order = ranker(question.text, question.evidence)
            for budget, tally in tallies.items():
                selected, spent = take_in_order(order, costs, budget)
                ids = {message for at in selected for message in conversation.blocks[at].ids}
                tally.add(question.evidence, ids, spent)
    return tallies


def take_in_order(order: Iterable[int], costs: list[int], budget: int) -> tuple[list[int], int]:
    """Return which blocks fit when taken in order, and what they cost."""
    taken, spent = [], 0
    for at in order:
        if spent + costs[at] <= budget:
            taken.append(at)
            spent += costs[at]
    return taken, spent


def oracle(conversation: Conversation) -> Callable[[str, Collection[str]], list[int]]:
    """Return a ranking that knows the evidence."""

    def rank(_question: str, evidence: Collection[str]) -> list[int]:
        return [at for at, block in enumerate(conversation.blocks) if any(m in evidence for m in block.ids)]

    return rank


def peer_ranking(name: str) -> Callable[[Conversation], Callable[[str, Collection[str]], list[int]]]:
    """Return how a named peer ranks."""

    def for_conversation(conversation: Conversation) -> Callable[[str, Collection[str]], list[int]]:
        peer = PEERS[name](conversation.blocks)
        return lambda question, _evidence: peer.rank(question)

    return for_conversation


def fill_row(name: str, tallies: dict[int, Tally]) -> dict[str, Any]:
    """Return recall by budget as one row."""
    return {"method": name, **{str(budget): tally.row()["recall"] for budget, tally in tallies.items()}}


def run(path: Path, counter_name: str) -> dict[str, list[dict[str, Any]]]:
    """Return both tables."""
    conversations, count = read_locomo(path), counter(counter_name)
    fill = [fill_row(name, measure_ranking(conversations, peer_ranking(name), count)) for name in PEERS]
    ours = measure_ours(conversations, GatekeeperConfig(mode="fill"), BUDGETS, count)
    fill += [fill_row(OURS, ours), fill_row("oracle", measure_ranking(conversations, oracle, count))]
    minimal = []
    for eta in ETAS:
        config = GatekeeperConfig(coverage=replace(CoverageConfig(), eta=eta))
        tally = measure_ours(conversations, config, (4000,), count)[4000]
        minimal.append({"eta": f"{eta:.2f}", **tally.row()})
    return {"fill": fill, "minimal": minimal}


def main() -> None:
    """Measure, print the tables, write JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds selection/locomo_dev.jsonl")
    parser.add_argument("--counter", choices=("estimate", "cl100k"), default="estimate")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    tables = run(options.data / "selection" / "locomo_dev.jsonl", options.counter)
    print_table(f"LoCoMo, fill: evidence recall (%) by budget, {options.counter} tokens", tables["fill"])
    print_table(f"LoCoMo, minimal: recall (%) and mean tokens over eta, {options.counter} tokens", tables["minimal"])
    write_json(options.json, "selection", {"counter": options.counter}, tables)


if __name__ == "__main__":
    main()
