"""Every format that conversations are kept in: read, told apart, written, and what each cannot hold."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_cli.texts import TABLE
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall, group_turns, validate_messages
from gatekeeper_formats import (
    READABLE,
    WRITABLE,
    AmbiguousConversationError,
    Conversation,
    FormatError,
    list_conversations,
    read_conversation,
    read_conversations,
    write_messages,
)
from gatekeeper_formats.base import Item
from gatekeeper_formats.json_values import TextSource, read_values
from gatekeeper_formats.registry import FORMATS
from tests.case_files import rows
from tests.formats.files import SHAPES, TEXTS, Folder, Shape, messages_of
from tests.talks import sides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A folder for all examples of the properties."""
    return Folder(tmp_path_factory.mktemp("scratch"))


# --- shapes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_shape_is_told_by_its_content_and_read(shape: Shape, folder: Folder) -> None:
    reading = folder.read(shape.content)
    assert reading.form == shape.form
    assert reading == folder.read(shape.content, form=shape.form)
    assert messages_of(reading) == sides(TEXTS[shape.language])
    assert [(turn.user_text, turn.assistant_text) for turn in reading.turns] == TEXTS[shape.language]
    assert not reading.left_out
    assert not reading.odd


def test_each_format_has_a_shape_here_and_a_row_on_its_page() -> None:
    """Its row says whether it is read and written."""
    assert {shape.form for shape in SHAPES.values()} == {*READABLE}
    assert {shape.language for shape in SHAPES.values()} == TEXTS.keys()
    package = Path(__file__).resolve().parents[2] / "integrations" / "gatekeeper_formats"
    page = (package / "README.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:4] for line in page.partition("## The formats")[2].splitlines() if line.startswith("| `")]
    table = {name.strip(" `"): (read.strip() != "", written.strip() == "yes") for name, read, written in rows}
    assert table == {name: (True, name in WRITABLE) for name in FORMATS}


# --- Markdown -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_line_ends_of_a_transcript_change_nothing(line_end: str, folder: Folder) -> None:
    content = SHAPES["Markdown headings, mixed"].content.replace("\n", line_end).encode()
    assert messages_of(folder.read(b"\xef\xbb\xbf" + content)) == sides(TEXTS["mixed"])


# --- one of many ----------------------------------------------------------------------------------------------------


def chatgpt_of(pairs: Sequence[tuple[str, str]], **fields: Any) -> dict[str, Any]:
    mapping: dict[str, Any] = {"0": {"id": "0", "parent": None, "children": [], "message": None}}
    for at, (role, text) in enumerate(sides(pairs), 1):
        message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, "recipient": "all"}
        mapping[str(at)] = {"id": str(at), "parent": str(at - 1), "children": [], "message": message}
    return {"create_time": 1717171717.5, "mapping": mapping, "current_node": str(len(mapping) - 1), **fields}


def export_of(count: int) -> list[dict[str, Any]]:
    return [
        chatgpt_of([(f"question {at}", f"answer {at}")], title=f"Talk {at} 对话", conversation_id=f"id-{at}")
        for at in range(1, count + 1)
    ]


def test_many_conversations_are_counted_and_the_first_ten_listed(folder: Folder) -> None:
    file = folder.write(export_of(12))
    with pytest.raises(AmbiguousConversationError, match="holds 12 conversations: choose one by its number") as refused:
        read_conversation(file)
    assert (refused.value.count, len(refused.value.headings), refused.value.wanted) == (12, 10, None)
    assert str(refused.value.headings[0]).split() == ["1", "2024-05-31", "Talk", "1", "对话"]
    assert [heading.id for heading in list_conversations(file)] == [f"id-{at}" for at in range(1, 13)]


def test_every_conversation_of_a_file_is_read_in_its_order(folder: Folder) -> None:
    file = folder.write(export_of(12))
    again = list(read_conversations(file))
    assert [one.heading.number for one in again] == list(range(1, 13))
    assert again[6] == read_conversation(file, conversation="7")


def test_a_broken_conversation_ends_the_reading_of_all_with_its_place(folder: Folder) -> None:
    file = folder.write([*export_of(1), {"mapping": 7}, *export_of(1)])
    conversations = read_conversations(file)
    assert messages_of(next(conversations)) == [("user", "question 1"), ("assistant", "answer 1")]
    with pytest.raises(FormatError, match=r"conversation 2: .*must be an object"):
        next(conversations)


def test_an_open_file_is_read_and_named_as_it_says(folder: Folder) -> None:
    with open(folder.write(export_of(2)), "rb") as stream:
        assert read_conversation(stream, conversation="2").heading.id == "id-2"
    with pytest.raises(FormatError, match=r"^upload 7: line 1, column 2: not JSON"):
        read_conversation(io.BytesIO(b"[x"), name="upload 7")


# --- the stream -----------------------------------------------------------------------------------------------------


class Trickle(io.RawIOBase):
    """A stream that gives few bytes at a time, and knows how many it gave."""

    def __init__(self, content: bytes, size: int) -> None:
        self._content = io.BytesIO(content)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        return self._content.read(min(self._size, size) if size >= 0 else self._size)


def values_of(content: bytes, size: int) -> list[Item]:
    return list(read_values(TextSource(Trickle(content, size)))[0])  # type: ignore[arg-type]


json_scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None))
)
json_anything = st.recursive(
    json_scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    values=st.lists(json_anything, max_size=4),
    size=st.integers(1, 40),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 1]),
)
def test_a_list_is_the_same_however_small_its_pieces_are(
    values: list[Any], size: int, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(values, ensure_ascii=ascii_only, indent=indent)
    if not ascii_only:
        text = "".join(f"\\u{ord(letter):04x}" if "\ud800" <= letter <= "\udfff" else letter for letter in text)
    found = values_of(text.encode(), size)
    assert [item.value for item in found] == values
    assert [item.at for item in found] == list(range(len(values)))


@given(
    values=st.lists(st.dictionaries(st.text(max_size=3), json_anything), min_size=2, max_size=4), size=st.integers(1, 9)
)
def test_lines_are_the_same_however_small_their_pieces_are(values: list[Any], size: int) -> None:
    found = values_of("\n \n".join(map(json.dumps, values)).encode(), size)
    assert [item.value for item in found] == values
    assert [item.line for item in found] == [1 + 2 * at for at in range(len(values))]


# The mark of a ZIP archive is looked for in the first piece, which is never that short.
@given(
    content=st.binary(max_size=60).filter(lambda content: not content.startswith(b"PK")),
    size=st.integers(1, 9),
    start=st.sampled_from([b"", b"[", b'{"a":', b'[{"a"']),
)
def test_pieces_change_no_error(content: bytes, size: int, start: bytes) -> None:
    def outcome(step: int) -> str:
        try:
            return repr(values_of(start + content, step))
        except Exception as error:  # noqa: BLE001 - whichever it is, it must be the same one
            return f"{type(error).__name__}: {error}"

    assert outcome(size) == outcome(1_000)


def test_an_export_is_read_without_holding_it(folder: Folder) -> None:
    import tracemalloc

    conversation = chatgpt_of([("question " * 40, "answer " * 40)] * 20)
    text = json.dumps(conversation)
    file = folder.write("[" + ",".join([text] * 80) + "]")
    size = 80 * len(text)
    tracemalloc.start()
    found = len(list_conversations(file))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == 80
    assert peak < size  # the text alone has this size; the values of all of it are a multiple


def test_progress_is_told_every_byte(folder: Folder) -> None:
    seen: list[int] = []
    file = folder.write(export_of(50))
    list_conversations(file, progress=seen.append)
    with open(file, "rb") as stream:
        assert sum(seen) == len(stream.read())


def test_a_zip_archive_is_named(folder: Folder) -> None:
    assert "is a ZIP archive: unpack it" in folder.refusal(b"PK\x03\x04\x14\x00")


# --- any structure --------------------------------------------------------------------------------------------------

SHORT = [value for (value,) in rows("files", "short")]
"""What a file of each shape in JSON holds; of lines, the list of them."""


def walk(value: Any) -> Iterator[Any]:
    """Yield all keys and values of a value."""
    yield value
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    for each in inner:
        yield from walk(each)


STRINGS = sorted({text for text in walk(SHORT) if isinstance(text, str) and len(text) < 30} | {"\ud800\u202e\x00"})
hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(STRINGS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*STRINGS, "a"]), inner, max_size=5),
    max_leaves=12,
)


def mutated(draw: st.DrawFn, value: Any, depth: int = 0) -> Any:
    """Return a value in which some parts were replaced by anything."""
    if draw(st.integers(0, 11)) == 0:
        return draw(hostile)
    if isinstance(value, dict) and depth < 6:
        return {key: mutated(draw, inner, depth + 1) for key, inner in value.items() if draw(st.integers(0, 14))}
    if isinstance(value, list) and depth < 6:
        return [mutated(draw, inner, depth + 1) for inner in value]
    return value


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    return mutated(draw, draw(st.sampled_from(SHORT)))


def outcome_of(file: str, form: str | None, conversation: str | None) -> tuple[Conversation | None, str]:
    try:
        return read_conversation(file, form=form, conversation=conversation), ""
    except FormatError as refused:
        return None, str(refused)


def assert_refused_or_read(value: Any, form: str | None, scratch: Folder) -> None:
    file = scratch.write(value, "hostile")
    for conversation in (None, "1"):
        reading, reason = outcome_of(file, form, conversation)
        if reading is None:
            assert len(reason.splitlines()) == 1
            continue
        assert reading.turns == group_turns(reading.messages) or reading.form == "pairs"
        assert {f"left_out.{kind}" for kind in reading.left_out} <= TABLE.keys()
        assert {f"odd.{kind}" for kind in reading.odd} <= TABLE.keys()
        for name in WRITABLE:
            written(reading.messages, name)


@given(value=damaged() | hostile, form=st.sampled_from([None, None, *READABLE]))
def test_any_structure_is_read_or_refused(value: Any, form: str | None, scratch: Folder) -> None:
    assert_refused_or_read(json.dumps(value), form, scratch)
    assert_refused_or_read(json.dumps([value, value]), form, scratch)
    assert_refused_or_read(f"{json.dumps(value)}\n{json.dumps(value)}", form, scratch)


DEEP = 100_000


@pytest.mark.parametrize(
    "content",
    [
        '[{"mapping": ' + '{"a":' * DEEP,
        '[{"chat_messages": [{"content": ' + "[" * DEEP,
        '[{"type": "human", "data": ' + '{"content":[' * DEEP,
        '{"store": ' + '{"a":' * DEEP,
        "[" * DEEP + "]" * DEEP,
        '{"role": "user", "content": "hi"}\n{"role": ' + "[" * DEEP,
        '[{"role": "user", "content": ' + "9" * 6_000 + "}]",
    ],
)
def test_deep_nesting_and_long_numbers_are_refused(content: str, folder: Folder) -> None:
    reason = folder.refusal(content)
    assert "nested too deeply" in reason or "unreadable JSON" in reason
    for form in ("chatgpt", "claude", "langchain"):
        folder.refusal(content, form=form)


# --- writing --------------------------------------------------------------------------------------------------------


def written(messages: Sequence[Message], form: str) -> tuple[str, Counter[str]]:
    text, left_out = write_messages(messages, form)
    text.encode()
    assert {f"left_out.{kind}" for kind in left_out} <= TABLE.keys()
    return text, left_out


[[WILD]] = rows("reading", "wild")
wild_texts = st.text(st.characters(codec=None), max_size=30) | st.sampled_from(WILD)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """A conversation in an order that providers accept."""
    messages = [Message("system", draw(wild_texts))] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 3))):
        messages.append(Message("user", draw(wild_texts), name=draw(st.none() | st.just("ann"))))
        calls = tuple(
            ToolCall(f"{len(messages)}-{at}", name, arguments)
            for at, (name, arguments) in enumerate(
                draw(
                    st.lists(
                        st.tuples(wild_texts, st.sampled_from(['{"a": [1, "端"]}', "{}", "{", "[]", ""])), max_size=2
                    )
                )
            )
        )
        if calls:
            messages.append(Message("assistant", draw(wild_texts), tool_calls=calls))
            messages += [Message("tool", draw(wild_texts), tool_call_id=call.id) for call in calls]
        messages.append(Message("assistant", draw(wild_texts), id=draw(st.none() | st.just("m1"))))
    return messages


def back(messages: Sequence[Message], form: str, folder: Folder) -> tuple[tuple[Message, ...], Counter[str]]:
    text, left_out = written(messages, form)
    read = "openai" if form == "openai-lines" else form
    if not text.strip():
        return (), left_out
    reading = read_conversation(folder.write(text), form=read)
    assert not reading.left_out
    return reading.messages, left_out


def parsed(message: Message) -> tuple[Any, ...]:
    """Return a message with the arguments of its calls as values: how JSON is spaced is no part of them."""

    def arguments(text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return text

    calls = sorted((call.id, call.name, repr(arguments(call.arguments))) for call in message.tool_calls)
    return message.role, message.text, message.tool_call_id, message.name, message.id, calls


@given(messages=conversations())
def test_openai_gives_everything_back(messages: list[Message], scratch: Folder) -> None:
    for form in ("openai", "openai-lines"):
        assert back(messages, form, scratch) == (tuple(messages), Counter())


@given(messages=conversations())
def test_langchain_gives_everything_back(messages: list[Message], scratch: Folder) -> None:
    again, left_out = back(messages, "langchain", scratch)
    assert list(map(parsed, again)) == list(map(parsed, messages))
    assert not left_out


@given(messages=conversations())
def test_llama_index_gives_back_all_but_the_ids(messages: list[Message], scratch: Folder) -> None:
    again, left_out = back(messages, "llama-index", scratch)
    named = sum(message.id is not None for message in messages)
    assert left_out == +Counter(message_id=named)
    unnamed = [
        Message(m.role, m.content, tool_calls=m.tool_calls, tool_call_id=m.tool_call_id, name=m.name) for m in messages
    ]
    assert list(again) == unnamed


@given(messages=conversations())
def test_sharegpt_gives_back_texts_and_calls(messages: list[Message], scratch: Folder) -> None:
    again, left_out = back(messages, "sharegpt", scratch)
    assert [(m.role, m.text) for m in again] == [(m.role, m.text) for m in messages]
    assert [(c.name, c.arguments) for m in again for c in m.tool_calls] == [
        (c.name, c.arguments) for m in messages for c in m.tool_calls
    ]
    assert left_out["call_id"] == sum(len(m.tool_calls) for m in messages)
    assert left_out["message_field"] == sum((m.name is not None) + (m.id is not None) for m in messages)
    assert validate_messages(again, provider="openai") == ()


@given(messages=conversations())
def test_markdown_gives_back_texts(messages: list[Message], scratch: Folder) -> None:
    again, left_out = back(messages, "markdown", scratch)
    spoken = [m for m in messages if m.role != "tool" and (m.text or not m.tool_calls)]
    assert [m.role for m in again] == [m.role for m in spoken]
    if not left_out["surrogate"] and not left_out["closed_fence"] and not left_out["end_lines"]:
        assert [m.text for m in again] == [m.text for m in spoken]
    assert left_out["tool_result"] == sum(m.role == "tool" for m in messages)
    assert left_out["tool_call"] == sum(len(m.tool_calls) for m in messages)


@given(messages=conversations())
def test_pairs_give_back_the_texts_of_both_sides(messages: list[Message], scratch: Folder) -> None:
    text, left_out = written(messages, "pairs")
    turns = group_turns(messages)
    pairs = [
        (turn.user_text, "\n".join(m.text for m in turn.messages if m.role == "assistant" and m.text)) for turn in turns
    ]
    again = read_conversation(scratch.write(text), form="pairs").turns if text else ()
    assert [(turn.user_text, turn.messages[-1].text if len(turn.messages) == 2 else "") for turn in again] == pairs
    spoken = [[m for m in turn.messages if m.role == "assistant" and m.text] for turn in turns]
    assert left_out["joined_message"] == sum(max(0, len(answers) - 1) for answers in spoken)
    assert left_out["system_message"] == sum(m.role == "system" for m in messages)
    assert left_out["tool_result"] == sum(m.role == "tool" for m in messages)


def test_a_format_that_is_only_read_is_refused_for_writing() -> None:
    for form in ("chatgpt", "nothing"):
        with pytest.raises(ValueError, match=f"form must be one of openai, .*markdown, got '{form}'"):
            write_messages([Message("user", "hi")], form)


def test_what_no_format_can_hold_is_counted() -> None:
    picture = Message("user", (TextPart("look"), MediaPart("image"), TextPart("here")), metadata={"synthetic": "x"})
    for name in WRITABLE:
        assert written([picture], name)[1]["image"] == 1
    assert written([picture], "sharegpt")[1] == {"image": 1, "joined_part": 1, "message_field": 1}
    assert written([picture], "langchain")[1] == {"image": 1, "metadata": 1}
    assert written([Message("user", "a\ud800")], "markdown")[1] == {"surrogate": 1}


# --- the package and its examples ---------------------------------------------------------------------------------------------


def test_the_readers_need_the_standard_library_and_the_core_alone() -> None:
    code = "import sys; before = set(sys.modules); import gatekeeper_formats; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded - sys.stdlib_module_names == {"gatekeeper_core", "gatekeeper_formats"}
