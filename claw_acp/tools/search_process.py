"""Running a search engine: rows as they come, until enough, too long, or cancelled; then it is killed."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL

import anyio
from anyio.abc import ByteReceiveStream, Process

from claw_acp.core.child_environment import without_keys
from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value

SEARCH_LIMIT = 20.0  # seconds; long enough for a large repository, short enough for someone waiting
MAX_ROW = 1_000_000  # bytes without a line feed; the engines cut long lines, so this is no search result
MAX_COMPLAINT = 4_000  # bytes of stderr that are kept

_REAPING = 2.0  # seconds for a killed process to be gone


class SearchEnd(Value):
    """How a search ended. `code` is None when it was stopped, by the taker of the rows or by the time limit."""

    code: int | None
    late: bool
    complaint: str


async def run_search(
    argv: Sequence[str], *, cwd: Path, take: Callable[[str], bool], time_limit: float = SEARCH_LIMIT
) -> SearchEnd:
    """Start the program and hand each row to `take` until it returns False.

    Raises:
        ToolError: The program cannot be started.
    """
    complaint = bytearray()
    code: int | None = None
    limit = anyio.CancelScope()
    async with _started(argv, cwd=cwd) as process, anyio.create_task_group() as tasks:
        tasks.start_soon(_drain, process.stderr, complaint)
        limit.deadline = anyio.current_time() + time_limit
        with limit:
            if await _feed(process.stdout, take):
                code = await process.wait()
        if code is None:
            tasks.cancel_scope.cancel()
    return SearchEnd(code=code, late=limit.cancelled_caught, complaint=complaint.decode("utf-8", "replace").strip())


@asynccontextmanager
async def _started(argv: Sequence[str], *, cwd: Path) -> AsyncGenerator[Process]:
    try:
        process = await anyio.open_process(
            argv, cwd=cwd, stdin=DEVNULL, env=without_keys(os.environ), start_new_session=True
        )
    except OSError as error:
        raise ToolError(f"The search could not be started ({argv[0]}): {error.strerror}.") from error
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        with anyio.move_on_after(_REAPING, shield=True):
            await process.aclose()


async def _feed(stdout: ByteReceiveStream | None, take: Callable[[str], bool]) -> bool:
    """Whether all rows were taken."""
    assert stdout is not None
    rest = b""
    async for chunk in stdout:
        *rows, rest = (rest + chunk).split(b"\n")
        # file names keep bytes that are not UTF-8, as the os module spells them; text is made printable later
        if not all(take(row.decode("utf-8", "surrogateescape")) for row in rows) or len(rest) > MAX_ROW:
            return False
    return True


async def _drain(stderr: ByteReceiveStream | None, into: bytearray) -> None:
    """Keep the beginning, read all: an engine that complains a lot must not block on it."""
    assert stderr is not None
    async for chunk in stderr:
        into.extend(chunk[: MAX_COMPLAINT - len(into)])
