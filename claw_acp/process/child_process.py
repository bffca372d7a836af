"""Child processes: every program that the event loop starts is started and ended here.

Each leads a process group of its own, which ends with it, and with us however we end (`groups`).
"""

import os
import signal
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from typing import Literal

import anyio
from anyio.abc import Process

from claw_acp.contracts.workspace import ExitStatus
from claw_acp.process import groups
from claw_acp.process.launch import Launch, Sandbox, launch_of
from claw_acp.process.pipes import PipeReader, PipeWriter

TERMINATE_SECONDS = 1.0
"""Seconds from SIGTERM to SIGKILL."""

REAP_SECONDS = 2.0
"""Seconds to wait for a killed process to disappear; only one stuck in the kernel takes longer."""

LAST_LOOKS = 4
"""Turns of the event loop for readers of the remaining output, since a busy machine may have left no time for it."""

Stdin = Literal["pipe", "null", "announced"]
Output = Literal["pipe", "null"]


class ChildProcess:
    """A running program. Created by `start_child`; end it with `end` or `close`.

    Attributes:
        stdin: Its input; None when it has none.
        stdout: Its output; None when that is discarded.
        stderr: Its error output; None when it is discarded, or goes where its output goes.
    """

    def __init__(
        self, process: Process, *, stdin: PipeWriter | None, stdout: PipeReader | None, stderr: PipeReader | None
    ) -> None:
        self._process = process
        self._held = True
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr

    @property
    def pid(self) -> int:
        """The id of the process, and of its group."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait for its end and return the exit code."""
        return await self._process.wait()

    async def wait_for_output(self, *, within: float) -> None:
        """Wait for its end, and then until all it has printed was read.

        A process it left behind may hold its pipes open: that is waited for `within` seconds after its end.
        """
        await self._process.wait()
        with anyio.move_on_after(within) as drain:
            for reader in (self.stdout, self.stderr):
                if reader is not None:
                    await reader.ended.wait()
        if drain.cancelled_caught:
            for _ in range(LAST_LOOKS):
                await anyio.lowlevel.checkpoint()

    async def drain_stderr(self, take: Callable[[bytes], None]) -> None:
        """Read its error output to the end, or until it is closed. `take` limits how much is kept (`OutputTail`)."""
        assert self.stderr is not None
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for data in self.stderr:
                take(data)

    # ------------------------------------------------------------------ its end

    def signal(self, number: int) -> None:
        """Send a signal to the whole group, unless the program has ended: the id may belong to another group then."""
        if self._held and self.exit_code is None:
            groups.signal_group(self.pid, number)

    async def end(self, *, leave: float = 0.0, terminate: float = TERMINATE_SECONDS) -> None:
        """End it with everything it started: SIGTERM, then SIGKILL; returns when it is gone. A cancelled call kills it.

        Args:
            leave: Seconds to wait after its input is closed.
            terminate: Seconds from SIGTERM to SIGKILL; 0: no SIGTERM.
        """
        try:
            if self.stdin is not None:
                self.stdin.close()
            if leave and await self._gone_within(leave):
                return
            if terminate:
                self.signal(signal.SIGTERM)
                await self._gone_within(terminate)
        finally:
            self.close()
            with anyio.move_on_after(REAP_SECONDS, shield=True):
                await self._process.wait()

    async def _gone_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._process.wait()
        return self.exit_code is not None

    def close(self) -> None:
        """Kill it and what it left behind at once, and close the pipes. Idempotent."""
        if self._held:
            self._held = False
            groups.kill_group(self.pid)
            groups.forget(self.pid)
            for pipe in (self.stdin, self.stdout, self.stderr):
                if pipe is not None:
                    pipe.close()


async def start_child(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    stdin: Stdin = "null",
    stdout: Output = "pipe",
    stderr: Output | Literal["stdout"] = "pipe",
    sandbox: Sandbox | None = None,
) -> ChildProcess:
    """Start a program in a session and process group of its own.

    Args:
        argv: The program and its arguments.
        env: All variables it gets; None: ours, without our keys.
        cwd: Its working directory; None: ours.
        stdin: `announced`: none, and a shell reports the process to the watchdog before it runs the program. That costs
            half a millisecond, and a missing program then shows as exit code 127.
        stdout: Whether its output is read or discarded.
        stderr: Whether its error output is read, discarded, or goes where its output goes.
        sandbox: Confines it.

    Raises:
        OSError: The system refuses.
        ValueError: An argument or variable holds a NUL character.
    """
    launch = launch_of(argv, env=env, cwd=cwd, sandbox=sandbox)
    ours: list[int] = []
    theirs: list[int] = []
    try:
        handed = (
            _pipe(ours, theirs, writes=True) if stdin == "pipe" else DEVNULL,
            _pipe(ours, theirs) if stdout == "pipe" else DEVNULL,
            _pipe(ours, theirs) if stderr == "pipe" else STDOUT if stderr == "stdout" else DEVNULL,
        )
        process = await _spawn(launch, *handed, announced=stdin == "announced")
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    left = iter(ours)
    return ChildProcess(
        process,
        stdin=PipeWriter(next(left)) if stdin == "pipe" else None,
        stdout=PipeReader(next(left)) if stdout == "pipe" else None,
        stderr=PipeReader(next(left)) if stderr == "pipe" else None,
    )


@asynccontextmanager
async def running_child(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    stdout: Output = "pipe",
    stderr: Output = "pipe",
    sandbox: Sandbox | None = None,
) -> AsyncGenerator[ChildProcess]:
    """Run a program without input for the block; leaving the block kills it if it still runs.

    Raises:
        OSError: The system refuses.
        ValueError: An argument or variable holds a NUL character.
    """
    child = await start_child(argv, env=env, cwd=cwd, stdout=stdout, stderr=stderr, sandbox=sandbox)
    try:
        yield child
    finally:
        await child.end(terminate=0)


def exit_status(code: int) -> ExitStatus:
    """The exit status of a return code; a negative one is a signal, as in `subprocess`."""
    if code >= 0:
        return ExitStatus(code=code)
    try:
        return ExitStatus(signal=signal.Signals(-code).name)
    except ValueError:  # real-time signals have no name in Python
        return ExitStatus(signal=f"SIG{-code}")


def _pipe(ours: list[int], theirs: list[int], *, writes: bool = False) -> int:
    """The program's end of a new pipe."""
    reader, writer = os.pipe()
    ours.append(writer if writes else reader)
    theirs.append(reader if writes else writer)
    return theirs[-1]


async def _spawn(launch: Launch, stdin: int, stdout: int, stderr: int, *, announced: bool) -> Process:
    argv = launch.argv
    if announced:
        argv, stdin = groups.announced(argv, names=launch.env)
    with anyio.CancelScope(shield=True):  # a process that was made must reach whoever ends it
        process = await anyio.open_process(
            argv, stdin=stdin, stdout=stdout, stderr=stderr, cwd=launch.cwd, env=launch.env, start_new_session=True
        )
        groups.track(process.pid)
        return process
    raise AssertionError("a shielded scope is not cancelled")  # pragma: no cover
