"""Tasks of a session that go on in the background: begun, kept in the journal, reported, and ended with the session.

The session of a task's subagent holds all there is to know: its number, how it ended, and whether the person and the
model have got its report. So another process knows as much as this one.
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, get_args

import anyio
from anyio.abc import TaskGroup

from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.nobody import Nobody
from claw_acp.agent.turn_limits import TurnMeter
from claw_acp.contracts.command import Said
from claw_acp.contracts.delegation import AgentFile, BackgroundTask, BackgroundTasks, Report, Task, TaskStatus
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, SessionBusy, ToolError
from claw_acp.core.events import StateChanged
from claw_acp.core.messages import TextPart
from claw_acp.core.value import Record, made_by, replace
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.running_turn import Start
from claw_acp.runtime.sessions import Sessions
from claw_acp.runtime.slash_commands import keep_answer, publish_answer
from claw_acp.runtime.subagent_run import SubagentRun, last_answer, narrowed
from claw_acp.session.extension import Notes
from claw_acp.session.history import History
from claw_acp.session.record import BACKGROUND, SessionRecord
from claw_acp.session.session import CLEANUP_TIMEOUT
from claw_acp.subagents.report_text import report_result, task_line

log = logging.getLogger(__name__)

LONGEST_NOTE: Final = 8_000  # characters of a report that goes with a prompt; `task_status` shows it whole
_STATUS: Final = f"{BACKGROUND}_status"
_SHOWN: Final = f"{BACKGROUND}_shown"
_REPORTED: Final = f"{BACKGROUND}_reported"
_AT_WORK: Final = "at work"
_STATUSES: Final[Mapping[str, TaskStatus]] = {status: status for status in get_args(TaskStatus)}


class _AtWork(Record):
    """A task that this process carries out."""

    run: SubagentRun
    scope: anyio.CancelScope = made_by(default_factory=anyio.CancelScope)
    over: anyio.Event = made_by(default_factory=anyio.Event)


class SessionBackground:
    """See `BackgroundTasks`. They go on when the turn that began them ends, or is cancelled.

    Args:
        live: The session.
        sessions: Makes the sessions of subagents, and knows where they are stored.
        start: Starts their turns.
        tasks: Runs them.
        clock: Makes ids.
    """

    def __init__(self, live: LiveSession, *, sessions: Sessions, start: Start, tasks: TaskGroup, clock: Clock) -> None:
        self._live = live
        self._sessions = sessions
        self._journal = sessions.shared.journal
        self._locks = sessions.shared.locks
        self._start = start
        self._tasks = tasks
        self._clock = clock
        self._at_work: dict[int, _AtWork] = {}
        self._unrecorded: list[SubagentRun] = []
        self._stored: dict[int, SessionRecord] | None = None
        self._beginning = anyio.Lock()
        self._closed = False

    # ------------------------------------------------------------------ begun, and carried out

    async def begin(self, task: Task, *, ports: ClientPorts, meter: TurnMeter) -> BackgroundTask:
        """See `Delegation.begin`; `ports` and `meter` are those of the turn."""
        if self._live.origin is not self._live:
            raise ToolError("Only the conversation with a person can leave tasks behind. Wait for this one instead.")
        if task.agent is not None and not isinstance(task.agent, AgentFile):
            raise ToolError(f"{task.agent.name} is another program, and cannot work in the background. Wait for it.")
        async with self._beginning:
            stored, most = await self._load(), self._live.settings.delegation.background
            if len(self._at_work) >= most:
                raise ToolError(f"{most} tasks may be at work in the background at once. Wait for one, or cancel it.")
            number = max(stored, default=0) + 1
            run = SubagentRun(self._live, task, sessions=self._sessions, start=self._start, clock=self._clock)
            child = await run.begin(options={BACKGROUND: str(number), _STATUS: _AT_WORK})
            stored[number] = child.session.record
            self._at_work[number] = _AtWork(run=run)
        narrow = narrowed(ports, task, delegation=self._live.settings.delegation, meter=meter)
        narrow = replace(narrow, workspace=child.workspace, asker=Nobody())
        self._tasks.start_soon(self._carry_out, number, narrow, name="background task")
        return _view(number, stored[number])

    async def _carry_out(self, number: int, ports: ClientPorts) -> None:
        entry, status = self._at_work[number], "cancelled"
        try:
            with entry.scope:
                status = (await entry.run.carry_out(ports)).status
        except Exception:
            log.exception("a background task failed", extra={"session": self._live.session.id})
            status = "failed"
        finally:
            self._unrecorded.append(entry.run)
            with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
                await self._note(number, {_STATUS: status})
            del self._at_work[number]
            entry.over.set()
        if not self._closed:
            await self._show_between_turns()

    async def cancel(self, number: int) -> bool:
        """See `BackgroundTasks`."""
        entry = self._at_work.get(number)
        if entry is None:
            return False
        entry.scope.cancel()
        with anyio.move_on_after(CLEANUP_TIMEOUT):
            await entry.over.wait()
        return True

    async def aclose(self) -> None:
        """End all, with the session."""
        self._closed = True
        entries = tuple(self._at_work.values())
        for entry in entries:
            entry.scope.cancel()
        with anyio.move_on_after(CLEANUP_TIMEOUT):
            for entry in entries:
                await entry.over.wait()

    # ------------------------------------------------------------------ known

    async def all(self) -> list[BackgroundTask]:
        """See `BackgroundTasks`."""
        return [_view(number, record) for number, record in sorted((await self._load()).items())]

    async def report(self, number: int, *, within: float = 0) -> tuple[BackgroundTask, Report] | None:
        """See `BackgroundTasks`."""
        if (entry := self._at_work.get(number)) is not None and within:
            with anyio.move_on_after(within):
                await entry.over.wait()
        record = (await self._load()).get(number)
        return None if record is None else (_view(number, record), await self._report(record))

    async def mark_reported(self, number: int) -> None:
        """See `BackgroundTasks`."""
        await self._note(number, {_REPORTED: True})

    async def _load(self) -> dict[int, SessionRecord]:
        """The tasks by number, read again while another process carries one out."""
        stored = self._stored
        if stored is None or any(
            _is_at_work(record) and number not in self._at_work for number, record in stored.items()
        ):
            found = await self._journal.delegated(self._live.session.id)
            self._stored = stored = {number: record for record in found if (number := _number(record))}
            for number, record in stored.items():
                if _is_at_work(record) and number not in self._at_work and await self._is_free(record):
                    await self._note(number, {_STATUS: "interrupted"})
        return stored

    async def _is_free(self, record: SessionRecord) -> bool:
        """Return whether no process runs a turn of this session."""
        try:
            async with self._locks.locked(record.id):
                return True
        except SessionBusy:
            return False

    async def _note(self, number: int, options: Mapping[str, str | bool]) -> None:
        """Keep something about a task."""
        stored = self._stored or {}
        if (record := stored.get(number)) is None:
            return
        stored[number] = replace(record, options={**record.options, **options})
        try:
            await self._journal.update(record.id, options=options, updated_at=record.updated_at)
        except ClawError as error:
            log.warning("a background task is not kept", extra={"session": record.id, "reason": error.message})

    async def _report(self, record: SessionRecord) -> Report:
        history, failure = History(), ""
        for event in await self._journal.read(record.id):
            history.apply(event)
            if isinstance(event, StateChanged):
                failure = event.error or ""
        text = "\n\n".join(filter(None, [failure, last_answer(history)]))
        status = _STATUSES.get(str(record.options.get(_STATUS)), "completed")
        return Report(status=status, text=text, session=record.id, sources=history.untrusted_sources)

    # ------------------------------------------------------------------ reported

    async def _show_between_turns(self) -> None:
        """Show the person the reports of tasks that have ended, once no turn runs."""
        session = self._live.session
        try:
            place = session.queue_turn()
            await session.in_turn(place, self._show, lock=self._locks.locked(session.id))
        except ClawError as error:  # it is shown with the next prompt
            log.warning("a background task is not shown yet", extra={"session": session.id, "reason": error.message})

    async def _show(self) -> None:
        for number, record in self._ended(_SHOWN):
            report = await self._report(record)
            typed = [TextPart(text=f"Background task {task_line(_view(number, record))}")]
            await keep_answer(self._live.session, typed=typed, answer=Said(text=_text(report)), clock=self._clock)
            await self._note(number, {_SHOWN: True})
        await self._record_usage()

    async def _record_usage(self) -> None:
        while self._unrecorded:
            run = self._unrecorded.pop()
            await run.record_usage(run.child.session.id if run.child is not None else "")

    async def new_reports(self) -> Notes:
        """The reports of the tasks that have ended since the last prompt, for the model. Called in a turn."""
        await self._load()
        await self._record_usage()
        texts: list[str] = []
        sources: dict[str, None] = {}
        for number, record in self._ended(_REPORTED):
            report, line = await self._report(record), task_line(_view(number, record))
            if not record.options.get(_SHOWN):
                text = f"**Background task {line}**\n\n{_text(report)}"
                await publish_answer(self._live.session, text, clock=self._clock)
            short = report.text[:LONGEST_NOTE]
            cut = "" if short == report.text else "\n[cut: `task_status` shows all]"
            result = report_result(replace(report, text=f"{short}{cut}"), clock=self._clock)
            parts = "\n".join(part.text for part in result.parts if isinstance(part, TextPart))
            texts.append(f"Background task {line}\n{parts}")
            sources |= dict.fromkeys(report.sources)
            await self._note(number, {_REPORTED: True, _SHOWN: True})
        return Notes(text="\n\n".join(texts), sources=tuple(sources))

    def _ended(self, mark: str) -> list[tuple[int, SessionRecord]]:
        """The tasks that have ended and lack a mark."""
        stored = sorted((self._stored or {}).items())
        return [(number, record) for number, record in stored if not (_is_at_work(record) or record.options.get(mark))]


def _text(report: Report) -> str:
    return report.text or "It ended without a word."


def _number(record: SessionRecord) -> int:
    number = str(record.options.get(BACKGROUND, ""))
    return int(number) if number.isascii() and number.isdecimal() else 0


def _is_at_work(record: SessionRecord) -> bool:
    return record.options.get(_STATUS) == _AT_WORK


def _view(number: int, record: SessionRecord) -> BackgroundTask:
    title = (record.title or "").partition(": ")[2]
    status = None if _is_at_work(record) else _STATUSES.get(str(record.options.get(_STATUS)), "interrupted")
    return BackgroundTask(number=number, title=title, session=record.id, began=record.created_at, status=status)


if TYPE_CHECKING:
    _conforms: type[BackgroundTasks] = SessionBackground
