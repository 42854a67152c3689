from __future__ import annotations

import re
import tracemalloc
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.token_estimate import (
    CLASSES,
    MARGINS,
    PROFILES,
    WEIGHTS,
    TokenEstimator,
    class_counts,
)
from tests.case_files import from_file
from tests.timing import assert_linear

texts = st.text(st.characters()) | st.text(
    st.sampled_from('aAzZ09 .-="/\n\t\x00é中の가й😀\u0301\ud800')
)  # lone surrogates included
every_profile = pytest.mark.parametrize("profile", PROFILES)

SAMPLES = {
    "chinese": "缓存穿透怎么解决？可以在入口放一个布隆过滤器，把不存在的键挡在外面。" * 4,
    "english": "How do I fix the cache? Put a Bloom filter before it, so that unknown keys never reach the store. " * 4,
    "both": "用 Redis 做缓存, TTL 设 300 秒: `SETEX user:42 300 value`。" * 4,
}
three_scripts = pytest.mark.parametrize("script", SAMPLES)


def counted(text: str) -> dict[str, int]:
    """Return the classes that stand in a text, with their counts."""
    return {name: count for name, count in zip(CLASSES, class_counts(text), strict=False) if count}


def plain_counts(text: str) -> dict[str, int]:
    """Return some of the counts by a loop over characters: a second way to the same numbers."""

    def kind(at: int) -> str:
        if not 0 <= at < len(text):
            return "edge"
        character = text[at]
        if "\u00c0" <= character < "\u0280" or (character.isascii() and character.isalpha()):
            return "letter"
        if not character.isascii():
            return "script"
        if character.isdigit():
            return "digit"
        return {" ": "space", "\t": "tab"}.get(character, "mark" if character.isprintable() else "control")

    kinds = [kind(at) for at in range(-1, len(text) + 1)]
    classes = ("word", "digit", "digits", "mark", "marks", "tab", "spaces", "marks after space")
    found = {**dict.fromkeys(classes, 0), "mixed marks": _mixed_marks(text)}
    for before, now, after in zip(kinds, kinds[1:], kinds[2:], strict=False):
        found["word"] += now == "letter" != before
        found["digit"] += now == "digit"
        found["digits"] += now == "digit" != before
        found["mark"] += now == "mark"
        found["marks"] += now == "mark" != before
        found["marks after space"] += now == "mark" and before == "space"
        found["tab"] += now == "tab"
        found["spaces"] += now == "space" == after != before
    return found


def _mixed_marks(text: str) -> int:
    """Return how many marks stand behind two others, each unlike the one before; quotation marks end a run."""
    runs = re.findall(r"""[!#-/:-@\[-`{-~]+""", text)
    return sum(
        len({*run[at : at + 2]}) == len({*run[at + 1 : at + 3]}) == 2 for run in runs for at in range(len(run) - 2)
    )


# --- what is counted


@given(texts)
def test_the_counts_equal_those_of_a_plain_loop(text: str) -> None:
    plain = plain_counts(text)
    assert {name: counted(text).get(name, 0) for name in plain} == plain


@from_file("text", "expected")
def test_each_class_is_found_where_it_stands(text: str, expected: dict[str, int]) -> None:
    assert counted(text) == expected


def test_the_table_has_a_weight_for_each_class_and_profile() -> None:
    assert tuple(WEIGHTS) == CLASSES
    assert {len(row) for row in WEIGHTS.values()} == {len(PROFILES)}
    assert all(weight >= 0 for row in WEIGHTS.values() for weight in row)
    assert len(class_counts("a")) < len(class_counts("é")) == len(CLASSES)


# --- the estimate


@every_profile
@given(text=texts)
def test_no_text_is_free_and_an_empty_one_is(profile: str, text: str) -> None:
    """C2: at least 1 for any text, so that many short ones cannot hide."""
    tokens = TokenEstimator(profile)(text)
    assert tokens >= 1 if text else tokens == 0


@from_file("text", "cl100k", "o200k")
def test_random_strings_and_rare_scripts_are_within_15_percent(text: str, cl100k: int, o200k: int) -> None:
    """The true counts stand beside each text, base64 and hex among them."""
    for profile, tokens in (("cl100k", cl100k), ("o200k", o200k)):
        assert 0.85 <= TokenEstimator(profile)(text) / tokens <= 1.15


@from_file("text", "estimates")
def test_ordinary_texts_are_estimated_by_the_weights_that_ordinary_texts_gave(text: str, estimates: list[int]) -> None:
    """The fit of hard texts leaves every other weight as it is; three unlike marks in a row cost more."""
    assert [TokenEstimator(profile)(text) for profile in PROFILES] == estimates


@three_scripts
def test_chinese_costs_more_on_an_old_tokenizer(script: str) -> None:
    """003-95: a family of tokenizers matters as much as the script."""
    old, new = (TokenEstimator(profile)(SAMPLES[script]) for profile in ("cl100k", "o200k"))
    assert old > new if script == "chinese" else old >= new


def test_each_family_has_a_small_margin_that_can_be_replaced() -> None:
    """003-23: what is kept free is measured, not a fixed fifth."""
    assert {profile: TokenEstimator(profile).margin for profile in PROFILES} == MARGINS
    assert all(0 < margin < 0.3 for margin in MARGINS.values())
    assert TokenEstimator(margin=0).margin == 0


# --- time and memory


@pytest.mark.parametrize("unit", ["a", "aB", "x1", " ", "\n", "中", "é", "😀", "a中", "\u0301", "-"])
def test_time_and_memory_grow_no_faster_than_the_text(unit: str) -> None:
    """003-19, 002-17: a scan of the characters, nothing dearer: linear in time, in little memory."""
    assert_linear(lambda size: partial(TokenEstimator(), unit * (size // len(unit))), small=100_000, large=1_000_000)
    text = unit * (1_000_000 // len(unit))
    tracemalloc.start()
    TokenEstimator()(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
