"""Random conversations of agents, written in the format of each provider, and each provider's rules for them.

The rules are the providers' own, as their API references state them, checked on the dicts; nothing of the library is
used. ``tests/strict_server.py`` refuses by the same rules.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tests.case_files import rows

Items = list[dict[str, Any]]
Carried = dict[tuple[str, str], Any]
"""What must come back with what it came with, byte for byte: ("signed" or "mark", a call's id or a text) to a value."""

[TOPICS] = rows("native_lists", "topics")


EPHEMERAL = {"type": "ephemeral"}
MARKS_AT_MOST = 4
"""How many marks of the cache one request may have. Source: Anthropic on prompt caching."""
LIFETIMES = {"5m": 300.0, "1h": 3600.0}
"""How long Anthropic keeps a prefix that nobody uses, in seconds, by the ``ttl`` of its mark. Source: the same."""


class Call(NamedTuple):
    """One call of a tool with its result."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: str


class Round(NamedTuple):
    """What the model says at once, and calls; what the user adds beside the results, which may be cached."""

    thought: str
    text: str
    calls: tuple[Call, ...] = ()
    added: str = ""
    cached: bool = False


class NativeTurn(NamedTuple):
    """A question, which may be cached, with the rounds of tools that it takes, and the answer, a round without calls.

    The answer is None where none has come: the question is open, or was given up.
    """

    question: str
    rounds: tuple[Round, ...]
    answer: Round | None
    cached: bool = False


def talk(seed: int) -> list[NativeTurn]:
    """Return a random conversation; the last question is open, and now and then one before it was given up."""
    chance = random.Random(seed)
    turns, number, marks = [], 0, 0
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
            cached = marks < MARKS_AT_MOST and chance.random() < 0.1
            marks += cached
            rounds.append(Round(thought, chance.choice(("", f"Step {number}.")), tuple(calls), added, cached))
        thought = f"thinking of answer {place}" if chance.random() < 0.5 else ""
        answer = Round(thought, f"Answer {place}: {chance.choice(TOPICS)} " * chance.choice((1, 3, 60)))
        cached = marks < MARKS_AT_MOST and chance.random() < 0.3
        marks += cached
        given_up = chance.random() < 0.1
        turns.append(
            NativeTurn(f"{place}: {chance.choice(TOPICS)}", tuple(rounds), None if given_up else answer, cached=cached)
        )
    open_rounds = turns[-1].rounds if chance.random() < 0.5 else ()
    turns[-1] = turns[-1]._replace(answer=None, rounds=open_rounds)
    return turns


def script_of(turns: Sequence[NativeTurn]) -> list[Round | None]:
    """Return what the model says in a conversation, in order; None where a question was given up."""
    return [one for turn in turns for one in (*turn.rounds, turn.answer)]


def without_thoughts(turns: Sequence[NativeTurn]) -> list[NativeTurn]:
    """Return a conversation with a model that does not reason."""
    return [
        turn._replace(
            rounds=tuple(one._replace(thought="") for one in turn.rounds),
            answer=turn.answer and turn.answer._replace(thought=""),
        )
        for turn in turns
    ]


def signature(thought: str) -> str:
    """Return the signature under a thought, as base64."""
    return base64.b64encode(hashlib.sha256(thought.encode()).digest()).decode("ascii")


class Native(NamedTuple):
    """A format: how it is written, and what its provider refuses.

    Attributes:
        name: as the library calls it.
        head: what comes before the first question.
        question: returns the item of a question.
        answer: returns the items of what the model says.
        results: returns the items of the results.
        faults: returns where the provider would refuse a list.
        carried: returns what is signed and marked in a list, by what it must come back with.
    """

    name: str
    head: Items
    question: Callable[[NativeTurn], dict[str, Any]]
    answer: Callable[[Round], Items]
    results: Callable[[Round], Items]
    faults: Callable[[Items], list[str]]
    carried: Callable[[Items], Carried]

    def write(self, turns: Sequence[NativeTurn]) -> Items:
        """Return a conversation."""
        items = [*self.head]
        for turn in turns:
            items.append(self.question(turn))
            for one in turn.rounds:
                items += self.answer(one)
                items += self.results(one)
            items += self.answer(turn.answer) if turn.answer else ()
        return items

    def changes(self, items: Items, issued: Carried) -> list[str]:
        """Return where something signed or marked is not what was issued with the call or the text that it is with.

        A text that was not issued (a summary, one that was cut) carries no signature. A mark may be added.
        """
        return [
            f"{kind} with {key!r:.60} came back as {value!r:.200}, issued was {issued.get((kind, key))!r:.200}"
            for (kind, key), value in self.carried(items).items()
            if (value != issued.get((kind, key)) if issued.get((kind, key)) else kind == "signed" and value)
        ]


# --- OpenAI chat


def chat_question(turn: NativeTurn) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": turn.question}]}


def chat_answer(one: Round) -> Items:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for call in one.calls
    ]
    reasoning = {"reasoning_content": one.thought} if one.thought else {}
    called = {"tool_calls": calls} if calls else {}
    return [{"role": "assistant", "content": one.text or None, **called, **reasoning}]


def chat_results(one: Round) -> Items:
    """Return the results; what is added beside them cannot be said."""
    return [{"role": "tool", "tool_call_id": call.id, "content": call.result} for call in one.calls]


def chat_faults(items: Items) -> list[str]:
    """Return where OpenAI's chat endpoint would refuse: a call without its results directly behind it, or the reverse.

    That the user begins is a rule of many that speak the same format.
    """
    faults = _opening_faults([item["role"] for item in items], ("system", "developer"))
    seen, waiting = set[str](), set[str]()
    for at, item in enumerate(items):
        if item["role"] == "tool":
            if item["tool_call_id"] not in waiting:
                faults.append(f"{at}: no call {item['tool_call_id']} before")
            waiting.discard(item["tool_call_id"])
            continue
        if waiting:
            faults.append(f"{at}: results are missing for {sorted(waiting)}")
        calls = [call["id"] for call in item.get("tool_calls") or ()]
        faults += _repeated(at, calls, seen)
        if not item.get("content") and not calls:
            faults.append(f"{at}: neither content nor calls")
        waiting = {*calls}
    return faults + [f"end: results are missing for {sorted(waiting)}"] * bool(waiting)


def chat_carried(items: Items) -> Carried:
    """Return the reasoning beside calls, which DeepSeek and MiniMax want back."""
    return {
        ("signed", call["id"]): item.get("reasoning_content", "")
        for item in items
        for call in item.get("tool_calls") or ()
    }


# --- OpenAI Responses


def responses_question(turn: NativeTurn) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "input_text", "text": turn.question}]}


def responses_answer(one: Round) -> Items:
    """Return items: reasoning before what it led to, a call at a time."""
    items: Items = []
    if one.thought:
        sign = signature(one.thought)
        items.append({"type": "reasoning", "id": f"rs_{sign[:8]}", "summary": [], "encrypted_content": sign})
    if one.text:
        content = [{"type": "output_text", "text": one.text, "annotations": []}]
        items.append({"type": "message", "role": "assistant", "content": content})
    items += (
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": json.dumps(call.arguments)}
        for call in one.calls
    )
    return items


def responses_results(one: Round) -> Items:
    return [{"type": "function_call_output", "call_id": call.id, "output": call.result} for call in one.calls]


def responses_faults(items: Items) -> list[str]:
    """Return where the Responses endpoint would refuse: an output without its call, a call without an output, reasoning
    without the item that it led to. That the user begins is stricter than it is.
    """
    faults = _opening_faults([item.get("role", "assistant") for item in items], ("system", "developer"))
    calls, outputs = set[str](), set[str]()
    for at, item in enumerate(items):
        kind = item.get("type")
        if kind == "function_call":
            faults += _repeated(at, [item["call_id"]], calls)
        elif kind == "function_call_output":
            if item["call_id"] not in calls:
                faults.append(f"{at}: no call {item['call_id']} before")
            faults += _repeated(at, [item["call_id"]], outputs)
        elif kind == "reasoning":
            after = items[at + 1] if at + 1 < len(items) else {}
            if after.get("type") != "function_call" and after.get("role") != "assistant":
                faults.append(f"{at}: reasoning without its following item")
    return faults + [f"no output for {call}" for call in sorted(calls - outputs)]


def responses_carried(items: Items) -> Carried:
    """Return the reasoning before each call and each text that the model wrote in one go."""
    found: Carried = {}
    reasoning: tuple[tuple[str, str], ...] = ()
    for item in items:
        if item.get("type") == "reasoning":
            reasoning = (*reasoning, (item["id"], item.get("encrypted_content")))
        elif item.get("type") == "function_call":
            found["signed", item["call_id"]] = reasoning
        elif item.get("role") == "assistant":
            found["signed", _text_in(item["content"])] = reasoning
        else:
            reasoning = ()
    return found


# --- Anthropic


def anthropic_question(turn: NativeTurn) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": turn.question, **_mark(turn.cached)}]}


def anthropic_answer(one: Round) -> Items:
    """Return a message: thinking signed, or redacted by chance of its signature."""
    content: Items = []
    if one.thought:
        sign = signature(one.thought)
        redacted = {"type": "redacted_thinking", "data": sign}
        content.append(redacted if sign < "V" else {"type": "thinking", "thinking": one.thought, "signature": sign})
    content += [{"type": "text", "text": one.text.strip()}] if one.text else []
    content += ({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in one.calls)
    return [{"role": "assistant", "content": content}]


def anthropic_results(one: Round) -> Items:
    """Return one message of the user with the results, and behind them what the user adds."""
    content: Items = [{"type": "tool_result", "tool_use_id": call.id, "content": call.result} for call in one.calls]
    if one.cached and len(one.calls) == 1:
        content[-1]["content"] = cached_blocks(one.calls[-1].result)
    elif one.cached:
        content[-1]["cache_control"] = EPHEMERAL
    content += [{"type": "text", "text": one.added}] if one.added else []
    return [{"role": "user", "content": content}]


def cached_blocks(result: str) -> Items:
    """Return a result as blocks, its last line in one of its own; the mark stands on the last."""
    *lines, last = result.splitlines(keepends=True)
    texts = ["".join(lines).removesuffix("\n"), last] if lines else [last]
    blocks: Items = [{"type": "text", "text": text} for text in texts]
    blocks[-1]["cache_control"] = EPHEMERAL
    return blocks


def anthropic_faults(items: Items) -> list[str]:
    """Return where Anthropic would refuse: results that are not at the head of the message behind their calls, a first
    message that is not the user's, thinking behind something else, empty text, too many marks of the cache.
    """
    faults = _opening_faults([item["role"] for item in items], ())
    waiting: list[str] = []
    seen = set[str]()
    for at, item in enumerate(items):
        blocks = _blocks(item)
        kinds = [block["type"] for block in blocks]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(answered) != sorted(waiting):
            faults.append(f"{at}: results for {answered}, calls {waiting}")
        if "tool_result" in kinds[len(answered) :]:
            faults.append(f"{at}: results behind other blocks")
        if not blocks or any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            faults.append(f"{at}: no content, or empty text")
        if {"thinking", "redacted_thinking"} & {*kinds[1:]}:
            faults.append(f"{at}: thinking does not come first")
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        faults += _repeated(at, waiting, seen)
    marked = [block["type"] for item in items for block in _blocks(item) for _ in marks_of(block)]
    if len(marked) > MARKS_AT_MOST:
        faults.append(f"more than {MARKS_AT_MOST} blocks with cache_control")
    if {"thinking", "redacted_thinking"} & {*marked}:
        faults.append("cache_control on thinking")
    return faults + [f"end: no results for {waiting}"] * bool(waiting)


def anthropic_request_faults(request: Mapping[str, Any]) -> list[str]:
    """Return where Anthropic would refuse the marks of a request: too many in all, unknown ones, what is cached for an
    hour behind what is cached for minutes.
    """
    system = request.get("system") or ()
    around = [*request.get("tools", ()), *(() if isinstance(system, str) else system)]
    blocks = [*around, *(block for item in request["messages"] for block in _blocks(item))]
    marks = [mark for block in blocks for mark in marks_of(block)]
    marks += [request["cache_control"]] if request.get("cache_control") else []
    lives = [mark.get("ttl", "5m") for mark in marks]
    faults = [f"{len(marks)} marks in a request"] * (len(marks) > MARKS_AT_MOST)
    faults += [
        f"unknown: {mark}"
        for mark in marks
        if mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in LIFETIMES
    ]
    return faults + ["a mark for 1h behind one for 5m"] * (lives != sorted(lives))


def anthropic_carried(items: Items) -> Carried:
    """Return the thinking before each call and each text of the model, and the cache marks of texts and results."""
    found: Carried = {}
    for item in items:
        blocks = _blocks(item)
        thinking = tuple(
            (block.get("thinking"), block.get("signature"), block.get("data"))
            for block in blocks
            if block["type"] in ("thinking", "redacted_thinking")
        )
        for block in blocks:
            if block["type"] == "tool_use":
                found["signed", block["id"]] = thinking
            elif block["type"] == "tool_result":
                found["mark", block["tool_use_id"]] = next(marks_of(block), None)
            elif block["type"] == "text" and item["role"] == "assistant":
                found["signed", block["text"].strip()] = thinking
            elif block["type"] == "text":
                found["mark", block["text"].strip()] = block.get("cache_control")
    return found


# --- Gemini


def gemini_question(turn: NativeTurn) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": turn.question}]}


def gemini_answer(one: Round) -> Items:
    """Return a content: calls without ids, the first of a round signed; the text where there are none."""
    parts: Items = [{"text": one.text}] if one.text else []
    calls: Items = [{"functionCall": {"name": call.name, "args": call.arguments}} for call in one.calls]
    if one.thought:
        (calls or parts)[0]["thoughtSignature"] = signature(one.thought)
    return [{"role": "model", "parts": parts + calls}]


def gemini_results(one: Round) -> Items:
    body: Items = [{"functionResponse": {"name": call.name, "response": {"result": call.result}}} for call in one.calls]
    body += [{"text": one.added}] if one.added else []
    return [{"role": "user", "parts": body}]


def gemini_faults(items: Items) -> list[str]:
    """Return where Gemini would refuse: as many responses as calls directly behind them, a call behind a user's turn."""
    faults = _opening_faults([item["role"] for item in items], ())
    calls: list[str] = []
    before = ""
    for at, item in enumerate(items):
        names = [part["functionResponse"]["name"] for part in item["parts"] if "functionResponse" in part]
        if sorted(names) != sorted(calls):
            faults.append(f"{at}: responses {names}, calls {calls}")
        calls = [part["functionCall"]["name"] for part in item["parts"] if "functionCall" in part]
        if calls and before != "user":
            faults.append(f"{at}: a call does not follow a turn of the user")
        if not item["parts"] or {} in item["parts"]:
            faults.append(f"{at}: no parts, or an empty one")
        before = item["role"]
    return faults + [f"end: no responses for {calls}"] * bool(calls)


def gemini_carried(items: Items) -> Carried:
    """Return the signature of each call and each text of the model; clients write base64 in either alphabet."""
    found: Carried = {}
    for item in items:
        for part in item["parts"] if item["role"] == "model" else ():
            call = part.get("functionCall")
            key = json.dumps([call["name"], call.get("args")], sort_keys=True) if call else part.get("text", "").strip()
            sign = part.get("thoughtSignature", "").replace("-", "+").replace("_", "/")
            found["signed", key] = "" if sign == "skip/thought/signature/validator" else sign  # nothing was signed
    return found


def _opening_faults(roles: Sequence[str], before: Sequence[str]) -> list[str]:
    first = next((role for role in roles if role not in before), "user")
    return [] if first == "user" else [f"the first message is not the user's but of the role {first}"]


def _repeated(at: int, ids: Sequence[str], seen: set[str]) -> Iterator[str]:
    for one in ids:
        if one in seen:
            yield f"{at}: {one} is there twice"
        seen.add(one)


def _blocks(item: Mapping[str, Any]) -> Items:
    content = item["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def marks_of(block: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the cache marks of a block, and of the blocks in a result."""
    inner = block.get("content")
    for one in (block, *(inner if isinstance(inner, list) else ())):
        if one.get("cache_control"):
            yield one["cache_control"]


def _text_in(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def _mark(cached: bool) -> dict[str, Any]:
    return {"cache_control": EPHEMERAL} if cached else {}


_BRIEF: Items = [{"role": "developer", "content": "Be brief."}]

CHAT = Native("OpenAI chat messages", _BRIEF, chat_question, chat_answer, chat_results, chat_faults, chat_carried)
RESPONSES = Native(
    "OpenAI Responses items",
    _BRIEF,
    responses_question,
    responses_answer,
    responses_results,
    responses_faults,
    responses_carried,
)
ANTHROPIC = Native(
    "Anthropic messages",
    [],
    anthropic_question,
    anthropic_answer,
    anthropic_results,
    anthropic_faults,
    anthropic_carried,
)
GEMINI = Native("Gemini contents", [], gemini_question, gemini_answer, gemini_results, gemini_faults, gemini_carried)
FORMATS = (CHAT, RESPONSES, ANTHROPIC, GEMINI)
