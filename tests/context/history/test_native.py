import copy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, HistoryConfig, RunConfig, keep, read_messages, select_history
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.tokens import count_messages
from tests.native_lists import EPHEMERAL, FORMATS, TOPICS, Native, talk

each_format = pytest.mark.parametrize("native", FORMATS, ids=lambda native: native.name)
seeds = st.integers(0, 100_000)


def view_of(items: list[dict[str, Any]], budget: int, **options: Any) -> Any:
    config = HistoryConfig(token_budget=budget, passthrough_below=0, run=RunConfig(keep_recent_rounds=1))
    return select_history(items, gatekeeper=ContextGatekeeper(), config=config, **options)


@each_format
@given(seed=seeds, budget=st.integers(30, 3_000))
def test_what_is_sent_is_accepted_and_the_callers_own(native: Native, seed: int, budget: int) -> None:
    items = native.write(talk(seed))
    assert native.faults(items) == []
    before = copy.deepcopy(items)
    view = view_of(items, budget)
    sent = keep(items, view)
    assert items == before
    assert native.faults(sent) == []
    assert native.changes(sent, native.carried(items)) == []
    changed = dict(view.replaced)
    assert all(sent[place] is items[at] for place, at in enumerate(view.kept) if at not in changed)
    assert view.kept == tuple(sorted(set(view.kept)))
    if view.status != "over_budget":
        assert count_messages(read_messages(sent), token_counter=ContextGatekeeper().token_counter) <= budget


@each_format
@example(seed=876, budget=268)
@given(seed=seeds, budget=st.integers(100, 3_000))
def test_a_view_goes_on_from_the_one_before(native: Native, seed: int, budget: int) -> None:
    items = native.write(talk(seed))
    view = view_of(items, budget)
    again = view_of(items, budget, previous=view, earlier=view)
    assert (again.kept, again.turns) == (view.kept, view.turns)
    assert keep(items, again) == keep(items, view)


@each_format
def test_a_long_run_is_folded_in_the_format_that_it_came_in(native: Native) -> None:
    turns = next(turns for turns in map(talk, range(1_000)) if not turns[-1].answer and len(turns[-1].rounds) == 5)
    items = native.write(turns[-1:])
    whole = count_messages(read_messages(items))
    view = view_of(items, whole // 2)
    sent = keep(items, view)
    assert view.folded
    assert native.faults(sent) == []
    assert count_messages(read_messages(sent)) < whole


@pytest.mark.parametrize("script", TOPICS)
def test_a_compressed_result_keeps_its_cache_mark(script: str) -> None:
    blocks = [
        {"type": "text", "text": f"{script}\n" * 200},
        {"type": "text", "text": "done", "cache_control": EPHEMERAL},
    ]
    calls = [[{"type": "tool_use", "id": f"c{at}", "name": "f", "input": {}}] for at in range(2)]
    items = [
        {"role": "user", "content": "Which port?"},
        {"role": "assistant", "content": calls[0]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c0", "content": blocks}]},
        {"role": "assistant", "content": calls[1]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "6380"}]},
    ]
    run = RunConfig(compress_result=lambda message, _: message.text[:20])
    config = HistoryConfig(token_budget=120, passthrough_below=0, run=run)
    sent = keep(items, select_history(items, gatekeeper=ContextGatekeeper(), config=config))
    (result,) = sent[2]["content"]
    (block,) = result["content"]
    assert block == {"type": "text", "text": (f"{script}\n" * 20)[:20], "cache_control": EPHEMERAL}


def compacted_anthropic() -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "The Redis port is 6380."},
        {"role": "assistant", "content": [{"type": "compaction", "content": "They set a port."}, {"type": "text", "text": "Noted."}]},
        *({"role": role, "content": f"{text} {'und so weiter ' * 50}"}
          for text in ("Bread bakes long.", "桥是谁写的？") for role in ("user", "assistant")),
        {"role": "user", "content": "How long does bread bake?"},
    ]  # fmt: skip


def test_what_a_provider_has_compacted_is_left_to_it() -> None:
    items = compacted_anthropic()
    view = view_of(items, 150)
    assert view.kept[:2] == (0, 1)
    assert len(view.kept) < len(items)
    assert all(sent is items[at] for sent, at in zip(keep(items, view), view.kept, strict=True) if at < 2)
    opaque = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x" * 400}
    responses = [
        {"type": "message", "role": "user", "content": "old " * 1_000},
        opaque,
        {"role": "user", "content": "?"},
    ]
    view = view_of(responses, 150)
    assert (view.kept, view.status, view.fixed_tokens) == ((0, 1, 2), "passthrough", view.fixed_tokens)
    assert 100 <= view.fixed_tokens < 120


def test_settings_among_responses_items_are_always_sent() -> None:
    items = [
        {"role": "user", "content": "The Redis port is 6380."},
        {"type": "message", "role": "assistant", "content": "Noted. " * 80},
        {"type": "additional_tools", "role": "developer", "tools": []},
        {"role": "user", "content": "New topic: how long does bread bake?"},
    ]
    assert view_of(items, 100).kept == (2, 3)


def test_a_pinned_position_is_one_of_the_callers_list() -> None:
    items = [
        {"role": "user", "content": "Summary: the port is 6380."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]},
        {"role": "assistant", "content": "说完了。"},
        {"role": "user", "content": "New topic: how long does bread bake?"},
    ]
    assert view_of(items, 60, pinned=[0]).kept == (0, 4)
    with pytest.raises(ConfigError, match="pinned position 5 is not in a list of 5 messages"):
        view_of(items, 60, pinned=[5])
    with pytest.raises(TypeError, match="pinned must hold positions"):
        view_of(items, 60, pinned=["0"])
