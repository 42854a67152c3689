"""The specification's four checks where one topic follows another without a cue, over every pair of ten topics.

Each of ten conversations in each language has four turns. Its first question is complete in itself; the others are as
people ask them: some share no word with what they hang on, some have a pronoun, some name their subject. ``recall`` asks
again for a fact of one of the first three turns, in words of that turn. A test that fails lists the sessions.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gatekeeper_core import ContextGatekeeper
from tests.case_files import from_file, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDED = {"zh": "换个话题，", "en": "New topic: "}
RULES = {"zh": ("语言", "一律用中文回答"), "en": ("units", "metric only")}
both_languages = pytest.mark.parametrize("language", ["zh", "en"])


class Topic(NamedTuple):
    """A conversation on one topic: its turns, a question that goes back to it, and the turn that answers that."""

    name: str
    turns: list[tuple[str, str]]
    recall: str
    evidence: int


class Session(NamedTuple):
    """The turns before a switch, the position of the first turn of the topic that is left, that one and the new one."""

    before: list[tuple[str, str]]
    old_at: int
    old: Topic
    new: Topic

    @property
    def name(self) -> str:
        """The topic that is left and the new one."""
        return f"{self.old.name} > {self.new.name}"


def sessions(language: str, *, topics_before: int = 1) -> Iterator[Session]:
    """Yield a session for every ordered pair of topics; the last one before the switch lacks its last turn."""
    topics = [
        Topic(name, turns, *more) for lang, name, turns, *more in rows("topic_pairs", "topics") if lang == language
    ]
    for at, old in enumerate(topics):
        others = topics[at + 1 :] + topics[:at]
        for new in others:
            earlier = [topic for topic in others if topic is not new][: topics_before - 1]
            head = [turn for topic in earlier for turn in topic.turns]
            yield Session([*head, *old.turns[:-1]], len(head), old, new)


def sent(gatekeeper: ContextGatekeeper, query: str) -> set[int]:
    return {turn.turn_id for turn in gatekeeper.explain(query).turns}


@cache
def outcomes(language: str, topics_before: int) -> dict[str, dict[str, bool]]:
    """Return by session whether each check of it holds."""
    found = {}
    for session in sessions(language, topics_before=topics_before):
        gatekeeper, old = ContextGatekeeper(), {*range(len(session.before))}
        gatekeeper.sync(session.before)
        (first, _), (second, _) = session.new.turns[:2]
        checks = {
            "no old turn at the switch": not old & sent(gatekeeper, first),
            "no old turn at a worded switch": not old & sent(gatekeeper, WORDED[language] + first),
        }
        gatekeeper.add_turn(*session.new.turns[0])
        checks["own turn after the switch"] = len(old) in sent(gatekeeper, second)
        gatekeeper.sync([*session.before, *session.new.turns])
        checks["evidence at a return"] = session.old_at + session.old.evidence in sent(gatekeeper, session.old.recall)
        found[session.name] = checks
    return found


# Least rates in per cent, for one and for six topics before the switch, as measured. The targets of the specification's
# checks are 92 and 85 (own turn in Chinese and in English), 95 (return), and 88 (no old turn).
@from_file("check", "language", "one", "six")
def test_a_check_holds_in_as_many_sessions_as_before(check: str, language: str, one: int, six: int) -> None:
    """000-30, 000-52, 000-53: checks 1 and 2."""
    for topics_before, least in ((1, one), (6, six)):
        found = outcomes(language, topics_before)
        wrong = [name for name, checks in found.items() if not checks[check]]
        assert 100 * len(wrong) <= (100 - least) * len(found), wrong


@both_languages
def test_where_the_verdict_is_a_switch_only_evidence_goes_along(language: str) -> None:
    """000-53: no turn for its place alone."""
    for session in sessions(language, topics_before=3):
        gatekeeper = ContextGatekeeper()
        gatekeeper.sync(session.before)
        for query in (session.new.turns[0][0], session.old.recall):
            selection = gatekeeper.explain(query)
            if selection.gate.reason in ("new_topic", "return", "explicit_switch"):
                why = {selection.decision(turn.turn_id).why for turn in selection.turns}
                assert why.isdisjoint({"newest_turn", "earlier_turn", "neighbour"}), session.name


@both_languages
@pytest.mark.parametrize("token_budget", [20, 200])
def test_the_budget_holds_and_constraints_stay_over_a_switch(language: str, token_budget: int) -> None:
    """000-40, 000-55: check 4."""
    for session in sessions(language):
        gatekeeper = ContextGatekeeper(token_budget)
        gatekeeper.set_constraint(*RULES[language])
        gatekeeper.sync([*session.before, session.new.turns[0]])
        for query in (session.new.turns[1][0], session.old.recall, WORDED[language] + session.old.turns[0][0]):
            selection = gatekeeper.explain(query)
            assert selection.tokens <= token_budget, session.name
            assert selection.constraints == dict([RULES[language]]), session.name
