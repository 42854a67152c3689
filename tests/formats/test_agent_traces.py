"""What agents and tracers write: tool use, what is left out, what is reported of model calls, and what is broken."""

from __future__ import annotations

import contextlib
import html
import io
import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.messages import MediaPart, TextPart, ToolCall, validate_messages
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_formats import FormatError, list_conversations, read_conversation
from tests.agent_traces import (
    DAY,
    action,
    aider_of,
    as_lines,
    constructor,
    cursor_of,
    langchain_runs_of,
    observation,
    open_webui_chat,
    open_webui_node,
    open_webui_of,
    openai_runs_of,
    openhands_of,
    otel_message,
    otel_text,
    otlp,
    prompt_part,
    pydantic_ai_of,
    request,
    response,
    run,
    span,
    spans_of,
    text_part,
)
from tests.formats.files import Folder, said

if TYPE_CHECKING:
    from gatekeeper_formats import Conversation


PAIRS = [("缓存的 port 是多少？", "新实例用 6380 端口。"), ("And the host?", "localhost")]
SAID = [("user", PAIRS[0][0]), ("assistant", PAIRS[0][1]), ("user", PAIRS[1][0]), ("assistant", PAIRS[1][1])]


def is_whole(reading: Conversation) -> bool:
    """Whether a provider accepts the messages as they are."""
    return validate_messages(reading.messages, provider="openai") == ()


# --- OpenHands ------------------------------------------------------------------------------------------------------


def test_openhands_actions_become_calls_and_their_observations_the_results(folder: Folder) -> None:
    metadata = {"function_name": "execute_bash", "tool_call_id": "c1", "model_response": {"id": "m1"}}
    reading = folder.read(
        [
            action(0, "system", content="be brief", tools=[{"type": "function"}]),
            action(1, "message", "user", content="数一数 files", image_urls=["data:image/png"]),
            action(2, "recall", "user", query="数一数 files"),
            observation(3, "recall", 2, "knowledge"),
            action(4, "run", command="ls | wc -l", thought="I count.", blocking=False)
            | {"tool_call_metadata": metadata},
            observation(5, "run", 4, "7", metadata={"exit_code": 0}),
            action(6, "think", thought="hm"),
            observation(7, "think", 6, "Your thought has been logged."),
            action(8, "read", path="a.txt", thought=""),
            observation(9, "error", 8, "no such file"),
            action(10, "change_agent_state", "environment", agent_state="running"),
            action(11, "compaction", summary="so far", forgotten_events_start_id=1, forgotten_events_end_id=3),
            action(12, "run", "user", command="whoami"),
            observation(13, "run", 12, "root"),
            action(14, "finish", final_thought="七个。", thought="", outputs={}),
        ]
    )
    assert said(reading) == [
        ("system", "be brief"),
        ("user", "数一数 files"),
        ("assistant", "I count."),
        ("tool", "7"),
        ("assistant", ""),
        ("tool", "no such file"),
        ("assistant", "七个。"),
    ]
    assert reading.messages[1].content == (TextPart("数一数 files"), MediaPart("image"))
    assert reading.messages[2].tool_calls == (ToolCall("c1", "execute_bash", '{"command": "ls | wc -l"}'),)
    assert reading.messages[4].tool_calls == (ToolCall("action_8", "read", '{"path": "a.txt"}'),)
    assert reading.left_out == {
        "tool_definition": 1,
        "image": 1,
        "state_record": 3,
        "thinking": 1,
        "compaction": 1,
        "hidden_message": 1,
        "orphan_result": 1,
    }
    assert reading.heading.created == DAY
    assert is_whole(reading)


def test_openhands_sums_are_split_into_calls(folder: Folder) -> None:
    def sums(*counts: int) -> dict[str, Any]:
        keys = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")
        return {"llm_metrics": {"accumulated_token_usage": {"model": "m", **dict(zip(keys, counts, strict=True))}}}

    events = openhands_of([*PAIRS, *PAIRS])
    for at, counts in ((1, (100, 10, 0, 90)), (3, (250, 25, 90, 95)), (5, (250, 25, 90, 95)), (7, (40, 4, 0, 0))):
        events[at] |= sums(*counts)
    assert folder.read(events).usage == (
        Usage(100, 10, 0, 90, "m"),
        Usage(150, 15, 90, 5, "m"),
        Usage(40, 4, 0, 0, "m"),
    )


def test_openhands_answers_of_the_provider_are_counted_once(folder: Folder) -> None:
    usage = {"prompt_tokens": 50, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 30}}
    answer = {"id": "m1", "model": "gpt-5", "usage": usage}
    events = [action(0, "message", "user", content="go")]
    for at in (1, 3):
        metadata = {"function_name": "run", "tool_call_id": f"c{at}", "model_response": answer}
        events += [
            action(at, "run", command="x") | {"tool_call_metadata": metadata},
            observation(at + 1, "run", at, "ok"),
        ]
    assert folder.read(events).usage == (Usage(50, 5, 30, 0, "gpt-5"),)


def test_openhands_broken_events_are_named_by_their_place(folder: Folder) -> None:
    events = openhands_of(PAIRS)
    assert folder.refusal([*events, 7]) == "event 4 (counting from 0): must be an object, got a number"
    assert folder.refusal(as_lines([*events[:2], {"id": 2}, *events[2:]])).startswith('line 3: must have an "action"')
    assert folder.refusal([*events, {"action": "run", "args": 1}]).endswith('"args": must be an object, got a number')
    assert folder.read({"trajectory": []}).messages == ()
    assert said(folder.read([{"instance_id": "i-1", "history": events}])) == SAID


# --- Aider ----------------------------------------------------------------------------------------------------------

AIDER = f"""
# aider chat started at {DAY} 10:00:00

> aider --model gpt-5
> Added a.py to the chat.

#### /add b.py

> Added b.py to the chat

#### 端口是多少？
#### And the host?

# Not a session, a heading

```
#### a comment
> a quoted line
```

> Tokens: 2.5k sent, 1.2k cache write, 800 cache hit, 150 received. Cost: $0.01 message, $0.02 session.
> Applied edit to a.py

#### /ask why?

Because.

> Tokens: 12k sent, 1,500 received.
"""


def test_aider_says_whose_a_line_is(folder: Folder) -> None:
    reading = folder.read(AIDER)
    assert said(reading) == [
        ("user", "端口是多少？\nAnd the host?"),
        ("assistant", "# Not a session, a heading\n\n```\n#### a comment\n> a quoted line\n```"),
        ("user", "/ask why?"),
        ("assistant", "Because."),
    ]
    assert reading.left_out == {"app_note": 3, "command": 1}
    assert reading.usage == (Usage(2500, 150, 800, 1200), Usage(12_000, 1500))
    assert reading.heading[2:] == ("端口是多少？", DAY)


def test_aider_lines_in_an_open_code_block_are_the_users_where_aider_wrote_them(folder: Folder) -> None:
    text = aider_of([("one", "```\ncut off"), ("two", "done")])
    assert said(folder.read(text)) == [
        ("user", "one"),
        ("assistant", "```\ncut off"),
        ("user", "two"),
        ("assistant", "done"),
    ]


def test_aider_sessions_are_conversations(folder: Folder) -> None:
    text = aider_of([], f"{DAY} 09:00:00") + aider_of(PAIRS) + aider_of(PAIRS[:1], "2025-02-04 10:00:00")
    assert [heading[2:] for heading in list_conversations(folder.write(text))] == [
        (None, DAY),
        (PAIRS[0][0], DAY),
        (PAIRS[0][0], "2025-02-04"),
    ]
    assert folder.read(text, conversation="1").messages == ()
    assert said(folder.read(text, conversation="2")) == SAID


# --- Cursor ---------------------------------------------------------------------------------------------------------


def test_cursor_labels_count_behind_a_rule_alone(folder: Folder) -> None:
    answer = "**Answer**\n\nbold:\n\n**User**\n\nno label\n\n---\n\n**Cursor:** is an editor\n\n```\nopen"
    reading = folder.read(cursor_of([("port 是多少？", answer), ("next\n\n---", "ok\n\n---")]))
    assert said(reading) == [
        ("user", "port 是多少？"),
        ("assistant", answer),
        ("user", "next\n\n---"),
        ("assistant", "ok"),
    ]
    assert reading.form == "cursor"
    assert reading.heading[2:] == ("Ports", "2025-09-28")
    assert not reading.left_out


def test_cursor_exports_without_messages_or_in_another_layout(folder: Folder) -> None:
    assert folder.read(cursor_of([])).messages == ()
    assert said(folder.read(cursor_of(PAIRS).replace("_\n\n---", "_\n\n").replace("\n", "\r\n"))) == SAID
    assert folder.read(cursor_of(PAIRS).replace("_\n", "_\n\nshared by me\n", 1)).left_out == {"preface": 1}
    assert folder.read(cursor_of(PAIRS, when="7/8/2025 at 19:03:40 PDT")).heading.created is None
    assert folder.refusal("**User**\n\nhi\n", form="cursor").startswith("is no export of Cursor")


# --- Open WebUI -----------------------------------------------------------------------------------------------------


def test_open_webui_follows_the_current_branch_and_reads_tool_use_in_the_text(folder: Folder) -> None:
    def details(kind: str, body: str = "", **attributes: str) -> str:
        written = "".join(f' {key}="{html.escape(value)}"' for key, value in attributes.items())
        return f'<details type="{kind}" done="true"{written}>\n<summary>Done</summary>\n{body}\n</details>\n'

    arguments, result = json.dumps('{"q": "端口"}'), json.dumps("6380 <b>")
    answer = (
        details("reasoning", "&gt; hm", duration="3")
        + "I look.\n\n"
        + details("tool_calls", id="c1", name="search", arguments=arguments, result=result)
        + details("tool_calls", '"page"', id="c2", name="fetch", arguments="")
        + "It is 6380."
    )
    nodes = [
        open_webui_node("q", None, "user", "port?", files=[{"type": "image", "url": "x"}, {"type": "file"}]),
        open_webui_node("old", "q", "assistant", "no idea"),
        open_webui_node(
            "a", "q", "assistant", answer, model="llama3", usage={"prompt_eval_count": 40, "eval_count": 4}
        ),
        open_webui_node("e", "a", "user", ""),
    ]
    chat = open_webui_chat(nodes, "e")
    chat["chat"]["params"] = {"system": "be brief"}
    reading = folder.read([chat])
    assert said(reading) == [
        ("system", "be brief"),
        ("user", "port?"),
        ("assistant", "I look."),
        ("tool", "6380 <b>"),
        ("assistant", ""),
        ("tool", "page"),
        ("assistant", "It is 6380."),
    ]
    assert reading.messages[2].tool_calls == (ToolCall("c1", "search", '{"q": "端口"}'),)
    assert reading.left_out == {"branch_message": 1, "thinking": 1, "image": 1, "attachment": 1, "empty_message": 1}
    assert reading.usage == (Usage(40, 4, model="llama3"),)
    assert reading.heading == (1, "w-1", "Ports", DAY)
    assert is_whole(reading)


def test_open_webui_broken_chats_break_no_other(folder: Folder) -> None:
    broken = open_webui_chat([open_webui_node("a", "gone", "user", "x")], "a")
    export = [open_webui_of(PAIRS, id="whole"), broken, 7, open_webui_of([])]
    assert folder.refusal(export, conversation="2") == "conversation 2: node 'gone' is missing in \"history.messages\""
    assert folder.refusal(export, conversation="3") == "conversation 3: the chat: must be an object, got a number"
    assert folder.read(export, conversation="4").messages == ()
    assert said(folder.read(export, conversation="whole")) == SAID
    circle = open_webui_chat([open_webui_node("a", "a", "user", "x")], "a")
    assert "go round in a circle" in folder.refusal(circle)


# --- pydantic-ai ----------------------------------------------------------------------------------------------------


def test_pydantic_ai_parts_become_messages(folder: Folder) -> None:
    image = {"url": "https://example.org/a.png", "kind": "image-url", "media_type": "image/png"}
    reading = folder.read(
        [
            request(
                {"content": "be brief", "part_kind": "system-prompt"},
                prompt_part(["看这个", image, {"data": "", "media_type": "audio/wav", "kind": "binary"}]),
                instructions="answer in Chinese",
                conversation_id="p-1",
            ),
            response(
                {"content": "hm", "part_kind": "thinking"},
                text_part("I look."),
                {"tool_name": "f", "args": {"x": 1}, "tool_call_id": "c1", "part_kind": "tool-call"},
                {"tool_name": "g", "args": '{"y":2}', "tool_call_id": "c2", "part_kind": "tool-call"},
                usage={"input_tokens": 10, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4},
            ),
            request(
                {"tool_name": "f", "content": {"rows": [1]}, "tool_call_id": "c1", "part_kind": "tool-return"},
                {"tool_name": "g", "content": "try again", "tool_call_id": "c2", "part_kind": "retry-prompt"},
                instructions="answer in English",
            ),
            response(
                {"tool_name": "web", "args": None, "tool_call_id": "c3", "part_kind": "builtin-tool-call"},
                {"tool_name": "web", "content": "page", "tool_call_id": "c3", "part_kind": "builtin-tool-return"},
                text_part("so"),
                {"part_kind": "something-new"},
                usage={"request_tokens": 20, "response_tokens": 5},
            ),
            request({"content": "Please return text.", "tool_name": None, "part_kind": "retry-prompt"}),
        ]
    )
    assert said(reading) == [
        ("system", "answer in Chinese"),
        ("system", "be brief"),
        ("user", "看这个"),
        ("assistant", "I look."),
        ("tool", '{"rows": [1]}'),
        ("tool", "try again"),
        ("assistant", ""),
        ("tool", "page"),
        ("assistant", "so"),
        ("user", "Please return text."),
    ]
    assert reading.messages[2].content == (TextPart("看这个"), MediaPart("image"), MediaPart("audio"))
    assert reading.messages[3].tool_calls == (ToolCall("c1", "f", '{"x": 1}'), ToolCall("c2", "g", '{"y":2}'))
    assert reading.left_out == {"image": 1, "audio": 1, "thinking": 1, "system_message": 1, "unknown_part": 1}
    assert reading.usage == (Usage(10, 2, 3, 4, "gpt-5"), Usage(20, 5, model="gpt-5"))
    assert (reading.heading.id, reading.heading.created) == ("p-1", DAY)
    assert is_whole(reading)


def test_pydantic_ai_broken_messages_are_named_by_their_place(folder: Folder) -> None:
    messages = pydantic_ai_of(PAIRS)
    assert folder.refusal([*messages, 1]) == "message 4 (counting from 0): must be an object, got a number"
    assert folder.refusal(as_lines([messages[0], {"kind": "x"}])) == 'line 2: "kind" must be "request" or "response"'
    assert folder.refusal([request({"part_kind": "system-prompt"})]).endswith(
        'part 0: "content" must be text, it is missing'
    )
    assert folder.read([], form="pydantic-ai").messages == ()


# --- traces ---------------------------------------------------------------------------------------------------------


def test_a_tool_loop_in_spans_is_one_conversation(folder: Folder) -> None:
    asked = [otel_text("system", "be brief"), otel_text("user", "天气 in Bern?")]
    thought = {"type": "reasoning", "content": "hm"}
    call = {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "伯尔尼"}}
    result = otel_message("tool", {"type": "tool_call_response", "id": "c1", "response": "rain"})
    picture = {"type": "uri", "modality": "image", "uri": "https://example.org/a.png"}
    first = span(
        0,
        asked,
        [otel_message("assistant", thought, call, finish_reason="tool_call")],
        gen_ai__usage__input_tokens=50,
        gen_ai__usage__output_tokens=5,
        gen_ai__usage__cache_read__input_tokens=20,
        gen_ai__response__model="gpt-5",
    )
    tool = span(1, [], [], gen_ai__operation__name="execute_tool")
    del tool["attributes"]["gen_ai.input.messages"], tool["attributes"]["gen_ai.output.messages"]
    second = span(2, [*asked, otel_message("assistant", call), result], [otel_text("assistant", "It rains.")] * 2)
    third = span(3, [otel_text("system", "name the chat"), otel_text("user", "a chat")], [otel_text("assistant", "T")])
    follow = [
        asked[0],
        otel_text("assistant", "It rains."),
        otel_message("user", {"type": "text", "content": "so"}, picture),
    ]
    fourth = span(4, follow, [otel_text("assistant", "Take an umbrella.")])
    reading = folder.read([fourth, second, tool, third, first])
    assert said(reading) == [
        ("system", "be brief"),
        ("user", "天气 in Bern?"),
        ("assistant", ""),
        ("tool", "rain"),
        ("assistant", "It rains."),
        ("user", "so"),
        ("assistant", "Take an umbrella."),
    ]
    assert reading.messages[2].tool_calls == (ToolCall("c1", "weather", '{"city": "伯尔尼"}'),)
    assert reading.left_out == {"thinking": 1, "image": 1, "trace_step": 1, "other_call": 1, "branch_message": 1}
    assert reading.usage == (Usage(50, 5, 20, model="gpt-5"),)
    assert (reading.heading.id, reading.heading.created) == ("t-1", DAY)
    assert is_whole(reading)


def test_cached_tokens_under_an_older_name_are_part_of_the_input_of_a_span(folder: Folder) -> None:
    counts = {"input_tokens": 50, "output_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 9}
    value = span(0, [otel_text("user", "hi")], [otel_text("assistant", "Hi.")])
    value["attributes"] |= {f"gen_ai.usage.{name}": count for name, count in counts.items()}
    assert folder.read([value]).usage == (Usage(50, 5, 20, 9),)


def test_an_answer_that_comes_back_changed_is_said_once(folder: Folder) -> None:
    spans = spans_of(PAIRS)
    past = json.loads(spans[1]["attributes"]["gen_ai.input.messages"])
    past[1] = otel_text("assistant", "6380")
    spans[1]["attributes"]["gen_ai.input.messages"] = json.dumps(past)
    assert said(folder.read(spans)) == SAID


def test_spans_of_several_conversations_are_told_apart(folder: Folder) -> None:
    pairs = [spans_of(PAIRS), spans_of(PAIRS[:1])]
    for number, spans in enumerate(pairs):
        for each in spans:
            each["attributes"]["gen_ai.conversation.id"] = f"talk-{number}"
    mixed = [pairs[1][0], *pairs[0]]
    assert [heading.id for heading in list_conversations(folder.write(otlp(mixed)))] == ["talk-1", "talk-0"]
    assert said(folder.read(otlp(mixed), conversation="talk-0")) == SAID


def test_system_instructions_beside_the_messages_come_first(folder: Folder) -> None:
    instructions = json.dumps([{"type": "text", "content": "be brief"}])
    spans = spans_of(PAIRS)
    for each in spans:
        each["attributes"]["gen_ai.system_instructions"] = instructions
    assert said(folder.read(spans)) == [("system", "be brief"), *SAID]


def test_spans_that_are_broken_are_named_by_their_place(folder: Folder) -> None:
    spans = spans_of(PAIRS)
    assert folder.refusal(as_lines([spans[0], 7])) == "line 2: must be an object, got a number"
    cut = span(5, [otel_text("alien", "x")], [])
    assert "conversation 't-1': span 2 (counting from 0)" in folder.refusal([*spans, cut])
    cut["attributes"]["gen_ai.input.messages"] = '[{"role": "us'
    assert folder.refusal([*spans, cut]).endswith('"gen_ai.input.messages" must be JSON: it may have been cut')
    assert folder.refusal({"resourceSpans": []}).startswith("holds no model call with messages")


def test_langsmith_runs_of_a_thread_are_one_conversation(folder: Folder) -> None:
    calls = [{"name": "weather", "args": {"city": "Bern"}, "id": "c1", "type": "tool_call"}]
    reported = {"input_tokens": 50, "output_tokens": 5, "input_token_details": {"cache_read": 20, "cache_creation": 9}}
    asking = constructor("ai", "", tool_calls=calls, usage_metadata=reported)
    asked = [constructor("system", "be brief"), constructor("human", "天气?")]
    result = constructor("tool", "rain", tool_call_id="c1")
    extra = {"metadata": {"thread_id": "talk-1", "ls_model_name": "gpt-5"}}
    child = run(1, "llm", {"messages": [asked]}, {"generations": [[{"text": "", "message": asking}]]}, extra=extra)
    tool = run(2, "tool", {"input": "Bern"}, {"output": "rain"})
    root = run(0, "chain", {"messages": asked}, {}, extra=extra, parent_run_id=None, child_runs=[child, tool])
    answered = {"generations": [[{"text": "It rains."}, {"text": "Rain."}]]}
    last = run(
        3, "llm", {"messages": [[*asked, asking, result]]}, answered, extra=extra, prompt_tokens=80, completion_tokens=3
    )
    reading = folder.read([last, root])
    assert said(reading) == [
        ("system", "be brief"),
        ("user", "天气?"),
        ("assistant", ""),
        ("tool", "rain"),
        ("assistant", "It rains."),
    ]
    assert reading.messages[2].tool_calls == (ToolCall("c1", "weather", '{"city":"Bern"}'),)
    assert reading.left_out == {"trace_step": 2, "branch_message": 1}
    assert reading.usage == (Usage(50, 5, 20, 9, "gpt-5"), Usage(80, 3, model="gpt-5"))
    assert (reading.heading.id, reading.heading.created) == ("talk-1", DAY)
    assert is_whole(reading)


def test_langsmith_roots_are_read_where_no_model_call_was_exported(folder: Folder) -> None:
    state = [["human", PAIRS[0][0]], {"type": "ai", "content": PAIRS[0][1]}]
    root = run(0, "chain", {"messages": state[:1]}, {"messages": state}, parent_run_id=None)
    assert said(folder.read([root])) == SAID[:2]
    prompted = run(0, "llm", {"prompts": ["port?"]}, {"generations": [[{"text": "6380"}]]})
    assert said(folder.read([prompted])) == [("user", "port?"), ("assistant", "6380")]


def test_langsmith_broken_runs_are_named_by_their_place(folder: Folder) -> None:
    runs = openai_runs_of(PAIRS)
    assert folder.refusal([*runs, 7]) == "run 2 (counting from 0): must be an object, got a number"
    broken = run(5, "llm", {"messages": [7]}, {})
    assert "run 2 (counting from 0), inputs.messages[0]: must be a message, got a number" in folder.refusal(
        [*runs, broken]
    )
    assert said(folder.read(langchain_runs_of(PAIRS)[::-1])) == SAID
    assert folder.refusal([run(0, "tool", {}, {})]) == "holds no conversation"


# --- anything -------------------------------------------------------------------------------------------------------


def test_names_of_kinds_that_are_no_text_are_unknown_kinds(folder: Folder) -> None:
    assert folder.read([request({"part_kind": ["text"], "content": "x"})]).left_out == {"unknown_part": 1}
    assert said(folder.read([span(0, [otel_text("user", "hi")], [], gen_ai__operation__name=["chat"])])) == [
        ("user", "hi")
    ]


PIECES = ["#### ", "> ", "---\n", "**User**", "**Cursor**\n", "```\n", "\n", "  \n", "a", "/ask", "端口"]
HEADS = ["# aider chat started at 2025-02-30\n", "# T\n_Exported on 31/31/2025 from Cursor (1)_\n"]


@given(pieces=st.lists(st.sampled_from([*PIECES, *HEADS, "> Tokens: 1k sent, 2 received."]), max_size=25))
def test_any_transcript_is_read(pieces: list[str]) -> None:
    for head in HEADS:
        text = head + "".join(pieces)
        for heading in list_conversations(io.BytesIO(text.encode())):
            read_conversation(io.BytesIO(text.encode()), conversation=str(heading.number))


@pytest.mark.parametrize(
    "text",
    [
        "# " + " " * 200_000 + "_Exported on ",
        "_Exported on " + " from Cursor" * 100_000,
        "# aider chat started at x\n#### a" + " " * 200_000 + "b",
        json.dumps(open_webui_of([("q", '<details type="reasoning">' * 20_000)])),
        json.dumps(open_webui_of([("q", '<details type="tool_calls">' + "<summary>" * 20_000 + "</details>")])),
    ],
    ids=["title", "head", "line", "details", "summary"],
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    started = time.process_time()
    with contextlib.suppress(FormatError):
        read_conversation(io.BytesIO(text.encode()))
    assert time.process_time() - started < 2  # each took minutes where an expression went back over the text


# --- one speaker in a row -------------------------------------------------------------------------------------------


def test_messages_of_one_speaker_in_a_row_are_counted_where_they_are_conspicuous(folder: Folder) -> None:
    chat = [{"role": role, "content": text} for role, text in SAID]
    doubled = [message for message in chat for _ in range(2)]
    assert folder.read(chat).repeated_speakers == 0
    assert folder.read(doubled).repeated_speakers == 4
    assert folder.read([*chat, chat[0], chat[0], chat[0]]).repeated_speakers == 0
    assert folder.read([chat[0]] * 4).repeated_speakers == 3
