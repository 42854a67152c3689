"""Need and price: how much of the needed turns each method sends, and how many tokens that costs.

Run ``python -m benchmarks.everyday --data DIR [--set everyday|beam|memdaily]``. ``DIR`` holds conversations with
questions; each question names the turns its answer needs and those that help (:mod:`benchmarks.talks`). ``--own`` asks
the questions beside this module instead. For each question a method gets the turns before it and sends some of them:

* **hit**: mean share of the needed turns that are sent in any form. **info**: the same, but a turn counts
  ``sqrt(tokens sent / tokens of the whole turn)``; of turns that can replace each other the best one counts.
* **all**: share of questions with every needed turn in some form.
* **tokens**: mean tokens where something is needed; **tokens, nothing**: where nothing is; **tokens, all**: over all
  questions. **useless**: tokens of turns that are neither needed nor helpful.
* **empty**: share of questions for which nothing is sent.
* **old turn at the change**, **after it**: share of changes of topic where a useless old turn is sent with the first
  question of the new topic, and with the question after that.

The two everyday files have different authors: weights fitted on one file are measured on the other. Peers rank whole
turns and fill a budget of tokens, as the gatekeeper does with the strategy ``fill``.

* **coverage asked for, info got**: the default strategy at five coverages.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.budget import block_costs, counter, take_in_order
from benchmarks.data import sampled
from benchmarks.peers import NOT_INSTALLED, PEERS, missing
from benchmarks.report import Row, Tables, options, print_table, settings_of, write_json
from benchmarks.talks import CHANGES, GROUPS, OWN, SETS
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig, TokenCounter
from gatekeeper_core.selection.need import need_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from benchmarks.data import Block
    from benchmarks.talks import LabelledSet, Question, Talk
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.selection.need import NeedWeights


OURS = "context-gatekeeper"
FILL = f"{OURS}, fill"
COVERAGES = (0.70, 0.80, 0.85, 0.90, 0.95)
QUICK_SHARE = 5
"""A quick run measures every fifth conversation."""


def cross_fitted(gatekeeper: ContextGatekeeper, fitted_on: str | NeedWeights) -> ContextGatekeeper:
    """Return a gatekeeper with these weights, or those of a group of authors: ``first``, ``second`` or ``both``."""
    gatekeeper._weights = need_weights(fitted_on) if isinstance(fitted_on, str) else fitted_on
    return gatekeeper


class Sent(NamedTuple):
    """One turn as it is sent: its position, its text, its tokens, and those of the whole turn."""

    turn_id: int
    text: str
    tokens: int
    full: int


class Outcome(NamedTuple):
    hit: float | None
    info: float | None
    tokens: int
    useless: int
    sent: frozenset[int]


def measured(question: Question, sent: Iterable[Sent]) -> Outcome:
    """Return the measures of what is sent for one question; the shares are None where nothing is needed."""
    parts = {part.turn_id: part for part in sent}
    credit = {at: math.sqrt(min(1.0, part.tokens / part.full)) for at, part in parts.items()}
    best = [max((credit[at] for at in group if at in credit), default=0.0) for group in question.needed]
    return Outcome(
        hit=sum(share > 0 for share in best) / len(best) if best else None,
        info=sum(best) / len(best) if best else None,
        tokens=sum(part.tokens for part in parts.values()),
        useless=sum(part.tokens for at, part in parts.items() if at not in question.useful),
        sent=frozenset(parts),
    )


# --- the methods ----------------------------------------------------------------------------------------------------


class Method:
    """Sends turns of one conversation for its questions; :meth:`read` is called once for each turn, oldest first."""

    def read(self, block: Block) -> None:
        """Take in the next turn."""
        raise NotImplementedError

    def send(self, question: Question) -> list[Sent]:
        """Return what is sent for a question."""
        raise NotImplementedError


class Gatekeeper(Method):
    def __init__(
        self,
        count: TokenCounter,
        config: GatekeeperConfig,
        *,
        budget: int = 4000,
        fitted_on: str | NeedWeights = "both",
        embedder: TextEncoder | None = None,
    ) -> None:
        gatekeeper = ContextGatekeeper(budget, config=config, token_counter=count, embedder=embedder)
        self._gatekeeper = cross_fitted(gatekeeper, fitted_on)

    def read(self, block: Block) -> None:
        self._gatekeeper.add_turn(block.user, block.assistant)

    def send(self, question: Question, budget: int | None = None) -> list[Sent]:
        """Return what is sent for a question, within a budget other than its own if one is given."""
        full = self._gatekeeper.turn_tokens
        return [
            Sent(turn.turn_id, f"{turn.user}\n{turn.assistant}", turn.tokens, full[turn.turn_id])
            for turn in self._gatekeeper.explain(question.text, token_budget=budget).turns
        ]


class FullTurns(Method):
    """Sends whole turns: those that ``pick`` names for a question, of the turns before it and their tokens."""

    def __init__(
        self, count: TokenCounter, pick: Callable[[Question, Sequence[Block], Sequence[int]], Iterable[int]]
    ) -> None:
        self._count, self._pick = count, pick
        self._blocks: list[Block] = []

    def read(self, block: Block) -> None:
        self._blocks.append(block)

    def send(self, question: Question) -> list[Sent]:
        costs = block_costs(self._blocks, self._count)
        picked = self._pick(question, self._blocks, costs)
        return [Sent(at, self._blocks[at].text, costs[at], costs[at]) for at in picked]


def ranked(name: str, count: TokenCounter, budget: int) -> FullTurns:
    """Return a peer that ranks whole turns, within a budget; its index is built again when there are more turns."""
    index = lru_cache(1)(lambda blocks: PEERS[name](blocks))

    def pick(question: Question, blocks: Sequence[Block], costs: Sequence[int]) -> Iterable[int]:
        return take_in_order(index(tuple(blocks)).rank(question.text), costs, budget)[0] if blocks else ()

    return FullTurns(count, pick)


class Way(NamedTuple):
    """A method by name, its budget, and how it is made for one conversation; None where its packages are missing."""

    name: str
    budget: int | None
    make: Callable[[], Method] | None


def ways(labelled: LabelledSet, count: TokenCounter, *, peers: bool) -> list[Way]:
    """Return the ways to send: ours by both strategies and, if wanted, the peers at the same budgets and the bounds."""

    def ours(budget: int, config: GatekeeperConfig) -> Callable[[], Method]:
        return lambda: Gatekeeper(count, config, budget=budget, fitted_on=labelled.fitted_on)

    def peer(name: str, budget: int) -> Callable[[], Method] | None:
        return None if missing(name) else lambda: ranked(name, count, budget)

    all_ways = [Way(OURS, labelled.budget, ours(labelled.budget, GatekeeperConfig()))]
    all_ways += [Way(FILL, budget, ours(budget, GatekeeperConfig(strategy="fill"))) for budget in labelled.fills]
    if peers:
        all_ways += [Way(name, budget, peer(name, budget)) for budget in labelled.fills for name in PEERS]
        all_ways.append(Way("needed turns, whole", None, lambda: FullTurns(count, lambda one, *_: _needed(one))))
        all_ways.append(Way("everything", None, lambda: FullTurns(count, lambda _, blocks, __: range(len(blocks)))))
    return all_ways


def _needed(question: Question) -> list[int]:
    return [group[0] for group in question.needed]


# --- the measures ---------------------------------------------------------------------------------------------------


class Tally:
    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self.outcomes = [*outcomes]

    def row(self) -> Row:
        """Return the means, in per cent and tokens; None where no question is of that sort."""
        needing = [each for each in self.outcomes if each.hit is not None]
        others = [each for each in self.outcomes if each.hit is None]
        return {
            "questions": len(self.outcomes),
            "hit": _mean(100 * (each.hit or 0.0) for each in needing),
            "info": _mean(100 * (each.info or 0.0) for each in needing),
            "all": _mean(100 * (each.hit == 1.0) for each in needing),
            "tokens": _mean(each.tokens for each in needing),
            "tokens, nothing": _mean(each.tokens for each in others),
            "tokens, all": _mean(each.tokens for each in self.outcomes),
            "useless": _mean(each.useless for each in self.outcomes),
            "empty": _mean(100 * (not each.sent) for each in self.outcomes),
        }


def _mean(values: Iterable[float]) -> float | None:
    listed = [*values]
    return sum(listed) / len(listed) if listed else None


def ask(talks: Sequence[Talk], make: Callable[[], Method]) -> Iterator[tuple[Talk, Question, Outcome]]:
    """Yield what a method sends for each question, measured; each conversation is read once, turn by turn."""
    for talk in talks:
        method = make()
        for question in _in_turn(talk, method):
            yield talk, question, measured(question, method.send(question))


def _in_turn(talk: Talk, method: Method) -> Iterator[Question]:
    """Yield each question when the method has read the turns before it."""
    read = 0
    for question in talk.questions:
        for block in talk.blocks[read : question.after]:
            method.read(block)
        read = max(read, question.after)
        yield question


def by_group(
    results: Iterable[tuple[Talk, Question, Outcome]], groups: Mapping[str, Collection[str]] = GROUPS
) -> dict[str, Tally]:
    """Return a tally for all questions, for each group of kinds, for each kind and for each language."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for talk, question, outcome in results:
        within = [name for name, kinds in groups.items() if question.kind in kinds]
        for name in ("all questions", *within, question.kind, f"language {talk.language}"):
            tallies[name].outcomes.append(outcome)
    order = ["all questions", *groups]
    order += sorted(tallies.keys() - {*order}, key=lambda name: (name.startswith("language "), name))
    return {name: tallies[name] for name in order if name in tallies}


def changes(results: Sequence[tuple[Talk, Question, Outcome]]) -> Row:
    """Return in how many changes of topic a useless old turn is sent, at the change and at the question after it."""
    by_place = {(talk.name, question.after): (question, outcome) for talk, question, outcome in reversed(results)}
    at_change, after = [], []
    for (name, position), (question, outcome) in by_place.items():
        if question.kind in CHANGES and position:
            at_change.append(bool(outcome.sent - question.useful))
            following = by_place.get((name, position + 1))
            if following and following[0].kind not in CHANGES:
                after.append(any(at < position for at in following[1].sent - following[0].useful))
    return {
        "changes": len(at_change),
        "old turn at the change": 100 * sum(at_change) / max(1, len(at_change)),
        "old turn after it": 100 * sum(after) / max(1, len(after)),
    }


def run(talks: Sequence[Talk], labelled: LabelledSet, count: TokenCounter, *, peers: bool) -> Tables:
    tables: Tables = {"methods": [], "groups": []}
    shown = (OURS,) if labelled.groups else (OURS, FILL)
    for name, budget, make in ways(labelled, count, peers=peers):
        method: Row = {"method": name, "budget": budget}
        if make is None:
            tables["methods"].append({**method, "questions": NOT_INSTALLED})
            continue
        results = list(ask(talks, make))
        rows = {group: tally.row() for group, tally in by_group(results, labelled.groups).items()}
        columns = {column: rows[group]["hit"] if group in rows else None for column, group in labelled.columns}
        moves = changes(results) if labelled.groups else {}
        tables["methods"].append({**method, **rows["all questions"], **columns, **moves})
        tables["groups"] += [{**method, "group": group, **row} for group, row in rows.items() if name in shown]
    return tables


def asked_rows(talks: Sequence[Talk], labelled: LabelledSet, count: TokenCounter) -> list[Row]:
    """Return what is got for each coverage that is asked for, and how far the info is off in the mean."""
    rows: list[Row] = []
    for coverage in COVERAGES:
        config = GatekeeperConfig(coverage=coverage)
        all_ways = ask(talks, lambda config=config: Gatekeeper(count, config, fitted_on=labelled.fitted_on))  # type: ignore[misc]
        row = Tally([outcome for _, _, outcome in all_ways]).row()
        shown = {name: row[name] for name in ("info", "hit", "tokens", "tokens, nothing")}
        rows.append({"asked": 100 * coverage, **shown, "off": row["info"] - 100 * coverage})
    error = _mean(abs(row["off"]) for row in rows)
    return [*rows, {"asked": "mean absolute error", "off": error}]


TITLES = {
    "methods": "all questions: needed turns in per cent, tokens",
    "groups": "by group and kind of question",
    "asked": "coverage asked for, info got, in per cent",
}


def main() -> None:
    parser = options(__doc__, data="everyday, beam or memdaily", required=False, counter="estimate")
    parser.add_argument("--own", action="store_true", help="measure on our own questions, which need no folder")
    parser.add_argument("--set", choices=("everyday", "beam", "memdaily"), default="everyday", help="the conversations")
    chosen = parser.parse_args()
    if not chosen.own and chosen.data is None:
        parser.error("--data is needed without --own")
    count = counter(chosen.counter)
    written: Tables = {}
    for labelled in SETS["own" if chosen.own else chosen.set]:
        talks = labelled.read((chosen.data or OWN) / labelled.file)
        talks = sampled(talks, -(-len(talks) // QUICK_SHARE) if chosen.quick else None)
        tables = run(talks, labelled, count, peers=not chosen.ours_only)
        if labelled.fitted_on != "both":
            tables["asked"] = asked_rows(talks, labelled, count)
        for name, rows in tables.items():
            print_table(f"{labelled.name}, {TITLES[name]}", rows, markdown=chosen.markdown)
            written[f"{labelled.name}, {name}"] = rows
        questions = sum(len(talk.questions) for talk in talks)
        print(f"\n{questions} questions to {len(talks)} conversations, tokens by {chosen.counter}")
    write_json(chosen.json, "everyday", settings_of(chosen), written)


if __name__ == "__main__":
    main()
