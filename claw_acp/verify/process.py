"""The agent's process: raw bytes in and out, and an end without remaining processes."""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from claw_acp.core.value import Value
from claw_acp.process.child_process import ChildProcess, start_child
from claw_acp.process.output_tail import OutputTail
from claw_acp.verify.rule import CannotStart

STDERR_KEPT = 16 * 1024  # bytes of what it wrote last
CHILDREN_WAIT = 1.0  # seconds that what the agent started may outlive it
LOOK = 0.02  # seconds between looks at other processes, which tell nobody of their end
MARK = "CLAW_ACP_VERIFY"  # inherited by everything an agent starts, so that it is found whatever group it is in


class Ending(Value):
    """The end of an agent's process.

    Attributes:
        asked: The request to end: its input was closed, or a signal; None if it ended by itself.
        seconds: From then to its end; None if it had to be killed.
        code: Its exit code, negative for a signal.
        left: Processes that it started and did not end.
    """

    asked: str | None
    seconds: float | None
    code: int | None
    left: tuple[str, ...] = ()


class AgentProcess:
    """A running agent. Created by `start`; `end` must follow."""

    def __init__(self, child: ChildProcess, *, mark: str) -> None:
        self._child = child
        self._mark = f"{MARK}={mark}".encode()
        self._born = anyio.current_time()
        self._stderr = OutputTail(limit=STDERR_KEPT)

    @classmethod
    async def start(cls, command: Sequence[str], *, env: Mapping[str, str], mark: str) -> "AgentProcess":
        """Start an agent in a process group of its own and in our directory, whatever that of its sessions.

        Raises:
            CannotStart: The program does not exist or cannot be run.
        """
        try:
            child = await start_child(command, env={**env, MARK: mark}, stdin="pipe")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise CannotStart(f"{command[0]} cannot be started: {reason}") from error
        return cls(child, mark=mark)

    @property
    def age(self) -> float:
        """Seconds since the start."""
        return anyio.current_time() - self._born

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._child.exit_code

    @property
    def last_words(self) -> str:
        """The last lines of its stderr output."""
        return "\n".join(self._stderr.text(ended=True).strip().splitlines()[-8:])

    async def write(self, data: bytes) -> bool:
        """Write all of it; False if the pipe has no reader any more."""
        assert self._child.stdin is not None
        try:
            await self._child.stdin.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
        return True

    async def read(self) -> bytes:
        """The next bytes; empty at the end, or once the output was closed."""
        assert self._child.stdout is not None
        try:
            return await self._child.stdout.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return b""

    async def keep_stderr(self) -> None:
        """Read stderr to its end, and keep the last part."""
        await self._child.drain_stderr(self._stderr.add)

    async def fall_silent(self) -> None:
        """Wait for the end of stderr, for a moment: a process that lives on may keep it open."""
        assert self._child.stderr is not None
        with anyio.move_on_after(CHILDREN_WAIT):
            await self._child.stderr.ended.wait()

    async def close_input(self) -> None:
        """End of input."""
        assert self._child.stdin is not None
        self._child.stdin.close()

    def close_output(self) -> None:
        """Close our end: the agent's writes fail from now on."""
        assert self._child.stdout is not None
        self._child.stdout.close()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the agent alone."""
        if self.exit_code is None:
            _signal(self._child.pid, number)

    async def wait(self, *, within: float) -> float | None:
        """Wait for the end; returns the seconds it took, or None if it did not come in time."""
        begin = anyio.current_time()
        with anyio.move_on_after(within):
            await self._child.wait()
            return anyio.current_time() - begin
        return None

    async def kill(self) -> None:
        """Kill the group at once."""
        await self._child.end(terminate=0)
        for pid in self._family():
            _signal(pid, signal.SIGKILL)

    async def left(self) -> tuple[str, ...]:
        """The processes that the agent started and that still exist a little later."""
        with anyio.move_on_after(CHILDREN_WAIT):
            while self._family():  # noqa: ASYNC110 - nobody can tell us
                await anyio.sleep(LOOK)
            return ()
        return tuple(map(_command, self._family()))

    def _family(self) -> list[int]:
        """Live processes of the agent's group, or with its mark in another; empty without /proc."""
        first = self._child.pid
        return [pid for pid in _pids(first) if _group(pid) == first or self._mark in _environment(pid)]


def _pids(first: int) -> list[int]:
    """Processes started after this one, and itself: reading all of a machine's takes long."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - names only, often
    except FileNotFoundError:
        return []
    return [pid for pid in pids if pid >= first]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # gone meanwhile, or somebody else's
        return []


def _group(pid: int) -> int:
    """The process group; -1 for a zombie."""
    try:
        state, _parent, group = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return -1
    return -1 if state == "Z" else int(group)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return f"process {pid}"


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return
