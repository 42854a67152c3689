"""A streamed answer, piece by piece: server-sent events to text that can be shown, and at the end to a whole reply.

::

    bytes ──events──> JSON chunks ──Assembly──> pieces of text (never thinking) …, then the Reply

An event is one ``data:`` line. ``[DONE]`` may be missing; a body that ends before a finish reason came was cut off.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_minimax.errors import MiniMaxResponseError, error_in
from gatekeeper_minimax.wire import Reply, reply_of, whole_message

__all__ = ["MAX_LINE_BYTES", "Assembly", "events"]

MAX_LINE_BYTES = 8 * 2**20
"""Most bytes of one line of a stream. Source: ours; 200,000 tokens in one event, every character escaped, are 3 MB."""

_DONE = "[DONE]"
_OPEN, _CLOSE = "<think>", "</think>"


def events(body: Iterable[bytes]) -> Iterator[str]:
    r"""Yield the data of each event, up to ``[DONE]`` or the end of the body.

    Lines end with LF or CR LF; comments and other fields are left out. A character may be cut anywhere by the pieces.

    Raises:
        MiniMaxResponseError: a line is longer than ``MAX_LINE_BYTES``.

    >>> list(events([b": hi\r\ndata: {}\r", b"\n\ndata: [DO", b"NE]\n\n", b"data: late\n"]))
    ['{}']
    """
    for line in _lines(body):
        data = line[5:].decode("utf-8", errors="replace").strip() if line.startswith(b"data:") else ""
        if data == _DONE:
            return
        if data:
            yield data


def _lines(body: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a body; each byte is copied twice at most, however the line was cut."""
    begun = bytearray()
    for piece in body:
        first, *more = piece.split(b"\n")
        begun += first
        for line in more:
            _check_length(begun)
            yield bytes(begun)
            begun = bytearray(line)
        _check_length(begun)
    yield bytes(begun)


def _check_length(line: bytearray) -> None:
    if len(line) > MAX_LINE_BYTES:
        raise MiniMaxResponseError(f"MiniMax streamed a line of more than {MAX_LINE_BYTES} bytes")


class Assembly:
    """Puts the chunks of one answer together.

    Args:
        split: whether the request asked for thinking apart from the text: the texts of the chunks may then repeat all
            that came before.
    """

    def __init__(self, *, split: bool = False) -> None:
        self._visible = _Visible()
        self._growth = _Growth() if split else None
        self._content: list[str] = []
        self._shown: list[str] = []
        self._thoughts: list[tuple[str, str]] = []
        self._details: dict[str, Any] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._whole: dict[str, Any] | None = None
        self._facts: dict[str, Any] = {}
        self.finish_reason: str | None = None

    @property
    def text(self) -> str:
        """The text so far, without thinking."""
        return "".join(self._shown)

    def add(self, data: str) -> str:
        """Take the data of one event, and return the text to show for it, often "".

        Raises:
            MiniMaxError: the chunk tells an error.
            MiniMaxResponseError: it is no JSON object.
        """
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise MiniMaxResponseError("MiniMax streamed something that is no JSON", partial=self.text) from error
        if not isinstance(chunk, Mapping):
            raise MiniMaxResponseError("MiniMax streamed something that is no JSON object", partial=self.text)
        told = error_in(chunk, 200)
        if told:
            raise told
        if chunk.get("id"):
            self._facts["id"] = chunk["id"]
        if read_usage(chunk.get("usage")):
            self._facts["usage"] = chunk["usage"]
        whole, choice = whole_message(chunk)
        self._whole = whole or self._whole
        reason = choice.get("finish_reason")
        self.finish_reason = reason if isinstance(reason, str) and reason else self.finish_reason
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            return ""
        self._add_thoughts(delta)
        calls = delta.get("tool_calls")
        for at, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, Mapping):
                self._add_call(call, at)
        content = delta.get("content")
        if not isinstance(content, str):
            return ""
        return self._show(self._growth.add(content) if self._growth and content else content)

    def end(self) -> tuple[str, Reply]:
        """Return the last text to show, and the whole reply.

        Raises:
            MiniMaxResponseError: the answer was cut off.
        """
        if self.finish_reason is None:
            raise MiniMaxResponseError("MiniMax's answer was cut off before its end", partial=self.text)
        if self._whole and not (self._content or self._calls):
            piece = self._show(str(self._whole.get("content") or ""))
        else:
            piece = self._show(self._growth.rest() if self._growth else "")
        last = self._visible.rest()
        self._shown.append(last)
        piece += last
        return piece, reply_of(self._message(), finish_reason=self.finish_reason, about=self._facts)

    def _show(self, content: str) -> str:
        """Take a text that is new, and return what may be shown now."""
        if not content:
            return ""
        self._content.append(content)
        self._shown.append(self._visible.add(content))
        return self._shown[-1]

    def _add_thoughts(self, delta: Mapping[str, Any]) -> None:
        details = delta.get("reasoning_details")
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, Mapping) and isinstance(detail.get("text"), str):
                self._details.update(detail)
                self._thoughts.append(("reasoning_details", detail["text"]))
        beside = delta.get("reasoning_content")
        if isinstance(beside, str) and beside:
            self._thoughts.append(("reasoning_content", beside))

    def _add_call(self, call: Mapping[str, Any], at: int) -> None:
        index = call.get("index")
        known = self._calls.setdefault(
            index if isinstance(index, int) else at, {"id": "", "type": "function", "name": "", "arguments": []}
        )
        function = call.get("function")
        function = function if isinstance(function, Mapping) else {}
        for key, value in (("id", call.get("id")), ("name", function.get("name"))):
            if isinstance(value, str) and value:
                known[key] = value
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            known["arguments"].append(arguments)

    def _message(self) -> dict[str, Any]:
        """Return the message as it would have come in one piece."""
        if self._whole and self._whole.get("content") == "".join(self._content):
            return self._whole
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._content)}
        if self._calls:
            message["tool_calls"] = [
                {
                    **{key: call[key] for key in ("id", "type")},
                    "function": {"name": call["name"], "arguments": "".join(call["arguments"])},
                }
                for _, call in sorted(self._calls.items())
            ]
        for key in ("reasoning_details", "reasoning_content"):
            thought = _grown([text for where, text in self._thoughts if where == key])
            if thought:
                message[key] = [{**self._details, "text": thought}] if key == "reasoning_details" else thought
        return message


def _grown(pieces: list[str]) -> str:
    """Return a text from its pieces, which either follow each other or each repeat all that came before.

    >>> _grown(["the", "the port"]), _grown(["the", " port"])
    ('the port', 'the port')
    """
    growth = _Growth()
    return "".join([growth.add(piece) for piece in pieces] + [growth.rest()])


class _Growth:
    """Tells texts that repeat all that came before from texts that follow each other, by the first three of them.

    Three, because the second of two pieces may begin like the first by chance.
    """

    def __init__(self) -> None:
        self._first: list[str] = []
        self._repeats: bool | None = None
        self._before = 0

    def add(self, text: str) -> str:
        """Return what is new in a text; "" as long as that cannot be told."""
        if self._repeats is None:
            self._first.append(text)
            return self._decide() if len(self._first) == 3 or not self._repeated() else ""
        if not self._repeats:
            return text
        new, self._before = text[self._before :], max(self._before, len(text))
        return new

    def rest(self) -> str:
        """Return what was held back."""
        return self._decide() if self._repeats is None and self._first else ""

    def _decide(self) -> str:
        self._repeats = self._repeated() and len(self._first) > 1
        self._before = len(self._first[-1])
        return self._first[-1] if self._repeats else "".join(self._first)

    def _repeated(self) -> bool:
        return all(after.startswith(before) for before, after in zip(self._first, self._first[1:], strict=False))


class _Visible:
    """Lets through what ``gatekeeper_core.text.split_thinking`` calls the answer, as soon as it can be told."""

    def __init__(self) -> None:
        self._blank: list[str] = []
        self._held = ""
        self._inside = False
        self._thought = False
        self._answering = False

    def add(self, text: str) -> str:
        """Return what of the text may be shown now."""
        if self._answering:
            return text
        self._held += text
        while True:
            if self._inside:
                _, closed, after = self._held.partition(_CLOSE)
                if not closed:
                    self._held = self._held[-len(_CLOSE) :]  # the mark may be cut in two
                    return ""
                self._inside, self._held = False, after
            opened = self._held.lstrip()
            self._blank.append(self._held[: len(self._held) - len(opened)])  # so that no white space is read twice
            self._held = opened
            if not opened.startswith(_OPEN):
                break
            self._inside, self._thought, self._held = True, True, opened[len(_OPEN) :]
        if _OPEN.startswith(opened):
            return ""  # nothing yet, or the beginning of the mark
        self._answering = True
        return self.rest()

    def rest(self) -> str:
        """Return what was held back for a mark that did not come."""
        held = self._held if self._thought else "".join([*self._blank, self._held])
        self._blank, self._held = [], ""
        return "" if self._inside else held
