"""Ways to make the prompt of each call of a conversation: what is sent, and where the cache marks stand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.cost_account import Prompt
from benchmarks.cost_hindsight import hindsight
from benchmarks.cost_policy import policy
from benchmarks.cost_workbench import Way
from gatekeeper_core.context.history.view import keep

if TYPE_CHECKING:
    from benchmarks.cost_account import Setting
    from benchmarks.cost_workbench import Workbench
    from gatekeeper_core.messages import Message

__all__ = ["EVERYTHING", "HINDSIGHT", "OURS", "WAYS"]

EVERYTHING = "everything"
"""The way that all others are held against."""

WINDOW_UNITS = 10
SUMMARY_TOKENS = 400
SUMMARY_INSTRUCTION_TOKENS = 200


def everything(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send all there is; the mark at the end of each prompt is where the next one finds it."""
    return [bench.prompt(range(call.stop)) for call in bench.talk.calls]


def sliding_window(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send the newest ten turns before the question, in runs of an agent the newest ten rounds."""
    return [bench.prompt(bench.newest(call, WINDOW_UNITS + 1)) for call in bench.talk.calls]


def halved_window(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send everything since the last cut; where it is over the limit, cut to the newest half of the limit."""
    prompts, dropped = list[Prompt](), 0
    for call in bench.talk.calls:
        count = sum(at < call.stop for at in bench.units)
        prompt = bench.prompt(bench.newest(call, count - dropped))
        if prompt.tokens > bench.limit:
            while prompt.tokens > bench.limit // 2 and dropped < count - 1:
                dropped += 1
                prompt = bench.prompt(bench.newest(call, count - dropped))
        prompts.append(prompt)
    return prompts


def summarised(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send everything since the last summary behind it; over the limit, all but the newest ten units are summarised.

    The summary is made by a call of its own, which reads the old summary and what it is to stand for, uncached.
    """
    prompts, dropped, summaries = list[Prompt](), 0, 0
    for call in bench.talk.calls:
        count = sum(at < call.stop for at in bench.units)
        positions, side = bench.newest(call, count - dropped), (0, 0)
        if sum(bench.whole[at][1] for at in positions) > bench.limit and count - dropped > WINDOW_UNITS + 1:
            dropped, summaries = count - WINDOW_UNITS - 1, summaries + 1
            left = bench.newest(call, WINDOW_UNITS + 1)
            read = sum(bench.whole[at][1] for at in set(positions).difference(left))
            side = read + SUMMARY_INSTRUCTION_TOKENS + SUMMARY_TOKENS * (summaries > 1), SUMMARY_TOKENS
            positions = left
        prompt = bench.prompt(positions)._replace(side=side)
        if summaries:
            summary = b"summary %d" % summaries, SUMMARY_TOKENS
            prompt = prompt._replace(pieces=[summary, *prompt.pieces], marks=(len(positions),))
        prompts.append(prompt)
    return prompts


def trimmed(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send what ``trim_messages`` leaves at the settings of its documentation: the newest messages, from a human one.

    Where a run of an agent is longer than the limit that leaves nothing; then the start may be any message.
    """
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, trim_messages

    def translated(at: int, message: Message) -> BaseMessage:
        if message.role == "user":
            return HumanMessage(message.text, id=str(at))
        if message.role == "tool":
            return ToolMessage(message.text, tool_call_id=message.tool_call_id or "", id=str(at))
        calls = [{"id": call.id, "name": call.name, "args": {"read": call.arguments}} for call in message.tool_calls]
        return AIMessage(message.text, tool_calls=calls, id=str(at))

    def cost(messages: list[BaseMessage]) -> int:
        return sum(bench.whole[int(message.id or 0)][1] for message in messages)

    given = [translated(at, message) for at, message in enumerate(bench.talk.messages)]
    settings: dict[str, Any] = {"strategy": "last", "max_tokens": bench.limit, "token_counter": cost}
    prompts = []
    for call in bench.talk.calls:
        left = trim_messages(given[: call.stop], start_on="human", end_on=("human", "tool"), **settings)
        left = left or trim_messages(given[: call.stop], **settings)
        prompts.append(bench.prompt(int(message.id or 0) for message in left))
    return prompts


def selected(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send what the selection without a state keeps; only the fixed part is marked."""
    prompts = []
    for call, view in zip(bench.talk.calls, bench.stateless, strict=True):
        sent = [bench.pieces.of(message) for message in keep(bench.talk.prompt(call), view)]
        prompts.append(Prompt(sent, (), frozenset(view.turns)))
    return prompts


def selected_and_marked(bench: Workbench, setting: Setting) -> list[Prompt]:
    """Send the same, with a mark at the end of each prompt, as a middleware for caching puts it."""
    return [prompt._replace(marks=(len(prompt.pieces) - 1,)) for prompt in selected(bench, setting)]


OURS = (
    Way("selection, as sent", selected_and_marked),
    Way("selection, fixed part marked", selected),
    Way("cache", partial(policy, strategy="cache"), knows_prices=True),
    Way(
        "cache, results put aside",
        partial(policy, strategy="cache", puts_aside=True),
        knows_prices=True,
        corpora=("agent",),
    ),
    Way("gate", partial(policy, strategy="gate"), knows_prices=True),
)
HINDSIGHT = Way("hindsight", hindsight, knows_prices=True, corpora=("session", "locomo"))
WAYS = (
    Way(EVERYTHING, everything),
    Way("sliding window", sliding_window),
    Way("window cut to half", halved_window),
    Way("trim_messages", trimmed, package="langchain_core"),
    Way("summary at a limit", summarised),
    *OURS,
)
