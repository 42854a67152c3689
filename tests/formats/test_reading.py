"""Every format that conversations are kept in: read, told apart, written, and what each cannot hold."""

from __future__ import annotations

import doctest
import importlib
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
from tests.agent_logs import (
    SESSION,
    anthropic_of,
    claude_code_of,
    codex_of,
    contents_of,
    gemini_messages_of,
    items_of,
    lines_of,
)
from tests.agent_traces import SHAPES as AGENT_SHAPES
from tests.formats.files import TEXTS, Folder, said

if TYPE_CHECKING:
    from collections.abc import Sequence

each_language = pytest.mark.parametrize("language", TEXTS)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A folder for all examples of the properties."""
    return Folder(tmp_path_factory.mktemp("scratch"))


def as_said(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(role, text) for pair in pairs for role, text in zip(("user", "assistant"), pair, strict=True)]


# --- made by hand, after the shape of the exports -------------------------------------------------------------------


def node(name: str, parent: str | None, role: str, content: Any, **message: Any) -> dict[str, Any]:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    author = {"role": role, "name": message.pop("tool", None), "metadata": {}}
    defaults = {"weight": 1.0, "recipient": "all", "metadata": {}, "create_time": 1717171717.5}
    return {
        "id": name,
        "parent": parent,
        "children": [],
        "message": {"id": name, "author": author, "content": content, **defaults, **message},
    }


def chatgpt(nodes: Sequence[dict[str, Any]], current: str | None, **fields: Any) -> dict[str, Any]:
    root = {"id": "root", "parent": None, "children": [], "message": None}
    mapping = {each["id"]: each for each in (root, *nodes)}
    known = {"title": "Ports", "create_time": 1717171717.5, "conversation_id": "c-1"}
    return {**known, "mapping": mapping, "current_node": current, **fields}


def chatgpt_of(pairs: Sequence[tuple[str, str]], **fields: Any) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    for role, text in as_said(pairs):
        nodes.append(node(f"n{len(nodes)}", nodes[-1]["id"] if nodes else "root", role, text))
    return chatgpt(nodes, nodes[-1]["id"] if nodes else "root", **fields)


def claude_of(pairs: Sequence[tuple[str, str]], **fields: Any) -> dict[str, Any]:
    senders = {"user": "human", "assistant": "assistant"}
    messages = [
        {
            "uuid": f"m{at}",
            "sender": senders[role],
            "text": "",
            "content": [{"type": "text", "text": text}],
            "created_at": f"2025-02-03T10:00:{at:02}.000000Z",
            "attachments": [],
            "files": [],
        }
        for at, (role, text) in enumerate(as_said(pairs))
    ]
    known = {"uuid": "u-1", "name": "Ports", "created_at": "2025-02-03T10:00:00.000000Z"}
    return {**known, "chat_messages": messages, **fields}


def sharegpt_of(pairs: Sequence[tuple[str, str]], **fields: Any) -> dict[str, Any]:
    speakers = {"user": "human", "assistant": "gpt"}
    return {"conversations": [{"from": speakers[role], "value": text} for role, text in as_said(pairs)], **fields}


def langchain_of(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    kinds = {"user": "human", "assistant": "ai"}
    return [{"type": kinds[role], "data": {"content": text, "type": kinds[role]}} for role, text in as_said(pairs)]


def llama_index_of(pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    blocks = [
        {"role": role, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": text}]}
        for role, text in as_said(pairs)
    ]
    return {"store": {"user-1": blocks}}


def openai_of(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"role": role, "content": text} for role, text in as_said(pairs)]


def markdown_of(pairs: Sequence[tuple[str, str]], user: str = "## User", assistant: str = "## Assistant") -> str:
    labels = {"user": user, "assistant": assistant}
    return "# A chat\n\n" + "\n\n".join(f"{labels[role]}\n\n{text}" for role, text in as_said(pairs)) + "\n"


SHAPES: dict[str, tuple[str, Any]] = {
    "an OpenAI list": ("openai", openai_of),
    "an OpenAI object": ("openai", lambda pairs: {"messages": openai_of(pairs)}),
    "an indented OpenAI object": ("openai", lambda pairs: json.dumps({"messages": openai_of(pairs)}, indent=2)),
    "OpenAI lines": ("openai", lambda pairs: lines_of(openai_of(pairs))),
    "one OpenAI object a line": ("openai", lambda pairs: lines_of([{"messages": openai_of(pairs)}])),
    "pairs": ("pairs", lambda pairs: lines_of([{"user": user, "assistant": answer} for user, answer in pairs])),
    "a ChatGPT export": ("chatgpt", lambda pairs: [chatgpt_of(pairs)]),
    "a ChatGPT conversation": ("chatgpt", chatgpt_of),
    "a Claude export": ("claude", lambda pairs: [claude_of(pairs)]),
    "a Claude conversation": ("claude", claude_of),
    "ShareGPT": ("sharegpt", lambda pairs: [sharegpt_of(pairs)]),
    "a ShareGPT conversation": ("sharegpt", sharegpt_of),
    "ShareGPT lines": ("sharegpt", lambda pairs: lines_of([sharegpt_of(pairs)])),
    "a bare ShareGPT list": ("sharegpt", lambda pairs: sharegpt_of(pairs)["conversations"]),
    "a ShareGPT conversation with roles": ("sharegpt", lambda pairs: {"conversations": openai_of(pairs)}),
    "LangChain's list": ("langchain", langchain_of),
    "LangChain lines": ("langchain", lambda pairs: lines_of(langchain_of(pairs))),
    "an object with LangChain's messages": ("langchain", lambda pairs: {"messages": langchain_of(pairs)}),
    "LangChain's model_dump": ("langchain", lambda pairs: [each["data"] for each in langchain_of(pairs)]),
    "a LlamaIndex store": ("llama-index", llama_index_of),
    "LlamaIndex messages": ("llama-index", lambda pairs: llama_index_of(pairs)["store"]["user-1"]),
    "a session of Claude Code": ("claude-code", lambda pairs: lines_of(claude_code_of(pairs))),
    "a rollout of Codex": ("codex", lambda pairs: lines_of(codex_of(pairs))),
    "Responses items": ("responses", items_of),
    "Responses lines": ("responses", lambda pairs: lines_of(items_of(pairs))),
    "a Responses request": ("responses", lambda pairs: {"model": "gpt-5", "input": openai_of(pairs)}),
    "a Responses answer": ("responses", lambda pairs: {"input": items_of(pairs)[:-1], "output": items_of(pairs)[-1:]}),
    "Gemini contents": ("gemini", contents_of),
    "Gemini lines": ("gemini", lambda pairs: lines_of(contents_of(pairs))),
    "a Gemini request": ("gemini", lambda pairs: {"contents": contents_of(pairs)}),
    "a checkpoint of Gemini CLI": ("gemini", lambda pairs: {"history": contents_of(pairs), "authType": "oauth"}),
    "a session of Gemini CLI": ("gemini-cli", lambda pairs: {**SESSION, "messages": gemini_messages_of(pairs)}),
    "a record of Gemini CLI": ("gemini-cli", lambda pairs: lines_of([SESSION, *gemini_messages_of(pairs)])),
    "an Anthropic request": ("anthropic", anthropic_of),
    "Anthropic requests in lines": ("anthropic", lambda pairs: lines_of([anthropic_of(pairs)])),
    "Markdown headings": ("markdown", markdown_of),
    "Markdown bold": ("markdown", lambda pairs: markdown_of(pairs, "**You:**", "**ChatGPT**:")),
    "Markdown plain": ("markdown", lambda pairs: markdown_of(pairs, "You said:", "ChatGPT said:")),
    "Markdown Chinese": ("markdown", lambda pairs: markdown_of(pairs, "用户：", "助手：")),
    "Markdown signs": ("markdown", lambda pairs: markdown_of(pairs, "### 👤 User", "### 🤖 Assistant:")),
    **AGENT_SHAPES,
}


@each_language
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_told_by_its_content_and_read(shape: str, language: str, folder: Folder) -> None:
    form, make = SHAPES[shape]
    content = make(TEXTS[language])
    reading = folder.read(content)
    assert reading.form == form
    assert reading == folder.read(content, form=form)
    assert said(reading) == as_said(TEXTS[language])
    assert [(turn.user_text, turn.assistant_text) for turn in reading.turns] == TEXTS[language]
    assert not reading.left_out
    assert not reading.odd


def test_a_format_that_is_named_wrongly_is_refused_by_that_format(folder: Folder) -> None:
    assert '"mapping" must be an object' in folder.refusal(openai_of(TEXTS["english"])[:1], form="chatgpt")
    assert "no line names a speaker" in folder.refusal("[]", form="markdown")
    assert "line 1, column 1: not JSON" in folder.refusal(markdown_of(TEXTS["english"]), form="openai")


def test_each_format_has_a_shape_here_and_a_row_on_its_page() -> None:
    """Its row says whether it is read and written."""
    assert sorted({form for form, _ in SHAPES.values()}) == sorted(READABLE)
    page = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:4] for line in page.partition("## The formats")[2].splitlines() if line.startswith("| `")]
    said = {name.strip(" `"): (read.strip() != "", written.strip() == "yes") for name, read, written in rows}
    assert said == {name: (True, name in WRITABLE) for name in FORMATS}


# --- ChatGPT --------------------------------------------------------------------------------------------------------


def test_chatgpt_follows_the_current_node_and_counts_what_lies_beside_it(folder: Folder) -> None:
    nodes = [
        node("s", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
        node("q", "s", "user", "old question"),
        node("a", "q", "assistant", "old answer"),
        node("q2", "s", "user", "new question"),
        node("t", "q2", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
        node("w", "t", "assistant", "of no weight", weight=0.0),
        node("c", "w", "user", {"content_type": "user_editable_context", "user_profile": "I am a cook"}),
        node("e", "c", "assistant", ""),
        node("x", "e", "critic", "who?"),
        node("a2", "x", "assistant", "new answer"),
    ]
    reading = folder.read([chatgpt(nodes, "a2")])
    assert said(reading) == [("user", "new question"), ("assistant", "new answer")]
    assert reading.left_out == Counter(
        branch_message=2, hidden_message=2, thinking=1, weightless_message=1, empty_message=1, unknown_role=1
    )
    assert reading.heading == (1, "c-1", "Ports", "2024-05-31")


def test_chatgpt_tool_use_becomes_calls_with_their_results(folder: Folder) -> None:
    nodes = [
        node("q", "root", "user", "count"),
        node("c", "q", "assistant", {"content_type": "code", "text": "print(1)"}, recipient="python"),
        node("r", "c", "tool", {"content_type": "execution_output", "text": "1"}, tool="python"),
        node("r2", "r", "tool", {"content_type": "execution_output", "text": "done"}, tool="python"),
        node("a", "r2", "assistant", {"content_type": "code", "text": "x = 1"}),
        node("o", "a", "tool", {"content_type": "tether_quote", "title": "notes", "text": "a file"}, tool="files"),
    ]
    reading = folder.read(chatgpt(nodes, "o"))
    asked, calling, result, answer = reading.messages
    assert (asked.text, answer.text) == ("count", "x = 1")
    assert calling.tool_calls == (ToolCall("call_1", "python", "print(1)"),)
    assert (result.tool_call_id, result.text) == ("call_1", "1\ndone")
    assert reading.left_out == {"orphan_result": 1}
    assert validate_messages(reading.messages, provider="openai") == ()


def test_chatgpt_parts_without_text_are_marked_and_counted(folder: Folder) -> None:
    parts = [
        "look",
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        {"content_type": "audio_transcription", "text": "spoken words"},
        {"content_type": "audio_asset_pointer"},
        {"content_type": "something_new"},
        7,
    ]
    nodes = [
        node("q", "root", "user", {"content_type": "multimodal_text", "parts": parts}),
        node("l", "q", "assistant", {"content_type": ["a", "list"]}),
        node("a", "l", "assistant", {"content_type": "something_else"}),
    ]
    reading = folder.read(chatgpt(nodes, "a"))
    assert reading.messages[0].content == (
        TextPart("look"),
        MediaPart("image"),
        TextPart("spoken words"),
        MediaPart("audio"),
    )
    assert reading.left_out == {"image": 1, "audio": 1, "unknown_part": 4, "empty_message": 2}


def test_chatgpt_without_a_current_node_is_read_where_there_is_one_branch(folder: Folder) -> None:
    assert said(folder.read(chatgpt_of(TEXTS["english"], current_node=None))) == as_said(TEXTS["english"])
    forked = [node("a", "root", "user", "a"), node("b", "root", "user", "b")]
    assert '"current_node" is missing, and 2 branches' in folder.refusal(chatgpt(forked, None))
    assert said(folder.read(chatgpt([], None, mapping={}))) == []


BROKEN_GRAPHS = {
    "a circle": (chatgpt([node("a", "b", "user", "x"), node("b", "a", "user", "x")], "a"), "go round in a circle"),
    "its own parent": (chatgpt([node("a", "a", "user", "x")], "a"), "go round in a circle"),
    "a missing node": (chatgpt([node("a", "b", "user", "x")], "a"), "node 'b' is missing"),
    "a missing current node": (chatgpt([], "z"), "node 'z' is missing"),
    "a current node that is no text": (chatgpt([], None, current_node=[1]), "must be text, got a list"),
    "a mapping that is a list": (chatgpt([], "root", mapping=[]), '"mapping" must be an object, got a list'),
    "a node that is text": (chatgpt([], "a", mapping={"a": "b"}), "node 'a': must be an object, got text"),
    "a message that is a number": (chatgpt([], "a", mapping={"a": {"message": 5}}), "must be an object, got a number"),
    "hostile names": (chatgpt([], "\ud800\u202e\n\x00" * 50), "is missing"),
}


@pytest.mark.parametrize("case", BROKEN_GRAPHS)
def test_a_broken_graph_is_refused_and_breaks_no_other_conversation(case: str, folder: Folder) -> None:
    broken, reason = BROKEN_GRAPHS[case]
    assert reason in folder.refusal(broken)
    file = [broken, chatgpt_of(TEXTS["mixed"], title="whole")]
    assert folder.refusal(file, conversation="1").startswith("conversation 1: ")
    assert said(folder.read(file, conversation="2")) == as_said(TEXTS["mixed"])


def test_a_very_long_conversation_costs_no_stack(folder: Folder) -> None:
    pairs = [("question", "answer")] * 5_000
    assert len(folder.read(chatgpt_of(pairs)).turns) == 5_000


# --- Claude ---------------------------------------------------------------------------------------------------------


def claude_message(name: str, sender: str, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"uuid": name, "sender": sender, "text": "", "parent_message_uuid": parent, **fields}


def text_content(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


def test_claude_tool_use_inside_one_message_becomes_an_exchange(folder: Folder) -> None:
    content = [
        {"type": "thinking", "thinking": "let me look"},
        {"type": "text", "text": "I look it up."},
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "端口"}},
        {"type": "tool_result", "tool_use_id": "t1", "name": "search", "content": text_content("6380")},
        {"type": "tool_use", "id": None, "name": "fetch", "input": {}},
        {"type": "tool_result", "tool_use_id": None, "name": "fetch", "content": "page"},
        {"type": "text", "text": "It is 6380."},
        {"type": "tool_result", "tool_use_id": "t9", "content": []},
        {"type": "flag"},
    ]
    messages = [
        claude_message("q", "human", content=text_content("port?")),
        claude_message("a", "assistant", content=content),
    ]
    reading = folder.read({"uuid": "u", "chat_messages": messages})
    assert said(reading) == [
        ("user", "port?"),
        ("assistant", "I look it up."),
        ("tool", "6380"),
        ("assistant", ""),
        ("tool", "page"),
        ("assistant", "It is 6380."),
    ]
    assert reading.messages[1].tool_calls == (ToolCall("t1", "search", '{"q": "端口"}'),)
    assert reading.messages[2].tool_call_id == "t1"
    assert reading.left_out == {"thinking": 1, "orphan_result": 1, "unknown_part": 1}
    assert validate_messages(reading.messages, provider="openai") == ()


def test_claude_attachments_give_their_text_and_files_are_counted(folder: Folder) -> None:
    message = claude_message(
        "q",
        "human",
        content=text_content("read this"),
        attachments=[{"file_name": "", "extracted_content": "附件的内容"}, {"file_name": "x.bin"}],
        files=[{"file_name": "photo.png"}],
    )
    old = claude_message("a", "assistant")
    del old["parent_message_uuid"]
    old["text"] = "an old export has the text alone"
    reading = folder.read(
        [{"chat_messages": [message, old, claude_message("x", "alien"), claude_message("y", "human")]}]
    )
    assert said(reading) == [("user", "read this\n附件的内容"), ("assistant", "an old export has the text alone")]
    assert reading.left_out == {"attachment": 2, "unknown_role": 1, "empty_message": 1}


def test_two_messages_of_one_sender_stay_two(folder: Folder) -> None:
    asked = [claude_message(name, "human", content=text_content(name)) for name in ("one", "two")]
    assert said(folder.read({"chat_messages": asked})) == [("user", "one"), ("user", "two")]


ZERO = "00000000-0000-4000-8000-000000000000"


def branched(**fields: Any) -> dict[str, Any]:
    messages = [
        claude_message("q", "human", ZERO, content=text_content("first"), created_at="2025-01-01T00:00:00Z"),
        claude_message("a", "assistant", "q", content=text_content("old"), created_at="2025-01-01T00:00:01Z"),
        claude_message("b", "assistant", "q", content=text_content("new"), created_at="2025-01-01T00:00:09Z"),
        claude_message("c", "human", "a", content=text_content("on the old"), created_at="2025-01-01T00:00:05Z"),
    ]
    return {"chat_messages": messages, **fields}


def test_claude_branches_end_at_the_named_leaf_or_the_newest_message(folder: Folder) -> None:
    newest = folder.read(branched())
    assert [text for _, text in said(newest)] == ["first", "new"]
    assert newest.left_out == {"branch_message": 2}
    named = folder.read(branched(current_leaf_message_uuid="c"))
    assert [text for _, text in said(named)] == ["first", "old", "on the old"]
    assert named.left_out == {"branch_message": 1}


def test_claude_branches_that_are_broken_are_refused(folder: Folder) -> None:
    assert "is missing" in folder.refusal(branched(current_leaf_message_uuid="nowhere"))
    circle = [claude_message("a", "human", "b"), claude_message("b", "human", "a")]
    assert "go round in a circle" in folder.refusal({"chat_messages": circle})
    assert '"chat_messages" must be a list, got text' in folder.refusal({"chat_messages": "x"})
    assert "message 0 (counting from 0): must be an object" in folder.refusal({"chat_messages": [1]})


# --- ShareGPT, LangChain, LlamaIndex --------------------------------------------------------------------------------


def test_sharegpt_reads_system_and_tool_use(folder: Folder) -> None:
    sayings = [
        {"from": "human", "value": "weather?"},
        {"from": "function_call", "value": '{"name": "weather", "arguments": {"city": "伯尔尼"}}'},
        {"from": "observation", "value": "rain"},
        {"from": "gpt", "value": "It rains."},
    ]
    reading = folder.read({"system": "be brief", "tools": "[]", "conversations": sayings})
    assert [role for role, _ in said(reading)] == ["system", "user", "assistant", "tool", "assistant"]
    assert reading.messages[2].tool_calls[0] == ToolCall("call_1", "weather", '{"city": "伯尔尼"}')
    assert reading.left_out == {"tool_definition": 1}


def test_sharegpt_refuses_an_unknown_speaker_with_its_place(folder: Folder) -> None:
    assert 'message 0 (counting from 0): "from" must be one of' in folder.refusal([{"from": "x", "value": ""}])
    assert '"value" must be text, got null' in folder.refusal([{"from": "human", "value": None}])
    assert '"conversations" must be a list' in folder.refusal({"conversations": 1})


def test_langchain_leaves_out_artifacts_thinking_and_removals(folder: Folder) -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "so"}, {"type": "tool_use", "id": "c1"}]
    calls = [{"name": "f", "args": {"x": 1}, "id": "c1"}]
    broken = [{"name": "g", "args": "{", "id": "c2", "error": None}]
    messages = [
        {
            "type": "human",
            "data": {"content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {}}]},
        },
        {"type": "AIMessageChunk", "data": {"content": parts, "tool_calls": calls, "invalid_tool_calls": broken}},
        {"type": "tool", "data": {"content": "r", "tool_call_id": "c1", "artifact": {"rows": [1]}}},
        {"type": "tool", "data": {"content": "bad", "tool_call_id": "c2"}},
        {"type": "remove", "data": {"content": "", "id": "m1"}},
        {"type": "chat", "data": {"content": "bye", "role": "Human"}},
    ]
    reading = folder.read(messages)
    assert [role for role, _ in said(reading)] == ["user", "assistant", "tool", "tool", "user"]
    assert reading.messages[1].text == "so"
    assert reading.messages[1].tool_calls == (ToolCall("c1", "f", '{"x":1}'), ToolCall("c2", "g", "{"))
    assert reading.left_out == {"image": 1, "thinking": 1, "artifact": 1, "removal": 1}


def test_a_store_of_llama_index_holds_a_conversation_for_each_key(folder: Folder) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    store = {
        "alice": [{"role": "user", "content": "old form", "additional_kwargs": {}}],
        "bob": [
            {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "hi"}]},
            {"role": "assistant", "additional_kwargs": {"tool_calls": [call]}, "blocks": []},
            {
                "role": "tool",
                "additional_kwargs": {"tool_call_id": "c1"},
                "blocks": [{"block_type": "text", "text": "r"}],
            },
            {
                "role": "chatbot",
                "blocks": [
                    {"block_type": "thinking", "content": "x"},
                    {"block_type": "image"},
                    {"block_type": "cache"},
                ],
            },
        ],
        "carol": 7,
    }
    assert "holds 3 conversations" in folder.refusal({"store": store})
    assert said(folder.read({"store": store}, conversation="alice")) == [("user", "old form")]
    bob = folder.read({"store": store}, conversation="bob")
    assert [role for role, _ in said(bob)] == ["user", "assistant", "tool", "assistant"]
    assert bob.left_out == {"thinking": 1, "image": 1, "unknown_part": 1}
    assert "key 'carol': must be a list, got a number" in folder.refusal({"store": store}, conversation="3")
    assert "holds no conversation" in folder.refusal({"store": {}})


# --- Markdown -------------------------------------------------------------------------------------------------------


def test_a_label_in_a_code_block_or_of_another_style_splits_nothing(folder: Folder) -> None:
    text = (
        "# Chat about labels\n\nexported yesterday\n\n## User\n\nwhat is this?\n```\n## Assistant\n**User:** no\n```\n"
        "~~~~\n## User\n~~~\n## User\n~~~~\n\n## Assistant\n\n**User:** stays\nUser: stays too\n### User\nalso\n"
    )
    reading = folder.read(text)
    assert [role for role, _ in said(reading)] == ["user", "assistant"]
    assert "## Assistant\n**User:** no" in reading.messages[0].text
    assert reading.messages[0].text.count("## User") == 2
    assert reading.messages[1].text == "**User:** stays\nUser: stays too\n### User\nalso"
    assert reading.heading.title == "Chat about labels"
    assert reading.left_out == {"preface": 1}


def test_text_behind_a_label_and_rules_between_messages_are_read(folder: Folder) -> None:
    reading = folder.read("**User:** hi\nthere\n\n---\n\n**Assistant**：你好\n\n***\n\n**Tool:** x\n")
    assert said(reading) == [("user", "hi\nthere"), ("assistant", "你好")]
    assert reading.left_out == {"orphan_result": 1}


def test_a_rule_that_a_message_ends_with_is_its_own_where_it_was_written_so(folder: Folder) -> None:
    messages = [Message("user", "a\n---"), Message("assistant", "b\n***"), Message("user", "c")]
    assert list(folder.read(written(messages, "markdown")[0]).messages) == messages


def test_a_text_without_a_speaker_is_no_transcript(folder: Folder) -> None:
    assert "line 1, column 1: not JSON" in folder.refusal("Note: https://example.org\n```\n## User\n```\n")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_line_ends_of_a_transcript_change_nothing(line_end: str, folder: Folder) -> None:
    content = markdown_of(TEXTS["mixed"]).replace("\n", line_end).encode()
    assert said(folder.read(b"\xef\xbb\xbf" + content)) == as_said(TEXTS["mixed"])


# --- one of many ----------------------------------------------------------------------------------------------------


def export_of(count: int) -> list[dict[str, Any]]:
    return [
        chatgpt_of([(f"question {at}", f"answer {at}")], title=f"Talk {at} 对话", conversation_id=f"id-{at}")
        for at in range(1, count + 1)
    ]


def test_many_conversations_are_counted_and_the_first_ten_listed(folder: Folder) -> None:
    file = folder.write(export_of(12))
    with pytest.raises(AmbiguousConversationError, match="holds 12 conversations: say which by its number") as refused:
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
    assert said(next(conversations)) == [("user", "question 1"), ("assistant", "answer 1")]
    with pytest.raises(FormatError, match=r"conversation 2: .*must be an object"):
        next(conversations)


def test_an_open_file_is_read_and_named_as_it_says(folder: Folder) -> None:
    with open(folder.write(export_of(2)), "rb") as stream:
        assert read_conversation(stream, conversation="2").heading.id == "id-2"
    with pytest.raises(FormatError, match=r"^upload 7: line 1, column 2: not JSON"):
        read_conversation(io.BytesIO(b"[x"), name="upload 7")


@pytest.mark.parametrize("wanted", ["3", "id-3", "Talk 3 对话", "  talk 3  对话 "])
def test_a_conversation_is_found_by_number_id_and_title(wanted: str, folder: Folder) -> None:
    reading = folder.read(export_of(5), conversation=wanted)
    assert reading.heading.number == 3
    assert said(reading) == [("user", "question 3"), ("assistant", "answer 3")]


def test_a_part_of_a_title_finds_a_conversation_that_it_fits_alone(folder: Folder) -> None:
    assert folder.read(export_of(9), conversation="TALK 7").heading.number == 7
    assert "12 conversations match 'Talk'" in folder.refusal(export_of(12), conversation="Talk")
    assert "none of its 2 conversations" in folder.refusal(export_of(2), conversation="99")
    assert "none of its 2 conversations" in folder.refusal(export_of(2), conversation=" ")


def test_a_number_comes_before_an_id_and_an_id_before_a_title(folder: Folder) -> None:
    file = [chatgpt_of([], title="2"), chatgpt_of([], title="x", conversation_id="y"), chatgpt_of([], title="Y")]
    assert folder.read(file, conversation="2").heading.number == 2
    assert folder.read(file, conversation="y").heading.number == 2


# --- the stream -----------------------------------------------------------------------------------------------------


def test_a_text_that_is_longer_than_a_piece_is_read_whole() -> None:
    values = [{"text": "端口 port " * 100}, "x" * 1_000, 12345678901234567890]
    assert [item.value for item in values_of(json.dumps(values).encode(), 50)] == values


class Trickle(io.RawIOBase):
    """A stream that gives few bytes at a time, and knows how many it gave."""

    def __init__(self, content: bytes, size: int) -> None:
        self._content = io.BytesIO(content)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        return self._content.read(min(self._size, size) if size >= 0 else self._size)


def values_of(content: bytes, size: int) -> list[Item]:
    return list(read_values(TextSource(Trickle(content, size))).items)  # type: ignore[arg-type]


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

KEYS = [
    *("mapping", "current_node", "parent", "message", "author", "role", "content", "content_type", "parts", "weight"),
    *("metadata", "recipient", "title", "create_time", "id", "chat_messages", "sender", "text", "uuid", "type", "name"),
    *("parent_message_uuid", "attachments", "files", "conversations", "from", "value", "data", "tool_calls", "args"),
    *("store", "blocks", "block_type", "additional_kwargs", "messages", "lc", "kwargs", "input", "tool_use_id"),
    *("parentUuid", "isSidechain", "payload", "call_id", "output", "usage", "toolCalls", "result", "functionCall"),
    *("action", "observation", "cause", "args", "source", "history", "currentId", "chat", "usage", "kind", "part_kind"),
    *("tool_name", "attributes", "traceId", "gen_ai.input.messages", "run_type", "inputs", "outputs", "generations"),
]
WORDS = [
    *("user", "assistant", "tool", "human", "ai", "gpt", "text", "a", "b", "root", "\ud800\u202e\x00", "thinking"),
    *[
        "multimodal_text",
        "code",
        "python",
        "tool_use",
        "tool_result",
        "tool_call",
        "image",
        "constructor",
        "2025-01-01",
    ],
]
hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYS, "a", "b"]), inner, max_size=5),
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


TEXT_FORMS = ("markdown", "aider", "cursor")
JSON_SHAPES = {name: make for name, (form, make) in SHAPES.items() if form not in TEXT_FORMS}


def value_of(made: Any) -> Any:
    """Return the value of a file; of lines, the list of them."""
    if not isinstance(made, str):
        return made
    try:
        return json.loads(made)
    except ValueError:
        return [json.loads(line) for line in made.splitlines()]


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    return mutated(draw, value_of(JSON_SHAPES[draw(st.sampled_from(sorted(JSON_SHAPES)))](TEXTS["mixed"][:1])))


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
@pytest.mark.parametrize("form", [None, "chatgpt", "claude", "langchain"])
def test_deep_nesting_and_long_numbers_are_refused(content: str, form: str | None, folder: Folder) -> None:
    reason = folder.refusal(content, form=form)
    assert form is not None or "nested too deeply" in reason or "not JSON that can be read" in reason


# --- writing --------------------------------------------------------------------------------------------------------


def written(messages: Sequence[Message], form: str) -> tuple[str, Counter[str]]:
    text, left_out = write_messages(messages, form)
    text.encode()
    assert {f"left_out.{kind}" for kind in left_out} <= TABLE.keys()
    return text, left_out


def test_what_is_written_is_told_again_by_its_content(folder: Folder) -> None:
    messages = [Message(*pair) for pair in as_said([("端口?", "6380"), ("next?", "x")])]
    for name in WRITABLE:
        text, left_out = written(messages, name)
        reading = folder.read(text)
        assert (reading.form, list(reading.messages), left_out) == (name.removesuffix("-lines"), messages, Counter())


wild_texts = st.text(st.characters(codec=None), max_size=30) | st.sampled_from(
    [
        "",
        "## User",
        "**User:** x",
        "```\n## User",
        "```\n~~~\n```\n~~~",
        "a\n---",
        "---",
        "\\## User",
        "\\\\---",
        "用户：好",
    ]
)
tool_ids = st.sampled_from(["c1", "c2", "c3"])


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


@pytest.mark.parametrize(
    "name", ["", ".aider", ".base", ".cursor", ".markdown", ".open_webui", ".opentelemetry", ".reading"]
)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    failed, attempted = doctest.testmod(importlib.import_module(f"gatekeeper_formats{name}"))
    assert attempted
    assert failed == 0


def test_the_readers_need_the_standard_library_and_the_core_alone() -> None:
    code = "import sys; before = set(sys.modules); import gatekeeper_formats; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded - sys.stdlib_module_names == {"gatekeeper_core", "gatekeeper_formats"}
