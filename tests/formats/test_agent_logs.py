"""What agents write and what providers are sent: sessions, rollouts, contents, items; what each leaves out and reports."""

from __future__ import annotations

import re
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_core.messages import MediaPart, TextPart, ToolCall
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_formats import FormatError, read_conversation
from gatekeeper_formats.gemini import CONTENTS
from tests.agent_logs import (
    SESSION,
    anthropic_of,
    claude_answer,
    claude_code_of,
    claude_record,
    codex_of,
    codex_record,
    contents_of,
    gemini_message,
    gemini_messages_of,
    items_of,
    lines_of,
    said_item,
    token_count,
)
from tests.formats.files import TEXTS, Folder, said

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


each_language = pytest.mark.parametrize("language", TEXTS)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def tool_use(call_id: str, name: str = "Read") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"path": "端口.txt"}}


def tool_result(call_id: str, content: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": content}]


# --- Claude Code ----------------------------------------------------------------------------------------------------

WORKED = [
    {"type": "summary", "summary": "Ports 端口", "leafUuid": "a5"},
    {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
    claude_record("m0", None, "user", "Caveat: the messages below ...", isMeta=True),
    claude_record("u1", "m0", "user", "哪个端口？"),
    claude_answer("a1", "u1", {"type": "thinking", "thinking": "hm", "signature": "x"}, "msg_1", read=10),
    claude_answer("a2", "a1", text("I look."), "msg_1", read=10),
    claude_answer("a3", "a2", tool_use("t1"), "msg_1", read=10),
    claude_record("r1", "a3", "user", tool_result("t1", "6380"), toolUseResult={"stdout": "6380"}),
    claude_answer("a4", "a3", tool_use("t2", "Bash"), "msg_1", read=11),
    claude_record("r2", "a4", "user", tool_result("t2", [text("ok")])),
    claude_answer("a5", "r2", text("6380."), "msg_2", read=20),
    {"type": "system", "subtype": "turn_duration", "uuid": "y1", "parentUuid": "a5", "durationMs": 12},
]


def test_a_session_of_claude_code_is_read_with_its_parallel_calls(folder: Folder) -> None:
    session = folder.read(lines_of(WORKED))
    assert said(session) == [
        ("user", "哪个端口？"),
        ("assistant", "I look."),
        ("tool", "6380"),
        ("tool", "ok"),
        ("assistant", "6380."),
    ]
    assert session.messages[1].tool_calls == (
        ToolCall("t1", "Read", '{"path":"端口.txt"}'),
        ToolCall("t2", "Bash", '{"path":"端口.txt"}'),
    )
    assert not session.messages[1].metadata
    assert not session.odd
    assert session.heading == (1, "s-1", "Ports 端口", "2025-11-03")
    assert session.left_out == {"log_record": 3, "program_message": 1, "thinking": 1}


def test_the_usage_of_a_message_in_several_records_is_its_last(folder: Folder) -> None:
    first, second = folder.read(lines_of(WORKED)).usage
    assert first == Usage(111, 5, cached_tokens=100, model="claude-sonnet-4-5")
    assert second.input_tokens == 120


def test_the_part_before_a_compaction_stays_and_its_summary_is_counted(folder: Folder) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None}
    for link in ({"logicalParentUuid": "a0"}, {"logicalParentUuid": "gone"}, {}):
        session = folder.read(
            lines_of(
                [
                    *claude_code_of([("first", "one")]),
                    {**boundary, **link},
                    claude_record("c", "b", "user", "This session is being continued ...", isCompactSummary=True),
                    claude_record("u9", "c", "user", "second"),
                ]
            )
        )
        assert said(session) == [("user", "first"), ("assistant", "one"), ("user", "second")]
        assert session.left_out == {"compaction": 1, "log_record": 1}


def test_the_links_go_on_behind_a_compaction_where_another_branch_lies_between(folder: Folder) -> None:
    records = [
        *claude_code_of([("kept", "answer")]),
        claude_record("x1", "a0", "user", "taken back"),
        {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None, "logicalParentUuid": "a0"},
        claude_record("u1", "b", "user", "asked"),
    ]
    session = folder.read(lines_of(records))
    assert said(session) == [("user", "kept"), ("assistant", "answer"), ("user", "asked")]


def test_the_newest_branch_is_read_and_the_others_counted_with_their_usage(folder: Folder) -> None:
    records = [
        *claude_code_of([("kept", "answer")]),
        claude_record("x1", "a0", "user", "taken back"),
        claude_answer("x2", "x1", tool_use("t9"), "msg_x"),
        claude_record("x3", "x2", "user", tool_result("t9", "never")),
        claude_record("u2", "a0", "user", "asked instead"),
    ]
    session = folder.read(lines_of(records))
    assert said(session) == [("user", "kept"), ("assistant", "answer"), ("user", "asked instead")]
    assert session.left_out == {"branch_message": 3}
    assert len(session.usage) == 1


def test_messages_of_subagents_are_counted_beside_others_and_read_alone(folder: Folder) -> None:
    aside = [{**record, "isSidechain": True} for record in claude_code_of([("find it", "found")])]
    renamed = [{**record, "uuid": f"s{at}", "parentUuid": None} for at, record in enumerate(aside)]
    own = claude_code_of([("hi", "hello")])
    for file in ([*own, *renamed], [*renamed, *own]):
        session = folder.read(lines_of(file))
        assert said(session) == [("user", "hi"), ("assistant", "hello")]
        assert session.left_out == {"subagent_message": 2}
        assert len(session.usage) == 1
    assert said(folder.read(lines_of(aside))) == [("user", "find it"), ("assistant", "found")]


def test_what_the_program_says_itself_is_counted(folder: Folder) -> None:
    own = [
        claude_record("p1", None, "user", "<local-command-stdout>ok</local-command-stdout>"),
        claude_record("p2", "p1", "assistant", [text("API Error")], isApiErrorMessage=True),
        claude_record("p3", "p2", "assistant", [text("No response")], message={"model": "<synthetic>"}),
        claude_record("p4", "p3", "user", [text("reminder")], isMeta=True),
    ]
    session = folder.read(lines_of([*own, claude_record("u1", "p4", "user", "hi")]))
    assert said(session) == [("user", "hi")]
    assert session.left_out == {"program_message": 4}


def test_the_user_s_words_beside_results_and_pictures_are_kept(folder: Folder) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    records = [
        claude_record("u1", None, "user", [text("look"), picture]),
        claude_answer("a1", "u1", tool_use("t1"), "msg_1"),
        claude_record("u2", "a1", "user", [*tool_result("t1", ""), text("[Request interrupted by user]")]),
    ]
    session = folder.read(lines_of(records))
    assert session.messages[0].content == (TextPart("look"), MediaPart("image"))
    assert len(session.turns) == 1
    assert session.left_out == {"image": 1}


@pytest.mark.parametrize(
    "first",
    [
        {"type": "summary", "summary": "Ports", "leafUuid": "x"},
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s-1", "timestamp": "2025-11-03T10:00:00Z"},
        {"type": "system", "subtype": "local_command", "content": "<command-name>", "parentUuid": None, "uuid": "y"},
        {"type": "progress", "uuid": "y", "parentUuid": None, "sessionId": "s-1", "data": {}},
        {"type": "mode", "mode": "normal", "sessionId": "s-1"},
    ],
)
def test_a_session_of_claude_code_is_told_by_any_first_record(first: dict[str, Any], folder: Folder) -> None:
    session = folder.read(lines_of([first, *claude_code_of(TEXTS["mixed"])]))
    assert session.form == "claude-code"
    assert len(session.turns) == 2
    assert session.left_out == {"log_record": 1}


def test_a_title_that_the_user_gave_comes_first(folder: Folder) -> None:
    titles = [
        {"type": "custom-title", "customTitle": "Mine", "sessionId": "s-1"},
        {"type": "ai-title", "aiTitle": "Guessed", "sessionId": "s-1"},
        {"type": "summary", "summary": "Old", "leafUuid": "x"},
    ]
    assert folder.read(lines_of([*claude_code_of([("a", "b")]), *titles])).heading.title == "Mine"
    assert folder.read(lines_of([*claude_code_of([("a", "b")]), *titles[1:]])).heading.title == "Guessed"


def test_records_without_links_are_read_in_their_order(folder: Folder) -> None:
    bare = [{"type": record["type"], "message": record["message"]} for record in claude_code_of(TEXTS["english"])]
    assert len(folder.read(lines_of(bare)).turns) == 2
    half = [
        {key: value for key, value in record.items() if key != "parentUuid"}
        for record in claude_code_of(TEXTS["chinese"])
    ]
    assert len(folder.read(lines_of(half)).turns) == 2
    circle = [{**record, "parentUuid": "a1"} for record in claude_code_of(TEXTS["chinese"])]
    assert folder.read(lines_of(circle)).messages


def test_records_that_stand_twice_are_read_once(folder: Folder) -> None:
    records = claude_code_of(TEXTS["mixed"])
    session = folder.read(lines_of([*records, *records[:2]]))
    assert len(session.turns) == 2
    assert session.left_out == {"log_record": 2}


# --- lines that are broken -------------------------------------------------------------------------------------------

LOGS: dict[str, Callable[[Any], str]] = {
    "Claude Code": lambda pairs: lines_of(claude_code_of(pairs)),
    "Codex": lambda pairs: lines_of(codex_of(pairs)),
    "Gemini CLI": lambda pairs: lines_of([SESSION, *gemini_messages_of(pairs)]),
}


@each_language
@pytest.mark.parametrize("log", LOGS)
def test_a_broken_line_in_the_middle_is_named(log: str, language: str, folder: Folder) -> None:
    lines = LOGS[log](TEXTS[language]).splitlines(keepends=True)
    lines[2] = lines[2][:-20] + "\n"
    assert re.match(r"line 3, column \d+: not JSON", folder.refusal("".join(lines)))
    lines[2] = "[]\n"
    assert folder.refusal("".join(lines)).startswith("line 3: must be an object, got a list")


@each_language
@pytest.mark.parametrize("log", LOGS)
def test_a_last_line_that_is_still_written_is_counted(log: str, language: str, folder: Folder) -> None:
    whole = LOGS[log](TEXTS[language])
    *_, last = whole.splitlines(keepends=True)
    start = len(whole.encode()) - len(last.encode())
    for size in range(1, len(last.encode()) - 2, 17):  # also in the middle of a character
        conversation = folder.read(whole.encode()[: start + size])
        assert len(conversation.messages) == 3
        assert conversation.left_out["cut_line"] == 1


def test_what_no_message_can_be_read_from_is_refused_with_its_line(folder: Folder) -> None:
    wrong = claude_record("u1", None, "user", [{"type": "tool_use", "id": "t", "name": "x", "input": {}}])
    reason = folder.refusal(lines_of([*claude_code_of([("hi", "ho")])[:1], wrong]))
    assert reason.startswith("line 2: a block of type 'tool_use' cannot stand in")
    item = codex_record("response_item", type="function_call_output", output="x")
    reason = folder.refusal(lines_of([*codex_of([("hi", "ho")])[:1], item]))
    assert reason.startswith('line 2: an item with an output must have a "call_id"')


# --- Codex ----------------------------------------------------------------------------------------------------------

ROLLOUT = [
    codex_record("session_meta", id="c-1", timestamp="2025-11-03T09:00:00Z", cwd="/work", cli_version="0.50.0"),
    codex_record("response_item", **said_item("developer", "<permissions instructions>")),
    codex_record("response_item", **said_item("user", "<environment_context>\n<cwd>/work</cwd>")),
    codex_record("turn_context", model="gpt-5-codex", cwd="/work"),
    codex_record("response_item", **said_item("user", "哪个端口？")),
    codex_record("event_msg", type="user_message", message="哪个端口？"),
    codex_record("response_item", type="reasoning", summary=[], encrypted_content="gAAA"),
    codex_record("response_item", type="function_call", name="shell", arguments='{"cmd": "a"}', call_id="f1"),
    codex_record("response_item", type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="f2"),
    token_count(100, 100),
    token_count(100, 100),
    codex_record("response_item", type="function_call_output", call_id="f1", output="6380"),
    codex_record(
        "response_item", type="custom_tool_call_output", call_id="f2", output=[{"type": "input_text", "text": "done"}]
    ),
    codex_record("response_item", **said_item("assistant", "6380.")),
    token_count(250, None),
    codex_record("event_msg", type="token_count", info=None),
    codex_record("response_item", type="ghost_snapshot", ghost_commit={"id": "abc"}),
]


def test_a_rollout_is_read_with_its_calls_and_what_they_used(folder: Folder) -> None:
    rollout = folder.read(lines_of(ROLLOUT))
    assert said(rollout) == [
        ("user", "哪个端口？"),
        ("assistant", ""),
        ("tool", "6380"),
        ("tool", "done"),
        ("assistant", "6380."),
    ]
    assert rollout.messages[1].tool_calls == (
        ToolCall("f1", "shell", '{"cmd": "a"}'),
        ToolCall("f2", "apply_patch", "*** Begin"),
    )
    assert not rollout.odd
    assert rollout.heading == (1, "c-1", None, "2025-11-03")
    assert rollout.left_out == {"program_message": 2, "log_record": 8, "thinking": 1}
    assert rollout.usage == (
        Usage(100, 7, cached_tokens=50, model="gpt-5-codex"),
        Usage(150, 0, cached_tokens=75, model="gpt-5-codex"),
    )


def test_a_rollout_is_read_as_it_happened_beside_compactions_and_what_was_rolled_back(folder: Folder) -> None:
    records = [
        *codex_of([("first", "one")]),
        codex_record("compacted", message="a summary", replacement_history=[said_item("user", "a summary")]),
        token_count(100, 100),
        *codex_of([("taken back", "never"), ("taken back, too", "never")]),
        token_count(300, 200),
        codex_record("event_msg", type="thread_rolled_back", num_turns=2),
        codex_record("event_msg", type="thread_name_updated", thread_name="Ports"),
        *codex_of([("second", "two")]),
    ]
    rollout = folder.read(lines_of(records))
    assert [turn.user_text for turn in rollout.turns] == ["first", "second"]
    assert rollout.heading.title == "Ports"
    assert rollout.left_out == {"compaction": 1, "branch_message": 4, "log_record": 4}
    assert [call.input_tokens for call in rollout.usage] == [100]


def test_a_rollout_of_the_first_versions_has_no_envelopes(folder: Folder) -> None:
    first = {"id": "c-0", "timestamp": "2025-06-01T10:00:00Z", "instructions": None, "git": {}}
    rollout = folder.read(lines_of([first, {"record_type": "state"}, *items_of(TEXTS["chinese"])]))
    assert (rollout.form, len(rollout.turns), rollout.heading.id) == ("codex", 2, "c-0")


# --- Responses items ------------------------------------------------------------------------------------------------

CALLED = [
    {"role": "user", "content": "端口？"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "6380"},
    {"type": "message", "id": "m1", "role": "assistant", "content": [{"type": "output_text", "text": "6380."}]},
]


@pytest.mark.parametrize(
    "made", [CALLED, lines_of(CALLED), {"model": "gpt-5", "input": CALLED[:4], "output": CALLED[4:]}]
)
def test_items_are_told_though_the_first_is_a_plain_message(made: object, folder: Folder) -> None:
    conversation = folder.read(made)
    assert conversation.form == "responses"
    assert said(conversation) == [("user", "端口？"), ("assistant", ""), ("tool", "6380"), ("assistant", "6380.")]
    assert conversation.left_out == {"thinking": 1}
    assert not conversation.messages[3].metadata


def test_a_request_may_be_one_text(folder: Folder) -> None:
    conversation = folder.read({"model": "gpt-5", "input": "端口？"})
    assert (conversation.form, said(conversation)) == ("responses", [("user", "端口？")])
    with pytest.raises(FormatError, match="holds no known format"):
        folder.read({"instruction": "translate", "model": "x", "input": "端口", "output": "port"})


def test_an_answer_has_its_instructions_its_tools_and_its_usage(folder: Folder) -> None:
    answer = {
        "object": "response",
        "model": "gpt-5",
        "created_at": 1717171717,
        "instructions": "Be brief.",
        "input": "端口？",
        "output": [{"type": "compaction", "encrypted_content": "gA"}, said_item("assistant", "6380.")],
        "tools": [{"type": "web_search"}],
        "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 4},
    }
    conversation = folder.read(answer)
    assert said(conversation) == [("system", "Be brief."), ("user", "端口？"), ("assistant", "6380.")]
    assert conversation.usage == (Usage(30, 4, cached_tokens=20, model="gpt-5"),)
    assert conversation.left_out == {"tool_definition": 1, "compaction": 1}
    assert conversation.heading.created == "2024-05-31"


# --- Gemini ---------------------------------------------------------------------------------------------------------


def test_contents_have_calls_thoughts_and_what_the_system_is_told(folder: Folder) -> None:
    contents = [
        *contents_of([("端口？", "I look.")])[:1],
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"functionCall": {"name": "look", "args": {"q": 1}}, "thoughtSignature": "x"},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "6380"}}}]},
        {"role": "model", "parts": [{"text": "6380."}]},
    ]
    request = {"systemInstruction": {"parts": [{"text": "Be brief."}]}, "contents": contents, "tools": [{}]}
    conversation = folder.read(request)
    assert said(conversation) == [
        ("system", "Be brief."),
        ("user", "端口？"),
        ("assistant", ""),
        ("tool", "6380"),
        ("assistant", "6380."),
    ]
    assert conversation.left_out == {"thinking": 1, "tool_definition": 1}
    assert not conversation.odd
    assert not conversation.messages[2].metadata


@pytest.mark.parametrize(
    "other",
    [
        {"role": "user", "parts": [{"type": "text", "content": "hi"}]},
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]},
        {"parts": [{"part_kind": "user-prompt", "content": "hi"}]},
    ],
)
def test_parts_that_say_their_type_are_no_contents_of_gemini(other: object) -> None:
    assert not CONTENTS.knows(other)


def test_a_session_of_gemini_cli_has_each_message_as_it_was_last_written(folder: Folder) -> None:
    call = {"id": "k1", "name": "look", "args": {}, "status": "success", "result": None}
    result = [{"functionResponse": {"id": "k1", "name": "look", "response": {"output": "6380"}}}]
    tokens = {"input": 40, "output": 3, "cached": 30, "thoughts": 2, "tool": 1, "total": 46}
    records = [
        SESSION,
        gemini_message("i", "info", "Update available"),
        gemini_message("u1", "user", [{"text": "端口？"}]),
        gemini_message("g1", "gemini", "", toolCalls=[call], thoughts=[{"subject": "hm"}]),
        gemini_message("g1", "gemini", "", toolCalls=[{**call, "result": result}], tokens=tokens, model="gemini-3-pro"),
        gemini_message("r1", "user", result),
        {"$set": {"messages": [gemini_message("z", "user", "a summary")]}},
        gemini_message("u2", "user", "taken back"),
        gemini_message("g2", "gemini", "never"),
        {"$rewindTo": "u2"},
        {"$set": {"summary": "Ports"}},
        gemini_message("g3", "gemini", [{"text": "6380."}]),
    ]
    session = folder.read(lines_of(records))
    assert said(session) == [("user", "端口？"), ("assistant", ""), ("tool", "6380"), ("assistant", "6380.")]
    assert session.messages[1].tool_calls == (ToolCall("k1", "look", "{}"),)
    assert session.heading == (1, "g-1", "Ports", "2025-11-03")
    assert session.usage == (Usage(41, 5, cached_tokens=30, model="gemini-3-pro"),)
    assert session.left_out == {"program_message": 1, "compaction": 1, "branch_message": 2, "log_record": 1}
    assert not session.odd


# --- Anthropic ------------------------------------------------------------------------------------------------------

TOOLS = [
    {"role": "user", "content": "端口？"},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}, tool_use("t1")]},
    {"role": "user", "content": [*tool_result("t1", "6380"), text("go on")]},
    {"role": "assistant", "content": [text("6380.")], "usage": {"input_tokens": 9, "output_tokens": 2}},
]


@pytest.mark.parametrize("made", [TOOLS, lines_of(TOOLS), {"messages": TOOLS}, lines_of([{"messages": TOOLS}])])
def test_a_list_of_anthropic_is_told_by_its_blocks(made: object, folder: Folder) -> None:
    conversation = folder.read(made)
    assert conversation.form == "anthropic"
    assert said(conversation) == [
        ("user", "端口？"),
        ("assistant", ""),
        ("tool", "6380"),
        ("user", "go on"),
        ("assistant", "6380."),
    ]
    assert len(conversation.turns) == 1
    assert conversation.usage == (Usage(9, 2),)
    assert conversation.left_out == {"thinking": 1}


def test_a_request_of_anthropic_begins_with_what_the_system_is_told(folder: Folder) -> None:
    conversation = folder.read(anthropic_of(TEXTS["mixed"], system=[text("Be brief. 简短。")], tools=[{}, {}]))
    assert said(conversation)[0] == ("system", "Be brief. 简短。")
    assert conversation.left_out == {"tool_definition": 2}


# --- what is told, and what is held -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ('{"ask": 1, "reply": 2}\n{"ask": 1}\n', "its first line has the keys 'ask', 'reply'"),
        ({"ask": 1, "reply": 2}, "it has the keys 'ask', 'reply'"),
        ([{"问": 1}], r"its first element has the keys '\u95ee'"),
        ([{}], "its first element has the keys none"),
    ],
)
def test_what_no_format_knows_is_refused_with_its_keys_and_the_formats(
    content: object, where: str, folder: Folder
) -> None:
    reason = folder.refusal(content)
    assert reason.startswith(f"holds no known format: {where}; known are openai, ")
    assert all(name in reason for name in ("claude-code", "codex", "responses", "gemini", "anthropic"))


def test_a_long_session_is_read_without_holding_its_file(tmp_path: Path) -> None:
    records = []
    for at in range(400):
        parent = records[-1]["uuid"] if records else None
        records.append(claude_answer(f"a{at}", parent, tool_use(f"t{at}"), f"msg_{at}"))
        copied = {"file": {"content": "x" * 20_000}, "originalFile": "y" * 20_000}
        records.append(
            claude_record(f"r{at}", f"a{at}", "user", tool_result(f"t{at}", "z" * 1_000), toolUseResult=copied)
        )
    file = tmp_path / "log"
    file.write_text(lines_of(records))
    del records
    tracemalloc.start()
    conversation = read_conversation(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(conversation.messages) == 800
    assert peak < file.stat().st_size / 4  # a piece of the file, and a fortieth of it in messages
