"""The description of a program to start, and of a sandbox around it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from claw_acp.core.value import Value, made_by

if TYPE_CHECKING:
    from claw_acp.contracts.sandbox import SandboxProfile

StartedBy: TypeAlias = Literal["us", "editor"]
"""The program that starts a confined command: an editor may do so in a thread that ends long before the command."""


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


class Confinement(Protocol):
    """The sandbox of one command. Call it with the launch; `release` it when the command has ended.

    A confinement that is not released leaves empty files in place of missing `read_only` paths until this process ends.
    """

    def __call__(self, launch: Launch) -> Launch:
        """The launch of the program in the sandbox: a command line that anybody can start."""
        ...

    def release(self) -> None:
        """Remove what was made for it. Idempotent."""
        ...


class TimeLimit(Protocol):
    """A limit that can be put off, such as a cancel scope."""

    @property
    def deadline(self) -> float:
        """The time of the event loop at which it ends; infinity: never."""
        ...

    @deadline.setter
    def deadline(self, value: float) -> None: ...


class CommandNetwork(Protocol):
    """The network of one command.

    Attributes:
        limits: Time limits that do not run while a person is asked about an address.
    """

    limits: list[TimeLimit]

    def refusals(self) -> str:
        """Sentences about connections that were refused so far; empty if none was."""
        ...

    def end(self) -> None:
        """Start nothing more in it: it ends with the last program that uses it. Idempotent."""
        ...


class CommandSandbox(Value):
    """The sandbox in which a command runs.

    Attributes:
        profile: Its permissions.
        confine: Makes a confinement for one command, started by us or by the editor.
        env: Variables that programs need inside, such as those of caches.
        network: Its network, if it has one.

    Raises:
        OSError: By `confine`: files that it needs cannot be written.
    """

    profile: "SandboxProfile"
    confine: Callable[[StartedBy], Confinement]
    env: Mapping[str, str] = made_by(default_factory=dict[str, str])
    network: CommandNetwork | None = None
