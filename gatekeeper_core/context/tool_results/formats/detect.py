"""Detection of a tool result's format from its lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from gatekeeper_core.context.tool_results.formats.delimited import delimiter_of, names_a_status
from gatekeeper_core.context.tool_results.formats.listings import is_listed, is_match, is_path
from gatekeeper_core.context.tool_results.formats.templates import masked
from gatekeeper_core.context.tool_results.formats.traces import is_frame, is_trace_head
from gatekeeper_core.text import LazyPattern

__all__ = ["Kind", "detect_kind", "looks_binary", "looks_like_json"]

Kind: TypeAlias = Literal[
    "json", "log", "test", "trace", "table", "search", "listing", "lines", "code", "diff", "markup", "prose", "binary"
]

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


def looks_binary(text: str) -> bool:
    r"""Return whether too many characters at the beginning, in the middle or at the end are no text.

    >>> looks_binary("\x00\x01\x02PNG"), looks_binary("\x1b[31mred\x1b[0m")
    (True, False)
    """
    starts = (0, len(text) // 2, max(0, len(text) - _SAMPLE_CHARS))
    samples = (text[start : start + _SAMPLE_CHARS] for start in starts)
    return any(len(_NOT_TEXT.findall(sample)) > _BINARY_SHARE * len(sample) for sample in samples)


def looks_like_json(text: str) -> bool:
    """Return whether a text begins as a JSON object or list does; whether it is one, only reading it tells."""
    return text[:200].lstrip()[:1] in ("{", "[")


def detect_kind(text: str) -> Kind:
    """Return what a text is that is no JSON, told from its first lines and some from all over it.

    Source: ours. Each kind has lines of its own form; a share of them decides, the most telling form first.

    >>> [detect_kind(text) for text in ("12:00:01 INFO up", "a.py:1:x = 1", "Hello there.")]
    ['log', 'search', 'prose']
    """
    if looks_binary(text):
        return "binary"
    lines = _some_lines(text)
    if not lines:
        return "prose"
    if len(text) >= _BLOB_LINE * (text.count("\n") + 1):  # hardly any line ends: a blob, unless it has sentences
        sample = text[:_SAMPLE_CHARS]
        if len(_SENTENCE_END.findall(sample)) < len(sample) / 400:
            return "lines"
    return _by_mark(text, lines) or _by_form(lines) or _by_language(lines)


def _some_lines(text: str) -> list[str]:
    """Return lines from the beginning and at even distances; long ones cut, blank ones left out."""
    head = text[: _HEAD_LINES * 200].split("\n")[:_HEAD_LINES]
    lines = [line[:_LINE_CHARS].rstrip("\r") for line in head]
    if len(text) > _HEAD_LINES * 200:
        for at in range(1, _MORE_LINES):
            start = text.find("\n", at * len(text) // _MORE_LINES, at * len(text) // _MORE_LINES + _LINE_CHARS)
            if start >= 0:
                stop = text.find("\n", start + 1, start + 1 + _LINE_CHARS)
                lines.append(text[start + 1 : stop if stop >= 0 else start + 1 + _LINE_CHARS].rstrip("\r"))
    return [line for line in lines if line.strip()]


def _share(lines: Sequence[str], is_one: Callable[[str], object]) -> float:
    return sum(1 for line in lines if is_one(line)) / len(lines)


def _by_mark(text: str, lines: Sequence[str]) -> Kind | None:
    """Return the kind that a text names itself by, at its beginning or its end."""
    if _MARKUP.match(text[:2_000].lstrip("\ufeff \t\r\n")):
        return "markup"
    if sum(1 for line in lines if _DIFF_LINE.match(line)) >= 2:
        return "diff"
    tested = _share(lines, lambda line: _TEST_LINE.match(line) or _TEST_RESULT.search(line))
    return "test" if tested >= 0.4 or (tested >= 0.03 and _TEST_SUMMARY.search(text[:1_000] + text[-3_000:])) else None


def _by_form(lines: Sequence[str]) -> Kind | None:
    """Return the kind whose form enough lines have."""
    others = [line for line in lines if not _STAMPED.match(line)]
    levelled = [line for line in others if _LEVEL.search(line[:90])]
    stamped = (len(lines) - len(others)) / len(lines)
    logged = (len(lines) - len(others) + len(levelled)) / len(lines)
    if _share(lines, is_frame) >= 0.25 and any(map(is_trace_head, lines)) and logged < 0.4:
        return "trace"
    delimiter = delimiter_of(lines)
    if delimiter is not None and (stamped < 0.5 or names_a_status(lines, delimiter)):
        return "table"
    if _share(lines, is_listed) >= 0.4:
        return "listing"
    if stamped < 0.4 and logged < 0.6 and _share(lines, is_match) >= 0.6:
        return "search"
    if stamped >= 0.4 or logged >= 0.6:
        return "log"
    return "listing" if _share(lines, is_path) >= 0.8 else None


def _is_sentence(line: str) -> bool:
    """Return whether a line ends as a sentence of some length does."""
    bare = line.rstrip()
    if bare.endswith(('"', "'", "”", "’", ")")):
        bare = bare[:-1]
    if bare.endswith((".", "!", "?")):
        return _WORD.search(bare[:-19]) is not None
    return len(bare) > 8 and bare.endswith(("。", "！", "？"))


def _by_language(lines: Sequence[str]) -> Kind:
    """Return whether lines are code, settings, prose, or repeat one another."""
    if _share(lines, _CODE_LINE.match) >= 0.2 or _share(lines, _KEY_LINE.match) >= 0.6:
        return "code"
    if _share(lines, _is_sentence) >= 0.5:
        return "prose"
    repeated = len({masked(line) for line in lines}) / len(lines)
    if len(lines) >= 20 and repeated <= 0.5:
        return "lines"
    return "prose"
