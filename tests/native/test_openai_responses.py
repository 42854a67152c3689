from typing import Any

from gatekeeper_core.messages import MediaPart, Message
from gatekeeper_core.native.items import Sent
from gatekeeper_core.native.openai_responses import RESPONSES
from gatekeeper_core.native.reading import read_messages
from tests.case_files import from_file


def test_what_the_model_writes_in_a_row_is_one_message() -> None:
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "我看看。"}]},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "b", "name": "patch", "input": "*** Begin"},
        {"type": "function_call_output", "call_id": "a", "output": "6380"},
        {"type": "custom_tool_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "ok"}]},
    ]
    (written, *outputs) = RESPONSES.read(items)
    assert (written.start, written.stop) == (0, 4)
    assert written.message.text == "我看看。"
    assert [(call.name, call.arguments) for call in written.message.tool_calls] == [("f", "{}"), ("patch", "*** Begin")]
    assert [(one.message.tool_call_id, one.message.text) for one in outputs] == [("a", "6380"), ("b", "ok")]


@from_file("call", "output")
def test_each_kind_of_call_meets_its_output(call: dict[str, Any], output: dict[str, Any]) -> None:
    request, result = read_messages([call, output])
    assert [one.id for one in request.tool_calls] == ["a"]
    assert (result.role, result.tool_call_id) == ("tool", "a")


def test_a_shorter_output_keeps_the_form_that_it_had() -> None:
    text = {"type": "function_call_output", "call_id": "a", "output": "x" * 90}
    parts = {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "行" * 90}]}
    for item, output in ((text, "x…"), (parts, [{"type": "input_text", "text": "x…"}])):
        (read,) = RESPONSES.read([item])
        assert RESPONSES.rewrite(item, [Sent(read.message, Message("tool", "x…"))]) == {**item, "output": output}


def test_what_the_provider_keeps_under_an_id_is_never_cut() -> None:
    text: dict[str, Any] = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}
    ours, theirs = (read_messages([item])[0] for item in (text, {**text, "id": "msg_1"}))
    assert (dict(ours.metadata), dict(theirs.metadata)) == ({}, {"signed": True})


def test_what_others_say_stands_between_what_the_model_writes() -> None:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "6380"}]}
    question = {"role": "user", "content": "端口是多少？"}
    files = [{"type": "input_file", "file_id": "f"}, {"type": "input_audio", "data": "x"}, {"type": "new", "x": 1}]
    shown = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And here?"}, *files]}
    read = RESPONSES.read([question, answer, shown, answer])
    assert [(one.message.role, one.start, one.stop) for one in read] == [
        ("user", 0, 1),
        ("assistant", 1, 2),
        ("user", 2, 3),
        ("assistant", 3, 4),
    ]
    _, document, audio, unknown = read[2].message.content
    assert (document.kind, audio.kind) == ("document", "audio")
    assert not isinstance(unknown, MediaPart) or unknown.kind not in ("document", "audio")
