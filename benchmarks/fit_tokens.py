"""Fit the weights of ``TokenEstimator`` and write ``gatekeeper_core/data/token_profiles.tsv``.

Run ``python -m benchmarks.fit_tokens --data DIR``, where ``DIR/tokens/segments_train.jsonl.gz`` holds ordinary texts of
many kinds with their true counts under several tokenizers, and ``DIR/tokens/hard.jsonl.gz`` hard ones: random strings,
one-sided texts, scripts that ordinary texts hardly hold. For each tokenizer:

* The relative error of each text is made small in the absolute sense (least squares, reweighted), each kind of text
  counting the same whatever the number of its texts.
* No weight falls below its floor, so that no text counts as nothing, and each is drawn a little to a prior: 0 for what
  is common, what the scripts of the same number of bytes cost together for a script. A script that the texts do not
  hold gets that.
* The classes of ``HARD``, which ordinary texts hardly hold, are then fitted to ordinary and hard texts together; every
  other weight stays. With ``--one-sided-only`` those of ``ONE_SIDED`` are, and every other weight and all margins stay
  as the module has them.
* Each kind is predicted once by weights that were fitted without it. Prompts put together from three kinds, counted by
  those predictions, give the margin: the smallest by which at most 1 % of the prompts lie over their estimate.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.report import SEED
from gatekeeper_core.token_estimate import CLASSES, WEIGHTS, class_counts

PROFILES = ("cl100k", "o200k", "qwen", "deepseek", "llama3", "tekken")
PULL = 0.003
"""How strongly a weight is drawn to its prior, beside the sum of relative errors; a kind of text has weight 1."""

HARD_PULL = 0.0001
"""The same for the classes of ``HARD``: a letter that tells a language apart must make up for all of its words."""
DEAREST = 4.0
"""The most that a character of ``HARD`` costs: twice the bytes of such a letter."""


class _Class(NamedTuple):
    """A row of ``fit_tokens.tsv``, which says what each column is."""

    name: str
    counted_by: str
    floor: str
    prior: str
    pool: str
    fitted_with: str


_LINES = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
_ROWS = [_Class(*line.split("\t")) for line in _LINES if not line.startswith("#")][1:]
BESIDE = tuple(row.name for row in _ROWS if row.counted_by == "others")
SPLIT_OFF = {row.name: row.counted_by for row in _ROWS if row.counted_by not in ("", "others")}
HARD = tuple(row.name for row in _ROWS if row.fitted_with)
ONE_SIDED = tuple(row.name for row in _ROWS if row.fitted_with == "one-sided")
FLOORS = {row.name: float(row.floor) for row in _ROWS if row.floor}
PRIORS = {row.name: float(row.prior) for row in _ROWS if row.prior}
POOLS = [[row.name for row in _ROWS if row.pool == pool] for pool in ("two bytes", "three bytes")]

HEADER = """\
# What each class of characters costs, in tokens, by family of tokenizers; and the margin of each family.
# Written by python -m benchmarks.fit_tokens, not by hand. Source: fitted to {segments:,} texts of {kinds} kinds
# (languages, code, markup, data, logs) with the true counts of each tokenizer; no text is kept. Mean
# absolute error of a text, in percent, the kinds counting the same:
{table}
# "left out" means by weights that were fitted without the kind. The margin is the smallest by which at most 1 % of
# prompts of 4,000 to 48,000 tokens of three kinds, each counted without its kind, lie over their estimate.
# Random strings (hump by digit) and the scripts that ordinary texts hardly hold were fitted after that, to {hard:,}
# texts of {hard_kinds} hard kinds as well. So were the classes of one-sided texts (fit_tokens.ONE_SIDED).
# Columns: the class of token_estimate.CLASSES, or margin: by how much a prompt may be over its estimate; a family each.
"""


class Segments(NamedTuple):
    """Texts with their kinds, sources ("" if not told), class counts (texts x classes), true counts by tokenizer."""

    kinds: tuple[str, ...]
    sources: tuple[str, ...]
    texts: tuple[str, ...]
    counts: Any
    tokens: dict[str, Any]

    def of(self, chosen: Any) -> Segments:
        """Return those at which ``chosen`` is true."""
        at = [int(position) for position in np.flatnonzero(chosen)]
        tokens = {name: column[at] for name, column in self.tokens.items()}
        kinds, sources, texts = (tuple(column[i] for i in at) for column in self[:3])
        return Segments(kinds, sources, texts, self.counts[at], tokens)


def read_segments(path: Path) -> Segments:
    """Return the texts of a gzipped JSONL file: ``domain``, ``source`` (optional), ``text``, ``tokens`` by tokenizer.

    Empty texts are left out.
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["text"]]
    counts = np.zeros((len(rows), len(CLASSES)))
    for at, row in enumerate(rows):
        solution = class_counts(row["text"])
        counts[at, : len(solution)] = solution
    tokens = {name: np.array([row["tokens"][name] for row in rows], dtype=float) for name in PROFILES}
    kinds, texts = (tuple(row[name] for row in rows) for name in ("domain", "text"))
    return Segments(kinds, tuple(row.get("source", "") for row in rows), texts, counts, tokens)


def fit(segments: Segments, hard: Segments, profile: str) -> Any:
    """Return the weights of one tokenizer, in the order of ``CLASSES``."""
    return _fit_hard(_fit_ordinary(segments, profile), HARD, segments, hard, profile)


def _fit_hard(weights: Any, names: Sequence[str], segments: Segments, hard: Segments, profile: str) -> Any:
    """Return weights of which those of some classes are fitted to ordinary and hard texts together."""
    weights, columns = weights.copy(), [CLASSES.index(name) for name in names]
    counts = np.vstack([segments.counts, hard.counts])
    relative = counts / np.concatenate([segments.tokens[profile], hard.tokens[profile]])[:, None]
    priors, floors = weights[columns], np.array([FLOORS.get(name, 0.0) for name in names])
    weights[columns] = 0
    kinds = _weights_of_kinds(segments.kinds + hard.kinds)
    solution = _solve(relative[:, columns], 1 - relative @ weights, kinds, floors, priors, HARD_PULL)
    weights[columns] = np.minimum(solution, DEAREST)
    return weights


def _fit_ordinary(segments: Segments, profile: str) -> Any:
    """Return the weights that ordinary texts give; a class of ``SPLIT_OFF`` has that of its origin."""
    counts = segments.counts.copy()
    for name, origin in SPLIT_OFF.items():
        counts[:, CLASSES.index(origin)] += counts[:, CLASSES.index(name)]
        counts[:, CLASSES.index(name)] = 0
    counts[:, [CLASSES.index(name) for name in BESIDE]] = 0
    pools = [[CLASSES.index(name) for name in pool] for pool in POOLS]
    pooled = {at for pool in pools for at in pool}
    columns = [[at] for at in range(len(CLASSES)) if at not in pooled] + pools
    tied = np.zeros((len(CLASSES), len(columns)))
    for column, members in enumerate(columns):
        tied[members, column] = 1
    priors = np.array([PRIORS.get(name, 0.0) for name in CLASSES])
    floors = np.array([FLOORS.get(name, 0.0) for name in CLASSES])
    relative, ones = counts / segments.tokens[profile][:, None], np.ones(len(counts))
    kinds = _weights_of_kinds(segments.kinds)
    first = [members[0] for members in columns]
    together = tied @ _solve(relative @ tied, ones, kinds, floors[first], priors[first])
    for at in pooled:
        priors[at] = together[at]
    weights = _solve(relative, ones, kinds, floors, priors)
    for name, origin in SPLIT_OFF.items():
        weights[CLASSES.index(name)] = weights[CLASSES.index(origin)]
    return weights


def _weights_of_kinds(kinds: tuple[str, ...]) -> Any:
    """Return what each text counts; a kind with a handful of texts counts less than the others."""
    numbers = {kind: kinds.count(kind) for kind in set(kinds)}
    return np.array([1 / max(8, numbers[kind]) for kind in kinds])


def _solve(relative: Any, target: Any, weights: Any, floors: Any, priors: Any, pull: float = PULL) -> Any:
    """Return the v >= floors that make the weighted sum of the absolute ``relative @ v - target`` small."""
    reweighted = weights
    for _ in range(6):
        scaled = relative * reweighted[:, None]
        gram = scaled.T @ relative + pull * np.eye(len(priors))
        solution = _bounded(gram, scaled.T @ target + pull * priors, floors)
        errors = np.abs(relative @ solution - target)
        reweighted = weights / np.maximum(0.04, errors)
        reweighted *= weights.sum() / reweighted.sum()
    return solution


def _bounded(gram: Any, target: Any, floors: Any) -> Any:
    """Return the v >= floors with the smallest ``v' gram v / 2 - target' v``, for a positive definite ``gram``.

    Source: Lawson and Hanson, Solving Least Squares Problems, chapter 23, on the normal equations.
    """
    target = target - gram @ floors
    above = np.zeros(len(floors))
    free: Any = np.zeros(len(floors), dtype=bool)
    while True:
        slope = np.where(free, -np.inf, target - gram @ above)
        if slope.max() <= 1e-9:
            return above + floors
        free[int(slope.argmax())] = True
        while True:
            trial = np.zeros(len(floors))
            trial[free] = np.linalg.solve(gram[np.ix_(free, free)], target[free])
            below = free & (trial <= 0)
            if not below.any():
                break
            step = (above[below] / (above[below] - trial[below])).min()
            above = above + step * (trial - above)
            free &= above > 1e-12
            above[~free] = 0
        above = trial


def left_out(segments: Segments, hard: Segments, profile: str) -> Any:
    """Return the estimate of each ordinary text by weights that were fitted without its kind."""
    kinds, hard_kinds = np.array(segments.kinds), np.array(hard.kinds)
    return _unseen(segments, kinds, lambda kind: fit(segments.of(kinds != kind), hard.of(hard_kinds != kind), profile))


def other_sources(segments: Segments, hard: Segments, profile: str) -> Any:
    """Return the estimate of each hard text by weights that were fitted without its source."""
    sources = np.array(hard.sources)
    return _unseen(hard, sources, lambda source: fit(segments, hard.of(sources != source), profile))


def _unseen(texts: Segments, labels: Any, fit_without: Callable[[str], Any]) -> Any:
    estimates = np.zeros(len(labels))
    for label in sorted(set(labels.tolist())):
        estimates[labels == label] = texts.counts[labels == label] @ fit_without(label)
    return np.maximum(1, np.floor(estimates + 0.5))


def prompts(segments: Segments, profile: str, *, count: int = 2_000, seed: int = SEED) -> list[list[int]]:
    """Return prompts as positions of texts: three random kinds each, 4,000 to 48,000 true tokens, even in the log."""
    draw = random.Random(seed)
    by_kind: dict[str, list[int]] = {}
    for at, kind in enumerate(segments.kinds):
        by_kind.setdefault(kind, []).append(at)
    drawn = []
    for _ in range(count):
        chosen = draw.sample(sorted(by_kind), 3)
        size, prompt = math.exp(draw.uniform(math.log(4_000), math.log(48_000))), list[int]()
        total = 0.0
        while total < size:
            prompt.append(draw.choice(by_kind[draw.choice(chosen)]))
            total += segments.tokens[profile][prompt[-1]]
        drawn.append(prompt)
    return drawn


def mean_error(kinds: tuple[str, ...], errors: Any) -> float:
    """Return the mean absolute error in percent, each kind counting the same."""
    by_kind: dict[str, list[float]] = {}
    for kind, error in zip(kinds, errors, strict=True):
        by_kind.setdefault(kind, []).append(abs(error))
    return float(100 * np.mean([np.mean(values) for values in by_kind.values()]))


def margin_of(segments: Segments, profile: str, estimates: Any) -> float:
    """Return the smallest margin, in whole percent, by which at most 1 % of prompts are over their estimate."""
    tokens = segments.tokens[profile]
    over = sorted(tokens[prompt].sum() / estimates[prompt].sum() - 1 for prompt in prompts(segments, profile))
    return float(max(0.0, math.ceil(100 * over[math.ceil(0.99 * len(over)) - 1]) / 100))


def one_sided_weights(segments: Segments, hard: Segments) -> dict[str, tuple[float, ...]]:
    """Return the table of the library with the classes of ``ONE_SIDED`` fitted again."""
    fitted = [
        _fit_hard(np.array([WEIGHTS[name][at] for name in CLASSES]), ONE_SIDED, segments, hard, profile)
        for at, profile in enumerate(PROFILES)
    ]
    return {name: tuple(round(float(column[at]), 3) for column in fitted) for at, name in enumerate(CLASSES)}


def table(segments: Segments, hard: Segments) -> str:
    """Return the data file with the weights."""
    weights, margins, lines = {}, {}, ["# ======== ====== ======== ======", "# family   fitted left out margin"]
    lines.append(lines[0])
    for profile in PROFILES:
        weights[profile] = np.round(fit(segments, hard, profile), 3)
        outside = left_out(segments, hard, profile)
        margins[profile] = margin_of(segments, profile, outside)
        tokens = segments.tokens[profile]
        inside = mean_error(segments.kinds, segments.counts @ weights[profile] / tokens - 1)
        unseen = mean_error(segments.kinds, outside / tokens - 1)
        lines.append(f"# {profile:8} {inside:6.1f} {unseen:8.1f} {margins[profile]:6.2f}")
    lines.append(lines[0])
    numbers = {"segments": len(segments.kinds), "kinds": len(set(segments.kinds))}
    numbers |= {"hard": len(hard.kinds), "hard_kinds": len(set(hard.kinds))}
    head = HEADER.format(**numbers, table="\n".join(lines))
    columns = {name: tuple(float(weights[profile][at]) for profile in PROFILES) for at, name in enumerate(CLASSES)}
    first = ["\t".join(["family", *PROFILES]), "\t".join(["margin", *(str(margins[profile]) for profile in PROFILES)])]
    return head + "\n".join([*first, rows(columns), ""])


def rows(weights: Mapping[str, tuple[float, ...]]) -> str:
    """Return the lines of a table of weights."""
    return "\n".join("\t".join([name, *map(str, weights[name])]) for name in CLASSES)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds tokens/*.jsonl.gz")
    parser.add_argument("--out", type=Path, default=Path("gatekeeper_core/data/token_profiles.tsv"))
    parser.add_argument("--one-sided-only", action="store_true", help="fit the classes of ONE_SIDED alone")
    options = parser.parse_args()
    segments = read_segments(options.data / "tokens" / "segments_train.jsonl.gz")
    hard = read_segments(options.data / "tokens" / "hard.jsonl.gz")
    if options.one_sided_only:
        before, solution, after = options.out.read_text(encoding="utf-8").partition(rows(WEIGHTS))
        if not solution:
            parser.error(f"{options.out} has another table than the library")
        source = before + rows(one_sided_weights(segments, hard)) + after
    else:
        source = table(segments, hard)
    options.out.write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main()
