"""The contract of a sandbox: it turns the launch of a program into that of the same program, confined by a profile."""

from typing import Literal, Protocol, TypeAlias

from claw_acp.contracts.launch import Confinement, StartedBy
from claw_acp.contracts.sandbox import SandboxProfile

Guarantee: TypeAlias = Literal[
    "writable",
    "metadata",
    "read_only",
    "unreadable",
    "network",
    "proxy",
    "sockets",
    "processes",
    "system_calls",
    "process_limit",
    "memory_limit",
    "file_size_limit",
]
"""A part of a profile that a sandbox enforces.

writable: nothing is written, created or removed elsewhere. metadata: nor are rights, owners and times changed.
read_only: it holds inside writable directories, too. unreadable: what the profile names. network: none leaves where the
profile says none. proxy: it leaves by the proxy only where the profile says hosts. sockets: no Unix socket of other
programs is reachable. processes: other programs are neither seen nor signalled, and all that was started ends with the
command. system_calls: no other user's rights, no tracing, none of the kernel's rarely used doors. The rest are limits.
"""


class SandboxBackend(Protocol):
    """A sandbox that works on this machine."""

    @property
    def name(self) -> str:
        """Its name in settings, reports and questions."""
        ...

    @property
    def enforces(self) -> frozenset[Guarantee]:
        """The parts of a profile that hold."""
        ...

    def python(self) -> str:
        """The Python that programs find inside; empty: there is none."""
        ...

    def confine(self, profile: SandboxProfile, *, started_by: StartedBy = "us") -> Confinement:
        """A sandbox for one command.

        Raises:
            OSError: Files that it needs cannot be written.
        """
        ...
