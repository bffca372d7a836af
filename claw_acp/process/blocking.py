"""Child processes for threads without an event loop, with the same groups and watchdog."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import IO, NamedTuple

from claw_acp.process import groups
from claw_acp.process.launch import Sandbox, launch_of

OUTPUT_LIMIT = 1024 * 1024  # bytes of each stream that are kept: the first ones
DRAIN_TIMEOUT = 1.0  # seconds for the rest of the output, which a process outside its group may hold open

_CHUNK = 64 * 1024


class Ended(NamedTuple):
    """The exit code of a program (negative for a signal), and its output."""

    code: int
    stdout: bytes
    stderr: bytes


class BlockingChild:
    """A running program without input. `finish` must follow.

    Of each of its outputs the first `output_limit` bytes are kept.

    Raises:
        OSError: The system refuses.
        ValueError: An argument or variable holds a NUL character.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        sandbox: Sandbox | None = None,
        output_limit: int = OUTPUT_LIMIT,
    ) -> None:
        launch = launch_of(argv, env=env, cwd=cwd, sandbox=sandbox)
        self._process = subprocess.Popen(
            launch.argv,
            env=launch.env,
            cwd=launch.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._output_limit = output_limit
        groups.track(self._process.pid)

    @property
    def pid(self) -> int:
        """The id of the process, and of its group."""
        return self._process.pid

    def finish(self, *, within: float) -> Ended:
        """Wait for its end, then end what it left behind.

        Raises:
            TimeoutError: It took longer than that many seconds; it is killed.
        """
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        streams = self._process.stdout, self._process.stderr
        outputs = [_Output(stream, limit=self._output_limit) for stream in streams]
        try:
            code = self._process.wait(timeout=within)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        finally:
            groups.kill_group(self._process.pid)
            self._process.wait()
            groups.forget(self._process.pid)
            printed, complained = (output.beginning() for output in outputs)
        return Ended(code, printed, complained)

    def kill(self) -> None:
        """Kill it at once with everything that it started; callable from any thread."""
        if self._process.poll() is None:
            groups.kill_group(self._process.pid)


class _Output(Thread):
    """Reads a stream to its end, and closes it, so that the program is never held up by what it prints."""

    def __init__(self, stream: IO[bytes], *, limit: int) -> None:
        super().__init__(daemon=True)
        self._limit = limit
        self._stream = stream
        self._kept = bytearray()
        self.start()

    def run(self) -> None:
        with self._stream as stream:
            while chunk := os.read(stream.fileno(), _CHUNK):
                self._kept += chunk[: self._limit - len(self._kept)]

    def beginning(self) -> bytes:
        """The kept bytes, once the program has ended."""
        self.join(DRAIN_TIMEOUT)
        return bytes(self._kept)
