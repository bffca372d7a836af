"""How a child process is started: the one description that all of them go through."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from claw_acp.core.child_environment import without_keys
from claw_acp.core.value import Value


class Launch(Value):
    """A program to start.

    Attributes:
        argv: The program and its arguments.
        env: All variables it gets.
        cwd: Its directory; None: ours.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path | str | None = None


Sandbox: TypeAlias = Callable[[Launch], Launch]
"""Turns a launch into one that is confined, such as a command line that begins with the program of a sandbox."""


def launch_of(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    sandbox: Sandbox | None = None,
) -> Launch:
    """The launch of a program as it is carried out; without `env`, with our environment less our keys."""
    launch = Launch(argv=tuple(argv), env=without_keys(os.environ) if env is None else env, cwd=cwd)
    return launch if sandbox is None else sandbox(launch)
