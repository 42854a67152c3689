from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core.tokens import TokenCounter, estimate_text_tokens
from gatekeeper_core.truncation import truncate_middle, truncate_to_tokens
from tests.case_files import rows
from tests.test_tokens import texts, three_scripts

# --- the beginning


def bytes_counter(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def erratic_counter(text: str) -> int:
    """Goes up and down with the length: 0 now and then, even for a long text."""
    return len(text) * 7_919 % 31


def stubborn_counter(text: str) -> int:
    """Refuses everything but the empty text."""
    return 10**9 if text else 0


COUNTERS: list[TokenCounter] = [estimate_text_tokens, len, bytes_counter, erratic_counter, stubborn_counter]

[[CLUSTERS]] = rows("truncation", "clusters")
cluster_lists = st.lists(st.sampled_from([*CLUSTERS, "中", "a", " ", "\ud800", "한"]))
cluster_texts = cluster_lists.map("".join)


@given(texts | cluster_texts, st.integers(0, 40), st.sampled_from(COUNTERS), st.sampled_from(["", "…", " [已截断]"]))
@example("abc", 0, estimate_text_tokens, "")
def test_a_cut_text_is_a_prefix_within_the_budget_for_any_counter(
    text: str, budget: int, counter: TokenCounter, marker: str
) -> None:
    """004-09, 001-75: the counter's count of the result, marker included, is at most the budget."""
    cut = truncate_to_tokens(text, budget, token_counter=counter, marker=marker)
    assert counter(cut) <= budget
    assert text.startswith((cut, cut.removesuffix(marker)))


@given(cluster_lists, st.integers(1, 40), st.sampled_from(["", "…"]))
def test_a_cut_text_is_the_longest_run_of_whole_characters_that_fits(
    clusters: list[str], budget: int, marker: str
) -> None:
    """001-75."""
    text = expected = "".join(clusters)
    while len(expected) > budget:
        clusters = clusters[:-1]
        expected = "".join(clusters) + marker
    assert truncate_to_tokens(text, budget, token_counter=len, marker=marker) == expected


def test_no_character_is_split_whatever_stands_before_it() -> None:
    for before, cluster in product(["", "ab", "中文", "🇨🇳🇯🇵", "\u200b"], CLUSTERS):
        for budget in range(len(before), len(before) + len(cluster)):
            cut = truncate_to_tokens(f"{before}{cluster}中end", budget, token_counter=len)
            assert cut == before[:budget], ascii(cut)


@pytest.mark.parametrize("counter", [len, erratic_counter, stubborn_counter])
def test_the_counter_is_called_a_logarithmic_number_of_times(counter: TokenCounter) -> None:
    seen = 0

    def counting(text: str) -> int:
        nonlocal seen
        seen += 1
        return counter(text) + 1

    truncate_to_tokens("中a" * 50_000, 10_000, token_counter=counting, marker="…")
    assert seen <= 60


def test_a_counter_that_refuses_the_cut_between_characters_gets_a_shorter_text() -> None:
    """001-75: what fits in the middle of a letter need not fit at its start; the way back stays logarithmic."""
    seen = 0

    def odd_lengths_only(text: str) -> int:
        nonlocal seen
        seen += 1
        return 0 if len(text) % 2 or not text else 10**9

    assert truncate_to_tokens("e\u0301" * 50_000, 50_000, token_counter=odd_lengths_only) == ""
    assert seen <= 60


# --- both ends


@given(texts, st.integers(0, 40), st.sampled_from([None, len, lambda text: len(text.encode("utf-8", "surrogatepass"))]))
def test_a_text_without_its_middle_keeps_both_ends_within_the_budget(
    text: str, budget: int, counter: TokenCounter | None
) -> None:
    """002-29."""
    cut = truncate_middle(text, budget, token_counter=counter, marker="<{omitted}>")
    assert (counter or estimate_text_tokens)(cut) <= budget
    if cut != text:
        head, _, rest = cut.partition("<")
        omitted, _, tail = rest.partition(">")
        assert text.startswith(head)
        assert text.endswith(tail)
        if rest and "<" not in text:
            gone = text[len(head) : len(text) - len(tail)]
            assert int(omitted) == len(gone.encode("utf-8", "surrogatepass")) > 0


@pytest.mark.parametrize("unit", ["长文本", "plain text ", "mixed 文本 "])
@pytest.mark.parametrize("marker", ["…[{omitted}]…", "\n……[已省略 {omitted} 字节]……\n"])
def test_cutting_a_cut_text_again_leaves_one_mark_with_the_bytes_of_both(unit: str, marker: str) -> None:
    """002-29."""
    text = shorter = unit * 200
    for budget in (590, 500, 499, 498, 120, 60):
        shorter = truncate_middle(shorter, budget, token_counter=len, marker=marker)
        before, after = marker.split("{omitted}")
        head, _, rest = shorter.partition(before)
        omitted, _, tail = rest.partition(after)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert int(omitted) == len(text.encode()) - len(head.encode()) - len(tail.encode())


@three_scripts
def test_two_thirds_of_a_shortened_text_are_its_beginning(text: str) -> None:
    """002-29: head and tail, and the number of bytes between them."""
    head, omitted, tail = truncate_middle(text, 40, token_counter=len, marker="|{omitted}|").split("|")
    assert (len(head), len(tail)) in ((24, 11), (23, 11), (24, 12))
    assert int(omitted) == len(text.encode()) - len((head + tail).encode())
