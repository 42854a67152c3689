"""A loop of tool rounds on real outputs: is it under its limit at each step, and is the prompt's prefix stable?

A round is a call and a result; the results are those of ``tool_results/tool_outputs.jsonl``, again and again in pieces.
A result over 8,000 bytes goes on a shelf, and its head, its tail and a pointer stand in the prompt; the whole prompt
goes through the compaction before each call of the model. A summary lists the pointers of what it stands for. In round
3 a fact is planted deep in an output; at the end it is looked up through its pointer.

A step's prefix is stable where the prompt begins with all of the one before: what a provider's cache needs.
"""

from __future__ import annotations

import hashlib
import re
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.budget import counter
from benchmarks.data import read_jsonl
from benchmarks.report import options, print_table, write_json
from gatekeeper_core.context.compaction import compact_messages
from gatekeeper_core.context.rounds import counts_of, is_summary
from gatekeeper_core.messages import Message, ToolCall, common_beginning
from gatekeeper_core.tokens import count_message, truncate_middle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Loop", "Shelf", "Step", "main", "pieces", "planted", "pointers", "row_of", "run_loop"]

SHELF_BYTES = 8_000
"""Results up to this size stand in the prompt whole. Source: specification 002-26."""
FACT_ROUND = 3
FACT = "backup-window=02:45-03:10 host=kestrel-17"
_POINTER = re.compile(r"\[\[wm:([0-9a-f]{16})\]\]")


class Shelf:
    """Holds large results by a pointer: a stand-in for any working memory."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def put(self, text: str) -> str:
        """Return what stands in the prompt for a text."""
        if len(text.encode("utf-8", "surrogatepass")) <= SHELF_BYTES:
            return text
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._texts[key] = text
        seen = truncate_middle(text, SHELF_BYTES // 2, token_counter=len, marker="\n… {omitted} bytes omitted …\n")
        return f"[[wm:{key}]]\n{seen}"

    def find(self, prompt: Sequence[Message], words: str) -> bool:
        """Return whether a pointer in the prompt leads to a text with these words."""
        keys = (key for message in prompt for key in _POINTER.findall(message.text))
        return any(words in self._texts.get(key, "") for key in keys)


class Step(NamedTuple):
    """One call of the model: what its prompt holds, and how much of it the prompt before held at its beginning."""

    tokens: int
    chars: int
    stable: bool
    compacted: bool
    same_chars: int


class Loop(NamedTuple):
    """A loop of many rounds: every step, the calls it is known to have made, and whether the fact was found."""

    steps: tuple[Step, ...]
    calls_known: int
    fact_in_prompt: bool
    fact_by_pointer: bool
    cpu_seconds: float


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


def pointers(messages: Sequence[Message]) -> str:
    """Return the pointers in messages, each once: the summary of rounds whose results lie on a shelf."""
    found = dict.fromkeys(key for message in messages for key in _POINTER.findall(message.text))
    return " ".join(f"[[wm:{key}]]" for key in found)


def run_loop(
    results: Sequence[str],
    compact: Callable[[list[Message]], list[Message]],
    *,
    count: Callable[[str], int],
) -> Loop:
    """Return what happened in a loop with these results.

    Args:
        results: what the tool says in each round.
        compact: makes the prompt that the model gets, and that the loop goes on with.
        count: counts tokens.
    """
    shelf, steps = Shelf(), list[Step]()
    prompt = [
        Message("system", "You look after a cluster."),
        Message("user", "找出昨晚备份失败的原因, and write a report."),
    ]
    before: list[Message] = []
    start = time.process_time()
    for number, text in enumerate(results):
        call = ToolCall(f"c{number}", "bash", f'{{"step": {number}}}')
        prompt += [Message("assistant", "", tool_calls=(call,)), Message("tool", shelf.put(text), tool_call_id=call.id)]
        grown, prompt = prompt, compact(list(prompt))
        same = common_beginning(before, prompt)
        tokens = sum(count_message(message, token_counter=count) for message in prompt)
        steps.append(Step(tokens, _chars(prompt), same == len(before), prompt != grown, _chars(prompt[:same])))
        before = list(prompt)
    known = sum(counts_of(one).calls if is_summary(one) else len(one.tool_calls) for one in prompt)
    inline = any(FACT in message.text for message in prompt)
    return Loop(tuple(steps), known, inline, shelf.find(prompt, FACT), time.process_time() - start)


def _chars(messages: Sequence[Message]) -> int:
    return sum(count_message(message, token_counter=len) for message in messages)


def row_of(name: str, loop: Loop, max_tokens: int) -> dict[str, Any]:
    """Return a loop as a row: shares in per cent, the first step aside."""
    later = loop.steps[1:]
    return {
        "method": name,
        "steps": len(loop.steps),
        "over limit": sum(step.tokens > max_tokens for step in loop.steps),
        "most tokens": max(step.tokens for step in loop.steps),
        "mean tokens": sum(step.tokens for step in loop.steps) // len(loop.steps),
        "compactions": sum(step.compacted for step in loop.steps),
        "stable steps %": 100 * sum(step.stable for step in later) / max(1, len(later)),
        "stable chars %": 100 * sum(step.same_chars for step in later) / max(1, sum(step.chars for step in later)),
        "calls known": loop.calls_known,
        "fact in prompt": loop.fact_in_prompt,
        "fact by pointer": loop.fact_by_pointer,
        "ms a step": 1000 * loop.cpu_seconds / len(loop.steps),
    }


def _all(prompt: list[Message]) -> list[Message]:
    return prompt


def _newest_rounds(prompt: list[Message], *, keep: int) -> list[Message]:
    """Return the head and the newest rounds: a sliding window."""
    return prompt[:2] + prompt[2:][-2 * keep :]


def _compacted(prompt: list[Message], **settings: Any) -> list[Message]:
    return compact_messages(prompt, summarizer=pointers, **settings).messages


def main() -> None:
    """Run the loops, print the table, write JSON if asked to."""
    parser = options(__doc__, data="tool_results/tool_outputs.jsonl")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of the loop")
    parser.add_argument("--max-tokens", type=int, default=20_000, help="the limit of a prompt")
    parser.add_argument("--counter", choices=["estimate", "cl100k"], default="estimate")
    chosen = parser.parse_args()
    rounds = min(chosen.rounds, 40) if chosen.quick else chosen.rounds
    count = counter(chosen.counter)
    outputs = [record["text"] for record in read_jsonl(chosen.data / "tool_results" / "tool_outputs.jsonl")]
    results = planted(pieces(outputs, rounds))
    ways: dict[str, Callable[[list[Message]], list[Message]]] = {
        f"compact_messages, low water {share:.0%}": partial(
            _compacted, low_water=share, max_tokens=chosen.max_tokens, token_counter=count
        )
        for share in (0.6, 0.3, 1.0)
    }
    if not chosen.ours_only:
        ways["window of the newest 3 rounds"] = partial(_newest_rounds, keep=3)
        ways["nothing"] = _all
    rows = [row_of(name, run_loop(results, way, count=count), chosen.max_tokens) for name, way in ways.items()]
    print_table(f"{rounds} rounds, limit {chosen.max_tokens} tokens ({chosen.counter})", rows, markdown=chosen.markdown)
    settings = {"rounds": rounds, "max_tokens": chosen.max_tokens, "counter": chosen.counter}
    write_json(chosen.json, "agent_loop", settings, {"agent_loop": rows})


if __name__ == "__main__":
    main()
