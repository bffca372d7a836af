"""The ports of a tool during one call: progress, the plan, forms, programs, and the ports of extensions."""

import math
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager

import anyio

from claw_acp.agent.redacted import cleaned, redacted_command, redacted_content
from claw_acp.agent.results import bounded_content, sound
from claw_acp.agent.user_wait import UserWait
from claw_acp.contracts.launch import CommandSandbox
from claw_acp.contracts.program import Program, Programs
from claw_acp.contracts.questions import Asker, Form, FormAnswer
from claw_acp.contracts.tool import FormPort, PlanPort, Progress, WaitPort
from claw_acp.core.events import CommandContent, PlanChanged, PlanEntry, ToolCallChanged
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace
from claw_acp.session.active_work import ActiveWork
from claw_acp.session.extension import SessionExtension
from claw_acp.session.session import Session

LONGEST_CALL = 1800.0  # seconds a call may run, waiting for a person aside; tools of ours have limits of their own


class CallPorts:
    """The ports of one call.

    Args:
        session: The session of the call.
        call_id: The call.
        foreign: Whether its tool comes from another package, so that its output is checked.
        limit: Its time limit, paused while a person is asked.
        waiting: Tracks the calls that wait for a person.
        asker: Asks the person.
        redactor: Removes keys from what is shown.
        extension: Supplies further ports.
        sandbox: Returns the sandbox of the call's commands.
    """

    def __init__(
        self, session: Session, call_id: str, *, foreign: bool, limit: anyio.CancelScope, waiting: UserWait,
        asker: Asker, redactor: Redactor, extension: SessionExtension, sandbox: Callable[[], CommandSandbox | None],
    ) -> None:  # fmt: skip
        self._session = session
        self._call_id = call_id
        self._foreign = foreign
        self._limit = limit
        self._waiting = waiting
        self._asker = asker
        self._redactor = redactor
        self._extension = extension
        self._sandbox = sandbox

    def port(self, kind: type[object]) -> object | None:
        """See `ToolContext.port`."""
        if kind is PlanPort:
            return PlanPort(publish=self._publish_plan)
        if kind is FormPort:
            return FormPort(ask=self._ask)
        if kind is WaitPort:
            return WaitPort(for_person=self._for_person)
        if kind is Programs:
            return WatchedPrograms(self._session.work, call_id=self._call_id, redactor=self._redactor)
        if kind is CommandSandbox:
            return self._sandbox()
        return self._extension.port(kind)

    async def progress(self, news: Progress) -> None:
        """See `ToolContext`."""
        shown = None if news.content is None else bounded_content(news.content)
        content = None if shown is None else await cleaned(redacted_content, shown, redactor=self._redactor)
        lasting = news.locations is not None or news.title is not None  # a picture of its output is not
        tell = self._session.publish if lasting else self._session.broadcast
        title = None if news.title is None else self._redactor(news.title)
        change = ToolCallChanged(item=self._call_id, content=content, locations=news.locations, title=title)
        await tell(sound(change) if self._foreign else change)

    async def _publish_plan(self, entries: Sequence[PlanEntry]) -> None:
        change = PlanChanged(item=self._session.id, entries=tuple(entries))
        await self._session.publish(sound(change) if self._foreign else change)

    async def _ask(self, form: Form) -> FormAnswer | None:
        async with self._for_person():
            return await self._asker.form(replace(form, session=self._session.id, call_id=self._call_id))

    @asynccontextmanager
    async def _for_person(self) -> AsyncGenerator[None]:
        before, self._limit.deadline = self._limit.deadline, math.inf
        try:
            async with self._waiting.for_person():
                yield
        finally:
            self._limit.deadline = before if before == math.inf else anyio.current_time() + LONGEST_CALL


class WatchedPrograms(Programs):
    """Reports the programs of one tool call to the session's `ActiveWork`."""

    def __init__(self, work: ActiveWork, *, call_id: str, redactor: Redactor) -> None:
        self._work = work
        self._call_id = call_id
        self._redactor = redactor

    @contextmanager
    def running(self, program: Program) -> Generator[None]:
        """See `Programs`."""
        with self._work.running(program):
            yield

    def keep(self, program: Program) -> None:
        """See `Programs`."""
        self._work.keep(program, call_id=self._call_id, clean=self._clean)

    def _clean(self, snapshot: CommandContent) -> CommandContent:
        return redacted_command(snapshot, redactor=self._redactor)
