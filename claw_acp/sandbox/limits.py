"""Limits on resources, set by a shell inside the sandbox: there only the processes of the sandbox count."""

from collections.abc import Sequence
from typing import Final

from claw_acp.contracts.sandbox import NO_LIMITS, SandboxLimits

_KIB: Final = 1024
_BLOCK: Final = 512  # bytes: the unit of file sizes in a POSIX shell
_PROCESSES: Final = 'if [ -n "$BASH_VERSION$ZSH_VERSION" ]; then ulimit -u {0}; else ulimit -p {0}; fi'


def limited(argv: Sequence[str], limits: SandboxLimits) -> tuple[str, ...]:
    """The command line under its limits; no program runs where one of them cannot be set.

    Memory is limited as data that a process can write, since many programs reserve far more addresses than they use.
    """
    if limits == NO_LIMITS:
        return tuple(argv)
    steps: list[str] = []
    if limits.processes:
        steps.append(_PROCESSES.format(limits.processes))
    if limits.memory:
        steps.append(f"ulimit -d {max(1, limits.memory // _KIB)}")
    if limits.file_size:
        steps.append(f"ulimit -f {max(1, limits.file_size // _BLOCK)}")
    return ("/bin/sh", "-c", f'{" && ".join(f"{{ {step}; }}" for step in steps)} && exec "$@"', "sh", *argv)
