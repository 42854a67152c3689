"""Tool results: what is saved, and which needles are still there, beside named peers in the same run?

Run ``python -m benchmarks.tool_results [--data DIR]``, where ``DIR/tool_results`` holds real tool outputs with needles;
without it the generated ones alone are measured (``benchmarks/tool_outputs.py``: other shapes). ``--logs first`` and
``--logs second`` measure one set of logs alone, by format and by system: ``benchmarks/tool_logs.py``, on which the
compressor was improved, and ``benchmarks/second_logs.py``, by another author, one half of whose systems is held out.
Outputs over 600 tokens count. *saved* is the mean share of tokens saved; *errors* and *rare* are measured without a
question, *asked* with one; *exact* is the share of results that are read back byte for byte through their pointers,
*same again* of those that a second compression leaves as they are. Quotation marks around a needle do not count: a
table writes strings without them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.budget import counter
from benchmarks.data import read_jsonl
from benchmarks.peers import NOT_INSTALLED
from benchmarks.report import SEED, print_table, write_json
from benchmarks.second_logs import second_logs, systems
from benchmarks.tool_logs import logs
from benchmarks.tool_outputs import Needle, Output, generated
from gatekeeper_core import ToolResultCompressor, WorkingMemory
from gatekeeper_core.context.tool_results.compressor import ToolResultConfig
from gatekeeper_core.storage.in_memory import InMemoryBlobStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gatekeeper_core import TokenCounter

    Row = dict[str, Any]

OURS = "context-gatekeeper"
LEAST_TOKENS = 600
FAMILIES = {"testlog": "test"}
KINDS = {"outlier": "rare"}
ENDS = 5
LOGS: dict[str, Callable[[int], list[Output]]] = {"first": logs, "second": second_logs}
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


class Made(NamedTuple):
    """A result made small: with the question, without, processor seconds, is it read back exactly, is it stable?"""

    asked: str
    plain: str
    seconds: float | None
    exact: bool | None
    again: bool | None = None


Measured = tuple[Output, Made, int]
"""An output, what was made of it, and its tokens."""


def given(folder: Path) -> list[Output]:
    """Return the real outputs of a folder."""
    outputs = []
    for row in read_jsonl(folder / "tool_results" / "tool_outputs.jsonl"):
        needles = tuple(Needle(KINDS.get(each["kind"], each["kind"]), each["s"].strip('"')) for each in row["needles"])
        family = FAMILIES.get(row["kind"], row["kind"])
        outputs.append(Output(row["name"], family, row["query"], row["text"], needles))
    return outputs


def ours() -> Callable[[Output], Made]:
    """Return the library's way: everything by default, with a working memory."""
    memory = WorkingMemory(InMemoryBlobStore(), b"a key for a benchmark", 10**9)
    compressor = ToolResultCompressor(working_memory=memory)

    def make(output: Output) -> Made:
        plain = compressor.compress(output.text)
        start = time.process_time()
        result = compressor.compress(output.text, query=output.query)
        seconds = time.process_time() - start
        exact = memory.load(result.pointer.text) == output.text if result.pointer else result.text == output.text
        again = all(compressor.compress(text, query=output.query).text == text for text in (result.text, plain.text))
        return Made(result.text, plain.text, seconds, exact, again)

    return make


def head_and_tail(output: Output) -> Made:
    """Return the first and last lines: what a shell tool does by itself."""
    lines = output.text.split("\n")
    text = "\n".join([*lines[:ENDS], "...", *lines[-ENDS:]]) if len(lines) > 2 * ENDS else output.text
    return Made(text, text, 0.0, None)


def clear_tool_uses() -> Callable[[Output], Made]:
    """Return LangChain's way: the old results go altogether, the newest stay; here the result is an old one."""
    from langchain.agents.middleware import ClearToolUsesEdit
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    def make(output: Output) -> Made:
        call = {"name": "run", "args": {}, "id": "c1"}
        messages: list[Any] = [
            HumanMessage("q"),
            AIMessage("", tool_calls=[call]),
            ToolMessage(output.text, tool_call_id="c1"),
        ]
        start = time.process_time()
        ClearToolUsesEdit(trigger=0, keep=0).apply(messages, count_tokens=lambda _messages: 10**6)
        text = str(messages[-1].content)
        return Made(text, text, time.process_time() - start, None)

    return make


def headroom(python: str, outputs: Sequence[Output]) -> Callable[[Output], Made]:
    """Return headroom-ai's way, in the interpreter of its own environment, with and without the question."""
    asked = "".join(f"{json.dumps([output.text, query])}\n" for output in outputs for query in (output.query, None))
    done = subprocess.run([python, "-c", HEADROOM], input=asked, capture_output=True, encoding="utf-8", check=True)
    made = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    by_name = {id(output): made[2 * at : 2 * at + 2] for at, output in enumerate(outputs)}

    def make(output: Output) -> Made:
        (with_query, seconds), (without, _) = by_name[id(output)]
        return Made(with_query, without, seconds, None)

    return make


def measure(outputs: Sequence[Output], make: Callable[[Output], Made], count: TokenCounter) -> list[Row]:
    """Return a row for each family, and one for all."""
    return _rows(_large(outputs, make, count), lambda output: output.family, count)


def measure_logs(outputs: Sequence[Output], count: TokenCounter) -> dict[str, list[Row]]:
    """Return the rows by format, by system, and by half where the systems have halves."""
    halves = {system.name: system.half for system in systems()}
    made = _large(outputs, ours(), count)
    rows = {
        "format": _rows(made, lambda output: output.family, count),
        "system": _rows(made, lambda output: output.name, count),
    }
    if all(output.name in halves for output in outputs):
        rows["half"] = _rows(made, lambda output: halves[output.name], count)
    return rows


def _large(outputs: Sequence[Output], make: Callable[[Output], Made], count: TokenCounter) -> list[Measured]:
    made = [(output, make(output), count(output.text)) for output in outputs]
    return [each for each in made if each[2] > LEAST_TOKENS]


def _rows(made: Sequence[Measured], label: Callable[[Output], str], count: TokenCounter) -> list[Row]:
    labelled: dict[str, list[Measured]] = defaultdict(list)
    for each in made:
        labelled[label(each[0])].append(each)
    return [_row(name, labelled[name], count) for name in sorted(labelled)] + [_row("all", made, count)]


def _row(family: str, made: Sequence[Measured], count: TokenCounter) -> Row:
    saved = [1 - count(each.asked) / tokens for _, each, tokens in made]
    found: dict[str, list[bool]] = defaultdict(list)
    for output, each, _ in made:
        for needle in output.needles:
            found[needle.kind].append(needle.text in (each.asked if needle.kind == "query" else each.plain))
    speeds = sorted(1e8 * each.seconds / len(output.text) for output, each, _ in made if each.seconds is not None)
    exact = [each.exact for _, each, _ in made if each.exact is not None]
    again = [each.again for _, each, _ in made if each.again is not None]
    return {
        "family": family,
        "outputs": len(made),
        "saved %": 100 * sum(saved) / len(saved),
        "least %": 100 * min(saved),
        "errors": _share(found["error"] + found["summary"]),
        "asked": _share(found["query"]),
        "rare": _share(found["rare"]),
        "exact": _share(exact),
        "same again": _share(again),
        "ms/100 KB p50": speeds[len(speeds) // 2] if speeds else None,
        "p95": speeds[min(len(speeds) - 1, len(speeds) * 95 // 100)] if speeds else None,
    }


def _share(found: Iterable[bool]) -> str | None:
    kept = list(found)
    return f"{sum(kept)}/{len(kept)}" if kept else None


def lossless_rows(outputs: Sequence[Output], count: TokenCounter) -> list[Row]:
    """Return what the table form saves, without loss, of JSON results over the least size."""
    compressor = ToolResultCompressor(ToolResultConfig(lossless_only=True))
    rows = []
    for output in outputs:
        tokens = count(output.text)
        if output.family == "json" and tokens > LEAST_TOKENS:
            after = count(compressor.compress(output.text).text)
            rows.append(
                {"output": f"{output.name} ({tokens} tokens)", "saved without loss %": 100 * (1 - after / tokens)}
            )
    return rows


def run(outputs: Sequence[Output], count: TokenCounter, *, peers: bool, headroom_python: str | None) -> list[Row]:
    """Return rows by method and family."""
    methods: dict[str, Callable[[Output], Made] | None] = {OURS: ours()}
    if peers:
        methods["head + tail"] = head_and_tail
        methods["ClearToolUsesEdit"] = clear_tool_uses() if find_spec("langchain") else None
        methods["headroom-ai"] = headroom(headroom_python, outputs) if headroom_python else None
    rows: list[Row] = []
    for name, make in methods.items():
        if make is None:
            rows.append({"method": name, "family": NOT_INSTALLED})
        else:
            measured = measure(outputs, make, count)
            rows += [{"method": name, **row} for row in (measured if name == OURS else measured[-1:])]
    return rows


def main() -> None:
    """Measure, print the tables, write JSON if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder that holds tool_results/tool_outputs.jsonl")
    parser.add_argument("--seed", type=int, default=SEED, help="of the generated outputs")
    parser.add_argument("--rounds", type=int, default=4, help="generated outputs of each shape")
    parser.add_argument("--logs", choices=tuple(LOGS), help="measure this set of logs alone")
    parser.add_argument("--counter", choices=("estimate", "cl100k"), default="estimate")
    parser.add_argument("--headroom", metavar="PYTHON", help="interpreter of an environment that has headroom-ai")
    parser.add_argument("--ours-only", action="store_true", help="leave the peers out")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables, for a page")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    count = counter(chosen.counter)
    sets = {} if chosen.logs else {"generated": generated(chosen.seed, rounds=chosen.rounds)}
    if chosen.data and not chosen.logs:
        sets = {"given": given(chosen.data), **sets}
    tables: dict[str, list[Row]] = {}
    for name, outputs in sets.items():
        ours()(WARM_UP)
        tables[name] = run(outputs, count, peers=not chosen.ours_only, headroom_python=chosen.headroom)
        print_table(f"Tool results, {name}: {len(outputs)} outputs", tables[name], markdown=chosen.markdown)
        tables[f"{name}, lossless"] = lossless_rows(outputs, count)
        print_table(f"JSON without loss, {name}", tables[f"{name}, lossless"], markdown=chosen.markdown)
    for which, make_logs in LOGS.items():
        if chosen.logs not in (None, which):
            continue
        outputs = make_logs(chosen.seed)
        for name, rows in measure_logs(outputs, count).items():
            title = f"{which} logs by {name}"
            tables[title] = rows
            print_table(f"{title.capitalize()}: {len(outputs)} outputs", rows, markdown=chosen.markdown)
    settings = {"seed": chosen.seed, "rounds": chosen.rounds, "counter": chosen.counter}
    write_json(chosen.json, "tool_results", settings, tables)


if __name__ == "__main__":
    main()
