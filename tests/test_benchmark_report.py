"""The benchmarks' means over sets."""

from __future__ import annotations

from benchmarks.report import mean_of_sets


def test_means_are_taken_over_all_sets_and_over_the_chinese_ones() -> None:
    rows = [
        {"set": "one", "recall": 10.0, "pollution": None, "judged": 3},
        {"set": "two", "recall": 40.0, "pollution": None, "judged": 4},
    ]
    means = mean_of_sets(rows, {"one": "en", "two": "zh"})
    assert [(row["set"], row["recall"]) for row in means] == [("mean of sets", 25.0), ("mean of Chinese sets", 40.0)]
    assert means[0]["pollution"] is None
    assert [row["set"] for row in mean_of_sets(rows[:1], {"one": "en"})] == ["mean of sets"]
