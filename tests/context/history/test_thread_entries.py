"""The one entry of each thread: a history is read as it is now, and the threads used last stay."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall

QUESTIONS = ["Redis port 五个小时?", "换个话题，who keeps the choir's minutes?", "那 sourdough 呢？"]
TEXTS = [
    "",
    "Redis port?",
    "6380",
    "New topic: 酸面包要发酵多久？",
    "五个小时 at 26 degrees",
    "合唱团 choir: Marta",
    "又 again",
]

# A conversation as the framework's own objects that can be changed in place: lists of a role, contents and calls.
Item = list[Any]

texts = st.sampled_from(TEXTS)
contents = st.one_of(texts, st.lists(st.one_of(texts, st.just(None)), min_size=1, max_size=2))
calls = st.lists(st.tuples(st.sampled_from(["c1", "c2"]), st.sampled_from(['{"城市":"Bern"}', "{}"])), max_size=1)
items: st.SearchStrategy[Item] = st.tuples(
    st.sampled_from(["user", "user", "assistant", "assistant", "tool", "system"]), contents, calls
).map(list)
edits = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "set", "in place", "delete", "insert", "swap", "cut", "drop first"]),
        st.integers(0, 11),
        items,
    ),
    max_size=4,
)
calls_of_a_thread = st.lists(
    st.tuples(edits, st.sampled_from([None, None, *QUESTIONS]), st.sampled_from([20, 60, 1000]), st.booleans()),
    max_size=5,
)


def read(item: Item) -> Message:
    role, content, listed = item
    if isinstance(content, list):
        content = tuple(MediaPart("image") if part is None else TextPart(part) for part in content)
    if role == "assistant":
        return Message(role, content, tool_calls=tuple(ToolCall(call, "look", text) for call, text in listed))
    return Message(role, content, tool_call_id="c1" if role == "tool" else None)


def edit(history: list[Item], how: str, at: int, item: Item) -> None:
    item = [item[0], list(item[1]) if isinstance(item[1], list) else item[1], list(item[2])]
    place = at % len(history) if history else 0
    if how == "append" or not history:
        history.append(item)
    elif how == "set":
        history[place] = item
    elif how == "in place":
        held = history[place][1]
        if isinstance(held, list):
            held[0] = "changed inside 里面"
        else:
            history[place][at % 3] = item[at % 3]
    elif how == "delete":
        del history[place]
    elif how == "insert":
        history.insert(place, item)
    elif how == "swap":
        history[place], history[0] = history[0], history[place]
    elif how == "cut":
        del history[place:]
    else:
        del history[0]


def selector_of(**settings: Any) -> ThreadSelector[Item]:
    config = HistoryConfig(
        **{"keep_newest": 1, "passthrough_below": 0, "strategy": "gate", "on_error": "raise", **settings}
    )
    return ThreadSelector(read, config=config)


@given(st.lists(items, max_size=8), calls_of_a_thread)
def test_a_selector_that_has_seen_other_histories_selects_like_a_fresh_one(start: list[Item], steps: list[Any]) -> None:
    """Every call is a run of its own here: within one run the past only shrinks, and that depends on the calls."""
    history = [list(item) for item in start]
    selector = selector_of()
    for number, (edits_made, query, budget, pin) in enumerate(steps):
        for how, at, item in edits_made:
            edit(history, how, at, item)
        asked: dict[str, Any] = {"thread": "t"}
        asked["config"] = selector_of(token_budget=budget).config
        notes = [at for at, item in enumerate(map(read, history)) if item.role == "system"][: int(pin)]
        asked["request"] = HistoryRequest(query=query or f"{number}. Redis port?", notes=notes)
        view = selector.view(history, **asked)
        assert view._replace(bill=None, state=None) == selector_of().view(history, **asked)._replace(
            bill=None, state=None
        )
        assert selector.view(history, **asked) is view


def test_the_threads_used_last_stay_and_one_that_comes_back_is_served_right() -> None:
    selector = selector_of(max_threads=2)
    history: list[Item] = [["user", "Redis port?", []], ["assistant", "6380", []], ["user", "Redis 端口?", []]]
    first = selector.view(history, thread="a")
    for thread in ("b", "a", "c"):
        selector.view(history, thread=thread)
    assert [selector.view_of(thread) is None for thread in "abc"] == [False, True, False]
    selector.view(history, thread="b")
    assert selector.view_of("a") is None
    assert selector.view(history, thread="a") == first
