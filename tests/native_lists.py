"""Random conversations of agents, written in the format of each provider, and each provider's rules for them.

The rules are the providers' own, as their API references state them, checked on the dicts; nothing of the library is
used.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Items = list[dict[str, Any]]

TOPICS = (
    "How do I set the timeout of the cache?",
    "缓存的超时时间怎么设置？",
    "Redis 端口 6380 在哪里配置？",
    "Who wrote the report about the bridge?",
    "面包要烤多久？",
)


class Call(NamedTuple):
    """One call of a tool with its result."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: str


class Round(NamedTuple):
    """What the model says and calls at once; what the user adds beside the results."""

    thought: str
    text: str
    calls: tuple[Call, ...]
    added: str


class Asked(NamedTuple):
    """A question with the rounds of tools that it takes, and the answer; "" where none has come yet."""

    question: str
    rounds: tuple[Round, ...]
    answer: str


def talk(seed: int) -> list[Asked]:
    """Return a random conversation; the last question is open."""
    chance = random.Random(seed)
    turns, number = [], 0
    for place in range(chance.randint(1, 7)):
        rounds = []
        for _ in range(chance.choice((0, 0, 1, 2, 5))):
            calls = []
            for _ in range(chance.choice((1, 1, 2, 3))):
                number += 1
                result = f"{chance.choice(TOPICS)} line {number}\n" * chance.choice((1, 1, 40))
                calls.append(
                    Call(f"call_{number}", f"tool_{chance.randint(1, 3)}", {"n": number, "路径": "文件"}, result)
                )
            thought = f"thinking {number}" if chance.random() < 0.5 else ""
            added = "Be quick." if chance.random() < 0.2 else ""
            rounds.append(Round(thought, chance.choice(("", f"Step {number}.")), tuple(calls), added))
        answer = f"Answer {place}: {chance.choice(TOPICS)} " * chance.choice((1, 3, 60))
        turns.append(Asked(f"{place}: {chance.choice(TOPICS)}", tuple(rounds), answer))
    open_rounds = turns[-1].rounds if chance.random() < 0.5 else ()
    turns[-1] = turns[-1]._replace(answer="", rounds=open_rounds)
    return turns


def as_chat(turns: Sequence[Asked]) -> Items:
    """Return OpenAI chat messages; what is added beside results cannot be said in them."""
    items: Items = [{"role": "developer", "content": "Be brief."}]
    for turn in turns:
        items.append({"role": "user", "content": [{"type": "text", "text": turn.question}]})
        for one in turn.rounds:
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for call in one.calls
            ]
            reasoning = {"reasoning_content": one.thought} if one.thought else {}
            items.append({"role": "assistant", "content": one.text or None, "tool_calls": calls, **reasoning})
            items += ({"role": "tool", "tool_call_id": call.id, "content": call.result} for call in one.calls)
        if turn.answer:
            items.append({"role": "assistant", "content": turn.answer})
    return items


def as_responses(turns: Sequence[Asked]) -> Items:
    """Return Responses items: a call at a time, reasoning before what it led to."""
    items: Items = [{"role": "developer", "content": "Be brief."}]
    for turn in turns:
        items.append({"role": "user", "content": [{"type": "input_text", "text": turn.question}]})
        for number, one in enumerate(turn.rounds):
            if one.thought:
                items.append(
                    {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": one.thought}
                )
            if one.text:
                items.append({"role": "assistant", "content": [{"type": "output_text", "text": one.text}]})
            items += (
                {
                    "type": "function_call",
                    "call_id": call.id,
                    "name": call.name,
                    "arguments": json.dumps(call.arguments),
                }
                for call in one.calls
            )
            items += ({"type": "function_call_output", "call_id": call.id, "output": call.result} for call in one.calls)
        if turn.answer:
            items.append(
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": turn.answer}]}
            )
    return items


def as_anthropic(turns: Sequence[Asked]) -> Items:
    """Return Anthropic messages: signed thinking, results in one message of the user, with what the user adds."""
    items: Items = []
    for turn in turns:
        items.append({"role": "user", "content": [{"type": "text", "text": turn.question}]})
        for one in turn.rounds:
            said: Items = [{"type": "thinking", "thinking": one.thought, "signature": "c2ln"}] if one.thought else []
            said += [{"type": "text", "text": one.text}] if one.text else []
            said += (
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in one.calls
            )
            items.append({"role": "assistant", "content": said})
            told: Items = [
                {"type": "tool_result", "tool_use_id": call.id, "content": call.result} for call in one.calls
            ]
            told += [{"type": "text", "text": one.added}] if one.added else []
            items.append({"role": "user", "content": told})
        if turn.answer:
            items.append({"role": "assistant", "content": turn.answer})
    return items


def as_gemini(turns: Sequence[Asked]) -> Items:
    """Return Gemini contents: calls without ids, the first of a round signed."""
    items: Items = []
    for turn in turns:
        items.append({"role": "user", "parts": [{"text": turn.question}]})
        for one in turn.rounds:
            said: Items = [{"text": one.text}] if one.text else []
            calls: Items = [{"functionCall": {"name": call.name, "args": call.arguments}} for call in one.calls]
            if one.thought:
                calls[0]["thoughtSignature"] = "c2ln"
            items.append({"role": "model", "parts": said + calls})
            told: Items = [
                {"functionResponse": {"name": call.name, "response": {"result": call.result}}} for call in one.calls
            ]
            told += [{"text": one.added}] if one.added else []
            items.append({"role": "user", "parts": told})
        if turn.answer:
            items.append({"role": "model", "parts": [{"text": turn.answer}]})
    return items


def chat_faults(items: Items) -> list[str]:
    """Return where OpenAI's chat endpoint would refuse: a call without its results directly behind it, or the reverse."""
    faults, waiting = [], set[str]()
    for at, item in enumerate(items):
        if item["role"] == "tool":
            if item["tool_call_id"] not in waiting:
                faults.append(f"{at}: no call {item['tool_call_id']} before")
            waiting.discard(item["tool_call_id"])
            continue
        if waiting:
            faults.append(f"{at}: results are missing for {sorted(waiting)}")
        waiting = {call["id"] for call in item.get("tool_calls") or ()}
    return faults + [f"end: results are missing for {sorted(waiting)}"] * bool(waiting)


def responses_faults(items: Items) -> list[str]:
    """Return where the Responses endpoint would refuse: an output without its call, a call without an output, reasoning
    without the item that it led to.
    """
    faults, calls, outputs = [], set[str](), set[str]()
    for at, item in enumerate(items):
        kind = item.get("type")
        if kind == "function_call":
            calls.add(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] not in calls:
                faults.append(f"{at}: no call {item['call_id']} before")
            outputs.add(item["call_id"])
        elif kind == "reasoning":
            after = items[at + 1] if at + 1 < len(items) else {}
            if after.get("type") != "function_call" and after.get("role") != "assistant":
                faults.append(f"{at}: reasoning without its following item")
    return faults + [f"no output for {call}" for call in sorted(calls - outputs)]


def anthropic_faults(items: Items) -> list[str]:
    """Return where Anthropic would refuse: results that are not at the head of the message behind their calls, a first
    message that is not the user's, thinking behind something else.
    """
    faults = [] if not items or items[0]["role"] == "user" else ["0: the first message is not the user's"]
    waiting: list[str] = []
    for at, item in enumerate(items):
        blocks = item["content"] if isinstance(item["content"], list) else [{"type": "text", "text": item["content"]}]
        kinds = [block["type"] for block in blocks]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(answered) != sorted(waiting):
            faults.append(f"{at}: results for {answered}, calls {waiting}")
        if "tool_result" in kinds[len(answered) :]:
            faults.append(f"{at}: results behind other blocks")
        if not blocks:
            faults.append(f"{at}: no content")
        if "thinking" in kinds[1:]:
            faults.append(f"{at}: thinking does not come first")
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
    return faults + [f"end: no results for {waiting}"] * bool(waiting)


def gemini_faults(items: Items) -> list[str]:
    """Return where Gemini would refuse: as many responses as calls directly behind them, a call behind a user's turn."""
    faults = [] if not items or items[0]["role"] == "user" else ["0: the first content is not the user's"]
    calls: list[str] = []
    before = ""
    for at, item in enumerate(items):
        names = [part["functionResponse"]["name"] for part in item["parts"] if "functionResponse" in part]
        if sorted(names) != sorted(calls):
            faults.append(f"{at}: responses {names}, calls {calls}")
        calls = [part["functionCall"]["name"] for part in item["parts"] if "functionCall" in part]
        if calls and before != "user":
            faults.append(f"{at}: a call does not follow a turn of the user")
        if not item["parts"]:
            faults.append(f"{at}: no parts")
        before = item["role"]
    return faults + [f"end: no responses for {calls}"] * bool(calls)


class Native(NamedTuple):
    """A format: how it is written, and what its provider refuses."""

    name: str
    write: Callable[[Sequence[Asked]], Items]
    faults: Callable[[Items], list[str]]


FORMATS = (
    Native("OpenAI chat messages", as_chat, chat_faults),
    Native("OpenAI Responses items", as_responses, responses_faults),
    Native("Anthropic messages", as_anthropic, anthropic_faults),
    Native("Gemini contents", as_gemini, gemini_faults),
)
