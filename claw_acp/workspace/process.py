"""A shell command running on this machine, in a process group of its own."""

import logging
import os
import signal
from typing import TYPE_CHECKING

import anyio
from anyio.abc import Process

from claw_acp.contracts.workspace import ExitStatus, ProcessOutput, RunningProcess
from claw_acp.workspace import process_groups
from claw_acp.workspace.output_tail import OutputTail

TERMINATE_SECONDS = 1.0
"""How long a group may take to end by itself after SIGTERM, before SIGKILL."""

DRAIN_SECONDS = 0.5
"""How long output is still read after the shell ended, when something it left behind holds the pipe open."""

REAP_SECONDS = 2.0
"""How long to wait for a killed process to disappear; only one stuck in the kernel takes longer."""

RAW_OUTPUT = 8000
"""Bytes at the end of the output that are kept as they were written, for terminals that people see."""

_CHUNK = 65536

_log = logging.getLogger(__name__)


class LocalProcess:
    """One shell command. It ends when its shell ends; what the shell left behind in its group is then killed.

    A program that makes a session of its own (`setsid`, daemons) leaves the group, and so our reach.
    Made by `ProcessHost`, which runs `supervise` in its task group.
    """

    def __init__(self, process: Process, *, reader: int, output_limit: int) -> None:
        self._process = process
        self._reader = reader
        self._tail = OutputTail(limit=output_limit)
        self._printed = 0
        self._pipe_closed = anyio.Event()
        self._news = anyio.Event()  # set and replaced whenever there is something new to tell
        self._stopping = anyio.Event()
        self._ended = anyio.Event()
        self._exit: ExitStatus | None = None

    @property
    def terminal_id(self) -> str | None:
        """None: no editor shows this program."""
        return None

    @property
    def group(self) -> int:
        """The id of the process group."""
        return self._process.pid

    async def output(self) -> ProcessOutput:
        """What was printed so far, and whether it ended."""
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
        """Wait for the end; all output is there then."""
        await self._ended.wait()
        assert self._exit is not None
        return self._exit

    async def changed(self, since: ProcessOutput) -> None:
        """Wait until it has printed more than that, or has ended."""
        while self._exit is None and self._printed == since.printed:
            await self._news.wait()

    async def kill(self) -> None:
        """End the group: politely, then by force. Takes `TERMINATE_SECONDS` plus `REAP_SECONDS` at most."""
        with anyio.CancelScope(shield=True):
            self._signal(signal.SIGTERM)
            with anyio.move_on_after(TERMINATE_SECONDS):
                await self._ended.wait()
                return
            process_groups.kill_group(self.group)
            with anyio.move_on_after(REAP_SECONDS):
                await self._ended.wait()

    def stop(self) -> bool:
        """Begin to end the group as `kill` does, and return at once; False when it has ended already."""
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
                await self._process.wait()
                with anyio.move_on_after(DRAIN_SECONDS):
                    await self._pipe_closed.wait()
                tasks.cancel_scope.cancel()
        finally:
            process_groups.kill_group(self.group)
            with anyio.move_on_after(REAP_SECONDS, shield=True):
                await self._process.wait()
            self._end()

    async def _read(self) -> None:
        try:
            while True:
                await anyio.wait_readable(self._reader)
                chunk = os.read(self._reader, _CHUNK)  # we alone read it: readable means this does not block
                if not chunk:
                    break
                self._tail.add(chunk)
                self._printed += len(chunk)
                self._tell()
        except OSError as error:
            _log.warning("command output lost", extra={"pid": self.group, "error": str(error)})
        self._pipe_closed.set()

    async def _stop(self) -> None:
        await self._stopping.wait()
        self._signal(signal.SIGTERM)
        await anyio.sleep(TERMINATE_SECONDS)
        process_groups.kill_group(self.group)

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def _signal(self, number: int) -> None:
        if self._exit is None:  # afterwards the number may belong to somebody else
            process_groups.signal_group(self.group, number)

    def _end(self) -> None:
        os.close(self._reader)
        process_groups.forget(self.group)
        code = self._process.returncode
        if code is None:
            _log.warning("killed process did not end", extra={"pid": self.group})
            code = -process_groups.KILL
        self._exit = exit_status(code)
        self._ended.set()
        self._tell()


def exit_status(code: int) -> ExitStatus:
    """What a return code says; a negative one is a signal, as `subprocess` has it."""
    if code >= 0:
        return ExitStatus(code=code)
    try:
        return ExitStatus(signal=signal.Signals(-code).name)
    except ValueError:  # real-time signals have no name in Python
        return ExitStatus(signal=f"SIG{-code}")


if TYPE_CHECKING:
    _conforms: type[RunningProcess] = LocalProcess
