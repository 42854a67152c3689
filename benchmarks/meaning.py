"""Meaning beside words: what an embedder adds to the selection, beside the model alone and its fusion with bm25s.

Run ``python -m benchmarks.meaning --data DIR``, with the extra ``meaning`` installed. ``DIR`` holds the data of
``benchmarks.everyday``, ``benchmarks.selection`` and ``benchmarks.memory``, whose measures these are; every table has
our selection by words alone and with the packaged encoder as its embedder, from the same run.

* **everyday**: by kind of question, in the default mode; and filling ``--budget`` tokens beside the peers. ``--own``
  asks the questions beside this module instead, which need no folder.
* **LoCoMo**: evidence recall at five budgets, and of the default mode over ``eta``, also at equal tokens.
* **memory**: recall of Chinese memories, by ``LongTermMemory`` and by the scores of the selection.
* ``--ablate``: the same in short, with one part off at a time; its gain is what is lost without it.
* ``--cost``: what it costs; see ``benchmarks.meaning_cost``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks import everyday, long_term_memory, memory, selection
from benchmarks.ablation import ablations
from benchmarks.budget import counter
from benchmarks.data import read_locomo, read_memories, sampled
from benchmarks.embedding import MULTILINGUAL, kept_vectors
from benchmarks.everyday import CHANGES, GROUPS, HANGING, OWN, ask, by_group, read_everyday
from benchmarks.meaning_cost import cost_tables
from benchmarks.peers import FUSED, MODEL_ALONE, NOT_INSTALLED, missing
from benchmarks.report import options, print_table, write_json
from benchmarks.selection import BUDGETS, by_budget, comparison_rows, measure_ours, measure_ranking, minimal_rows
from gatekeeper_core import GatekeeperConfig
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.selection.meaning import Meaning
from gatekeeper_core.selection.planner import Planner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.data import Block, Conversation, MemoryQuery
    from benchmarks.everyday import Method, Talk
    from gatekeeper_core.embedding import Embedder
    from gatekeeper_core.selection.retrieval import Score

    Counter = Callable[[str], int]
    Row = dict[str, Any]
    Tables = dict[str, list[Row]]
    Memories = Mapping[str, Sequence[Block]]

WORDS = "context-gatekeeper"
WITH_MODEL = f"{WORDS} + {MULTILINGUAL.name}"
PEERS_BESIDE = (MODEL_ALONE, FUSED)
QUICK_TALKS, QUICK_DIALOGUES = 10, 20
_LARGEST = BUDGETS[-1]
_FILL = GatekeeperConfig(mode="fill")

KINDS: dict[str, tuple[str, ...]] = {
    "follow-ups": HANGING,
    "going back": ("return_worded", "return_plain", "detail_same_topic"),
    "word form": ("word_form",),
    "paraphrase": ("paraphrase",),
    "other language": ("cross_lingual",),
    "list": ("list",),
    "several turns": ("multi",),
    "about the conversation": GROUPS["about the conversation"],
    "new topic": CHANGES,
    "off-topic": ("off_topic",),
    "small talk": ("smalltalk",),
}


def within_limits(embedder: Embedder) -> TextEncoder:
    """Return an embedder with all the time that it needs: a batch that came late would change figures."""
    return TextEncoder(embedder, timeout_seconds=600)


# --- the tables -----------------------------------------------------------------------------------------------------


def everyday_tables(
    talks: Sequence[Talk], count: Counter, budget: int, encoder: TextEncoder, *, peers: bool = True
) -> Tables:
    """Return what the default mode finds and sends by kind of question, and what is found by filling a budget."""
    config = GatekeeperConfig()
    made: dict[str, Callable[[], Method]] = {
        WORDS: lambda: everyday.Gatekeeper(count, _FILL, budget=budget),
        WITH_MODEL: lambda: everyday.Gatekeeper(count, _FILL, budget=budget, embedder=encoder),
    }
    for name in PEERS_BESIDE if peers else ():
        if not missing(name):
            made[name] = lambda name=name: everyday.Ranked(name, count, budget)  # type: ignore[misc]
    words = by_group(ask(talks, lambda: everyday.Gatekeeper(count, config)), KINDS)
    meant = by_group(ask(talks, lambda: everyday.Gatekeeper(count, config, embedder=encoder)), KINDS)
    minimal, fill = [], []
    for group, tally in words.items():
        both = {"words": tally.row(), "with model": meant[group].row()}
        row: Row = {"group": group, "questions": len(tally.outcomes)}
        for measure in ("needed", "tokens", "useless"):
            row |= {f"{measure}, {name}": figures[measure] for name, figures in both.items()}
        minimal.append(row)
    for name, make in made.items():
        groups = {group: tally.row() for group, tally in by_group(ask(talks, make), KINDS).items()}
        needed = {group: row["needed"] for group, row in groups.items() if row["needed"] is not None}
        fill.append({"method": name, **needed, "tokens": groups["all questions"]["tokens, all"]})
    fill += [{"method": name, "all questions": NOT_INSTALLED} for name in PEERS_BESIDE if peers and missing(name)]
    return {"everyday, minimal": minimal, "everyday, fill": fill}


def locomo_tables(
    conversations: Sequence[Conversation], count: Counter, encoder: TextEncoder, *, peers: bool = True
) -> Tables:
    """Return recall at five budgets with its mean, over ``eta``, and the difference at equal tokens."""
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
    words, meant = minimal_rows(conversations, count), minimal_rows(conversations, count, encoder)
    minimal = [
        {
            "eta": row["eta"],
            "recall, words": row["recall"],
            "recall, with model": other["recall"],
            "tokens, words": row["tokens"],
            "tokens, with model": other["tokens"],
        }
        for row, other in zip(words, meant, strict=True)
    ]
    comparison = comparison_rows(meant, words, name="with model - words")
    return {"LoCoMo, fill": fill, "LoCoMo, minimal": minimal, "LoCoMo, comparison": comparison}


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


# --- one part off at a time -----------------------------------------------------------------------------------------


class _NoCandidates(Meaning):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.nearest = ()


class _NothingUnlike(Meaning):
    def is_unlike(self, turn_id: int) -> bool:  # noqa: ARG002 - whatever the turn
        return False


class _NoEvidence(Planner):
    def _told_by(self, scores: Sequence[Score]) -> dict[int, float]:
        meaning, self.meaning = self.meaning, None
        told = super()._told_by(scores)
        self.meaning = meaning
        return told


MEANING_PARTS: dict[str, dict[str, dict[str, Any]]] = {
    "no candidates by meaning": {"constants": {"gatekeeper.Meaning": _NoCandidates, "meaning.Meaning": _NoCandidates}},
    "no bonus on the score": {"constants": {"retrieval._MEANING_WEIGHT": 0.0}},
    "no evidence by meaning": {"constants": {"gatekeeper.Planner": _NoEvidence}},
    "what is unlike stays": {"constants": {"gatekeeper.Meaning": _NothingUnlike}},
}
"""By name the values that switch the part off, as for ``benchmarks.ablation``."""


def ablation_tables(
    talks: Sequence[Talk],
    conversations: Sequence[Conversation],
    memories: Memories,
    queries: Sequence[MemoryQuery],
    count: Counter,
    encoder: TextEncoder,
) -> Tables:
    """Return the measures with each part off, and what each part gains."""

    def measured(config: GatekeeperConfig, encoder: TextEncoder | None) -> Row:
        groups = by_group(ask(talks, lambda: everyday.Gatekeeper(count, config, embedder=encoder)), KINDS)
        rows = {group: tally.row() for group, tally in groups.items()}
        fill = measure_ours(conversations, _FILL, BUDGETS, count, encoder)
        stop = measure_ours(conversations, config, (_LARGEST,), count, encoder)[_LARGEST].row()
        ranks = memory.ours(memories, config, encoder)
        return {
            "needed": rows["all questions"]["needed"],
            "tokens": rows["all questions"]["tokens"],
            **{group: rows[group]["needed"] for group in ("paraphrase", "other language") if group in rows},
            **{f"{group}, tokens": rows[group]["tokens"] for group in ("new topic", "off-topic") if group in rows},
            "LoCoMo fill, mean": sum(tally.row()["recall"] for tally in fill.values()) / len(BUDGETS),
            "LoCoMo minimal": stop["recall"],
            "LoCoMo tokens": stop["tokens"],
            **{f"R@10, {each}": memory.measure(memories, queries, ranks, each)["R@10"] for each in memory.VARIANTS},
        }

    figures = {name: measured(config, encoder) for name, config in ablations(GatekeeperConfig(), MEANING_PARTS)}
    figures["words alone"] = measured(GatekeeperConfig(), None)
    whole, *others = figures
    gains = [
        {"part": name, **{key: figures[whole][key] - value for key, value in figures[name].items()}} for name in others
    ]
    return {"ablation": [{"part": name, **row} for name, row in figures.items()], "ablation, gain": gains}


TITLES = {
    "everyday, minimal": "Everyday conversations, default mode: needed turns in per cent, tokens",
    "everyday, fill": "Everyday conversations, a budget filled: needed turns in per cent",
    "LoCoMo, fill": "LoCoMo: evidence recall in per cent, fill mode, by token budget",
    "LoCoMo, minimal": "LoCoMo: minimal mode over eta, at a budget of 4000 tokens",
    "LoCoMo, comparison": "LoCoMo: minimal mode with the model against words alone, at equal mean tokens",
    "memory": "Chinese memories: recall of gold memories in per cent",
    "ablation": "One part off at a time",
    "ablation, gain": "What each part gains: everything on - without it",
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
    parser.add_argument("--ablate", action="store_true", help="measure with each part off instead")
    parser.add_argument("--cost", action="store_true", help="measure time and size instead, which needs no folder")
    parser.add_argument("--full", action="store_true", help="with --cost, let the model read the whole conversation")
    parser.add_argument("--counter", choices=("estimate", "cl100k"), default="estimate")
    parser.add_argument("--budget", type=int, default=300, help="tokens that the fill mode and peers fill (300)")
    chosen = parser.parse_args()
    if chosen.data is None and not chosen.own and not chosen.cost:
        parser.error("--data is needed without --own or --cost")
    if MULTILINGUAL.is_missing:
        parser.exit(1, 'the packaged encoder is not installed: pip install ".[meaning]"\n')
    count, encoder, peers = counter(chosen.counter), within_limits(MULTILINGUAL), not chosen.ours_only
    if chosen.cost:
        tables = cost_tables(quick=chosen.quick, full=chosen.full)
    else:
        talks = read_everyday(OWN if chosen.own else chosen.data / "everyday" / "everyday_dev.jsonl")
        talks = sampled(talks, QUICK_TALKS if chosen.quick else None)
        with kept_vectors(chosen.vectors):
            if chosen.own:
                tables = everyday_tables(talks, count, chosen.budget, encoder, peers=peers)
            else:
                conversations = _read_conversations(chosen.data, quick=chosen.quick)
                memories, queries = read_memories(chosen.data / "memory")
                queries = sampled(queries, QUICK_DIALOGUES if chosen.quick else None)
                if chosen.ablate:
                    tables = ablation_tables(talks, conversations, memories, queries, count, encoder)
                else:
                    tables = everyday_tables(talks, count, chosen.budget, encoder, peers=peers)
                    tables |= locomo_tables(conversations, count, encoder, peers=peers)
                    tables |= memory_tables(memories, queries, MULTILINGUAL, peers=peers)
    for name, rows in tables.items():
        print_table(TITLES[name], rows, markdown=chosen.markdown)
    print(f"\nmodel: {MULTILINGUAL.name}, tokens by {chosen.counter}")
    settings = {"counter": chosen.counter, "budget": chosen.budget, "quick": chosen.quick, "own": chosen.own}
    write_json(chosen.json, "meaning", settings, tables)


if __name__ == "__main__":
    main()
