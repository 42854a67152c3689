from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, HistoryConfig, HistoryView, ModelPrices, keep, select_history
from gatekeeper_core.context.history.cache_marks import mark_cached, plan_marks
from gatekeeper_core.context.history.view import ThreadState
from gatekeeper_core.native.cache_marks import marks_in
from tests.native_lists import ANTHROPIC, EPHEMERAL, FORMATS, talk

CACHED = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=6, min_cached_tokens=64)


def call(name: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "f", "input": {}}]}


def result(name: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": "6380"}]}


def long_talk() -> list[dict[str, Any]]:
    """Return a talk of several topics, whose turns are long enough to be cached."""
    return [
        {"role": role, "content": text}
        for topic, fact in (
            *(("Redis", "It listens on port 6380."), ("organ", "Marta plays it."), ("bread", "Hot.")),
            *((topic, "Fine.") for topic in ("tea", "garden", "bicycle", "museum")),
        )
        for role, text in (
            ("user", f"New topic: the {topic}?"),
            ("assistant", f"The {topic}: {fact} " + "More of it, and more. " * 100),
        )
    ]


def marked(items: list[Any]) -> list[int]:
    return [at for at, item in enumerate(items) for _ in marks_in(item["content"])]


def view_of(items: list[Any], state: ThreadState | None = None, **more: Any) -> HistoryView:
    config = HistoryConfig(passthrough_below=0, token_budget=20_000, **more)
    return select_history(items, gatekeeper=ContextGatekeeper(), config=config, state=state)


def test_what_is_sent_is_marked_at_its_end_where_nothing_is_for_one_call_only() -> None:
    items = [*long_talk(), {"role": "user", "content": "Which port has Redis?"}]
    view = view_of(items, ThreadState(), strategy="cache", prices=CACHED)
    sent = mark_cached(items, view)
    assert marked(sent) == [len(sent) - 1]
    assert all(one is other for one, other in zip(sent[:-1], keep(items, view)[:-1], strict=True))
    assert items[-1]["content"] == "Which port has Redis?"


def test_before_recalled_turns_the_body_is_marked() -> None:
    items = [*long_talk(), {"role": "user", "content": "Which port does Redis listen on?"}]
    first = view_of(items, ThreadState(), strategy="cache", prices=CACHED)
    items += [{"role": "assistant", "content": "6380."}, {"role": "user", "content": "Who plays the organ, and when?"}]
    view = view_of(items, first.state, strategy="cache", prices=CACHED)
    assert view.bill is not None
    assert view.bill.recalled == (1,)
    sent = mark_cached(items, view)
    assert marked(sent) == [len(sent) - 2]
    assert "Marta" in sent[-1]["content"]


def test_within_a_run_its_end_is_marked() -> None:
    items = [{"role": "user", "content": "Which port has Redis?"}, call("a"), result("a"), call("b"), result("b")]
    sent = mark_cached(items, view_of(items))
    assert sent[-1]["content"][0]["cache_control"] == EPHEMERAL
    assert marked(sent) == [4]


def test_a_step_of_more_blocks_than_are_looked_back_marks_where_the_one_before_ended() -> None:
    view = view_of([{"role": "user", "content": "?"}])
    assert plan_marks(view, blocks=[1, 1, 1, 9, 10], answered=3).between == 2
    assert plan_marks(view, blocks=[1, 1, 1, 9, 9], answered=3).between is None
    assert plan_marks(view, blocks=[9, 10], answered=0).between is None


def test_lists_of_other_providers_come_back_as_keep_gives_them() -> None:
    for native in FORMATS:
        items = native.write(talk(3))
        before = copy.deepcopy(items)
        sent = mark_cached(items, view_of(items))
        assert items == before
        assert (sent == keep(items, view_of(items))) or native is ANTHROPIC
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which port?"}]
    assert mark_cached(chat, view_of(chat)) == chat
    assert mark_cached([], view_of([])) == []


@given(seed=st.integers(0, 10_000))
def test_anthropic_takes_every_marked_list(seed: int) -> None:
    items = ANTHROPIC.write(talk(seed))
    config = HistoryConfig(passthrough_below=0, token_budget=400)
    view = select_history(items, gatekeeper=ContextGatekeeper(), config=config, state=ThreadState())
    assert ANTHROPIC.faults(mark_cached(items, view)) == []
