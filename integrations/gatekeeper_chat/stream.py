"""Streamed answers: server-sent events become text to show, and at the end a whole reply.

::

    bytes ──events──> JSON chunks ──Assembly──> pieces of text (never thinking) …, then the Reply

An event is one ``data:`` line. ``[DONE]`` may be missing; a body that ends without a finish reason was cut off.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import Any

from gatekeeper_chat.errors import ChatResponseError, refusal
from gatekeeper_chat.wire import Reply, first_choice, reply_of
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_core.text import split_thinking

MAX_LINE_BYTES = 8 * 2**20
"""Longest line of a stream. Source: ours; 200,000 tokens in one event, every character escaped, are 3 MB."""

_DONE = "[DONE]"


def events(body: Iterable[bytes]) -> Iterator[str]:
    r"""Yield the data of each event, up to ``[DONE]`` or the end of the body.

    Lines end with LF or CR LF; comments and other fields are skipped. Pieces may split a character.

    Raises:
        ChatResponseError: a line is longer than ``MAX_LINE_BYTES``.

    >>> list(events([b": hi\r\ndata: {}\r", b"\n\ndata: [DO", b"NE]\n\n", b"data: late\n"]))
    ['{}']
    """
    line = bytearray()
    for piece in chain(body, [b"\n"]):
        for at, part in enumerate(piece.split(b"\n")):
            if at:  # the line is complete
                data = line[5:].decode("utf-8", errors="replace").strip() if line.startswith(b"data:") else ""
                if data == _DONE:
                    return
                if data:
                    yield data
                line.clear()
            line += part
            if len(line) > MAX_LINE_BYTES:
                raise ChatResponseError(f"the model streamed a line of more than {MAX_LINE_BYTES} bytes")


class Assembly:
    """An assembler of the chunks of one answer."""

    def __init__(self) -> None:
        self._content: list[str] = []
        self._shown: list[str] = []
        self._thoughts: dict[str, list[str]] = {"reasoning_details": [], "reasoning_content": []}
        self._details: dict[str, Any] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._whole: dict[str, Any] | None = None
        self._facts: dict[str, Any] = {}
        self._finish_reason: str | None = None

    @property
    def text(self) -> str:
        """The text so far, without thinking."""
        return "".join(self._shown)

    def add(self, data: str) -> str:
        """Add the data of one event, and return the text to show for it, often "".

        Raises:
            ChatError: the data is an error.
            ChatResponseError: the data is not a JSON object.
        """
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ChatResponseError("the model streamed something that is not JSON") from error
        if not isinstance(chunk, Mapping):
            raise ChatResponseError("the model streamed something that is not a JSON object")
        if failure := refusal(200, chunk):
            raise failure
        if chunk.get("id"):
            self._facts["id"] = chunk["id"]
        if read_usage(chunk.get("usage")):
            self._facts["usage"] = chunk["usage"]
        message, choice = first_choice(chunk)
        self._whole = message or self._whole
        reason = choice.get("finish_reason")
        self._finish_reason = reason if isinstance(reason, str) and reason else self._finish_reason
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            return ""
        details = delta.get("reasoning_details")
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, Mapping) and isinstance(detail.get("text"), str):
                self._details.update(detail)
                self._thoughts["reasoning_details"].append(detail["text"])
        if isinstance(delta.get("reasoning_content"), str):
            self._thoughts["reasoning_content"].append(delta["reasoning_content"])
        calls = delta.get("tool_calls")
        for at, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, Mapping):
                self._add_call(call, at)
        content = delta.get("content")
        return self._show(content) if isinstance(content, str) else ""

    def end(self) -> tuple[str, Reply]:
        """Return the last text to show, and the whole reply.

        Raises:
            ChatResponseError: the answer was cut off.
        """
        if self._finish_reason is None:
            raise ChatResponseError("the model's answer was cut off before its end")
        piece = ""
        if self._whole and not (self._content or self._calls):
            piece = self._show(str(self._whole.get("content") or ""))
            message = self._whole
        else:  # the message as without streaming
            message = {"role": "assistant", "content": "".join(self._content)}
            if self._calls:
                message["tool_calls"] = [
                    {
                        "id": call["id"],
                        "type": call["type"],
                        "function": {key: call[key] for key in ("name", "arguments")},
                    }
                    for _, call in sorted(self._calls.items())
                ]
            for key, pieces in self._thoughts.items():
                repeats = all(after.startswith(before) for before, after in pairwise(pieces))
                # Pieces follow each other, or each one repeats all before it.
                if thought := "".join(pieces[-1:] if repeats else pieces):
                    message[key] = [{**self._details, "text": thought}] if key == "reasoning_details" else thought
        last = "" if self._shown else split_thinking("".join(self._content))[1]
        self._shown.append(last)
        return piece + last, reply_of(message, finish_reason=self._finish_reason, facts=self._facts)

    def _show(self, content: str) -> str:
        """Add text, and return what can be shown now: nothing while thinking goes on or may still begin."""
        self._content.append(content)
        piece = content
        if not self._shown:
            piece = split_thinking("".join(self._content))[1]
            piece = "" if "<think>".startswith(piece.lstrip()) else piece
        self._shown += [piece] if piece else []
        return piece

    def _add_call(self, call: Mapping[str, Any], at: int) -> None:
        index = call["index"] if isinstance(call.get("index"), int) else at
        merged = self._calls.setdefault(index, {"id": "", "type": "function", "name": "", "arguments": ""})
        function = call["function"] if isinstance(call.get("function"), Mapping) else {}
        for key, value in (("id", call.get("id")), ("name", function.get("name"))):
            if isinstance(value, str) and value:
                merged[key] = value
        if isinstance(function.get("arguments"), str):
            merged["arguments"] += function["arguments"]
