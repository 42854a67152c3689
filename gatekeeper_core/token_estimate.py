r"""An estimate of a model's own token count: characters by class, times weights fitted to its tokenizer family.

::

    text ──UTF-8──> lead bytes (one a character) ──count──> counts by class ──weights──> tokens

A byte-level tokenizer splits text into words, groups of digits, runs of marks and white space, then merges bytes that
often occur together. The cost depends on their number and length, and on how well the tokenizer knows the script. All
is counted on whole strings at once, in linear time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import mul

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.data_files import rows
from gatekeeper_core.errors import ConfigError, check_range, check_str
from gatekeeper_core.text import LazyPattern

_HEAD, *_ROWS = rows("token_profiles.tsv")
PROFILES = tuple(_HEAD[1:])
"""Tokenizer families, in the order of the columns."""

WEIGHTS: dict[str, tuple[float, ...]] = {name: tuple(map(float, figures)) for name, *figures in _ROWS}
"""Tokens that one unit of each class of ``CLASSES`` costs, by family."""

MARGINS: Mapping[str, float] = dict(zip(PROFILES, WEIGHTS.pop("margin"), strict=True))
"""How far a prompt may exceed its estimate, as a share of it, by family."""

_COMMON_SIGNS = "".join(signs for (signs,) in rows("token_signs.tsv"))
"""Han and Hangul characters that are one token in o200k; the others cost two or three."""

CLASSES = tuple(WEIGHTS)
"""Classes of text, in order: the common ones, then scripts and rare signs of text that is not ASCII."""

_LETTER, _DIGIT, _MARK, _SPACE, _LINE_END, _UPPER, _CONSONANT, _SCRIPT = (1 << bit for bit in range(8))
_ASCII, _CONTINUATION = bytes(range(0x80)), bytes(range(0x80, 0xC0))
_RARE = b"jqxzJQXZ"
_RARE_SIGNS = LazyPattern(f"[^\0-\u33ff\ua000-\uabff\ud7a4-\U0010ffff{_COMMON_SIGNS}]")


def _signs_of(byte: int) -> int:
    """Return the bits of a lead byte, one per kind of character."""
    character = chr(byte)
    if byte >= 0x80:
        return _LETTER if 0xC3 <= byte < 0xCA else _SCRIPT  # the Latin letters up to U+027F
    if character.isalpha():
        upper = _UPPER if character.isupper() else 0
        return _LETTER | upper | (0 if character in "aeiouyAEIOUY" else _CONSONANT)
    if character.isdigit():
        return _DIGIT
    return _SPACE if character == " " else _LINE_END if character in "\n\v\f\r" else _MARK if 0x20 < byte < 0x7F else 0


_SIGNS = bytes(map(_signs_of, range(256)))
_MIXABLE = bytes(byte | 0x80 if _SIGNS[byte] & _MARK and byte != ord('"') else 0 for byte in range(256))
"""Marks that tokenizers do not merge with others; they do merge those around a quotation mark, as in JSON."""

_SCRIPTS: list[tuple[bytes, tuple[str | list[bytes], ...]]] = []
"""UTF-8 lead bytes of each script, and what distinguishes its parts: letters, or a character's first two bytes."""

_parts: tuple[str | list[bytes], ...] = ()
for _, _kind, _signs in rows("token_scripts.tsv"):
    if _kind == "lead bytes":
        _SCRIPTS.append((bytes.fromhex(_signs), _parts))
        _parts = ()
    else:
        _parts += (_signs if _kind == "characters" else [*map(bytes.fromhex, _signs.split())],)

_FIRST_LEADS = bytes.maketrans(
    b"".join(leads for leads, _ in _SCRIPTS), b"".join(leads[:1] * len(leads) for leads, _ in _SCRIPTS)
)
"""Maps all lead bytes of a script to its first one."""

_BLOCK = 8_192
"""Characters to count at once: more would leave the processor's cache, and memory would grow with the text."""

_ONES = int.from_bytes(b"\x01" * _BLOCK, "little")


def class_counts(text: str) -> list[int]:
    """Return how often each of ``CLASSES`` occurs in a text, in order; for ASCII text only the common ones.

    A run that crosses a block boundary (every 8,192 characters) counts as two.
    """
    check_str("text", text)
    if len(text) > _BLOCK:
        blocks = (class_counts(text[at : at + _BLOCK]) for at in range(0, len(text), _BLOCK))
        return [sum(column) for column in zip_longest(*blocks, fillvalue=0)]
    if text.isascii():
        return _common_counts(text.encode("ascii"))
    utf8 = text.encode("utf-8", "surrogatepass")
    leads = utf8.translate(None, _CONTINUATION)
    count, counts = leads.translate(_FIRST_LEADS, _ASCII).count, _common_counts(leads)
    for (lead, *_), parts in _SCRIPTS:
        rest = count(lead)
        for signs in parts:
            found = 0
            if rest:
                found = sum(map(text.count, signs) if isinstance(signs, str) else map(utf8.count, signs))
            rest -= found
            counts.append(found)
        counts.append(rest)
    return [*counts, len(_RARE_SIGNS.findall(text))]


def _common_counts(leads: bytes) -> list[int]:
    """Return the counts that need only the lead bytes.

    The signs of all characters form one long integer, a byte each, the first lowest: a shift aligns neighbours, one
    operation tests all characters, and the remaining bits are counted.
    """
    size = len(leads)
    kinds = leads.translate(_SIGNS)
    signs = int.from_bytes(kinds, "little")
    ones = _ONES & (1 << 8 * size) - 1
    letters, digits, marks, spaces, line_ends, upper, consonants, script = (signs >> bit & ones for bit in range(8))
    starts = signs & ~(signs << 8)  # of the runs of each kind
    word_starts = starts & letters
    two = letters & letters >> 8  # positions where two letters begin, and so on
    four = two & two >> 16
    eight = four & four >> 32
    tabs = leads.count(b"\t")
    lower = letters ^ upper
    humps = upper & lower << 8
    five = consonants & consonants >> 8
    five &= five >> 16
    mixable = int.from_bytes(leads.translate(_MIXABLE), "little")
    other = mixable ^ mixable << 8  # its lowest bit will be set if a character differs from the one before
    other |= other >> 4
    other |= other >> 2
    other |= other >> 1
    mixed = mixable >> 7 & ones
    mixed &= mixed << 8 & other
    mixed &= mixed << 8
    return [
        word_starts.bit_count(),
        (word_starts & four).bit_count(),  # of four letters and more
        (word_starts & eight).bit_count(),
        (word_starts & eight & four >> 64).bit_count(),
        (eight & eight >> 64).bit_count(),  # letters beyond the fifteenth of a run
        size - len(leads.translate(None, _RARE)),  # names, foreign words, random strings
        (five & consonants >> 32).bit_count(),  # letters that end five consonants in a row
        humps.bit_count(),  # an upper-case letter after a lower-case one
        (humps & (humps << 16 | humps << 24)).bit_count(),  # one or two letters after the previous one: Base64
        (humps & (digits << 16 | digits << 24)).bit_count(),  # likewise after a digit: Base64, hardly any other text
        (upper & word_starts & lower >> 8).bit_count(),  # begins a word and is followed by a lower-case letter
        upper.bit_count(),
        digits.bit_count(),
        (starts >> 1 & digits).bit_count(),  # runs of them
        (digits & spaces << 8).bit_count(),  # after a space, which is then a token of its own
        marks.bit_count(),
        (starts >> 2 & marks).bit_count(),
        mixed.bit_count(),  # the third of three marks, each unlike the one before
        (marks & spaces << 8).bit_count(),
        (marks & script << 8).bit_count(),  # after a character of another script
        (line_ends & ~(marks << 8)).bit_count(),  # one after a mark is part of its token
        line_ends.bit_count(),
        (starts >> 3 & spaces & spaces >> 8).bit_count(),  # runs of two and more
        leads.count(b" " * 16),
        tabs,
        kinds.count(0) - tabs,  # control characters, which have no other kind
    ]


@with_suggestions()
@dataclass(frozen=True, slots=True)
class TokenEstimator:
    """A ``TokenCounter`` that estimates the tokens of a text for one tokenizer family.

    The count is the point estimate: right on average, over or under for a single text. ``margin`` is how far an
    assembled prompt may exceed it; enforced budgets keep that much free (``budget_within``).

    Args:
        profile: the tokenizer family, one of ``PROFILES``.
        margin: share of the estimate, 0..4; defaults to the profile's own, which at most 1 % of prompts exceed.
        factor: multiplier of the estimate, 0.1..10; learned from reported usage by ``calibration.UsageCalibrator``.

    Raises:
        ConfigError: the profile is unknown, or a number is out of range.

    Source: weights and margins ``benchmarks/fit_tokens.py``; the figures are in ``data/token_profiles.tsv``.

    >>> count = TokenEstimator("o200k")
    >>> count(""), count("hello world"), count("你好世界"), count("0f3a9c")
    (0, 2, 3, 6)
    """

    profile: str = "o200k"
    margin: float = field(default=None, kw_only=True)  # type: ignore[assignment]  # None takes the profile's own
    factor: float = field(default=1.0, kw_only=True)
    _weights: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_str("TokenEstimator.profile", self.profile)
        if self.profile not in PROFILES:
            raise ConfigError(f"TokenEstimator.profile must be one of {', '.join(PROFILES)}, got {self.profile!r}")
        if self.margin is None:
            object.__setattr__(self, "margin", MARGINS[self.profile])
        check_range(self, "margin", low=0, high=4)
        check_range(self, "factor", low=0.1, high=10)
        column = PROFILES.index(self.profile)
        object.__setattr__(self, "_weights", tuple(WEIGHTS[name][column] * self.factor for name in CLASSES))

    def __call__(self, text: str, /) -> int:
        """Return the estimated tokens: at least 1, and 0 for an empty text."""
        counts = class_counts(text)
        return max(1, math.floor(math.fsum(map(mul, counts, self._weights)) + 0.5)) if text else 0

    @property
    def name(self) -> str:
        """The profile, with the factor unless it is 1; equal names count equally."""
        return self.profile if self.factor == 1 else f"{self.profile} x {self.factor!r}"


def budget_within(counter: Callable[[str], int], budget_tokens: int) -> int:
    """Return the limit on counted tokens that keeps a prompt within a budget of the model's own tokens.

    A ``TokenEstimator``'s margin is kept free. One more token of budget raises the limit by at most one.

    >>> budget_within(TokenEstimator(margin=0.25), 4000), budget_within(len, 4000)
    (3200, 4000)
    """
    return math.floor(budget_tokens / (1 + counter.margin)) if isinstance(counter, TokenEstimator) else budget_tokens


def budget_for(counter: Callable[[str], int], tokens: int) -> int:
    """Return the smallest budget with room for this many counted tokens: the inverse of ``budget_within``.

    >>> budget_for(TokenEstimator(margin=0.25), 3200), budget_for(len, 4000)
    (4000, 4000)
    """
    if not isinstance(counter, TokenEstimator):
        return tokens
    budget = math.floor(tokens * (1 + counter.margin))
    while budget_within(counter, budget) < tokens:
        budget += 1
    while budget_within(counter, budget - 1) >= tokens:  # a product may be rounded up
        budget -= 1
    return budget
