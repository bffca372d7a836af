"""The profile of a sandbox: all that a confined program may change, see and reach, whichever sandbox enforces it."""

from pathlib import Path
from typing import Final, Literal, TypeAlias

from claw_acp.core.value import Value

Network: TypeAlias = Literal["none", "hosts", "open"]
"""Reachable addresses. none: not even this machine's; hosts: through our proxy, by rules; open: all."""


class SandboxLimits(Value):
    """Limits on resources, for a program with everything it starts; 0: no limit.

    Attributes:
        processes: The number of processes at the same time.
        memory: Bytes of memory of one process.
        file_size: Bytes of the largest file.
    """

    processes: int = 0
    memory: int = 0
    file_size: int = 0


NO_LIMITS: Final = SandboxLimits()


class SandboxProfile(Value):
    """Permissions of a confined program. It reads all files except unreadable ones, and changes none but writable ones.

    All paths are absolute. `/tmp`, `/var/tmp` and `/run` are private.

    Attributes:
        writable: Existing directories that it may change.
        read_only: Paths inside writable directories that it may not change, nor replace, nor create.
        unreadable: Files and directories that it cannot read.
        network: The addresses it can reach.
        proxy: The Unix socket of the proxy where `network` is `hosts`.
        limits: Limits on resources.
        temporary: The directory that is its `/tmp`, for several programs in turn; None: one that ends with it.
        beside: The process in whose network it runs, where `network` is `none`: they reach each other, and nobody else;
            see `sandbox/shared_network`. None: one of its own.
    """

    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    unreadable: tuple[Path, ...] = ()
    network: Network = "none"
    proxy: Path | None = None
    limits: SandboxLimits = NO_LIMITS
    temporary: Path | None = None
    beside: int | None = None


class ProgramNeeds(Value):
    """The needs of a program of the settings in its sandbox, besides those that its reach names.

    Attributes:
        writable: Directories of its own, which it may read and change.
        open_network: It reaches all addresses, and nobody is asked about any.
    """

    writable: tuple[Path, ...] = ()
    open_network: bool = False
