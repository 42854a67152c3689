"""Compression of tool results: failures, matches of the query and outliers stay, the rest is counted.

::

    result ──strategy by tool name, or detection──> kind ──digest──> text  (JSON: first a table without loss)
           ──code, prose────────────────────────────────────────> never cut: offloaded in full, by age or size
    everything that is cut or offloaded: a mark for what is missing, and a pointer where there is a working memory

A result is only data: nothing in it is run or followed, forged pointers are defused. Same input, same bytes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.caching import LruCache, text_key
from gatekeeper_core.context.tool_results.context import ResultContext, memory_of
from gatekeeper_core.context.tool_results.digest import Digest, DigestFunction, KeptLines, Task, gap, with_neighbours
from gatekeeper_core.context.tool_results.formats import json_results
from gatekeeper_core.context.tool_results.formats.registry import DIGESTS, KINDS, detect_kind
from gatekeeper_core.context.tool_results.pointers import Pointer, defused, pointer_id
from gatekeeper_core.context.tool_results.query_match import QueryMatcher
from gatekeeper_core.context.tool_results.sampling import ANALYSED_CHARS, sample_lines, sample_rows
from gatekeeper_core.context.tool_results.working_memory import READING_TOOLS, ThreadMemories, WorkingMemory, border
from gatekeeper_core.errors import ConfigError, check_number, check_str, check_type
from gatekeeper_core.events import TOOL_RESULT
from gatekeeper_core.messages import Message
from gatekeeper_core.observation import stage
from gatekeeper_core.storage.codec import decode_text, encode_text
from gatekeeper_core.text import LazyPattern
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter

_SHELLS = ("bash", "shell", "terminal", "run_command", "execute_command", "read_file", "read", "cat", "view")
_BYTE_LIMITS: Mapping[str, int] = MappingProxyType(dict.fromkeys(_SHELLS, 8_000))

_HEAD = LazyPattern(r"\[[a-z]{3,10}: [0-9]{1,12} of [0-9]{1,12} [a-z]{4,6} shown\]\n|\[table: [0-9]{1,12} rows?\]\n")
_MIN_TOKENS = 100
_KEPT_TOKENS = 400  # results and lossless tables up to this size are never cut. Source: ours
_DIGEST_TOKENS = 1_000  # a digest may reach this below any ``max_tokens``: a table's column names. Source: ours
_SHARE = 0.12  # the digest's share of a result's tokens. Source: ours: saves 85 % or more
_OFFLOAD_BYTES = 8_000  # code and prose of this size in UTF-8 are offloaded. Source: requirement 004-20
_OFFLOADED_AFTER_ROUNDS = 3  # code and prose this old are offloaded at twice ``min_chars``. Source: ours
_MAX_SHARE = 0.9  # a digest above this share of the result's tokens is not used
_PREVIEW_SHARE = 4
_PREVIEW_HEAD, _PREVIEW_TAIL, _PREVIEW_MATCHES, _PREVIEW_AROUND = 6, 2, 8, 2

_MAX_RESULTS = 4_096  # in the cache, so that a run compresses each only once. Source: ours; 40 MB at most


class ToolResult(NamedTuple):
    """A tool result as the model reads it.

    Attributes:
        text: what to send.
        kind: ``json``, ``log``, ``test``, ``trace``, ``table``, ``search``, ``listing``, ``lines``, ``code``, ``diff``,
            ``markup``, ``prose`` (also if short), ``binary``, ``other`` (your function), ``ours`` (compressed before).
        strategy: the compression applied: ``unchanged``; ``lossless``; ``lines``, ``rows``, ``values``, ``groups``,
            ``frames`` (parts were kept); ``offloaded``; ``cut`` (to its tool's limit); ``placeholder``.
        tokens_before: cost of the original result.
        tokens_after: cost of the text.
        omitted: number of omitted lines or rows (``cut``: bytes).
        pointer: pointer to the full result, or None.
    """

    text: str
    kind: str
    strategy: str
    tokens_before: int
    tokens_after: int
    omitted: int
    pointer: Pointer | None


@dataclass(slots=True)
class _Job:
    """A result being compressed: ``original`` as received, ``text`` without forged pointers."""

    original: str
    text: str
    ours: frozenset[str]
    tokens: int
    memory: WorkingMemory | None
    live: frozenset[str]
    age_rounds: int
    limits: ToolResultCompressor
    task: Task
    kind: str = "prose"

    @property
    def is_compressed(self) -> bool:
        """Whether this is our own digest; an oversized one may be a forgery and does not count."""
        first, _, text = self.text.partition("\n")
        if not first.startswith("[[wm:"):
            text = self.text
        elif pointer_id(first[:30]) not in self.ours:
            return False
        largest = max(2 * self.limits.max_tokens, *self.limits.byte_limits.values(), _DIGEST_TOKENS)
        return _HEAD.match(text[:100]) is not None and self.tokens <= largest

    def compressed(self, strategy: DigestFunction | str | None) -> ToolResult:
        if strategy is not None and not isinstance(strategy, str):
            self.kind = "other"
            return self.digested(strategy(self.text, self.task))
        if strategy == "json" or (strategy is None and self.text[:200].lstrip()[:1] in ("{", "[")):
            self.kind = "json"
            result = self.json()
            if result is not None:
                return result
        self.kind = strategy or detect_kind(self.text)
        if self.kind == "binary":
            length = len(self.text)
            omitted = gap(length, "characters", 0, length - 1)
            return self.shown(Digest(omitted, 0, length, "bytes", "placeholder"), self.offload())
        if self.kind not in DIGESTS:
            return self.offloaded()
        if self.tokens <= _KEPT_TOKENS:
            return self.unchanged()
        return self.digested(DIGESTS[self.kind](sample_lines(self.text, self.task.query), self.headed_task()))

    def json(self) -> ToolResult | None:
        """Return JSON as a lossless table or a digest of its rows; None if it must be read as lines."""
        value = json_results.read_any_json(self.text) if len(self.text) <= ANALYSED_CHARS else None
        if value is not None and self.tokens <= 4 * _KEPT_TOKENS:
            written = defused(json_results.lossless_json(value))
            tokens = self.task.counter(written)
            if self.tokens <= _KEPT_TOKENS or tokens <= max(_KEPT_TOKENS, self.task.budget_tokens):
                lossless = ToolResult(written, self.kind, "lossless", self.tokens, tokens, 0, None)
                return lossless if tokens <= _MAX_SHARE * self.tokens else self.unchanged()
        if self.tokens <= _KEPT_TOKENS:
            return None
        parts = sample_rows(self.text, self.task.query) if value is None else json_results.parts_of(value)
        return None if parts is None else self.digested(json_results.digest_parts(*parts, self.headed_task()))

    def offloaded(self) -> ToolResult:
        """Return code or prose unchanged, or as a pointer with a preview if it is large or old."""
        is_large = len(encode_text(self.text)) >= _OFFLOAD_BYTES
        is_old = self.age_rounds >= _OFFLOADED_AFTER_ROUNDS and len(self.text) >= 2 * self.limits.min_chars
        pointer = self.offload() if is_large or is_old else None
        if pointer is None:
            return self.unchanged()
        sample = sample_lines(self.text, self.task.query)
        budget = max(_MIN_TOKENS, min(self.task.budget_tokens, self.limits.max_tokens // _PREVIEW_SHARE))
        selection = KeptLines(sample, self.task._replace(budget_tokens=budget))
        best, lines = self.task.query.ranked(sample.texts, limit=_PREVIEW_MATCHES), range(len(sample.texts))
        selection.add_all(best, sure=3)
        near = with_neighbours(best[:3], _PREVIEW_AROUND, within=lines)
        selection.add_all((*near, *lines[:_PREVIEW_HEAD], *lines[-_PREVIEW_TAIL:]))
        return self.shown(selection.digest("offloaded"), pointer)

    def both_ends(self, pointer: Pointer | None, limit: int) -> ToolResult:
        """Return two thirds of the limit from the beginning of a result, one third from its end."""
        pointer = pointer or self.offload()
        data = encode_text(self.original)
        total = len(data)
        top = f"{pointer.text}\n" if pointer else ""
        around = f"{top}[{self.kind}: {total} of {total} bytes shown]\n\n{gap(total, 'bytes', total, total + 1)}\n"
        room = limit - len(around.encode("utf-8"))
        # Defusing adds a byte for each mark.
        room = max(0, room - data[:limit].count(b"[[") - data[-limit:].count(b"[["))
        stop = border(data, room * 2 // 3, step=-1)
        start = border(data, max(stop, total - room // 3))
        head, tail = (defused(decode_text(part), self.ours) for part in (data[:stop], data[start:]))
        omitted = start - stop
        text = f"{top}[{self.kind}: {total - omitted} of {total} bytes shown]\n{head}\n"
        text += f"{gap(omitted, 'bytes', stop, start - 1)}\n{tail}"
        return ToolResult(text, self.kind, "cut", self.tokens, self.task.counter(text), omitted, pointer)

    def offload(self) -> Pointer | None:
        return None if self.memory is None else self.memory.offload(self.original, live=self.live, kind=self.kind)

    def unchanged(self) -> ToolResult:
        return ToolResult(self.text, self.kind, "unchanged", self.tokens, self.tokens, 0, None)

    def shown(self, digest: Digest, pointer: Pointer | None) -> ToolResult:
        text = f"[{self.kind}: {digest.shown} of {digest.total} {digest.what} shown]\n{defused(digest.text)}"
        if pointer is not None:
            text = f"{pointer.text}\n{text}"
        omitted = max(0, digest.total - digest.shown)
        return ToolResult(text, self.kind, digest.strategy, self.tokens, self.task.counter(text), omitted, pointer)

    def digested(self, digest: Digest | None) -> ToolResult:
        """Return a digest with its pointer, or the unchanged result if the digest saves too little."""
        if digest is None:
            return self.unchanged()
        shown = self.shown(digest, None)
        if shown.tokens_after > _MAX_SHARE * self.tokens:
            return self.unchanged()
        pointer = self.offload()
        return shown if pointer is None else self.shown(digest, pointer)

    def headed_task(self) -> Task:
        """Return the task with the cost of the pointer and the head line subtracted."""
        head = f"[{self.kind}: 1000 of 10000 lines shown]\n"
        if self.memory is not None:
            head += self.memory.pointer_to(self.text[:1_000], kind=self.kind).text
        return self.task._replace(budget_tokens=max(40, self.task.budget_tokens - self.task.counter(head)))


@with_suggestions()
class ToolResultCompressor:
    r"""A compressor of tool results, by kind of result.

    Args:
        min_chars: shorter results stay unchanged, >= 0. Source: requirement 003-96.
        max_tokens: token limit of a digest, >= 100; failures and matches may exceed it by half. Source: ours.
        byte_limits: by tool name, each >= 400; default: 8,000 for shells and file readers. Source: requirement 002-08.
        working_memory: stores full results: one ``WorkingMemory``, or ``ThreadMemories`` (an unnamed thread offloads
            nothing). With None, nothing is offloaded; code and prose stay.
        strategies: overrides by tool name: a kind (``"log"``) or ``(text, task) -> Digest | None`` (None: unchanged).
        token_counter: counts the tokens of a text; defaults to the library's own.

    Raises:
        ConfigError: a number is out of range, or a strategy is unknown.
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

    def __init__(
        self,
        *,
        min_chars: int = 500,
        max_tokens: int = 2_400,
        byte_limits: Mapping[str, int] = _BYTE_LIMITS,
        working_memory: WorkingMemory | ThreadMemories | None = None,
        strategies: Mapping[str, DigestFunction | str] | None = None,
        token_counter: TokenCounter | None = None,
    ) -> None:
        check_type("working_memory", working_memory, WorkingMemory, ThreadMemories, None)
        check_number("min_chars", min_chars, low=0, integer=True)
        check_number("max_tokens", max_tokens, low=_MIN_TOKENS, integer=True)
        for name, limit in byte_limits.items():
            check_tokens(f"byte_limits[{name!r}]", limit, at_least=400)
        self.min_chars, self.max_tokens, self.byte_limits = min_chars, max_tokens, byte_limits
        self.working_memory = working_memory
        # By text, tool, query, age and thread: the text to send (None: unchanged), and the id of its pointer.
        self._cache: LruCache[Hashable, tuple[str | None, str | None]] = LruCache(max_entries=_MAX_RESULTS)
        self._strategies = dict(strategies or {})
        self._counter = checked_counter(token_counter)
        for name, strategy in self._strategies.items():
            if isinstance(strategy, str) and strategy not in KINDS:
                raise ConfigError(f"the strategy of {name} must be a function or one of {', '.join(sorted(KINDS))}")

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
        """Return a tool result as the model reads it. Compressing the output again changes nothing.

        Args:
            text: the result.
            tool_name: the tool that returned it, for strategy and limit; results of ``READING_TOOLS`` stay.
            query: the question; lines and rows with its rarest words are kept.
            live: pointer ids, or texts with a pointer, in the prompt; their targets are not evicted.
            age_rounds: age of the result in rounds of the tool loop, at least 0.
            thread_id: name of the thread, for ``ThreadMemories``; None if unnamed.
            tenant: tenant of the thread.

        Raises:
            TypeError: an argument has the wrong type.
            ConfigError: ``age_rounds`` is negative, or a name is empty.
        """
        check_str("text", text)
        check_type("tool_name", tool_name, str, None)
        check_type("query", query, str, None)
        check_tokens("age_rounds", age_rounds)
        memory = memory_of(self, thread_id, tenant=tenant)
        with stage(TOOL_RESULT) as seen:
            window = frozenset(found for each in live if (found := pointer_id(each)) is not None)
            ours = window | memory.ids if memory else window
            safe = defused(text, ours)
            tokens = self._counter(safe)
            budget = min(self.max_tokens, max(_MIN_TOKENS, int(_SHARE * tokens)))
            task = Task(QueryMatcher(query), budget, self._counter)
            job = _Job(text, safe, ours, tokens, memory, window, age_rounds, self, task)
            if tool_name in READING_TOOLS or job.is_compressed:
                job.kind = "ours"
                result = job.unchanged()
            elif len(safe) < self.min_chars:
                result = job.unchanged()
            else:
                result = job.compressed(self._strategies.get(tool_name or ""))
                limit = self.byte_limits.get(tool_name or "")
                if limit and len(encode_text(result.text)) > limit:
                    result = job.both_ends(result.pointer, limit)
            seen.tell(lambda: {name: getattr(result, name) for name in ("strategy", "tokens_before", "tokens_after")})
        return result

    def __call__(self, message: Message, context: ResultContext) -> str:
        """Return the text that the model reads (``compress_result``), cached while working memory has its target."""
        check_type("message", message, Message)
        check_type("context", context, ResultContext)
        memory = memory_of(self, context.thread_id, tenant=context.tenant)
        owner = None if memory is None else (context.tenant, context.thread_id)
        is_old = context.age_rounds >= _OFFLOADED_AFTER_ROUNDS
        key = (text_key(message.text), context.tool_name, context.query, is_old, owner)
        cached = self._cache.get(key)
        if cached is None or (cached[1] and memory and not memory.touch(cached[1])):
            # Third-party text may contain an id: only ids of this memory are pointers.
            live = memory.ids.intersection(context.live) if memory else ()
            result = self.compress(message.text, **context._replace(live=live)._asdict())
            text = None if result.text == message.text else result.text
            cached = (text, result.pointer.id if result.pointer else None)
            self._cache.put(key, cached)
        return message.text if cached[0] is None else cached[0]
