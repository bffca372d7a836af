"""The contract of what extends one session with tools, commands, instructions, hooks and ports, as MCP servers do.

An extension lives from the opening of a session to its closing. What it gives may change at any time.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Command
from claw_acp.contracts.hook import ToolHook
from claw_acp.contracts.tool import Tool
from claw_acp.session.setup import SessionSetup

_P = TypeVar("_P")


class SessionExtension:
    """Gives nothing; an extension overrides what it has. What is not a coroutine is asked often and has to be cheap."""

    def configure(self, setup: SessionSetup, settings: Settings) -> None:
        """Follow what the client and the configuration ask for; called each time the session is opened."""

    def tools(self) -> Sequence[Tool]:
        """The tools that can be called now; asked before every model request."""
        return ()

    def commands(self) -> Sequence[Command]:
        """The slash commands that can be typed now."""
        return ()

    def instructions(self) -> str:
        """A layer of the system prompt; empty: none. Prompt caches hold only as long as it stays the same."""
        return ""

    def hooks(self) -> Sequence[ToolHook]:
        """Return the hooks called around every tool call, in order."""
        return ()

    def port(self, kind: type[_P]) -> _P | None:  # noqa: ARG002 - the contract's
        """A service for tools by its type: see `ToolContext.port`."""
        return None

    async def settled(self, *, within: float) -> None:
        """Wait until everything that is just starting has started or failed, at most so many seconds."""

    async def announce(self) -> None:
        """Show the client what waited: from now on it knows the session. Idempotent."""

    async def aclose(self) -> None:
        """Let go of everything, within a bound. Idempotent."""


NOTHING: Final = SessionExtension()
"""Extends a session by nothing."""
