"""Running a worker: a module of ours in a process of its own, because what it reads may keep it busy for ever.

A worker limits itself (`worker_limits`), reads all of its input, prints its result, and says on stderr what is wrong.
"""

import sys
from typing import Final

import anyio

from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value
from claw_acp.process.child_process import ChildProcess, start_child

WITHIN: Final = 60.0  # seconds
_MAX_COMPLAINT: Final = 100_000  # bytes of its error output that are kept
_MAX_REASON: Final = 300  # characters


class WorkerEnd(Value):
    """The end of a worker. `code` is None if it took too long; `complaint` is what it printed on stderr."""

    code: int | None
    printed: bytes
    complaint: str

    @property
    def output(self) -> str:
        """Its standard output as text."""
        return self.printed.decode("utf-8", "replace")

    @property
    def reason(self) -> str:
        """Why it did not end well, in words; empty if it did."""
        if self.code == 0:
            return ""
        if self.code is None or self.code < 0:
            return "it takes too long"
        last = self.complaint.strip().rpartition("\n")[2].strip()
        if last.startswith("MemoryError"):
            return "it needs too much memory"
        error, _, words = last.partition(": ")
        plain = words if error.replace(".", "").isidentifier() else last  # `ValueError: words` without the name
        return (plain or f"exit code {self.code}")[:_MAX_REASON].rstrip(".")


async def run_worker(module: str, data: bytes) -> WorkerEnd:
    """Run a module with this input to its end, for a minute at most; a cancelled call kills it.

    Raises:
        ToolError: No process can be started.
    """
    printed, complaint = bytearray(), bytearray()
    code: int | None = None
    try:
        child = await start_child((sys.executable, "-P", "-m", module), cwd="/", stdin="pipe")
    except OSError as error:
        raise ToolError(f"No process could be started for this ({error.strerror}).") from error
    try:
        with anyio.move_on_after(WITHIN):
            code = await _run(child, data, printed=printed, complaint=complaint)
    finally:
        await child.end(terminate=0)
    return WorkerEnd(code=code, printed=bytes(printed), complaint=complaint.decode("utf-8", "replace"))


async def _run(child: ChildProcess, data: bytes, *, printed: bytearray, complaint: bytearray) -> int:
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
