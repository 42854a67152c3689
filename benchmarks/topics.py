"""The topic gate on dialogues with labelled shifts, beside other ways to tell a shift, in the same run.

Run ``python -m benchmarks.topics --data DIR``, where ``DIR/topics`` holds the dialogues. Each judged utterance is a
query; the history is everything before it, as turns of a user and an assistant.

* unit ``utterance``: each utterance after the first, of either speaker.
* unit ``user``: each user turn after the first; a shift on the assistant's message just before counts to it.

Reported for ``switch``, in per cent: precision, recall, F1, and false switches, the share of judged utterances within a
topic that are called a switch. A peer that needs a threshold gets, for each set, the one with the best mean F1 on the
other sets of its language (of all languages, where there is no other).

Subjects (``gatekeeper_cli.topics``) are measured apart, over the pairs of turns of a conversation: those of the
everyday conversations, ``DIR/everyday``, and our own, each turn with the label of what it is about. A pair counts as
found where both turns are on one subject; beside it, the topics alone, without what comes back.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.data import Dialogue, TopicSet, as_blocks, read_dialogues, read_jsonl, sampled, topic_sets
from benchmarks.embedding import MINI_LM, kept_vectors
from benchmarks.literal import LiteralGate
from benchmarks.peers import NOT_INSTALLED, missing, terms
from benchmarks.report import mean_of_sets, options, print_table, write_json
from benchmarks.talks import OWN
from gatekeeper_cli.topics import topics_of
from gatekeeper_core import ContextGatekeeper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.data import Utterance

    Row = dict[str, Any]
    Scorer = Callable[[Sequence[Utterance], Sequence[int]], list[float]]

UNITS = ("utterance", "user")
OURS = "context-gatekeeper"
QUICK_DIALOGUES = 25
RECENT = 4
"""How many utterances before the query the peers with a threshold compare it with: two turns."""

THRESHOLDS = tuple(step / 20 for step in range(1, 20))
DEFAULT_THRESHOLD = 0.20
"""Taken where there is no other set to choose on. Source: the specification's ``switch`` threshold."""


class Counts(NamedTuple):
    """How often a switch was called and was one."""

    hits: int
    false: int
    missed: int
    quiet: int

    def row(self) -> dict[str, Any]:
        """Return the measures in per cent, and how much was judged."""
        called, shifts, calm = self.hits + self.false, self.hits + self.missed, self.false + self.quiet
        return {
            "P": _per_cent(self.hits, called),
            "R": _per_cent(self.hits, shifts),
            "F1": _per_cent(2 * self.hits, called + shifts),
            "false switches": _per_cent(self.false, calm),
            "judged": shifts + calm,
            "shifts": shifts,
        }


def _per_cent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def tallied(pairs: Iterable[tuple[bool, bool]]) -> Counts:
    """Return the counts of pairs (called a switch, is a shift)."""
    seen = list(pairs)
    return Counts(
        hits=sum(called and shift for called, shift in seen),
        false=sum(called and not shift for called, shift in seen),
        missed=sum(shift and not called for called, shift in seen),
        quiet=sum(not shift and not called for called, shift in seen),
    )


def judged_positions(utterances: Sequence[Utterance], unit: str) -> list[tuple[int, bool]]:
    """Return which utterances are judged, each with whether a new topic begins there."""
    if unit == "utterance":
        return [(at, each.shift) for at, each in enumerate(utterances) if at]
    found = []
    for at, each in enumerate(utterances):
        if at and each.role == "user":
            before = utterances[at - 1]
            found.append((at, each.shift or (before.role == "assistant" and before.shift)))
    return found


# --- the ways to judge: each takes a dialogue's utterances and the positions to judge -------------------------------


def judge_ours(utterances: Sequence[Utterance], positions: Sequence[int]) -> list[bool]:
    """Return where the gatekeeper's gate says ``switch``."""
    gatekeeper = ContextGatekeeper(token_budget=1)
    called = []
    for at in positions:
        gatekeeper.sync([(block.user, block.assistant) for block in as_blocks(utterances[:at])])
        called.append(gatekeeper.explain(utterances[at].text).gate.decision == "switch")
    return called


def judge_never(utterances: Sequence[Utterance], positions: Sequence[int]) -> list[bool]:  # noqa: ARG001 - reads nothing
    """Return that the topic always continues."""
    return [False] * len(positions)


def judge_literally(utterances: Sequence[Utterance], positions: Sequence[int]) -> list[bool]:
    """Return where the specification's rule, word for word, says ``switch``."""
    gate, wanted, called = LiteralGate(), set(positions), []
    for at, utterance in enumerate(utterances):
        switched = at in wanted and gate.switches(utterance.text)
        if at in wanted:
            called.append(switched)
        gate.read(utterance.text, switched=switched)
    return called


def share_of_known_words(utterances: Sequence[Utterance], positions: Sequence[int]) -> list[float]:
    """Return which share of each utterance's words the two turns before it hold; 1.0 for one without words."""
    read = [set(terms(each.text)) for each in utterances]
    shares = []
    for at in positions:
        known: set[str] = set().union(*read[max(0, at - RECENT) : at])
        shares.append(len(read[at] & known) / len(read[at]) if read[at] else 1.0)
    return shares


def cosine_to_recent(utterances: Sequence[Utterance], positions: Sequence[int]) -> list[float]:
    """Return the cosine of each utterance's embedding and the mean of those of the two turns before it."""
    vectors = MINI_LM([each.text for each in utterances])
    cosines = []
    for at in positions:
        mean = vectors[max(0, at - RECENT) : at].mean(axis=0)
        cosines.append(float(vectors[at] @ mean) / max(1e-9, float((mean @ mean) ** 0.5)))
    return cosines


JUDGES = {
    "always continue": judge_never,
    "literal specification": judge_literally,
    OURS: judge_ours,
}
SCORERS: dict[str, Scorer] = {
    "overlap of words below a threshold": share_of_known_words,
    "MiniLM cosine below a threshold": cosine_to_recent,
}


# --- the tables -----------------------------------------------------------------------------------------------------


def run(dialogues: Mapping[TopicSet, Sequence[Dialogue]], *, peers: bool) -> dict[str, list[Row]]:
    """Return a table for each unit, with the means of the sets."""
    judges = JUDGES if peers else {OURS: judge_ours}
    tables: dict[str, list[Row]] = {unit: [] for unit in UNITS}
    languages = {each.name: each.language for each in dialogues}
    for unit in UNITS:
        for name, judge in judges.items():
            counts = {each: _counted(some, unit, judge) for each, some in dialogues.items()}
            tables[unit] += _rows(name, counts, languages)
        for name, scorer in SCORERS.items() if peers else ():
            if name.startswith("MiniLM") and missing("MiniLM"):
                tables[unit].append({"method": name, "set": NOT_INSTALLED})
            else:
                tables[unit] += _rows(name, by_threshold(_scored(dialogues, unit, scorer)), languages)
    return tables


def _counted(dialogues: Sequence[Dialogue], unit: str, judge: Callable[..., list[bool]]) -> Counts:
    pairs: list[tuple[bool, bool]] = []
    for dialogue in dialogues:
        judged = judged_positions(dialogue.utterances, unit)
        called = judge(dialogue.utterances, [at for at, _ in judged])
        pairs += zip(called, (shift for _, shift in judged), strict=True)
    return tallied(pairs)


def _scored(
    dialogues: Mapping[TopicSet, Sequence[Dialogue]], unit: str, scorer: Scorer
) -> dict[TopicSet, list[tuple[float, bool]]]:
    scored: dict[TopicSet, list[tuple[float, bool]]] = {}
    for each, some in dialogues.items():
        scored[each] = []
        for dialogue in some:
            judged = judged_positions(dialogue.utterances, unit)
            scores = scorer(dialogue.utterances, [at for at, _ in judged])
            scored[each] += zip(scores, (shift for _, shift in judged), strict=True)
    return scored


def by_threshold(scored: Mapping[TopicSet, Sequence[tuple[float, bool]]]) -> dict[TopicSet, Counts]:
    """Return the counts of each set at the threshold that does best on others: a score below it is a switch.

    The others are those of its language, or all where there is none; without any it is ``DEFAULT_THRESHOLD``.
    """
    at = {
        each: [tallied((score < threshold, shift) for score, shift in pairs) for threshold in THRESHOLDS]
        for each, pairs in scored.items()
    }
    chosen = {}
    for each in at:
        alike = [counts for other, counts in at.items() if other != each and other.language == each.language]
        others = alike or [counts for other, counts in at.items() if other != each]
        sums = [sum(counts[step].row()["F1"] for counts in others) for step in range(len(THRESHOLDS))]
        best = max(range(len(sums)), key=sums.__getitem__) if others else THRESHOLDS.index(DEFAULT_THRESHOLD)
        chosen[each] = at[each][best]
    return chosen


def _rows(name: str, counts: Mapping[TopicSet, Counts], languages: dict[str, str]) -> list[Row]:
    rows = [{"method": name, "set": each.name, **count.row()} for each, count in counts.items()]
    means = mean_of_sets(rows, languages)
    return rows + [{**row, "judged": None, "shifts": None} for row in means]


def subjects(files: Mapping[str, Path]) -> list[Row]:
    """Return a row for each file and way: pairs of turns on one subject, found and labelled."""
    rows = []
    for name, file in files.items():
        talks = [_labelled(row["turns"]) for row in read_jsonl(file)]
        for at, way in enumerate(("topics alone", OURS)):
            pairs = [pair for talk in talks for pair in combinations(talk, 2)]
            counts = tallied((one[at] == other[at], one[-1] == other[-1]) for one, other in pairs)
            measures = {measure: counts.row()[measure] for measure in ("P", "R", "F1")}
            rows.append({"method": way, "set": name, **measures, "pairs": len(pairs)})
    return rows


def _labelled(turns: Sequence[Mapping[str, str]]) -> list[tuple[int, int, str]]:
    """Return by turn its topic, the first topic on its subject, and its label."""
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync([(turn["user"], turn["assistant"]) for turn in turns])
    first: list[int] = []
    labelled = []
    for topic in topics_of(gatekeeper):
        first.append(topic.topic_id if topic.returns_to is None else first[topic.returns_to])
        labelled += [(topic.topic_id, first[-1], turn["topic"]) for turn in turns[topic.start : topic.stop]]
    return labelled


def read_sets(folder: Path, count: int | None) -> dict[TopicSet, list[Dialogue]]:
    """Return by set its dialogues, an even sample of so many."""
    return {each: sampled(read_dialogues(folder / "topics" / each.file), count) for each in topic_sets(folder)}


def main() -> None:
    """Measure, print the tables, write JSON if asked to."""
    chosen = options(__doc__, data="topics/*.jsonl").parse_args()
    dialogues = read_sets(chosen.data, QUICK_DIALOGUES if chosen.quick else None)
    with kept_vectors(chosen.vectors):
        tables = run(dialogues, peers=not chosen.ours_only)
    for unit, rows in tables.items():
        print_table(f"Topic gate, unit {unit}: switch in per cent", rows, markdown=chosen.markdown)
    everyday = chosen.data / "everyday" / "everyday_dev.jsonl"
    tables["subject"] = subjects({"own": OWN, **({"everyday": everyday} if everyday.exists() else {})})
    print_table("Subjects, pairs of turns in per cent", tables["subject"], markdown=chosen.markdown)
    settings = {"quick": chosen.quick, "dialogues": {each.name: len(some) for each, some in dialogues.items()}}
    write_json(chosen.json, "topics", settings, tables)


if __name__ == "__main__":
    main()
