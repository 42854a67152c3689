"""The benchmark of the summaries measures what it says: evidence, answers, words, on what each method keeps."""

from __future__ import annotations

from benchmarks.data import Block, Question
from benchmarks.summaries import Line, question_measures, talk_of, word_measures

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
