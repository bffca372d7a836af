"""The text of PDF documents."""

import sys
from typing import Final

import anyio

from claw_acp.core.errors import ToolError
from claw_acp.process.child_process import ChildProcess, start_child

PDF_LIMIT: Final = 50_000_000  # bytes
WITHIN: Final = 60.0  # seconds
_ENCRYPTED: Final = 3  # the worker's exit code, whose module is loaded in its own process only
_MAX_COMPLAINT: Final = 100_000  # bytes of its error output that are kept
_WORKER: Final = (sys.executable, "-P", "-m", "claw_acp.tools.files.pdf_worker")


def is_pdf(data: bytes) -> bool:
    """Return whether a file begins as a PDF document does."""
    return b"%PDF-" in data[:1024]


async def pdf_text(data: bytes, *, shown: str) -> str:
    """The text of a document with a line before each page. A page that cannot be read ends it, with a note.

    Raises:
        ToolError: It cannot be read, needs a password, or has no text.
    """
    printed, complaint = bytearray(), bytearray()
    code: int | None = None
    try:
        child = await start_child(_WORKER, cwd="/", stdin="pipe")
    except OSError as error:
        raise ToolError(f"{shown} could not be read: no process could be started ({error.strerror}).") from error
    try:
        with anyio.move_on_after(WITHIN):
            code = await _run(child, data, printed=printed, complaint=complaint)
    finally:
        await child.end(terminate=0)
    text = printed.decode("utf-8", "replace")
    if code == _ENCRYPTED:
        raise ToolError(f"{shown} is a PDF document that needs a password. Ask the user for one without.")
    reason = _reason(code, complaint.decode("utf-8", "replace"))
    if not text:
        raise ToolError(f"{shown} cannot be read as a PDF document: {reason or 'it has no pages'}.")
    if not _has_words(text):
        raise ToolError(f"{shown} is a PDF document without text, perhaps of scanned pages.")
    return f"{text}[The rest of the document cannot be read: {reason}.]\n" if reason else text


async def _run(child: ChildProcess, data: bytes, *, printed: bytearray, complaint: bytearray) -> int:
    assert child.stdin is not None
    assert child.stdout is not None

    def keep(chunk: bytes) -> None:
        complaint.extend(chunk)
        del complaint[:-_MAX_COMPLAINT]

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(child.drain_stderr, keep)
        tasks.start_soon(_feed, child, data)
        async for chunk in child.stdout:
            printed.extend(chunk)
        return await child.wait()
    raise AssertionError("nothing cancels these tasks alone")  # pragma: no cover


async def _feed(child: ChildProcess, data: bytes) -> None:
    assert child.stdin is not None
    try:
        await child.stdin.send(data)
    except anyio.BrokenResourceError:  # it has ended, and has said why
        return
    child.stdin.close()


def _reason(code: int | None, complaint: str) -> str:
    """The reason that the worker did not end well, in words; empty if it did."""
    if code == 0:
        return ""
    if code is None or code < 0:
        return "it takes too long"
    last = complaint.strip().rpartition("\n")[2].strip()
    if last.startswith("MemoryError"):
        return "it needs too much memory"
    kind, _, words = last.partition(": ")
    return ((words if kind.startswith("pypdf.") else last) or f"exit code {code}")[:300].rstrip(".")


def _has_words(text: str) -> bool:
    return any(line.strip() and not line.startswith("[Page ") for line in text.split("\n"))
