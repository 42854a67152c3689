import struct

import pytest

from gatekeeper_core.native.images import image_size, openai_tokens


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF\x64\0\0\0WEBP" + kind + b"\x20\0\0\0" + body + bytes(20)


JPEG = b"\xff\xd8\xff\xe0\x00\x06JFIF\xff\xff\xc2\x00\x11\x08" + struct.pack(">HH", 480, 640) + bytes(10)


@pytest.mark.parametrize(
    "head",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480),
        b"GIF89a" + struct.pack("<HH", 640, 480),
        b"GIF87a" + struct.pack("<HH", 640, 480) + b"\xf7\0\0",
        JPEG,
        JPEG.replace(b"\xff\xff\xc2", b"\xff\xc2"),
        webp(b"VP8X", bytes(4) + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")),
        webp(b"VP8L", b"\x2f" + (639 | 479 << 14).to_bytes(4, "little")),
        webp(b"VP8 ", bytes(6) + struct.pack("<HH", 640, 480)),
    ],
    ids=["png", "gif", "gif with its palette", "jpeg", "jpeg without filling", "webp", "webp lossless", "webp lossy"],
)
def test_the_first_bytes_of_a_file_tell_its_size(head: bytes) -> None:
    assert image_size(head) == (640, 480)
    for stop in range(len(head)):
        assert image_size(head[:stop]) in ((640, 480), None)


@pytest.mark.parametrize(
    "head", [b"", b"%PDF-1.7", b"\xff\xd8" + bytes(40), b"GIF89a\0\0\0\0", b"\xff\xd8\xff\xc0" + bytes(3)]
)
def test_what_is_no_image_or_has_no_size_tells_none(head: bytes) -> None:
    assert image_size(head) is None


@pytest.mark.parametrize(
    ("width", "height", "tiles"), [(512, 512, 1), (513, 512, 2), (512, 513, 2), (1024, 1024, 4), (2048, 4096, 6)]
)
def test_openai_counts_each_tile_that_an_image_touches(width: int, height: int, tiles: int) -> None:
    assert openai_tokens(width, height) == 85 + 170 * tiles
