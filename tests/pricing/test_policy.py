"""The policy on sizes and prices alone, over random threads: what it sends, what it costs, and what it remembers."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.pricing.cache import MOST
from gatekeeper_core.pricing.policy import (
    Body,
    CachedPrompt,
    CallBill,
    Continuation,
    HistoryDigests,
    Ledger,
    PolicyState,
    PromptPolicy,
    PromptSizes,
)
from gatekeeper_core.pricing.prices import UNKNOWN, ModelPrices
from gatekeeper_core.pricing.usage import Usage
from tests.case_files import from_file

MARKED = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75, marked=True)
UNCACHED = ModelPrices(input=1, output=1, cache_read=1, cache_write=1, min_cached_tokens=None)
PRICES = {
    "unknown": UNKNOWN,
    "marked": MARKED,
    "a large prefix": ModelPrices(input=3, output=15, cache_read=0.3, cache_write=6, min_cached_tokens=4096),
    "half price": ModelPrices(input=2, output=8, cache_read=1, cache_write=2, step_tokens=128),
    "nothing is cached": UNCACHED,
    "nothing costs": ModelPrices(input=0, output=0, cache_read=0, cache_write=0),
}
seeds = st.integers(0, 2**32 - 1)
each_price = pytest.mark.parametrize("prices", PRICES.values(), ids=PRICES)


class Call(NamedTuple):
    sizes: PromptSizes
    bill: CallBill
    before: PolicyState
    after: PolicyState

    @property
    def body(self) -> tuple[int, ...]:
        return self.after.body.ids(len(self.sizes.turns))


def called(policy: PromptPolicy, sizes: PromptSizes) -> Call:
    bill, state = policy.choose(sizes)
    body = sizes.fixed + sum(sizes.turns[turn] for turn in state.body.ids(len(sizes.turns)))
    tokens = body + sizes.question + (sizes.recall(bill.recalled) if bill.recalled and sizes.recall else 0)
    everything = sizes.fixed + sum(sizes.turns) + sizes.question
    sent = CachedPrompt(
        fixed_tokens=sizes.fixed,
        stable_tokens=body if bill.recalled else tokens,
        everything_tokens=everything,
        everything_stable_tokens=everything,
        sent_tokens=tokens,
    )
    common = sizes.continuation
    bill, after = policy.charge(bill, state, sent, continuation=common, same_tokens=tokens, is_last=bool(bill.recalled))
    after = replace(after, history=HistoryDigests(turn_count=len(sizes.turns)))
    return Call(sizes, bill, policy.state, after)


def thread(seed: int, prices: ModelPrices, *, edits: bool = False) -> Iterator[Call]:
    """Ask question after question in a random thread, whose selections are random, too."""
    chance = random.Random(seed)
    fixed, mean, cold = (chance.choice(each) for each in ((0, 600, 1500, 4000), (30, 70, 210, 800), (0, 0, 0.3)))
    recalls = chance.random() < 0.5
    state, turns, now = PolicyState(), list[int](), 0.0
    for _ in range(chance.choice([10, 60])):
        question = chance.randint(1, 40) if chance.random() < 0.9 else chance.randint(40, 3000)
        places = chance.sample(range(len(turns)), min(len(turns), chance.choice([0, 1, 1, 2, 3, 8])))
        selected = {at: max(1, turns[at] // chance.choice([1, 1, 2, 9])) for at in places}
        now += prices.lifetime_seconds + 1 if chance.random() < cold else 1
        before = state.history.turn_count
        same = chance.randint(0, before) if edits and chance.random() < 0.2 else before
        sizes = PromptSizes(
            fixed=fixed,
            question=question,
            turns=tuple(turns),
            selected=selected,
            room=10**9,
            recall=(lambda ids, costs=selected: 60 + sum(costs[at] for at in ids)) if recalls else None,
            continuation=Continuation(same, fixed + sum(turns[:same]), goes_on=same == before),
        )
        call = called(PromptPolicy(prices=prices, state=state, now=now), sizes)
        yield call
        state = call.after
        turns.append(question + 1 + int(chance.expovariate(1 / mean)))


# --- the promises


@each_price
@example(seed=82063)
@given(seed=seeds)
def test_a_paid_off_body_keeps_the_bill_within_its_share_of_that_of_everything(prices: ModelPrices, seed: int) -> None:
    """What a question needs is recalled all the same; ``benchmarks.cost --agents`` holds whole bills to the share."""
    for call in thread(seed, prices):
        if call.bill.reason == "paid_off":
            assert call.bill.paid <= MOST * call.bill.everything_paid * (1 + 1e-9)


def test_the_threads_of_these_tests_have_every_action_and_reason() -> None:
    bills = [call.bill for seed in range(60) for prices in PRICES.values() for call in thread(seed, prices)]
    assert {bill.action for bill in bills} == {"everything", "kept", "rebuilt"}
    reasons = {"not_smaller", "not_paid_off", "saves_too_little", "guard", "paid_off", "cheaper_now"}
    assert {bill.reason for bill in bills} == reasons
    assert any(bill.recalled for bill in bills)


@each_price
@given(seed=seeds, edits=st.booleans())
def test_every_selected_turn_is_sent_and_the_body_only_grows_until_it_is_rebuilt(
    prices: ModelPrices, seed: int, edits: bool
) -> None:
    for call in thread(seed, prices, edits=edits):
        sizes, count, common = call.sizes, len(call.sizes.turns), call.sizes.continuation
        assert set(sizes.selected) <= {*call.body, *call.bill.recalled}
        if call.bill.action == "everything":
            assert call.body == tuple(range(count))
        if call.bill.action != "rebuilt":
            assert set(call.before.body.ids(count)) <= set(call.body)
            if common.same_turns < call.before.body.since:  # the turns that it was chosen from have changed
                assert call.body == tuple(range(count))
        if not common.goes_on:
            assert call.bill.cached_tokens <= sizes.fixed + sum(sizes.turns[: common.same_turns])


@each_price
@given(seed=seeds)
def test_the_same_question_again_gets_the_same_turns_and_no_rent(prices: ModelPrices, seed: int) -> None:
    for call in thread(seed, prices):
        common = Continuation(len(call.sizes.turns), is_same_question=True)
        policy = PromptPolicy(prices=prices, state=call.after, now=call.after.cache.called_at)
        again = called(policy, replace(call.sizes, continuation=common))
        assert (again.body, again.bill.recalled, again.bill.reason) == (call.body, call.bill.recalled, "same_run")
        assert again.after.ledger.rent == call.after.ledger.rent


# --- why


def sizes_of(*, selected: Sequence[int] = (7, 8), is_same_question: bool = False, **changed: Any) -> PromptSizes:
    """Return 40 turns of 200 tokens, of which the question needs some in a row; a label costs nothing."""
    values = {
        "turns": [200] * 40,
        "selected": dict.fromkeys(range(*selected), 200),
        "room": 10**9,
        "continuation": Continuation(39, is_same_question=is_same_question),
    }
    return PromptSizes(fixed=100, question=20, recall=lambda ids: 200 * len(ids), **{**values, **changed})


def warm_state(**changed: Any) -> PolicyState:
    """Return the state of a thread that has sent everything so far: 39 turns."""
    cache = CachedPrompt(fixed_tokens=100, stable_tokens=7900, everything_stable_tokens=7900, called_at=0.0)
    ledger = Ledger(**{"questions": 39, "paid": 0.3, "everything_paid": 0.3, **changed})
    return PolicyState(cache=cache, history=HistoryDigests(turn_count=39), ledger=ledger)


@from_file("reason", "action", "sizes", "policy", "state")
def test_the_reason_is_one_word(
    reason: str, action: str, sizes: dict[str, Any], policy: dict[str, Any], state: dict[str, Any]
) -> None:
    bill, _ = PromptPolicy(prices=MARKED, state=warm_state(**state), **{"now": 1.0, **policy}).choose(sizes_of(**sizes))
    assert (bill.reason, bill.action) == (reason, action)


def test_a_body_that_no_cache_takes_is_filled_up_with_the_newest_turns() -> None:
    for prices, body in ((MARKED, (7, 36, 37, 38, 39)), (UNCACHED, (7,))):  # 100 + 5 x 200 tokens are over 1,024 x 1.05
        assert PromptPolicy(prices=prices, state=PolicyState()).choose(sizes_of())[1].body.turns == body


# --- what the provider reports


AFTER = PolicyState(  # a call of 5,000 tokens, 4,000 of them cached, where everything had 9,000
    body=Body(since=9),
    cache=CachedPrompt(sent_tokens=5000, expected_tokens=4000, everything_tokens=9000),
    ledger=Ledger(paid=0.105, everything_paid=0.206, dollars=0.005, everything_dollars=0.006),
)


def corrected(state: PolicyState, **usage: int) -> Ledger:
    return PromptPolicy(prices=MARKED, state=state).corrected(Usage(**{"output_tokens": 9, **usage})).ledger


def test_reported_usage_replaces_the_estimate() -> None:
    usage = {"input_tokens": 5000, "cached_tokens": 4000, "cache_written_tokens": 1000}
    after = corrected(AFTER, **usage)
    assert after.dollars == pytest.approx(4000 * 0.3e-6 + 1000 * 3.75e-6)
    assert after.paid == pytest.approx(0.1 + after.dollars)
    assert (after.everything_dollars, after.everything_paid) == pytest.approx((0.006, 0.206))
    again = corrected(replace(AFTER, ledger=after), **usage)
    assert (again.paid, again.everything_paid) == pytest.approx((after.paid, after.everything_paid))
    scaled = corrected(AFTER, input_tokens=6000, cached_tokens=4800)
    assert scaled.everything_dollars == pytest.approx(0.006 * 1.2), "the provider counts other tokens"
    missed = corrected(AFTER, input_tokens=5000)
    assert missed.everything_dollars == pytest.approx(9000 * 3.75e-6), "its cache had nothing of either"
    everything = corrected(replace(AFTER, body=Body()), input_tokens=5100, cached_tokens=1)
    assert everything.dollars == everything.everything_dollars
    assert corrected(AFTER, input_tokens=0) == AFTER.ledger


# --- stored states


@pytest.mark.parametrize("path", ["body.turns", "body.texts", "cache.called_at", "history.prefixes", "ledger.paid"])
@pytest.mark.parametrize("value", [-2, True, "1", [1.5], [2, 1], [True], [[3, "a"], [2, "b"]], 2**54, float("nan")])
def test_a_stored_state_with_another_value_is_refused(path: str, value: object) -> None:
    stored: dict[str, Any] = PolicyState(Body((0, 3), since=7)).to_dict()
    part, name = path.split(".")
    stored[part][name] = value
    with pytest.raises(ConfigError, match="start with PolicyState"):
        PolicyState.from_dict(stored)


@pytest.mark.parametrize("stored", [{}, [], "state", None, {"version": 3}, {**PolicyState().to_dict(), "another": 1}])
def test_what_is_not_a_stored_state_is_refused(stored: Any) -> None:
    with pytest.raises(ConfigError, match="start with PolicyState"):
        PolicyState.from_dict(stored)


@given(seed=seeds)
def test_a_stored_state_comes_back(seed: int) -> None:
    for call in thread(seed, MARKED):
        state = replace(call.after, history=HistoryDigests(3, ("a",), ("b",), "t", 1, "s", "q"))
        assert PolicyState.from_dict(json.loads(json.dumps(state.to_dict()))) == state
