"""One task of a subagent: a turn in a session of its own, and the report that comes of it."""

from collections.abc import Mapping
from typing import Final

import anyio

from claw_acp.agent.billing import usage_besides
from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.loop import Outcome
from claw_acp.agent.turn_limits import TurnLimits, TurnMeter
from claw_acp.config.delegation_sections import DelegationSection
from claw_acp.contracts.agent_program import AgentProgram, ProgramLaunch
from claw_acp.contracts.delegation import AgentFile, Report, Task, TaskStatus
from claw_acp.contracts.launch import CommandSandbox
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError
from claw_acp.core.events import StopReason, SubagentChanged
from claw_acp.core.messages import TextPart, Usage
from claw_acp.core.mode import narrower
from claw_acp.core.money import from_dollars
from claw_acp.core.value import replace
from claw_acp.providers.selection.resolve import resolve
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.running_turn import Start, outcome_of
from claw_acp.runtime.sessions import Sessions
from claw_acp.runtime.subagent_session import NO_AGENT, TASK, LentExtension, subagent_record
from claw_acp.session.history import History
from claw_acp.session.prompt_message import ignore
from claw_acp.session.session import CLEANUP_TIMEOUT

_STATUSES: Final[dict[StopReason, TaskStatus]] = {
    "end_turn": "completed",
    "max_tokens": "limited",
    "max_turn_requests": "limited",
    "refusal": "failed",
    "cancelled": "cancelled",
}


class SubagentRun:
    """A task, from its session to its report.

    Args:
        parent: The session that gives it.
        task: The task.
        sessions: Makes its session.
        start: Starts its turn.
        clock: Makes ids.

    Attributes:
        child: Its session, once it has one.
        usage: The tokens of its model requests, if any were reported.
    """

    def __init__(self, parent: LiveSession, task: Task, *, sessions: Sessions, start: Start, clock: Clock) -> None:
        self._parent = parent
        self._task = task
        self._sessions = sessions
        self._start = start
        self._clock = clock
        self._remark = ""
        self.child: LiveSession | None = None
        self.usage: Usage | None = None

    async def begin(self, *, options: Mapping[str, str | bool] | None = None) -> LiveSession:
        """Make the session of the task, with further `options`."""
        parent = self._parent
        record = subagent_record(parent, self._task, model=self._model(), clock=self._clock)
        record = replace(record, options={**record.options, **(options or {})})
        lent = LentExtension(parent.extensions, sources=parent.session.history.untrusted_sources)
        self.child = child = await self._sessions.subagent(parent, record, lent=lent)
        parent.subagents[record.id] = child
        about = None if self._task.agent is None else f"{self._task.agent.name}: {self._task.agent.description}"
        begun = SubagentChanged(item=record.id, state="running", title=self._task.title, description=about)
        await parent.session.broadcast(begun)
        return child

    async def carry_out(self, ports: ClientPorts) -> Report:
        """Run the turn to its end, and close the session; cancelling this ends both."""
        child = self.child
        assert child is not None
        stop: StopReason | None = "cancelled"
        try:
            turn = self._start(child, (TextPart(text=TASK.format(self._task.prompt)),), ports=ports)
            outcome: Outcome = await outcome_of(turn)
            self.usage, stop = outcome.usage, outcome.stop
            return self._report(child, _STATUSES[outcome.stop])
        except ClawError as error:
            stop = None
            said = last_answer(child.session.history)
            return self._report(child, "failed", text=f"{error.message}\n\n{said}" if said else error.message)
        finally:
            with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
                await self._parent.session.broadcast(SubagentChanged(item=child.session.id, state="idle", stop=stop))
                await self._sessions.close(child.session.id)
                self._parent.subagents.pop(child.session.id, None)

    def so_far(self) -> Report | None:
        """The report of a task that was cancelled; None if it never began."""
        return None if self.child is None else self._report(self.child, "cancelled")

    async def record_usage(self, item: str) -> None:
        """Publish the tokens and the cost of the task in the session that gave it, as a part of `item`."""
        last = None if self.child is None else self.child.session.history.usage
        if last is None and self.usage is None:
            return
        session, cost = self._parent.session, None if last is None else last.total
        taken = usage_besides(session.history.usage, item=item, request=self.usage, cost=cost)
        await session.publish(taken, committed=False)

    def _model(self) -> str:
        """The model of the agent; that of the session if it has none that can be used."""
        wanted, settings = _agent_of(self._task).model, self._parent.settings
        if not wanted:
            return self._parent.session.record.model
        model = f"hint:{wanted}" if wanted in settings.routes else wanted
        try:
            resolve(settings, model=model)
        except ClawError as error:
            why = f"Its model {wanted} cannot be used ({error.message})"
            self._remark = f"{why}, so that of this conversation answered."
            return self._parent.session.record.model
        return model

    def _report(self, child: LiveSession, status: TaskStatus, *, text: str | None = None) -> Report:
        history = child.session.history
        return Report(
            status=status,
            text=last_answer(history) if text is None else text,
            session=child.session.id,
            sources=(*history.untrusted_sources, *_source(self._task)),
            remark=self._remark,
        )


def narrowed(
    ports: ClientPorts,
    task: Task,
    *,
    delegation: DelegationSection,
    meter: TurnMeter,
    sandbox: CommandSandbox | None = None,
) -> ClientPorts:
    """The ports of a turn as far as a task of it may use them: never wider tools, modes or limits.

    `sandbox` is that of the agent, if it is another program.
    """
    agent = _agent_of(task)
    program = task.agent if isinstance(task.agent, AgentProgram) else None
    requests = delegation.max_requests
    return replace(
        ports,
        on_accepted=ignore,
        only_tools=_common(ports.only_tools, task.tools, agent.tools),
        without_tools=ports.without_tools | agent.without,
        ceiling=narrower(ports.ceiling, agent.widest_mode if program is None else program.widest_mode),
        limits=TurnLimits(
            requests=min(requests, agent.requests or requests),
            tokens=delegation.max_tokens,
            cost=None if delegation.max_cost is None else from_dollars(delegation.max_cost),
        ),
        above=meter,
        program=None if program is None else ProgramLaunch(program=program, sandbox=sandbox),
    )


def last_answer(history: History) -> str:
    """The last text of the model in a conversation; empty if there is none."""
    messages = reversed(history.messages())
    return next((each.text.strip() for each in messages if each.role == "assistant" and each.text.strip()), "")


def _agent_of(task: Task) -> AgentFile:
    return task.agent if isinstance(task.agent, AgentFile) else NO_AGENT


def _source(task: Task) -> tuple[str, ...]:
    """The source of untrusted text that a program is: its words are none of a model that we asked."""
    return (task.agent.source,) if isinstance(task.agent, AgentProgram) else ()


def _common(*limits: frozenset[str] | None) -> frozenset[str] | None:
    """The tools that all of some limits leave, of which None leaves all."""
    left: frozenset[str] | None = None
    for limit in limits:
        if limit is not None:
            left = limit if left is None else left & limit
    return left
