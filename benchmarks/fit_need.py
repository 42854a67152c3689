"""The weights of the need, fitted on conversations with labelled needs and written to ``gatekeeper_core/data``.

Run ``python -m benchmarks.fit_need --data DIR --write`` with scikit-learn installed. ``DIR/everyday`` holds the
conversations of two groups of authors. Each table is an L2 logistic regression over standardised signs (C = 0.3):

* ``question``: all questions; does it need anything?
* ``newest``, ``older``: the turns before each question that needs something; does it need this one? Turns that only
  help do not count.

The signs of meaning are fitted on top: each question once by words alone and once with the packaged encoder. Without
``--write`` the weights and their log losses on the other group are printed.

``--ablate`` leaves out one sign at a time, by words alone (not the two of meaning): the tables are fitted on one group
and reported on the other. **log loss** of the sign's table, without the sign; **info** as in
:mod:`benchmarks.everyday`, at the coverage (found by bisection) where the tokens over all questions are those of the
whole tables at ``.85``.
"""

from __future__ import annotations

from datetime import date
from math import fsum, log
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.budget import counter
from benchmarks.embedding import MULTILINGUAL
from benchmarks.everyday import Gatekeeper, Tally, ask
from benchmarks.report import Row, options, print_table
from benchmarks.talks import Talk, read_everyday
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig, TokenCounter
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.selection.need import NeedWeights, need_weights, newest_signs, probability, question_signs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper_core.selection.need import Signs
    from gatekeeper_core.selection.planner import Planner

TARGET = Path(__file__).parents[1] / "gatekeeper_core" / "data" / "need.tsv"
FILES = {"first": "everyday_dev.jsonl", "second": "everyday_second.jsonl"}
SIGNS = {table: tuple(sign for sign in signs if sign != "bias") for table, signs in need_weights()._asdict().items()}
MEANING = ("meaning", "embedded")
_C = 0.3
_STEPS = 10  # of the bisection: half a thousandth of coverage, two tokens a question


class Case(NamedTuple):
    """One labelled case of a table: its signs, and whether the need is there."""

    table: str
    signs: Signs
    needed: bool


def cases(talks: Sequence[Talk], count: TokenCounter, embedder: TextEncoder | None = None) -> Iterator[Case]:
    """Yield the cases of some conversations, by words alone or with an embedder."""
    config = GatekeeperConfig(candidates=1_000)
    for talk in talks:
        gatekeeper = ContextGatekeeper(config=config, token_counter=count, embedder=embedder)
        read = 0
        for question in talk.questions:
            for block in talk.blocks[read : question.after]:
                gatekeeper.add_turn(block.user, block.assistant)
            read = max(read, question.after)
            if read:
                plan = gatekeeper.explain(question.text)._plan
                assert plan is not None
                yield from _cases(plan, question)


def _cases(plan: Planner, question: Any) -> Iterator[Case]:
    _, cues, reading, *_ = plan.question
    assert reading is not None
    yield Case("question", question_signs(reading, cues), bool(question.needed))
    newest = plan.conversation.blocks[plan.conversation.turn_count - 1]
    needed = {group[0] for group in question.needed}
    for turn_id, signs in plan.signs.items() if needed else ():
        if turn_id in question.useful - needed:
            continue
        if turn_id == newest.turn_id:
            yield Case("newest", newest_signs(reading, newest.tokens), turn_id in needed)
        else:
            yield Case("older", signs, turn_id in needed)


def fitted(rows: Sequence[Case], table: str, *, without: Sequence[str] = ()) -> dict[str, float]:
    """Return the weights of a table, by sign, and its intercept as ``bias``."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found]

    names, own = [sign for sign in SIGNS[table] if sign not in without], [case for case in rows if case.table == table]
    values = np.array([[case.signs.get(name, 0.0) for name in names] for case in own])
    mean, spread = values.mean(0), values.std(0)
    spread[spread == 0] = 1.0
    model = LogisticRegression(C=_C, max_iter=3_000).fit((values - mean) / spread, [case.needed for case in own])
    weights = model.coef_[0] / spread
    return {"bias": model.intercept_[0] - weights @ mean, **dict(zip(names, weights, strict=True))}


def loss(rows: Sequence[Case], table: str, weights: dict[str, float]) -> float:
    """Return the mean negative log likelihood of the cases of a table, in nats."""
    own = [case for case in rows if case.table == table]
    needs = [probability(weights, case.signs) for case in own]
    likelihoods = [need if case.needed else 1 - need for case, need in zip(own, needs, strict=True)]
    return -fsum(log(max(likelihood, 1e-9)) for likelihood in likelihoods) / len(own)


def row_at(talks: Sequence[Talk], weights: NeedWeights, coverage: float, count: TokenCounter) -> Row:
    config = GatekeeperConfig(coverage=coverage)
    outcomes = ask(talks, lambda: Gatekeeper(count, config, fitted_on=weights))
    return Tally([outcome for _, _, outcome in outcomes]).row()


def info_at(talks: Sequence[Talk], weights: NeedWeights, tokens: float, count: TokenCounter) -> float:
    """Return the info of some weights at the coverage where they send so many tokens over all questions."""
    low, high = 0.5, 0.995
    for _ in range(_STEPS):
        middle = (low + high) / 2
        row = row_at(talks, weights, middle, count)
        low, high = (middle, high) if row["tokens, all"] <= tokens else (low, middle)
    return float(row["info"])


def ablation(talks: dict[str, list[Talk]], count: TokenCounter) -> list[Row]:
    """Return a row for each table with all its signs of words and without each, with columns for each group."""
    rows = {group: list(cases(own, count)) for group, own in talks.items()}
    full = {
        group: NeedWeights(**{table: fitted(own, table, without=MEANING) for table in SIGNS})
        for group, own in rows.items()
    }
    table: list[Row] = []
    for name, signs in SIGNS.items():
        for sign in ("", *signs):
            if sign in MEANING:
                continue
            row: Row = {"table": name, "without": sign or "nothing"}
            for group, other in zip(talks, reversed(talks), strict=True):
                weights = fitted(rows[other], name, without=(*MEANING, sign))
                tokens = row_at(talks[group], full[other], 0.85, count)["tokens, all"]
                row[f"log loss, {group}"] = f"{loss(rows[group], name, weights):.3f}"
                row[f"info, {group}"] = info_at(talks[group], full[other]._replace(**{name: weights}), tokens, count)
            table.append(row)
    return table


def main() -> None:
    parser = options(__doc__, data="everyday/everyday_dev.jsonl")
    parser.add_argument("--write", action="store_true", help="write the data file")
    parser.add_argument("--ablate", action="store_true", help="leave out one sign at a time instead")
    chosen = parser.parse_args()
    count = counter("cl100k")
    talks = {name: read_everyday(chosen.data / "everyday" / file) for name, file in FILES.items()}
    if chosen.ablate:
        print_table("The tables without a sign, words alone", ablation(talks, count), markdown=chosen.markdown)
        return
    encoder = TextEncoder(MULTILINGUAL, timeout_seconds=600)
    groups = {name: [*cases(own, count), *cases(own, count, encoder)] for name, own in talks.items()}
    groups["both"] = groups["first"] + groups["second"]
    lines = []
    for table, signs in SIGNS.items():
        weights = {name: fitted(rows, table) for name, rows in groups.items()}
        pairs = zip(FILES, reversed(FILES), strict=True)
        first, second = (loss(groups[own], table, weights[other]) for own, other in pairs)
        print(f"{table}: log loss {first:.3f} and {second:.3f} with the weights of the other group")
        figures = {sign: "\t".join(f"{each[sign]:.3f}" for each in weights.values()) for sign in ("bias", *signs)}
        lines += [f"{table}\t{sign}\t{shown}" for sign, shown in figures.items()]
    print("\n".join(lines))
    if chosen.write:
        head = (
            "# Weights of the need (gatekeeper_core.selection.need): logistic regressions over signs.\n"
            f"# Written by python -m benchmarks.fit_need on {date.today()}, not by hand.\n"
            "# Source: user-assistant conversations with labelled needs, by two groups of authors, and both.\n"
            "# Columns: table, sign, weight fitted on the first group, on the second group, on both.\n"
        )
        TARGET.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
