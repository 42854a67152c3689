"""What users had to say again: corrections, quotes and names that the selection did not hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gatekeeper_eval.prompts import prompts_of
from gatekeeper_eval.reminders import look_back, reminders_of
from gatekeeper_eval.sampling import sample_turns
from tests.case_files import from_file
from tests.eval.chats import BREAD
from tests.talks import dicts_of

if TYPE_CHECKING:
    from pathlib import Path

    from gatekeeper_eval.reminders import LookBack

FACTS = {
    "english": ("Our supplier is Almeida in Porto, the order is INV-4021.", "Which flour do I need for the sourdough?"),
    "chinese": ("供应商是波尔图的阿尔梅达，订单号 INV-4021。", "酸面包要用哪种面粉？"),
    "mixed": ("supplier 是 Porto 的 Almeida，订单 INV-4021。", "sourdough 要用哪种面粉？"),
}


def look(folder: Path, fact: str, question: str, next_text: str) -> LookBack:
    talk = [(fact, "Noted."), BREAD, (question, "Strong flour. 高筋面粉。"), (next_text, "Yes.")]
    (folder / "talk.json").write_text(json.dumps(dicts_of(talk)), encoding="utf-8")
    turns = [turn for turn in sample_turns(str(folder)).turns if turn.id.turn == 2]
    (prompts,) = prompts_of(turns, token_budget=4000)
    return look_back(prompts)


@from_file("script", "next_text", "missed")
def test_a_correction_shows_what_the_selection_did_not_hold(
    tmp_path: Path, script: str, next_text: str, missed: str
) -> None:
    found = look(tmp_path, *FACTS[script], next_text)
    assert (missed, "correction") in found.missed


def test_a_name_of_three_characters_is_one_thing(tmp_path: Path) -> None:
    for next_text, kind in (("不对，我说的是阿尔梅达的面粉。", "correction"), ("面粉要用阿尔梅达的吗？", "name")):
        assert look(tmp_path, *FACTS["chinese"], next_text).missed == (("阿尔梅达", kind),)


def test_a_capitalised_word_and_a_quoted_phrase_are_names_and_quotes(tmp_path: Path) -> None:
    fact = 'The label says "stone ground", and the mill is in Porto.'
    found = look(
        tmp_path, fact, "Which flour do I need for the sourdough?", 'Is flour "stone ground" from Porto fine for it?'
    )
    assert {(each.text, each.kind) for each in found.missed} >= {("stone ground", "quote"), ("Porto", "name")}


def test_what_the_selection_holds_is_held(tmp_path: Path) -> None:
    fact = "The sourdough starter is called Bruno, flour type 550."
    found = look(
        tmp_path, fact, "Which flour type does the sourdough starter Bruno need?", "No, I meant flour type 550."
    )
    assert ("550", "correction") in found.held
    assert found.missed == found.missed_by_newest == ()


def test_what_the_question_has_itself_and_what_is_new_are_no_reminders(tmp_path: Path) -> None:
    found = look(tmp_path, *FACTS["english"], "No, I meant sourdough with Tipo-00 flour.")
    assert (found.held, found.missed) == ((), ())


def test_a_turn_that_goes_elsewhere_says_nothing_about_the_answer(tmp_path: Path) -> None:
    found = look(tmp_path, *FACTS["english"], "New topic: where in Porto is Almeida?")
    assert found.missed == ()


def test_the_shares_are_over_turns_with_a_reminder(tmp_path: Path) -> None:
    missed = look(tmp_path, *FACTS["english"], "No, I meant the flour for the order INV-4021.")
    nothing = look(tmp_path, *FACTS["english"], "Thanks!")
    value = reminders_of([nothing, missed])
    assert (value.turns.hits, value.turns.total) == (1, 1)
    assert value.missed.total == len(missed.held) + len(missed.missed)
    assert json.loads(json.dumps(value.to_dict()))["kinds"]["correction"]["missed"] == len(missed.missed)
