import copy
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import MessageFormatError
from gatekeeper_core.messages import Message, validate_messages
from gatekeeper_core.native.reading import read_messages, read_native
from tests.case_files import from_file, rows
from tests.native_lists import FORMATS, Native, talk

each_format = pytest.mark.parametrize("native", FORMATS, ids=lambda native: native.name)
seeds = st.integers(0, 100_000)


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


@from_file("items", "position", "names")
def test_two_formats_in_one_list_are_refused_with_both_names(
    items: list[dict[str, Any]], position: int, names: list[str]
) -> None:
    with pytest.raises(MessageFormatError) as caught:
        read_messages(items)
    assert caught.value.position == position
    assert all(name in caught.value.reason for name in names)


UNREADABLE = [item for [item] in rows("reading", "what_cannot_be_read_is_refused_with_its_position")]
UNWRITABLE = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": {1}}}]}


@pytest.mark.parametrize("item", [*UNREADABLE, UNWRITABLE])
def test_what_cannot_be_read_is_refused_with_its_position(item: dict[str, Any]) -> None:
    opening = {"role": "user", "parts": [{"text": "?"}]} if "parts" in item else {"role": "user", "content": "?"}
    with pytest.raises(MessageFormatError) as caught:
        read_messages([opening, item])
    assert caught.value.position == 1


SECRET = "geheim-秘密-secret"
FILLED = [
    SECRET,
    [SECRET],
    {SECRET: SECRET},
    [{"type": SECRET, SECRET: SECRET}],
    {"type": SECRET},
    [[SECRET]],
    b"secret",
    None,
    7,
]


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, one in inner for place in ((*path, key), *_places(one, (*path, key)))]


@each_format
@given(seed=st.integers(0, 100_000), data=st.data())
def test_no_error_repeats_anything_of_a_message(native: Native, seed: int, data: st.DataObject) -> None:
    items = copy.deepcopy(native.write(talk(seed)))
    *outer, key = data.draw(st.sampled_from(_places(items)))
    holder: Any = items
    for step in outer:
        holder = holder[step]
    if isinstance(holder, dict) and data.draw(st.booleans()):
        holder[SECRET] = holder.pop(key)
    else:
        holder[key] = data.draw(st.sampled_from(FILLED))
    read = data.draw(st.sampled_from([read_messages, lambda items: [Message.from_dict(item) for item in items]]))
    try:
        read(items)
    except (MessageFormatError, TypeError) as error:
        text = "".join(traceback.format_exception_only(error))
        assert not any(part in text for part in SECRET.split("-"))
