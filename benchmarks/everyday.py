"""Needed turns: are the turns that the answer needs in the prompt, and how many tokens came along that it does not?

Run ``python -m benchmarks.everyday --data DIR``, where ``DIR/everyday/everyday_dev.jsonl`` holds conversations with
questions; each question names the turns that its answer needs and those that help. ``--own`` measures on the questions
beside this module instead, and ``--show`` prints what went wrong with each question. For each question a method sees
the turns before it and sends some of them:

* **needed**: mean share of the needed turns that are sent, whole or cut. **words**: the same, where a cut turn counts
  only if 70 % of its words that the question and its answer use are still there.
* **all**: share of questions with every needed turn.
* **tokens**: what is sent; **useless**: tokens of turns that are neither needed nor helpful.
* **nothing**: share of questions for which nothing is sent.

The table of changes follows conversations where a new topic begins without a cue or with one: the share of questions
that take a useless old turn along, at the change and at the question after it.

Peers rank whole turns and fill ``--budget`` tokens, as does the gatekeeper in its mode ``fill``; "cover alone" is the
gatekeeper's own order by evidence without a topic decision, stopped at the same coverage, and "cover + newest turn"
sends the newest turn beside it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.ablation import ablations
from benchmarks.budget import block_costs, counter, take_in_order
from benchmarks.data import Block, read_jsonl, sampled
from benchmarks.excerpts import words_kept
from benchmarks.peers import NOT_INSTALLED, PEERS, missing
from benchmarks.report import options, print_table, write_json
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig
from gatekeeper_core.selection.anchors import telling_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from gatekeeper_core import Selection
    from gatekeeper_core.encoder import TextEncoder

    Counter = Callable[[str], int]
    Row = dict[str, Any]

OURS = "context-gatekeeper"
OWN = Path(__file__).with_name("own_questions.jsonl")
"""Conversations and questions of our own, in the form of the data."""


HANGING = ("follow_up", "elliptical", "refers", "correction")
GOING_BACK = ("return_worded", "return_plain", "detail_same_topic", "word_form")
GROUPS: dict[str, tuple[str, ...]] = {
    "follow-up, elliptical, refers, correction": HANGING,
    "going back, detail, word form": GOING_BACK,
    "paraphrase": ("paraphrase",),
    "other language": ("cross_lingual",),
    "several turns, lists": ("multi", "list"),
    "about the conversation": ("about_conversation",),
    "new topic without a cue": ("new_topic_plain",),
    "new topic with a cue": ("new_topic_cue",),
    "off-topic": ("off_topic",),
    "small talk": ("smalltalk",),
}
CHANGES = ("new_topic_plain", "new_topic_cue")


class Sent(NamedTuple):
    """One turn as it is sent: its position, its text, its tokens, and whether anything of it was left out."""

    turn_id: int
    text: str
    tokens: int
    trimmed: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a conversation.

    Attributes:
        after: turns before it.
        text: the question.
        kind: one of the kinds of the data.
        needed: for each needed turn the turns that may stand for it, itself first.
        helpful: further turns that a careful assistant would like.
        told: the words of the question and, where it is known, of its answer.
    """

    after: int
    text: str
    kind: str
    needed: tuple[tuple[int, ...], ...]
    helpful: frozenset[int]
    told: frozenset[str]

    @property
    def useful(self) -> frozenset[int]:
        """Every turn that is needed, may stand for one, or helps."""
        return self.helpful.union(*self.needed)


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation with its questions, in the order in which they are asked."""

    name: str
    language: str
    blocks: tuple[Block, ...]
    questions: tuple[Question, ...]


def read_everyday(path: Path) -> list[Talk]:
    """Return the conversations of a file with labelled needs."""
    return [_talk(row) for row in read_jsonl(path)]


def _talk(row: dict[str, Any]) -> Talk:
    turns = row["turns"]
    blocks = tuple(Block((str(at),), turn["user"], turn["assistant"]) for at, turn in enumerate(turns))
    questions = tuple(_question(item, turns) for item in sorted(row["questions"], key=lambda item: item["after"]))
    return Talk(row["id"], row["lang"], blocks, questions)


def _question(item: dict[str, Any], turns: Sequence[dict[str, str]]) -> Question:
    others = item.get("alternatives", {})
    answer = turns[item["after"]]["assistant"] if item["after"] < len(turns) else item.get("note", "")
    return Question(
        after=item["after"],
        text=item["query"],
        kind=item["kind"],
        needed=tuple((at, *others.get(str(at), ())) for at in item["needed"]),
        helpful=frozenset(item["helpful"]),
        told=frozenset(telling_terms(f"{item['query']}\n{answer}")),
    )


class Outcome(NamedTuple):
    """One question, measured."""

    needed: float | None
    words: float | None
    tokens: int
    useless: int
    sent: frozenset[int]


def measured(question: Question, sent: Iterable[Sent], blocks: Sequence[Block]) -> Outcome:
    """Return the measures of what is sent for one question; the shares are None where nothing is needed."""
    parts = {part.turn_id: part for part in sent}
    useful, count = question.useful, len(question.needed)
    hits = sum(not parts.keys().isdisjoint(group) for group in question.needed)
    words = sum(
        any(_holds_words(parts[at], question, blocks[at]) for at in group if at in parts) for group in question.needed
    )
    return Outcome(
        needed=hits / count if count else None,
        words=words / count if count else None,
        tokens=sum(part.tokens for part in parts.values()),
        useless=sum(part.tokens for at, part in parts.items() if at not in useful),
        sent=frozenset(parts),
    )


def _holds_words(part: Sent, question: Question, block: Block) -> bool:
    return not part.trimmed or words_kept(part.text, block.text, question.told) is not False


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
    """The library, with its excerpts."""

    def __init__(
        self, count: Counter, config: GatekeeperConfig, *, budget: int = 4000, embedder: TextEncoder | None = None
    ) -> None:
        self._gatekeeper = ContextGatekeeper(budget, config=config, token_counter=count, embedder=embedder)

    def read(self, block: Block) -> None:
        self._gatekeeper.add_turn(block.user, block.assistant)

    def explain(self, question: Question) -> Selection:
        """Return the selection for a question."""
        return self._gatekeeper.explain(question.text)

    def send(self, question: Question) -> list[Sent]:
        turns = self.explain(question).turns
        return [Sent(turn.turn_id, f"{turn.user}\n{turn.assistant}", turn.tokens, turn.trimmed) for turn in turns]


class CoverAlone(Method):
    """The gatekeeper's scores, taken by value per token until nothing is worth its tokens, whatever the topic."""

    def __init__(self, count: Counter, *, newest: bool) -> None:
        self._gatekeeper = ContextGatekeeper(token_counter=count)
        self._newest = newest
        self._blocks: list[Block] = []

    def read(self, block: Block) -> None:
        self._gatekeeper.add_turn(block.user, block.assistant)
        self._blocks.append(block)

    def send(self, question: Question) -> list[Sent]:
        costs = self._gatekeeper.turn_tokens
        scores = [each.score for each in self._gatekeeper.explain(question.text).decisions if each.score is not None]
        best = max((score.total for score in scores), default=0.0) or 1.0
        sharp = {score.turn_id: (score.total / best) ** 2.3 for score in scores}
        mass, known = sum(sharp.values()), min(1.0, max((score.share for score in scores), default=0.0) / 0.4)
        values = {at: share / mass * (60 / costs[at]) ** 0.7 * known for at, share in sharp.items()}
        order = sorted(values, key=lambda at: (-values[at], -at))
        kept = {at for place, at in enumerate(order) if not place or values[at] > 0.0225}
        kept |= {len(costs) - 1} if self._newest and costs else set()
        return [Sent(at, self._blocks[at].text, costs[at]) for at in sorted(kept)]


class Whole(Method):
    """Keeps the turns that it has read, to send them whole; a subclass says which."""

    def __init__(self, count: Counter) -> None:
        self._count = count
        self._blocks: list[Block] = []

    def read(self, block: Block) -> None:
        self._blocks.append(block)

    def _costs(self) -> Sequence[int]:
        return block_costs(self._blocks, self._count)

    def _sent(self, turns: Iterable[int], costs: Sequence[int]) -> list[Sent]:
        return [Sent(at, self._blocks[at].text, costs[at]) for at in turns]


class Ranked(Whole):
    """A peer that ranks whole turns, within a budget."""

    def __init__(self, name: str, count: Counter, budget: int) -> None:
        super().__init__(count)
        self._name = name
        self._budget = budget

    def send(self, question: Question) -> list[Sent]:
        if not self._blocks:
            return []
        costs = self._costs()
        taken, _ = take_in_order(PEERS[self._name](self._blocks).rank(question.text), costs, self._budget)
        return self._sent(taken, costs)


class Given(Whole):
    """Sends what a function of the question names: everything, or just what is needed."""

    def __init__(self, count: Counter, pick: Callable[[Question], Iterable[int]]) -> None:
        super().__init__(count)
        self._pick = pick

    def send(self, question: Question) -> list[Sent]:
        return self._sent(self._pick(question), self._costs())


def methods(count: Counter, budget: int, *, peers: bool) -> dict[str, Callable[[], Method] | None]:
    """Return by name how a method for one conversation is made; None where its packages are missing."""
    made: dict[str, Callable[[], Method] | None] = {OURS: lambda: Gatekeeper(count, GatekeeperConfig())}
    if not peers:
        return made
    made[f"{OURS}, fill"] = lambda: Gatekeeper(count, GatekeeperConfig(mode="fill"), budget=budget)
    made["cover alone"] = lambda: CoverAlone(count, newest=False)
    made["cover + newest turn"] = lambda: CoverAlone(count, newest=True)
    for name in PEERS:
        made[name] = None if missing(name) else lambda name=name: Ranked(name, count, budget)  # type: ignore[misc]
    made["needed turns, whole"] = lambda: Given(count, lambda question: [group[0] for group in question.needed])
    made["everything"] = lambda: Given(count, lambda question: range(question.after))
    return made


# --- the measures ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """The outcomes of some questions."""

    outcomes: list[Outcome] = field(default_factory=list)

    def row(self) -> Row:
        """Return the means, in per cent and tokens; recall over the questions that need something."""
        size, needing = len(self.outcomes), [each for each in self.outcomes if each.needed is not None]
        asked = needing or self.outcomes
        return {
            "questions": size,
            "needed": 100 * sum(each.needed or 0.0 for each in needing) / len(needing) if needing else None,
            "words": 100 * sum(each.words or 0.0 for each in needing) / len(needing) if needing else None,
            "all": 100 * sum(each.needed == 1.0 for each in needing) / len(needing) if needing else None,
            "tokens": sum(each.tokens for each in asked) / max(1, len(asked)),
            "tokens, all": sum(each.tokens for each in self.outcomes) / max(1, size),
            "useless": sum(each.useless for each in self.outcomes) / max(1, size),
            "nothing": 100 * sum(not each.sent for each in self.outcomes) / max(1, size),
        }


def ask(talks: Sequence[Talk], make: Callable[[], Method]) -> Iterator[tuple[Talk, Question, Outcome]]:
    """Yield what a method sends for each question, measured; each conversation is read once, turn by turn."""
    for talk in talks:
        method = make()
        for question in _in_turn(talk, method):
            yield talk, question, measured(question, method.send(question), talk.blocks)


def _in_turn(talk: Talk, method: Method) -> Iterator[Question]:
    """Yield each question when the method has read the turns before it."""
    read = 0
    for question in talk.questions:
        for block in talk.blocks[read : question.after]:
            method.read(block)
        read = max(read, question.after)
        yield question


def mistakes(talks: Iterable[Talk], count: Counter) -> Iterator[str]:
    """Yield an account of each question that lacks a needed turn, or that needs none and gets a useless one."""
    for talk in talks:
        method = Gatekeeper(count, GatekeeperConfig())
        for question in _in_turn(talk, method):
            selection = method.explain(question)
            sent = {turn.turn_id: turn for turn in selection.turns}
            missing = [group[0] for group in question.needed if sent.keys().isdisjoint(group)]
            if not missing and (question.needed or sent.keys() <= question.useful):
                continue
            lines = [f"{talk.name} at {question.after}, {question.kind}: {question.text}"]
            lines += [
                f"sent {at}, {'useful' if at in question.useful else 'useless'}, {turn.tokens} tokens"
                f"{' (cut)' if turn.trimmed else ''}, {selection.decision(at).why}: {talk.blocks[at].user[:60]}"
                for at, turn in sent.items()
            ]
            lines += [f"missing {at}, {selection.decision(at).why}: {talk.blocks[at].user[:60]}" for at in missing]
            lines.append(f"{selection.gate.decision} ({selection.gate.reason})")
            yield "\n  ".join(lines)


def by_group(
    asked: Iterable[tuple[Talk, Question, Outcome]], kinds_of: Mapping[str, Collection[str]] = GROUPS
) -> dict[str, Tally]:
    """Return a tally for all questions, for each group of kinds and for each language."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for talk, question, outcome in asked:
        groups = [name for name, kinds in kinds_of.items() if question.kind in kinds]
        for name in ("all questions", *groups, f"language {talk.language}"):
            tallies[name].outcomes.append(outcome)
    order = ["all questions", *kinds_of, *sorted(name for name in tallies if name.startswith("language"))]
    return {name: tallies[name] for name in order if name in tallies}


def changes(asked: Sequence[tuple[Talk, Question, Outcome]]) -> Row:
    """Return in how many changes of topic a useless old turn is sent, at the change and at the question after it."""
    by_place = {(talk.name, question.after): (question, outcome) for talk, question, outcome in reversed(asked)}
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


def run(talks: Sequence[Talk], count: Counter, budget: int, *, peers: bool) -> dict[str, list[Row]]:
    """Return the tables: all methods over all questions, and ours by group."""
    tables: dict[str, list[Row]] = {"methods": [], "groups": [], "kinds": []}
    for name, make in methods(count, budget, peers=peers).items():
        if make is None:
            tables["methods"].append({"method": name, "questions": NOT_INSTALLED})
            continue
        asked = list(ask(talks, make))
        groups = by_group(asked)
        hanging, back = (groups[group].row()["needed"] for group in list(GROUPS)[:2])
        tables["methods"].append(
            {
                "method": name,
                **groups["all questions"].row(),
                "follow-ups": hanging,
                "going back": back,
                **changes(asked),
            }
        )
        tables["groups"] += [{"method": name, "group": group, **tally.row()} for group, tally in groups.items()]
        if name == OURS:
            kinds = {question.kind: Tally() for _, question, _ in asked}
            for _, question, outcome in asked:
                kinds[question.kind].outcomes.append(outcome)
            tables["kinds"] = [{"kind": kind, **tally.row()} for kind, tally in sorted(kinds.items())]
    return tables


def ablation_rows(talks: Sequence[Talk], count: Counter) -> list[Row]:
    """Return the measures with each part off."""
    rows = []
    for name, config in ablations(GatekeeperConfig()):
        groups = by_group(ask(talks, lambda config=config: Gatekeeper(count, config)))  # type: ignore[misc]
        shown = {group: groups[group].row() for group in ("all questions", *list(GROUPS)[:2], *list(GROUPS)[6:9:2])}
        whole = shown.pop("all questions")
        columns = {group.split(",")[0]: row["needed"] or row["tokens"] for group, row in shown.items()}
        rows.append({"part": name, **{key: whole[key] for key in ("needed", "tokens", "useless")}, **columns})
    return rows


TITLES = {
    "methods": "All questions: needed turns in per cent, tokens, and useless old turns at a change of topic",
    "groups": "By group of questions",
    "kinds": "By kind of question",
    "ablation": "One part off at a time: needed turns in per cent, tokens; tokens of new and off-topic questions",
}


def main() -> None:
    """Measure, print the tables, write JSON if asked to."""
    parser = options(__doc__, data="everyday/everyday_dev.jsonl", required=False)
    parser.add_argument("--own", action="store_true", help="measure on our own questions, which need no folder")
    parser.add_argument("--show", action="store_true", help="print the questions that went wrong instead, with reasons")
    parser.add_argument("--counter", choices=("estimate", "cl100k"), default="estimate")
    parser.add_argument("--budget", type=int, default=300, help="tokens that peers fill (300)")
    parser.add_argument("--file", default="everyday/everyday_dev.jsonl", help="the conversations, below the folder")
    parser.add_argument("--ablate", action="store_true", help="measure with each part off instead")
    chosen = parser.parse_args()
    if not chosen.own and chosen.data is None:
        parser.error("--data is needed without --own")
    talks = read_everyday(OWN if chosen.own else chosen.data / chosen.file)
    talks = sampled(talks, 10 if chosen.quick else None)
    count = counter(chosen.counter)
    if chosen.show:
        print("\n".join(mistakes(talks, count)))
        return
    if chosen.ablate:
        tables = {"ablation": ablation_rows(talks, count)}
    else:
        tables = run(talks, count, chosen.budget, peers=not chosen.ours_only)
    for name, rows in tables.items():
        shown = [row for row in rows if row.get("method", OURS) == OURS or name != "groups"]
        print_table(TITLES[name], shown, markdown=chosen.markdown)
    questions = sum(len(talk.questions) for talk in talks)
    print(f"\n{questions} questions to {len(talks)} conversations, tokens by {chosen.counter}")
    settings = {"counter": chosen.counter, "budget": chosen.budget, "questions": questions}
    write_json(chosen.json, "everyday", settings, tables)


if __name__ == "__main__":
    main()
