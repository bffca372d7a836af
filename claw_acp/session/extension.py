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
    """A base that contributes nothing; override what is needed.

    Methods that are no coroutines run often: keep them cheap.
    """

    def configure(self, setup: SessionSetup, settings: Settings) -> None:
        """Apply the client's setup and the settings; called each time the session is opened."""

    def tools(self) -> Sequence[Tool]:
        """The tools that can be called now; read before every model request."""
        return ()

    def commands(self) -> Sequence[Command]:
        """The slash commands that can be typed now."""
        return ()

    def instructions(self) -> str:
        """A layer of the system prompt, or an empty string. Prompt caches hold only while it stays the same."""
        return ""

    def hooks(self) -> Sequence[ToolHook]:
        """Return the hooks called around every tool call, in order."""
        return ()

    def port(self, kind: type[_P]) -> _P | None:  # noqa: ARG002 - the contract's
        """A service for tools by its type: see `ToolContext.port`."""
        return None

    async def settled(self, *, within: float) -> None:
        """Wait until all that is starting has started or failed, at most `within` seconds."""

    async def announce(self) -> None:
        """Send what was held back: from now on the client knows the session. Idempotent."""

    async def aclose(self) -> None:
        """Release everything, within a bound. Idempotent."""


NOTHING: Final = SessionExtension()
"""The extension that contributes nothing."""
