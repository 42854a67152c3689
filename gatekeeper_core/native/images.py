"""Image sizes, read from the beginning of a file, and what providers charge for them."""

from __future__ import annotations

import math

_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image_size(head: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels of a PNG, GIF, JPEG or WebP file from its first bytes; None if they show none.

    Source: the formats' specifications (PNG IHDR, GIF89a screen descriptor, JPEG start of frame, WebP container).

    >>> image_size(b"GIF89a" + (640).to_bytes(2, "little") + (480).to_bytes(2, "little"))
    (640, 480)
    """
    width = height = 0
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        width, height = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    elif head.startswith((b"GIF87a", b"GIF89a")) and len(head) >= 10:
        width, height = int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    elif head.startswith(b"\xff\xd8"):
        at = 2
        while at + 9 <= len(head) and head[at] == 0xFF:
            if head[at + 1] in _JPEG_SIZES:
                width, height = (int.from_bytes(head[at + skip : at + skip + 2], "big") for skip in (7, 5))
                break
            at += 1 if head[at + 1] == 0xFF else 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP" and len(head) >= 30:
        if head[12:16] == b"VP8X":
            width, height = (1 + int.from_bytes(head[at : at + 3], "little") for at in (24, 27))
        elif head[12:16] == b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        elif head[12:16] == b"VP8 ":
            width, height = (int.from_bytes(head[at : at + 2], "little") & 0x3FFF for at in (26, 28))
    return (width, height) if 0 < width < 100_000 and 0 < height < 100_000 else None


def anthropic_tokens(width: int, height: int) -> int:
    """Return the tokens that Anthropic counts for an image.

    Source: Anthropic's vision guide: width * height / 750 after scaling the longer edge to 1,568, and to 1,600 tokens.

    >>> anthropic_tokens(1000, 1000), anthropic_tokens(8000, 8000)
    (1334, 1600)
    """
    scale = min(1.0, 1568 / max(width, height))
    return min(1600, math.ceil(width * scale * height * scale / 750))


def openai_tokens(width: int, height: int) -> int:
    """Return the tokens that OpenAI counts for an image in high detail.

    Source: OpenAI's vision guide: 85 + 170 per tile of 512 pixels after scaling into 2,048 and the shorter edge to 768.

    >>> openai_tokens(1024, 1024), openai_tokens(2048, 4096)
    (765, 1105)
    """
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    return 85 + 170 * math.ceil(width * scale / 512) * math.ceil(height * scale / 512)


def gemini_tokens(width: int, height: int) -> int:
    """Return the tokens that Gemini counts for an image.

    Source: Gemini's token guide: 258 up to 384 pixels in both directions, else 258 for each tile of 768.

    >>> gemini_tokens(300, 384), gemini_tokens(1000, 700)
    (258, 516)
    """
    if max(width, height) <= 384:
        return 258
    return 258 * math.ceil(width / 768) * math.ceil(height / 768)
