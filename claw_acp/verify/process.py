"""The agent's process: raw bytes in and out, and an end that leaves nothing behind."""

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

import anyio
from anyio.abc import Process

from claw_acp.client.groups import end_group, signal_group
from claw_acp.core.value import Value
from claw_acp.verify.rule import CannotStart

STDERR_KEPT = 16 * 1024  # bytes of what it wrote last
CHILDREN_WAIT = 1.0  # seconds that what the agent started may outlive it
READ_SIZE = 256 * 1024
LOOK = 0.02  # seconds between looks at other processes, which tell nobody of their end
MARK = "CLAW_ACP_VERIFY"  # inherited by everything an agent starts, so that it is found whatever group it is in


class Ending(Value):
    """How an agent's process ended.

    Attributes:
        asked: What it was told: its input was closed, or a signal; None when it ended unasked.
        seconds: From then to its end; None when it had to be killed.
        code: Its exit code, negative for a signal.
        left: What it had started and did not end.
    """

    asked: str | None
    seconds: float | None
    code: int | None
    left: tuple[str, ...] = ()


class AgentProcess:
    """A running agent. Made by `start`; `end` must follow."""

    def __init__(self, process: Process, output: int, *, mark: str) -> None:
        self._process = process
        self._output: int | None = output
        self._mark = f"{MARK}={mark}".encode()
        self._born = anyio.current_time()
        self._stderr = b""
        self._silent = anyio.Event()

    @classmethod
    async def start(cls, command: Sequence[str], *, env: Mapping[str, str], mark: str) -> "AgentProcess":
        """Start an agent in a process group of its own, here: the directory of its sessions is another matter.

        Raises:
            CannotStart: The program is not there or cannot be run.
        """
        output, its_output = os.pipe()  # our own, so that reading can really pause and really end
        os.set_blocking(output, False)
        try:
            process = await anyio.open_process(
                command, stdin=PIPE, stdout=its_output, stderr=PIPE, env={**env, MARK: mark},
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            os.close(output)
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise CannotStart(f"{command[0]} cannot be started: {reason}") from error
        finally:
            os.close(its_output)
        return cls(process, output, mark=mark)

    @property
    def age(self) -> float:
        """Seconds since the start."""
        return anyio.current_time() - self._born

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.returncode

    @property
    def last_words(self) -> str:
        """The last lines that it wrote to stderr."""
        return "\n".join(self._stderr.decode("utf-8", "replace").strip().splitlines()[-8:])

    async def write(self, data: bytes) -> bool:
        """Write all of it; False when nobody reads any more."""
        assert self._process.stdin is not None
        try:
            await self._process.stdin.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
        return True

    async def read(self) -> bytes:
        """What came next; nothing at the end, or once the output was closed."""
        while self._output is not None:
            try:
                return os.read(self._output, READ_SIZE)
            except BlockingIOError:
                with suppress(anyio.ClosedResourceError):  # by `close_output`
                    await anyio.wait_readable(self._output)
        return b""

    async def keep_stderr(self) -> None:
        """Read stderr to its end, keeping the last of it."""
        assert self._process.stderr is not None
        with suppress(anyio.ClosedResourceError):
            async for data in self._process.stderr:
                self._stderr = (self._stderr + data)[-STDERR_KEPT:]
        self._silent.set()

    async def fall_silent(self) -> None:
        """Wait for the end of stderr, for a moment: a process that lives on may keep it open."""
        with anyio.move_on_after(CHILDREN_WAIT):
            await self._silent.wait()

    async def close_input(self) -> None:
        """End of input."""
        assert self._process.stdin is not None
        await self._process.stdin.aclose()

    def close_output(self) -> None:
        """Listen no more: what the agent writes breaks its pipe."""
        if self._output is not None:
            output, self._output = self._output, None
            anyio.notify_closing(output)
            os.close(output)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the agent alone."""
        if self.exit_code is None:
            self._process.send_signal(number)

    async def wait(self, *, within: float) -> float | None:
        """Wait for the end; the seconds it took, None when it did not come in time."""
        begin = anyio.current_time()
        with anyio.move_on_after(within):
            await self._process.wait()
            return anyio.current_time() - begin
        return None

    async def kill(self) -> None:
        """End the group at once."""
        if self._process.returncode is None:
            signal_group(self._process, signal.SIGKILL)
        await end_group(self._process)
        for pid in self._family():
            _kill(pid)
        self.close_output()
        await self._process.aclose()

    async def left(self) -> tuple[str, ...]:
        """What the agent started and is still there a little later."""
        with anyio.move_on_after(CHILDREN_WAIT):
            while self._family():  # noqa: ASYNC110 - nobody can tell us
                await anyio.sleep(LOOK)
            return ()
        return tuple(map(_command, self._family()))

    def _family(self) -> list[int]:
        """Live processes of the agent's group, or with its mark in another; none where there is no /proc."""
        first = self._process.pid
        return [pid for pid in _pids(first) if _group(pid) == first or self._mark in _environment(pid)]


def _pids(first: int) -> list[int]:
    """Processes made after this one, and itself: looking at all of a machine's takes its time."""
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
    """The process group; -1 for what is dead and only waits to be noticed."""
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


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
