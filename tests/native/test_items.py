import base64
import struct
from typing import Any

import pytest

from gatekeeper_core.messages import MediaPart
from gatekeeper_core.native.items import is_compaction, opaque
from gatekeeper_core.native.reading import read_messages


def png(width: int, height: int) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)).decode()


@pytest.mark.parametrize(
    ("item", "tokens"),
    [
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + png(1024, 1024)}}]}, 765),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}}]}, None),
        ({"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64," + png(512, 512)}]}, 255),
        ({"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(750, 1000)}}]}, 1000),
        ({"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": png(800, 600)}}]}, 516),
        ({"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": base64.b64decode(png(80, 60))}}]}, 258),
    ],
)  # fmt: skip
def test_an_image_is_counted_by_the_size_that_its_data_tells(item: dict[str, Any], tokens: int | None) -> None:
    (message,) = read_messages([item])
    assert message.content == (MediaPart("image", tokens),)


def test_a_block_of_the_providers_own_costs_a_token_for_four_bytes_of_its_values() -> None:
    block = {"type": "abc", "data": "行" * 40, "list": [{"n": 1234}, None, b"12345678"]}
    assert opaque(block) == MediaPart("other", tokens=(3 + 3 * 40 + 4 + 8) // 4 + 1)


def test_a_compaction_is_one_that_has_a_content_and_nothing_else_is_one() -> None:
    blocks = [
        {"type": "compaction", "content": "端口 6380"},
        {"type": "compaction_summary", "encrypted_content": "gAAA"},
    ]
    assert [*map(is_compaction, blocks)] == [True, True]
    others = [{"type": "compaction", "content": None}, {"type": "text", "content": "x"}, "compaction", None]
    assert [*map(is_compaction, others)] == [False] * 4
