"""Further processes of this program itself. They know how to end, so no watchdog looks after them."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO

Child = subprocess.Popen[bytes]


def start_agent(env: Mapping[str, str]) -> Child:
    """Start an agent that speaks on its standard streams, and ends when its input does.

    Raises:
        OSError: The system refuses.
    """
    command = [sys.executable, "-m", "claw_acp"]
    return subprocess.Popen(command, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def start_detached(arguments: Sequence[str], *, stdout: int, stderr: IO[bytes] | int) -> Child:
    """Start a command of ours that goes on when this process and its terminal are gone.

    Args:
        arguments: The command.
        stdout: As of `subprocess.Popen`.
        stderr: As of `subprocess.Popen`.

    Raises:
        OSError: The system refuses.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "claw_acp", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        cwd="/",
        start_new_session=True,
    )
