"""Liveness of identifiers in recorded coding runs: what left the prompt, and how often it was used again.

An identifier is *out* from the first call whose prompt lacks it, though an earlier message of the run holds it. It was
used again where one of the next ten messages of the assistant has it. A result is *superseded* by a newer one of the
same call with the same arguments, *dead* where no message of the assistant named, in six calls, what it was the newest
to hold, and *live* otherwise; it was used again where an identifier that it is still the newest to hold is. Data as
``benchmarks.agent_runs``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks.agent_runs import GROUPS, POLICIES, QUICK, read_runs, text_of
from benchmarks.budget import counter
from benchmarks.report import Tables, options, report
from gatekeeper_core.context.history.call_log import identifiers_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gatekeeper_core import Message

AGE, AHEAD = 6, 10
STATES = ("live", "superseded", "dead")
PEERS, OURS = ("clear old tool results",), ("gate", "cache, results compressed")


def taken_out(run: Sequence[Message], send: Any) -> tuple[int, int, int]:
    """Return how many identifiers a run has, how many of them left the prompt, and how many were used again then."""
    named = [frozenset(identifiers_of(message)) for message in run]
    calls = [at for at, message in enumerate(run) if message.role == "assistant"]
    out: dict[str, int] = {}
    for number, at in enumerate(calls):
        prompt = "\n".join(map(text_of, send(run[:at])))
        missing = {name for name in frozenset().union(*named[:at]) if name not in out and name not in prompt}
        out.update(dict.fromkeys(missing, number))
    used = sum(any(name in named[at] for at in calls[number : number + AHEAD]) for name, number in out.items())
    return len(frozenset().union(*named)), len(out), used


def states(run: Sequence[Message]) -> Iterable[tuple[str, bool]]:
    """Yield the state of each result when it is so many calls old, and whether it is used in the calls after that."""
    named = [frozenset(identifiers_of(message)) for message in run]
    calls = [at for at, message in enumerate(run) if message.role == "assistant"]
    keys: dict[str | None, tuple[str, str]] = {}
    of = {}
    for at, message in enumerate(run):
        keys |= {call.id: (call.name, call.arguments) for call in message.tool_calls}
        if message.role == "tool":
            of[at] = keys.get(message.tool_call_id, ("", str(at)))
    for at, key in of.items():
        later = [call for call in calls if call > at]
        if len(later) < AGE:
            continue
        own, used, is_used_again = set(named[at]), False, False
        now = later[AGE - 1]
        for place in range(at + 1, now):
            used = used or (run[place].role == "assistant" and not own.isdisjoint(named[place]))
            own -= named[place]
        is_superseded = any(of.get(place) == key for place in range(at + 1, now))
        for place in range(now, later[AGE - 1 : AGE - 1 + AHEAD][-1] + 1):
            is_used_again = is_used_again or (run[place].role == "assistant" and not own.isdisjoint(named[place]))
            own -= named[place]
        yield "superseded" if is_superseded else "live" if used else "dead", is_used_again


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(__doc__, data="agents/*.jsonl").parse_args(arguments)
    count = counter("estimate" if chosen.quick else "cl100k")
    runs = [run.messages for run in read_runs(chosen.data)["run"]]
    runs = runs[:: max(1, len(runs) // QUICK) if chosen.quick else 1]
    tables: Tables = {}
    for budget in GROUPS["run"].budgets:
        table = tables[f"identifiers of {len(runs)} coding runs, {budget:,} tokens"] = []
        for policy in OURS if chosen.ours_only else PEERS + OURS:
            counts = [taken_out(run, POLICIES[policy](budget, count)) for run in runs]
            sums = [sum(each) for each in zip(*counts, strict=True)]
            shares = {"out": 100.0 * sums[1] / sums[0], f"used within {AHEAD} calls": 100.0 * sums[2] / max(1, sums[1])}
            table.append({"policy": policy, "identifiers": sums[0], **shares})
    results = Counter(each for run in runs for each in states(run))
    total = sum(results.values())
    table = tables[f"{total:,} results, {AGE} calls old"] = []
    for state in STATES:
        both = results[state, True] + results[state, False]
        again = 100.0 * results[state, True] / max(1, both)
        table.append({"state": state, "share": 100.0 * both / total, f"used within {AHEAD} calls": again})
    report(chosen, "liveness", tables)


if __name__ == "__main__":
    main()
