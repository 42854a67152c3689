"""Recorded agent runs, replayed call by call: the values of the next action in the prompt, the cost, and the time.

The values of each recorded assistant message are leaves of tool arguments up to 60 characters, and identifiers of
arguments and text. A value counts when it is verbatim in an earlier message, but not in the system message or in the
newest user message, and in at most 20 % of the runs of its file. No model is asked: presence is a proxy.

``recall``: share of the values in what is sent, mean over calls. ``far``: those whose newest occurrence is over three
assistant messages back. ``task``: calls with the first user message in. ``over``: calls over the budget. ``$``: a
prefix cache that is always warm, write 1.25, read 0.1, sending everything = 1.00. Data: ``agents/*.jsonl``, one run a
line with ``kind`` (``run`` of a coder, ``chat`` with tools) and ``messages`` in the OpenAI form.

The bills are those of runs cut to 12 rounds: an early cut has little time to pay for itself. A step is timed late in
recorded runs that are joined to one: CPU time, each policy with its own token counter.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial
from itertools import chain, cycle, dropwhile, takewhile
from operator import eq
from statistics import mean, median, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.budget import counter
from benchmarks.peers import trimmer
from benchmarks.report import Row, options, report
from benchmarks.timing import cpu_ms
from gatekeeper_core import (
    HistoryConfig,
    Message,
    ModelPrices,
    RunConfig,
    ToolResultCompressor,
    WorkingMemory,
    prices_of_model,
)
from gatekeeper_core.context.history.call_log import identifiers_in
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.messages import messages_digest
from gatekeeper_core.pricing.edits import EditedPrompt, choose_edit
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.tokens import count_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gatekeeper_core.tokens import TokenCounter

    Send = Callable[[Sequence[Message]], Sequence[Message]]
    """What is sent at a call; each call has the messages of the one before, and more."""

WRITE, READ, FAR = 1.25, 0.1, 3
QUICK = 4  # runs of each group, or a few more
LONG_CHAT = 30  # messages of the user: a chat of tau-bench has 4 to 23, six in a row have 38 to 54
SHORT_RUN = 12  # rounds
TIMED = 50  # calls; quick: 5


class Recorded(NamedTuple):
    """A recorded run, and the values that are common in its file."""

    messages: Sequence[Message]
    common: frozenset[str] = frozenset()


def read_runs(folder: Path) -> dict[str, list[Recorded]]:
    """Return the runs of a folder by kind: ``chat``, ``six`` (chats in a row) and ``run``."""
    runs: dict[str, list[Recorded]] = defaultdict(list)
    for path in sorted((folder / "agents").glob("*.jsonl")):
        items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        talks = [[Message.from_dict(message) for message in item["messages"]] for item in items]
        spread: Counter[str] = Counter()
        for talk in talks:
            spread.update({value for message in talk if message.role == "assistant" for value in values(message)})
        common = frozenset(value for value, count in spread.items() if count > max(2, 0.2 * len(talks)))
        for item, talk in zip(items, talks, strict=True):
            is_long = item["kind"] == "chat" and sum(each.role == "user" for each in talk) >= LONG_CHAT
            runs["six" if is_long else item["kind"]].append(Recorded(talk, common))
    return runs


def first_rounds(run: Sequence[Message]) -> list[Message]:
    starts = [at for at, message in enumerate(run) if message.role == "assistant"]
    return list(run[: [*starts, len(run)][min(SHORT_RUN, len(starts))]])


def observed_by_user(run: Sequence[Message]) -> list[Message]:
    """Return a run as an agent without tool messages has it: calls in the text, observations from the user."""
    return [
        Message("user", each.text if each.text.startswith("<") else f"Observation:\n{each.text}")
        if each.role == "tool"
        else Message(each.role, "\n".join((each.text, *(f"{call.name} {call.arguments}" for call in each.tool_calls))))
        for each in run
    ]


def joined(runs: Sequence[Recorded], role: str, count: int) -> list[Message]:
    """Return all runs joined, again and again, up to so many messages of a role.

    Later runs begin at their first message of the role: those of coders without their task.
    """
    later = (dropwhile(lambda each: each.role != role, run.messages) for run in cycle((*runs[1:], *runs[:1])))
    messages: list[Message] = []
    for message in chain(runs[0].messages, chain.from_iterable(later)):
        messages.append(message)
        count -= message.role == role
        if not count:
            break
    return messages


def leaves(value: Any) -> Iterator[str]:
    """Yield the texts and numbers in a JSON value."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield json.dumps(value)


def arguments(message: Message) -> list[str]:
    return [leaf for call in message.tool_calls for leaf in leaves(read(call.arguments))]


def read(text: str) -> Any:
    """Return the value of a JSON text, or the text where it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def text_of(message: Message) -> str:
    """Return the text of a message with its arguments, also as they read unescaped."""
    return "\n".join((message.text, *(call.arguments for call in message.tool_calls), *arguments(message)))


def values(message: Message) -> dict[str, None]:
    """Return what an action uses, in its order."""
    texts = arguments(message)
    short = (leaf for leaf in texts if 4 <= len(leaf) <= 60 and "\n" not in leaf)
    plain = ("true", "false", "none", "null")
    named = dict.fromkeys(leaf for leaf in short if leaf.lower() not in plain)
    return named | dict.fromkeys(identifiers_in("\n".join((message.text, *texts))))


def trim(budget: int, count: TokenCounter | None, *, start_on: Sequence[str]) -> Send:
    """Send what LangChain's ``trim_messages`` keeps: the newest messages from one of these kinds on.

    Without a counter by its own one, ``count_tokens_approximately``.
    """
    trimmed = trimmer(partial(cost, count=count) if count else None)

    def send(messages: Sequence[Message]) -> Sequence[Message]:
        kept = trimmed(messages, max_tokens=budget, include_system=True, start_on=start_on)
        return [messages[at] for at in kept]

    return send


def clear(budget: int, count: TokenCounter, *, keep: int = 3) -> Send:
    """Clear all tool results but the newest over the budget, as ``ClearToolUsesEdit(trigger=budget)`` does."""

    def send(messages: Sequence[Message]) -> Sequence[Message]:
        if sum(cost(message, count) for message in messages) <= budget:
            return messages
        gone = [at for at, message in enumerate(messages) if message.role == "tool"][:-keep]
        return [replace(each, content="[cleared]") if at in gone else each for at, each in enumerate(messages)]

    return send


def delayed(budget: int, count: TokenCounter) -> Send:
    """Clear the same results, each time when that pays: as ``delay_edits`` for a cache that is always warm."""
    prices = ModelPrices(input=1.0, output=5.0, cache_read=READ, cache_write=WRITE, min_cached_tokens=1)
    edit, last = clear(budget, count), EditedPrompt()

    def send(messages: Sequence[Message]) -> Sequence[Message]:
        nonlocal last
        edited = edit(messages)
        by_digest = {_digest(each): each for each in (*edited, *messages)}
        costs = {digest: cost(each, count) for digest, each in by_digest.items()}
        unedited, shorter = (tuple((key, costs[key]) for key in map(_digest, each)) for each in (messages, edited))
        last = choose_edit(last, unedited, shorter, prices=prices, now=0.0, room=10**9)
        return [by_digest[digest] for digest, _ in last.sent]

    return send


def _digest(message: Message) -> bytes:
    return messages_digest([message]).encode()


def window(_budget: int, _count: TokenCounter, *, rounds: int = 5) -> Send:
    """Send system messages, the first user message, and the newest assistant messages with what follows them."""

    def send(messages: Sequence[Message]) -> Sequence[Message]:
        starts = [at for at, message in enumerate(messages) if message.role == "assistant"][-rounds:]
        first = next(at for at, message in enumerate(messages) if message.role == "user")
        start = max(first + 1, starts[0]) if len(starts) == rounds else 0
        return [each for at, each in enumerate(messages) if each.role == "system" or at == first or at >= start]

    return send


def ours(budget: int, count: TokenCounter | None, *, strategy: Any, compress: bool = False) -> Send:
    """Select with a strategy, and fold the run; ``compress`` also compresses results into a working memory."""
    memory = WorkingMemory(InMemoryBlobStore(), session_key=b"0123456789abcdef0123456789abcdef")
    run = RunConfig(compress_result=ToolResultCompressor(working_memory=memory) if compress else None)
    prices = prices_of_model("claude-sonnet-4-5")
    config = HistoryConfig(token_budget=budget, strategy=strategy, run=run, prices=prices, on_error="raise")
    seconds = iter(range(0, 10**9, 5))
    selector = ThreadSelector(
        lambda message: message,
        write=lambda _, new: new,
        config=config,
        token_counter=count,
        clock=lambda: float(next(seconds)),
    )
    return partial(selector.choose, thread="t")


POLICIES: Mapping[str, Callable[[int, Any], Any]] = {
    "everything": lambda _budget, _count: list,
    "trim_messages (human)": partial(trim, start_on=("human",)),
    "trim_messages (human, ai)": partial(trim, start_on=("human", "ai")),
    "clear old tool results": clear,
    "the same, delayed": delayed,
    "window of 5": window,
    "gate": partial(ours, strategy="gate"),
    "cache": partial(ours, strategy="cache"),
    "cache, results compressed": partial(ours, strategy="cache", compress=True),
}
PEER = "trim_messages (human, ai)"
OURS = ("gate", "cache", "cache, results compressed")


def cost(message: Message, count: Any) -> int:
    return count_message(message, token_counter=count)


def questions(run: Sequence[Message], common: Iterable[str]) -> Iterator[tuple[int, dict[str, bool]]]:
    """Yield the positions of the model's calls, each with the values that it uses and whether they are far."""
    texts = [text_of(message) for message in run]
    first = next(at for at, message in enumerate(run) if message.role == "user")
    system = "\n".join(message.text for message in run if message.role == "system")
    for at in range(first + 1, len(run)):
        if run[at].role == "assistant":
            question = next(texts[place] for place in reversed(range(at)) if run[place].role == "user")
            rounds = [place for place in range(at) if run[place].role == "assistant"]
            near = "\n".join(texts[rounds[-FAR] : at]) if len(rounds) >= FAR else "\n".join(texts[:at])
            before = "\n".join(texts[first:at])
            used = (value for value in values(run[at]) if value not in common and value not in f"{system}\n{question}")
            yield at, {value: value not in near for value in used if value in before}


def measure(run: Sequence[Message], common: Iterable[str], send: Any, budget: int, count: Any) -> dict[str, float]:
    """Return the sums of one run under one policy."""
    sums: dict[str, float] = defaultdict(float)
    earlier: list[list[Message]] = []
    task = next(message.text for message in run if message.role == "user")
    for at, used in questions(run, common):
        sent = list(send(run[:at]))
        costs = [cost(message, count) for message in sent]
        same = max((sum(1 for _ in takewhile(bool, map(eq, each, sent))) for each in earlier), default=0)
        earlier.append(sent)
        cached, total, prompt = sum(costs[:same]), sum(costs), "\n".join(map(text_of, sent))
        facts = {"calls": 1, "tokens": total, "task": task in prompt, "over": total > budget}
        for name, figure in (*facts.items(), ("cost", READ * cached + WRITE * (total - cached))):
            sums[name] += figure
        for name, needed in (("recall", used), ("far", {value for value, far in used.items() if far})):
            if needed:
                sums[f"{name}_calls"] += 1
                sums[name] += sum(value in prompt for value in needed) / len(needed)
    return sums


def rows(runs: Sequence[Recorded], budget: int, names: Iterable[str], count: Any) -> list[Row]:
    """Return a row for each policy; the first one, which sends everything, has the cost 1.00."""
    table: list[Row] = []
    base = 0.0
    for policy in names:
        sums: dict[str, float] = defaultdict(float)
        for run, common in runs:
            for key, figure in measure(run, common, POLICIES[policy](budget, count), budget, count).items():
                sums[key] += figure
        calls = sums["calls"]
        base = base or sums["cost"]
        table.append(
            {
                "policy": policy,
                "tokens": round(sums["tokens"] / calls),
                "$": f"{sums['cost'] / base:.2f}",
                **{name: 100.0 * sums[name] / max(1, sums[f"{name}_calls"]) for name in ("recall", "far")},
                **{name: 100.0 * sums[name] / calls for name in ("task", "over")},
            }
        )
    return table


def bills(runs: Sequence[Recorded], budget: int, names: Iterable[str], count: Any) -> list[Row]:
    """Return a row for each policy: its cost of a run as a ratio to everything, and to ``cache`` uncompressed."""
    costs = {
        name: [measure(run, (), POLICIES[name](budget, count), budget, count)["cost"] for run, _ in runs]
        for name in names
    }
    table = []
    for name, paid in costs.items():
        row = {"policy": name}
        for base in ("everything", "cache"):
            ratios = [each / other for each, other in zip(paid, costs[base], strict=True)]
            row |= {f"$ / {base}, mean": f"{mean(ratios):.2f}", f"$ / {base}, worst": f"{max(ratios):.2f}"}
        table.append(row)
    return table


def times(run: Sequence[Message], budget: int, names: Iterable[str], count: int) -> list[Row]:
    """Return a row for each policy: the CPU time of so many newest calls, in ms and as a ratio to the first policy.

    As many calls are made before, so that what a policy keeps of a thread is warm. Policies take turns.
    """
    calls = [at for at, message in enumerate(run) if message.role == "assistant"][-2 * count :]
    sends = {name: POLICIES[name](budget, None) for name in names}
    spent = [{name: cpu_ms(send, run[:at]) for name, send in sends.items()} for at in calls][-count:]
    table: list[Row] = []
    for name in sends:
        each = [call[name] for call in spent]
        middle, high = median(each), quantiles(each, n=20)[-1]
        base = table[0] if table else {"median": middle, "p95": high}
        ratios = {"ratio": f"{middle / base['median']:.2f}", "p95 ratio": f"{high / base['p95']:.2f}"}
        table.append({"policy": name, "median": middle, "p95": high, **ratios})
    return table


class Group(NamedTuple):
    """Runs of one kind in one form, the budgets to measure them at, and the function that does."""

    kind: str
    name: str
    budgets: Sequence[int]
    form: Callable[[Sequence[Message]], Sequence[Message]] = list
    table: Callable[..., list[Row]] = rows


GROUPS: Mapping[str, Group] = {
    "tau": Group("chat", "tau-bench chats", (3_000, 8_000)),
    "six": Group("six", "times six tau-bench chats in a row", (3_000, 8_000)),
    "run": Group("run", "coding runs", (4_000, 8_000, 16_000)),
    "native": Group("run", "coding runs, observations as the user", (4_000, 8_000), observed_by_user),
    "short": Group("run", "coding runs cut to 12 rounds", (4_000, 8_000, 16_000), first_rounds, bills),
}
TIMES = {"run": ("assistant", 150, "100 to 150 rounds"), "chat": ("user", 1_025, "about 1,000 older turns")}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options(__doc__, data="agents/*.jsonl", counter="cl100k")
    parser.add_argument("--group", choices=(*GROUPS, "time"), help="one group alone")
    chosen = parser.parse_args(arguments)
    count = counter(chosen.counter)
    names = [name for name in POLICIES if not chosen.ours_only or name in ("everything", *OURS)]
    runs, tables = read_runs(chosen.data), {}
    for key, group in GROUPS.items():
        recorded = runs[group.kind]
        if recorded and chosen.group in (None, key):
            step = max(1, len(recorded) // QUICK) if chosen.quick else 1
            sample = [each._replace(messages=group.form(each.messages)) for each in recorded[::step]]
            for budget in group.budgets:
                tables[f"{len(sample)} {group.name}, {budget:,} tokens"] = group.table(sample, budget, names, count)
    for kind, (role, length, past) in TIMES.items():
        if runs[kind] and chosen.group in (None, "time"):
            timed = [name for name in (PEER, *OURS) if name in names]
            table = times(joined(runs[kind], role, length), 8_000, timed, TIMED // 10 if chosen.quick else TIMED)
            tables[f"CPU ms of a call: {past}, 8,000 tokens"] = table
    report(chosen, "agent_runs", tables)


if __name__ == "__main__":
    main()
