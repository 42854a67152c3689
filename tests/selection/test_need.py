"""The need of a turn is a probability, and its price decides how much of it is sent."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig, Selection, data_files
from gatekeeper_core.selection.need import coverage_at, need_weights, price_of, smallest_form, tokens_worth
from tests.calls import first_column
from tests.case_files import from_file, rows

needs = st.floats(0, 1)
sizes = st.integers(1, 3_000)
prices = st.floats(1e-7, 0.01)


@given(needs, needs, sizes, prices, prices)
def test_a_higher_need_or_a_lower_price_never_sends_less_and_never_more_than_all(
    need: float, other: float, tokens: int, price: float, cheaper: float
) -> None:
    """000-32, 000-33."""
    (low, high), (cheap, dear) = sorted((need, other)), sorted((price, cheaper))
    assert 0 <= tokens_worth(low, tokens, dear) <= tokens_worth(low, tokens, cheap) <= tokens
    assert tokens_worth(low, tokens, dear) <= tokens_worth(high, tokens, dear)
    assert tokens_worth(low, tokens, 0.0) == tokens


@pytest.mark.parametrize("tokens", [1, 39, 119, 120, 121, 200, 400, 600])
def test_the_size_of_a_cut_is_the_best_of_all_sizes(tokens: int) -> None:
    """000-31, 000-32: against a search over all sizes; what is kept is worth the square root of its share."""
    sizes = [0, *range(smallest_form(tokens), tokens + 1)]
    roots = [math.sqrt(size / tokens) for size in sizes]
    for need, coverage in product([at / 50 for at in range(51)], [0.0, 0.3, 0.6, 0.8, 0.85, 0.9, 0.95, 0.99]):
        price = price_of(coverage)
        gains = [need * root - price * size for size, root in zip(sizes, roots, strict=True)]
        size = tokens_worth(need, tokens, price)
        assert max(gains) - price / 2 <= gains[sizes.index(size)], (need, coverage, size)


@given(st.floats(0, 1))
def test_price_and_coverage_are_inverse(coverage: float) -> None:
    """000-33."""
    assert coverage_at(price_of(coverage)) == pytest.approx(coverage, abs=1e-5)
    assert price_of(coverage) >= price_of(1.0) == 0.0


# --- through the door

CHATS: dict[str, list[tuple[str, str]]] = {}
for language, user, assistant in rows("topics", "talk"):
    CHATS.setdefault(language, []).append((user, f"{assistant} " * (1 + 4 * len(CHATS[language]))))
QUESTIONS = {language: questions for language, *questions in rows("need", "question")}
COVERAGES = (0.0, 0.3, 0.6, 0.85, 0.95, 1.0)


def selections(coverage: float) -> list[Selection]:
    """Return what is sent for every question in every conversation, of other languages as well."""
    results = []
    for turns in CHATS.values():
        gatekeeper = ContextGatekeeper(config=GatekeeperConfig(coverage=coverage))
        gatekeeper.sync(turns)
        results += [gatekeeper.explain(query) for questions in QUESTIONS.values() for query in questions]
    return results


def test_a_higher_coverage_sends_more_in_the_mean() -> None:
    """000-33: more tokens, and a greater share of what is needed."""
    sent = [selections(coverage) for coverage in COVERAGES]
    tokens = [sum(selection.tokens for selection in results) for results in sent]
    shares = [math.fsum(selection.coverage for selection in results) for results in sent]
    assert tokens == sorted(set(tokens))
    assert shares == sorted(set(shares))
    assert all(0.0 <= selection.coverage <= 1.0 for results in sent for selection in results)


@pytest.mark.parametrize("language", CHATS)
def test_the_strongest_sign_of_a_need_comes_first_and_the_signs_give_the_need(language: str) -> None:
    """000-16: what the log odds of the signs add up to is the need, of an older turn times that of anything."""
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(CHATS[language])
    for query in QUESTIONS[language]:
        selection = gatekeeper.explain(query)
        for decision in selection.decisions:
            if decision.score is None or decision.need is None or decision.why not in ("evidence", "low_need"):
                continue
            added = [value for _, value in decision.signs]
            assert added == sorted(added, key=abs, reverse=True)
            odds = math.exp(need_weights().older["bias"] + math.fsum(added))
            assert decision.need >= selection.gate.need * odds / (1 + odds) - 1e-3


@from_file("fact", "chatter", "question")
def test_chatter_before_a_question_does_not_hide_what_it_needs(fact: str, chatter: str, question: str) -> None:
    """000-30: a question after other sentences needs about what it needs alone."""
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync([(fact, "OK"), *CHATS["english"], *CHATS["chinese"]])
    alone, after = gatekeeper.explain(question), gatekeeper.explain(chatter + question)
    assert {0} <= {turn.turn_id for turn in alone.turns} & {turn.turn_id for turn in after.turns}
    assert after.gate.need > 0.9 * alone.gate.need


def test_the_page_lists_each_sign() -> None:
    cells = [cell for cell in first_column("selection.md", "### Needs") if "**" not in cell]
    signs = {sign for _, sign, *_ in data_files.rows("need.tsv")} - {"bias"}
    assert {sign for cell in cells for sign in cell.split(", ")} == signs
