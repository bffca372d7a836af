"""The launch of a program, common to all child processes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from claw_acp.contracts.launch import Launch, Sandbox
from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment


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
