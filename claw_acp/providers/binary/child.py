"""A running plugin: its process group, and the three pipes to it."""

import os
import signal
from collections import deque
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

import anyio
from anyio.abc import Process

from claw_acp.contracts.provider_setup import Program
from claw_acp.core.child_environment import without_keys
from claw_acp.providers.binary.failures import Failures
from claw_acp.workspace import process_groups
from claw_acp.workspace.output_tail import OutputTail

STDERR_KEPT = 64 * 1024  # bytes; the end of what it complained about
LOOK = 0.1  # seconds between looks whether it has ended, when something it started holds its pipes open
DRAIN_SECONDS = 0.3  # for its last output after its end, in the same case
TERMINATE_SECONDS = 0.5  # from SIGTERM to SIGKILL
REAP_SECONDS = 1.0  # for a killed program to disappear; only one stuck in the kernel takes longer

_CHUNK = 65536


class Child:
    """Made by `start_child`. Nothing moves by itself: somebody must `step`, one task at a time.

    What is sent waits in order until the program reads; the program waits in its pipe until somebody steps. Give it
    back with `let_go`.
    """

    def __init__(self, process: Process, *, stdin: int, stdout: int, stderr: int) -> None:
        self._process = process
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        self._selector = DefaultSelector()
        self._selector.register(stdout, EVENT_READ)
        self._selector.register(stderr, EVENT_READ)
        self._unsent: deque[bytes] = deque()
        self._begun = 0  # bytes of the first unsent piece that are written
        self._input_ends = False
        self._ended_at: float | None = None
        self._held = True
        self._quiet = False  # the last look brought nothing; on a busy machine time alone says little
        self._complaints = OutputTail(limit=STDERR_KEPT)
        self.write_error: OSError | None = None
        self.read_error: OSError | None = None

    @property
    def pid(self) -> int:
        """The process, and its group."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended, as `subprocess` has it; None while it runs."""
        return self._process.returncode

    @property
    def complaints(self) -> str:
        """The end of what it wrote to stderr."""
        return self._complaints.text(ended=True)

    @property
    def silent(self) -> bool:
        """Whether nothing more can come from its stdout."""
        return self._stdout < 0

    @property
    def gone(self) -> bool:
        """Whether it has ended and all it had to say was read; what it left behind is waited for only a moment."""
        if self.exit_code is None:
            return False
        if self._stdout < 0 and self._stderr < 0:
            return True
        if self._ended_at is None:
            self._ended_at = anyio.current_time()
        return self._quiet and anyio.current_time() > self._ended_at + DRAIN_SECONDS

    @property
    def backlog(self) -> int:
        """Bytes that it has not taken yet."""
        return sum(map(len, self._unsent)) - self._begun

    # ------------------------------------------------------------------ talking

    def send(self, data: bytes) -> None:
        """Write what it takes now; the rest later. Nothing happens once it has closed its input."""
        if self._stdin < 0 or self.write_error is not None:
            return
        self._unsent.append(data)
        if len(self._unsent) == 1:
            self._flush()
            if self._unsent:
                self._selector.register(self._stdin, EVENT_WRITE)

    def unsend(self, data: bytes) -> bool:
        """Take back a piece of which nothing was written; False when it is too late."""
        for index, piece in enumerate(self._unsent):
            if piece is data and (index or not self._begun):
                del self._unsent[index]
                if not self._unsent:
                    self._all_sent()
                return True
        return False

    def end_input(self) -> None:
        """Close its input once everything is written."""
        self._input_ends = True
        if not self._unsent:
            self._close_stdin()

    async def step(self) -> bytes:
        """Wait until something moves, `LOOK` seconds at most.

        Returns:
            What it printed; often nothing.

        Raises:
            anyio.ClosedResourceError: It was let go, perhaps meanwhile.
        """
        with anyio.move_on_after(LOOK):
            await self._moved()
        return self.poll()

    def poll(self) -> bytes:
        """Move what can be moved now; what it printed.

        Raises:
            anyio.ClosedResourceError: It was let go.
        """
        if not self._held:
            raise anyio.ClosedResourceError
        printed = b""
        ready = self._selector.select(0)
        self._quiet = not ready
        for key, _ in ready:
            if key.fd == self._stdin:
                self._flush()
                if not self._unsent:
                    self._all_sent()
            elif key.fd == self._stdout:
                printed = self._read(self._stdout)
            else:
                self._complaints.add(self._read(self._stderr))
        return printed

    async def _moved(self) -> None:
        if not self._held:
            return
        if self._stdout < 0 and self._stderr < 0:
            await self._process.wait()
        else:
            await anyio.wait_readable(self._selector.fileno())

    def _flush(self) -> None:
        try:
            while self._unsent:
                data = self._unsent[0]
                self._begun += os.write(self._stdin, memoryview(data)[self._begun :] if self._begun else data)
                if self._begun == len(data):
                    self._unsent.popleft()
                    self._begun = 0
        except BlockingIOError:
            return
        except OSError as error:  # it has closed its input, or has ended; how, and with which words, is told elsewhere
            self.write_error = error
            self._unsent.clear()
            self._begun = 0

    def _all_sent(self) -> None:
        self._forget_descriptor(self._stdin)
        if self._input_ends:
            self._close_stdin()

    def _read(self, descriptor: int) -> bytes:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return b""
        except OSError as error:
            self.read_error = error
            data = b""
        if not data:
            self._forget_descriptor(descriptor)
            os.close(descriptor)
            if descriptor == self._stdout:
                self._stdout = -1
            else:
                self._stderr = -1
        return data

    def _forget_descriptor(self, descriptor: int) -> None:
        if descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    def _close_stdin(self) -> None:
        if self._stdin >= 0:
            self._forget_descriptor(self._stdin)
            os.close(self._stdin)
            self._stdin = -1

    # ------------------------------------------------------------------ its end

    async def terminate(self) -> None:
        """Ask it to end, then end it with all that it started."""
        if self.exit_code is None and self._held:
            process_groups.signal_group(self.pid, signal.SIGTERM)
            with anyio.move_on_after(TERMINATE_SECONDS):
                while self.exit_code is None:
                    await self.step()
        await self.destroy()

    async def destroy(self) -> None:
        """End it at once with all that it started; returns when it is gone."""
        self.let_go()
        with anyio.move_on_after(REAP_SECONDS, shield=True):
            await self._process.wait()

    def let_go(self) -> None:
        """End it at once with all that it started, and give everything back. May be called again."""
        if not self._held:
            return
        self._held = False
        process_groups.kill_group(self.pid)
        process_groups.forget(self.pid)
        anyio.notify_closing(self._selector.fileno())
        self._close_stdin()
        for descriptor in (self._stdout, self._stderr):
            if descriptor >= 0:
                os.close(descriptor)
        self._stdout = self._stderr = -1
        self._unsent.clear()
        self._selector.close()


async def start_child(program: Program, *, failures: Failures) -> Child:
    """Start a plugin in a process group of its own, with the environment that `plugin_environment` makes; no shell.

    Raises:
        PluginNotStarted: The system refuses.
    """
    stdin, our_stdin = os.pipe()
    our_stdout, stdout = os.pipe()
    our_stderr, stderr = os.pipe()
    try:
        process = await _spawn(program, stdin=stdin, stdout=stdout, stderr=stderr, failures=failures)
    except BaseException:
        for descriptor in (our_stdin, our_stdout, our_stderr):
            os.close(descriptor)
        raise
    finally:
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
    for descriptor in (our_stdin, our_stdout, our_stderr):
        os.set_blocking(descriptor, False)
    return Child(process, stdin=our_stdin, stdout=our_stdout, stderr=our_stderr)


def plugin_environment(program: Program) -> dict[str, str]:
    """What a plugin sees: our environment without our keys, and what its settings add."""
    return {**without_keys(os.environ), **{name: value.reveal() for name, value in program.env}}


async def _spawn(program: Program, *, stdin: int, stdout: int, stderr: int, failures: Failures) -> Process:
    process: Process | None = None
    try:
        with anyio.CancelScope(shield=True):  # a process that was made must reach whoever ends it
            process = await anyio.open_process(
                [program.command, *program.args],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=program.cwd,
                env=plugin_environment(program),
                start_new_session=True,
            )
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        raise failures.not_started(error, cwd=program.cwd) from error
    assert process is not None
    process_groups.track(process.pid)
    return process
