"""The contract of what extends one session with tools, commands, instructions, hooks and ports, as MCP servers do.

An extension lives from the opening of a session to its closing. What it gives may change at any time.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Command
from claw_acp.contracts.project_trust import NO_TRUST, ProjectFile, ProjectTrust
from claw_acp.contracts.tool import Tool
from claw_acp.core.value import Value
from claw_acp.session.setup import SessionSetup

if TYPE_CHECKING:
    from claw_acp.contracts.hook import Hook

_P = TypeVar("_P")


class Notes(Value):
    """Text for the model that goes with a user's message, and stays on it.

    `sources` are those of untrusted text in it.
    """

    text: str = ""
    sources: tuple[str, ...] = ()


class SessionExtension:
    """A base that contributes nothing; override what is needed.

    Methods that are no coroutines run often: keep them cheap.

    Attributes:
        name: What stands above its commands, as in `From MCP servers`, and beside its layer of the prompt.
        own_names: The names of commands of this program among its own: no file of a project and no server has them.
        trust: The person's trust in files of the project; set before `configure`.
    """

    name: str = "other programs"
    own_names: frozenset[str] = frozenset()
    trust: ProjectTrust = NO_TRUST

    def configure(self, setup: SessionSetup, settings: Settings) -> None:
        """Apply the client's setup and the settings; called each time the session is opened."""

    def tools(self) -> Sequence[Tool]:
        """The tools that can be called now; read before every model request."""
        return ()

    def commands(self) -> Sequence[Command]:
        """The slash commands that can be typed now."""
        return ()

    def project_files(self) -> Sequence[ProjectFile]:
        """The files of the project that it would use if the person trusted them: they are asked about before a turn."""
        return ()

    def look(self) -> bool:
        """Read again what may have changed on disk; returns whether the commands changed.

        Blocks: called in a worker thread before each prompt, and before a client is sent the commands.
        """
        return False

    def fit(self, window: int) -> None:
        """Note the tokens of the window of the model that is asked next; 0: they are not known."""

    def instructions(self) -> str:
        """A layer of the system prompt, or an empty string. Prompt caches hold only while it stays the same."""
        return ""

    async def notes(self, prompt: str) -> Notes:  # noqa: ARG002 - the contract's
        """Return what the model is told with a prompt. The prompt waits for it: keep it quick, and short."""
        return Notes()

    def hooks(self) -> "Sequence[Hook]":
        """Return the hooks that are called now; read at each event."""
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
