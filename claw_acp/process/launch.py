"""The description of a program to start, common to all child processes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment
from claw_acp.core.value import Value


class Launch(Value):
    """A program to start.

    Attributes:
        argv: The program and its arguments.
        env: All its variables.
        cwd: Its working directory; None: ours.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path | str | None = None


Sandbox: TypeAlias = Callable[[Launch], Launch]
"""Returns a confined launch, such as a command line that begins with the program of a sandbox."""


def launch_of(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    sandbox: Sandbox | None = None,
) -> Launch:
    """The launch of a program after the sandbox; without `env`, in our environment less our keys."""
    launch = Launch(argv=tuple(argv), env=without_keys(current_environment()) if env is None else env, cwd=cwd)
    return launch if sandbox is None else sandbox(launch)
