"""The contract of what is attached to one session and lends it tools and commands: its MCP servers, say."""

from collections.abc import Sequence
from typing import Protocol

from claw_acp.contracts.command import Command
from claw_acp.contracts.tool import Tool


class Attachment(Protocol):
    """Lives from the opening of a session to its closing. What it lends may change at any time."""

    def tools(self) -> Sequence[Tool]:
        """The tools that can be called now. Cheap: asked before every model request."""
        ...

    def instructions(self) -> str:
        """A section for the instructions of models; empty: none. As cheap, and asked as often."""
        ...

    def commands(self) -> Sequence[Command]:
        """The slash commands that can be typed now."""
        ...

    async def settled(self, *, within: float) -> None:
        """Wait until everything that is just starting has started or failed, at most so many seconds."""
        ...

    async def introduce(self) -> None:
        """Whoever opened the session has been answered: news may be shown now, and what waited is. Idempotent."""
        ...

    async def aclose(self) -> None:
        """Let go of everything, within a bound. Idempotent."""
        ...
