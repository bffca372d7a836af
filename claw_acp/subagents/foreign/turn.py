"""A task that another program carries out: its process, its session, its end."""

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import Final

import anyio
from anyio import to_thread

from claw_acp.agent.loop import Outcome
from claw_acp.agent.tool_runner import ToolRunner
from claw_acp.agent.turn_frame import framed_turn
from claw_acp.agent.turn_limits import TurnMeter
from claw_acp.client.agent import Agent
from claw_acp.client.spawn import spawn_agent
from claw_acp.contracts.agent_program import ProgramLaunch
from claw_acp.contracts.launch import Confinement
from claw_acp.contracts.tool import Tool
from claw_acp.contracts.workspace import RecordsOthers, Workspace
from claw_acp.core.child_environment import without_keys
from claw_acp.core.clock import Clock
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import ConfigError
from claw_acp.core.events import MessageStarted, StopReason
from claw_acp.core.ids import new_id
from claw_acp.core.messages import ContentPart, TextPart, Usage
from claw_acp.core.redaction import Redactor
from claw_acp.schema.updates import SessionUpdate
from claw_acp.session.extension import Notes
from claw_acp.session.prompt_message import ignore, publish_prompt
from claw_acp.session.session import Session
from claw_acp.subagents.foreign.activity_watch import ActivityWatch
from claw_acp.subagents.foreign.configured import DEPTH, depth_of
from claw_acp.subagents.foreign.conversation import Conversation, TurnEnd
from claw_acp.subagents.foreign.failures import AgentProgramFailed, failure_of, shown_command
from claw_acp.subagents.foreign.relay import Relay
from claw_acp.subagents.foreign.update_publisher import UpdatePublisher

CANCEL_WAIT: Final = 1.0  # seconds from `session/cancel` until the program is ended
_ROLE: Final = (
    "You work for another agent, which gives you one task and reads nothing of your work but your last message. Nobody "
    "can answer questions. Do the task and no more, and end with a report: what you found or did, with paths and "
    "lines, and what is open."
)


class ProgramTurn:
    """The turn of a task's session in which a program carries out the task.

    Args:
        session: The session.
        launch: The program.
        workspace: The files; changes of the program itself are recorded there, too.
        redactor: Removes keys from what the program tells.
        clock: Time.
    """

    def __init__(
        self, session: Session, *, launch: ProgramLaunch, workspace: Workspace, redactor: Redactor, clock: Clock
    ) -> None:
        self._session = session
        self._program = launch.program
        self._sandbox = launch.sandbox
        self._workspace = workspace
        self._clock = clock
        self._watch = ActivityWatch(launch.program)
        self._updates = UpdatePublisher(session, name=launch.program.name, redactor=redactor, clock=clock)
        self._relay = Relay(
            self._updates, agent=launch.program.name, cwd=session.roots[0], clock=clock, waiting=self._watch.waiting
        )
        self._meter: TurnMeter | None = None
        self._stop = anyio.Event()
        self._ended = anyio.Event()
        self._failure: Exception | None = None
        self._end: TurnEnd | None = None
        self._limited = False

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools by which its requests are carried out."""
        return self._relay.tools

    @property
    def dollars(self) -> float:
        """The cost so far, as far as the program tells it."""
        return self._updates.dollars

    @property
    def usage(self) -> Usage | None:
        """The tokens that it took, if it tells them."""
        sent, received = (0, 0) if self._end is None else self._end.tokens
        return Usage(input_tokens=sent, output_tokens=received) if sent or received else None

    async def run(
        self, prompt: Sequence[ContentPart], *, runner: ToolRunner, meter: TurnMeter, notes: Notes
    ) -> Outcome:
        """Carry the task out.

        Args:
            prompt: The task.
            runner: Runs the calls of its `tools`.
            meter: The limits of the task.
            notes: What the task comes with.

        Raises:
            AgentProgramFailed: The program cannot be used, or broke off.
        """
        self._relay.runner, self._meter = runner, meter

        async def work() -> StopReason:
            message = MessageStarted(
                item=new_id("msg", clock=self._clock), role="user", parts=tuple(prompt), sources=notes.sources
            )
            await publish_prompt(self._session, message, on_accepted=ignore)
            text = "\n\n".join([_ROLE, *(part.text for part in prompt if isinstance(part, TextPart))])
            with self._observed():
                return await self._carried_out(text)

        try:
            stop = await framed_turn(self._session, work, usage=lambda: self.usage, clock=self._clock)
        finally:
            meter.count(self.usage)
        return Outcome(stop=stop, usage=self.usage)

    @contextmanager
    def _observed(self) -> Generator[None]:
        before = self._session.subscribers.observers
        self._session.subscribers.observers = (*before, self._relay.observe)
        try:
            yield
        finally:
            left = self._session.subscribers.observers
            self._session.subscribers.observers = tuple(each for each in left if each != self._relay.observe)

    async def _carried_out(self, text: str) -> StopReason:
        """Run the program to its end. Cancelled, it is asked to end, and then ended."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._shielded, text)
            try:
                await self._ended.wait()
            finally:
                self._stop.set()
        if self._limited:
            return "max_turn_requests"
        if self._failure is not None:
            raise failure_of(self._failure, self._program)
        assert self._end is not None
        return self._end.stop

    async def _shielded(self, text: str) -> None:
        with anyio.CancelScope(shield=True):
            try:
                async with self._recorded(), self._started() as agent:
                    await self._converse(agent, text)
            except Exception as error:  # noqa: BLE001 - raised by whoever waits, outside of the shield
                self._failure = self._failure or error
            await self._updates.end("cancelled" if self._failure is None and self._end is None else "failed")
            self._ended.set()

    @asynccontextmanager
    async def _recorded(self) -> AsyncGenerator[None]:
        """Record what the program changes by itself, if it can change anything."""
        workspace = self._workspace
        if not isinstance(workspace, RecordsOthers) or (self._sandbox and not self._sandbox.profile.writable):
            yield
            return
        async with workspace.recording(shown_command(self._program)):
            yield

    @asynccontextmanager
    async def _started(self) -> AsyncGenerator[Agent]:
        program, sandbox = self._program, self._sandbox
        try:
            given = await to_thread.run_sync(program.environment)
        except ConfigError as error:
            raise AgentProgramFailed(
                f"The agent {program.name} was not started: {error.message}. Correct [agents.{program.name}] `env`."
            ) from error
        inside: Mapping[str, str] = {} if sandbox is None else sandbox.env
        ours = current_environment()
        env = {**without_keys(ours), **inside, **given, DEPTH: str(depth_of(ours) + 1)}
        async with AsyncExitStack() as stack:
            confinement: Confinement | None = None
            if sandbox is not None:
                confinement = await to_thread.run_sync(partial(sandbox.confine, "us"))
                stack.callback(confinement.release)
                if sandbox.network is not None:
                    sandbox.network.limits.append(self._watch.limit)
            yield await stack.enter_async_context(
                spawn_agent(
                    [program.command, *program.args], handlers=self._relay.handlers(self._hear), env=env,
                    cwd=program.cwd or self._session.roots[0], on_frame=self._frame, sandbox=confinement,
                )
            )  # fmt: skip

    def _frame(self, direction: str, frame: bytes) -> None:
        self._watch.frame(direction, frame)

    async def _hear(self, _session: str, update: SessionUpdate) -> None:
        await self._updates.hear(update)
        if self._meter is not None and self._meter.reached is not None and not self._stop.is_set():
            self._limited = True
            self._stop.set()

    async def _converse(self, agent: Agent, text: str) -> None:
        conversation, answered = Conversation(agent, self._program), anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._end_early, conversation, answered, agent, tasks.cancel_scope)
            patience, agent.exit_wait = agent.exit_wait, 0  # one that cannot even begin need not end politely
            with anyio.fail_after(self._program.start_timeout):
                await conversation.open(self._session.roots, await to_thread.run_sync(self._program.servers))
            agent.exit_wait = patience
            tasks.start_soon(self._watched, agent)
            self._end = await conversation.prompt(text)
            answered.set()
            tasks.cancel_scope.cancel()

    async def _watched(self, agent: Agent) -> None:
        self._failure = await self._watch.failure(agent)
        self._stop.set()

    async def _end_early(
        self, conversation: Conversation, answered: anyio.Event, agent: Agent, scope: anyio.CancelScope
    ) -> None:
        """Ask the program to end once it has to, and go on without it soon after."""
        await self._stop.wait()
        with anyio.move_on_after(CANCEL_WAIT):
            if await conversation.cancel():
                await answered.wait()
        if not answered.is_set():
            agent.exit_wait = 0
        scope.cancel()
