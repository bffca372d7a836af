"""The text of PDF documents, good ones and hostile ones."""

import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from claw_acp.core.errors import ToolError
from claw_acp.tools.files.read_file import ReadFile
from tests.support.tool_bench import Bench

read_file = ReadFile()


def document(pages: Sequence[bytes], *, extra: bytes = b"", kids: bytes = b"") -> bytes:
    """A document with these content streams, compressed; `extra` goes into its trailer, `kids` replaces the pages."""
    numbers = [4 + 2 * i for i in range(len(pages))]
    listed = kids or b" ".join(b"%d 0 R" % number for number in numbers)
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(pages), listed),
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    }
    for number, content in zip(numbers, pages, strict=True):
        packed = zlib.compress(content, 9)
        objects[number] = b"<</Type/Page/Parent 2 0 R/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>" % (number + 1)
        objects[number + 1] = b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed)
    data, places = b"%PDF-1.4\n", dict[int, int]()
    for number, body in objects.items():
        places[number] = len(data)
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % places[number] for number in sorted(places))
    size = len(places) + 1
    end = b"trailer<</Root 1 0 R/Size %d%s>>\nstartxref\n%d\n%%%%EOF" % (size, extra, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (size, table, end)


def _said(text: str) -> bytes:
    return b"BT /F 12 Tf 10 100 Td (%s) Tj ET" % text.encode()


async def test_the_text_of_a_document_comes_page_by_page_in_windows(bench: Bench, root: Path) -> None:
    (root / "a.PDF").write_bytes(document([_said("Hello"), _said("World")]))
    text = await bench.text(read_file, path="a.PDF", line=2, limit=3)
    assert text == ("    2→Hello\n    3→\n    4→[Page 2 of 2]\n\n[2 more lines of 6; call again with line=5 to go on.]")


ENCRYPTED = b"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>/ID[<00><00>]" % (b"00" * 32, b"11" * 32)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (document([b""]), "without text, perhaps of scanned pages"),
        (document([_said("x")], extra=ENCRYPTED), "needs a password"),
        (b"%PDF-1.4 garbage", "cannot be read as a PDF document: "),
        (document([_said("x")], kids=b"2 0 R"), "cannot be read as a PDF document: Detected cyclic"),
    ],
    ids=["scanned", "password", "garbage", "endless"],
)
async def test_a_document_that_has_no_text_to_read_is_refused_with_the_reason(
    bench: Bench, root: Path, data: bytes, reason: str
) -> None:
    (root / "a.pdf").write_bytes(data)
    with pytest.raises(ToolError, match=reason) as refused:
        await bench.call(read_file, path="a.pdf")
    assert str(refused.value).startswith("a.pdf ")


async def test_the_pages_before_a_broken_one_are_read(bench: Bench, root: Path) -> None:
    (root / "a.pdf").write_bytes(document([_said("Hello"), bytes(80_000_000)]))
    text = await bench.text(read_file, path="a.pdf")
    assert "Hello" in text
    assert "[The rest of the document cannot be read: Limit reached" in text


async def test_a_text_that_is_only_named_like_a_document_is_text(bench: Bench, root: Path) -> None:
    (root / "a.pdf").write_text("plain")
    assert await bench.text(read_file, path="a.pdf") == "    1→plain"
