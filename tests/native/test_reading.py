import base64
import copy
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, HistoryConfig, MessageFormatError, RunConfig, keep, select_history
from gatekeeper_core.messages import MediaPart, validate_messages
from gatekeeper_core.native.reading import read_messages, read_native
from gatekeeper_core.tokens import count_messages
from tests.native_lists import EPHEMERAL, FORMATS, TOPICS, Native, talk

each_format = pytest.mark.parametrize("native", FORMATS, ids=lambda native: native.name)
seeds = st.integers(0, 100_000)


def view_of(items: list[dict[str, Any]], budget: int, **options: Any) -> Any:
    config = HistoryConfig(token_budget=budget, passthrough_below=0, run=RunConfig(keep_recent_rounds=1))
    return select_history(items, gatekeeper=ContextGatekeeper(), config=config, **options)


@each_format
@given(seed=seeds)
def test_a_list_is_told_by_looking_and_comes_back_as_it_was(native: Native, seed: int) -> None:
    items = native.write(talk(seed))
    read = read_native(items)
    assert read.format.name == native.name or not any(turn.rounds for turn in talk(seed))
    sent = read.sent(range(len(read.messages)), {})
    assert list(sent) == list(range(len(items)))
    assert all(sent[at] is items[at] for at in sent)
    assert validate_messages(read.messages, provider="openai") == ()


@each_format
@given(seed=seeds)
def test_all_formats_tell_the_same_turns(native: Native, seed: int) -> None:
    turns = talk(seed)
    messages = read_messages(native.write(turns))
    questions = [m.text for m in messages if m.role == "user" and not m.metadata]
    assert questions == [turn.question for turn in turns]
    calls = [call.name for turn in turns for one in turn.rounds for call in one.calls]
    assert [call.name for message in messages for call in message.tool_calls] == calls
    results = [call.result for turn in turns for one in turn.rounds for call in one.calls]
    assert [message.text for message in messages if message.role == "tool"] == results


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


@pytest.mark.parametrize(
    ("items", "position", "names"),
    [
        (
            [{"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f"}}]},
             {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}],
            1, ("tool_result", "OpenAI chat", "Anthropic"),
        ),
        (
            [{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}, {"role": "user", "content": "?"},
             {"role": "tool", "tool_call_id": "a", "content": "x"}],
            2, ("tool", "Responses", "OpenAI chat"),
        ),
        ([{"role": "user", "parts": [{"text": "?"}]}, {"role": "tool", "tool_call_id": "a", "content": "x"}], 1, ("Gemini",)),
    ],
)  # fmt: skip
def test_two_formats_in_one_list_are_refused_with_both_names(
    items: list[dict[str, Any]], position: int, names: tuple[str, ...]
) -> None:
    with pytest.raises(MessageFormatError) as caught:
        read_messages(items)
    assert caught.value.position == position
    assert all(name in caught.value.reason for name in names)


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": {1}}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": 7}]},
        {"type": "function_call_output", "output": "x"},
        {"type": "function_call", "name": "f", "arguments": "{}"},
        {"type": "message", "role": "critic", "content": "x"},
        {"type": "message", "role": "user", "content": 7},
        {"role": "user", "parts": 7},
        {"role": "user", "parts": [7]},
        {"role": "poet", "parts": []},
        {"role": "model", "parts": [{"functionCall": {"args": {}}}]},
        {"content": "no role"},
        {},
    ],
)
def test_what_cannot_be_read_is_refused_with_its_position(item: dict[str, Any]) -> None:
    opening = {"role": "user", "parts": [{"text": "?"}]} if "parts" in item else {"role": "user", "content": "?"}
    with pytest.raises(MessageFormatError) as caught:
        read_messages([opening, item])
    assert caught.value.position == 1


def test_unknown_blocks_stay_with_their_message_and_are_counted() -> None:
    searched = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "桥"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"encrypted_content": "x" * 4_000}]}
    (message,) = read_messages(
        [{"role": "assistant", "content": [searched, found, {"type": "text", "text": "Found."}]}]
    )
    assert message.text == "Found."
    assert message.tool_calls == ()
    assert 1_000 <= count_messages([message]) < 1_100


def test_what_a_client_says_of_a_message_makes_it_none_of_ours() -> None:
    marks = {"synthetic": "folded", "compressed": True, "signed": True, "beside_results": True, "author": "ann"}
    (message,) = read_messages([{"role": "user", "content": "Which port?", "metadata": marks}])
    assert dict(message.metadata) == {"author": "ann"}


def png(width: int, height: int) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)).decode()


@pytest.mark.parametrize(
    ("item", "tokens"),
    [
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + png(1024, 1024)}}]}, 765),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}}]}, None),
        ({"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64," + png(512, 512)}]}, 255),
        ({"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(750, 1000)}}]}, 1000),
        ({"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": png(800, 600)}}]}, 516),
        ({"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": base64.b64decode(png(80, 60))}}]}, 258),
    ],
)  # fmt: skip
def test_an_image_is_counted_by_the_size_that_its_data_tells(item: dict[str, Any], tokens: int | None) -> None:
    (message,) = read_messages([item])
    assert message.content == (MediaPart("image", tokens),)


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


@pytest.mark.parametrize("text", ["Schau auf Port 6380.", "端口是 6380。", "Redis 的 port 是 6380。"])
def test_what_a_user_says_beside_results_begins_no_turn(text: str) -> None:
    items = [
        {"role": "user", "content": "Which port?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}, {"type": "text", "text": text}]},
    ]
    messages = read_messages(items)
    assert [message.role for message in messages] == ["user", "assistant", "tool", "user"]
    assert messages[-1].content == text
    assert view_of(items, 5).kept == (0, 1, 2)
    assert messages[2].content == ""
