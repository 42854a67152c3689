"""How long one selection takes, beside named peers in the same run, interleaved.

Run ``python -m benchmarks.speed [--turns 1000] [--rounds 30]``. A seeded bilingual conversation is generated; each
round asks every method the same question once, in turn, so that a noisy machine is noisy for all. Medians are reported
and their ratio to our select; a peer without an incremental index is also timed with the rebuild that a turn costs it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.corpus import GeneratedTurn, generate_questions, generate_turns
from benchmarks.data import Block
from benchmarks.peers import Bm25sStemmed, RankBm25
from benchmarks.report import print_table, write_json
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 20_261_121


def methods(turns: list[GeneratedTurn]) -> dict[str, Callable[[str], object]]:
    """Return what is timed, by name; each takes a question."""
    blocks = [Block((str(at),), turn.user, turn.assistant) for at, turn in enumerate(turns)]
    minimal, fill = (_gatekeeper(turns, mode) for mode in ("minimal", "fill"))
    okapi, stemmed = RankBm25(blocks), Bm25sStemmed(blocks)
    return {
        "gatekeeper select": minimal.select,
        "gatekeeper select, fill": fill.select,
        "gatekeeper explain + decisions": lambda question: minimal.explain(question).to_dict(),
        "rank_bm25 query": okapi.rank,
        "rank_bm25 rebuild + query": lambda question: RankBm25(blocks).rank(question),
        "bm25s query": stemmed.rank,
        "bm25s rebuild + query": lambda question: Bm25sStemmed(blocks).rank(question),
    }


def _gatekeeper(turns: list[GeneratedTurn], mode: Any) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper(config=GatekeeperConfig(mode=mode))
    gatekeeper.sync([(turn.user, turn.assistant) for turn in turns])
    return gatekeeper


def measure(turns: list[GeneratedTurn], rounds: int) -> list[dict[str, Any]]:
    """Return one row for each method: median and 90th percentile in milliseconds, ratio of medians to our select."""
    timed = methods(turns)
    samples: dict[str, list[float]] = {name: [] for name in timed}
    for question in generate_questions(turns, rounds, seed=SEED):
        for name, ask in timed.items():
            begin = time.perf_counter()
            ask(question)
            samples[name].append(1e3 * (time.perf_counter() - begin))
    ours = statistics.median(samples["gatekeeper select"])
    return [
        {
            "method": name,
            "median ms": f"{statistics.median(times):.2f}",
            "p90 ms": f"{sorted(times)[int(0.9 * (len(times) - 1))]:.2f}",
            "ratio": f"{statistics.median(times) / ours:.1f}",
        }
        for name, times in samples.items()
    ]


def measure_add(turns: list[GeneratedTurn]) -> list[dict[str, Any]]:
    """Return the median cost of adding one turn, at the end of the conversation."""
    gatekeeper, times = ContextGatekeeper(), []
    for turn in turns:
        begin = time.perf_counter()
        gatekeeper.add_turn(turn.user, turn.assistant)
        times.append(1e3 * (time.perf_counter() - begin))
    last = times[-max(1, len(times) // 5) :]
    return [
        {
            "method": "gatekeeper add_turn",
            "median ms": f"{statistics.median(last):.2f}",
            "p90 ms": f"{sorted(last)[int(0.9 * (len(last) - 1))]:.2f}",
        }
    ]


def main() -> None:
    """Measure, print the tables, write JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    turns = generate_turns(options.turns, seed=SEED)
    tables = {"select": measure(turns, options.rounds), "add": measure_add(turns)}
    print_table(f"One selection over {options.turns} turns, {options.rounds} interleaved rounds", tables["select"])
    print_table("Adding one turn, the last fifth of the conversation", tables["add"])
    write_json(options.json, "speed", {"turns": options.turns, "rounds": options.rounds, "seed": SEED}, tables)


if __name__ == "__main__":
    main()
