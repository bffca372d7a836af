"""Prints the text of a PDF document that comes on its input, page by page. Runs in a process of its own.

Documents come from strangers: a small one may keep a reader busy for ever or fill the memory.
"""

import sys
from io import BytesIO
from typing import BinaryIO, Final

from pypdf import PdfReader

from claw_acp.tools.worker_limits import limit_this_process

MAX_TEXT: Final = 4_000_000  # characters
ENCRYPTED: Final = 3
"""The exit code for a document that needs a password."""


def main(source: BinaryIO, output: BinaryIO) -> int:
    """Print each page behind a line with its number; returns the exit code."""
    limit_this_process()
    reader = PdfReader(BytesIO(source.read()))
    if reader.is_encrypted and not reader.decrypt(""):
        return ENCRYPTED
    room = MAX_TEXT
    for number, page in enumerate(reader.pages, start=1):
        text = page.extract_text().strip()
        room -= len(text)
        if room < 0:
            text = "[The text of this page and of those after it is left out: the document is too long.]"
        output.write(f"[Page {number} of {len(reader.pages)}]\n{text}\n\n".encode("utf-8", "replace"))
        output.flush()
        if room < 0:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
