"""The selector over lists of dicts, which the hooks and the proxy share."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper_core import HistoryConfig
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_hooks import NativeSelector
from tests.native_lists import FORMATS, Native, talk

Item = dict[str, Any]


def exchange(text: str, answer: str = "Noted.") -> list[Item]:
    return [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]


TALKS = {
    "english": ("Our Redis cache uses port 6380.", "Which port does our Redis cache use?"),
    "chinese": ("我们的缓存监听 6380 端口。", "缓存监听哪个端口？"),
    "mixed": ("我们的 Redis cache 用 6380 端口。", "Redis cache 用哪个端口？"),
}
FILLER = [item for number in range(8) for item in exchange(f"Bread {number} rises for two hours, 面包发酵。" * 9)]
CONFIG = HistoryConfig(token_budget=300, passthrough_below=0, on_error="raise")


@pytest.mark.parametrize(("fact", "question"), TALKS.values(), ids=TALKS)
def test_the_fact_comes_back_as_the_callers_own_object(fact: str, question: str) -> None:
    items = [*exchange(fact), *FILLER, {"role": "user", "content": question}]
    selector = NativeSelector(CONFIG)
    sent, view = selector.select(items, model="gpt-4o")
    assert selector.last_view is view
    assert sent[0] is items[0]
    assert sent[-1] is items[-1]
    assert len(sent) < len(items)
    assert view.tokens <= 300
    assert view.bill is not None


@pytest.mark.parametrize("native", FORMATS, ids=lambda native: native.name)
def test_every_format_is_read_and_a_grown_list_goes_on(native: Native) -> None:
    turns = talk(3)
    items = native.write(turns)
    selector = NativeSelector(CONFIG)
    for end in range(1, len(turns) + 1):
        selector.select(native.write(turns[:end]))
    _, view = selector.select(items)
    assert view.sizes.message_count == len(items)
    assert view.bill.everything_paid > 0


def test_an_unnamed_list_goes_on_with_the_conversation_that_it_begins_with() -> None:
    selector = NativeSelector(CONFIG)
    paid = []
    for items in (exchange("Hello"), exchange("Hello", "Hi!"), [*exchange("Hello"), *exchange("Is it raining?")]):
        _, view = selector.select(items, model="gpt-4o")
        paid.append(view.bill.everything_paid)
    assert paid[0] == pytest.approx(paid[1], rel=0.5)  # a conversation of its own
    assert paid[2] > 2 * paid[1]


def test_threads_of_two_tenants_share_nothing() -> None:
    selector = NativeSelector(CONFIG)
    items = [*exchange("Hello"), {"role": "user", "content": "Again"}]
    for tenant in ("one", "two"):
        selector.select(items, thread="same", tenant=tenant)
    views = [selector.threads.view_of("same", tenant=tenant) for tenant in ("one", "two", "three")]
    assert views[0] is not None
    assert views[0] is not views[1]
    assert views[2] is None


def test_in_shadow_mode_everything_is_sent() -> None:
    items = [*FILLER, *exchange("Our port is 6380."), {"role": "user", "content": "Hm?"}]
    sent, view = NativeSelector(HistoryConfig(token_budget=100, shadow=True)).select(items)
    assert sent == items
    assert view.left_out


def test_a_call_names_its_conversation_so_that_usage_can_be_reported() -> None:
    selector = NativeSelector(CONFIG)
    items = [*exchange("Hello"), {"role": "user", "content": "Again"}]
    calls = [selector.call(items[:1], model="gpt-4o"), selector.call(items, model="gpt-4o")]
    assert calls[0].thread == calls[1].thread
    before = selector.threads.policy_of(calls[1].thread)
    selector.threads.report(Usage(5000, 10, 4096), thread=calls[1].thread)
    assert selector.threads.policy_of(calls[1].thread) != before
