import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, HistoryConfig, RunConfig, keep, read_messages, select_history
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import COMPACTED, Message, ToolCall
from gatekeeper_core.tokens import count_messages
from tests.case_files import from_file
from tests.native_lists import FORMATS, Native, talk

each_format = pytest.mark.parametrize("native", FORMATS, ids=lambda native: native.name)
seeds = st.integers(0, 100_000)


def view_of(items: list[dict[str, Any]], budget: int, **options: Any) -> Any:
    run = RunConfig(keep_recent_rounds=1)
    config = HistoryConfig(
        token_budget=budget, passthrough_below=0, run=run, keep_newest=options.pop("keep_newest", None)
    )
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
def test_a_long_run_is_folded_in_the_format_that_it_came_in(native: Native) -> None:
    turns = next(turns for turns in map(talk, range(1_000)) if not turns[-1].answer and len(turns[-1].rounds) == 5)
    items = native.write(turns[-1:])
    tokens = count_messages(read_messages(items))
    view = view_of(items, tokens // 2)
    sent = keep(items, view)
    assert view.folded
    assert native.faults(sent) == []
    assert count_messages(read_messages(sent)) < tokens


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
    assert view.tokens < view.history_tokens
    assert all(sent is items[at] for sent, at in zip(keep(items, view), view.kept, strict=True) if at < 2)
    opaque = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x" * 400}
    responses = [
        {"type": "message", "role": "user", "content": "old " * 1_000},
        opaque,
        {"role": "user", "content": "?"},
    ]
    view = view_of(responses, 150)
    assert (view.kept, view.status) == ((0, 1, 2), "passthrough")
    assert 100 <= view.tokens < 120


THINGS_PASTED = [
    {"type": "compaction", "content": "端口 6380. " * 40},
    {"type": "compaction", "encrypted_content": "gAAA" * 100},
    {"type": "compaction_summary", "content": "so far " * 60, "tokens": 0},
]


@pytest.mark.parametrize("block", THINGS_PASTED, ids=["text", "sealed", "summary"])
@from_file("template")
def test_only_what_the_provider_wrote_is_its_compaction(template: list[Any], block: dict[str, Any]) -> None:
    """The block of a user or a tool stands in each place, or is the message that would be there."""
    text = json.dumps(template).replace('"MERGED"', json.dumps({"content": "Tea?", **block, "role": "user"}))
    holding = json.loads(text.replace('"BLOCK"', json.dumps(block)))
    key = "parts" if "parts" in holding[0] else "content"
    model = "model" if key == "parts" else "assistant"

    def message(role: str, text: str) -> dict[str, Any]:
        return {"role": role, key: [{"text": text}] if key == "parts" else text}

    past = [message(role, f"{role} {at} 说完了。" * 30) for at in range(8) for role in ("user", model)]
    question = message("user", "How long does bread bake?")
    view = view_of([*past, *holding, message(model, "done"), question], 400)
    assert (view.status, view.turn_count >= 9, view.tokens <= 400) == ("selected", True, True)
    assert view.history_tokens > 8 * 60 + 100
    while_asked = view_of([*past, *holding], 4_000)
    assert while_asked.history_tokens > 8 * 60 + 100


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
    view = view_of(items, 60, pinned=[0], keep_newest=0)
    assert (view.kept, view.pinned) == ((0, 3, 4), (0, 3))
    with pytest.raises(ConfigError, match="pinned position 5 does not exist: the list has 5 messages"):
        view_of(items, 60, pinned=[5])
    with pytest.raises(TypeError, match="pinned must contain positions"):
        view_of(items, 60, pinned=[0.0])


# --- messages that the provider has compacted or stores

BLOCK = Message("assistant", "They set up a cache and a port.", metadata={COMPACTED: True})
LONG = "und so weiter " * 200
SMALL = HistoryConfig(token_budget=300, passthrough_below=0, on_error="raise")


def provider_view(messages: list[Message], **more: object) -> HistoryView:
    return select_history(messages, gatekeeper=ContextGatekeeper(), config=SMALL, **more)  # type: ignore[arg-type]


def test_what_stands_before_a_compaction_is_sent_and_costs_nothing() -> None:
    before = [Message("user", LONG), Message("assistant", LONG)]
    question = Message("user", "Which port was it?")
    view = provider_view([*before, Message("user", "Go on."), BLOCK, question])
    assert view.kept == (0, 1, 2, 3, 4)
    assert view.tokens == provider_view([Message("system", BLOCK.text), question]).tokens
    assert view.history_tokens == view.tokens
    assert (view.status, view.turn_count) == ("passthrough", 0)


def test_results_behind_a_compaction_within_a_run_stay_with_the_call() -> None:
    called = Message("assistant", "so far", tool_calls=(ToolCall("c1", "f", "{}"),), metadata={COMPACTED: True})
    again = Message("assistant", "", tool_calls=(ToolCall("c2", "f", "{}"),))
    run = [called, Message("tool", LONG, tool_call_id="c1"), again, Message("tool", LONG, tool_call_id="c2")]
    view = provider_view([Message("user", LONG), *run])
    assert view.kept == (0, 1, 2, 3, 4)


def test_what_the_provider_holds_itself_is_left_to_it() -> None:
    messages = [Message("user", LONG), Message("assistant", LONG), Message("user", "And now?")]
    selector = ThreadSelector[Message](lambda message: message, config=SMALL)
    view = selector.view(messages, HistoryRequest(provider_messages=2), thread="t")
    assert (view.kept, view.tokens) == ((0, 1, 2), selector.cost(messages[2:]))
    assert selector.view(messages, thread="t").kept == (2,)
