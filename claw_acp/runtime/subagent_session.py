"""The session of a subagent: its facts, and what the session that delegates lends it."""

from collections.abc import Mapping
from typing import Final, TypeVar

from claw_acp.contracts.delegation import AgentFile, Task
from claw_acp.contracts.hook import Hook
from claw_acp.contracts.tool import Tool
from claw_acp.core.clock import Clock
from claw_acp.core.ids import new_id
from claw_acp.core.mode import narrower
from claw_acp.core.value import replace
from claw_acp.runtime.extensions import Extensions
from claw_acp.runtime.live_session import LiveSession
from claw_acp.session.extension import Notes, SessionExtension
from claw_acp.session.record import BACKGROUND, SUBAGENT, SessionRecord
from claw_acp.session.setup import Instructions

TASK: Final = "Your task, from the agent that you work for:\n\n{}"
NO_AGENT: Final = AgentFile(name="", description="", scope="settings", instructions="")
"""Stands for no agent in particular."""

_ROLE: Final = (
    "You are a subagent: another agent gave you one task, and reads nothing of your work but your last answer. Nobody "
    "can answer questions. Do the task and no more, and end with a report: what you found or did, with paths and "
    "lines, and what is open."
)

_P = TypeVar("_P")


class LentExtension(SessionExtension):
    """The extensions of the session that delegates, for a subagent; they stay that session's.

    Args:
        lender: The extensions.
        sources: The sources of untrusted text that the delegating conversation has read, so that the task may be of it.
    """

    def __init__(self, lender: Extensions, *, sources: tuple[str, ...]) -> None:
        self._lender = lender
        self._sources = sources

    def tools(self) -> "tuple[Tool, ...]":
        """The tools of the lender."""
        return tuple(self._lender.tools())

    def instructions(self) -> str:
        """The instructions of the lender."""
        return "".join(layer.text for layer in self._lender.layers(0))

    async def notes(self, prompt: str) -> Notes:  # noqa: ARG002 - the same for all
        """The origin of the task."""
        return Notes(sources=self._sources)

    def hooks(self) -> "tuple[Hook, ...]":
        """The hooks of the lender: they count for a subagent, too."""
        return tuple(self._lender.hooks())

    def port(self, kind: type[_P]) -> _P | None:
        """A service of the lender."""
        return self._lender.port(kind)


def subagent_record(live: LiveSession, task: Task, *, model: str, clock: Clock) -> SessionRecord:
    """The facts about a new session for a task that the session `live` gives."""
    parent, given, now = live.session.record, live.session.record.instructions, clock.now()
    agent = task.agent if isinstance(task.agent, AgentFile) else NO_AGENT
    role = f"{_ROLE}\n\nYou are the agent {agent.name}.\n\n{agent.instructions}" if agent.name else _ROLE
    return replace(
        parent,
        id=new_id("ses", clock=clock),
        title=" ".join(filter(None, ["Subagent", agent.name])) + f": {task.title}",
        title_given=True,
        archived=True,
        created_at=now,
        updated_at=now,
        mode=narrower(live.origin.session.mode, agent.widest_mode),
        model=model,
        options={**_inherited(parent.options), SUBAGENT: True},
        instructions=(
            Instructions(mode="append", text=role) if given is None else replace(given, text=f"{given.text}\n\n{role}")
        ),
        parent=parent.id,
    )


def _inherited(options: Mapping[str, str | bool]) -> Mapping[str, str | bool]:
    """The options that a session passes on, without those of its own task."""
    return {key: value for key, value in options.items() if not key.startswith(BACKGROUND)}
