r"""Scripts, words and sentences: the one module that segments text.

Any string is accepted, including lone surrogates, NUL, control and bidirectional characters, in linear time. A *wide*
script (``WIDE`` in the data file: Han, kana, hangul, bopomofo, Thai, Lao, Khmer, Myanmar, Tibetan) is searched by
character pairs, because spaces do not reliably separate its words; every other script is searched by words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from gatekeeper_core.data_files import expanded, pattern, words
from gatekeeper_core.errors import check_str

Locale: TypeAlias = Literal["zh", "en"]


class Span(NamedTuple):
    """A half-open range of character positions, ``text[start:stop]``."""

    start: int
    stop: int


class LazyPattern:
    """A regular expression compiled on first use: compiling all patterns here would take half of the library's import.

    >>> LazyPattern("[0-9]+").findall("a1b22")
    ['1', '22']
    """

    match: Callable[..., re.Match[str] | None]
    fullmatch: Callable[..., re.Match[str] | None]
    search: Callable[..., re.Match[str] | None]
    findall: Callable[..., list[str]]
    finditer: Callable[..., Iterator[re.Match[str]]]
    sub: Callable[..., str]

    def __init__(self, source: str | Callable[[], str], flags: int = 0) -> None:
        self._source = source
        self._flags = flags

    if not TYPE_CHECKING:  # a type checker knows the methods above and no others

        def __getattr__(self, name):
            # Reached only before the first use: afterwards the methods are attributes of the object.
            if name not in LazyPattern.__annotations__:
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            source = self._source() if callable(self._source) else self._source
            pattern = re.compile(source, self._flags)
            for method in LazyPattern.__annotations__:
                setattr(self, method, getattr(pattern, method))
            return getattr(pattern, name)


def data_pattern(name: str, key: str, flags: int = 0) -> LazyPattern:
    """Return a pattern of a data file; see :func:`gatekeeper_core.data_files.pattern`."""
    return LazyPattern(partial(pattern, name, key), flags)


def _expanded(source: str) -> LazyPattern:
    return LazyPattern(partial(expanded, "text_patterns.tsv", source))


# --- Scripts --------------------------------------------------------------------------------------------------------

HAN = pattern("text_patterns.tsv", "HAN")
"""The body of a character class for Han ideographs, including 々 and 〇."""

_WIDE_CHAR = _expanded("[{WIDE}]")
_HAN_CHAR = _expanded("[{HAN}]")
_KANA_CHAR = _expanded("[{KANA}]")
_HANGUL_CHAR = _expanded("[{HANGUL}]")


def is_wide(char: str) -> bool:
    """Return whether a character belongs to a wide script, which is searched by character pairs.

    >>> is_wide("缓"), is_wide("カ"), is_wide("가"), is_wide("a"), is_wide("。")
    (True, True, True, False, False)
    """
    return _WIDE_CHAR.fullmatch(char) is not None


def is_han(char: str) -> bool:
    """Return whether a character is a Han ideograph, including 々 and 〇."""
    return _HAN_CHAR.fullmatch(char) is not None


def locale_of(texts: Iterable[str]) -> Locale:
    """Return the language for headings and placeholders: that of the first text with a word in it.

    Chinese if its first 2,000 characters have no kana and at least as many ideographs as other words; else English.

    >>> locale_of(["?!", "用 Redis 做缓存"]), locale_of(["What does 你好 mean?"]), locale_of(["設定は完了です"])
    ('zh', 'en', 'en')
    """
    for text in texts:
        beginning = text[:2_000]
        if words := word_strings(beginning):
            others = sum(not _HAN_CHAR.search(word) for word in words)
            ideographs = len(_HAN_CHAR.findall(beginning))
            return "zh" if ideographs and ideographs >= others and not _KANA_CHAR.search(beginning) else "en"
    return "en"


# --- The text as matching sees it -----------------------------------------------------------------------------------

_UNCLEAN = _expanded("[{FORMAT}\uff01-\uff5e\u3000]")
_FULL_WIDTH_OFFSET = 0xFEE0
_CLEANED = {chr(code + _FULL_WIDTH_OFFSET): chr(code) for code in range(0x21, 0x7F)} | {"\u3000": " "}


def clean(text: str) -> str:
    r"""Return the text that matching sees; the same object if nothing changes.

    Drops format characters (zero-width, bidirectional controls, soft hyphen, byte order mark), and turns full-width
    ASCII into ASCII and the ideographic space into a space. Half-width katakana and case stay. The result is never
    longer than the text: full compatibility normalisation (NFKC) could make a hostile text 18 times longer. Idempotent.

    >>> clean("ｖ１．２\u200b，Re\u00addis")
    'v1.2,Redis'
    """
    check_str("text", text)
    return text if text.isascii() else _UNCLEAN.sub(lambda match: _CLEANED.get(match[0], ""), text)


# --- Words ----------------------------------------------------------------------------------------------------------

# A joiner holds two word characters together; it never repeats. A comma joins only a digit with a group of three
# digits, so that "1,000" is one number and "1,2,3" is three.
_JOINERS = r".\-/:@+#'&\\%"
_THOUSANDS = r",(?<=\d,)(?=\d{3}(?!\d))"
# "C++", "C#" and "f#" are names; "Disney+" and "12#" are not worth two spellings of one word.
_SIGNS = r"(?:\+\+(?<=[A-Za-z]\+\+)|#(?<=[A-Za-z]#)|)"
# Dashes belong to a flag only after white space or at the start.
_FLAG = r"-(?<!\S-)-?"

# Most joiners and marks in one word. Longer words are cut, because the regex engine keeps about 100 bytes per round:
# gigabytes for a hostile text of dots and digits.
_MAX_JOINS = 255

# One look-ahead decides whether a word may continue, so that most words cost no more than their letters.
_ASCII = "[A-Za-z0-9_]"
# WIDE appears as rarely as possible: each use takes milliseconds to compile.
_LETTER = r"[^\W{WIDE}]"
_REST = (
    r"(?:(?![\x00-\x20\x7f!\"$()*;<=>?\[\]^`{|}~])"
    rf"(?:(?:(?:[{_JOINERS}’‐‑]|{_THOUSANDS}){_LETTER}|[{{MARKS}}]){_LETTER}*){{0,{_MAX_JOINS}}}{_SIGNS}|)"
)

WORD = _expanded(rf"(?:{_ASCII}+|{_LETTER}|{_FLAG}{_LETTER}){_LETTER}*{_REST}|[{{WIDE}}]+")
"""One word: a run of wide characters, or a word of another script. No groups, for ``findall`` and ``finditer``."""


def word_strings(text: str) -> list[str]:
    """Return the words of a text in order, as written; pass ``clean(text)`` if invisible characters must not matter.

    >>> word_strings("用Redis做缓存, don't use api-gateway v1.2.3 --dry-run")
    ['用', 'Redis', '做缓存', "don't", 'use', 'api-gateway', 'v1.2.3', '--dry-run']
    """
    check_str("text", text)
    return WORD.findall(text)


# --- Sentences ------------------------------------------------------------------------------------------------------

_LINE_ENDS = "\n\r\x0b\x0c\x85\u2028\u2029"
_STRONG = "。｡！？；‼⁇⁈⁉؟۔।॥။។"  # they end a sentence whatever follows
_WEAK = ".．!?…"  # they end a sentence before white space, sometimes before a wide character
_CLOSERS = ")\\]}）］｝」』】》〉〕”’"
_TOGGLES = ('"', "**")  # the same mark opens and closes; counting along the line shows which

_CANDIDATE = LazyPattern(f'[{_LINE_ENDS}"*{_STRONG}{_WEAK}]')
# Group 1: the marks and what can only close; the rest may also open what comes next.
_RUN = LazyPattern(f"([{_STRONG}{_WEAK}][{_STRONG}{_WEAK}{_CLOSERS}]*)[{_STRONG}{_WEAK}{_CLOSERS}\"'*_]*")
_MORE_CLOSERS = LazyPattern(f"[{_STRONG}{_WEAK}{_CLOSERS}]*")
_ENDS_AT_ONCE = LazyPattern(f"[{_STRONG}]|……")
_OPENERS = frozenset("“‘「『（《【")
_VISIBLE = LazyPattern(r"\S")


_TITLES = frozenset(words("words.tsv", "abbreviated titles"))
_ABBREVIATIONS = frozenset(words("words.tsv", "abbreviations"))
_BEFORE_NUMBERS = frozenset(words("words.tsv", "abbreviations before numbers"))
_MAY_END = frozenset(words("words.tsv", "abbreviations that may end"))
_LONGEST_ABBREVIATION = 16  # characters to check before a full stop: more than any abbreviation above
_LAST_WORD = LazyPattern(r"(?<![0-9A-Za-z_])[A-Za-z]+(?:\.[A-Za-z]+)*\Z")
_ENUMERATOR = LazyPattern(
    rf"(?:\A|[{_LINE_ENDS}])[ \t>*_(]{{0,12}}(?:\d{{1,3}}(?:\.\d{{1,3}}){{0,3}}|[A-Za-z]|[ivx]{{1,4}})\Z"
)
_LONGEST_ENUMERATOR = 28  # one line end, 12 characters of prefix, four numbers of three digits and three dots

# These patterns begin with a line end: the text is searched with a line end prepended.
_ROW = LazyPattern(
    rf"[{_LINE_ENDS}][ \t\u3000>]*(?:\||\#{{1,6}}[ \t]|[-*+•][ \t]|[(（]?\d{{1,3}}(?:[、）]|[.．)](?=[^\x21-\u2e7f])))"
    rf"[^{_LINE_ENDS}]*"
)
_FENCE = LazyPattern(rf"[{_LINE_ENDS}][ \t>]*(`{{3,}}|~{{3,}})([^{_LINE_ENDS}]*)")
_TICKS = LazyPattern("`+")
_LINE_END = LazyPattern(f"[{_LINE_ENDS}]")
_URL = LazyPattern(r"(?:://|www\.)[^\s<>\"`，。！？；：、（）「」『』【】《》“”‘’…]+")
_URL_TAIL = ".,;:!?'*_)]}"


def sentences(text: str) -> list[Span]:
    """Return the spans of a text's sentences, in order, without surrounding white space.

    Every character other than white space is in exactly one span. A sentence ends

    * at a line end (LF, CR, CRLF, VT, FF, NEL, U+2028, U+2029);
    * after 。！？；, a run of …… and the full stops of other scripts, whatever follows;
    * after ``.`` ``!`` ``?`` ``…`` before white space; after the last three also before a wide character, after ``.``
      only between two wide characters. A run (``?!``) and its closing quotes and brackets are included.

    It never ends inside a fenced code block (one sentence with its fences; an unclosed one runs to the end), a table
    row, list item or heading (one sentence per line), back-ticks on one line, a URL, number, version or dotted name;
    nor after a common abbreviation ("e.g.", "Dr.", "U.S.", "No." before a digit, an initial before a capital). "etc.",
    "Inc." and "p.m." end one unless a lower-case word or a digit follows, three dots unless a lower-case word does.

    Source: specification 3.5 (keep sentences, not fragments); the rules are ours.

    >>> text = "Use v1.2.3, e.g. for app.py. Why? “好的。”他说。"
    >>> [text[start:stop] for start, stop in sentences(text)]
    ['Use v1.2.3, e.g. for app.py.', 'Why?', '“好的。”', '他说。']
    """
    check_str("text", text)
    spans: list[Span] = []
    start = _next_visible(text, 0)
    for stop in _stops(text):
        if stop > start:
            spans.append(Span(start, start + len(text[start:stop].rstrip())))
            start = _next_visible(text, stop)
    return spans


def _next_visible(text: str, position: int) -> int:
    match = _VISIBLE.search(text, position)
    return match.start() if match else len(text)


def _stops(text: str) -> Iterator[int]:
    """Yield the positions where sentences end, ascending; the last is the length of the text."""
    opened: set[str] = set()
    cursor = 0
    for position in _candidates(text):
        char = text[position]
        if char in _LINE_ENDS:
            opened.clear()
            yield position
        elif char == '"':
            opened ^= {char}
        elif char == "*":
            if text.startswith("**", position) and text[position - 1 : position] != "*":
                opened ^= {"**"}
        elif position >= cursor:
            following = text[position + 1 : position + 2]
            is_inside = char not in _STRONG and following.isascii() and following.isalnum()
            if not is_inside and (run := _RUN.match(text, position)):
                cursor = run.end()
                if (stop := _stop_after(text, run, opened)) is not None:
                    yield stop
    yield len(text)


def _candidates(text: str) -> Iterator[int]:
    """Yield the positions where a sentence may end or a quotation may open or close, outside protected spans."""
    protected, index = _protected(text), 0
    for match in _CANDIDATE.finditer(text):
        position = match.start()
        while index < len(protected) and protected[index].stop <= position:
            index += 1
        if index == len(protected) or position < protected[index].start:
            yield position


def _stop_after(text: str, run: re.Match[str], opened: set[str]) -> int | None:
    """Return the end of the sentence that this run of marks may close, or None if the sentence continues."""
    following = text[run.end() : run.end() + 1]
    if not following or following.isspace():
        return run.end() if _ends_before_space(text, run) else None
    stop = run.end(1)
    pending = [toggle for toggle in _TOGGLES if toggle in opened]  # quotation marks and emphasis that close here
    while toggle := next((toggle for toggle in pending if text.startswith(toggle, stop)), ""):
        pending.remove(toggle)
        stop += len(toggle)
        if more := _MORE_CLOSERS.match(text, stop):
            stop = more.end()
    if _ENDS_AT_ONCE.search(run[1]):
        return stop
    opening = stop
    for toggle in _TOGGLES:
        if text.startswith(toggle, opening):
            opening += len(toggle)
    following = text[opening : opening + 1]
    if following not in _OPENERS and not _WIDE_CHAR.match(following):
        return None
    dots_only = not run[1].strip(".．" + _CLOSERS)
    return stop if not dots_only or _WIDE_CHAR.match(text[run.start() - 1 : run.start()]) else None


def _ends_before_space(text: str, run: re.Match[str]) -> bool:
    marks = run[0]
    position = _next_visible(text, run.end())
    following = text[position : position + 1]
    if not following or _ENDS_AT_ONCE.search(marks):
        return True
    if marks[-1] not in _WEAK and following.islower():  # "Really?" he asked
        return False
    core = marks.rstrip(_CLOSERS + "\"'*_")
    if core.strip(".．…"):
        return True
    if core in (".", "．"):
        return _full_stop_ends(text, run.start(), position)
    return not following.islower()


def _full_stop_ends(text: str, position: int, following_position: int) -> bool:
    """Return whether a single full stop before white space ends a sentence, not an abbreviation or "1."."""
    if _ENUMERATOR.search(text, max(0, position - _LONGEST_ENUMERATOR), position):
        return False
    match = _LAST_WORD.search(text, max(0, position - _LONGEST_ABBREVIATION), position)
    if match is None:
        return True
    word, lowered = match[0], match[0].lower()
    following = text[following_position : following_position + 1]
    if word in _TITLES or lowered in _ABBREVIATIONS:
        return False
    if lowered in _BEFORE_NUMBERS:
        return not following.isdigit()
    if lowered in _MAY_END:
        return not (following.islower() or following.isdigit() or following in "(,;:&")
    if len(word) == 1:
        return not (word.isupper() and word != "I" and following.isupper())
    return "." not in word or max(map(len, word.split("."))) > 1


def _protected(text: str) -> list[Span]:
    """Return the spans in which no sentence ends, by start; they may overlap."""
    spans = [Span(match.start(), match.end() - 1) for match in _ROW.finditer("\n" + text)]
    spans += code_fences(text)
    if "://" in text or "www." in text:
        for match in _URL.finditer(text):
            spans.append(Span(match.start(), match.start() + len(match[0].rstrip(_URL_TAIL))))
    # Inline code. Source: CommonMark 0.31, "Code spans", but never over a line end.
    runs = [match.span() for match in _TICKS.finditer(text)]
    stops: dict[int, int] = {}  # by start of a back-tick run: end of its match on the line
    nearest: dict[int, int] = {}
    after = len(text)
    for start, stop in reversed(runs):
        if _LINE_END.search(text, stop, after):
            nearest.clear()
        if (length := stop - start) in nearest:
            stops[start] = nearest[length]
        nearest[length] = stop
        after = start
    cursor = 0
    for start, _ in runs:
        if start >= cursor and start in stops:
            cursor = stops[start]
            spans.append(Span(start, cursor))
    return sorted(spans)


def code_fences(text: str) -> list[Span]:
    r"""Return the fenced code blocks of a text, including fences, in order; an unclosed one runs to the end.

    Source: CommonMark 0.31, "Fenced code blocks"; any indentation, also inside a block quotation, is accepted.

    >>> code_fences("why?\n~~~\n1/0\n~~~")
    [Span(start=5, stop=16)]
    """
    check_str("text", text)
    fences: list[Span] = []
    opener, start = "", 0
    for match in _FENCE.finditer("\n" + text) if "`" in text or "~~~" in text else ():
        ticks, rest = match[1], match[2]
        if not opener:
            if ticks[0] == "~" or "`" not in rest:
                opener, start = ticks, match.start()
        elif ticks.startswith(opener) and not rest.strip():
            fences.append(Span(start, match.end() - 1))
            opener = ""
    return [*fences, Span(start, len(text))] if opener else fences


# --- Questions ------------------------------------------------------------------------------------------------------

_TRAILING = " \t\u3000\xa0" + _LINE_ENDS + _STRONG + _WEAK + ")]}）］｝」』】》〉〕”’\"'*_`~～"
_LEADING = " \t\u3000\xa0\n\r>*_-#(（[“‘「『\"'"
_QUESTION_MARKS = frozenset("?？؟⁇⁈⁉")

_QUESTION_ENDING = data_pattern("text_patterns.tsv", "QUESTION_ENDING")
_LONGEST_ENDING = 10  # characters
_CHINESE_QUESTION = data_pattern("text_patterns.tsv", "CHINESE_QUESTION")
_NO_CHINESE_QUESTION = data_pattern("text_patterns.tsv", "NO_CHINESE_QUESTION")
_KOREAN_QUESTION = data_pattern("text_patterns.tsv", "KOREAN_QUESTION")
_ENGLISH_OPENER = data_pattern("text_patterns.tsv", "ENGLISH_OPENER", re.IGNORECASE)


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks something, with or without a question mark, in Chinese, English, Japanese, Korean.

    A question mark at the end decides, ignoring closing quotes, brackets and white space after it. Without one, an
    ending (吗, 呢, ですか, 습니까), a Chinese or Korean question word, or an English question opener decides. This is a
    small table with guards, not a parser: "he explained 为什么失败" counts as a question.

    Args:
        sentence: one sentence, as cut by :func:`sentences`.

    >>> [is_question(text) for text in ("怎么部署", "几乎没有问题。", "Can you deploy it", "When I was young, yes.")]
    [True, False, True, False]
    """
    check_str("sentence", sentence)
    body = sentence.rstrip(_TRAILING)
    marks = sentence[len(body) :]
    if not _QUESTION_MARKS.isdisjoint(marks):
        return True
    if "!" not in marks and _ENGLISH_OPENER.match(body.lstrip(_LEADING)):  # "How nice!" asks nothing
        return True
    if body.isascii():
        return False
    if _QUESTION_ENDING.search(body, max(0, len(body) - _LONGEST_ENDING)):
        return True
    if _HANGUL_CHAR.search(body) and _KOREAN_QUESTION.search(body):
        return True
    if not _HAN_CHAR.search(body):
        return False
    return _NO_CHINESE_QUESTION.search(body) is None and _CHINESE_QUESTION.search(body) is not None


# --- Thinking of a model --------------------------------------------------------------------------------------------

_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"


def split_thinking(text: str) -> tuple[str, str]:
    r"""Return the thinking at the start of a reasoning model's text, and the rest: its answer.

    Only ``<think>`` blocks at the start, white space aside, count; an unclosed one (a truncated answer) takes all text.

    Source: the format of MiniMax-M2, DeepSeek-R1 and Qwen3 when thinking is part of the content.

    >>> split_thinking("<think>\nThe port?\n</think>\n\nIt is 6380.")
    ('The port?', 'It is 6380.')
    """
    check_str("text", text)
    thoughts: list[str] = []
    at = _next_visible(text, 0)
    while text.startswith(_THINK_OPEN, at):
        start = at + len(_THINK_OPEN)
        stop = text.find(_THINK_CLOSE, start)
        thoughts.append(text[start : stop if stop >= 0 else len(text)].strip())
        at = _next_visible(text, stop + len(_THINK_CLOSE)) if stop >= 0 else len(text)
    return ("\n".join(filter(None, thoughts)), text[at:]) if thoughts else ("", text)
