"""The benchmark of an agent loop measures limits, stable prefixes and what is found again."""

from __future__ import annotations

from benchmarks.agent_loop import Loop, memory_of, pieces, planted, run_loop
from gatekeeper_core.context.history.tool_loop import compact_messages
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.messages import Message

OUTPUTS = ["".join(f"{number} 服务 restarted after 3 s\n" for number in range(600)), "ok", "x" * 9_000]


def compacted_loop(rounds: int) -> Loop:
    memory = memory_of(len)
    compress = ToolResultCompressor(working_memory=memory, token_counter=len)

    def compact(prompt: list[Message]) -> list[Message]:
        settings = {"max_tokens": 9_000, "max_chars": 9_000, "token_counter": len}
        return compact_messages(prompt, compress_result=compress, **settings).messages  # type: ignore[arg-type]

    return run_loop(planted(pieces(OUTPUTS, rounds)), compact, count=len, memory=memory)


def test_a_loop_of_many_rounds_stays_under_its_limit_and_changes_only_when_it_is_compacted() -> None:
    """002-10, 002-12, 002-32: and the calls of all rounds are known at the end."""
    loop = compacted_loop(60)
    assert max(step.tokens for step in loop.steps) <= 9_000
    assert all(step.stable or step.compacted for step in loop.steps)
    assert 0 < sum(step.compacted for step in loop.steps) < 60
    assert all(step.valid for step in loop.steps)
    assert loop.calls_known == 60


def test_a_fact_of_an_early_round_is_found_through_its_pointer() -> None:
    """002-20, 004-20."""
    loop = compacted_loop(30)
    assert (loop.fact_in_prompt, loop.fact_by_pointer) == (False, True)
