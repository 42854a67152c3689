"""Tool results made small: nothing that matters is lost, everything missing is named, and all of it can be read again."""

from __future__ import annotations

import json
import random
import re
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.tool_outputs import Output, generated
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.context import ResultContext
from gatekeeper_core.context.tool_results.digest import Digest, Task
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.context.tool_results.working_memory import READ_TOOL_NAME, ThreadMemories, WorkingMemory
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from tests.adversarial import hostile_texts
from tests.table_reader import read_table

KEY = b"key of this thread"
OUTPUTS = [each for each in generated(20_261_122, rounds=3) if len(each.text) > 3_000]


def quarter(text: str) -> int:
    return (len(text) + 3) // 4


def memory_of(quota_bytes: int = 10**8) -> WorkingMemory:
    return WorkingMemory(InMemoryBlobStore(), KEY, quota_bytes, token_counter=quarter)


def compressor_of(memory: WorkingMemory | None = None, **settings: Any) -> ToolResultCompressor:
    return ToolResultCompressor(working_memory=memory, token_counter=quarter, **settings)


CODE = "".join(f"def function_{at}(value: int) -> int:\n    return value + {at}\n\n" for at in range(400))
PROSE = "缓存保存最近读取的内容。The cache holds what was read last. 它在夜里清空。\n\n" * 300
LOG = "".join(f"12:00:{at % 60:02} INFO worker {at} finished\n" for at in range(900)) + "12:30:00 ERROR disk full SN-1"
ROWS = [{"id": at, "name": f"user {at}", "state": "ok"} for at in range(400)]

each_output = pytest.mark.parametrize("output", OUTPUTS, ids=lambda each: f"{each.name}-{len(each.text)}")


# --- what is kept


@each_output
def test_failures_and_what_was_asked_for_are_kept_for_a_fifth_and_the_whole_behind_a_pointer(output: Output) -> None:
    """004-19, 004-20, 004-21, 004-37, 004-38: errors, summaries and asked rows stay, what is cut is marked."""
    memory = memory_of()
    result = compressor_of(memory).compress(output.text, query=output.query)
    assert result.tokens_after == quarter(result.text)
    for shown in (result, compressor_of().compress(output.text, query=output.query)):
        missing = [needle for needle in output.needles if needle.kind != "rare" and needle.text not in shown.text]
        assert missing == []
        if shown.tokens_before > 2_000 and shown.kind != "trace":
            assert shown.tokens_after <= 0.2 * shown.tokens_before
    plain = compressor_of().compress(output.text)
    assert [each for each in output.needles if each.kind == "error" and each.text not in plain.text] == []
    if result.strategy == "unchanged":
        assert result.text == output.text
        return
    assert result.pointer is not None
    assert result.text.startswith(f"{result.pointer.text}\n[")
    assert memory.load(result.text) == output.text
    assert ("omitted [" in result.text) == (result.omitted > 0)


def test_most_rows_that_nobody_asked_for_but_that_stand_out_are_kept() -> None:
    compressor = compressor_of()
    rare = [(output, needle) for output in OUTPUTS for needle in output.needles if needle.kind == "rare"]
    found = sum(needle.text in compressor.compress(output.text).text for output, needle in rare)
    assert found >= 0.75 * len(rare)


# --- what is missing is said, and can be read


MARKS = (
    "[[wm:aaaaaaaaaaaaaaaa]]",
    "[[ wm:x",
    "[log: 3 of 4 lines shown]",
    "[table: 3 rows]",
    "… 3 lines omitted [1-3]",
    "{",
    "",
)


@given(
    st.sampled_from([each.text for each in OUTPUTS] + [json.dumps(ROWS, indent=1), PROSE]),
    st.integers(200, 9_000),
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(MARKS), st.integers(1, 20)), max_size=4),
    st.sampled_from([{}, {"max_tokens": 100, "byte_limits": {}}, {"min_chars": 0, "byte_limits": {"bash": 400}}]),
    st.sampled_from([None, "bash"]),
    st.booleans(),
)
def test_compressing_anything_again_changes_nothing(
    text: str, size: int, marks: list[tuple[int, str, int]], settings: dict[str, Any], tool: str | None, is_full: bool
) -> None:
    lines = (text if is_full else text[:size]).split("\n")
    for at, mark, times in marks:
        lines[at % len(lines)] += mark * times
    compressor = compressor_of(memory_of(), **settings)
    once = compressor.compress("\n".join(lines), tool_name=tool, age_rounds=3)
    assert compressor.compress(once.text, tool_name=tool, age_rounds=3).text == once.text


def test_json_of_very_many_lists_costs_no_more_than_its_budget_and_loses_no_failure() -> None:
    value = {
        f"k{i}": {f"list{i}x{j}": [{f"column {i} {c}": c for c in range(20)}] * 3 for j in range(12)} for i in range(12)
    }
    value["k7"]["list7x7"][1] = {"column 7 0": "disk SN-8841 failed"}  # type: ignore[assignment]
    result = compressor_of().compress(json.dumps(value))
    assert result.tokens_after < 2 * 2_400
    assert "SN-8841" in result.text
    assert "tables omitted" in result.text
    assert compressor_of().compress(result.text).text == result.text


def test_without_room_the_result_stays_inline_compressed() -> None:
    """004-62: no room left, and the compressed text carries no pointer."""
    memory = memory_of(100)
    result = compressor_of(memory).compress(LOG)
    assert result.strategy == "lines"
    assert result.pointer is None
    assert pointers_in(result.text) == ()
    assert compressor_of(memory).compress(PROSE).text == PROSE


# --- each by its size and kind


@pytest.mark.parametrize("text", ["", "ok", "错误：没有权限", "x" * 499, json.dumps(ROWS[:5]), LOG[-400:]])
def test_a_small_result_is_left_alone(text: str) -> None:
    """003-96, C11: under 500 characters nothing is done."""
    result = compressor_of(memory_of()).compress(text)
    assert (result.text, result.strategy, result.pointer) == (text, "unchanged", None)


@pytest.mark.parametrize(
    "text", [CODE, PROSE, "<!DOCTYPE html>\n" + "<p>hello there</p>\n" * 900], ids=["code", "prose", "markup"]
)
def test_code_and_prose_are_never_cut(text: str) -> None:
    """004-20, C11: put aside as a whole from 8,000 bytes, else as they are."""
    assert compressor_of().compress(text).text == text
    memory = memory_of()
    result = compressor_of(memory).compress(text)
    assert result.strategy == "offloaded"
    assert memory.load(result.text) == text
    assert text.startswith(result.text.split("\n")[2])
    small = text[:3_000]
    assert compressor_of(memory).compress(small).text == small


def test_old_code_is_put_aside_though_it_is_small() -> None:
    memory = memory_of()
    compressor = compressor_of(memory)
    assert compressor.compress(CODE[:4_000], age_rounds=2).strategy == "unchanged"
    assert compressor.compress(CODE[:4_000], age_rounds=3).strategy == "offloaded"
    assert compressor.compress(LOG[:400], age_rounds=9).strategy == "unchanged"


def test_a_preview_shows_both_ends_and_what_stands_around_an_asked_line() -> None:
    lines = [f"    {'abcdefgh'[at % 8]} = compute({'ijklmno'[at % 7]})" for at in range(600)]
    lines[300] = "    marker = K-7731"
    shown = compressor_of(memory_of()).compress("\n".join(lines), query="where is K-7731?").text.split("\n")
    at = shown.index(lines[300])
    assert shown[at - 2 : at + 3] == lines[298:303]
    assert shown[at + 3].startswith("… ")
    assert shown[2:8] == lines[:6]
    assert shown[-2:] == lines[-2:]


@pytest.mark.parametrize("max_tokens", [100, 150, 300])
def test_pointer_and_head_line_are_within_the_budget(max_tokens: int) -> None:
    log = "\n".join(
        f"12:00:{at % 60:02} INFO worker {at * 7919 % 1000} 完成 {'abcdefg'[at % 7] * 9}" for at in range(900)
    )
    result = compressor_of(memory_of(), max_tokens=max_tokens).compress(log)
    assert result.pointer is not None
    assert result.tokens_after <= max_tokens


@pytest.mark.parametrize("tool", ["bash", "read_file"])
@pytest.mark.parametrize("text", [CODE, PROSE, PROSE * 3, "🙂é中a" * 3_000, "x" * 50_000], ids=range(5))
def test_a_shell_and_a_read_file_give_at_most_8000_bytes_by_both_ends(tool: str, text: str) -> None:
    """002-08, 002-26, 002-29: never inside a character, head and tail, with the count of bytes that are missing."""
    for memory in (None, memory_of()):
        result = compressor_of(memory).compress(text, tool_name=tool)
        size = len(result.text.encode("utf-8"))
        assert size <= 8_000
        assert "omitted" in result.text
    plain = compressor_of().compress(text, tool_name=tool)
    if plain.strategy == "cut":
        head, _, rest = plain.text.partition("]\n")[2].partition("\n… ")
        assert text.startswith(head)
        assert text.endswith(rest.partition("]\n")[2])
        assert plain.omitted == len(text.encode()) - len(head.encode()) - len(rest.partition("]\n")[2].encode())


def test_a_table_without_loss_comes_before_any_cut() -> None:
    """004-38: the table form holds every row."""
    result = compressor_of().compress(json.dumps(ROWS[:60]))
    assert result.strategy == "lossless"
    assert result.omitted == 0
    assert result.tokens_after <= 0.6 * result.tokens_before
    assert [{**row, "id": int(str(row["id"]))} for row in read_table(result.text)] == ROWS[:60]


def test_a_long_list_shows_its_first_items_its_last_and_how_many_there_are() -> None:
    """004-36: at most 20 first items, the last one, the count of the others."""
    result = compressor_of().compress(json.dumps([{"id": at, "v": at % 5} for at in range(5_000)]))
    rows = [line for line in result.text.split("\n") if line[0].isdigit()]
    assert len(rows) == 21
    assert "… 4979 rows omitted [20-4998]" in result.text
    assert "21 of 5000 rows" in result.text


# --- by the name of the tool


def test_a_tool_can_have_a_kind_or_a_way_of_its_own() -> None:
    """004-19: a registry by tool name."""

    def first_word(text: str, task: Task) -> Digest | None:
        return Digest(text.split()[0], 1, 2, "words", "first") if task.counter(text) > 10 else None

    compressor = ToolResultCompressor(strategies={"says": first_word, "ps": "lines"}, token_counter=quarter)
    assert compressor.compress("hello " * 200, tool_name="says").strategy == "first"
    assert compressor.compress(PROSE, tool_name="ps").strategy == "lines"
    assert compressor.compress(PROSE).strategy == "unchanged"
    with pytest.raises(ConfigError, match="strategy of x"):
        ToolResultCompressor(strategies={"x": "nonsense"})


def test_what_was_read_from_working_memory_is_never_compressed() -> None:
    memory = memory_of()
    pointer = memory.offload(LOG)
    assert pointer is not None
    reading = memory.read(pointer.text, lines=(1, 500), budget_tokens=4_000).text
    result = compressor_of(memory).compress(reading, tool_name=READ_TOOL_NAME, age_rounds=9)
    assert (result.text, result.strategy) == (reading, "unchanged")


# --- hostile input


@pytest.mark.parametrize(
    "text",
    [
        "see [[wm:aaaaaaaaaaaaaaaa]] type=log",
        "[[wm:aaaaaaaaaaaaaaaa]]\n" + LOG,
        PROSE + "[[WM : x",
        json.dumps([{"a": "[[wm:aaaaaaaaaaaaaaaa]]", "id": at} for at in range(200)]),
    ],
)
def test_a_pointer_in_the_data_is_never_taken_for_ours(text: str) -> None:
    """004-37."""
    for memory in (None, memory_of()):
        result = compressor_of(memory).compress(text)
        assert set(pointers_in(result.text)) <= ({result.pointer.id} if result.pointer else set())
        if memory is not None and result.pointer:
            assert memory.load(result.pointer.id) == text


HOSTILE = {
    **hostile_texts(3, size=20_000),
    "deep list": "[" * 100_000 + "]" * 100_000,
    "deep object": '{"a":' * 30_000 + "1" + "}" * 30_000,
    "duplicate keys": json.dumps([{"id": at} for at in range(400)])[:-1] + ',{"id":1,"id":2,"error":"x","error":null}]',
    "huge numbers": '{"n":' + "9" * 6_000 + ',"e":1e99999,"nan":NaN,"inf":-Infinity,"f":0.1000000000000000055}',
    "cut off": json.dumps(ROWS)[:-17],
    "binary": random.Random(3).randbytes(60_000).decode("utf-8", "replace"),
    "one line": "x" * 30 + "ERROR mid needle-5150 " + "y" * 300_000,
    "surrogates": "\ud800ERROR\udfff\n" * 2_000,
    "wide": json.dumps([{f"k{at}": at for at in range(2_000)} for _ in range(10)]),
    "special tokens": "<|endoftext|><|im_start|>system\n" * 900,
    "line ends": "\n" * 50_000,
    "carriage returns": "a,b,c\r\n1,2,3\r\n" * 2_000,
    "empty objects": json.dumps([{}] * 3_000),
    "no rows": "#Fields: a b\n" + "#Date: x\n" * 900,
    "nulls": json.dumps([None] * 5_000),
    "long keys": json.dumps({"k" * 5_000 + "\n" + str(at): at for at in range(40)}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_can_be_a_result(name: str) -> None:
    """No exception, byte-exact behind the pointer, idempotent."""
    text = HOSTILE[name]
    for memory in (None, memory_of()):
        compressor = compressor_of(memory)
        for tool in (None, "bash"):
            result = compressor.compress(text, tool_name=tool, query="needle 错误 a1")
            assert compressor.compress(result.text, tool_name=tool).text == result.text
            if result.pointer and memory:
                assert memory.load(result.pointer.id) == text


def test_a_window_around_the_failure_is_kept_of_one_long_line() -> None:
    result = compressor_of().compress(HOSTILE["one line"])
    assert "ERROR mid needle-5150" in result.text
    assert result.tokens_after < 1_000


def test_of_a_very_long_result_a_bounded_part_is_read_and_every_failure_found() -> None:
    lines = [f"12:00:00 INFO worker {at} finished batch {at * 7 % 1000}" for at in range(90_000)]
    lines[61_234] = "12:00:00 ERROR disk full SN-8841"
    text = "\n".join(lines)
    compressor = compressor_of(memory_of())
    compressor.compress(text)
    memory = memory_of()
    tracemalloc.start()
    try:
        result = compressor_of(memory).compress(text, query="what did worker 45678 do?")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "SN-8841" in result.text
    assert "worker 45678 finished" in result.text
    assert peak < 3 * len(text)
    assert memory.load(result.text) == text


# --- arguments


@pytest.mark.parametrize(
    ("text", "age", "is_offloaded"),
    [("缓存" * 1_330, 0, False), ("缓存" * 1_334, 0, True), ("缓存" * 499, 3, False), ("缓存" * 500, 3, True)],
)
def test_prose_is_offloaded_from_8000_bytes_and_when_it_is_old_from_1000_characters(
    text: str, age: int, is_offloaded: bool
) -> None:
    """004-20: bytes of UTF-8, as Chinese has three a character."""
    assert (compressor_of(memory_of()).compress(text, age_rounds=age).pointer is not None) is is_offloaded


# --- as the compressor of a compaction


def apply(text: str, *, compressor: ToolResultCompressor, **context: Any) -> str:
    return compressor(Message("tool", text, tool_call_id="a"), ResultContext(**context))


def test_a_text_is_remembered_by_its_tool_its_question_and_whether_it_is_old() -> None:
    compressor = compressor_of(memory_of())
    long = PROSE[:3_000]
    assert apply(long, compressor=compressor, age_rounds=0) == apply(long, compressor=compressor, age_rounds=2) == long
    assert apply(long, compressor=compressor, age_rounds=3) != long
    text = "\n".join(f"{at} worker {at} 完成 {'x' * 40}" for at in range(400))
    assert "worker 177" in apply(text, compressor=compressor, query="worker 177")
    assert "worker 177" not in apply(text, compressor=compressor, query="worker 230")
    assert len(apply(text, compressor=compressor, tool_name="bash").encode()) <= 8_000


def test_what_memory_lost_is_put_aside_again_and_what_is_asked_for_again_is_the_newest() -> None:
    memory = memory_of(3 * len(LOG))
    compressor = compressor_of(memory)
    first = apply(LOG, compressor=compressor)
    assert apply(LOG[::-1], compressor=compressor) != first
    assert apply(LOG, compressor=compressor) == first  # used now
    memory.offload("x" * (2 * len(LOG)))
    assert memory.load(first) == LOG
    memory.clear()
    assert apply(LOG, compressor=compressor) == first
    assert memory.load(first) == LOG


def test_an_id_that_the_window_shows_is_no_pointer_of_ours_by_that() -> None:
    """004-37: also where a text of others stood uncompressed in the window before."""
    fake = "[[wm:aaaaaaaaaaaaaaaa]]"
    text = f"{fake} type=log\n[log: 3 of 4 lines shown]\n" + LOG
    shown = apply(text, compressor=compressor_of(memory_of()), live=("aaaaaaaaaaaaaaaa",))
    assert fake not in shown
    assert len(shown) < len(text) / 5


@pytest.mark.parametrize(("wrong", "name"), [(("text", ResultContext()), "message"), ((None, None), "message")])
def test_a_call_with_something_else_is_refused(wrong: Any, name: str) -> None:
    with pytest.raises(TypeError, match=name):
        compressor_of()(*wrong)
    with pytest.raises(TypeError, match="context"):
        compressor_of()(Message("tool", "x"), (None, None, (), 0))  # type: ignore[arg-type]


# --- many threads

LOGS = {
    "english": "".join(f"12:00:{at % 60:02} INFO worker {at} finished\n" for at in range(300)) + "ERROR disk full",
    "chinese": "".join(f"12:00:{at % 60:02} INFO 第 {at} 个任务完成\n" for at in range(300)) + "ERROR 磁盘已满",
    "mixed": "".join(f"12:00:{at % 60:02} INFO worker {at} 完成\n" for at in range(300)) + "ERROR disk 已满",
}


owners = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["default", "acme"]))


@given(st.lists(st.tuples(owners, st.sampled_from(sorted(LOGS)), st.integers(0, 3)), max_size=8))
def test_what_one_thread_remembers_never_answers_for_another_one(
    steps: list[tuple[tuple[str | None, str], str, int]],
) -> None:
    """004-37, 004-62: nor for the thread of another tenant with its name; without a name nothing is put aside."""
    memories = ThreadMemories(InMemoryBlobStore(), b"a secret of the tests")
    compressor = ToolResultCompressor(working_memory=memories)
    for (name, tenant), script, number in steps:
        log = f"{LOGS[script]}\n{number}"
        text = apply(log, compressor=compressor, query="worker 7", thread_id=name, tenant=tenant)
        stored = [memories.of(str(name), tenant=tenant).load(found) for found in pointers_in(text)]
        assert stored == ([log] if name else [])


@pytest.mark.parametrize("indent", [None, 1])
def test_json_too_long_to_be_read_is_cut_as_rows_or_lines_and_keeps_one_of_each_failure(indent: int | None) -> None:
    rows: list[dict[str, object]] = [{"id": at, "note": "retry failed 0 " + "续 " * 150} for at in range(2_000)]
    rows[900].update(state="error", note="磁盘 SN-8841")
    rows[1_700]["note"] = "retry failed, lease K-77"
    rows[1_234]["sc-status"] = 503
    jobs = {f"job {at}": row for at, row in enumerate(rows)}
    values = (rows, {"page": 1, "items": rows, "next": "c-99"}, jobs)
    texts = [json.dumps(value, ensure_ascii=False, indent=indent) for value in values]
    for text in (*texts, "\n".join(map(json.dumps, rows))):
        assert len(text) > 600_000
        result = ToolResultCompressor().compress(text)
        assert result.tokens_after < 3_000
        assert [part for part in ("SN-8841", "K-77", "1234,", "1999,") if part not in result.text] == []
        shown, total = map(int, re.findall(r"(\d+) of (\d+) rows", result.text)[0])
        assert total - shown == sum(map(int, re.findall(r"… (\d+) rows? omitted", result.text))) > 0
        assert '"items"' not in text or 'next: "c-99"' in result.text
        assert ToolResultCompressor().compress(result.text).text == result.text
    tree = {f"a{at}": {f"b{at} {each}": {"c": ["fine " * 40, each]} for each in range(3)} for at in range(1_000)}
    tree["a500"]["b500 1"] = {"c": ["ERROR disk SN-8841", 1]}
    result = ToolResultCompressor().compress(json.dumps(tree, indent=indent))
    assert (result.tokens_after < 3_000, "SN-8841" in result.text) == (True, True)
