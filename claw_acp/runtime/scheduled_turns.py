"""Jobs as turns of sessions: nobody is asked, and what would have been asked is refused and reported."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio

from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.nobody import Nobody
from claw_acp.contracts.schedule import Job, JobRunner, RunResult, RunStatus
from claw_acp.core.errors import ClawError, ProviderError, ServerBusy, SessionBusy, SessionNotFound, StoreError
from claw_acp.core.events import Event, StopReason, TextDelta, ToolCallChanged, UsageChanged
from claw_acp.core.messages import TextPart
from claw_acp.core.money import from_dollars
from claw_acp.core.printable import printable
from claw_acp.endpoints.firing import addressee
from claw_acp.runtime.audited import record
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.session_options import choose_mode, choose_model
from claw_acp.session.session import CLEANUP_TIMEOUT
from claw_acp.session.setup import SessionSetup

log = logging.getLogger(__name__)

REFUSED: Final = "Not done, because nobody was there to allow it:"
"""Heads the list of refused calls in a result."""

_NAMED: Final = 20  # refused calls that are named


class ScheduledTurns(JobRunner):
    """Runs jobs in an engine.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def run(self, job: Job, *, prompt: str, on_session: Callable[[str], Awaitable[None]]) -> RunResult:
        """See `JobRunner`."""
        live: LiveSession | None = None
        try:
            live = await self._session_for(job)
            await on_session(live.session.id)
            await record(self._engine.configuration, "schedule", job=job.name, session=live.session.id)
            async with self._engine.turns.tracing.workflow(job.name, folder=Path(job.cwd)):
                return await self._turn(live, job, prompt)
        except ClawError as error:
            session_id = None if live is None else live.session.id
            return RunResult(status="failed", detail=error.message, session_id=session_id, again=_may_succeed(error))
        finally:
            if live is not None:
                await self._release(live, done=job.session is None)

    async def forget(self, session_id: str) -> None:
        """See `JobRunner`."""
        sessions = self._engine.sessions
        with suppress(SessionNotFound):
            if sessions.look_at(session_id) is None and (await sessions.record(session_id)).archived:
                await sessions.delete(session_id)

    async def tell(self, session_id: str, *, title: str, text: str) -> None:
        """See `JobRunner`."""
        live = await self._open(session_id)
        try:
            await self._engine.turns.report(live, title=title, text=text)
        finally:
            await self._release(live)

    # ------------------------------------------------------------------ sessions

    async def _session_for(self, job: Job) -> LiveSession:
        """The session of a job, or a new one with what the job asks for."""
        if job.session is not None:
            return await self._open(job.session)
        live = await self._engine.sessions.create(SessionSetup(cwd=job.cwd))
        await live.session.change(title=job.name)
        if job.model is not None:
            await choose_model(live, job.model)
        if job.mode is not None:
            await choose_mode(live, job.mode, by=f"the job {job.name}")
        return live

    async def _open(self, session_id: str) -> LiveSession:
        """A session as somebody has it open, else with the directories it had."""
        sessions = self._engine.sessions
        if (live := sessions.look_at(session_id)) is not None:
            return live
        record = await sessions.record(session_id)
        return await sessions.open(session_id, SessionSetup(cwd=record.cwd, additional=record.additional_directories))

    async def _release(self, live: LiveSession, *, done: bool = False) -> None:
        """Close a session that nobody else has open; one that is `done` does not fill the lists either."""
        if live.wanted:
            return
        sessions = self._engine.sessions
        with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
            await (sessions.archive if done else sessions.close)(live.session.id)

    # ------------------------------------------------------------------ the turn

    async def _turn(self, live: LiveSession, job: Job, prompt: str) -> RunResult:
        watch = _TurnWatch()
        ports = ClientPorts(
            workspace=live.workspace,
            asker=Nobody(),
            client=job.name,
            ingress="schedule",
            sources=_sources(job),
            on_accepted=watch.begin,
            only_tools=None if job.tools is None else frozenset(job.tools),
            cost=None if job.budget is None else from_dollars(job.budget),
        )
        live.session.subscribers.append(watch)
        try:
            stop = await self._outcome(live, prompt, ports=ports, within=job.timeout)
        except ClawError as error:
            again = _may_succeed(error)
            return watch.result(live, status="failed", detail=error.message, again=again)
        finally:
            live.session.subscribers.remove(watch)
        status, detail = _ENDINGS.get(stop or "", ("succeeded", ""))
        if stop is None:
            status, detail = "failed", f"It took longer than {job.timeout} s, and was stopped."
        return watch.result(live, status=status, detail=detail)

    async def _outcome(self, live: LiveSession, prompt: str, *, ports: ClientPorts, within: float) -> StopReason | None:
        """The reason for which the turn stopped; None: it took too long."""
        turn = self._engine.turns.start(live, [TextPart(text=prompt)], ports=ports)
        try:
            with anyio.move_on_after(within):
                return (await turn.outcome()).stop
        finally:
            turn.cancel()  # of no effect once it has ended
        with anyio.move_on_after(CLEANUP_TIMEOUT):
            await turn.outcome()
        return None


_ENDINGS: Final[dict[str, tuple[RunStatus, str]]] = {
    "max_tokens": ("failed", "The answer was cut off: it reached the limit of its tokens."),
    "max_turn_requests": ("failed", "It was cut off at a limit of the turn."),
    "refusal": ("failed", "The model declined to answer."),
    "cancelled": ("cancelled", "It was cancelled."),
}


class _TurnWatch:
    """A subscriber that collects the last words of a turn, its refused calls and its costs."""

    behind = False
    lost = False

    def __init__(self) -> None:
        self._begun = False
        self._message = ""
        self._words: list[str] = []
        self._titles: dict[str, str] = {}
        self._refused: list[str] = []
        self._input = self._output = self._cost = 0

    def begin(self, _message_id: str) -> None:
        """Collect from now on: turns of others may have run before."""
        self._begun = True

    async def on_event(self, event: Event) -> None:
        """See `Subscriber`."""
        if not self._begun:
            return
        match event:
            case TextDelta(item=item, text=text):
                if item != self._message:
                    self._message, self._words = item, []
                self._words.append(text)
            case ToolCallChanged(item=item, title=title, refusal=refusal):
                self._titles[item] = title or self._titles.get(item, "a call")
                if refusal is not None:
                    self._refused.append(f"- {self._titles[item]}: {refusal}")
            case UsageChanged(request=usage, cost=cost):
                self._input += usage.input_tokens
                self._output += usage.output_tokens
                self._cost += 0 if cost is None else from_dollars(cost)
            case _:
                pass

    def result(self, live: LiveSession, *, status: RunStatus, detail: str, again: bool = False) -> RunResult:
        """The result of the run."""
        more = len(self._refused) - _NAMED
        refused = [REFUSED, *self._refused[:_NAMED], *([f"- and {more} more"] if more > 0 else [])]
        return RunResult(
            status=status,
            text="".join(self._words).strip(),
            detail="\n".join([*([detail] if detail else []), *(refused if self._refused else [])]),
            session_id=live.session.id,
            input_tokens=self._input,
            output_tokens=self._output,
            cost=self._cost,
            again=again,
        )

    async def caught_up(self) -> None:
        """See `Subscriber`."""

    def drop(self) -> None:
        """See `Subscriber`."""

    def on_closed(self) -> None:
        """See `Subscriber`."""


def _sources(job: Job) -> tuple[str, ...]:
    """The program that fired a prompt: it may have put mails, issues or messages of strangers into it."""
    if job.delivery.kind != "program":
        return ()
    identity, _ = addressee(job.delivery.target)
    return (f"the attached program {printable(identity.name)}",)


def _may_succeed(error: ClawError) -> bool:
    """Return whether the same run may succeed later."""
    busy = isinstance(error, SessionBusy | ServerBusy | StoreError)
    return busy or (isinstance(error, ProviderError) and error.retryable)
