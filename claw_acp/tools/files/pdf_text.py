"""The text of PDF documents."""

from typing import Final

from claw_acp.core.errors import ToolError
from claw_acp.tools.worker import run_worker

PDF_LIMIT: Final = 50_000_000  # bytes
_ENCRYPTED: Final = 3  # the worker's exit code, whose module is loaded in its own process only


def is_pdf(data: bytes) -> bool:
    """Return whether a file begins as a PDF document does."""
    return b"%PDF-" in data[:1024]


async def pdf_text(data: bytes, *, shown: str) -> str:
    """The text of a document with a line before each page. A page that cannot be read ends it, with a note.

    Raises:
        ToolError: It cannot be read, needs a password, or has no text.
    """
    end = await run_worker("claw_acp.tools.files.pdf_worker", data)
    if end.code == _ENCRYPTED:
        raise ToolError(f"{shown} is a PDF document that needs a password. Ask the user for one without.")
    if not end.output:
        raise ToolError(f"{shown} cannot be read as a PDF document: {end.reason or 'it has no pages'}.")
    if not any(line.strip() and not line.startswith("[Page ") for line in end.output.split("\n")):
        raise ToolError(f"{shown} is a PDF document without text, perhaps of scanned pages.")
    return f"{end.output}[The rest of the document cannot be read: {end.reason}.]\n" if end.reason else end.output
