from gatekeeper_core.messages import Message
from gatekeeper_core.native.gemini import GEMINI
from gatekeeper_core.native.items import Sent
from gatekeeper_core.native.reading import read_messages


def test_fields_are_read_as_json_and_as_python_names_them() -> None:
    json_items = [
        {"role": "model", "parts": [{"functionCall": {"name": "now", "args": {"城市": "伯尔尼"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "now", "response": {"output": "12:00"}}}]},
    ]
    python = [
        {"role": "model", "parts": [{"function_call": {"name": "now", "args": {"城市": "伯尔尼"}}}]},
        {"role": "user", "parts": [{"function_response": {"name": "now", "response": {"output": "12:00"}}}]},
    ]
    assert read_messages(json_items) == read_messages(python)
    assert read_messages(json_items)[1] == Message("tool", "12:00", tool_call_id="0.0", name="now")


def test_responses_out_of_order_find_their_calls_by_name_or_id() -> None:
    calls = [
        {"functionCall": {"name": "f"}},
        {"functionCall": {"name": "g"}},
        {"functionCall": {"name": "f", "id": "x"}},
    ]
    responses = [
        {"functionResponse": {"name": "f", "id": "x"}},
        {"functionResponse": {"name": "g"}},
        {"functionResponse": {"name": "f"}},
    ]
    messages = read_messages([{"role": "model", "parts": calls}, {"role": "user", "parts": responses}])
    assert [message.tool_call_id for message in messages[1:]] == ["x", "0.1", "0.0"]


def test_a_shorter_result_stays_a_response_of_one_text() -> None:
    item = {
        "role": "user",
        "parts": [{"functionResponse": {"name": "f", "response": {"rows": [1, 2, 3]}}}, {"text": "说"}],
    }
    read = GEMINI.read([item])
    sent = [Sent(read[0].message, Message("tool", "3 rows")), Sent(read[1].message, read[1].message)]
    shorter = {"functionResponse": {"name": "f", "response": {"result": "3 rows"}}}
    assert GEMINI.rewrite(item, sent) == {"role": "user", "parts": [shorter, {"text": "说"}]}
    assert GEMINI.plain(Message("user", "折叠了 3 轮")) == {"role": "user", "parts": [{"text": "折叠了 3 轮"}]}
