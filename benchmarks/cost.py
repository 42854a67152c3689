"""The bill: what a conversation costs with prompt caches, and whether the needed turns are in its prompts.

Run ``python -m benchmarks.cost --data DIR``, where ``DIR`` holds the everyday conversations, LoCoMo and the tool
outputs; :mod:`benchmarks.cost_talks` makes long conversations of them, and every way of :mod:`benchmarks.cost_ways`
pays for each call what :mod:`benchmarks.cost_account` says. For each way:

* **dollars**: what is read in a whole conversation, and what a way makes necessary besides; the answers are left out.
* **ratio**: of the dollars of all conversations to those of sending everything.
* **worst**: the largest ratio over all beginnings of all conversations from the fourth call on; **over**: the share of
  these beginnings with more than 1.02.
* **needed**: mean share of the needed turns that are in the prompt, whole, cut, or quoted in the question.

``--agents 5000 --seed 0`` holds random agents and edits against the promise instead, at every call; see
:mod:`benchmarks.cost_agents`.
"""

from __future__ import annotations

import argparse
import sys
from itertools import accumulate, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.budget import counter
from benchmarks.cost_account import CACHES, FIXED_TOKENS, PRICE_SETS, Setting, Way, Workbench
from benchmarks.cost_agents import print_agents
from benchmarks.cost_talks import Talk, agent_runs, locomo, sessions
from benchmarks.cost_ways import OURS, WAYS
from benchmarks.data import read_jsonl, read_locomo
from benchmarks.peers import NOT_INSTALLED
from benchmarks.plot import Axes, write_plot
from benchmarks.report import Row, options, print_table, settings_of, write_json
from benchmarks.talks import OWN, read_everyday

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gatekeeper_core import TokenCounter

    Curves = dict[str, list[tuple[float, float]]]

CORPORA = ("session", "locomo", "agent")
STATES = {"warm": "always warm", "cold": "cold at 30 % of the calls", "none": "never used"}
TURNS = (20, 50, 100, 200, 400)
SIZES = (70, 210, 800)
LANGUAGES = ("en", "zh", "mixed")
AGENT_SHAPES = ((4, 12, 3), (15, 12, 3), (1, 100, 4), (40, 6, 2))
"""Requests, rounds of each, kilobytes of a result."""

DOLLARS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
"""Ticks of the plot."""

FIRST_CALL = 4
"""Beginnings of so many calls and more are held against the promise."""
PROMISE = 1.02
HELD_OUT_SEEDS = 1000
HELD_OUT_LOCOMO = 2
"""Conversations at the end of LoCoMo's file that are only for ``--held-out``."""


def talks(
    data: Path,
    *,
    corpora: Sequence[str] = CORPORA,
    turns: Sequence[int] = TURNS,
    sizes: Sequence[int] = SIZES,
    seeds: int = 3,
    languages: Sequence[str] = LANGUAGES,
    held_out: bool = False,
    count: TokenCounter,
) -> list[Talk]:
    """Return the conversations to measure on; held out are those that no constant was chosen on."""
    drawn = range(HELD_OUT_SEEDS, HELD_OUT_SEEDS + seeds) if held_out else range(seeds)
    all_talks = list[Talk]()
    if "session" in corpora:
        everyday = read_everyday(data / "everyday" / "everyday_dev.jsonl")
        for seed, length, size, language in product(drawn, turns, sizes, languages):
            all_talks.append(sessions(everyday, turns=length, tokens=size, language=language, seed=seed, count=count))
        if held_out:
            own, seed = read_everyday(OWN), HELD_OUT_SEEDS - 1
            for length, size in product((each for each in turns if each <= 100), sizes):
                all_talks.append(sessions(own, turns=length, tokens=size, language="mixed", seed=seed, count=count))
    if "locomo" in corpora:
        read = read_locomo(data / "selection" / "locomo_dev.jsonl")
        used = read[-HELD_OUT_LOCOMO:] if held_out else read[:-HELD_OUT_LOCOMO]
        all_talks += [locomo(each, turns=length, seed=drawn[0]) for each in used for length in turns]
    if "agent" in corpora:
        outputs = list(read_jsonl(data / "tool_results" / "tool_outputs.jsonl"))
        all_talks += [
            agent_runs(outputs, requests=requests, rounds=rounds, kilobytes=size, seed=seed)
            for seed in drawn
            for requests, rounds, size in AGENT_SHAPES
        ]
    return all_talks


# --- the measures ---------------------------------------------------------------------------------------------------


def worst_ratio(dollars: Sequence[float], everything: Sequence[float]) -> tuple[float, float]:
    """Return the largest ratio of what is paid up to some call from the fourth on, and how many are over the promise.

    >>> worst_ratio([1, 1, 1, 3, 0], [1, 1, 1, 1, 1])
    (1.5, 1.0)
    """
    ratios = [ours / theirs for ours, theirs in zip(accumulate(dollars), accumulate(everything), strict=True)]
    ratios = ratios[FIRST_CALL - 1 :] or ratios[-1:]
    return max(ratios), sum(ratio > PROMISE for ratio in ratios) / len(ratios)


def _row(benches: Sequence[Workbench], way: Way, setting: Setting) -> Row:
    paid, everything, needed = list[list[float]](), list[list[float]](), list[float]()
    for bench in benches:
        accountant = bench.accountant(way, setting)
        paid.append(accountant.dollars(setting))
        everything.append(bench.accountant(WAYS[0], setting).dollars(setting))
        for call, prompt in zip(bench.talk.calls, accountant.prompts, strict=True):
            if call.needed:
                needed.append(sum(not prompt.turns.isdisjoint(group) for group in call.needed) / len(call.needed))
    worst = list(map(worst_ratio, paid, everything))
    return {
        "dollars": sum(map(sum, paid)) / len(paid),
        "ratio": sum(map(sum, paid)) / sum(map(sum, everything)),
        "worst": max(ratio for ratio, _ in worst),
        "over": 100 * sum(share for _, share in worst) / len(worst),
        "needed": 100 * sum(needed) / len(needed) if needed else None,
    }


def measured(
    conversations: Sequence[Talk],
    ways: Sequence[Way],
    settings: Mapping[tuple[int, str, str], Setting],
    *,
    count: TokenCounter,
) -> list[Row]:
    """Return a row for each way, setting and group of conversations of one corpus, length and size."""
    groups: dict[tuple[str, str, int], list[Talk]] = {}
    for talk in conversations:
        groups.setdefault((talk.corpus, talk.length, talk.size), []).append(talk)
    rows: list[Row] = []
    for (corpus, length, size), group in groups.items():
        benches = [Workbench(talk, count) for talk in group]
        named = {"corpus": corpus, "turns": length, "size": size, "conversations": len(group)}
        for (fixed, state, prices), setting in settings.items():
            at = {**named, "prices": prices, "cache": state, "fixed": fixed}
            there = [way for way in ways if way.corpora is None or corpus in way.corpora]
            rows += [{**at, "way": way.name, **_row(benches, way, setting)} for way in there]
    return rows


# --- the tables -----------------------------------------------------------------------------------------------------


def _cells(rows: Iterable[Row], *keys: str) -> Iterator[tuple[Row, list[Row]]]:
    """Yield the rows that are equal in some keys, with the values of these."""
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        cells.setdefault(tuple(row[key] for key in keys), []).append(row)
    for values, each in cells.items():
        yield dict(zip(keys, values, strict=True)), each


def by_cell(rows: Iterable[Row]) -> list[Row]:
    """Return one row for each way and group at one price set and cache, with a column for each fixed part."""
    table = []
    for cell, each in _cells(rows, "corpus", "turns", "size", "way"):
        needed = [row["needed"] for row in each if row["needed"] is not None]
        table.append(
            {
                **{"tokens" if key == "size" else key: value or "" for key, value in cell.items()},
                **{f"$ {row['fixed']}": f"{row['dollars']:.3f}" for row in each},
                **{f"ratio {row['fixed']}": f"{row['ratio']:.2f}" for row in each},
                "worst": f"{max(row['worst'] for row in each):.3f}",
                "needed": sum(needed) / len(needed) if needed else None,
            }
        )
    return table


def by_way(rows: Iterable[Row]) -> list[Row]:
    """Return how often and how far each way is over the promise, at each price set and cache."""
    return [
        {
            **cell,
            "cells": len(each),
            f"cells over {PROMISE}": sum(row["worst"] > PROMISE for row in each),
            "worst": f"{max(row['worst'] for row in each):.3f}",
            "beginnings over": sum(row["over"] for row in each) / len(each),
            "mean ratio": f"{sum(row['ratio'] for row in each) / len(each):.2f}",
        }
        for cell, each in _cells(rows, "way", "prices", "cache")
    ]


# --- the plot -------------------------------------------------------------------------------------------------------


def dollars_over_turns(benches: Sequence[Workbench], ways: Sequence[Way], setting: Setting) -> Curves:
    """Return by way what the first turns of conversations cost together, in tens of turns: the mean of all."""
    calls = range(10, min(len(bench.talk.calls) for bench in benches) + 1, 10)
    curves: Curves = {}
    for way in ways:
        paid = [list(accumulate(bench.accountant(way, setting).dollars(setting))) for bench in benches]
        curves[way.name] = [(at, sum(each[at - 1] for each in paid) / len(paid)) for at in calls]
    return curves


def _plotted(
    chosen: argparse.Namespace, all_talks: Sequence[Talk], ways: Sequence[Way], *, count: TokenCounter
) -> None:
    """Draw the longest sessions of the middle size at the middle fixed part, the first prices and cache."""
    size, fixed = (each[len(each) // 2] for each in (chosen.sizes, chosen.fixed))
    name, state = chosen.prices[0], chosen.caches[0]
    fitting = [talk for talk in all_talks if talk.corpus == "session" and talk.size == size]
    longest = max(len(talk.calls) for talk in fitting)
    benches = [Workbench(talk, count) for talk in fitting if len(talk.calls) == longest]
    drawn = [way for way in ways if way.corpora is None or "session" in way.corpora]
    curves = dollars_over_turns(benches, drawn, Setting(fixed, state, PRICE_SETS[name]))
    axes = Axes("turns (log scale); dollars of all calls so far (log scale)", (10, *TURNS), DOLLARS, log_up=True)
    title = f"A chat of {size} tokens a turn, {fixed} of tools and system prompt: {name}, cache {STATES[state]}"
    write_plot(chosen.plot, title, curves, axes=axes)


def _parser() -> argparse.ArgumentParser:
    data = "everyday/everyday_dev.jsonl, selection/locomo_dev.jsonl, tool_results/"
    parser = options(__doc__, data=data, required=False, counter="estimate")
    parser.add_argument("--agents", type=int, help="measure so many random agents instead, which need no folder")
    parser.add_argument("--seed", type=int, default=0, help="of the first random agent (0)")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=CORPORA)
    parser.add_argument("--turns", nargs="+", type=int, default=TURNS, help="lengths of the conversations")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="tokens a turn of sessions")
    parser.add_argument("--fixed", nargs="+", type=int, default=FIXED_TOKENS, help="tokens of the fixed part")
    parser.add_argument("--caches", nargs="+", choices=CACHES, default=CACHES)
    parser.add_argument("--prices", nargs="+", choices=tuple(PRICE_SETS), default=tuple(PRICE_SETS))
    parser.add_argument("--seeds", type=int, default=3, help="sessions and runs of each kind (3)")
    parser.add_argument("--held-out", action="store_true", help="measure on what no constant was chosen on")
    parser.add_argument("--plot", type=Path, help="draw dollars over turns here (.svg)")
    return parser


def main() -> int:
    parser = _parser()
    chosen = parser.parse_args()
    if chosen.agents:
        tables = print_agents(chosen.seed, chosen.agents, markdown=chosen.markdown)
        write_json(chosen.json, "cost", {"agents": chosen.agents, "seed": chosen.seed}, tables)
        return int(bool(tables["over"]))
    if chosen.data is None:
        parser.error("--data is needed without --agents")
    count = counter(chosen.counter)
    all_talks = talks(
        chosen.data,
        corpora=chosen.corpora,
        turns=[each for each in chosen.turns if each <= 100 or not chosen.quick],
        sizes=chosen.sizes,
        seeds=1 if chosen.quick else chosen.seeds,
        languages=LANGUAGES[-1:] if chosen.quick else LANGUAGES,
        held_out=chosen.held_out,
        count=count,
    )
    settings = {
        (fixed, state, name): Setting(fixed, state, PRICE_SETS[name])
        for name, state, fixed in product(chosen.prices, chosen.caches, chosen.fixed)
    }
    candidates = (WAYS[0], *OURS) if chosen.ours_only else WAYS
    ways = [way for way in candidates if not way.missing]
    rows = measured(all_talks, ways, settings, count=count)
    for name, state in product(chosen.prices, chosen.caches):
        there = [row for row in rows if (row["prices"], row["cache"]) == (name, state)]
        print_table(f"{name}, cache {STATES[state]}", by_cell(there), markdown=chosen.markdown)
    print_table("Beginnings of all conversations, from the fourth call on", by_way(rows), markdown=chosen.markdown)
    print("".join(f"\n{way.name}: {NOT_INSTALLED}" for way in candidates if way.missing))
    if chosen.plot:
        _plotted(chosen, all_talks, ways, count=count)
    write_json(chosen.json, "cost", settings_of(chosen), {"cost": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
