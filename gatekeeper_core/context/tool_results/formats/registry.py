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
from gatekeeper_core.text import LazyPattern

_HEAD_LINES = 160
_MORE_LINES = 120
_LINE_CHARS = 400
_BINARY_SHARE = 0.05
_SAMPLE_CHARS = 4_096
_BLOB_LINE = 10_000

_NOT_TEXT = LazyPattern("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd\ud800-\udfff]")  # ESC colours a terminal
_STAMPED = LazyPattern(
    r"\W{0,3}(?:[\w.:-]{1,60}\s"
    r"|[\w@.-]{1,40}=\"?)?(?:[0-9]{2,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}[T ,_][0-9]{1,2}:[0-9]{2}"
    r"|[0-9]{1,2}:[0-9]{2}:[0-9]{2}\b"
    r"|[A-Z][a-z]{2}\s+[0-9]{1,2}\s[0-9]{2}:[0-9]{2}|[A-Z][a-z]{2} [A-Z][a-z]{2}\s+[0-9]{1,2}\s[0-9]{2}:"
    r"|[0-9]{10,13}[ .]"
    r"|[IWEF][0-9]{4} [0-9]{2}:|[0-9]{4}年|\[\s*[0-9]+\.[0-9]{3,6}\])"
    r"|[0-9.]{7,15} \S+ \S+ \[[0-9]{2}/"
)
_LEVEL = LazyPattern(
    r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|SEVERE|level=\w+|info|notice|error|warn|debug)\b"
    r"|信息|警告|错误|调试|严重"
)
_TEST_LINE = LazyPattern(
    r"(?:=== RUN|--- (?:PASS|FAIL|SKIP)|\s+--- )"
    r"|\s*[✓✔✕✗✘√×○] |(?:not )?ok [0-9]+ |(?:PASS|FAIL|ok|FAIL:|ERROR:)\s|\s+(?:PASS|FAIL) "
    r"|\[(?:\s+OK|\s*FAILED|\s*RUN)\s*\]"
)
_TEST_RESULT = LazyPattern(
    r"\b(?:PASSED|FAILED|SKIPPED|XFAIL)\b| \.\.\. (?:ok|FAIL|ERROR|skipped)|^test \S.{0,200} \.\.\. ignored"
)
_TEST_SUMMARY = LazyPattern(
    r"^(?:=+ .{0,200}\b(?:passed|failed|errors?)\b.{0,100} in [0-9.]+|Tests?:\s+[0-9]+|Test Suites:"
    r"|test result: |Tests run: [0-9]"
    r"|Ran [0-9]+ tests? in|(?:FAIL|ok)\s+\S+\s+[0-9.]+s|[0-9]+ passing|=+ test session starts)",
    re.MULTILINE,
)
_DIFF_LINE = LazyPattern(r"(?:diff --git |index [0-9a-f]{6,}|--- [ab/]|\+\+\+ [ab/]|@@ -[0-9])")
_MARKUP = LazyPattern(r"<!DOCTYPE|<html|<\?xml|<svg|<rss|<!--", re.IGNORECASE)
_CODE_LINE = LazyPattern(
    r"\s*(?:def |class |import |from \S+ import |return\b|if .{0,200}[:{]\s*\Z|else\b|elif "
    r"|for .{0,200}[:{]\s*\Z|while .{0,200}[:{]\s*\Z|try:|except\b"
    r"|raise |with .{0,200}:\s*\Z|@\w|async |await |function\b|const |let |var |export |public |private "
    r"|protected |static |void |int |#include|#define"
    r"|package |func |fn |pub |impl |use |struct |enum |interface |type \w+ |SELECT |INSERT |CREATE |UPDATE |//"
    r"|/\*|\*/|\}|\);|#!|namespace |using )"
    r"|.{0,400}[;{]\s*\Z|\s*[\w.\[\]'\"]{1,80} ?(?:[-+*/|:]?=|:=) \S"
)
_SENTENCE_END = LazyPattern(r"[.!?] |[。！？]")
_WORD = LazyPattern(r"\w")
_KEY_LINE = LazyPattern(r"\s*(?:- )?[\w.\"'-]{1,80}:(?:\s|\Z)|\s*- \S|\s*\[[\w.\"' -]{1,80}\]\s*\Z|\s*[\w.-]{1,80}\s?=")


class Sample:
    """Lines of a result: from the beginning and at even distances, long ones cut, blank ones dropped."""

    def __init__(self, text: str) -> None:
        self.text = text
        lines = [line[:_LINE_CHARS].rstrip("\r") for line in text[: _HEAD_LINES * 200].split("\n")[:_HEAD_LINES]]
        if len(text) > _HEAD_LINES * 200:
            for at in range(1, _MORE_LINES):
                start = text.find("\n", at * len(text) // _MORE_LINES, at * len(text) // _MORE_LINES + _LINE_CHARS)
                if start >= 0:
                    stop = text.find("\n", start + 1, start + 1 + _LINE_CHARS)
                    lines.append(text[start + 1 : stop if stop >= 0 else start + 1 + _LINE_CHARS].rstrip("\r"))
        self.lines = [line for line in lines if line.strip()]

    def share(self, is_one: Callable[[str], object]) -> float:
        """Return the share of the lines for which a test is true."""
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
        """Return whether too many characters at the beginning, in the middle or at the end are not text."""
        starts = (0, len(self.text) // 2, max(0, len(self.text) - _SAMPLE_CHARS))
        pieces = (self.text[start : start + _SAMPLE_CHARS] for start in starts)
        return any(len(_NOT_TEXT.findall(piece)) > _BINARY_SHARE * len(piece) for piece in pieces)

    def is_blob(self) -> bool:
        """Return whether hardly any line ends, and there are no sentences."""
        piece = self.text[:_SAMPLE_CHARS]
        has_lines = len(self.text) < _BLOB_LINE * (self.text.count("\n") + 1)
        return not has_lines and len(_SENTENCE_END.findall(piece)) < len(piece) / 400

    def is_test(self) -> bool:
        """Return whether the lines are those of a run of tests, or a few of them are and a summary is at an end."""
        tested = self.share(lambda line: _TEST_LINE.match(line) or _TEST_RESULT.search(line))
        ends = self.text[:1_000] + self.text[-3_000:]
        return tested >= 0.4 or (tested >= 0.03 and _TEST_SUMMARY.search(ends) is not None)


def _is_sentence(line: str) -> bool:
    """Return whether a line ends as a sentence of some length does."""
    bare = line.rstrip()
    if bare.endswith(('"', "'", "”", "’", ")")):
        bare = bare[:-1]
    if bare.endswith((".", "!", "?")):
        return _WORD.search(bare[:-19]) is not None
    return len(bare) > 8 and bare.endswith(("。", "！", "？"))


class Format(NamedTuple):
    """A format of tool results.

    Attributes:
        kind: its name; a kind may have several rows.
        detects: whether the sample of a result has this format.
        digest: makes a digest of its lines, None if all of them fit; None: a result is never cut.
        budget_factor: how many times the usual budget a digest may cost.
    """

    kind: str
    detects: Callable[[Sample], bool]
    digest: Callable[[Lines, Task], Digest | None] | None = None
    budget_factor: int = 1


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
        budget_factor=2,
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
    Format("code", lambda sample: sample.share(_CODE_LINE.match) >= 0.2 or sample.share(_KEY_LINE.match) >= 0.6),
    Format("prose", lambda sample: sample.share(_is_sentence) >= 0.5),
    Format(
        "lines",
        lambda sample: len(sample.lines) >= 20 and len(set(map(masked, sample.lines))) <= 0.5 * len(sample.lines),
        digest_lines,
    ),
    Format("prose", lambda _: True),
)
"""The formats in the order in which they are tried, the surest first. Source of the shares: ours."""

DIGESTS = {row.kind: (row.digest, row.budget_factor) for row in FORMATS if row.digest is not None}
"""The digest function and the budget factor of each kind that is cut."""

KINDS = frozenset({"json", *(row.kind for row in FORMATS)})
"""All kinds; JSON is detected by reading it."""


def detect_kind(text: str) -> str:
    """Return the kind of a text that is no JSON.

    >>> [detect_kind(text) for text in ("12:00:01 INFO up", "a.py:1:x = 1", "Hello there.")]
    ['log', 'search', 'prose']
    """
    sample = Sample(text)
    return next(row.kind for row in FORMATS if row.detects(sample))
