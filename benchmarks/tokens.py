"""Error of token estimates, by tokenizer: of single texts, of assembled prompts, and how often these are over a budget.

Run ``python -m benchmarks.tokens --data DIR``; ``DIR/tokens/segments_train.jsonl.gz`` holds texts of many kinds with
their true counts, and ``DIR/tokens/hard.jsonl.gz``, if there is one, hard texts. Our
estimate counts each kind by weights that were fitted without it ("kinds left out"), each hard text by weights that were
fitted without its source ("other sources"), and once by the weights of the library. Every figure is in percent of the
true count, each kind counting the same.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.fit_tokens import PROFILES, Segments, left_out, other_sources, prompts, read_segments
from benchmarks.peers import NOT_INSTALLED
from benchmarks.report import Row, options, report
from gatekeeper_core import TokenEstimator
from gatekeeper_core.tokens import estimate_text_tokens

_WIDE = re.compile("[\u4e00-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_QUICK_TEXTS = 8
_HEADROOM = """
import json, sys
from headroom.tokenizers import EstimatingTokenCounter
counter = EstimatingTokenCounter()
for line in sys.stdin:
    print(int(counter.count_text(json.loads(line))))
"""


def blend(text: str) -> int:
    """Return the specification's first rule: 1.8 characters a token in Chinese, 4 in English, rounded up."""
    share = len(_WIDE.findall(text)) / max(1, len(text))
    return math.ceil(len(text) / (share * 1.8 + (1 - share) * 4))


Estimates = Callable[[Sequence[str]], list[int]]


def peers(headroom_python: str | None) -> dict[str, Estimates | None]:
    """Return the other estimates by name; None where the package is not installed."""
    return {
        "estimate_text_tokens": _each(estimate_text_tokens),
        "1.8 / 4 characters": _each(blend),
        "3.5 characters": _each(lambda text: math.ceil(len(text) / 3.5)),
        "len // 4": _each(lambda text: len(text) // 4),
        "LangChain approximate": _langchain(),
        "headroom-ai": partial(_headroom, headroom_python) if headroom_python else None,
    }


def _each(count: Callable[[str], int]) -> Estimates:
    return lambda texts: [count(text) for text in texts]


def _langchain() -> Estimates | None:
    try:
        from langchain_core.messages import HumanMessage
        from langchain_core.messages.utils import count_tokens_approximately
    except ImportError:
        return None
    return _each(lambda text: int(count_tokens_approximately([HumanMessage(text)])))


def _headroom(python: str, texts: Sequence[str]) -> list[int]:
    """Return headroom-ai's estimates, made in the interpreter of its own environment."""
    payload = "".join(f"{json.dumps(text)}\n" for text in texts)
    done = subprocess.run([python, "-c", _HEADROOM], input=payload, capture_output=True, encoding="utf-8", check=True)
    return [int(line) for line in done.stdout.splitlines() if line.isdigit()]


def estimates(segments: Segments, hard: Segments, profile: str, others: dict[str, Any]) -> dict[str, Any]:
    """Return by method the estimate of each text, or None where the method is not installed."""
    ours = TokenEstimator(profile)
    return {
        "TokenEstimator, kinds left out": left_out(segments, hard, profile),
        "TokenEstimator": np.array([ours(text) for text in segments.texts]),
        **others,
    }


def hard_rows(segments: Segments, hard: Segments, *, count: int) -> list[Row]:
    rows = []
    for profile in PROFILES:
        ours, drawn = TokenEstimator(profile), prompts(hard, profile, count=count)
        of_library = np.array([ours(text) for text in hard.texts])
        by_method = {"other sources": other_sources(segments, hard, profile), "of the library": of_library}
        for method, estimate in by_method.items():
            rows.append(prompt_row(hard, profile, f"TokenEstimator, {method}", estimate, drawn))
    return rows


def text_row(segments: Segments, profile: str, method: str, estimate: Any) -> Row:
    """Return the errors of single texts, averaged by kind."""
    row: Row = {"tokenizer": profile, "method": method}
    if estimate is None:
        return {**row, "mean absolute": NOT_INSTALLED}
    errors = 100 * (estimate / segments.tokens[profile] - 1)
    kinds = np.array(segments.kinds)
    by_kind = [errors[kinds == kind] for kind in sorted(set(segments.kinds))]
    means = [(np.abs(each).mean(), each.mean()) for each in by_kind]
    absolute, bias = np.mean(means, axis=0)
    low, high = np.percentile(errors, (5, 95))
    figures = {"mean absolute": absolute, "bias": bias, "5th": low, "95th": high, "worst under": errors.min()}
    return {**row, **{name: float(value) for name, value in figures.items()}}


def prompt_row(segments: Segments, profile: str, method: str, estimate: Any, drawn: list[list[int]]) -> Row:
    """Return the errors of assembled prompts, and the share that is over a budget that the estimate fills."""
    row: Row = {"tokenizer": profile, "method": method}
    if estimate is None:
        return {**row, "mean absolute": NOT_INSTALLED}
    true = np.array([segments.tokens[profile][prompt].sum() for prompt in drawn])
    over = true / np.maximum(1, np.array([estimate[prompt].sum() for prompt in drawn])) - 1
    margin = TokenEstimator(profile).margin if method.startswith("TokenEstimator") else 0.0
    return {
        **row,
        "mean absolute": float(100 * np.mean(np.abs(1 / (1 + over) - 1))),
        "over": float(100 * np.mean(over > 0)),
        "over by 10 %": float(100 * np.mean(over > 0.1)),
        "over with margin": float(100 * np.mean(over > margin)) if margin else None,
    }


def sample(segments: Segments) -> Segments:
    counts: dict[str, int] = {}
    chosen = []
    for kind in segments.kinds:
        counts[kind] = counts.get(kind, 0) + 1
        chosen.append(counts[kind] <= _QUICK_TEXTS)
    return segments.of(np.array(chosen))


def main() -> None:
    parser = options(__doc__, data="tokens/segments_train.jsonl.gz")
    parser.add_argument("--headroom", metavar="PYTHON", help="interpreter of an environment that has headroom-ai")
    arguments = parser.parse_args()
    segments = read_segments(arguments.data / "tokens" / "segments_train.jsonl.gz")
    path = arguments.data / "tokens" / "hard.jsonl.gz"
    hard = read_segments(path) if path.exists() else segments.of(np.zeros(len(segments.kinds)))
    segments, hard = (sample(segments), sample(hard)) if arguments.quick else (segments, hard)
    payload = {} if arguments.ours_only else peers(arguments.headroom)
    others = {name: counted and np.array(counted(segments.texts)) for name, counted in payload.items()}
    texts, assembled, count = [], [], 200 if arguments.quick else 2_000
    for profile in PROFILES:
        drawn = prompts(segments, profile, count=count)
        for method, estimate in estimates(segments, hard, profile, others).items():
            texts.append(text_row(segments, profile, method, estimate))
            assembled.append(prompt_row(segments, profile, method, estimate, drawn))
    tables = {
        "Error of single texts, % of the true tokens": texts,
        "Prompts of 4,000 to 48,000 tokens from three kinds, %": assembled,
        "Prompts of 4,000 to 48,000 tokens from three hard kinds, %": hard_rows(segments, hard, count=count)
        if hard.kinds
        else [],
    }
    report(arguments, "tokens", tables)


if __name__ == "__main__":
    main()
