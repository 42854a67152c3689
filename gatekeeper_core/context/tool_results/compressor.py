"""Tool results made small: what tells of a failure, what was asked for and what is unusual stays, the rest is counted.

::

    result ──registry by tool name, or its own form──> kind ──strategy──> digest  (JSON: first a table without loss)
           ──code, prose──────────────────────────────────────────────> never cut: put aside as a whole, by age or size
    everything that is cut or put aside: a mark for what is missing, and a pointer where there is a working memory

No result is read as anything but data: nothing in it is run, resolved or followed, and what looks like a pointer in it
is defused. The same input gives the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.tool_results.context import ResultContext
from gatekeeper_core.context.tool_results.digest import Digest, Shelf, Strategy, Task
from gatekeeper_core.context.tool_results.formats.delimited import digest_delimited
from gatekeeper_core.context.tool_results.formats.detect import detect_kind, looks_like_json
from gatekeeper_core.context.tool_results.formats.json_results import (
    Table,
    digest_json_value,
    digest_parts,
    lossless_json,
    read_any_json,
)
from gatekeeper_core.context.tool_results.formats.json_text import JsonValue, Unread
from gatekeeper_core.context.tool_results.formats.lines import digest_lines
from gatekeeper_core.context.tool_results.formats.listings import digest_listing
from gatekeeper_core.context.tool_results.formats.traces import digest_trace
from gatekeeper_core.context.tool_results.omissions import gap, with_context
from gatekeeper_core.context.tool_results.pointers import Pointer, defused, pointer_id
from gatekeeper_core.context.tool_results.query_match import Asked
from gatekeeper_core.context.tool_results.sampling import LineSample, sample_lines, sample_rows
from gatekeeper_core.context.tool_results.working_memory import READING_TOOLS, WorkingMemory
from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.events import TOOL_RESULT
from gatekeeper_core.messages import Message
from gatekeeper_core.observation import stage
from gatekeeper_core.text import LazyPattern
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter

__all__ = ["ToolResult", "ToolResultCompressor", "ToolResultConfig", "compress_tool_result"]

_BYTE_LIMITS: Mapping[str, int] = MappingProxyType(
    dict.fromkeys(
        ("bash", "shell", "terminal", "run_command", "execute_command", "read_file", "read", "cat", "view"), 8_000
    )
)

LineStrategy = Callable[[list[str], list[int], int, Task], "Digest | None"]

_BY_LINES: Mapping[str, LineStrategy] = MappingProxyType(
    {
        "log": digest_lines,
        "test": digest_lines,
        "lines": digest_lines,
        "trace": digest_trace,
        "table": digest_delimited,
        "search": digest_listing,
        "listing": digest_listing,
    }
)
_WHOLE = frozenset({"code", "diff", "markup", "prose"})
_KINDS = frozenset({*_BY_LINES, *_WHOLE, "json", "binary"})

_HEAD = LazyPattern(r"\[[a-z]{3,10}: [0-9]{1,12} of [0-9]{1,12} [a-z]{4,6} shown\]\n|\[table: [0-9]{1,12} rows?\]\n")
_LEAST_TOKENS = 100

_KEPT_TOKENS = 400
"""Results up to this size are never cut, only written in fewer tokens. Source: ours."""

_LOSSLESS_TOKENS = 400
"""A table without loss that is no larger is shown whole. Source: ours."""

_SHARE = 0.12
"""Part of a result's tokens that its digest may cost. Source: ours: 85 % and more is saved."""

_OFFLOADED_AFTER_ROUNDS = 3
"""Code and prose as many rounds old are put aside whatever their size (from twice ``min_chars``). Source: ours."""

_ANALYSED_CHARS = 600_000
"""Of a longer result, so much is read: the ends, samples, and where failures and the question's words stand.

Source: ours."""

_TRACE_SHARE = 2
_PREVIEW_SHARE = 4
_WORTH_IT = 0.9
_PREVIEW_HEAD, _PREVIEW_TAIL = 6, 2
_PREVIEW_ASKED = 8

_MEMO_BYTES = 32 * 2**20
"""What the results made last may take, so that a run does not work through each of them at every step: a bound on their
number would be no memory at all beyond it. Source: ours; 3,000 digests, where each is as long as a digest may be."""

_MEMO_ENTRY_BYTES = 500  # key, value and place of an entry beside its text, rounded up


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultConfig:
    """How small tool results are made.

    Attributes:
        min_chars: shorter results are left alone, >= 0. Source: requirement 003-96.
        max_tokens: most tokens of a digest, >= 100; failures and what was asked for may go half over it. Source: ours.
        list_items: most items that are shown only because they stand first, >= 1. Source: requirement 004-36.
        offload_bytes: code and prose from this size in UTF-8 are put aside, >= 1. Source: requirement 004-20.
        byte_limits: by tool name the most bytes of a result, whatever it is, each >= 400. Source: requirement 002-08.
        lossless_only: whether to cut nothing at all.
    """

    min_chars: int = 500
    max_tokens: int = 2_400
    list_items: int = 20
    offload_bytes: int = 8_000
    byte_limits: Mapping[str, int] = field(default_factory=lambda: _BYTE_LIMITS)
    lossless_only: bool = False

    def __post_init__(self) -> None:
        check_range(self, "min_chars", low=0, whole=True)
        check_range(self, "list_items", "offload_bytes", low=1, whole=True)
        check_range(self, "max_tokens", low=_LEAST_TOKENS, whole=True)
        for name, limit in self.byte_limits.items():
            check_tokens(f"byte_limits[{name!r}]", limit, at_least=400)


class ToolResult(NamedTuple):
    """A tool result as the model gets to read it.

    Attributes:
        text: what to send.
        kind: what the result is: ``json``, ``log``, ``test``, ``trace``, ``table``, ``search``, ``listing``, ``lines``,
            ``code``, ``diff``, ``markup``, ``prose``, ``binary``, or ``ours`` for what was made here before.
        strategy: what was done: ``unchanged``; ``lossless``; ``lines``, ``rows``, ``values``, ``groups``, ``frames``
            (parts were kept); ``offloaded``; ``cut`` (to the limit of its tool); ``placeholder``.
        tokens_before: what the result cost.
        tokens_after: what the text costs.
        omitted: how many lines or rows (``cut``: bytes) are not in the text.
        pointer: where the whole result is kept, or None.
    """

    text: str
    kind: str
    strategy: str
    tokens_before: int
    tokens_after: int
    omitted: int
    pointer: Pointer | None


class _Made(NamedTuple):
    """The text of a result, None where it is sent as it was, and the id under which the whole result is kept."""

    text: str | None
    pointer: str | None


class _Request(NamedTuple):
    """One result on its way: the text, what is known of it, and what it may cost."""

    text: str
    kind: str
    tokens: int
    limit_bytes: int | None
    old: bool
    live: tuple[str, ...]
    task: Task


class ToolResultCompressor:
    r"""Makes tool results small, each by its kind.

    Args:
        config: the settings; None: the defaults.
        working_memory: where whole results are kept; None: nothing is put aside, code and prose stay.
        strategies: by tool name a kind (``"log"``), where the form of its results deceives, or a function
            ``(text, task) -> Digest | None`` (None: the result stays as it is).
        token_counter: counts a text; None: the library's own.

    Raises:
        ConfigError: a strategy names no kind.
        TypeError: an argument has the wrong type.

    >>> compressor = ToolResultCompressor(token_counter=lambda text: len(text) // 4)
    >>> result = compressor.compress("12:00:00 INFO ping\n" * 300 + "12:05:00 ERROR disk full")
    >>> print(result.text)
    [log: 4 of 301 lines shown]
    12:00:00 INFO ping
    12:00:00 INFO ping
    … 297 lines omitted [3-299]
    12:00:00 INFO ping
    12:05:00 ERROR disk full
    """

    __slots__ = ("_config", "_counter", "_memo", "_memory", "_strategies")

    def __init__(
        self,
        config: ToolResultConfig | None = None,
        *,
        working_memory: WorkingMemory | None = None,
        strategies: Mapping[str, Strategy | str] | None = None,
        token_counter: TokenCounter | None = None,
    ) -> None:
        self._config = config or ToolResultConfig()
        self._memory = working_memory
        self._memo: LruCache[Hashable, _Made] = LruCache(max_bytes=_MEMO_BYTES)
        self._strategies = dict(strategies or {})
        self._counter = checked_counter(token_counter)
        for name, strategy in self._strategies.items():
            if isinstance(strategy, str) and strategy not in _KINDS:
                raise ConfigError(f"the strategy of {name} must be a function or one of {', '.join(sorted(_KINDS))}")

    @property
    def config(self) -> ToolResultConfig:
        """The settings."""
        return self._config

    @property
    def working_memory(self) -> WorkingMemory | None:
        """Where whole results are kept, if anywhere."""
        return self._memory

    @property
    def is_inline(self) -> bool:
        """Whether it waits for nobody: see ``WorkingMemory.is_inline``."""
        return self._memory is None or self._memory.is_inline

    def compress(
        self,
        text: str,
        *,
        tool_name: str | None = None,
        query: str | None = None,
        live: Iterable[str] = (),
        age_rounds: int = 0,
    ) -> ToolResult:
        """Return a tool result as the model gets to read it. Compressing what this returned changes nothing more.

        Args:
            text: the result.
            tool_name: the tool that gave it: for its strategy and its limit; results of ``READING_TOOLS`` stay whole.
            query: the question; its rarest words decide which lines and rows are asked for.
            live: ids of pointers, or texts with one, that the window shows: what they name is not thrown out of memory.
            age_rounds: how many rounds of the tool loop ago the result came, at least 0.

        Raises:
            TypeError: an argument has the wrong type.
            ConfigError: ``age_rounds`` is negative.
        """
        _check_arguments(text, tool_name, query)
        check_tokens("age_rounds", age_rounds)
        with stage(TOOL_RESULT) as seen:
            made = self._result(text, tool_name, query, tuple(live), age_rounds)
            seen.tell(lambda: {name: getattr(made, name) for name in TOOL_RESULT.facts})
        return made

    def _result(
        self, text: str, tool_name: str | None, query: str | None, held: tuple[str, ...], age_rounds: int
    ) -> ToolResult:
        known = self._known(held)
        safe = defused(text, known)
        tokens = self._counter(safe)
        if tool_name in READING_TOOLS or self._is_ours(safe, tokens, known):
            return ToolResult(safe, "ours", "unchanged", tokens, tokens, 0, None)
        limit = self._config.byte_limits.get(tool_name or "")
        request = _Request(text, "", tokens, limit, self._is_old(age_rounds), held, self._task(query, tokens))
        if len(text) < self._config.min_chars:
            return self._unchanged(request, "prose")
        result = self._compressed(request, self._strategies.get(tool_name or ""))
        return self._within_limit(request, result)

    def __call__(self, message: Message, context: ResultContext) -> str:
        """Return the text of a tool message as the model gets to read it: what ``compress_result`` asks for.

        It is remembered for the next step of a run, as long as working memory holds what its pointer names.

        Raises:
            TypeError: an argument has the wrong type.
        """
        if not isinstance(message, Message):
            raise TypeError(f"message must be a Message, got {type(message).__name__}")
        if not isinstance(context, ResultContext):
            raise TypeError(f"context must be a ResultContext, got {type(context).__name__}")
        from hashlib import sha256  # here, because a conversation that compresses nothing needs no digest

        name, query, live, age = context
        digest = sha256(message.text.encode("utf-8", "surrogatepass")).digest()
        key = (digest, name, query, self._is_old(age))
        made = self._memo.get(key)
        if made is None or (made.pointer and self._memory and not self._memory.touch(made.pointer)):
            # An id in the window may stand in a text of others: only those of this memory are pointers.
            held = self._memory.ids.intersection(live) if self._memory else ()
            result = self.compress(message.text, tool_name=name, query=query, live=held, age_rounds=age)
            text = None if result.text == message.text else result.text
            made = _Made(text, result.pointer.id if result.pointer else None)
            self._memo.put(key, made, _MEMO_ENTRY_BYTES + (0 if text is None else sys.getsizeof(text)))
        return message.text if made.text is None else made.text

    # --- what is known beforehand

    def _is_old(self, age_rounds: int) -> bool:
        return age_rounds >= _OFFLOADED_AFTER_ROUNDS

    def _known(self, live: Collection[str]) -> frozenset[str]:
        ids = frozenset(found for each in live if (found := pointer_id(each)) is not None)
        return ids | self._memory.ids if self._memory else ids

    def _is_ours(self, text: str, tokens: int, known: Collection[str]) -> bool:
        """Return whether a text was made here; one that only looks like it is not let through when it is large."""
        first, _, rest = text.partition("\n")
        if first.startswith("[[wm:"):
            if pointer_id(first[:30]) not in known:
                return False
            text = rest
        largest = max(2 * self._config.max_tokens, *self._config.byte_limits.values(), 0)
        return _HEAD.match(text[:100]) is not None and (self._config.lossless_only or tokens <= largest)

    def _task(self, query: str | None, tokens: int) -> Task:
        budget = min(self._config.max_tokens, max(_LEAST_TOKENS, int(_SHARE * tokens)))
        return Task(Asked(query), budget, self._counter, self._config.list_items)

    # --- the ways

    def _compressed(self, request: _Request, strategy: Strategy | str | None) -> ToolResult:
        if strategy is not None and not isinstance(strategy, str):
            return self._digested(request._replace(kind="other"), strategy(request.text, request.task))
        if strategy == "json" or (strategy is None and looks_like_json(request.text)):
            result = self._json(request._replace(kind="json"))
            if result is not None:
                return result
        kind = strategy or detect_kind(request.text)
        request = request._replace(kind=kind)
        if kind == "binary":
            return self._binary(request)
        if self._config.lossless_only or (kind not in _WHOLE and request.tokens <= _KEPT_TOKENS):
            return self._unchanged(request, kind)
        if kind in _BY_LINES:
            sample = sample_lines(request.text, request.task.asked, max_chars=_ANALYSED_CHARS)
            return self._digested(request, self._by_lines(request, kind, sample))
        return self._whole(request)

    def _by_lines(self, request: _Request, kind: str, sample: LineSample) -> Digest | None:
        task = self._less_head(request)
        if kind == "trace":
            task = task._replace(budget_tokens=_TRACE_SHARE * task.budget_tokens)
        digest = _BY_LINES[kind](*sample, task)
        return digest if digest is not None or kind in ("log", "test", "lines") else digest_lines(*sample, task)

    def _json(self, request: _Request) -> ToolResult | None:
        if len(request.text) > _ANALYSED_CHARS and not self._config.lossless_only:
            return self._sampled_json(request)
        value = read_any_json(request.text)
        if isinstance(value, Unread):
            return None if self._config.lossless_only else self._sampled_json(request)
        if self._config.lossless_only or request.tokens <= 4 * _LOSSLESS_TOKENS:
            lossless = self._lossless(request, value)
            if lossless is not None:
                return lossless
        return self._digested(request, digest_json_value(value, self._less_head(request)))

    def _lossless(self, request: _Request, value: JsonValue) -> ToolResult | None:
        """Return the value without loss where that is small enough, or must be; None where it is to be cut."""
        written = lossless_json(value)
        tokens = request.tokens if written is None else self._counter(written := defused(written))
        most = max(_LOSSLESS_TOKENS, request.task.budget_tokens)
        if self._config.lossless_only or request.tokens <= _KEPT_TOKENS or tokens <= most:
            if written is None or tokens > _WORTH_IT * request.tokens:
                return self._unchanged(request, "json")
            return ToolResult(written, "json", "lossless", request.tokens, tokens, 0, None)
        return None

    def _sampled_json(self, request: _Request) -> ToolResult | None:
        sample = sample_rows(request.text, request.task.asked, max_chars=_ANALYSED_CHARS)
        if sample is None or request.tokens <= _KEPT_TOKENS:
            return None
        table = Table("", sample.rows, numbers=sample.numbers, total=sample.total)
        return self._digested(request, digest_parts([table], [], self._less_head(request)))

    def _binary(self, request: _Request) -> ToolResult:
        pointer = self._put_aside(request)
        length = len(request.text)
        said = f"[binary: 0 of {length} bytes shown]\n{gap(length, 'characters', 0, length - 1)}"
        text = f"{pointer.text}\n{said}" if pointer else said
        return self._made(request, text, "placeholder", len(request.text), pointer)

    def _whole(self, request: _Request) -> ToolResult:
        """Return code or prose as it is, or put aside with a preview where it is large or old."""
        large = len(request.text) >= self._config.offload_bytes or _size(request.text) >= self._config.offload_bytes
        if not (large or (request.old and len(request.text) >= 2 * self._config.min_chars)):
            return self._unchanged(request, request.kind)
        pointer = self._put_aside(request)
        if pointer is None:
            return self._unchanged(request, request.kind)
        digest = self._preview(request)
        head = f"[{request.kind}: {digest.shown} of {digest.total} lines shown]"
        text = f"{pointer.text}\n{head}\n{defused(digest.text)}"
        return self._made(request, text, "offloaded", digest.total - digest.shown, pointer)

    def _preview(self, request: _Request) -> Digest:
        """Return the beginning, the lines that were asked for with those around them, and the end."""
        sample = sample_lines(request.text, request.task.asked, max_chars=_ANALYSED_CHARS)
        budget = max(_LEAST_TOKENS, min(request.task.budget_tokens, self._config.max_tokens // _PREVIEW_SHARE))
        shelf = Shelf(
            sample.lines, request.task._replace(budget_tokens=budget), numbers=sample.numbers, total=sample.total
        )
        best = request.task.asked.ranked(sample.lines, limit=_PREVIEW_ASKED)
        for nth, index in enumerate(best):
            shelf.add(index, least_left=shelf.overdraft if nth < 3 else 0)
        for number in with_context([index + 1 for index in best[:3]], before=2, after=2, last=len(sample.lines)):
            shelf.add(number - 1)
        last = len(sample.lines)
        for index in (*range(min(_PREVIEW_HEAD, last)), *range(max(0, last - _PREVIEW_TAIL), last)):
            shelf.add(index)
        return Digest(shelf.text(), len(shelf.kept), sample.total, "lines", "offloaded")

    # --- what comes out

    def _digested(self, request: _Request, digest: Digest | None) -> ToolResult:
        if digest is None:
            return self._unchanged(request, request.kind)
        omitted = max(0, digest.total - digest.shown)
        text = defused(digest.text)
        head = f"[{request.kind}: {digest.shown} of {digest.total} {digest.what} shown]"
        if self._counter(f"{head}\n{text}") > _WORTH_IT * request.tokens:
            return self._unchanged(request, request.kind)
        pointer = self._put_aside(request)
        text = f"{pointer.text}\n{head}\n{text}" if pointer else f"{head}\n{text}"
        return self._made(request, text, digest.strategy, omitted, pointer)

    def _put_aside(self, request: _Request) -> Pointer | None:
        if self._memory is None:
            return None
        return self._memory.offload(request.text, live=request.live, kind=request.kind)

    def _less_head(self, request: _Request) -> Task:
        """Return the task with room for the pointer and the head line."""
        head = f"[{request.kind}: 1000 of 10000 lines shown]\n"
        if self._memory is not None:
            head += self._memory.pointer_to(request.text[:1_000], kind=request.kind).text
        return request.task._replace(budget_tokens=max(40, request.task.budget_tokens - self._counter(head)))

    def _unchanged(self, request: _Request, kind: str) -> ToolResult:
        safe = defused(request.text, self._known(request.live))
        return ToolResult(safe, kind, "unchanged", request.tokens, self._counter(safe), 0, None)

    def _made(self, request: _Request, text: str, strategy: str, omitted: int, pointer: Pointer | None) -> ToolResult:
        return ToolResult(text, request.kind, strategy, request.tokens, self._counter(text), omitted, pointer)

    def _within_limit(self, request: _Request, result: ToolResult) -> ToolResult:
        """Return the result, or both ends of it where it has more bytes than its tool may give."""
        limit = request.limit_bytes
        if limit is None or self._config.lossless_only or _size(result.text) <= limit:
            return result
        pointer = result.pointer or self._put_aside(request._replace(kind=result.kind))
        top = f"{pointer.text}\n" if pointer else ""
        text, shown, total = _both_ends(request.text, limit, top=top, kind=result.kind, known=self._known(request.live))
        return self._made(request._replace(kind=result.kind), text, "cut", total - shown, pointer)


def compress_tool_result(
    text: str,
    *,
    tool_name: str | None = None,
    query: str | None = None,
    config: ToolResultConfig | None = None,
    working_memory: WorkingMemory | None = None,
    live: Iterable[str] = (),
    age_rounds: int = 0,
    token_counter: TokenCounter | None = None,
) -> ToolResult:
    """Return one tool result as the model gets to read it; see ``ToolResultCompressor.compress``.

    >>> compress_tool_result("ok").strategy
    'unchanged'
    """
    compressor = ToolResultCompressor(config, working_memory=working_memory, token_counter=token_counter)
    return compressor.compress(text, tool_name=tool_name, query=query, live=live, age_rounds=age_rounds)


def _check_arguments(text: object, tool_name: object, query: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"text must be str, got {type(text).__name__}")
    for name, value in (("tool_name", tool_name), ("query", query)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be str or None, got {type(value).__name__}")


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _both_ends(text: str, limit: int, *, top: str, kind: str, known: Collection[str]) -> tuple[str, int, int]:
    """Return two thirds of the room from the beginning of a text, one third from its end; bytes shown, and in all.

    Never cut inside a character.
    """
    data = text.encode("utf-8", "surrogatepass")
    total = len(data)
    around = f"{top}[{kind}: {total} of {total} bytes shown]\n\n{gap(total, 'bytes', total, total + 1)}\n"
    room = limit - len(around.encode("utf-8"))
    # Defusing adds a byte for each mark that it finds.
    room = max(0, room - data[:limit].count(b"[[") - data[-limit:].count(b"[["))
    head = _characters(data[: room * 2 // 3])
    tail = _characters(data[max(len(head), total - room // 3) :])
    shown = len(head) + len(tail)
    missing = gap(total - shown, "bytes", len(head), total - len(tail) - 1)
    ends = [defused(part.decode("utf-8", "surrogatepass"), known) for part in (head, tail)]
    return f"{top}[{kind}: {shown} of {total} bytes shown]\n{ends[0]}\n{missing}\n{ends[1]}", shown, total


def _characters(data: bytes) -> bytes:
    """Return bytes without the parts of characters that are cut at their ends."""
    start = 0
    while start < min(4, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    stop = len(data)
    for back in range(1, min(4, stop - start) + 1):
        lead = data[stop - back]
        if lead & 0xC0 != 0x80:
            width = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            return data[start : stop if width <= back else stop - back]
    return data[start:stop]
