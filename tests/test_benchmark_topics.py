"""The benchmark of the gate counts what it says: units, precision, recall, F1, false switches, thresholds."""

from __future__ import annotations

import pytest

from benchmarks.data import Dialogue, TopicSet, Utterance
from benchmarks.topics import OURS, Counts, by_threshold, judged_positions, run, tallied

ENGLISH, CHINESE = TopicSet("one", "one.jsonl", "en"), TopicSet("two", "two.jsonl", "zh")
UTTERANCES = (
    Utterance("user", "How do I bake rye bread?", shift=False),
    Utterance("assistant", "Feed the sourdough first.", shift=False),
    Utterance("user", "For how long should rye bread bake?", shift=False),
    Utterance("assistant", "By the way, the ferry to Oslo leaves at noon.", shift=True),
    Utterance("user", "Does the Oslo ferry take cars?", shift=False),
    Utterance("assistant", "Yes, the ferry takes cars.", shift=False),
    Utterance("user", "Which guitar strings suit a beginner?", shift=True),
)


def test_a_shift_on_the_assistants_message_just_before_counts_to_the_user_turn() -> None:
    assert judged_positions(UTTERANCES) == [(2, False), (4, True), (6, True)]


def test_precision_recall_f1_and_false_switches_are_those_worked_out_by_hand() -> None:
    # 3 hits, 1 false, 2 missed, 9 quiet: P 3/4, R 3/5, F1 6/9, false switches 1/10.
    pairs = [(True, True)] * 3 + [(True, False)] + [(False, True)] * 2 + [(False, False)] * 9
    counts = tallied(pairs)
    assert counts == Counts(hits=3, false=1, missed=2, quiet=9)
    row = counts.row()
    assert (row["P"], row["R"], row["false switches"]) == (75.0, 60.0, 10.0)
    assert row["F1"] == pytest.approx(100 * 6 / 9)
    assert (row["judged"], row["shifts"]) == (15, 5)


def test_a_threshold_is_chosen_on_the_other_sets_only() -> None:
    # The best threshold for "one" lies above 0.6, for "two" above 0.2; each is judged at the other's.
    scored = {ENGLISH: [(0.62, True), (0.9, False)], CHINESE: [(0.22, True), (0.42, False), (0.5, False)]}
    counts = by_threshold(scored)
    assert counts[ENGLISH] == Counts(hits=0, false=0, missed=1, quiet=1)
    assert counts[CHINESE] == Counts(hits=1, false=2, missed=0, quiet=0)


def test_means_are_taken_over_all_sets_and_over_the_chinese_ones() -> None:
    calm = Dialogue("calm", "calm", UTTERANCES[:3])
    rows = run({ENGLISH: [Dialogue("bread", "bread", UTTERANCES)], CHINESE: [calm]}, peers=False)
    assert [row["set"] for row in rows] == ["one", "two", "mean of sets", "mean of Chinese sets"]
    one, two, mean, chinese = (row["R"] for row in rows)
    assert (mean, chinese) == ((one + two) / 2, two)
    assert one > two
    assert (rows[2]["method"], rows[2]["judged"]) == (OURS, None)
