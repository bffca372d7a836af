"""The program under test as a child process on pipes, byte by byte: nothing here knows JSON."""

import os
import signal
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import anyio

from tests.support.judges.official_schema import Breach
from tests.support.program.process_mark import MARK, command_of, marked
from tests.support.program.processes import PROGRAM, Child, start_process

TIMEOUT = 45.0  # seconds any single wait of a test may take; only a hang takes that long
EXIT_BOUND = 15.0  # seconds from the end of the input to the end of the process: 2 promised, the rest for a machine
# that has ten times the work it can do. What hangs would be there much longer.
POLL = 0.005  # seconds between looks at what no event tells (other processes)
LOOKS = 30  # sleeping at this many looks in a row counts as idle
READ_SIZE = 1024 * 1024


async def eventually(condition: Callable[[], bool], *, what: str, within: float = TIMEOUT) -> None:
    """Wait for a condition that can only be polled: another process, or a file that it makes."""
    with anyio.move_on_after(within):
        while not condition():  # noqa: ASYNC110 - nobody can tell us
            await anyio.sleep(POLL)
        return
    raise AssertionError(f"after {within:g} s there is still not: {what}")


class Memory(NamedTuple):
    """Resident memory in bytes."""

    now: int
    peak: int


class AgentProcess:
    """`python -m claw_acp` with pipes on stdin and stdout, and a file for stderr. Made by `start`."""

    _seen_off = False  # with everything that it started

    def __init__(self, child: Child, *, stdin: int, stdout: int, stderr: Path, mark: str) -> None:
        self._child = child
        self._stdin: int | None = stdin
        self._stdout: int | None = stdout
        self._stderr = stderr
        self._mark = mark
        self._may_read = anyio.Event()
        self._may_read.set()

    @classmethod
    def start(
        cls,
        *,
        cwd: Path,
        env: Mapping[str, str],
        stderr: Path,
        command: Sequence[str] = PROGRAM,
        stderr_to_stdout: bool = False,
    ) -> "AgentProcess":
        """Start it in a session of its own, with exactly this environment (and our mark)."""
        mark = uuid.uuid4().hex
        child_in, stdin = os.pipe()
        stdout, child_out = os.pipe()
        with stderr.open("ab") as errors:
            child = start_process(
                command,
                cwd=cwd,
                env={**env, MARK: mark},
                stdin=child_in,
                stdout=child_out,
                stderr=child_out if stderr_to_stdout else errors.fileno(),
            )
        os.close(child_in)
        os.close(child_out)
        os.set_blocking(stdin, False)
        os.set_blocking(stdout, False)
        return cls(child, stdin=stdin, stdout=stdout, stderr=stderr, mark=mark)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.pid

    @property
    def mark(self) -> str:
        """The value of `MARK` for a child that does not inherit its parent's environment."""
        return self._mark

    @property
    def exit_code(self) -> int | None:
        """The return code; None while it runs."""
        return self._child.poll()

    def stderr(self) -> str:
        """Its stderr output so far."""
        return self._stderr.read_text(encoding="utf-8", errors="replace")

    def cwd(self) -> Path:
        """Its working directory."""
        return Path(f"/proc/{self.pid}/cwd").readlink()

    def memory(self) -> Memory:
        """Its resident memory."""
        status = dict(line.split(":", 1) for line in Path(f"/proc/{self.pid}/status").read_text().splitlines())
        return Memory(now=int(status["VmRSS"].split()[0]) * 1024, peak=int(status["VmHWM"].split()[0]) * 1024)

    async def idle(self) -> None:
        """Wait until it is idle: asleep at several looks in a row."""
        asleep = 0

        def quiet() -> bool:
            nonlocal asleep
            state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
            asleep = asleep + 1 if state == "S" else 0
            return asleep >= LOOKS

        await eventually(quiet, what="an idle agent")

    async def run(self) -> None:
        """Do nothing; only a program in the test's own process needs to be run."""

    # ------------------------------------------------------------------ pipes

    async def write(self, data: bytes) -> None:
        """Write all of it; fails the test if the program does not read, raises BrokenPipeError if it is gone."""
        rest = memoryview(data)
        with anyio.fail_after(TIMEOUT):
            while rest and self._stdin is not None:
                try:
                    rest = rest[os.write(self._stdin, rest) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._stdin)

    async def read(self) -> bytes:
        """The next output; empty at the end of the stream. While reading is paused this waits."""
        while self._stdout is not None:
            if not self._may_read.is_set():
                await self._may_read.wait()
                continue
            try:
                return os.read(self._stdout, READ_SIZE)
            except BlockingIOError:
                with suppress(anyio.ClosedResourceError):  # by `close_stdout`
                    await anyio.wait_readable(self._stdout)
        return b""

    def pause_reading(self) -> None:
        """Stop reading the program's output."""
        self._may_read = anyio.Event()

    def resume_reading(self) -> None:
        """Read again."""
        self._may_read.set()

    def close_stdin(self) -> None:
        """End of input."""
        if self._stdin is not None:
            os.close(self._stdin)
            self._stdin = None

    def close_stdout(self) -> None:
        """Close the output for good: the program gets a broken pipe."""
        if self._stdout is not None:
            anyio.notify_closing(self._stdout)
            os.close(self._stdout)
            self._stdout = None

    # ------------------------------------------------------------------ the end

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program alone."""
        self._child.send_signal(number)

    async def ended(self, *, within: float = EXIT_BOUND) -> int:
        """Wait for the end; returns the exit code."""
        await eventually(lambda: self.exit_code is not None, what="the end of the agent's process", within=within)
        return self._child.returncode

    def family(self) -> list[int]:
        """Live processes that the program started; itself among them, unless it was forked."""
        return marked(self._mark)

    def children(self) -> list[int]:
        """Live processes that the program started."""
        return [pid for pid in self.family() if pid != self._child.pid]

    async def childless(self) -> None:
        """Check that none of its child processes outlives it."""
        try:
            await eventually(lambda: not self.family(), what="an end of all its children", within=EXIT_BOUND)
        except AssertionError:
            raise Breach(f"the agent left processes behind: {[command_of(pid) for pid in self.family()]}") from None
        self._seen_off = True

    def kill_family(self) -> None:
        """Kill everything that it started."""
        for pid in () if self._seen_off else self.family():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def destroy(self) -> None:
        """Kill what is left, whatever happened."""
        self.close_stdin()
        self.kill_family()
        self._child.kill()
        self._child.wait(TIMEOUT)
        self.close_stdout()
