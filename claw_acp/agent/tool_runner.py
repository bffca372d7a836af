"""The pipeline that every tool call passes: prepare, announce, decide, ask, run, redact, keep.

Nothing else in the program calls `Invocation.run`.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio

from claw_acp.agent.call_arguments import parse_arguments
from claw_acp.agent.desk import Desk
from claw_acp.agent.gate import Gate
from claw_acp.agent.redacted import redacted_content, redacted_json, redacted_parts
from claw_acp.agent.toolbox import Toolbox
from claw_acp.agent.waiting import Waiting
from claw_acp.agent.watched_programs import WatchedPrograms
from claw_acp.contracts.asking import AskedCommand, Form, FormAnswer
from claw_acp.contracts.tool import Invocation, Progress, RunsCommand, Tool, ToolContext, ToolResult
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, InvalidArguments, ToolError
from claw_acp.core.events import PartContent, PlanChanged, PlanEntry, ToolCallChanged, ToolStatus
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart, ToolCall
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace
from claw_acp.session.history import INTERRUPTED
from claw_acp.session.session import Session

log = logging.getLogger(__name__)

PARALLEL = 8  # read-only calls at once

CANCELLED: Final = "The user cancelled this call."


@dataclass(slots=True)
class _Entry:
    call: ToolCall
    tool: Tool | None
    invocation: Invocation | None = None
    announced: bool = False
    done: bool = False
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)  # of this call alone


class ToolRunner:
    """Runs the tool calls of one turn."""

    def __init__(
        self, session: Session, *, toolbox: Toolbox, gate: Gate, desk: Desk, clock: Clock, redactor: Redactor
    ) -> None:
        self._session = session
        self._toolbox = toolbox
        self._gate = gate
        self._desk = desk
        self._clock = clock
        self._redactor = redactor
        self._waiting = Waiting(session)

    async def run_all(self, message_id: str, calls: Sequence[ToolCall]) -> None:
        """Run the calls of one answer, in order; neighbours that only read run together.

        Every call ends with a result in the session, also when this is cancelled.
        """
        entries = [_Entry(call, self._toolbox.get_tool(call.name)) for call in calls]
        try:
            for entry in entries:
                await self._announce(entry, message_id)
            for group in _groups(entries):
                await self._run_group(group)
        except BaseException as error:
            status = "cancelled" if isinstance(error, anyio.get_cancelled_exc_class()) else "failed"
            for entry in entries:
                if entry.announced and not entry.done:
                    await self._interrupt(entry, status=status)
            raise
        finally:
            for entry in entries:
                self._session.work.call_ends(entry.call.id)

    async def _run_group(self, group: Sequence[_Entry]) -> None:
        with self._waiting.among(len(group)):
            if len(group) == 1:
                await self._run(group[0])
                return
            async with anyio.create_task_group() as tasks:
                for entry in group:
                    tasks.start_soon(self._run, entry, name=entry.call.name)

    # ------------------------------------------------------------------ one call

    async def _announce(self, entry: _Entry, message_id: str) -> None:
        """Show the call, bound to its tool; one that cannot be bound ends here."""
        call = entry.call
        announcement = ToolCallChanged(
            item=call.id, message=message_id, name=call.name, arguments=call.arguments, title=call.name, kind="other",
            status="pending", extra=call.extra,
        )  # fmt: skip
        problem = None
        try:
            arguments = parse_arguments(call)
            announcement = replace(announcement, raw_input=redacted_json(arguments, redactor=self._redactor))
            entry.invocation = self._bind(entry, arguments)
            view = entry.invocation.view
            title = self._redactor(view.title)
            announcement = replace(announcement, title=title, kind=view.kind, locations=view.locations or None)
        except ToolError as error:
            problem = error.message
        except Exception as error:  # noqa: BLE001 - the tool wall: a stranger's tool may raise anything; it is logged
            problem = self._unexpected(entry, error)
        entry.announced = True
        self._session.work.call_begins(call.id, entry.scope)
        await self._session.publish(announcement)
        if problem is not None:
            await self._finish(entry, _failure(problem))

    def _bind(self, entry: _Entry, arguments: JsonObject) -> Invocation:
        if entry.tool is None:
            known = ", ".join(self._toolbox.tool_names())
            raise InvalidArguments(f"There is no tool named {entry.call.name}. There are: {known}.")
        return entry.tool.prepare(arguments, self._context(entry.call))

    def _context(self, call: ToolCall) -> ToolContext:
        async def progress(news: Progress) -> None:
            content = None if news.content is None else redacted_content(news.content, redactor=self._redactor)
            lasting = news.locations is not None or news.title is not None  # a picture of its output is not
            tell = self._session.publish if lasting else self._session.show
            title = None if news.title is None else self._redactor(news.title)
            await tell(ToolCallChanged(item=call.id, content=content, locations=news.locations, title=title))

        async def publish_plan(entries: Sequence[PlanEntry]) -> None:
            await self._session.publish(PlanChanged(item=self._session.id, entries=tuple(entries)))

        async def ask(form: Form) -> FormAnswer | None:
            async with self._waiting.for_person():
                return await self._desk.asker.form(replace(form, session=self._session.id, call_id=call.id))

        return ToolContext(
            session=self._session.id,
            call_id=call.id,
            workspace=self._desk.workspace,
            clock=self._clock,
            shelf=self._session.shelf,
            progress=progress,
            publish_plan=publish_plan,
            may_read=self._gate.reader(call.name),
            ask=ask,
            allowed_hosts=self._gate.allowed_hosts,
            programs=WatchedPrograms(self._session.work, redactor=self._redactor),
        )

    async def _run(self, entry: _Entry) -> None:
        if entry.invocation is not None:
            await self._run_bound(entry, entry.invocation)
        await self._waiting.call_over()

    async def _run_bound(self, entry: _Entry, invocation: Invocation) -> None:
        """One call to its end, which is published where cancelling the call can no longer reach."""
        result = None
        if not entry.scope.cancel_called:
            with entry.scope:
                result = await self._result(entry, invocation)
        if result is None:
            self._session.go_on()
            result = _broken_off(CANCELLED, await self._so_far(entry))
            await self._end(entry, result, status="cancelled")
        else:
            await self._finish(entry, result)

    async def _result(self, entry: _Entry, invocation: Invocation) -> ToolResult:
        try:
            obstacle = await self._obstacle(entry, invocation)
            if obstacle is not None:
                return _failure(obstacle)
            await self._session.publish(ToolCallChanged(item=entry.call.id, status="in_progress"))
            return await invocation.run()
        except ToolError as error:
            return _failure(error.message)
        except ClawError:
            raise  # the journal, say: nothing a model could act on
        except Exception as error:  # noqa: BLE001 - the tool wall: whatever a tool raises is a result; it is logged
            return _failure(self._unexpected(entry, error))

    async def _obstacle(self, entry: _Entry, invocation: Invocation) -> str | None:
        """Why the call may not run; None when it may."""
        name = entry.call.name
        decision = self._gate.decide(name, invocation)
        if decision.verdict == "ask":
            preview = redacted_content(await invocation.preview(), redactor=self._redactor)
            if preview:
                await self._session.publish(ToolCallChanged(item=entry.call.id, content=preview))
            title = self._redactor(invocation.view.title)
            async with self._waiting.for_person():
                admission = await self._gate.ask(
                    entry.call.id, decision, title=title, content=preview, command=self._command(invocation)
                )
            if not admission.allowed:
                return admission.reason
            decision = self._gate.decide(name, invocation)  # the mode may have changed while a person thought
        return f"Not allowed: {decision.reason}" if decision.verdict == "deny" else None

    def _command(self, invocation: Invocation) -> AskedCommand | None:
        for access in invocation.accesses:
            if isinstance(access, RunsCommand):
                return AskedCommand(line=self._redactor(access.line), cwd=str(access.cwd))
        return None

    def _unexpected(self, entry: _Entry, error: Exception) -> str:
        incident = new_id("inc", clock=self._clock)
        log.error("tool failed", exc_info=error, extra={"tool": entry.call.name, "incident": incident})
        return f"{entry.call.name} failed unexpectedly; the log has it as {incident}."

    # ------------------------------------------------------------------ results

    async def _finish(self, entry: _Entry, result: ToolResult) -> None:
        await self._end(entry, result, status="failed" if result.failed else "completed")

    async def _interrupt(self, entry: _Entry, *, status: ToolStatus) -> None:
        """End a call together with its turn. Nobody waits for its commit: without it the history says the same."""
        known = None
        with self._session.last_words():
            known = await self._so_far(entry)
        with self._session.last_words():
            await self._end(entry, _broken_off(INTERRUPTED, known), status=status, committed=False)

    async def _so_far(self, entry: _Entry) -> ToolResult | None:
        try:
            return None if entry.invocation is None else await entry.invocation.so_far()
        except Exception as error:  # noqa: BLE001 - the tool wall: it is logged, and the call ends without
            self._unexpected(entry, error)
            return None

    async def _end(self, entry: _Entry, result: ToolResult, *, status: ToolStatus, committed: bool = True) -> None:
        parts = redacted_parts(result.parts, redactor=self._redactor)
        shown = (
            tuple(PartContent(part=part) for part in parts)
            if result.content is None
            else redacted_content(result.content, redactor=self._redactor)
        )
        entry.done = True
        self._session.work.call_ends(entry.call.id)
        await self._session.publish(
            ToolCallChanged(
                item=entry.call.id,
                status=status,
                content=shown,
                raw_output=redacted_json(result.raw, redactor=self._redactor),
                output=parts,
            ),
            committed=committed,
        )


def _failure(reason: str) -> ToolResult:
    return ToolResult(parts=(TextPart(text=reason),), failed=True)


def _broken_off(reason: str, known: ToolResult | None) -> ToolResult:
    """The result of a call that did not come to its own end: why, and what it did until then."""
    if known is None:
        return _failure(reason)
    content = (*(known.content or ()), PartContent(part=TextPart(text=reason)))
    return replace(known, parts=(TextPart(text=f"{reason} Until then:\n\n"), *known.parts), content=content)


def _groups(entries: Sequence[_Entry]) -> list[list[_Entry]]:
    groups: list[list[_Entry]] = []
    for entry in entries:
        joins = entry.tool is not None and entry.tool.parallel
        if joins and groups and len(groups[-1]) < PARALLEL and _is_parallel(groups[-1]):
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return groups


def _is_parallel(group: Sequence[_Entry]) -> bool:
    return all(entry.tool is not None and entry.tool.parallel for entry in group)
