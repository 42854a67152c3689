"""The topic gate on dialogues with labelled shifts, beside other ways to tell a shift, in the same run.

Run ``python -m benchmarks.topics --data DIR``, where ``DIR/topics`` holds the dialogues. Each user turn after the first
is a query; the history is everything before it, as turns of a user and an assistant. A shift on the assistant's message
just before counts to the turn.

Reported for ``switch``, in per cent: precision, recall, F1, and false switches, the share of judged utterances within a
topic that are called a switch. A peer that needs a threshold gets, for each set, the one with the best mean F1 on the
other sets of its language (of all languages, where there is no other).

Subjects (``gatekeeper_cli.topics``) are measured apart, over the pairs of turns of a conversation: those of the
everyday conversations, ``DIR/everyday``, and our own, each turn with the label of what it is about. A pair counts as
found where both turns are on one subject; beside it, the topics alone, without what comes back.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from benchmarks.data import Dialogue, TopicSet, as_blocks, read_dialogues, read_jsonl, sampled, topic_sets
from benchmarks.embedding import MINI_LM
from benchmarks.peers import NOT_INSTALLED, missing, terms
from benchmarks.report import Row, options, report
from benchmarks.talks import OWN
from gatekeeper_cli.topics import topics_of
from gatekeeper_core import ContextGatekeeper

_T = TypeVar("_T")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.data import Utterance

    Judge = Callable[[Sequence[Utterance], Sequence[int]], list[_T]]

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

    def row(self) -> Row:
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


def _per_cent(part: int, total: int) -> float:
    return 100.0 * part / total if total else 0.0


def tallied(pairs: Iterable[tuple[bool, bool]]) -> Counts:
    """Return the counts of pairs (called a switch, is a shift)."""
    counts = Counter(pairs)
    return Counts(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def judged_positions(utterances: Sequence[Utterance]) -> list[tuple[int, bool]]:
    """Return which utterances are judged, each with whether a new topic begins there."""
    labels = []
    for before, (at, each) in zip(utterances, list(enumerate(utterances))[1:], strict=False):
        if each.role == "user":
            labels.append((at, each.shift or (before.role == "assistant" and before.shift)))
    return labels


# --- the ways to judge: each takes a dialogue's utterances and the positions to judge -------------------------------


def judge_ours(utterances: Sequence[Utterance], positions: Sequence[int]) -> list[bool]:
    """Return where the gatekeeper's gate says ``switch``."""
    gatekeeper = ContextGatekeeper(token_budget=1)
    called = []
    for at in positions:
        gatekeeper.sync([(block.user, block.assistant) for block in as_blocks(utterances[:at])])
        called.append(gatekeeper.explain(utterances[at].text).gate.decision == "switch")
    return called


def share_of_known_words(utterances: Sequence[Utterance], positions: Sequence[int]) -> list[float]:
    """Return which share of each utterance's words the two turns before it hold; 1.0 for one without words."""
    read = [set(terms(each.text)) for each in utterances]
    shares = []
    for at in positions:
        words: set[str] = set().union(*read[max(0, at - RECENT) : at])
        shares.append(len(read[at] & words) / len(read[at]) if read[at] else 1.0)
    return shares


def cosine_to_recent(utterances: Sequence[Utterance], positions: Sequence[int]) -> list[float]:
    """Return the cosine of each utterance's embedding and the mean of those of the two turns before it."""
    vectors = MINI_LM([each.text for each in utterances])
    cosines = []
    for at in positions:
        mean = vectors[max(0, at - RECENT) : at].mean(axis=0)
        cosines.append(float(vectors[at] @ mean) / max(1e-9, float((mean @ mean) ** 0.5)))
    return cosines


SCORERS: dict[str, Judge[float]] = {
    "overlap of words below a threshold": share_of_known_words,
    "MiniLM cosine below a threshold": cosine_to_recent,
}


# --- the tables -----------------------------------------------------------------------------------------------------


def run(dialogues: Mapping[TopicSet, Sequence[Dialogue]], *, peers: bool) -> list[Row]:
    """Return a row for each method and set, with the means of the sets."""
    scored = {each: _judged(some, judge_ours) for each, some in dialogues.items()}
    rows = _rows(OURS, {each: tallied(pairs) for each, pairs in scored.items()})
    for name, scorer in SCORERS.items() if peers else ():
        if name.startswith("MiniLM") and missing("MiniLM"):
            rows.append({"method": name, "set": NOT_INSTALLED})
        else:
            judged = {each: _judged(some, scorer) for each, some in dialogues.items()}
            rows += _rows(name, by_threshold(judged))
    return rows


def _judged(dialogues: Sequence[Dialogue], judge: Judge[_T]) -> list[tuple[_T, bool]]:
    """Return what a way to judge says of each judged utterance, with its label."""
    pairs: list[tuple[_T, bool]] = []
    for dialogue in dialogues:
        judged = judged_positions(dialogue.utterances)
        verdicts = judge(dialogue.utterances, [at for at, _ in judged])
        pairs += zip(verdicts, (shift for _, shift in judged), strict=True)
    return pairs


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


def _rows(name: str, counts: Mapping[TopicSet, Counts]) -> list[Row]:
    """Return a row for each set, one of their means and, where there are Chinese sets, one of the means of these."""
    rows: list[Row] = [{"method": name, "set": each.name, **count.row()} for each, count in counts.items()]
    chinese = [row for each, row in zip(counts, rows, strict=True) if each.language == "zh"]
    for title, some in (("mean of sets", rows[:]), ("mean of Chinese sets", chinese)):
        if some:
            means = {key: sum(row[key] for row in some) / len(some) for key in ("P", "R", "F1", "false switches")}
            rows.append({"method": name, "set": title, **means, "judged": None, "shifts": None})
    return rows


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


def main() -> None:
    chosen = options(__doc__, data="topics/*.jsonl").parse_args()
    count = QUICK_DIALOGUES if chosen.quick else None
    folder, sets = chosen.data / "topics", topic_sets(chosen.data)
    dialogues = {each: sampled(read_dialogues(folder / each.file), count) for each in sets}
    tables = {"Topic gate: switch in per cent": run(dialogues, peers=not chosen.ours_only)}
    everyday = chosen.data / "everyday" / "everyday_dev.jsonl"
    files = {"own": OWN, **({"everyday": everyday} if everyday.exists() else {})}
    report(chosen, "topics", {**tables, "Subjects, pairs of turns in per cent": subjects(files)})


if __name__ == "__main__":
    main()
