"""Tool results: what is saved, and which needles are still there, beside named peers in the same run?

Run ``python -m benchmarks.tool_results [--data DIR]``, where ``DIR/tool_results`` holds real tool outputs with needles;
without it the generated ones alone are measured (``benchmarks/tool_outputs.py``: other shapes). ``--logs`` measures the
logs of ``benchmarks/second_logs.py`` alone: by another author, one half is held out.
Outputs over 600 tokens count. *saved* is the mean share of tokens saved; *errors* and *rare* are measured without a
question, *asked* with one; *exact* is the share of results that are read back byte for byte through their pointers,
*same again* of those that a second compression leaves as they are. Quotation marks around a needle do not count: a
table writes strings without them.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.budget import counter
from benchmarks.data import read_jsonl
from benchmarks.report import SEED, Row, Tables, options, report
from benchmarks.second_logs import second_logs, systems
from benchmarks.tool_outputs import Needle, Output, generated
from gatekeeper_core import ToolResultCompressor, WorkingMemory
from gatekeeper_core.context.tool_results.formats.json_results import lossless_json, read_any_json
from gatekeeper_core.storage.in_memory import InMemoryBlobStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatekeeper_core import TokenCounter


OURS = "context-gatekeeper"
LEAST_TOKENS = 600
FAMILIES = {"testlog": "test"}
KINDS = {"outlier": "rare"}
ENDS = 5
WARM_UP = Output("", "", "which one failed? 哪个失败了", "the first one\n第一个失败了\n" * 100, ())
"""Patterns and tables are made when they are first needed: once, in both languages, before anything is timed."""

HEADROOM = """
import json, sys, time
from headroom import compress
for line in sys.stdin:
    text, query = json.loads(line)
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": query or "Look at this."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
    ]
    start = time.process_time()
    made = compress(messages, model="gpt-4o", protect_recent=0)
    used = time.process_time() - start
    print(json.dumps([str(made.messages[-1]["content"]), used]), flush=True)
"""


class Compressed(NamedTuple):
    """A result made small: with the question, without, processor seconds, is it read back exactly, is it stable?"""

    for_query: str
    plain: str
    seconds: float | None
    exact: bool | None
    again: bool | None = None


Measured = tuple[Output, Compressed, int]
"""An output, what was made of it, and its tokens."""


def real_outputs(folder: Path) -> list[Output]:
    outputs = []
    for row in read_jsonl(folder / "tool_results" / "tool_outputs.jsonl"):
        needles = tuple(Needle(KINDS.get(each["kind"], each["kind"]), each["s"].strip('"')) for each in row["needles"])
        family = FAMILIES.get(row["kind"], row["kind"])
        outputs.append(Output(row["name"], family, row["query"], row["text"], needles))
    return outputs


def ours() -> Callable[[Output], Compressed]:
    """Return the library's way: everything by default, with a working memory."""
    memory = WorkingMemory(InMemoryBlobStore(), b"a key for a benchmark", 10**9)
    compressor = ToolResultCompressor(working_memory=memory)

    def make(output: Output) -> Compressed:
        plain = compressor.compress(output.text)
        start = time.process_time()
        result = compressor.compress(output.text, query=output.query)
        seconds = time.process_time() - start
        exact = memory.load(result.pointer.text) == output.text if result.pointer else result.text == output.text
        again = all(compressor.compress(text, query=output.query).text == text for text in (result.text, plain.text))
        return Compressed(result.text, plain.text, seconds, exact, again)

    return make


def head_and_tail(output: Output) -> Compressed:
    """Return the first and last lines: what a shell tool does by itself."""
    lines = output.text.split("\n")
    text = "\n".join([*lines[:ENDS], "...", *lines[-ENDS:]]) if len(lines) > 2 * ENDS else output.text
    return Compressed(text, text, 0.0, None)


def headroom(python: str, outputs: Sequence[Output]) -> Callable[[Output], Compressed]:
    """Return headroom-ai's way, in the interpreter of its own environment, with and without the question."""
    for_query = "".join(f"{json.dumps([output.text, query])}\n" for output in outputs for query in (output.query, None))
    done = subprocess.run([python, "-c", HEADROOM], input=for_query, capture_output=True, encoding="utf-8", check=True)
    measured_all = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    by_name = {id(output): measured_all[2 * at : 2 * at + 2] for at, output in enumerate(outputs)}

    def make(output: Output) -> Compressed:
        (with_query, seconds), (without, _) = by_name[id(output)]
        return Compressed(with_query, without, seconds, None)

    return make


def measure(outputs: Sequence[Output], make: Callable[[Output], Compressed], count: TokenCounter) -> list[Row]:
    return _rows(_large(outputs, make, count), lambda output: output.family, count)


def _large(outputs: Sequence[Output], make: Callable[[Output], Compressed], count: TokenCounter) -> list[Measured]:
    measured_all = [(output, make(output), count(output.text)) for output in outputs]
    return [each for each in measured_all if each[2] > LEAST_TOKENS]


def _rows(measured_all: Sequence[Measured], label: Callable[[Output], str], count: TokenCounter) -> list[Row]:
    labelled: dict[str, list[Measured]] = defaultdict(list)
    for each in measured_all:
        labelled[label(each[0])].append(each)
    return [_row(name, labelled[name], count) for name in sorted(labelled)] + [_row("all", measured_all, count)]


def _row(family: str, measured_all: Sequence[Measured], count: TokenCounter) -> Row:
    saved = [1 - count(each.for_query) / tokens for _, each, tokens in measured_all]
    kept_by_kind: dict[str, list[bool]] = defaultdict(list)
    for output, each, _ in measured_all:
        for needle in output.needles:
            kept_by_kind[needle.kind].append(needle.text in (each.for_query if needle.kind == "query" else each.plain))
    timed = [(output, each.seconds) for output, each, _ in measured_all if each.seconds is not None]
    speeds = sorted(1e8 * seconds / len(output.text) for output, seconds in timed)
    exact = [each.exact for _, each, _ in measured_all if each.exact is not None]
    again = [each.again for _, each, _ in measured_all if each.again is not None]
    return {
        "family": family,
        "outputs": len(measured_all),
        "saved %": 100 * sum(saved) / len(saved),
        "least %": 100 * min(saved),
        "errors": _share(kept_by_kind["error"] + kept_by_kind["summary"]),
        "asked": _share(kept_by_kind["query"]),
        "rare": _share(kept_by_kind["rare"]),
        "exact": _share(exact),
        "same again": _share(again),
        "ms/100 KB p50": speeds[len(speeds) // 2] if speeds else None,
        "p95": speeds[min(len(speeds) - 1, len(speeds) * 95 // 100)] if speeds else None,
    }


def _share(kept: Sequence[bool]) -> str | None:
    return f"{sum(kept)}/{len(kept)}" if kept else None


def lossless_rows(outputs: Sequence[Output], count: TokenCounter) -> list[Row]:
    """Return what the table form saves, without loss, of JSON results over the least size."""
    rows = []
    for output in outputs:
        tokens = count(output.text)
        if output.family == "json" and tokens > LEAST_TOKENS:
            saved = 100 * (1 - count(lossless_json(read_any_json(output.text))) / tokens)
            rows.append({"output": f"{output.name} ({tokens} tokens)", "saved without loss %": saved})
    return rows


def run(outputs: Sequence[Output], count: TokenCounter, *, peers: bool, headroom_python: str | None) -> list[Row]:
    methods = {OURS: ours()}
    if peers:
        methods["head + tail"] = head_and_tail
        if headroom_python:
            methods["headroom-ai"] = headroom(headroom_python, outputs)
    rows: list[Row] = []
    for name, make in methods.items():
        measured = measure(outputs, make, count)
        rows += [{"method": name, **row} for row in (measured if name == OURS else measured[-1:])]
    return rows


def main() -> None:
    parser = options(__doc__, data="tool_results/tool_outputs.jsonl", required=False, counter="estimate")
    parser.add_argument("--rounds", type=int, default=4, help="generated outputs of each shape")
    parser.add_argument("--logs", action="store_true", help="measure the logs alone")
    parser.add_argument("--headroom", metavar="PYTHON", help="interpreter of an environment that has headroom-ai")
    chosen = parser.parse_args()
    count = counter(chosen.counter)
    ours()(WARM_UP)
    sets = {} if chosen.logs else {"generated": generated(SEED, rounds=chosen.rounds)}
    if chosen.data and not chosen.logs:
        sets = {"given": real_outputs(chosen.data), **sets}
    tables: Tables = {}
    for name, outputs in sets.items():
        rows = run(outputs, count, peers=not chosen.ours_only, headroom_python=chosen.headroom)
        tables[f"Tool results, {name}"] = rows
        tables[f"JSON without loss, {name}"] = lossless_rows(outputs, count)
    halves = {system.name: system.half for system in systems()[: 3 if chosen.quick else None]}
    logs = _large(second_logs(SEED, names=halves), ours(), count)
    tables["Logs by half"] = _rows(logs, lambda output: halves[output.name], count)
    report(chosen, "tool_results", tables)


if __name__ == "__main__":
    main()
