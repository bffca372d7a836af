"""Child processes for threads without an event loop, with the same groups and watchdog."""

import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from claw_acp.process import groups
from claw_acp.process.launch import Sandbox, launch_of


class Ended(NamedTuple):
    """The exit code of a program (negative for a signal), and its whole output."""

    code: int
    stdout: bytes
    stderr: bytes


class BlockingChild:
    """A running program without input. `finish` must follow.

    Raises:
        OSError: The system refuses.
        ValueError: An argument or variable holds a NUL character.
    """

    def __init__(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, sandbox: Sandbox | None = None
    ) -> None:
        launch = launch_of(argv, env=env, sandbox=sandbox)
        self._process = subprocess.Popen(
            launch.argv,
            env=launch.env,
            cwd=launch.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        groups.track(self._process.pid)

    def finish(self, *, within: float) -> Ended:
        """Wait for its end, then end what it left behind.

        Raises:
            TimeoutError: It took longer than that many seconds; it is killed.
        """
        with self._process:
            try:
                printed, complained = self._process.communicate(timeout=within)
            except subprocess.TimeoutExpired as error:
                raise TimeoutError from error
            finally:
                groups.kill_group(self._process.pid)
                groups.forget(self._process.pid)
        return Ended(self._process.returncode, printed, complained)

    def kill(self) -> None:
        """Kill it at once with everything that it started; callable from any thread."""
        if self._process.poll() is None:
            groups.kill_group(self._process.pid)
