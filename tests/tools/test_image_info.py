"""What the first bytes of an image say."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import ToolError
from claw_acp.tools.data.image_header import image_facts
from claw_acp.tools.data.image_info import ImageInfo
from tests.support.tool_bench import Bench

image_info = ImageInfo()


def _exif(orientation: int, order: str = ">") -> bytes:
    head = b"MM\0*" if order == ">" else b"II*\0"
    entry = struct.pack(f"{order}HHIHH", 0x0112, 3, 1, orientation, 0)
    return head + struct.pack(f"{order}IH", 8, 1) + entry + bytes(4)


def _segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + bytes(4)


FRAME = struct.pack(">BHHB", 8, 3024, 4032, 3)
PNG = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", 640, 480, 8, 6, 0, 0, 0))
JPEG = b"\xff\xd8" + _segment(0xE1, b"Exif\0\0" + _exif(6)) + b"\xff" + _segment(0xC2, FRAME) + _segment(0xDA, b"")
WEBP = b"RIFF\0\0\0\0WEBPVP8X\n\0\0\0\x1a\0\0\0" + b"\x7f\x02\0\xdf\x01\0" + b"EXIF\x1a\0\0\0" + _exif(3, "<")
TIFF = b"II*\0" + struct.pack("<IH", 8, 2) + struct.pack("<HHIIHHIHH", 0x100, 4, 1, 70_000, 0x101, 3, 1, 9, 0)
IMAGES = {
    "PNG, 640 x 480 pixels, 33 B, RGB with alpha, 8 bits": PNG,
    "PNG, 640 x 480 pixels, 53 B, RGB with alpha, 8 bits, animated": PNG + _chunk(b"acTL", bytes(8)),
    "JPEG, 4032 x 3024 pixels, 53 B, colour, EXIF orientation 6 (to be turned by 90° to the right, so 3024 x 4032 when "
    "shown)": JPEG,
    "GIF, 3 x 2 pixels, 10 B": b"GIF89a\3\0\2\0",
    "WebP, 640 x 480 pixels, 64 B, with alpha, animated, EXIF orientation 3 (turned by 180°)": WEBP,
    "WebP, 16384 x 1 pixels, 25 B": b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\xff\x3f\0\0",
    "WebP, 5 x 7 pixels, 30 B": b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\5\0\7\0",
    "BMP, 4 x 9 pixels, 26 B": b"BM" + bytes(16) + struct.pack("<ii", 4, -9),
    "TIFF, 70000 x 9 pixels, 34 B": TIFF,
}


@pytest.mark.parametrize("said", list(IMAGES))
async def test_format_size_and_orientation_are_told(bench: Bench, root: Path, said: str) -> None:
    (root / "a").write_bytes(IMAGES[said])
    assert await bench.text(image_info, path="a") == f"a: {said}"


@pytest.mark.parametrize("data", [b"", b"text", PNG[:20], JPEG[:12], b"\xff\xd8\xff\xd9", WEBP[:22], TIFF[:12]])
async def test_what_is_no_whole_image_is_refused(bench: Bench, root: Path, data: bytes) -> None:
    (root / "a").write_bytes(data)
    with pytest.raises(ToolError, match="is not a whole PNG"):
        await bench.call(image_info, path="a")


@given(st.sampled_from(list(IMAGES.values())), st.data())
def test_no_bytes_confuse_the_reader(image: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(image)))
    image_facts(image[:start] + data.draw(st.binary(max_size=40)) + image[start + data.draw(st.integers(0, 9)) :])
