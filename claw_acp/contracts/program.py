"""Programs of a tool that people watch and end one by one, as terminals of ours."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from claw_acp.core.events import CommandContent


class Program(Protocol):
    """A program that a tool runs on this machine."""

    @property
    def snapshot(self) -> CommandContent:
        """How it was seen last."""
        ...

    async def next_snapshot(self) -> CommandContent:
        """Wait until there is more to see than the last snapshot shows, or it has ended; then a new snapshot.

        Pictures follow each other no faster than people read.
        """
        ...

    def stop(self) -> bool:
        """Begin to end it and all it started, and return at once. False when it has ended already."""
        ...


class Programs:
    """A port of `ToolContext`, where a tool makes its programs known while they run. This one follows none."""

    @contextmanager
    def running(self, program: Program) -> Generator[None]:  # noqa: ARG002 - the contract's
        """For as long as the block runs, a person can end this program by itself."""
        yield

    def keep(self, program: Program) -> None:
        """The program outlives the call: it is followed, and its end shown, until it ends or the session is closed.

        Show its terminal before.
        """
