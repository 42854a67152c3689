"""Scripts, words, sentences and questions: what is cut where, and that any text at all is cut in linear time."""

from __future__ import annotations

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.text import (
    WORD,
    clean,
    code_fences,
    is_han,
    is_question,
    is_wide,
    locale_of,
    sentences,
    split_thinking,
    word_strings,
)
from tests.case_files import from_file, rows

[[PIECES]] = rows("text", "pieces")
any_text = st.one_of(st.text(st.characters(exclude_categories=())), st.lists(st.sampled_from(PIECES)).map("".join))


def cut(text: str) -> list[str]:
    return [text[start:stop] for start, stop in sentences(text)]


# --- Scripts --------------------------------------------------------------------------------------------------------


def test_scripts_without_spaces_are_wide_and_ideographs_are_han() -> None:
    assert all(map(is_wide, "中々〇㐀\U00020000豈ぁゖァーヷｱｰﾞㇰ가힣ᄀㄱㄅㆠกะ็ກកကཀ"))
    assert all(map(is_han, "中々〇豈\U00020000"))
    assert not any(map(is_han, "のカ가กa。"))


# --- clean ----------------------------------------------------------------------------------------------------------


@from_file("text", "seen")
def test_matching_sees_no_invisible_characters_and_no_full_width_ascii(text: str, seen: str) -> None:
    assert clean(text) == seen


def test_clean_removes_every_format_character_of_this_unicode_version() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    kept = clean(every)
    assert not [char for char in kept if unicodedata.category(char) == "Cf"]
    gone = {char for char in set(every) - set(kept) if unicodedata.category(char) not in ("Cf", "Cn")}
    assert gone == {chr(code) for code in range(0xFF01, 0xFF5F)} | {"\u3000"}


# --- Words ----------------------------------------------------------------------------------------------------------


@from_file("text", "expected")
def test_words_are_runs_of_wide_characters_and_joined_letters(text: str, expected: list[str]) -> None:
    """000-11, 000-13: a run of wide characters ends at punctuation and at another script; identifiers stay whole."""
    assert word_strings(text) == expected


@from_file("text")
def test_a_word_stays_whole(text: str) -> None:
    assert word_strings(text) == [text]


@given(any_text)
def test_a_wide_character_stands_in_wide_words_only(text: str) -> None:
    for word in word_strings(text):
        assert len({is_wide(char) for char in word}) == 1


@given(any_text)
def test_every_letter_and_digit_stands_in_a_word(text: str) -> None:
    inside = {position for word in WORD.finditer(text) for position in range(*word.span())}
    assert not [position for position, char in enumerate(text) if char.isalnum() and position not in inside]


def test_every_combining_mark_stays_with_its_letter_and_no_sign_does() -> None:
    """Unicode 3.2 ships with every Python, so that the answer does not depend on the interpreter."""
    old = unicodedata.ucd_3_2_0
    for char in map(chr, range(sys.maxunicode + 1)):
        category = old.category(char)
        if category[0] == "M" and not is_wide(char) and unicodedata.category(char)[0] == "M":
            assert word_strings(f"a{char}b") == [f"a{char}b"], hex(ord(char))
        elif category[0] in "SZ" and unicodedata.category(char)[0] in "SZ" and char != "+":
            assert word_strings(f"a{char}b") == ["a", "b"], hex(ord(char))


# --- Sentences ------------------------------------------------------------------------------------------------------


@from_file("name", "expected")
def test_a_text_is_cut_into_its_sentences(name: str, expected: list[str]) -> None:
    """000-36: the sentence rules in Chinese, English, Japanese, Korean and mixed text."""
    assert cut("".join(expected)) == [sentence.strip() for sentence in expected if sentence.strip()], name


unfenced = st.lists(st.sampled_from([piece for piece in PIECES if not {"`", "~"} & set(piece)])).map("".join)


@given(unfenced, unfenced, unfenced, st.sampled_from(["```", "~~~", "`````"]))
def test_a_fenced_block_is_one_sentence(before: str, code: str, after: str, fence: str) -> None:
    """000-36: never inside a code fence."""
    block = f"{fence}py\n{code}\n{fence}"
    found = cut(f"{before}\n{block}\n{after}")
    assert found == [*cut(before), block, *cut(after)]
    text = f"{before}\n{block}\n{after}\n{fence}\nnever closed"
    assert [text[start:stop] for start, stop in code_fences(text)] == [block, f"{fence}\nnever closed"]


@given(unfenced.map(lambda text: " ".join(text.split())), unfenced.map(lambda text: " ".join(text.split())))
def test_inline_code_is_never_cut(code: str, after: str) -> None:
    """000-36: never inside back-ticks on one line."""
    assert any(f"`{code}`" in sentence for sentence in cut(f"`{code}`{after}"))


# --- Questions ------------------------------------------------------------------------------------------------------


@from_file("sentence")
def test_a_question_is_known_with_and_without_its_mark(sentence: str) -> None:
    """000-38: the user's question is found in Chinese, English, Japanese, Korean and mixed text."""
    assert is_question(sentence)


@from_file("sentence")
def test_a_statement_is_no_question(sentence: str) -> None:
    assert not is_question(sentence)


@given(any_text)
def test_a_question_mark_at_the_end_makes_any_text_a_question(text: str) -> None:
    assert isinstance(is_question(text), bool)
    assert is_question(text + "？”")


# --- what a model thought aloud


@from_file("text", "thinking", "answer")
def test_thinking_at_the_start_is_split_from_the_answer(text: str, thinking: str, answer: str) -> None:
    """000-50: what a model thought aloud is no part of its answer."""
    assert split_thinking(text) == (thinking, answer)


@from_file("texts", "locale")
def test_headings_follow_the_first_text_with_a_word(texts: list[str], locale: str) -> None:
    assert locale_of(texts) == locale
