"""Pollution: six conversations of different topics in one session; what is selected for a query of one of them?

Run ``python -m benchmarks.pollution --data DIR``, where ``DIR/topics`` holds the dialogues. A conversation is a
topic, whatever shifts it holds; sessions are drawn with a seed:

* ``continue``: the query is the user turn nearest the middle of the last conversation that is labelled as no shift;
  what comes after it is not there yet. ``continue, any turn``: the turn in the middle, a shift or not.
* ``return``: all six are half done; the query is the next user turn of an earlier one that shares at least one term
  only with it. ``return, worded``: the same behind a wording that says so.
* ``new``: the first user turn of an unseen seventh.

Pollution is selected tokens of other topics / selected tokens (0 where nothing is selected), recall is selected tokens
of the query's topic / the smaller of all its tokens and the budget; for ``new``, the mean tokens selected and the share
of empty selections. Means over sessions, then over sets.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.budget import block_costs, counter, take_in_order
from benchmarks.data import as_blocks, read_dialogues, topic_sets
from benchmarks.embedding import kept_vectors
from benchmarks.peers import NOT_INSTALLED, PEERS, missing, terms
from benchmarks.report import SEED, mean_of_sets, options, print_table, write_json
from benchmarks.topics import judged_positions
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchmarks.data import Block, Dialogue

    Row = dict[str, Any]
    Selected = list[tuple[int, int]]

BUDGETS = (250, 1000)
CONVERSATIONS = 6
SHORTEST = 3
"""A conversation needs so many turns, to have a first half and a middle."""

SESSIONS, QUICK_SESSIONS = 100, 10
DRAWS = 200
KINDS = ("continue", "continue, any turn", "return", "return, worded", "new")
RETURN_WORDING = {"zh": "回到刚才说的,", "en": "Back to what we said before: "}
MINIMAL, FILL = "context-gatekeeper, minimal", "context-gatekeeper, fill"


@dataclass(frozen=True, slots=True)
class Case:
    """A session and a query.

    Attributes:
        kind: one of ``KINDS``.
        blocks: the turns of the session.
        topics: by turn the number of its conversation.
        query: the query.
        topic: the conversation that the query belongs to; None where it belongs to none.
    """

    kind: str
    blocks: tuple[Block, ...]
    topics: tuple[int, ...]
    query: str
    topic: int | None


class Talk(NamedTuple):
    """A conversation to draw: its topic, its turns, and by turn whether its user's text is labelled as a shift."""

    topic: str
    blocks: tuple[Block, ...]
    shifts: tuple[bool, ...]

    @property
    def half(self) -> tuple[Block, ...]:
        """The first half of the turns."""
        return self.blocks[: len(self.blocks) // 2]


class Measured(NamedTuple):
    """What one selection holds: shares of 0..1, tokens, and whether it is empty."""

    pollution: float
    recall: float
    tokens: int
    empty: bool


def measured(selected: Sequence[tuple[int, int]], topic: int | None, topic_tokens: int, budget: int) -> Measured:
    """Return the measures of one selection.

    Args:
        selected: for each selected turn its conversation and the tokens that it costs.
        topic: the query's conversation, or None.
        topic_tokens: what all turns of that conversation cost.
        budget: the token budget.
    """
    tokens = sum(cost for _, cost in selected)
    ours = sum(cost for number, cost in selected if number == topic)
    return Measured(
        pollution=(tokens - ours) / tokens if tokens else 0.0,
        recall=ours / max(1, min(topic_tokens, budget)),
        tokens=tokens,
        empty=not selected,
    )


# --- drawing sessions -----------------------------------------------------------------------------------------------


def talks(dialogues: Iterable[Dialogue]) -> list[Talk]:
    """Return the conversations that are long enough and whose every turn begins with a user."""
    found = []
    for dialogue in dialogues:
        blocks = tuple(as_blocks(dialogue.utterances))
        if len(blocks) >= SHORTEST and all(block.user for block in blocks):
            shifts = dict(judged_positions(dialogue.utterances, "user"))
            flags = tuple(shifts.get(int(block.ids[0]), False) for block in blocks)
            found.append(Talk(dialogue.topic, blocks, flags))
    return found


def draw_cases(pool: Sequence[Talk], *, language: str, sessions: int, seed: str) -> Iterator[Case]:
    """Yield the cases of so many sessions; the same seed gives the same cases."""
    for number in range(sessions):
        rng = random.Random(f"{seed}:{number}")
        yield from _continuing(_draw(pool, CONVERSATIONS, rng))
        yield from _returning(pool, rng, language)
        yield _new(_draw(pool, CONVERSATIONS + 1, rng))


def _draw(pool: Sequence[Talk], count: int, rng: random.Random) -> list[Talk]:
    """Return conversations of different topics."""
    drawn: dict[str, Talk] = {}
    for talk in rng.sample(pool, len(pool)):
        if len(drawn) < count:
            drawn.setdefault(talk.topic, talk)
    return list(drawn.values())


def _continuing(drawn: list[Talk]) -> Iterator[Case]:
    *earlier, last = drawn
    middle = len(last.blocks) // 2
    for kind, at in (("continue", in_topic_middle(last.shifts)), ("continue, any turn", middle)):
        parts = [*(talk.blocks for talk in earlier), last.blocks[:at]]
        yield _case(kind, parts, last.blocks[at].user, len(earlier))


def in_topic_middle(shifts: Sequence[bool]) -> int:
    """Return the turn nearest the middle, after the first, that is no shift; the middle itself where all are."""
    middle = len(shifts) // 2
    calm = [at for at in range(1, len(shifts)) if not shifts[at]]
    return min(calm, key=lambda at: (abs(at - middle), at), default=middle)


def _new(drawn: list[Talk]) -> Case:
    *session, unseen = drawn
    return _case("new", [talk.blocks for talk in session], unseen.blocks[0].user, None)


def _returning(pool: Sequence[Talk], rng: random.Random, language: str) -> Iterator[Case]:
    for _ in range(DRAWS):
        drawn = _draw(pool, CONVERSATIONS, rng)
        halves = [talk.half for talk in drawn]
        queries = [talk.blocks[len(talk.half)].user for talk in drawn[:-1]]
        candidates = [at for at, query in enumerate(queries) if identifiable(query, at, halves)]
        if candidates:
            topic = rng.choice(candidates)
            query = queries[topic]
            yield _case("return", halves, query, topic)
            yield _case("return, worded", halves, RETURN_WORDING[language] + query, topic)
            return


def identifiable(query: str, topic: int, parts: Sequence[Sequence[Block]]) -> bool:
    """Return whether a query shares at least one term with one part of the session and with no other."""
    held = [{term for block in part for term in terms(block.text)} for part in parts]
    others = set().union(*(held[at] for at in range(len(parts)) if at != topic))
    return bool(set(terms(query)) & held[topic] - others)


def _case(kind: str, parts: Sequence[Sequence[Block]], query: str, topic: int | None) -> Case:
    return Case(
        kind=kind,
        blocks=tuple(block for part in parts for block in part),
        topics=tuple(number for number, part in enumerate(parts) for _ in part),
        query=query,
        topic=topic,
    )


# --- what each method selects ---------------------------------------------------------------------------------------


def select_ours(case: Case, count: Callable[[str], int]) -> Iterator[tuple[str, int, Selected]]:
    """Yield for both modes and each budget what the gatekeeper selects, with its defaults."""
    for name, config in ((MINIMAL, GatekeeperConfig()), (FILL, GatekeeperConfig(mode="fill"))):
        gatekeeper = ContextGatekeeper(config=config, token_counter=count)
        gatekeeper.sync([(block.user, block.assistant) for block in case.blocks])
        for budget in BUDGETS:
            turns = gatekeeper.explain(case.query, token_budget=budget).turns
            yield name, budget, [(case.topics[turn.turn_id], turn.tokens) for turn in turns]


def select_peers(case: Case, count: Callable[[str], int]) -> Iterator[tuple[str, int, Selected]]:
    """Yield what each peer that is installed selects, and the oracle, which takes the topic's newest turns."""
    costs = block_costs(case.blocks, count)
    orders = {name: peer(case.blocks).rank(case.query) for name, peer in PEERS.items() if not missing(name)}
    orders["oracle"] = [at for at in range(len(case.topics) - 1, -1, -1) if case.topics[at] == case.topic]
    for name, order in orders.items():
        for budget in BUDGETS:
            taken, _ = take_in_order(order, costs, budget)
            yield name, budget, [(case.topics[at], costs[at]) for at in taken]


def measure_set(cases: Iterable[Case], count: Callable[[str], int], *, peers: bool) -> list[Row]:
    """Return a row of means for each kind, budget and method, in the order in which they are met."""
    found: dict[tuple[str, int, str], list[Measured]] = {}
    for case in cases:
        costs = block_costs(case.blocks, count)
        topic_tokens = sum(cost for cost, number in zip(costs, case.topics, strict=True) if number == case.topic)
        for name, budget, selected in chain(select_peers(case, count) if peers else (), select_ours(case, count)):
            one = measured(selected, case.topic, topic_tokens, budget)
            found.setdefault((case.kind, budget, name), []).append(one)
    return [
        {"kind": kind, "budget": budget, "method": name, **mean_of_cases(each, is_new=kind == "new")}
        for (kind, budget, name), each in found.items()
    ]


def mean_of_cases(each: Sequence[Measured], *, is_new: bool) -> Row:
    """Return the means in per cent and tokens; where the topic is new there is no pollution and no recall."""
    size = len(each)
    return {
        "pollution": None if is_new else 100 * sum(one.pollution for one in each) / size,
        "recall": None if is_new else 100 * sum(one.recall for one in each) / size,
        "tokens": sum(one.tokens for one in each) / size,
        "empty": 100 * sum(one.empty for one in each) / size,
        "sessions": size,
    }


# --- the tables -----------------------------------------------------------------------------------------------------


def shown(rows: Sequence[Row], kind: str, budget: int, sets: Sequence[str]) -> list[Row]:
    """Return one table to print: a row a method, ``pollution/recall`` a set, or for ``new`` tokens and empty ones."""
    wanted = [row for row in rows if row["kind"] == kind and row["budget"] == budget]
    by_set = {(row["method"], row["set"]): row for row in wanted}
    table = [
        {"method": method, **{name: _cell(by_set[method, name], kind) for name in sets}}
        for method in dict.fromkeys(row["method"] for row in wanted)
    ]
    return table + [{"method": name, sets[0]: NOT_INSTALLED} for name in PEERS if missing(name) and len(table) > 2]


def _cell(row: Row, kind: str) -> str:
    if kind == "new":
        return f"{row['tokens']:.0f} ({row['empty']:.0f} %)"
    return f"{row['pollution']:.0f}/{row['recall']:.0f}"


def with_means(rows: Sequence[Row], languages: dict[str, str]) -> list[Row]:
    """Return the rows with the means of the sets behind them."""
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["kind"], row["budget"], row["method"]), []).append(row)
    return [*rows, *chain.from_iterable(mean_of_sets(group, languages) for group in groups.values())]


def main() -> None:
    """Measure, print the tables, write JSON if asked to."""
    parser = options(__doc__, data="topics/*.jsonl")
    parser.add_argument("--counter", choices=("estimate", "cl100k"), default="estimate")
    parser.add_argument(
        "--sessions", type=int, help=f"sessions of each kind and set ({SESSIONS}, quick {QUICK_SESSIONS})"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    chosen = parser.parse_args()
    sessions = chosen.sessions or (QUICK_SESSIONS if chosen.quick else SESSIONS)
    count, rows = counter(chosen.counter), []
    sets = topic_sets(chosen.data)
    with kept_vectors(chosen.vectors):
        for each in sets:
            pool = talks(read_dialogues(chosen.data / "topics" / each.file))
            seed = f"{chosen.seed}:{each.name}"
            cases = draw_cases(pool, language=each.language, sessions=sessions, seed=seed)
            rows += [{**row, "set": each.name} for row in measure_set(cases, count, peers=not chosen.ours_only)]
    rows = with_means(rows, {each.name: each.language for each in sets})
    names = list(dict.fromkeys(row["set"] for row in rows))
    for kind in KINDS:
        for budget in BUDGETS:
            measure = "mean tokens (share empty)" if kind == "new" else "pollution/recall in per cent"
            table = shown(rows, kind, budget, names)
            print_table(f"{kind}, budget {budget}: {measure}", table, markdown=chosen.markdown)
    print(f"\n{sessions} sessions of each kind and set, tokens by {chosen.counter}, seed {chosen.seed}")
    settings = {"counter": chosen.counter, "sessions": sessions, "seed": chosen.seed}
    write_json(chosen.json, "pollution", settings, {"pollution": rows})


if __name__ == "__main__":
    main()
