"""Files of every format, with all that is read of each, or why it is refused: ``tests/cases/files.jsonl``.

A case is its name, the content of the file (``{"lines": [...]}``: a value on each line), the arguments of the reading,
and what comes of it.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.messages import validate_messages
from gatekeeper_formats import FormatError, list_conversations, read_conversation
from tests.case_files import from_file, rows
from tests.formats.files import SHAPES, content_of, lines_of, messages_of

if TYPE_CHECKING:
    from pathlib import Path

    from gatekeeper_formats import Conversation
    from tests.formats.files import Folder

READ, REFUSED = ({name: case for name, *case in rows("files", kind)} for kind in ("read", "refused"))


def values_of(reading: Conversation) -> dict[str, Any]:
    """Return a conversation as values of JSON, without what is empty."""
    values = {
        "form": reading.form,
        "heading": reading.heading,
        "messages": [message.to_dict() for message in reading.messages],
        "turns": len(reading.turns),
        "left_out": reading.left_out,
        "odd": reading.odd,
        "usage": reading.usage,
        "repeated_speakers": reading.repeated_speakers,
        "faults": [fault.rule for fault in validate_messages(reading.messages, provider="openai")],
    }
    return json.loads(json.dumps({name: value for name, value in values.items() if value}))


@pytest.mark.parametrize("name", READ)
def test_a_file_is_read(name: str, folder: Folder) -> None:
    content, arguments, expected = READ[name]
    assert values_of(folder.read(content_of(content), **arguments)) == expected


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused(name: str, folder: Folder) -> None:
    content, arguments, reason = REFUSED[name]
    assert folder.refusal(content_of(content), **arguments) == reason


# --- lines and texts that are broken ----------------------------------------------------------------------------------

LOG_FORMS = ("claude-code", "codex", "gemini-cli")
LOGS = {
    name: shape.content for name, shape in SHAPES.items() if shape.form in LOG_FORMS and isinstance(shape.content, str)
}
each_log = pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)


@each_log
def test_a_broken_line_in_the_middle_is_named(log: str, folder: Folder) -> None:
    lines = log.splitlines(keepends=True)
    lines[2] = lines[2][:-20] + "\n"
    assert re.match(r"line 3, column \d+: not JSON", folder.refusal("".join(lines)))
    lines[2] = "[]\n"
    assert folder.refusal("".join(lines)).startswith("line 3: must be an object, got a list")


@each_log
def test_a_last_line_that_is_still_written_is_counted(log: str, folder: Folder) -> None:
    *_, last = log.splitlines(keepends=True)
    start = len(log.encode()) - len(last.encode())
    for size in range(1, len(last.encode()) - 2, 17):  # also in the middle of a character
        conversation = folder.read(log.encode()[: start + size])
        assert len(conversation.messages) == 3
        assert conversation.left_out["cut_line"] == 1


def test_a_request_may_be_one_text(folder: Folder) -> None:
    conversation = folder.read({"model": "gpt-5", "input": "端口？"})
    assert (conversation.form, messages_of(conversation)) == ("responses", [("user", "端口？")])
    with pytest.raises(FormatError, match="is in no known format"):
        folder.read({"instruction": "translate", "model": "x", "input": "端口", "output": "port"})


@from_file("content", "where")
def test_what_no_format_knows_is_refused_with_its_keys_and_the_formats(
    content: object, where: str, folder: Folder
) -> None:
    reason = folder.refusal(content)
    assert reason.startswith(f"is in no known format: {where}; known formats are openai, ")
    assert all(name in reason for name in ("claude-code", "codex", "responses", "gemini", "anthropic"))


def test_a_long_session_is_read_without_holding_its_file(tmp_path: Path) -> None:
    copied = {"file": {"content": "x" * 10_000}, "originalFile": "y" * 10_000}
    two = [json.loads(line) for line in SHAPES["a session of Claude Code, mixed"].content.splitlines()[:2]]
    records = [
        {**two[at % 2], "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "toolUseResult": copied}
        for at in range(800)
    ]
    for at, record in enumerate(records):
        record["message"] = {**record["message"], "id": f"m{at}"}
    file = tmp_path / "log"
    file.write_text(lines_of(records))
    del records, record
    tracemalloc.start()
    conversation = read_conversation(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(conversation.messages) == 800
    assert peak < file.stat().st_size / 4  # a piece of the file, and a fortieth of it in messages


PIECES = ["#### ", "> ", "---\n", "**User**", "**Cursor**\n", "```\n", "\n", "  \n", "a", "/ask", "端口"]
HEADS = ["# aider chat started at 2025-02-30\n", "# T\n_Exported on 31/31/2025 from Cursor (1)_\n"]


@given(pieces=st.lists(st.sampled_from([*PIECES, *HEADS, "> Tokens: 1k sent, 2 received."]), max_size=25))
def test_any_transcript_is_read(pieces: list[str]) -> None:
    for head in HEADS:
        text = head + "".join(pieces)
        for heading in list_conversations(io.BytesIO(text.encode())):
            read_conversation(io.BytesIO(text.encode()), conversation=str(heading.number))


OPEN_WEBUI = json.dumps(SHAPES["an Open WebUI chat, english"].content)


@pytest.mark.parametrize(
    "text",
    [
        "# " + " " * 200_000 + "_Exported on ",
        "_Exported on " + " from Cursor" * 100_000,
        "# aider chat started at x\n#### a" + " " * 200_000 + "b",
        OPEN_WEBUI.replace("Port 6380.", r"<details type=\"reasoning\">" * 20_000),
        OPEN_WEBUI.replace("Port 6380.", r"<details type=\"tool_calls\">" + "<summary>" * 20_000 + "</details>"),
    ],
    ids=["title", "head", "line", "details", "summary"],
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    started = time.process_time()
    with contextlib.suppress(FormatError):
        read_conversation(io.BytesIO(text.encode()))
    assert time.process_time() - started < 2  # each took minutes where an expression went back over the text
