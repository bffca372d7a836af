"""Programs run by tools, which people can watch and end one by one as terminals."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from claw_acp.core.events import CommandContent


class Program(Protocol):
    """A program that a tool runs on this machine."""

    @property
    def snapshot(self) -> CommandContent:
        """The last snapshot."""
        ...

    async def next_snapshot(self) -> CommandContent:
        """Wait for more output than the last snapshot shows, or for the program's end; returns a new snapshot.

        Snapshots follow each other no faster than people read.
        """
        ...

    def stop(self) -> bool:
        """Begin to end the program and everything it started, and return at once. False when it has already ended."""
        ...


class Programs:
    """A port of `ToolContext` to which a tool reports its running programs. This one follows none."""

    @contextmanager
    def running(self, program: Program) -> Generator[None]:  # noqa: ARG002 - the contract's
        """Let a person end this program by itself while the block runs."""
        yield

    def keep(self, program: Program) -> None:
        """Follow a program that outlives the call, and show its end, until the session is closed.

        Show its terminal first.
        """
