"""The pipeline that every tool call passes: prepare, announce, decide, ask, run, redact, keep.

Nothing else in the program calls `Invocation.run`.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from claw_acp.agent.call_arguments import parse_arguments
from claw_acp.agent.desk import Desk
from claw_acp.agent.gate import Gate
from claw_acp.agent.redacted import redacted_content, redacted_json, redacted_parts
from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.asking import AskedCommand, Form, FormAnswer
from claw_acp.contracts.tool import Invocation, Progress, RunsCommand, Tool, ToolContext, ToolResult
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, InvalidArguments, ToolError
from claw_acp.core.events import PartContent, PlanChanged, PlanEntry, ToolCallChanged
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart, ToolCall
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace
from claw_acp.session.history import INTERRUPTED
from claw_acp.session.session import LAST_WORDS, Session

log = logging.getLogger(__name__)

PARALLEL = 8  # read-only calls at once


@dataclass(slots=True)
class _Entry:
    call: ToolCall
    tool: Tool | None
    invocation: Invocation | None = None
    announced: bool = False
    done: bool = False


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
        except BaseException:
            with anyio.move_on_after(LAST_WORDS, shield=True):
                for entry in entries:
                    if entry.announced and not entry.done:
                        await self._fail(entry, INTERRUPTED)
            raise

    async def _run_group(self, group: Sequence[_Entry]) -> None:
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
            status="pending",
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
        await self._session.publish(announcement)
        if problem is not None:
            await self._fail(entry, problem)

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
        )

    async def _run(self, entry: _Entry) -> None:
        invocation = entry.invocation
        if invocation is None:
            return
        try:
            if not await self._admit(entry, invocation):
                return
            await self._session.publish(ToolCallChanged(item=entry.call.id, status="in_progress"))
            result = await invocation.run()
        except ToolError as error:
            await self._fail(entry, error.message)
        except ClawError:
            raise  # the journal, say: nothing a model could act on
        except Exception as error:  # noqa: BLE001 - the tool wall: whatever a tool raises is a result; it is logged
            await self._fail(entry, self._unexpected(entry, error))
        else:
            await self._finish(entry, result)

    async def _admit(self, entry: _Entry, invocation: Invocation) -> bool:
        name = entry.call.name
        decision = self._gate.decide(name, invocation)
        if decision.verdict == "ask":
            preview = redacted_content(await invocation.preview(), redactor=self._redactor)
            if preview:
                await self._session.publish(ToolCallChanged(item=entry.call.id, content=preview))
            title = self._redactor(invocation.view.title)
            admission = await self._gate.ask(
                entry.call.id, decision, title=title, content=preview, command=self._command(invocation)
            )
            if not admission.allowed:
                await self._fail(entry, admission.reason)
                return False
            decision = self._gate.decide(name, invocation)  # the mode may have changed while a person thought
        if decision.verdict == "deny":
            await self._fail(entry, f"Not allowed: {decision.reason}")
            return False
        return True

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
        parts = redacted_parts(result.parts, redactor=self._redactor)
        shown = (
            tuple(PartContent(part=part) for part in parts)
            if result.content is None
            else redacted_content(result.content, redactor=self._redactor)
        )
        entry.done = True
        await self._session.publish(
            ToolCallChanged(
                item=entry.call.id,
                status="failed" if result.failed else "completed",
                content=shown,
                raw_output=redacted_json(result.raw, redactor=self._redactor),
                output=parts,
            )
        )

    async def _fail(self, entry: _Entry, reason: str) -> None:
        text = TextPart(text=self._redactor(reason))
        entry.done = True
        await self._session.publish(
            ToolCallChanged(item=entry.call.id, status="failed", content=(PartContent(part=text),), output=(text,))
        )


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
