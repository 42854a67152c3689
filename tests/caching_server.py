"""A strict server that keeps the beginnings of prompts, as Anthropic and OpenAI do, and reports what it read from them.

::

    request ──strict_server──> 400, or an answer of the script
       └── pieces: tools, system, messages ──> what is kept of them ──> usage of the answer, ``reported``

Anthropic's messages: a prefix is written where a block is marked (``cache_control``, the request's own mark stands for
its last block), and found at a mark or up to 19 blocks before it; five minutes or an hour after it was last used it is
gone. OpenAI's chat: every prompt is kept, and found as far as it begins the same, in steps of 128 tokens. Nothing of
``gatekeeper_core.pricing`` is used here: the tests hold one against the other.

Source: Anthropic on prompt caching (four marks, 20 positions, longer lifetimes first, tools before system before
messages, no mark on thinking or empty text); OpenAI on prompt caching (1,024 tokens, steps of 128).

>>> from tests.native_lists import CHAT
>>> with CachingServer(count=len, least=4, step=4) as server:
...     for said in ("hello", "hello you"):
...         posted = server.post(CHAT, [{"role": "user", "content": said}])
>>> posted.body["usage"]["prompt_tokens_details"], server.reported[-1]
({'cached_tokens': 4}, Reported(input_tokens=9, cached_tokens=4, written_tokens=0, output_tokens=2))
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.native_lists import ANTHROPIC, CHAT, LIFETIMES, marks_of
from tests.strict_server import Posted, StrictServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LOOK_BACK = 20

_PATHS = {"/v1/messages": ANTHROPIC, "/v1/chat/completions": CHAT}


class Reported(NamedTuple):
    """What the server reported for a call, in tokens; the input includes what was read from what it keeps, and written."""

    input_tokens: int
    cached_tokens: int
    written_tokens: int
    output_tokens: int


class Piece(NamedTuple):
    """A tool, a block of the system message or of a message: what it is, what it costs, how long its mark keeps it."""

    digest: bytes
    tokens: int
    lifetime: float | None


class ChatPart(NamedTuple):
    """A message in OpenAI's format, or all tools: who says it, and what the model reads of it."""

    role: str
    text: str


class CachingServer(StrictServer):
    """The server. Time stands still but for :meth:`wait`.

    Args:
        count: the tokens of a text; by it alone the prompts are measured.
        least: the smallest prefix that is kept, in tokens.
        step: a hit in OpenAI's format is a whole number of so many tokens.

    Attributes:
        now: its clock, in seconds.
        reported: the usage of each call that was answered.
        bodies: what each of them was asked, the values in the order in which they came.
    """

    def __init__(self, *, count: Callable[[str], int], least: int = 1024, step: int = 128) -> None:
        super().__init__()
        self.now = 0.0
        self.reported: list[Reported] = []
        self.bodies: list[str] = []
        self._count = lru_cache(maxsize=None)(count)
        self._least = least
        self._step = step
        self._marked: dict[bytes, tuple[float, float]] = {}
        self._prompts: list[tuple[float, list[ChatPart]]] = []

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def forget(self) -> None:
        """Drop everything that is kept, before its time."""
        self._marked.clear()
        self._prompts.clear()

    def respond(self, path: str, body: dict[str, Any]) -> Posted:
        """Return the answer to a request, with its usage."""
        native = _PATHS.get(path.partition("?")[0])
        posted = super().respond(path, body)
        if posted.status != 200 or native is None:
            return posted
        self.bodies.append(json.dumps(body, ensure_ascii=False))
        if native is ANTHROPIC:
            output_tokens = sum(self._count(_text_of(block)) for block in posted.body["content"])
            usage = self._read_marked(anthropic_pieces(body, self._count), output_tokens)
        else:
            output_tokens = self._count(_chat_part(posted.body["choices"][0]["message"]).text)
            usage = self._read_prompt(chat_prompt(body), output_tokens)
        return posted._replace(body={**posted.body, "usage": usage})

    def _read_marked(self, pieces: Sequence[Piece], output_tokens: int) -> dict[str, Any]:
        """Return Anthropic's usage of a prompt, and keep what it marks."""
        ends, tokens, prefixes = b"", 0, list[tuple[bytes, int]]()
        for piece in pieces:
            ends = hashlib.sha256(ends + piece.digest).digest()
            tokens += piece.tokens
            prefixes.append((ends, tokens))
        marks = [at for at, piece in enumerate(pieces) if piece.lifetime and prefixes[at][1] >= self._least]
        seen = {at for mark in marks for at in range(max(0, mark - LOOK_BACK + 1), mark + 1)}
        hit = max((at for at in seen if self._is_kept(prefixes[at][0])), default=None)
        cached, written = 0, dict.fromkeys(LIFETIMES, 0)
        if hit is not None:
            end, cached = prefixes[hit]
            self._marked[end] = (self.now, self._marked[end][1])
        reach = cached
        for mark in marks:
            end, length = prefixes[mark]
            lifetime = pieces[mark].lifetime or 0.0
            name = next(name for name, seconds in LIFETIMES.items() if seconds == lifetime)
            written[name] += max(0, length - reach)
            reach = max(reach, length)
            self._marked[end] = (self.now, lifetime)
        self.reported.append(Reported(tokens, cached, sum(written.values()), output_tokens))
        return {
            "input_tokens": tokens - reach,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": sum(written.values()),
            "cache_creation": {f"ephemeral_{name}_input_tokens": count for name, count in written.items()},
            "output_tokens": output_tokens,
        }

    def _is_kept(self, end: bytes) -> bool:
        used, lifetime = self._marked.get(end, (self.now, -1.0))
        return self.now - used <= lifetime

    def _read_prompt(self, prompt: list[ChatPart], output_tokens: int) -> dict[str, Any]:
        """Return OpenAI's usage of a prompt, and keep it."""
        self._prompts = [kept for kept in self._prompts if self.now - kept[0] <= LIFETIMES["5m"]]
        best = max((shared_start(prompt, before) for _, before in self._prompts), default=(0, ""))
        shared = sum(self._count(message.text) for message in prompt[: best[0]]) + self._count(best[1])
        cached = shared - shared % self._step if shared >= self._least else 0
        self._prompts.append((self.now, prompt))
        tokens = sum(self._count(message.text) for message in prompt)
        self.reported.append(Reported(tokens, cached, 0, output_tokens))
        return {
            "prompt_tokens": tokens,
            "completion_tokens": output_tokens,
            "total_tokens": tokens + output_tokens,
            "prompt_tokens_details": {"cached_tokens": cached},
        }


# --- Anthropic


def anthropic_pieces(body: dict[str, Any], count: Callable[[str], int]) -> list[Piece]:
    """Return what a prompt is made of, in the order in which prefixes are kept.

    Args:
        body: the request. Its ``tool_choice`` and ``thinking`` are a part of each of its messages.
        count: the tokens of a text.
    """
    pieces = []
    for level, block in _blocks_of(body):
        bare = _without_marks(block)
        text = json.dumps([body.get("model"), level, bare], ensure_ascii=False, sort_keys=True)
        lifetime = next((LIFETIMES[mark.get("ttl", "5m")] for mark in marks_of(block)), None)
        pieces.append(Piece(hashlib.sha256(text.encode()).digest(), count(_text_of(bare)), lifetime))
    if "cache_control" in body and pieces:
        lifetime = LIFETIMES[body["cache_control"].get("ttl", "5m")]
        pieces[-1] = pieces[-1]._replace(lifetime=lifetime)
    return pieces


def _blocks_of(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each tool and block with where it stands; a message that goes on in the same role is no other one."""
    for tool in body.get("tools") or ():
        yield "tools", tool
    for block in _as_blocks(body.get("system") or []):
        yield "system", block
    settings = json.dumps([body.get("tool_choice"), body.get("thinking")], sort_keys=True)
    for message in body["messages"]:
        for block in _as_blocks(message["content"]):
            yield f"{message['role']} {settings}", block


def _as_blocks(content: str | list[Any]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _without_marks(block: dict[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in block.items() if name != "cache_control"}
    if block.get("type") == "tool_result":
        bare["content"] = [*map(_without_marks, _as_blocks(block.get("content") or []))]
    return bare


def _text_of(block: dict[str, Any]) -> str:
    """Return what the model reads of a block."""
    kind = block.get("type")
    if kind == "text":
        return str(block["text"])
    if kind == "thinking":
        return str(block["thinking"])
    if kind == "tool_use":
        return f"{block['name']} {_compact(block['input'])}"
    if kind == "tool_result":
        return "\n".join(map(_text_of, _as_blocks(block["content"])))
    return _compact(block)


# --- OpenAI's chat


def chat_prompt(body: dict[str, Any]) -> list[ChatPart]:
    """Return what the model reads: all tools, then each message."""
    tools = [ChatPart("tools", _compact(body["tools"]))] if body.get("tools") else []
    return tools + [_chat_part(message) for message in body["messages"]]


def shared_start(prompt: Sequence[ChatPart], before: Sequence[ChatPart]) -> tuple[int, str]:
    """Return how many messages two prompts begin with that are the same, and how the next one begins in both."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(prompt, before, strict=False)))
    for here, there in zip(prompt[same : same + 1], before[same : same + 1], strict=False):
        pairs = zip(here.text, there.text, strict=False) if here.role == there.role else ()
        return same, "".join(letter for letter, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return same, ""


def _chat_part(message: dict[str, Any]) -> ChatPart:
    content = message.get("content") or ""
    texts = [content] if isinstance(content, str) else [*map(_text_of, content)]
    calls = (call["function"] for call in message.get("tool_calls") or ())
    return ChatPart(message["role"], "\n".join([*texts, *(f"{call['name']} {call['arguments']}" for call in calls)]))


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
