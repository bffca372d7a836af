"""A session in use, with what belongs to it, and the list of those that are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from claw_acp.agent.system_prompt import SystemPrompt
from claw_acp.config.settings import Settings
from claw_acp.runtime.command_list import CommandList
from claw_acp.runtime.extensions import Extensions
from claw_acp.session.session import Session
from claw_acp.session.setup import SessionSetup
from claw_acp.workspace.local import LocalWorkspace

if TYPE_CHECKING:
    from claw_acp.runtime.running_turn import RunningTurn


@dataclass(slots=True, kw_only=True, eq=False)
class LiveSession:
    """A session in use.

    Attributes:
        session: The conversation.
        settings: What applies in its folder, as it was last looked at.
        workspace: Its files and programs on this machine.
        setup: How it was opened.
        commands: The slash commands that can be typed now.
        extensions: What gives it tools, commands and instructions besides ours.
        notices: What a person should know about the set-up: no model, mistakes in the configuration.
        prompt: The system prompt, but for the layers of extensions.
        running: The turn that runs.
        closed: Set when it has been closed; there while that goes on.
    """

    session: Session
    settings: Settings
    workspace: LocalWorkspace
    setup: SessionSetup
    commands: CommandList
    extensions: Extensions
    notices: Sequence[str] = ()
    prompt: SystemPrompt = field(default_factory=SystemPrompt)
    running: "RunningTurn | None" = None
    closed: anyio.Event | None = None


class LiveSessions:
    """The sessions in use in this process, by id."""

    def __init__(self) -> None:
        self._by_id: dict[str, LiveSession] = {}

    def add(self, live: LiveSession) -> None:
        """Add one that was just opened."""
        self._by_id[live.session.id] = live

    def remove(self, session_id: str) -> None:
        """Remove one that was closed."""
        del self._by_id[session_id]

    def find(self, session_id: str) -> LiveSession | None:
        """The session of that id, also while it is being closed."""
        return self._by_id.get(session_id)

    def __iter__(self) -> Iterator[LiveSession]:
        return iter(tuple(self._by_id.values()))
