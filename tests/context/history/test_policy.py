"""The policy by itself: sizes and prices in, plans and bills out, over random threads."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core.context.history.policy import CallBill, Plan, PolicyState, PromptPolicy, PromptSizes, SentRequest
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.pricing.cache import MOST
from gatekeeper_core.pricing.prices import UNKNOWN, ModelPrices
from gatekeeper_core.pricing.usage import Usage

MARKED = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75, marked=True)
PRICES = {
    "unknown": UNKNOWN,
    "marked": MARKED,
    "marked, a large prefix": ModelPrices(input=3, output=15, cache_read=0.3, cache_write=6, min_cached_tokens=4096),
    "automatic": ModelPrices(input=2, output=8, cache_read=0.5, cache_write=2, step_tokens=128),
    "half price": ModelPrices(input=2, output=8, cache_read=1, cache_write=2, step_tokens=128),
    "small prefixes": ModelPrices(
        input=0.3, output=1, cache_read=0.03, cache_write=0.3, step_tokens=64, min_cached_tokens=64
    ),
    "reading is free": ModelPrices(input=1, output=1, cache_read=0, cache_write=1),
    "nothing is cached": ModelPrices(input=1, output=1, cache_read=1, cache_write=1, min_cached_tokens=None),
    "nothing costs": ModelPrices(input=0, output=0, cache_read=0, cache_write=0),
}
HEADING = 60
"""Tokens of the heading that recalled turns stand under."""

seeds = st.integers(0, 2**32 - 1)
each_price = pytest.mark.parametrize("prices", PRICES.values(), ids=PRICES)


class Call(NamedTuple):
    """One question of a thread, as the policy saw it."""

    sizes: PromptSizes
    plan: Plan
    bill: CallBill
    before: PolicyState
    after: PolicyState


def sent_for(sizes: PromptSizes, plan: Plan) -> SentRequest:
    tokens = sizes.fixed + plan.tokens + sizes.question
    everything = sizes.fixed + sum(sizes.turns) + sizes.question
    return SentRequest(
        fixed=sizes.fixed,
        tokens=tokens,
        stable_tokens=sizes.fixed + plan.body_tokens if plan.recalled else tokens,
        same_tokens=tokens,
        everything_tokens=everything,
        everything_stable_tokens=everything,
        everything_same_tokens=sizes.everything_same_tokens,
        goes_on=sizes.goes_on,
        is_last=bool(plan.recalled) and not sizes.is_run,
    )


def called(policy: PromptPolicy, sizes: PromptSizes) -> Call:
    plan, state = policy.choose(sizes)
    bill, after = policy.charge(state, sent_for(sizes, plan), plan)
    return Call(sizes, plan, bill, policy.state, after._replace(turn_count=len(sizes.turns)))


def thread(
    seed: int,
    *,
    prices: ModelPrices,
    steps: int = 0,
    edits: bool = False,
) -> Iterator[Call]:
    """Ask question after question in a random thread, whose selections are random, too.

    Args:
        seed: of the random numbers.
        prices: of the model.
        steps: calls of tools for each question.
        edits: whether the history is edited now and then.
    """
    chance = random.Random(seed)
    fixed, mean, cold = (
        chance.choice([0, 600, 1500, 4000]),
        chance.choice([30, 70, 210, 800]),
        chance.choice([0, 0, 0.3]),
    )
    recalls = chance.random() < 0.5
    state, turns, now = PolicyState(), list[int](), 0.0
    for name in range(chance.choice([10, 60])):
        question = chance.randint(1, 40) if chance.random() < 0.9 else chance.randint(40, 3000)
        count = min(len(turns), chance.choice([0, 1, 1, 2, 3, 8]))
        selected = {
            at: max(1, turns[at] // chance.choice([1, 1, 2, 9])) for at in chance.sample(range(len(turns)), count)
        }
        now += prices.lifetime_seconds + 1 if chance.random() < cold else 1
        same = chance.randint(0, state.turn_count) if edits and chance.random() < 0.2 else state.turn_count
        sizes = PromptSizes(
            fixed=fixed,
            question=question,
            turns=tuple(turns),
            selected=selected,
            room=10**9,
            recall=(lambda told, known=selected: HEADING + sum(known[at] for at in told)) if recalls else None,
            same_turns=same,
            everything_same_tokens=fixed + sum(turns[:same]),
            goes_on=same == state.turn_count,
            question_name=str(name),
            is_run=bool(steps) and bool(turns),
        )
        call = called(PromptPolicy(prices=prices, state=state, now=now), sizes)
        grown, sent = 0, sent_for(sizes, call.plan)
        for _ in range(steps):
            grown, now, policy = grown + mean, now + 1, PromptPolicy(prices=prices, state=call.after, now=now + 1)
            step = sent._replace(
                tokens=sent.tokens + grown,
                same_tokens=sent.tokens + grown - mean,
                everything_tokens=sent.everything_tokens + grown,
                everything_stable_tokens=sent.everything_tokens + grown,
                stable_tokens=sent.stable_tokens if call.plan.recalled else sent.tokens + grown,
            )
            bill, after = policy.charge(call.after, step, None)
            call = call._replace(bill=bill, after=after)
        yield call
        state = call.after
        turns.append(question + grown + (mean if steps else 1 + int(chance.expovariate(1 / mean))))


# --- the promises


@each_price
@pytest.mark.parametrize("steps", [0, 3])
@example(seed=82063)
@given(seed=seeds)
def test_no_new_body_takes_the_bill_over_its_share_of_that_of_sending_everything(
    prices: ModelPrices, steps: int, seed: int
) -> None:
    """What a question needs is recalled all the same; ``benchmarks.cost --agents`` holds whole bills to the share."""
    for call in thread(seed, prices=prices, steps=steps):
        bill = call.bill
        if call.plan.reason == "paid_off" and not steps:
            assert bill.paid <= MOST * bill.everything_paid * (1 + 1e-9)
        if call.plan.reason == "cheaper_now":
            assert call.plan.dollars <= call.plan.kept_dollars


def test_the_threads_of_these_tests_have_every_action_and_reason() -> None:
    calls = [call.plan for seed in range(60) for prices in PRICES.values() for call in thread(seed, prices=prices)]
    assert set(Counter(plan.action for plan in calls)) == {"everything", "kept", "rebuilt"}
    reasons = {"not_smaller", "not_paid_off", "saves_too_little", "guard", "paid_off", "cheaper_now"}
    assert {plan.reason for plan in calls} == reasons
    assert any(plan.recalled for plan in calls)


@each_price
@given(seed=seeds, edits=st.booleans())
def test_every_selected_turn_is_sent_and_the_body_only_grows_until_it_is_chosen_anew(
    prices: ModelPrices, seed: int, edits: bool
) -> None:
    for call in thread(seed, prices=prices, edits=edits):
        sizes, plan, count = call.sizes, call.plan, len(call.sizes.turns)
        assert set(sizes.selected) <= {*plan.body, *plan.recalled}
        assert call.after.turns(count) == plan.body
        if plan.action == "everything":
            assert plan.body == tuple(range(count))
        if plan.action != "rebuilt":
            assert set(call.before.turns(count)) <= set(plan.body)
        if not sizes.goes_on:
            assert plan.cached_tokens <= sizes.fixed + sum(sizes.turns[: sizes.same_turns])


@each_price
@given(seed=seeds)
def test_the_same_question_again_gets_the_same_plan_and_no_rent(prices: ModelPrices, seed: int) -> None:
    for call in thread(seed, prices=prices):
        policy = PromptPolicy(prices=prices, state=call.after, now=call.after.called_at)
        again = called(policy, call.sizes._replace(same_turns=len(call.sizes.turns)))
        assert (again.plan.body, again.plan.recalled) == (call.plan.body, call.plan.recalled)
        assert again.plan.reason == "same_run"
        kept = ("body", "since", "rent", "recalled_tokens", "questions")
        assert all(getattr(again.after, name) == getattr(call.after, name) for name in kept)


@each_price
@given(seed=seeds)
def test_a_body_is_used_only_where_the_turns_that_it_was_chosen_from_are_still_there(
    prices: ModelPrices, seed: int
) -> None:
    for call in thread(seed, prices=prices, edits=True):
        if call.sizes.same_turns < call.before.since and call.plan.action != "rebuilt":
            assert call.plan.body == tuple(range(len(call.sizes.turns)))


# --- why


def sizes_of(**changed: Any) -> PromptSizes:
    """Return 40 turns of 200 tokens, of which the question needs one; a label costs nothing."""
    sizes = PromptSizes(
        fixed=100,
        question=20,
        turns=[200] * 40,
        selected={7: 200},
        room=10**9,
        recall=lambda told: 200 * len(told),
        same_turns=39,
    )
    return sizes._replace(**changed)


def warm_state(**changed: Any) -> PolicyState:
    """Return the state of a thread that has sent everything so far: 39 turns."""
    state = PolicyState(
        turn_count=39, fixed_tokens=100, questions=39, stable_tokens=7900, everything_stable_tokens=7900, called_at=0.0
    )
    return state._replace(**{"paid": 0.3, "everything_paid": 0.3, **changed})


@pytest.mark.parametrize(
    ("reason", "action", "sizes", "policy", "state"),
    [
        ("not_smaller", "everything", {"selected": dict.fromkeys(range(40), 200)}, {}, {}),
        ("not_paid_off", "everything", {}, {}, {"recalled_tokens": 500.0}),
        ("paid_off", "rebuilt", {}, {}, {}),
        ("cheaper_now", "rebuilt", {}, {"now": 301.0}, {}),
        ("saves_too_little", "everything", {"selected": dict.fromkeys(range(35), 200)}, {"now": 301.0}, {}),
        ("saves_too_little", "everything", {"is_small": True}, {}, {}),
        ("guard", "everything", {}, {}, {"paid": 0.31}),
        ("no_room", "rebuilt", {"room": 8100}, {}, {}),
        ("no_room", "rebuilt", {"room": 7999, "is_small": True}, {}, {}),
        ("saves_too_little", "everything", {"room": 8100, "is_small": True}, {}, {}),
        ("same_run", "everything", {"question_name": "a"}, {}, {"question": "a"}),
        ("strategy", "fresh", {}, {"is_thrifty": True}, {}),
        ("small_history", "everything", {"selected": {}, "room": 0}, {"everything_reason": "small_history"}, {}),
    ],
)
def test_the_reason_is_one_word(
    reason: str, action: str, sizes: dict[str, Any], policy: dict[str, Any], state: dict[str, Any]
) -> None:
    made = PromptPolicy(prices=MARKED, state=warm_state(**state), **{"now": 1.0, **policy})
    plan, _ = made.choose(sizes_of(**sizes))
    assert (plan.reason, plan.action) == (reason, action)


def test_a_body_that_no_cache_takes_is_filled_up_with_the_newest_turns() -> None:
    plan, _ = PromptPolicy(prices=MARKED, state=PolicyState()).choose(sizes_of())
    assert plan.body == (7, 36, 37, 38, 39), "100 + 5 x 200 tokens are 1,100, and 1,024 the smallest prefix"
    uncached = PRICES["nothing is cached"]
    assert PromptPolicy(prices=uncached, state=PolicyState()).choose(sizes_of())[0].body == (7,)


def test_where_a_selected_turn_has_room_as_an_excerpt_alone_the_selection_is_sent_as_it_is() -> None:
    sizes = sizes_of(turns=[200, 9000, 200], selected={1: 90, 0: 200}, room=1000)
    plan, state = PromptPolicy(prices=MARKED, state=PolicyState()).choose(sizes)
    assert (plan.action, plan.reason, plan.tokens, plan.recalled) == ("fresh", "no_room", 290, ())
    assert state.turns(4) == (3,)


# --- what the provider reports


def state_after(**changed: Any) -> PolicyState:
    """Return the state behind a call of 5,000 tokens, 4,000 of them cached, where everything had 9,000."""
    state = PolicyState(
        since=9, sent_tokens=5000, expected_tokens=4000, everything_tokens=9000, dollars=0.005, everything_dollars=0.006
    )
    return state._replace(paid=0.105, everything_paid=0.206, **changed)


def corrected(state: PolicyState, **usage: int) -> PolicyState:
    return PromptPolicy(prices=MARKED, state=state).corrected(Usage(**{"output_tokens": 9, **usage}))


def test_what_a_provider_reports_stands_in_place_of_the_estimate() -> None:
    after = corrected(state_after(), input_tokens=5000, cached_tokens=4000, cache_written_tokens=1000)
    assert after.dollars == pytest.approx(4000 * 0.3e-6 + 1000 * 3.75e-6)
    assert after.paid == pytest.approx(0.1 + after.dollars)
    assert (after.everything_dollars, after.everything_paid) == pytest.approx((0.006, 0.206))
    again = corrected(after, input_tokens=5000, cached_tokens=4000, cache_written_tokens=1000)
    assert (again.paid, again.everything_paid) == pytest.approx((after.paid, after.everything_paid))


def test_where_the_provider_counts_other_tokens_everything_is_scaled_alike() -> None:
    after = corrected(state_after(), input_tokens=6000, cached_tokens=4800)
    assert after.everything_dollars == pytest.approx(0.006 * 1.2)


def test_a_cache_that_had_nothing_would_have_had_nothing_of_everything() -> None:
    after = corrected(state_after(), input_tokens=5000)
    assert after.everything_dollars == pytest.approx(9000 * 3.75e-6)


def test_where_everything_was_sent_both_bills_are_the_reported_one() -> None:
    after = corrected(state_after(since=0), input_tokens=5100, cached_tokens=1)
    assert after.dollars == after.everything_dollars


@pytest.mark.parametrize("state", [PolicyState(), state_after()])
def test_a_report_without_tokens_changes_nothing(state: PolicyState) -> None:
    assert corrected(state, input_tokens=0) == state
    assert corrected(PolicyState(), input_tokens=5) == PolicyState()


# --- stored states


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, -1) for name, value in PolicyState()._asdict().items() if isinstance(value, (int, float))],
        *[(name, True) for name, value in PolicyState()._asdict().items() if not isinstance(value, str)],
        *[(name, None) for name in PolicyState._fields if name != "called_at"],
        *[(name, 10**400) for name in PolicyState._fields],
        *[(name, bad) for name in ("paid", "rent", "called_at") for bad in (float("nan"), float("inf"), "1", [1])],
        *[("turn_count", bad) for bad in (1.0, "3", [])],
        *[("body", bad) for bad in ([-1], [1.0], ["1"], [True], [2, 1], [1, 1], {"1": 2}, "12", [10**400])],
        ("body", [2**53]),
        ("since", 2**53),
        ("texts", [[3, "a"], [2, "b"]]),
        ("recalled", [None]),
        ("question", 5),
        *[("version", bad) for bad in (0, 1, "1", None, [])],
        ("another", 1),
    ],
)
def test_a_stored_state_with_another_value_is_refused(name: str, value: object) -> None:
    stored = {**PolicyState(body=(0, 3), since=7).to_dict(), name: value}
    with pytest.raises(ConfigError, match="begin with PolicyState"):
        PolicyState.from_dict(stored)


@pytest.mark.parametrize("stored", [{}, [], "state", None, 7, {"version": 1}])
def test_what_is_no_stored_state_is_refused(stored: Any) -> None:
    with pytest.raises(ConfigError, match="begin with PolicyState"):
        PolicyState.from_dict(stored)


ids = st.lists(st.integers(0, 2**53 - 1) | st.integers(0, 50), max_size=6, unique=True)
amounts = st.floats(0, 2**53, exclude_max=True) | st.integers(0, 2**53 - 1)
whole = st.integers(0, 2**53 - 1) | st.integers(0, 50)
FORGED = st.fixed_dictionaries(
    {
        "version": st.just(PolicyState().to_dict()["version"]),
        **{
            name: whole if isinstance(value, int) else st.text(max_size=3) if isinstance(value, str) else amounts
            for name, value in PolicyState()._asdict().items()
        },
        "body": ids.map(sorted),
        "recalled": ids,
        "prefixes": st.lists(st.text(max_size=3), max_size=3),
        "branch": st.lists(st.text(max_size=3), max_size=3),
        "texts": st.lists(
            st.tuples(st.integers(0, 50), st.text(max_size=3)), max_size=3, unique_by=lambda each: each[0]
        ).map(sorted),
        "called_at": st.none() | amounts,
    }
)


@given(stored=FORGED, count=st.integers(0, 30), same=st.booleans(), can_recall=st.booleans())
def test_whatever_a_stored_state_says_a_prompt_is_chosen_and_paid(
    stored: dict[str, Any], count: int, same: bool, can_recall: bool
) -> None:
    state = PolicyState.from_dict(json.loads(json.dumps(stored)))
    assert PolicyState.from_dict(state.to_dict()) == state
    turns = [200] * count
    sizes = PromptSizes(
        fixed=600,
        question=20,
        turns=turns,
        selected=dict.fromkeys(range(0, count, 3), 90),
        room=10**6,
        recall=(lambda told: sum(turns[at] for at in told)) if can_recall else None,
        question_name=state.question if same else "another",
    )
    call = called(PromptPolicy(prices=MARKED, state=state, now=5.0), sizes)
    assert {*call.plan.body, *call.plan.recalled} <= set(range(count))
    PromptPolicy(prices=MARKED, state=call.after).corrected(Usage(5, 5, 5))
