"""`/agents`: lists the agents that tasks can be given to."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from claw_acp.contracts.command import Command, CommandContext, CommandResult, Said
from claw_acp.contracts.delegation import Agent, AgentFile
from claw_acp.core.markdown import code_span, plain_text
from claw_acp.subagents.agent_folders import FoundAgents

_NOT_TRUSTED: Final = "not trusted yet"


class AgentsCommand:
    """Lists named agents, with those that cannot be used and why."""

    name = "agents"
    description = "List the agents that tasks can be given to, and why some cannot be used"
    hint: str | None = None

    def __init__(self, usable: Callable[[], Sequence[Agent]], found: Callable[[], FoundAgents]) -> None:
        self._usable = usable
        self._found = found

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - it needs neither
        """See `Command`."""
        usable, found = self._usable(), self._found()
        lines = [_row(agent) for agent in usable]
        unused = [(agent, _obstacle(agent, usable)) for agent in found.agents if agent not in usable]
        lines += [_row(agent, state=state) for agent, state in unused]
        faults = ["", "These are no agents:", *(f"- {code_span(trouble)}" for trouble in found.troubles)]
        if not lines:
            lines = ["There are none. A file such as `.claw/agents/reviewer.md` makes one."]
        if any(state == _NOT_TRUSTED for _, state in unused):
            lines += ["", "In a terminal, `claw-acp trust` shows the files of a project and trusts them."]
        return Said(text="\n".join(["Agents:", "", *lines, *(faults if found.troubles else ())]))


def _row(agent: Agent, *, state: str = "") -> str:
    notes = [state] if state else []
    notes += agent.warnings if isinstance(agent, AgentFile) else ()
    remark = f" ({'; '.join(notes)})" if notes else ""
    return f"- **{agent.name}** ({agent.scope}): {plain_text(f'{agent.description}{remark}')}"


def _obstacle(agent: Agent, usable: Sequence[Agent]) -> str:
    hiding = next((other for other in usable if other.name == agent.name), None)
    return _NOT_TRUSTED if hiding is None else f"hidden: another one ({hiding.scope}) counts"


if TYPE_CHECKING:
    _conforms: type[Command] = AgentsCommand
