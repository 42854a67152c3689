"""Tool results made small: what tells of a failure, what was asked for and what is unusual stays, the rest is counted.

::

    result ──registry by tool name, or its own form──> kind ──strategy──> digest  (JSON: first a table without loss)
           ──code, prose──────────────────────────────────────────────> never cut: put aside as a whole, by age or size
    everything that is cut or put aside: a mark for what is missing, and a pointer where there is a working memory

No result is read as anything but data: nothing in it is run, resolved or followed, and what looks like a pointer in it
is defused. The same input gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.tool_results.context import ResultContext, memory_of
from gatekeeper_core.context.tool_results.digest import Digest, Lines, Shelf, Strategy, Task
from gatekeeper_core.context.tool_results.formats.delimited import digest_delimited
from gatekeeper_core.context.tool_results.formats.detect import Kind, detect_kind, looks_like_json
from gatekeeper_core.context.tool_results.formats.json_results import (
    digest_parts,
    lossless_json,
    parts_of,
    read_any_json,
)
from gatekeeper_core.context.tool_results.formats.json_text import JsonValue
from gatekeeper_core.context.tool_results.formats.lines import digest_lines
from gatekeeper_core.context.tool_results.formats.listings import digest_listing
from gatekeeper_core.context.tool_results.formats.traces import digest_trace
from gatekeeper_core.context.tool_results.omissions import border_after, border_before, gap, with_context
from gatekeeper_core.context.tool_results.pointers import Pointer, defused, pointer_id
from gatekeeper_core.context.tool_results.query_match import Asked
from gatekeeper_core.context.tool_results.sampling import sample_lines, sample_rows
from gatekeeper_core.context.tool_results.thread_memories import ThreadMemories
from gatekeeper_core.context.tool_results.working_memory import READING_TOOLS, WorkingMemory
from gatekeeper_core.errors import ConfigError, check_range, check_str
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

LineStrategy = Callable[[Lines, Task], "Digest | None"]

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
"""Results up to this size are never cut, only written in fewer tokens; nor is a table without loss. Source: ours."""

_MADE_TOKENS = 1_000
"""A digest may be this large however small ``max_tokens`` is: the names of a table's columns alone. Source: ours."""

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

_MAX_RESULTS = 4_096
"""Compressed results that are kept, so that no step of a run works through each of them again. Source: ours; 40 MB,
where each is as long as it may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultConfig:
    """Settings for compressing tool results.

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


class _Job(NamedTuple):
    """One result on its way: the text as it came and as it is read, what is known of it, and what it may cost."""

    whole: str
    text: str
    kind: str
    tokens: int
    age_rounds: int
    live: tuple[str, ...]
    memory: WorkingMemory | None
    task: Task

    def put_aside(self) -> Pointer | None:
        """Return the pointer under which the whole result is kept, if anywhere."""
        return None if self.memory is None else self.memory.offload(self.whole, live=self.live, kind=self.kind)


class ToolResultCompressor:
    r"""Makes tool results small, each by its kind.

    Args:
        config: the settings; None: the defaults.
        working_memory: where whole results are kept: a ``WorkingMemory``, or ``ThreadMemories`` with one for each
            thread (of a thread without a name nothing is put aside). None: nothing is put aside, code and prose stay.
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
        working_memory: WorkingMemory | ThreadMemories | None = None,
        strategies: Mapping[str, Strategy | str] | None = None,
        token_counter: TokenCounter | None = None,
    ) -> None:
        if not isinstance(working_memory, WorkingMemory | ThreadMemories | None):
            given = type(working_memory).__name__
            raise TypeError(f"working_memory must be a WorkingMemory or ThreadMemories, got {given}")
        self._config = config or ToolResultConfig()
        self._memory = working_memory
        # By text, tool, question, age and thread: what to send (None: the text as it is), and the id of its pointer.
        self._memo: LruCache[Hashable, tuple[str | None, str | None]] = LruCache(max_entries=_MAX_RESULTS)
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
    def working_memory(self) -> WorkingMemory | ThreadMemories | None:
        """The store of full results, if there is one."""
        return self._memory

    def compress(
        self,
        text: str,
        *,
        tool_name: str | None = None,
        query: str | None = None,
        live: Iterable[str] = (),
        age_rounds: int = 0,
        thread_id: str | None = None,
        tenant: str = "default",
    ) -> ToolResult:
        """Return a tool result as the model gets to read it. Compressing what this returned changes nothing more.

        Args:
            text: the result.
            tool_name: the tool that gave it: for its strategy and its limit; results of ``READING_TOOLS`` stay whole.
            query: the question; its rarest words decide which lines and rows are asked for.
            live: ids of pointers, or texts with one, that the window shows: what they name is not thrown out of memory.
            age_rounds: how many rounds of the tool loop ago the result came, at least 0.
            thread_id: names the thread, for ``ThreadMemories``; None: it has no name.
            tenant: names whose thread it is.

        Raises:
            TypeError: an argument has the wrong type.
            ConfigError: ``age_rounds`` is negative, or a name is empty.
        """
        check_str("text", text)
        for name, value in (("tool_name", tool_name), ("query", query)):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} must be str or None, got {type(value).__name__}")
        check_tokens("age_rounds", age_rounds)
        context = ResultContext(tool_name, query, tuple(live), age_rounds)
        with stage(TOOL_RESULT) as seen:
            made = self._result(text, context, memory_of(self, thread_id, tenant=tenant))
            seen.tell(lambda: {name: getattr(made, name) for name in ("strategy", "tokens_before", "tokens_after")})
        return made

    def __call__(self, message: Message, context: ResultContext) -> str:
        """Return the text of a tool message as the model gets to read it: what ``compress_result`` asks for.

        It is remembered for the next step of a run, as long as working memory holds what its pointer names.

        Raises:
            TypeError: an argument has the wrong type.
            ConfigError: a name is empty.
        """
        if not isinstance(message, Message):
            raise TypeError(f"message must be a Message, got {type(message).__name__}")
        if not isinstance(context, ResultContext):
            raise TypeError(f"context must be a ResultContext, got {type(context).__name__}")
        from hashlib import sha256  # here, because a conversation that compresses nothing needs no digest

        memory = memory_of(self, context.thread_id, tenant=context.tenant)
        owner = None if memory is None else (context.tenant, context.thread_id)
        digest = sha256(message.text.encode("utf-8", "surrogatepass")).digest()
        is_old = context.age_rounds >= _OFFLOADED_AFTER_ROUNDS
        key = (digest, context.tool_name, context.query, is_old, owner)
        known = self._memo.get(key)
        if known is None or (known[1] and memory and not memory.touch(known[1])):
            # An id in the window may stand in a text of others: only those of this memory are pointers.
            held = memory.ids.intersection(context.live) if memory else ()
            result = self.compress(message.text, **context._replace(live=held)._asdict())
            text = None if result.text == message.text else result.text
            known = (text, result.pointer.id if result.pointer else None)
            self._memo.put(key, known)
        return message.text if known[0] is None else known[0]

    # --- the steps

    def _result(self, text: str, context: ResultContext, memory: WorkingMemory | None) -> ToolResult:
        live, config = tuple(context.live), self._config
        known = _ours(live, memory)
        safe = defused(text, known)
        tokens = self._counter(safe)
        if context.tool_name in READING_TOOLS or self._was_made_here(safe, tokens, known):
            return ToolResult(safe, "ours", "unchanged", tokens, tokens, 0, None)
        budget = min(config.max_tokens, max(_LEAST_TOKENS, int(_SHARE * tokens)))
        task = Task(Asked(context.query), budget, self._counter, config.list_items)
        job = _Job(text, safe, "prose", tokens, context.age_rounds, live, memory, task)
        if len(safe) < config.min_chars:
            return self._unchanged(job)
        result = self._compressed(job, self._strategies.get(context.tool_name or ""))
        limit = config.byte_limits.get(context.tool_name or "")
        if limit is None or config.lossless_only or _size(result.text) <= limit:
            return result
        return self._both_ends(job._replace(kind=result.kind), result.pointer, limit)

    def _was_made_here(self, text: str, tokens: int, known: frozenset[str]) -> bool:
        """Return whether a text was made here; one that only looks like it is not let through when it is large."""
        first, _, rest = text.partition("\n")
        if first.startswith("[[wm:"):
            if pointer_id(first[:30]) not in known:
                return False
            text = rest
        largest = max(2 * self._config.max_tokens, *self._config.byte_limits.values(), _MADE_TOKENS)
        return _HEAD.match(text[:100]) is not None and (self._config.lossless_only or tokens <= largest)

    def _compressed(self, job: _Job, strategy: Strategy | str | None) -> ToolResult:
        if strategy is not None and not isinstance(strategy, str):
            return self._digested(job._replace(kind="other"), strategy(job.text, job.task))
        if strategy == "json" or (strategy is None and looks_like_json(job.text)):
            result = self._json(job._replace(kind="json"))
            if result is not None:
                return result
        job = job._replace(kind=strategy or self._kind(job.text))
        if job.kind == "binary":
            length = len(job.text)
            omitted = gap(length, "characters", 0, length - 1)
            return self._shown(job, Digest(omitted, 0, length, "bytes", "placeholder"), job.put_aside())
        if self._config.lossless_only or (job.kind not in _WHOLE and job.tokens <= _KEPT_TOKENS):
            return self._unchanged(job)
        digest_of = _BY_LINES.get(job.kind)
        if digest_of is None:
            return self._put_aside(job)
        sample = sample_lines(job.text, job.task.asked, max_chars=_ANALYSED_CHARS)
        task = self._less_head(job)
        if job.kind == "trace":
            task = task._replace(budget_tokens=_TRACE_SHARE * task.budget_tokens)
        digest = digest_of(sample, task)
        if digest is None and digest_of is not digest_lines:
            digest = digest_lines(sample, task)
        return self._digested(job, digest)

    def _kind(self, text: str) -> Kind:
        """Return the kind of a text that was not read as JSON; an object too long for that is no code, but lines."""
        kind = detect_kind(text)
        is_object = len(text) > _ANALYSED_CHARS and text[:200].lstrip().startswith("{")
        return "lines" if is_object and kind in _WHOLE else kind

    def _json(self, job: _Job) -> ToolResult | None:
        """Return JSON as a table, or the rows of it that matter; None where it has to be read as lines."""
        lossless_only = self._config.lossless_only
        value = read_any_json(job.text) if lossless_only or len(job.text) <= _ANALYSED_CHARS else None
        if value is None:
            if lossless_only or job.tokens <= _KEPT_TOKENS:
                return None
            sample = sample_rows(job.text, job.task.asked, max_chars=_ANALYSED_CHARS)
            if sample is None:
                return None
            rows, around = sample
            return self._digested(job, digest_parts([rows], around, self._less_head(job)))
        if lossless_only or job.tokens <= 4 * _KEPT_TOKENS:
            lossless = self._lossless(job, value)
            if lossless is not None:
                return lossless
        return self._digested(job, digest_parts(*parts_of(value), self._less_head(job)))

    def _lossless(self, job: _Job, value: JsonValue) -> ToolResult | None:
        """Return the value without loss where that is small enough, or must be; None where it is to be cut."""
        written = defused(lossless_json(value))
        tokens = self._counter(written)
        most = max(_KEPT_TOKENS, job.task.budget_tokens)
        if not self._config.lossless_only and job.tokens > _KEPT_TOKENS and tokens > most:
            return None
        if tokens > _WORTH_IT * job.tokens:
            return self._unchanged(job)
        return ToolResult(written, "json", "lossless", job.tokens, tokens, 0, None)

    def _put_aside(self, job: _Job) -> ToolResult:
        """Return code or prose as it is, or, where it is large or old, its pointer with a preview.

        The preview: its beginning, the lines that were asked for with those around them, and its end.
        """
        is_large = _size(job.text) >= self._config.offload_bytes
        is_old = job.age_rounds >= _OFFLOADED_AFTER_ROUNDS and len(job.text) >= 2 * self._config.min_chars
        pointer = job.put_aside() if is_large or is_old else None
        if pointer is None:
            return self._unchanged(job)
        sample = sample_lines(job.text, job.task.asked, max_chars=_ANALYSED_CHARS)
        budget = max(_LEAST_TOKENS, min(job.task.budget_tokens, self._config.max_tokens // _PREVIEW_SHARE))
        shelf = Shelf(sample, job.task._replace(budget_tokens=budget))
        best = job.task.asked.ranked(sample.texts, limit=_PREVIEW_ASKED)
        last = len(sample.texts)
        for nth, index in enumerate(best):
            shelf.add(index, least_left=shelf.overdraft if nth < 3 else 0)
        for number in with_context([index + 1 for index in best[:3]], before=2, after=2, last=last):
            shelf.add(number - 1)
        for index in (*range(min(_PREVIEW_HEAD, last)), *range(max(0, last - _PREVIEW_TAIL), last)):
            shelf.add(index)
        return self._shown(job, Digest(shelf.text(), len(shelf.kept), sample.total, "lines", "offloaded"), pointer)

    # --- what comes out

    def _less_head(self, job: _Job) -> Task:
        """Return the task with room for the pointer and the head line."""
        head = f"[{job.kind}: 1000 of 10000 lines shown]\n"
        if job.memory is not None:
            head += job.memory.pointer_to(job.text[:1_000], kind=job.kind).text
        return job.task._replace(budget_tokens=max(40, job.task.budget_tokens - self._counter(head)))

    def _unchanged(self, job: _Job) -> ToolResult:
        return ToolResult(job.text, job.kind, "unchanged", job.tokens, job.tokens, 0, None)

    def _digested(self, job: _Job, digest: Digest | None) -> ToolResult:
        """Return a digest with the pointer to the whole, or the result as it is where that saves too little."""
        if digest is None:
            return self._unchanged(job)
        shown = self._shown(job, digest, None)
        if shown.tokens_after > _WORTH_IT * job.tokens:
            return self._unchanged(job)
        pointer = job.put_aside()
        return shown if pointer is None else self._shown(job, digest, pointer)

    def _shown(self, job: _Job, digest: Digest, pointer: Pointer | None) -> ToolResult:
        text = f"[{job.kind}: {digest.shown} of {digest.total} {digest.what} shown]\n{defused(digest.text)}"
        if pointer is not None:
            text = f"{pointer.text}\n{text}"
        omitted = max(0, digest.total - digest.shown)
        return ToolResult(text, job.kind, digest.strategy, job.tokens, self._counter(text), omitted, pointer)

    def _both_ends(self, job: _Job, pointer: Pointer | None, limit: int) -> ToolResult:
        """Return two thirds of the room from the beginning of a result, one third from its end, in whole characters."""
        pointer = pointer or job.put_aside()
        known = _ours(job.live, job.memory)
        data = job.whole.encode("utf-8", "surrogatepass")
        total = len(data)
        top = f"{pointer.text}\n" if pointer else ""
        around = f"{top}[{job.kind}: {total} of {total} bytes shown]\n\n{gap(total, 'bytes', total, total + 1)}\n"
        room = limit - len(around.encode("utf-8"))
        # Defusing adds a byte for each mark that it finds.
        room = max(0, room - data[:limit].count(b"[[") - data[-limit:].count(b"[["))
        stop = border_before(data, room * 2 // 3)
        start = border_after(data, max(stop, total - room // 3))
        head, tail = (defused(part.decode("utf-8", "surrogatepass"), known) for part in (data[:stop], data[start:]))
        omitted = start - stop
        text = f"{top}[{job.kind}: {total - omitted} of {total} bytes shown]\n{head}\n"
        text += f"{gap(omitted, 'bytes', stop, start - 1)}\n{tail}"
        return ToolResult(text, job.kind, "cut", job.tokens, self._counter(text), omitted, pointer)


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


def _ours(live: Iterable[str], memory: WorkingMemory | None) -> frozenset[str]:
    """Return the ids of the pointers that are ours: those the window shows, and those of the memory."""
    ids = frozenset(found for each in live if (found := pointer_id(each)) is not None)
    return ids if memory is None else ids | memory.ids


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
