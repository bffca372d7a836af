"""The engine behind every front end."""

from typing import TYPE_CHECKING

from anyio.abc import TaskGroup

from claw_acp.config.current import CurrentSettings
from claw_acp.core.clock import Clock
from claw_acp.registry.lazy import Lazy
from claw_acp.runtime.live_session import SharedSessions
from claw_acp.runtime.sessions import Sessions

if TYPE_CHECKING:
    from claw_acp.runtime.accounts import Accounts
    from claw_acp.runtime.discovery import Discovery
    from claw_acp.runtime.turns import Turns


class Engine:
    """The services that front ends use, shared by all sessions of the process. Made by `runtime.build.open_engine`.

    Attributes:
        sessions: Opens, lists and closes sessions.
        configuration: The settings in force for a folder.
        shared: The sessions of the process, of other engines too.
        clock: Time.
        tasks: Runs work that outlasts a request; cancelled when the engine ends.
        loads_turns: Whether what prompts need is being loaded ahead of them.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        configuration: CurrentSettings,
        turns: "Lazy[Turns]",
        accounts: "Lazy[Accounts]",
        discovery: "Lazy[Discovery]",
        shared: SharedSessions,
        clock: Clock,
        tasks: TaskGroup,
    ) -> None:
        self.sessions = sessions
        self.configuration = configuration
        self.shared = shared
        self.clock = clock
        self.tasks = tasks
        self.loads_turns = False
        self._turns = turns
        self._accounts = accounts
        self._discovery = discovery

    @property
    def turns(self) -> "Turns":
        """Runs prompts. Loaded on first use: a new session must not wait for tools, policy and providers.

        Mostly that happens in a thread, ahead of the first prompt; a prompt that arrives meanwhile waits for the thread
        without giving up control, because a cancel right behind it must find it in its session.
        """
        return self._turns()

    @property
    def accounts(self) -> "Accounts":
        """The accounts. Loaded when a client asks, or a person logs in."""
        return self._accounts()

    @property
    def discovery(self) -> "Discovery":
        """Finds models to choose from."""
        return self._discovery()

    async def aclose(self) -> None:
        """Close all sessions and providers."""
        self.configuration.secrets.close()
        await self.sessions.aclose()
        if self._turns.made is not None:
            await self._turns.made.aclose()
