"""What an embedder costs the selection: CPU time of a turn and of a question, bytes, and the first indexing.

``python -m benchmarks.meaning --cost``. The conversation is generated. Where our own work is measured, the embedder
draws numbers from the digest of a text, which takes next to nothing; what the packaged encoder takes has a table of its
own. Times are CPU time of all threads, medians over calls that take turns with those they are compared with.
"""

from __future__ import annotations

import gc
import hashlib
import random
import statistics
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

from benchmarks.corpus import generate_questions, generate_turns
from benchmarks.report import SEED
from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.selection.meaning import Asked, Meaning, TurnVectors, excerpt
from gatekeeper_core.vectors import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.corpus import GeneratedTurn
    from gatekeeper_core.embedding import Embedder

    Row = dict[str, Any]
    Pairs = list[tuple[str, str]]

__all__ = ["DIMENSIONS", "cost_tables", "drawn_vectors"]

DIMENSIONS = 512
SIZES, QUICK_SIZES = (1_000, 10_000), (100, 400)
QUESTIONS, ADDED = 60, 40
MODEL_TURNS, QUICK_MODEL_TURNS = 500, 60
MODEL_QUESTIONS = 20
_CALIBRATION = (0.0, DIMENSIONS**-0.5)


def drawn_vectors(texts: Sequence[str], /) -> list[list[float]]:
    """Return a random vector for each text, always the same for the same one."""
    seeds = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return [[byte - 127.5 for byte in random.Random(seed).randbytes(DIMENSIONS)] for seed in seeds]


def cost_tables(*, quick: bool = False, full: bool = False, model: Embedder | None = None) -> dict[str, list[Row]]:
    """Return the tables.

    Args:
        quick: short conversations.
        full: the model reads all turns of the longest conversation, in place of its first ones.
        model: the embedder whose time is measured; None: the packaged one.
    """
    if model is None:
        from gatekeeper_meaning import MeaningEmbedder

        model = MeaningEmbedder()
    sizes = QUICK_SIZES if quick else SIZES
    turns = generate_turns(sizes[-1] + ADDED, seed=SEED)
    times, bytes_, products = [], [], []
    for size in sizes:
        pairs = [(turn.user, turn.assistant) for turn in turns[:size]]
        words = ContextGatekeeper()
        words.sync(pairs)
        meant = ContextGatekeeper(embedder=TextEncoder(drawn_vectors, timeout_seconds=600))
        meant.sync(pairs)
        bytes_.append(_size_row(pairs))
        questions = [each.text for each in generate_questions(turns[:size], size, QUESTIONS, seed=SEED)]
        times += _time_rows(size, words, meant, questions, turns[size : size + ADDED])
        products.append(_product_row(size, questions))
    read = sizes[-1] if full else min(sizes[-1], QUICK_MODEL_TURNS if quick else MODEL_TURNS)
    tables = {"cost, time": times, "cost, size": bytes_, "cost, products": products}
    return {**tables, "cost, model": [_model_row(model, turns[:read], sizes[-1])]}


def _cpu_ms(function: Callable[..., object], *arguments: object) -> float:
    begin = time.process_time_ns()
    function(*arguments)
    return (time.process_time_ns() - begin) / 1e6


def _digits(value: float) -> str:
    return f"{value:,.3f}"


def _time_rows(
    size: int,
    words: ContextGatekeeper,
    meant: ContextGatekeeper,
    questions: Sequence[str],
    more: Sequence[GeneratedTurn],
) -> list[Row]:
    """Return what a question and one more turn take, without and with the embedder; the turns are added."""
    both = {"words": words, "with embedder": meant}
    rows: list[Row] = []
    for question in questions[:3]:
        for gatekeeper in both.values():
            gatekeeper.explain(question)
    selections: dict[str, list[float]] = {name: [] for name in both}
    for question in questions:
        for name, gatekeeper in both.items():
            selections[name].append(_cpu_ms(gatekeeper.explain, question))
    adds: dict[str, list[float]] = {name: [] for name in both}
    for turn in more:
        for name, gatekeeper in both.items():
            adds[name].append(_cpu_ms(gatekeeper.add_turn, turn.user, turn.assistant))
    for what, taken in (("selection", selections), ("turn added", adds)):
        medians = {name: statistics.median(each) for name, each in taken.items()}
        more_ms = medians["with embedder"] - medians["words"]
        rows.append({"turns": size, "call": what} | {name: _digits(ms) for name, ms in medians.items()})
        rows[-1]["more"] = _digits(more_ms)
    return rows


def _size_row(pairs: Pairs) -> Row:
    """Return the bytes that vectors take in memory for each turn, without and with the encoder's cache."""
    held = {}
    first = ContextGatekeeper(embedder=drawn_vectors)  # what is made once for all
    first.sync(pairs[:20])
    first.explain(pairs[0][0])
    for name, max_texts in (("bytes a turn", 0), ("with the encoder's cache", 16_384)):
        encoder = TextEncoder(drawn_vectors, timeout_seconds=600, max_texts=max_texts)
        gatekeeper = ContextGatekeeper()
        gatekeeper.sync(pairs)
        gatekeeper.explain(pairs[0][0])
        gatekeeper.set_embedder(encoder)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        gatekeeper.sync(pairs)
        gatekeeper.explain(pairs[0][0])
        gc.collect()
        held[name] = f"{(tracemalloc.get_traced_memory()[0] - before) / len(pairs):,.0f}"
        tracemalloc.stop()
    return {"turns": len(pairs), **held}


def _product_row(size: int, questions: Sequence[str]) -> Row:
    """Return what nearness takes as it is, and what all its dot products would take as one product of matrices."""
    import numpy as np

    vectors = [packed(vector) for vector in drawn_vectors([str(at) for at in range(size)])]
    columns = TurnVectors()
    columns.extend(size)
    for at, vector in enumerate(vectors):
        columns.put(at, vector)
    matrix = np.array([vector.numbers for vector in vectors], dtype="f4")
    taken: dict[str, list[float]] = {"nearness as it is": [], "one product by numpy": []}
    for question in questions:
        (numbers,) = drawn_vectors([question])
        vector = packed(numbers)
        nearness, product = taken.values()
        nearness.append(_cpu_ms(Meaning, Asked("drawn", vector, *_CALIBRATION), columns))
        product.append(_cpu_ms(matrix.dot, np.array(numbers, dtype="f4")))
    return {"turns": size, **{name: _digits(statistics.median(times)) for name, times in taken.items()}}


def _model_row(model: Embedder, turns: Sequence[GeneratedTurn], whole: int) -> Row:
    """Return what the model takes for a question, for a turn, and for all turns of a conversation."""
    encoder = TextEncoder(model, timeout_seconds=600)
    load_ms = _cpu_ms(getattr, encoder, "calibration")
    texts = [excerpt(turn.user, turn.assistant) for turn in turns]
    turn_ms = _cpu_ms(encoder.encode, texts) / len(texts)
    asked = [
        _cpu_ms(encoder.encode_query, question.text)
        for question in generate_questions(turns, len(turns), MODEL_QUESTIONS, seed=SEED)
    ]
    return {
        "first call, s": f"{load_ms / 1e3:.1f}",
        "question, ms": f"{statistics.median(asked):.1f}",
        "turns read": len(texts),
        "characters a turn": f"{statistics.mean(map(len, texts)):.0f}",
        "turn, ms": f"{turn_ms:.1f}",
        f"{whole:,} turns, s": f"{turn_ms * whole / 1e3:.0f}",
    }
