"""The benchmark of the summaries measures what it says: evidence, answers, words, on what each method keeps."""

from __future__ import annotations

import pytest

from benchmarks.data import Block, Conversation, Dialogue, Question, Utterance
from benchmarks.summaries import (
    OURS,
    PEERS,
    Line,
    chinese_rows,
    chosen,
    english_rows,
    idf_over,
    lexrank,
    lines_of,
    question_measures,
    talk_of,
    word_measures,
)

BLOCKS = (
    Block(("a", "b"), "Anna: Hello there! I sailed to Svalbard.", "Ben: Hello!"),
    Block(("c",), "Anna: My greyhound is called Nansen.", ""),
    Block(("d", "e"), "Anna: The trawler was blue.", "Ben: A blue trawler, how nice."),
)
QUESTIONS = (
    Question("Where did Anna sail to?", ("a",), 4, "Svalbard"),
    Question("What is her greyhound called?", ("c",), 4, "Anna's Nansen, of Oslo"),
    Question("When was that?", ("d",), 2, "May"),
)


def test_evidence_and_answers_are_those_worked_out_by_hand() -> None:
    # A greeting of the evidence message is evidence and no answer; "Oslo" and the name of a speaker are not counted.
    talk = talk_of(BLOCKS)
    kept = [Line(0, "Anna: Hello there!"), Line(2, "Anna: My greyhound is called Nansen.")]
    assert question_measures(talk, QUESTIONS, kept) == {
        "evidence": [1.0, 1.0, 0.0],
        "answers": [0.0, 1.0],
        "both": [0.0, 1.0],
    }
    elsewhere = question_measures(talk, QUESTIONS, [Line(1, "Svalbard and Nansen")])
    assert (elsewhere["answers"], elsewhere["both"]) == ([1.0, 1.0], [0.0, 0.0])


def test_words_count_by_their_idf_and_once() -> None:
    talk = talk_of([Block(("0", "1"), "缓存 集群 缓存", "法兰")])
    idf = {"缓存": 3.0, "集群": 1.0, "法兰": 4.0}
    assert word_measures(talk, [Line(0, "缓存 缓存")], idf) == {"user's words": [0.75], "all words": [3 / 8]}


def test_lexrank_prefers_what_is_like_the_others_and_breaks_ties_by_place() -> None:
    assert lexrank(["The cat sat.", "A cat on a mat.", "The cat on the mat sat.", "Rain."])[0] == 2
    assert lexrank(["one", "two"]) == [0, 1]
    assert lexrank(["", ""]) == [0, 1]
    assert lexrank([]) == []


@pytest.mark.parametrize("method", [*PEERS, OURS])
def test_every_method_keeps_sentences_that_were_said_and_a_third_of_them_at_most(method: str) -> None:
    names = [f"{first}{last}" for first in "bdfgklmn" for last in ("alo", "eri", "ino", "obu", "uma")]
    talk = talk_of([Block((name,), f"I painted the trawler of {name}.", "Fine.") for name in names])
    kept = chosen(talk, method, "en")
    assert kept
    assert set(kept) <= set(lines_of(talk))
    assert sum(len(line.text) for line in kept) < sum(len(message.text) for message in talk.messages) / 2
    assert kept == chosen(talk, method, "en")


def test_each_method_has_a_row_for_each_part_and_set() -> None:
    rows = english_rows([Conversation("1", BLOCKS, QUESTIONS)], peers=True)
    assert [row["method"] for row in rows] == [*PEERS, OURS] * 2
    dialogues = [Dialogue("1", "1", (Utterance("user", "缓存集群", shift=False),))] * 12
    (row,) = chinese_rows("set", dialogues, idf_over(dialogues), peers=False)
    assert (row["method"], row["set"], row["sentences"]) == (OURS, "set", 0)
