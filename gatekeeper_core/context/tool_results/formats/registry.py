"""The formats of tool results: how each is detected and digested. A new format is a module and a row of ``FORMATS``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from gatekeeper_core.context.tool_results.digest import Digest, Lines, Task
from gatekeeper_core.context.tool_results.formats.delimited import digest_delimited, is_table
from gatekeeper_core.context.tool_results.formats.lines import digest_lines
from gatekeeper_core.context.tool_results.formats.listings import digest_listing, is_listed, is_match, is_path
from gatekeeper_core.context.tool_results.formats.templates import masked
from gatekeeper_core.context.tool_results.formats.traces import digest_trace, is_frame, is_trace_head
from gatekeeper_core.context.tool_results.sampling import ANALYSED_CHARS
from gatekeeper_core.text import LazyPattern, data_pattern

_HEAD_LINES = 160
_MORE_LINES = 120
_LINE_CHARS = 400
_BINARY_SHARE = 0.05
_SAMPLE_CHARS = 4_096
_BLOB_LINE = 10_000

_NOT_TEXT = data_pattern("result_patterns.tsv", "NOT_TEXT")
_STAMPED = data_pattern("result_patterns.tsv", "STAMPED")
_LEVEL = data_pattern("result_patterns.tsv", "LOG_LEVEL")
_TEST_LINE = data_pattern("result_patterns.tsv", "TEST_LINE")
_TEST_RESULT = data_pattern("result_patterns.tsv", "TEST_RESULT")
_TEST_SUMMARY = data_pattern("result_patterns.tsv", "TEST_SUMMARY", re.MULTILINE)
_DIFF_LINE = data_pattern("result_patterns.tsv", "DIFF_LINE")
_MARKUP = data_pattern("result_patterns.tsv", "MARKUP", re.IGNORECASE)
_CODE_LINE = data_pattern("result_patterns.tsv", "CODE_LINE")
_SENTENCE_END = LazyPattern(r"[.!?] |[。！？]")
_SENTENCE_LINE = data_pattern("result_patterns.tsv", "SENTENCE_LINE", re.DOTALL)
_KEY_LINE = data_pattern("result_patterns.tsv", "KEY_LINE")


class Sample:
    """Lines of a result: from the beginning and at even distances, long ones cut, blank ones dropped."""

    def __init__(self, text: str) -> None:
        self.text = text
        lines = text[: _HEAD_LINES * 200].split("\n")[:_HEAD_LINES]
        if len(text) > _HEAD_LINES * 200:
            for place in (at * len(text) // _MORE_LINES for at in range(1, _MORE_LINES)):
                start = text.find("\n", place, place + _LINE_CHARS) + 1
                if start:
                    lines.append(text[start : start + _LINE_CHARS].partition("\n")[0])
        self.lines = [line[:_LINE_CHARS].rstrip("\r") for line in lines if line[:_LINE_CHARS].strip()]

    def share(self, is_one: Callable[[str], object]) -> float:
        """Return the share of lines that pass a test."""
        return sum(1 for line in self.lines if is_one(line)) / len(self.lines)

    @cached_property
    def stamped(self) -> float:
        """The share of lines that begin with a time."""
        return self.share(_STAMPED.match)

    @cached_property
    def logged(self) -> float:
        """The share of lines that begin with a time or state a level."""
        return self.share(lambda line: _STAMPED.match(line) or _LEVEL.search(line[:90]))

    def is_binary(self) -> bool:
        """Return whether too many characters at the beginning, middle or end are not text."""
        starts = (0, len(self.text) // 2, max(0, len(self.text) - _SAMPLE_CHARS))
        pieces = (self.text[start : start + _SAMPLE_CHARS] for start in starts)
        return any(len(_NOT_TEXT.findall(piece)) > _BINARY_SHARE * len(piece) for piece in pieces)

    def is_blob(self) -> bool:
        """Return whether the text has hardly any line breaks or sentences."""
        piece = self.text[:_SAMPLE_CHARS]
        has_lines = len(self.text) < _BLOB_LINE * (self.text.count("\n") + 1)
        return not has_lines and len(_SENTENCE_END.findall(piece)) < len(piece) / 400

    def is_test(self) -> bool:
        """Return whether many lines are test output, or a few are and there is a summary at either end."""
        tested = self.share(lambda line: _TEST_LINE.match(line) or _TEST_RESULT.search(line))
        ends = self.text[:1_000] + self.text[-3_000:]
        return tested >= 0.4 or (tested >= 0.03 and _TEST_SUMMARY.search(ends) is not None)


class Format(NamedTuple):
    """A format of tool results.

    Attributes:
        kind: its name; several rows may share one.
        detects: whether the sample of a result has this format.
        digest: makes a digest of the lines; None: results are never cut.
    """

    kind: str
    detects: Callable[[Sample], bool]
    digest: Callable[[Lines, Task], Digest] | None = None


FORMATS = (
    Format("binary", Sample.is_binary),
    Format("prose", lambda sample: not sample.lines),
    Format("lines", Sample.is_blob, digest_lines),
    Format("markup", lambda sample: _MARKUP.match(sample.text[:2_000].lstrip("\ufeff \t\r\n")) is not None),
    Format("diff", lambda sample: sum(1 for line in sample.lines if _DIFF_LINE.match(line)) >= 2),
    Format("test", Sample.is_test, digest_lines),
    Format(
        "trace",
        lambda sample: sample.share(is_frame) >= 0.25 and any(map(is_trace_head, sample.lines)) and sample.logged < 0.4,
        digest_trace,
    ),
    Format("table", lambda sample: is_table(sample.lines, with_times=sample.stamped >= 0.5), digest_delimited),
    Format("listing", lambda sample: sample.share(is_listed) >= 0.4, digest_listing),
    Format(
        "search",
        lambda sample: sample.stamped < 0.4 and sample.logged < 0.6 and sample.share(is_match) >= 0.6,
        digest_listing,
    ),
    Format("log", lambda sample: sample.stamped >= 0.4 or sample.logged >= 0.6, digest_lines),
    Format("listing", lambda sample: sample.share(is_path) >= 0.8, digest_listing),
    Format(  # JSON that is too long to parse, not code
        "lines",
        lambda sample: len(sample.text) > ANALYSED_CHARS and sample.text[:200].lstrip().startswith("{"),
        digest_lines,
    ),
    Format("code", lambda sample: sample.share(_CODE_LINE.match) >= 0.2 or sample.share(_KEY_LINE.match) >= 0.6),
    Format("prose", lambda sample: sample.share(_SENTENCE_LINE.match) >= 0.5),
    Format(
        "lines",
        lambda sample: len(sample.lines) >= 20 and len(set(map(masked, sample.lines))) <= 0.5 * len(sample.lines),
        digest_lines,
    ),
    Format("prose", lambda _: True),
)
"""The formats in the order of detection, the surest first. Source of the shares: ours."""

DIGESTS = {row.kind: row.digest for row in FORMATS if row.digest is not None}
"""The digest function of each kind that may be cut."""

KINDS = frozenset({"json", *(row.kind for row in FORMATS)})
"""All kinds; JSON is detected by parsing it."""


def detect_kind(text: str) -> str:
    """Return the kind of a text that is not JSON.

    >>> [detect_kind(text) for text in ("12:00:01 INFO up", "a.py:1:x = 1", "Hello there.")]
    ['log', 'search', 'prose']
    """
    sample = Sample(text)
    return next(row.kind for row in FORMATS if row.detects(sample))
