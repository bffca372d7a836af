"""Subagents: tasks that a turn gives to sessions of their own, with the rules, mode and budget of its session."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, cast

import anyio

from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.relayed_questions import NamedAsker, SharedQuestions
from claw_acp.agent.turn_limits import TurnMeter
from claw_acp.contracts.agent_program import AgentProgram
from claw_acp.contracts.delegation import BackgroundTask, Delegated, Delegation, Report, Task
from claw_acp.contracts.launch import CommandSandbox
from claw_acp.contracts.tool import Invocation, ToolContext, WaitPort
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ToolError
from claw_acp.core.value import replace
from claw_acp.runtime.delegated_steps import DelegatedSteps
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.running_turn import Start
from claw_acp.runtime.sessions import Sessions
from claw_acp.runtime.subagent_run import SubagentRun, narrowed
from claw_acp.session.session import CLEANUP_TIMEOUT
from claw_acp.subagents.delegate import DelegateCall

if TYPE_CHECKING:
    from claw_acp.runtime.background_tasks import SessionBackground

TOOL: Final = "delegate"
STATE_KEY: Final = "subagents"


class TurnDelegation:
    """See `Delegation`. The tasks of one turn.

    Args:
        live: The session of the turn.
        sessions: Makes the sessions of subagents.
        start: Starts their turns.
        ports: The turn's own.
        meter: Counts what they take as the turn's.
        clock: Makes ids.
        background: Returns the background tasks of the session.
    """

    def __init__(
        self, live: LiveSession, *, sessions: Sessions, start: Start, ports: ClientPorts, meter: TurnMeter,
        clock: Clock, background: Callable[[], "SessionBackground"],
    ) -> None:  # fmt: skip
        self.live = live
        self.sessions = sessions
        self.start = start
        self.ports = ports
        self.meter = meter
        self.clock = clock
        self.background = background
        self.questions = SharedQuestions(live.session, asker=ports.asker, tool=TOOL, clock=clock)

    @property
    def is_open(self) -> bool:
        """See `Delegation`."""
        return self.live.parent is None and self.live.depth < self.live.settings.delegation.depth

    def call(self, task: Task, *, context: ToolContext) -> Invocation:
        """See `Delegation`."""
        run = SubagentRun(self.live, task, sessions=self.sessions, start=self.start, clock=self.clock)
        return DelegateCall(DelegatedTask(self, task, run=run, context=context), task=task, context=context)

    async def begin(self, task: Task) -> BackgroundTask:
        """See `Delegation`."""
        return await self.background().begin(task, ports=self.ports, meter=self.meter)

    @asynccontextmanager
    async def place(self) -> AsyncGenerator[None]:
        """A place among the subagents that may work at once. Only those of the first depth wait for one.

        Raises:
            ToolError: All are taken, by subagents that may be waiting for this one.
        """
        origin = self.live.origin
        most = origin.settings.delegation.at_once
        places = cast("anyio.Semaphore", origin.session.tool_state.get(STATE_KEY, lambda: anyio.Semaphore(most)))
        if self.live.depth:
            try:
                places.acquire_nowait()
            except anyio.WouldBlock:
                raise ToolError(
                    f"All places for subagents are taken: {most} may work at once. Do the task yourself."
                ) from None
        else:
            await places.acquire()
        try:
            yield
        finally:
            places.release()


class DelegatedTask:
    """See `Delegated`. The call waits for the task.

    Args:
        turn: The turn that gives the task.
        task: The task.
        run: Carries it out.
        context: That of the call.
    """

    def __init__(self, turn: TurnDelegation, task: Task, *, run: SubagentRun, context: ToolContext) -> None:
        self._turn = turn
        self._task = task
        self._run = run
        self._context = context

    async def run(self) -> Report:
        """See `Delegated`."""
        async with self._turn.place():
            child = await self._run.begin()
            is_program = isinstance(self._task.agent, AgentProgram)
            steps = DelegatedSteps(self._turn.live.session, context=self._context, with_text=is_program)
            child.session.subscribers.append(steps)
            try:
                return await self._carry_out(steps)
            finally:
                with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
                    await self._run.record_usage(self._context.call_id)

    def so_far(self) -> Report | None:
        """See `Delegated`."""
        return self._run.so_far()

    async def _carry_out(self, steps: DelegatedSteps) -> Report:
        """Carry the task out, and show its steps in the call meanwhile."""
        report: Report | Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(steps.show)
            try:
                report = await self._run.carry_out(self._ports())
            except Exception as error:  # noqa: BLE001 - raised below, so that it does not leave in a group
                report = error
            tasks.cancel_scope.cancel()
        if isinstance(report, Exception):
            raise report
        assert report is not None
        return report

    def _ports(self) -> ClientPorts:
        """The ports of the turn, narrowed. Its workspace records what is changed, as the turn's own changes."""
        turn, waiting = self._turn, self._context.port(WaitPort)
        asker = NamedAsker(
            turn.questions,
            name="Subagent",
            title=self._task.title,
            waiting=None if waiting is None else waiting.for_person,
        )
        delegation, sandbox = turn.live.settings.delegation, self._context.port(CommandSandbox)
        ports = narrowed(turn.ports, self._task, delegation=delegation, meter=turn.meter, sandbox=sandbox)
        return replace(ports, workspace=self._context.workspace, asker=asker)


if TYPE_CHECKING:
    _conforms: type[Delegation] = TurnDelegation
    _delegated: type[Delegated] = DelegatedTask
