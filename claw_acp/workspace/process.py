"""A shell command running on this machine, in a process group of its own."""

import logging
import signal
from typing import TYPE_CHECKING

import anyio

from claw_acp.contracts.workspace import ExitStatus, ProcessOutput, RunningProcess
from claw_acp.process import groups
from claw_acp.process.child_process import REAP_SECONDS, TERMINATE_SECONDS, ChildProcess, exit_status
from claw_acp.process.output_tail import OutputTail

DRAIN_SECONDS = 0.5
"""Seconds to go on reading output after the shell ended, when a process it left behind holds the pipe open."""

RAW_OUTPUT = 8000
"""Bytes at the end of the output that are kept as written, for terminals."""

_log = logging.getLogger(__name__)


class LocalProcess:
    """One shell command. It ends when its shell ends; other processes of its group are then killed.

    A program that starts its own session (`setsid`, daemons) leaves the group and cannot be killed. Made by
    `ProcessHost`, which runs `supervise` in its task group.
    """

    def __init__(self, child: ChildProcess, *, output_limit: int) -> None:
        self._child = child
        self._tail = OutputTail(limit=output_limit)
        self._printed = 0
        self._news = anyio.Event()  # set and replaced whenever there is something new to tell
        self._stopping = anyio.Event()
        self._ended = anyio.Event()
        self._exit: ExitStatus | None = None

    @property
    def terminal_id(self) -> str | None:
        """None: this program has no terminal in an editor."""
        return None

    @property
    def group(self) -> int:
        """The id of the process group."""
        return self._child.pid

    async def output(self) -> ProcessOutput:
        """The output so far, and the exit status once the program has ended."""
        await anyio.lowlevel.checkpoint()  # so that whoever polls lets the reader read
        ended = self._exit is not None
        return ProcessOutput(
            text=self._tail.text(ended=ended),
            truncated=self._tail.truncated,
            exit=self._exit,
            printed=self._printed,
            raw=self._tail.raw(limit=RAW_OUTPUT),
        )

    async def wait(self) -> ExitStatus:
        """Wait for the end; all output is complete then."""
        await self._ended.wait()
        assert self._exit is not None
        return self._exit

    async def changed(self, since: ProcessOutput) -> None:
        """Wait until it has printed more than in `since`, or has ended."""
        while self._exit is None and self._printed == since.printed:
            await self._news.wait()

    async def kill(self) -> None:
        """End the group: SIGTERM, then SIGKILL. Takes `TERMINATE_SECONDS` plus `REAP_SECONDS` at most."""
        with anyio.CancelScope(shield=True):
            self.stop()
            with anyio.move_on_after(TERMINATE_SECONDS + REAP_SECONDS):
                await self._ended.wait()

    def stop(self) -> bool:
        """Begin to end the group as `kill` does, and return at once; False when it has already ended."""
        self._stopping.set()
        return self._exit is None

    async def release(self) -> None:
        """Kill what still runs; output and exit stay readable."""
        await self.kill()

    async def supervise(self) -> None:
        """Read the output until the end of the command; cancelling kills it."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read)
                tasks.start_soon(self._stop)
                await self._child.wait_for_output(within=DRAIN_SECONDS)
                tasks.cancel_scope.cancel()
        finally:
            await self._child.end(terminate=0)
            self._end()

    async def _read(self) -> None:
        assert self._child.stdout is not None
        try:
            async for chunk in self._child.stdout:
                self._tail.add(chunk)
                self._printed += len(chunk)
                self._tell()
        except anyio.BrokenResourceError as error:
            _log.warning("command output lost", extra={"pid": self.group, "error": str(error.__cause__)})

    async def _stop(self) -> None:
        await self._stopping.wait()
        self._child.signal(signal.SIGTERM)
        await anyio.sleep(TERMINATE_SECONDS)
        self._child.signal(groups.KILL)

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def _end(self) -> None:
        code = self._child.exit_code
        if code is None:
            _log.warning("killed process did not end", extra={"pid": self.group})
            code = -groups.KILL
        self._exit = exit_status(code)
        self._ended.set()
        self._tell()


if TYPE_CHECKING:
    _conforms: type[RunningProcess] = LocalProcess
