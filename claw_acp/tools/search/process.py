"""Running a search engine: rows as they come, up to a limit of rows or time, or cancellation; then it is killed."""

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream

from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value
from claw_acp.process.child_process import running_child

SEARCH_LIMIT = 20.0  # seconds; long enough for a large repository, short enough for someone waiting
MAX_ROW = 1_000_000  # bytes without a line feed; the engines cut long lines, so this is no search result
MAX_COMPLAINT = 4_000  # bytes of stderr that are kept


class SearchEnd(Value):
    """The end of a search. `code` is None if it was stopped, by the consumer of the rows or by the time limit."""

    code: int | None
    late: bool
    complaint: str


async def run_search(
    argv: Sequence[str], *, cwd: Path, take: Callable[[str], bool], time_limit: float = SEARCH_LIMIT
) -> SearchEnd:
    """Start the program and pass each row to `take` until that returns False.

    Raises:
        ToolError: The program cannot be started.
    """
    complaint = bytearray()
    code: int | None = None
    limit = anyio.CancelScope()

    def note(chunk: bytes) -> None:  # the beginning; an engine that complains a lot must not block on the rest
        complaint.extend(chunk[: MAX_COMPLAINT - len(complaint)])

    try:
        async with running_child(argv, cwd=cwd) as child, anyio.create_task_group() as tasks:
            tasks.start_soon(child.drain_stderr, note)
            limit.deadline = anyio.current_time() + time_limit
            with limit:
                if await _feed(child.stdout, take):
                    code = await child.wait()
            if code is None:
                tasks.cancel_scope.cancel()
    except OSError as error:
        raise ToolError(f"The search could not be started ({argv[0]}): {error.strerror}.") from error
    return SearchEnd(code=code, late=limit.cancelled_caught, complaint=complaint.decode("utf-8", "replace").strip())


async def _feed(stdout: ByteReceiveStream | None, take: Callable[[str], bool]) -> bool:
    """Pass on all rows; returns whether all were taken."""
    assert stdout is not None
    rest = b""
    async for chunk in stdout:
        *rows, rest = (rest + chunk).split(b"\n")
        # file names keep bytes that are not UTF-8, as the os module spells them; text is made printable later
        if not all(take(row.decode("utf-8", "surrogateescape")) for row in rows) or len(rest) > MAX_ROW:
            return False
    return True
