"""Random agents and edits: is any call over the promise, by a model of the cache that shares nothing with the policy?

Run ``python -m benchmarks.cost --agents 5000 --seed 0``. Agent ``n`` is a seed: its model, its tools and its user's
habits are drawn from it. A script asks new things, goes back to old ones, calls tools whose results have 3 to 6,000
words, pauses until the cache is cold, edits the last question, goes back some turns, forks, and goes on in the branch
before. Each call goes through ``select_history`` with the state of the call before, and is paid beside sending
everything, by :class:`PrefixCache`. Everything fits the budget.

``--agents 1 --seed N`` prints each call of one agent.
"""

from __future__ import annotations

import math
import random
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.cost_account import Piece, Pieces
from benchmarks.report import Row, Tables, print_table
from gatekeeper_core import ContextGatekeeper, HistoryConfig, ThreadState, keep, prices_of_model, select_history
from gatekeeper_core.context.history.cache_marks import plan_marks
from gatekeeper_core.messages import Message, ToolCall
from gatekeeper_core.pricing.prices import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gatekeeper_core import HistoryView
    from gatekeeper_core.pricing.prices import ModelPrices


MODELS = ("claude-sonnet-4-5", "gpt-4.1", "gpt-5.2", "gemini-2.5-flash", "deepseek-chat", "unknown")
PROMISE = 1.02
ROOM = 10_000_000
LISTED = 30
"""Agents over the promise that are listed."""

EDITS = ("edit", "back two", "fork", "other branch")
"""The last question is sent again in other words; the last two turns go; all from some turn on; back to before that."""

WORST = {"worst": "paid", "worst by account": "account"}

_LOOKED_BACK = 20
"""Pieces before a mark where a prefix is looked for. Source: Anthropic, "Prompt caching"."""

_THINGS = ("redis", "port", "bread", "oven", "crane", "pump", "valve", "lisbon", "hotel", "tax", "form", "piano")


class PrefixCache:
    """A provider's prompt cache: hashes of the beginnings of prompts, each with the time of its last use."""

    def __init__(self, prices: ModelPrices) -> None:
        self._prices = prices
        self._used: dict[int, float] = {}

    def dollars(self, pieces: Sequence[Piece], marks: Iterable[int], *, now: float) -> float:
        """Return what a prompt costs, and remember it; ``marks`` count where only marked beginnings are cached."""
        prices, sizes = self._prices, list(accumulate(tokens for _, tokens in pieces))
        names = list(accumulate((digest for digest, _ in pieces), lambda name, digest: hash((name, digest)), initial=0))
        places = sorted(marks) if prices.marked else range(len(pieces))
        ends = [at for at in places if prices.min_cached_tokens and sizes[at] >= prices.min_cached_tokens]
        before = _LOOKED_BACK if prices.marked else 1
        searched = sorted({at for end in ends for at in range(max(0, end - before + 1), end + 1)})
        alive = [at for at in searched if now - self._used.get(names[at + 1], -math.inf) <= prices.lifetime_seconds]
        read = sizes[alive[-1]] // prices.step_tokens * prices.step_tokens if alive else 0
        written = sizes[ends[-1]] if ends else 0
        self._used.update((names[at + 1], now) for at in (*ends, *alive[-1:]))
        parts = read * prices.cache_read, (written - read) * prices.cache_write, (sizes[-1] - written) * prices.input
        return sum(parts) / 1_000_000


class Request(NamedTuple):
    """One call of an agent's model: what happened before it, all messages, the time, and the step of its run."""

    event: str
    messages: tuple[Message, ...]
    now: float
    step: int


def script(seed: int) -> Iterator[Request]:
    """Yield the calls of a random agent."""
    draw = random.Random(f"agent {seed}")
    edits, cold, back = draw.choice((0, 0, 0.1, 0.3)), draw.choice((0, 0.03, 0.1, 0.3)), draw.choice((0.1, 0.4))
    tools, rounds, largest = draw.choice((0, 0.1, 0.7)), draw.choice((1, 4, 15)), draw.choice((60, 1000, 12_000))
    answer = draw.choice((20, 80, 300, 1200))
    messages, branch, now = list[Message](), list[Message](), 0.0
    for turn in range(draw.choice((12, 25, 60))):
        questions = [at for at, message in enumerate(messages) if message.role == "user"]
        event = "question"
        if questions and draw.random() < edits:
            event = draw.choice(EDITS)
            before = messages
            since = {"edit": questions[-1], "back two": questions[-2:][0], "fork": draw.choice(questions)}
            messages = messages[: since[event]] if event in since else branch
            branch = before
        is_cold = draw.random() < cold
        now += draw.uniform(310, 5000) if is_cold else draw.uniform(5, 120)
        messages = [*messages, Message("user", _question(messages, turn, draw, back))]
        event += ", cold" if is_cold else ""
        for step in range(1 + (draw.randint(1, rounds) if draw.random() < tools else 0)):
            if step:
                count = draw.choice((1, 1, 3))
                calls = [ToolCall(f"{turn}-{step}-{at}", "read", f'{{"page": {at}}}') for at in range(count)]
                messages.append(Message("assistant", "", tool_calls=tuple(calls)))
                sizes = [round(math.exp(draw.uniform(1, math.log(largest)))) for _ in calls]
                results = zip([_words(draw, size) for size in sizes], calls, strict=True)
                messages += [Message("tool", text, tool_call_id=call.id) for text, call in results]
                now += draw.uniform(2, 20)
            yield Request(event if not step else "step", tuple(messages), now, step)
        messages.append(Message("assistant", f"Noted {turn}: {_words(draw, draw.randint(1, 2 * answer))}"))


def _question(messages: Sequence[Message], turn: int, draw: random.Random, back: float) -> str:
    """Return a question to something new, or to what an earlier question was about."""
    openings = [message.text for message in messages if message.role == "user" and ":" in message.text]
    if openings and draw.random() < back:
        return "Back to" + draw.choice(openings).partition(":")[2].replace("?", "") + ", what was it again?"
    if openings and draw.random() < 0.3:
        return "And why is that?"
    return f"New topic: the {draw.choice(_THINGS)} {turn} of {draw.choice(_THINGS)}{turn}?"


def _words(draw: random.Random, count: int) -> str:
    """Return so many words, the same dozen over and over."""
    some = [f"{draw.choice(_THINGS)}{draw.randrange(99)}" for _ in range(12)]
    return " ".join((some * (count // 12 + 1))[:count])


# --- paid -----------------------------------------------------------------------------------------------------------


class PaidCall(NamedTuple):
    """One call, paid.

    ``paid`` is all calls so far to the price of everything, by the cache model; ``account`` by the library's account.
    """

    seed: int
    model: str
    call: int
    event: str
    step: int
    action: str
    reason: str
    recalled: int
    tokens: int
    everything: int
    paid: float
    account: float


def paid_calls(seed: int) -> Iterator[PaidCall]:
    """Yield each call of an agent, paid by the cache model."""
    model, fixed = MODELS[seed % len(MODELS)], random.Random(f"fixed {seed}").choice((200, 600, 1500, 4000))
    prices = prices_of_model(model)
    config, gatekeeper = HistoryConfig(token_budget=ROOM, prices=prices), ContextGatekeeper(token_counter=_count)
    ours, theirs = (PrefixCache(prices or UNKNOWN) for _ in range(2))
    pieces, paid, everything = Pieces(_count), 0.0, 0.0
    state, view = ThreadState(), None
    for number, (event, messages, now, step) in enumerate(script(seed), 1):
        view = select_history(messages, gatekeeper=gatekeeper, config=config, fixed_tokens=fixed, state=state.at(now))
        state, bill = view.state or state, view.bill
        assert bill is not None
        sent = keep(messages, view)
        prompts = [[(b"fixed", fixed), *map(pieces.of, each)] for each in (sent, messages)]
        paid += ours.dollars(prompts[0], [0, *_marks(sent, view)], now=now)
        everything += theirs.dollars(prompts[1], [0, len(messages)], now=now)
        sent_tokens, all_tokens = (sum(tokens for _, tokens in prompt) for prompt in prompts)
        done = bill.action, bill.reason, len(bill.recalled)
        ratios = paid / everything, bill.paid / bill.everything_paid
        yield PaidCall(seed, model, number, event, step, *done, sent_tokens, all_tokens, *ratios)


def _count(text: str) -> int:
    return (len(text) + 3) // 4


def _marks(sent: Sequence[Message], view: HistoryView) -> list[int]:
    """Return behind which pieces of a prompt the marks go that the library advises."""
    spoken = [at for at, message in enumerate(sent) if message.role == "assistant"]
    plan = plan_marks(view, blocks=[1] * len(sent), answered=spoken[-1] if sent[-1].role == "tool" else None)
    places = (plan.body, len(sent) - 1 if plan.end else None, plan.between)
    return [place + 1 for place in places if place is not None]


# --- the tables -----------------------------------------------------------------------------------------------------


def agent_tables(seeds: Iterable[int]) -> Tables:
    """Return how often and how far agents are over the promise, by model and by kind, and those that are over it."""
    agents = [list(paid_calls(seed)) for seed in seeds]
    models, kinds = dict[str, list[list[PaidCall]]](), dict[str, list[list[PaidCall]]]()
    for agent in agents:
        models.setdefault(agent[0].model, []).append(agent)
        events = {call.event.partition(",")[0] for call in agent}
        edits = "edits" if events & {*EDITS} else "no edits"
        kinds.setdefault(f"{'tools' if 'step' in events else 'no tools'}, {edits}", []).append(agent)
    over = filter(None, map(_first_over, agents))
    return {
        "models": [_row("model", name, models[name]) for name in MODELS if name in models],
        "kinds": [_row("kind", name, kinds[name]) for name in sorted(kinds)],
        "over": sorted(over, key=lambda row: row["call"]),
    }


def _row(group: str, name: str, agents: Sequence[Sequence[PaidCall]]) -> Row:
    return {
        group: name,
        "agents": len(agents),
        "calls": sum(map(len, agents)),
        f"agents over {PROMISE}, %": 100 * sum(_first_over(agent) is not None for agent in agents) / len(agents),
        **_worst([call for agent in agents for call in agent]),
        "mean at the end": f"{sum(agent[-1].paid for agent in agents) / len(agents):.2f}",
    }


def _first_over(agent: Sequence[PaidCall]) -> Row | None:
    """Return the first call of an agent over the promise, the last edits before it, and the worst of all its calls."""
    call = next((call for call in agent if call.paid > PROMISE), None)
    if call is None:
        return None
    edits = [f"{each.event} ({each.call})" for each in agent[: call.call] if each.event.startswith(EDITS)]
    return {**_shown(call), **_worst(agent), "last edits": ", ".join(edits[-3:])}


def _worst(calls: Sequence[PaidCall]) -> Row:
    return {name: f"{max(getattr(call, at) for call in calls):.3f}" for name, at in WORST.items()}


def _shown(call: PaidCall) -> Row:
    return {**call._asdict(), "paid": f"{call.paid:.3f}", "account": f"{call.account:.3f}"}


def print_agents(first: int, count: int, *, markdown: bool) -> Tables:
    """Print the tables of so many agents from a seed on, of a single one each of its calls; return them."""
    tables = agent_tables(range(first, first + count))
    titles = {
        "models": f"Agents {first} to {first + count - 1}: bills beside those of sending everything",
        "kinds": "By kind",
        "over": f"First calls over {PROMISE}, the earliest first, at most {LISTED} of {len(tables['over'])}",
    }
    if count == 1:
        tables["calls"], titles["calls"] = list(map(_shown, paid_calls(first))), "Each call"
    for name, title in titles.items():
        print_table(title, tables[name][:LISTED] if name == "over" else tables[name], markdown=markdown)
    return tables
