"""Subagents: tasks that a turn gives to sessions of their own, with the rules, mode and budget of its session."""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeVar, cast

import anyio

from claw_acp.agent.billing import usage_besides
from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.loop import Outcome
from claw_acp.agent.relayed_questions import NamedAsker, SharedQuestions
from claw_acp.agent.turn_limits import TurnLimits, TurnMeter
from claw_acp.contracts.delegation import AgentFile, Delegated, Delegation, Report, Task, TaskStatus
from claw_acp.contracts.hook import Hook
from claw_acp.contracts.tool import Progress, Tool, ToolContext, WaitPort
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, ToolError
from claw_acp.core.events import Event, PartContent, StopReason, ToolCallChanged
from claw_acp.core.ids import new_id
from claw_acp.core.messages import TextPart
from claw_acp.core.mode import narrower
from claw_acp.core.money import from_dollars
from claw_acp.core.value import replace
from claw_acp.providers.selection.resolve import resolve
from claw_acp.runtime.extensions import Extensions
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.sessions import Sessions
from claw_acp.runtime.turn_factory import Start
from claw_acp.session.extension import Notes, SessionExtension
from claw_acp.session.prompt_message import ignore
from claw_acp.session.record import SUBAGENT, SessionRecord
from claw_acp.session.session import CLEANUP_TIMEOUT
from claw_acp.session.setup import Instructions

SHOWN: Final = 8  # the latest steps of a subagent
TOOL: Final = "delegate"
STATE_KEY: Final = "subagents"

_ROLE: Final = (
    "You are a subagent: another agent gave you one task, and reads nothing of your work but your last answer. Nobody "
    "can answer questions. Do the task and no more, and end with a report: what you found or did, with paths and "
    "lines, and what is open."
)
_TASK: Final = "Your task, from the agent that you work for:\n\n{}"
_STATUSES: Final[dict[StopReason, TaskStatus]] = {
    "end_turn": "completed",
    "max_tokens": "limited",
    "max_turn_requests": "limited",
    "refusal": "failed",
    "cancelled": "cancelled",
}

_NO_AGENT: Final = AgentFile(name="", description="", scope="settings", instructions="")
"""Stands for no agent in particular."""

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


class TurnDelegation:
    """See `Delegation`. The tasks of one turn.

    Args:
        live: The session of the turn.
        sessions: Makes the sessions of subagents.
        start: Starts their turns.
        ports: The turn's own.
        meter: Counts what they take as the turn's.
        clock: Makes ids.
    """

    def __init__(
        self, live: LiveSession, *, sessions: Sessions, start: Start, ports: ClientPorts, meter: TurnMeter, clock: Clock
    ) -> None:
        self.live = live
        self.sessions = sessions
        self.start = start
        self.ports = ports
        self.meter = meter
        self.clock = clock
        self.questions = SharedQuestions(live.session, asker=ports.asker, tool=TOOL, clock=clock)

    def delegate(self, task: Task, *, context: ToolContext) -> Delegated:
        """See `Delegation`."""
        return DelegatedTask(self, task, context=context)

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
    """See `Delegated`.

    Args:
        turn: The turn that gives the task.
        task: The task.
        context: That of the call.
    """

    def __init__(self, turn: TurnDelegation, task: Task, *, context: ToolContext) -> None:
        self._turn = turn
        self._task = task
        self._context = context
        self._agent = task.agent if isinstance(task.agent, AgentFile) else _NO_AGENT
        self._child: LiveSession | None = None
        self._remark = ""

    async def run(self) -> Report:
        """See `Delegated`."""
        parent = self._turn.live
        async with self._turn.place():
            sources = parent.session.history.untrusted_sources
            lent = LentExtension(parent.extensions, sources=sources)
            self._child = child = await self._turn.sessions.subagent(parent, self._record(), lent=lent)
            outcome: Outcome | None = None
            try:
                outcome = await self._in(child)
                return self._report(_STATUSES[outcome.stop], child)
            except ClawError as error:
                said = _last_words(child)
                return self._report("failed", child, words=f"{error.message}\n\n{said}" if said else error.message)
            finally:
                with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
                    await self._count(child, outcome)
                    await self._turn.sessions.close(child.session.id)

    def so_far(self) -> Report | None:
        """See `Delegated`."""
        return None if self._child is None else self._report("cancelled", self._child)

    def _record(self) -> SessionRecord:
        parent, agent = self._turn.live.session.record, self._agent
        given, now = parent.instructions, self._turn.clock.now()
        role = _ROLE if agent is _NO_AGENT else f"{_ROLE}\n\nYou are the agent {agent.name}.\n\n{agent.instructions}"
        return replace(
            parent,
            id=new_id("ses", clock=self._turn.clock),
            title=" ".join(filter(None, ["Subagent", agent.name])) + f": {self._task.title}",
            title_given=True,
            archived=True,
            created_at=now,
            updated_at=now,
            options={**parent.options, SUBAGENT: True},
            instructions=(
                Instructions(mode="append", text=role)
                if given is None
                else replace(given, text=f"{given.text}\n\n{role}")
            ),
            model=self._model(parent.model),
            parent=parent.id,
        )

    def _model(self, session_model: str) -> str:
        """The model of the agent; that of the session if it has none that can be used."""
        wanted = self._agent.model
        if not wanted:
            return session_model
        settings = self._turn.live.settings
        model = f"hint:{wanted}" if wanted in settings.routes else wanted
        try:
            resolve(settings, model=model)
        except ClawError as error:
            self._remark = (
                f"Its model {wanted} cannot be used ({error.message}), so that of this conversation answered."
            )
            return session_model
        return model

    def _ports(self) -> ClientPorts:
        """The ports of the turn, narrowed. Its workspace records what is changed, as the turn's own changes."""
        delegation, ports = self._turn.live.settings.delegation, self._turn.ports
        waiting = self._context.port(WaitPort)
        agent, name = self._agent, f"Subagent “{self._task.title}”"
        requests = delegation.max_requests
        return replace(
            ports,
            workspace=self._context.workspace,
            asker=NamedAsker(self._turn.questions, name=name, waiting=None if waiting is None else waiting.for_person),
            on_accepted=ignore,
            only_tools=_common(ports.only_tools, self._task.tools, agent.tools),
            without_tools=ports.without_tools | agent.without,
            ceiling=narrower(ports.ceiling, agent.widest_mode),
            limits=TurnLimits(
                requests=min(requests, agent.requests or requests),
                tokens=delegation.max_tokens,
                cost=None if delegation.max_cost is None else from_dollars(delegation.max_cost),
            ),
            above=self._turn.meter,
        )

    async def _in(self, child: LiveSession) -> Outcome:
        """The outcome of the subagent's turn, whose steps are shown in the call."""
        steps = Steps(self._context)
        child.session.subscribers.observers = (*child.session.subscribers.observers, steps.observe)
        turn = self._turn.start(child, (TextPart(text=_TASK.format(self._task.prompt)),), ports=self._ports())
        outcome, failure = Outcome(stop="cancelled", usage=None), None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(steps.show)
            try:
                outcome = await turn.outcome()
            except anyio.get_cancelled_exc_class():
                turn.cancel()
                with anyio.move_on_after(CLEANUP_TIMEOUT, shield=True):
                    await turn.outcome()
                raise
            except Exception as error:  # noqa: BLE001 - raised below, so that it does not leave in a group
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return outcome

    async def _count(self, child: LiveSession, outcome: Outcome | None) -> None:
        """Report what the subagent took in the session that delegated."""
        last, usage = child.session.history.usage, None if outcome is None else outcome.usage
        if last is None and usage is None:
            return
        session = self._turn.live.session
        await session.publish(
            usage_besides(
                session.history.usage,
                item=self._context.call_id,
                request=usage,
                cost=None if last is None else last.total,
            ),
            committed=False,
        )

    def _report(self, status: TaskStatus, child: LiveSession, *, words: str | None = None) -> Report:
        return Report(
            status=status,
            words=_last_words(child) if words is None else words,
            session=child.session.id,
            sources=child.session.history.untrusted_sources,
            remark=self._remark,
        )


class Steps:
    """Shows the latest steps of a subagent as the content of the call that started it."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._steps: deque[str] = deque(maxlen=SHOWN)
        self._news = anyio.Event()

    def observe(self, event: Event) -> None:
        """Note a step of the subagent."""
        if not isinstance(event, ToolCallChanged) or event.status not in {"pending", "in_progress"}:
            return
        if event.title and (not self._steps or self._steps[-1] != event.title):
            self._steps.append(event.title)
            self._news.set()

    async def show(self) -> None:
        """Show the steps as they come; several at once if they come quickly."""
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            text = TextPart(text="\n".join(f"- {step}" for step in self._steps))
            await self._context.progress(Progress(content=(PartContent(part=text),)))


def _common(*limits: frozenset[str] | None) -> frozenset[str] | None:
    """The tools that all of some limits leave, of which None leaves all."""
    left: frozenset[str] | None = None
    for limit in limits:
        if limit is not None:
            left = limit if left is None else left & limit
    return left


def _last_words(child: LiveSession) -> str:
    messages = child.session.history.messages()
    return next(
        (each.text.strip() for each in reversed(messages) if each.role == "assistant" and each.text.strip()), ""
    )


if TYPE_CHECKING:
    _conforms: type[Delegation] = TurnDelegation
    _delegated: type[Delegated] = DelegatedTask
