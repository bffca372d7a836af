"""The facts in the first bytes of images: format, size, orientation. Nothing is unpacked."""

import struct
from collections.abc import Iterator
from typing import Final

from claw_acp.core.value import Value

_STARTS: Final = frozenset({0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF})
"""Markers of JPEG behind which the size stands."""
_PNG_COLOURS: Final = {0: "grey", 2: "RGB", 3: "palette", 4: "grey with alpha", 6: "RGB with alpha"}
_JPEG_COLOURS: Final = {1: "grey", 3: "colour", 4: "CMYK"}
_ORIENTATION: Final = 0x0112
_SIZE: Final = (0x0100, 0x0101)  # tags of TIFF for width and height
_MOST_TAGS: Final = 500


class ImageFacts(Value):
    """The facts of an image. `orientation` is that of EXIF, from 1 (upright) to 8; None if it says nothing."""

    format: str
    width: int
    height: int
    colour: str = ""
    orientation: int | None = None
    animated: bool = False


def image_facts(data: bytes) -> ImageFacts | None:
    """The facts of an image; None for anything else, and for one that is cut off before them."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return _png(data)
        if data.startswith(b"\xff\xd8\xff"):
            return _jpeg(data)
        if data[:6] in {b"GIF87a", b"GIF89a"}:
            width, height = struct.unpack_from("<HH", data, 6)
            return ImageFacts(format="GIF", width=width, height=height, animated=b"NETSCAPE2.0" in data)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"BM"):
            width, height = struct.unpack_from("<ii", data, 18)
            return ImageFacts(format="BMP", width=width, height=abs(height))
        if data[:4] in {b"II*\0", b"MM\0*"}:
            return _tiff(data)
    except (struct.error, IndexError):
        return None
    return None


def _png(data: bytes) -> ImageFacts | None:
    if data[12:16] != b"IHDR":
        return None
    width, height, depth, colour = struct.unpack_from(">IIBB", data, 16)
    orientation, animated, place = None, False, 8
    while place + 8 <= len(data):
        (length,) = struct.unpack_from(">I", data, place)
        kind = data[place + 4 : place + 8]
        if kind == b"acTL":
            animated = True
        elif kind == b"eXIf":
            orientation = _tags(data[place + 8 : place + 8 + length]).get(_ORIENTATION)
        place += 12 + length
    colours = f"{_PNG_COLOURS.get(colour, 'unknown colours')}, {depth} bits"
    return ImageFacts(
        format="PNG", width=width, height=height, colour=colours, orientation=orientation, animated=animated
    )


def _jpeg(data: bytes) -> ImageFacts | None:
    orientation = None
    for marker, start, end in _segments(data):
        if marker == 0xE1 and data[start : start + 6] == b"Exif\0\0":
            orientation = _tags(data[start + 6 : end]).get(_ORIENTATION, orientation)
        elif marker in _STARTS:
            height, width, parts = struct.unpack_from(">HHB", data, start + 1)
            colour = _JPEG_COLOURS.get(parts, "")
            return ImageFacts(format="JPEG", width=width, height=height, colour=colour, orientation=orientation)
    return None


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Each segment of a JPEG before its pixels: the marker, and where its content begins and ends."""
    place = 2
    while place + 4 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF or 0xD0 <= marker <= 0xD8 or marker == 0x01:  # filling, and markers without content
            place += 1 if marker == 0xFF else 2
            continue
        (length,) = struct.unpack_from(">H", data, place + 2)
        yield marker, place + 4, place + 2 + length
        place += 2 + max(length, 2)


def _webp(data: bytes) -> ImageFacts | None:
    kind = data[12:16]
    if kind == b"VP8X":
        flags, *sizes = struct.unpack_from("<B3xHBHB", data, 20)
        width, height = (low + (high << 16) + 1 for low, high in (sizes[:2], sizes[2:]))
        place = data.find(b"EXIF", 30) if flags & 0x08 else -1
        exif = data[place + 8 :].removeprefix(b"Exif\0\0") if place > 0 else b""
        return ImageFacts(
            format="WebP", width=width, height=height, orientation=_tags(exif).get(_ORIENTATION),
            animated=bool(flags & 0x02), colour="with alpha" if flags & 0x10 else "",
        )  # fmt: skip
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return ImageFacts(format="WebP", width=(bits & 0x3FFF) + 1, height=(bits >> 14 & 0x3FFF) + 1)
    if kind != b"VP8 ":
        return None
    width, height = struct.unpack_from("<HH", data, 26)
    return ImageFacts(format="WebP", width=width & 0x3FFF, height=height & 0x3FFF)


def _tiff(data: bytes) -> ImageFacts | None:
    tags = _tags(data)
    if not all(tag in tags for tag in _SIZE):
        return None
    width, height = (tags[tag] for tag in _SIZE)
    return ImageFacts(format="TIFF", width=width, height=height, orientation=tags.get(_ORIENTATION))


def _tags(data: bytes) -> dict[int, int]:
    """The whole numbers in the first directory of TIFF data, as EXIF has them, by tag; none if it is no such data."""
    if data[:4] not in {b"II*\0", b"MM\0*"}:
        return {}
    order = "<" if data.startswith(b"II") else ">"
    tags: dict[int, int] = {}
    try:
        (place,) = struct.unpack_from(f"{order}I", data, 4)
        (count,) = struct.unpack_from(f"{order}H", data, place)
        for index in range(min(count, _MOST_TAGS)):
            at = place + 2 + 12 * index
            tag, kind = struct.unpack_from(f"{order}HH", data, at)
            if kind in {3, 4}:  # short and long
                (tags[tag],) = struct.unpack_from(f"{order}{'H' if kind == 3 else 'I'}", data, at + 8)
    except struct.error:
        return tags
    return tags
