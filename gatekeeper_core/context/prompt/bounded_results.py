"""A compressor of tool results for one build: it may raise, hang, or return nonsense.

A ``ToolResultCompressor`` is called directly, with the timeouts of its store. A compressor of your own is a plug-in: it
runs within the time of the build. A result that it fails at stays as it is; once it is late, it is not called again in
this build.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor

if TYPE_CHECKING:
    from gatekeeper_core.context.compaction.run import RunConfig
    from gatekeeper_core.context.prompt.lookups import LookUp
    from gatekeeper_core.context.tool_results.context import ResultCompressor, ResultContext
    from gatekeeper_core.messages import Message

__all__ = ["bounded_run"]

_PART = "tool_results"


def bounded_run(run: RunConfig, look: LookUp) -> RunConfig:
    """Return the settings with a compressor that never raises and keeps to the time of the build.

    Args:
        run: the settings of the thread.
        look: the calls of this build.
    """
    compress = run.compress_result
    if compress is None:
        return run
    bounded = _BoundedCompressor(compress, run, look)
    has_memory = getattr(compress, "working_memory", None) is not None
    return replace(run, compress_result=bounded, working_memory=bounded if has_memory else None)


class _BoundedCompressor:
    """A compressor of one build, and the ids of its memory: what fails stays as it is, or is not there."""

    __slots__ = ("_compress", "_look", "_plugin", "_run")

    def __init__(self, compress: ResultCompressor, run: RunConfig, look: LookUp) -> None:
        self._compress = compress
        self._run = run
        self._look = look
        self._plugin = None if isinstance(compress, ToolResultCompressor) else compress

    def __call__(self, message: Message, context: ResultContext, /) -> str:
        context = context._replace(thread_id=self._run.thread_id, tenant=self._run.tenant)
        text = self._look.ask(_PART, partial(_text_of, self._compress, message, context), plugin=self._plugin)
        return text if isinstance(text, str) else message.text

    def __contains__(self, pointer: object) -> bool:
        return self._look.ask(_PART, lambda: pointer in (self._run.memory or ())) is True


def _text_of(compress: ResultCompressor, message: Message, context: ResultContext) -> str:
    text: object = compress(message, context)
    if not isinstance(text, str):
        raise TypeError(f"compress_result must return str, got {type(text).__name__}")
    return text
