"""A loop of tool rounds on real outputs: is it under its limit at each step, and is the prompt's prefix stable?

A round is a call and a result; the results are those of ``tool_results/tool_outputs.jsonl``, again and again in pieces.
The whole prompt goes through the compaction before each call of the model, which puts results aside in working memory
and folds the oldest rounds. In round 3 a fact is planted deep in an output; at the end it is looked for by a question
through the pointers that the last prompt shows. The loops without compaction show results as a plain agent would: up to
8,000 bytes, both ends.

A step's prefix is stable where the prompt begins with all of the one before: what a provider's cache needs. The bills
are those of the same run through a selector with a large budget, by a prefix cache that is always warm.
"""

from __future__ import annotations

from itertools import chain, starmap
from typing import TYPE_CHECKING, NamedTuple, get_args

from benchmarks.agent_runs import Recorded, bills
from benchmarks.budget import counter
from benchmarks.data import read_jsonl
from benchmarks.report import Row, options, report
from gatekeeper_core.context.history.rounds import counts_of
from gatekeeper_core.context.history.tool_loop import compact_messages
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.context.tool_results.working_memory import WorkingMemory
from gatekeeper_core.messages import Message, Provider, ToolCall, common_beginning, is_summary, validate_messages
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.tokens import count_message
from gatekeeper_core.truncation import truncate_middle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHOWN_BYTES = 8_000
"""Results up to this size stand whole in a prompt without compaction. Source: specification 002-08."""
MAX_TOKENS = 20_000
TASK = "找出昨晚备份失败的原因, and write a report."
FACT_ROUND = 3
FACT = "backup-window=02:45-03:10 host=kestrel-17"
QUESTION = "what is the backup-window of host kestrel-17?"
_KEY = b"key of the benchmark"


def memory_of(count: Callable[[str], int]) -> WorkingMemory:
    return WorkingMemory(InMemoryBlobStore(), _KEY, token_counter=count)


def both_ends(text: str) -> str:
    """Return a result as a plain agent shows it: its head and its tail, where it is large."""
    return truncate_middle(
        text,
        SHOWN_BYTES,
        token_counter=lambda part: len(part.encode("utf-8", "surrogatepass")),
        marker="\n… {omitted} bytes omitted …\n",
    )


def found_by_pointer(memory: WorkingMemory | None, prompt: Sequence[Message]) -> bool:
    """Return whether reading a pointer in the prompt by a question gives the fact."""
    ids = dict.fromkeys(pointer for message in prompt for pointer in pointers_in(message.text))
    return memory is not None and any(FACT in memory.read(pointer, query=QUESTION).text for pointer in ids)


class Step(NamedTuple):
    """One call: its prompt, what of it the one before began with, tokens with every result as it was."""

    tokens: int
    stable: bool
    compacted: bool
    whole_tokens: int
    valid: bool


class Loop(NamedTuple):
    """Every step of a loop, the calls it is known to have made, and whether the fact was found."""

    steps: tuple[Step, ...]
    calls_known: int
    fact_in_prompt: bool
    fact_by_pointer: bool


def pieces(outputs: Sequence[str], count: int, *, size: int = 40_000) -> list[str]:
    """Return as many results as rounds: the outputs in turn, each time another piece of it."""
    texts = []
    for number in range(count):
        text, turn = outputs[number % len(outputs)], number // len(outputs)
        start = turn * size % max(1, len(text))
        texts.append(text[start : start + size])
    return texts


def planted(texts: Sequence[str]) -> list[str]:
    """Return the results with the fact in the middle of the one of round 3."""
    result = list(texts)
    text = result[FACT_ROUND - 1]
    middle = len(text) // 2
    result[FACT_ROUND - 1] = f"{text[:middle]}\n{FACT}\n{text[middle:]}"
    return result


def round_of(number: int, text: str) -> list[Message]:
    call = ToolCall(f"c{number}", "bash", f'{{"step": {number}}}')
    return [Message("assistant", "", tool_calls=(call,)), Message("tool", text, tool_call_id=call.id)]


def run_loop(
    results: Sequence[str],
    compact: Callable[[list[Message]], list[Message]],
    *,
    count: Callable[[str], int],
    memory: WorkingMemory | None = None,
    shown: Callable[[str], str] = str,
) -> Loop:
    """Return what happened in a loop with these results; ``compact`` makes the prompt that it goes on with."""
    steps, tool_tokens = list[Step](), 0
    prompt = [Message("system", "You look after a cluster."), Message("user", TASK)]
    before: list[Message] = []
    for number, text in enumerate(results):
        prompt += round_of(number, shown(text))
        tool_tokens += count(text)
        grown, prompt = prompt, compact(list(prompt))
        same = common_beginning(before, prompt)
        tokens = sum(count_message(message, token_counter=count) for message in prompt)
        valid = all(not validate_messages(prompt, provider=name) for name in get_args(Provider))
        stable, compacted = same == len(before), prompt != grown
        steps.append(Step(tokens, stable, compacted, tool_tokens, valid))
        before = list(prompt)
    counted_calls = sum(counts_of(one).calls if is_summary(one) else len(one.tool_calls) for one in prompt)
    inline = any(FACT in message.text for message in prompt)
    return Loop(tuple(steps), counted_calls, inline, found_by_pointer(memory, prompt))


def row_of(name: str, loop: Loop) -> Row:
    """Return a loop as a row: shares in per cent, the first step aside."""
    later = loop.steps[1:]
    return {
        "method": name,
        "steps": len(loop.steps),
        "over limit": sum(step.tokens > MAX_TOKENS for step in loop.steps),
        "mean tokens": sum(step.tokens for step in loop.steps) // len(loop.steps),
        "compactions": sum(step.compacted for step in loop.steps),
        "stable steps %": 100 * sum(step.stable for step in later) / max(1, len(later)),
        "share of tokens %": 100
        * sum(step.tokens for step in loop.steps)
        / sum(step.whole_tokens for step in loop.steps),
        "valid everywhere": sum(step.valid for step in loop.steps),
        "calls known": loop.calls_known,
        "fact in prompt": loop.fact_in_prompt,
        "fact by pointer": loop.fact_by_pointer,
    }


def _rows(results: Sequence[str], count: Callable[[str], int], *, peers: bool) -> list[Row]:
    rows = [_compacted(results, count, share=share, is_early=False) for share in (0.6, 0.3, 1.0)]
    rows.append(_compacted(results, count, share=0.6, is_early=True))
    ways: dict[str, Callable[[list[Message]], list[Message]]] = {
        "window of the newest 3 rounds": lambda prompt: prompt[:2] + prompt[2:][-6:],
        "nothing": lambda prompt: prompt,
    }
    for name, way in ways.items() if peers else ():
        rows.append(row_of(name, run_loop(results, way, count=count, shown=both_ends)))
    return rows


def _compacted(results: Sequence[str], count: Callable[[str], int], *, share: float, is_early: bool) -> Row:
    memory = memory_of(count)
    compress = ToolResultCompressor(working_memory=memory, token_counter=count)
    limits: Row = {"low_water": share, "max_tokens": MAX_TOKENS, "token_counter": count}
    shown = (lambda text: compress.compress(text, tool_name="bash", query=TASK).text) if is_early else str

    def compact(prompt: list[Message]) -> list[Message]:
        return compact_messages(prompt, compress_result=compress, **limits).messages

    loop = run_loop(results, compact, count=count, memory=memory, shown=shown)
    return row_of(f"compact_messages, low water {share:.0%}" + is_early * ", results compressed on arrival", loop)


def _bills(results: Sequence[str], count: Callable[[str], int]) -> list[Row]:
    run = [Message("user", TASK), *chain.from_iterable(starmap(round_of, enumerate(map(both_ends, results))))]
    return bills([Recorded(run)], 100_000, ("everything", "cache", "cache, results compressed"), count)


def main() -> None:
    parser = options(__doc__, data="tool_results/tool_outputs.jsonl", counter="estimate")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of the loop")
    chosen = parser.parse_args()
    rounds = min(chosen.rounds, 40) if chosen.quick else chosen.rounds
    count = counter(chosen.counter)
    outputs = [record["text"] for record in read_jsonl(chosen.data / "tool_results" / "tool_outputs.jsonl")]
    results = planted(pieces(outputs, rounds))
    rows = _rows(results, count, peers=not chosen.ours_only)
    tables = {f"{rounds} rounds, limit {MAX_TOKENS} tokens": rows}
    for length in (part for part in (12, 30, 60, 100) if part <= rounds):
        tables[f"The bill of {length} rounds, 100,000 tokens"] = _bills(results[:length], count)
    report(chosen, "agent_loop", tables)


if __name__ == "__main__":
    main()
