"""The account of a thread: calls that are paid once, corrected by what a provider reports."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper_core import HistoryConfig
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.policy import CallBill
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage

PRICES = ModelPrices(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
TALKS = {
    "english": ("Which port does the cache use, number {}? ", "It listens on port {}. "),
    "chinese": ("缓存用哪个端口，第{}号？", "它监听端口{}。"),
    "mixed": ("cache 用哪个 port，number {}？", "它 listens on port {}。"),
}
each_talk = pytest.mark.parametrize("talk", TALKS)


def talk_of(talk: str, turns: int) -> list[dict[str, Any]]:
    """Return a conversation that ends with an answer, of turns of some hundreds of tokens."""
    question, answer = TALKS[talk]
    return [
        {"role": role, "content": text.format(at) * times}
        for at in range(turns)
        for role, text, times in (("user", question, 1), ("assistant", answer, 60))
    ]


def selector() -> ThreadSelector[Any]:
    config = HistoryConfig(strategy="cache", token_budget=100_000, prices=PRICES, on_error="raise")
    return ThreadSelector(Message.from_dict, write=lambda item, one: one.to_dict(), config=config, clock=lambda: 0.0)


def bill_of(threads: ThreadSelector[Any], items: list[dict[str, Any]], *, fixed_tokens: int = 300) -> CallBill:
    bill = threads.view(items, HistoryRequest(fixed_tokens=fixed_tokens), thread="1").bill
    assert bill is not None
    return bill


@each_talk
def test_a_history_that_is_read_when_the_answer_has_come_is_not_paid_for(talk: str) -> None:
    threads, items = selector(), talk_of(talk, 3)
    bill = bill_of(threads, items[:-1])
    assert bill_of(threads, items) == bill
    again = selector()
    bill_of(again, items[:-1])
    more = [*items, {"role": "user", "content": "?"}]
    assert bill_of(threads, more) == bill_of(again, more)


@each_talk
def test_while_everything_is_sent_both_accounts_are_what_is_reported(talk: str) -> None:
    """The provider counts a quarter more: it caches prompts that are too small for a cache by our count."""
    threads, items, paid = selector(), talk_of(talk, 4), 0.0
    for at in range(1, len(items), 2):
        view = threads.view(items[:at], HistoryRequest(fixed_tokens=300), thread="1")
        assert view.bill is not None
        assert view.bill.action == "everything"
        assert view.bill.paid == pytest.approx(paid + view.bill.dollars)
        assert view.bill.everything_paid == pytest.approx(view.bill.paid)
        tokens = 5 * (300 + view.tokens) // 4
        usage = Usage(tokens, 50, cached_tokens=1024 * (tokens > 1300))
        threads.report(usage, thread="1")
        paid += PRICES.dollars(usage._replace(output_tokens=0))


def test_a_beginning_below_the_smallest_prefix_is_not_missed() -> None:
    """After a new body no cache can hold the beginning; everything would still have been found."""
    threads, items, action = selector(), talk_of("english", 80), ""
    for at in range(1, len(items), 2):
        view = threads.view(items[:at], HistoryRequest(fixed_tokens=300), thread="1")
        assert view.bill is not None
        before, everything = view.bill.everything_paid, view.bill.everything_dollars
        threads.report(Usage(300 + view.tokens, 0, cached_tokens=hit(view.bill.cached_tokens)), thread="1")
        action = view.bill.action
        if action == "rebuilt":
            break
    assert action == "rebuilt"
    bill = bill_of(threads, [*items[:at], items[at], {"role": "user", "content": "?"}])
    assert bill.everything_paid - bill.everything_dollars == pytest.approx(before)
    assert everything < before / 2


def hit(expected: int) -> int:
    """Return what of an expectation a cache can hold."""
    return expected if expected >= (PRICES.min_cached_tokens or 0) else 0
