"""What makes the tool results of one build smaller, as far as it can be had: it may raise, hang, or return nonsense.

A compressor that says so (``is_inline``) is called at once. Any other one may be a model, or write to a store: it is
called on a worker, within the time of the build. A result that it fails at stays as it is; where it is late, it is not
asked again in this build.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatekeeper_core.context.compaction.run import RunConfig
    from gatekeeper_core.context.prompt.lookups import LookUp
    from gatekeeper_core.context.tool_results.context import ResultCompressor, ResultContext
    from gatekeeper_core.messages import Message
    from gatekeeper_core.workers import BoundedCalls

__all__ = ["bounded_run"]

_PART = "tool_results"


def bounded_run(run: RunConfig, look: LookUp, lane: BoundedCalls) -> RunConfig:
    """Return the settings with a compressor that never raises and keeps to the time of the build.

    Args:
        run: the settings of the thread.
        look: the calls of this build.
        lane: the workers for compressors that may hang.
    """
    compress = run.compress_result
    if compress is None:
        return run
    at = None if getattr(compress, "is_inline", False) is True else lane
    has_memory = run.working_memory is not None or getattr(compress, "working_memory", None) is not None
    return replace(
        run,
        compress_result=_BoundedCompressor(compress, run, look, at),
        working_memory=_BoundedIds(run, look, at) if has_memory else None,
    )


class _BoundedCompressor:
    """A compressor of one build: what it cannot make smaller stays as it is."""

    __slots__ = ("_compress", "_lane", "_look", "_run", "is_steady")

    def __init__(self, compress: ResultCompressor, run: RunConfig, look: LookUp, lane: BoundedCalls | None) -> None:
        self._compress = compress
        self._run = run
        self._look = look
        self._lane = lane
        self.is_steady = getattr(compress, "is_steady", False) is True

    def __call__(self, message: Message, context: ResultContext, /) -> str:
        context = context._replace(thread_id=self._run.thread_id, tenant=self._run.tenant)
        text = self._look.ask(_PART, self._lane, partial(_text_of, self._compress, message, context))
        return text if isinstance(text, str) else message.text


def _text_of(compress: ResultCompressor, message: Message, context: ResultContext) -> str:
    text: object = compress(message, context)
    if not isinstance(text, str):
        raise TypeError(f"compress_result must return str, got {type(text).__name__}")
    return text


class _BoundedIds:
    """The ids of a working memory: one that cannot be asked holds nothing."""

    __slots__ = ("_lane", "_look", "_run")

    def __init__(self, run: RunConfig, look: LookUp, lane: BoundedCalls | None) -> None:
        self._run = run
        self._look = look
        self._lane = lane

    def __contains__(self, pointer: object) -> bool:
        # A compressor that hangs may hold the lock of its memory: the caller's thread must not wait for it.
        return self._look.ask(_PART, self._lane, lambda: pointer in (self._run.memory or ())) is True
