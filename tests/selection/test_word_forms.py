"""The forms of English words: what is one term and what only looks alike."""

from __future__ import annotations

import pytest

from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.selection.anchors import count_terms, stem

ONE_WORD = """
    cancel cancellation, cancelling cancelled, cancelled canceled, recommend recommendations,
    configure configuration, pay payments, paid payment, child childhood, children childhood, collect collection,
    reserve reservation, subscribe subscription, authenticate authentication, decide decision,
    describe description, deliver delivery, deny denial, diagnosed diagnosis, fail failure, grow growth, lost loss,
    marry marriage, maintain maintenance, permit permission, prescribe prescription, propose proposal,
    refuse refusal, remove removal, respond response, solve solution, succeeding success, weigh weight,
    withdrew withdrawal, apply application, applied applications, allergies allergic, anxious anxiety, angry anger,
    hungry hunger, safe safety, strong strength, wide width, deep depth, private privacy, possible possibilities,
    simply simple, member membership, friends friendship, colour color, coloured colors, favourite favorite,
    neighbours neighbor, organise organize, organising organized, apologised apologize, prioritise prioritization,
    analyse analyzing, analysis analyze, centre center, theatres theater, metre meters, litres liter,
    catalogue catalog, grey gray, programme programs, travelled traveling, tyre tires, licence license,
    practise practice, defence defense, cheque cheques, pyjamas pajamas, jewellery jewelry, doughnuts donut,
    fulfil fulfilled, enrolled enrol, mice mouse, feet foot, wives wife, shelves shelf, criteria criterion,
    analyses analysis, diagnoses diagnosis, loaves loaf, women woman, teeth tooth, movies movie, cookies cookie,
    won win, winning won, burnt burning, spoilt spoil, organisation organizations, supplies supply,
    replied replies
"""

LOOK_ALIKE = """
    university universe, station state, department depart, international internal, general generation,
    apartment apart, organ organize, organ organization, organisation organise, import important, custom customer,
    app apply, news new, lens len, united unit, tired tyre, tired tire, early ear, supply sup, reply rep,
    busy business, emergency emerge, mission miss, passion pass, portion port, section sect, ration rate,
    nation native, notion note, motion motor, fraction fracture, faction fact, relate relative, comment commit,
    moment momentum, cement cent, payment paint, vacation vacate, vocation vocal, location local, position posit,
    condition conduct, addition addict, edition edit, mention mental, invention inventory, attention attend,
    intention intense, intent tent, reception receipt, recession recess, profession profess, procession process,
    possession possess, object objection, subject subjective, project projector, product produce,
    conduct conductor, contract contraction, extract extra, installment install, statement state, basement base,
    garment garden, document docent, element elephant, experiment experience, experience expert, parliament parlor,
    compliment comply, complement complete, implement imply, neighborhood neighbor, livelihood live,
    likelihood like, scholar scholarship, relation relationship, hard hardly, short shortage, resolution resolve,
    determination terminate, destination destiny, computer compute, policy police, patient patience,
    medicine medical, animal animation, secret secretary, desert dessert, dairy diary, quiet quite, angle angel,
    marry mary, prize prise, size sis, resize resist, conversation conversion, conservation conversation,
    adaptation adoption, inspection inspiration, infection inflection, instruction construction,
    personal personnel, principal principle, stationery stationary, affect effect, weather whether
"""


def pairs(rows: str) -> list[tuple[str, ...]]:
    return [tuple(pair.split()) for pair in rows.split(",")]


@pytest.mark.parametrize(("form", "other"), pairs(ONE_WORD))
def test_the_forms_of_a_word_are_one_term(form: str, other: str) -> None:
    assert stem(form) == stem(other)


@pytest.mark.parametrize(("word", "other"), pairs(LOOK_ALIKE))
def test_words_that_look_alike_stay_apart(word: str, other: str) -> None:
    assert stem(word) != stem(other)


def test_a_plural_of_a_word_without_an_ending_is_its_term() -> None:
    assert {stem(f"{word}s") for word in ("speed", "breed", "organization")} == {"speed", "breed", "organization"}


def test_won_is_a_word_and_what_it_is_part_of_is_none() -> None:
    assert count_terms("Who won? We've won it; I won\u2019t, he won't.") == {"win": 2}
    assert count_terms("她 won 了比赛，我 won't 去") == count_terms("她 win 了比赛，我 去")


@pytest.mark.parametrize(
    ("query", "held"),
    [
        ("How did my cancellation go?", "Cancel the gym contract by the 20th."),
        ("When was the theatre booking paid?", "The payment for the theater went out on Monday."),
        ("我们公司 subscription 的事", "记得 subscribe 那个周刊"),
        ("那个 dashboard 用什么 colour", "dashboard 的 colors 选蓝色"),
    ],
)
def test_a_turn_is_found_by_another_form_of_its_word(query: str, held: str) -> None:
    gatekeeper = ContextGatekeeper()
    for user in (held, "Water the ferns twice a week.", "下午去接孩子"):
        gatekeeper.add_turn(user, "ok")
    assert [each.turn_id for each in gatekeeper.explain(query).decisions if each.score and each.score.matched] == [0]
