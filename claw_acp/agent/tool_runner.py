"""The pipeline that every tool call passes: prepare, announce, decide, ask, run, redact, keep.

Nothing else in the program calls `Invocation.run`.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from claw_acp.agent.desk import Desk
from claw_acp.agent.gate import Gate
from claw_acp.agent.redacted import redacted_content, redacted_json, redacted_parts
from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.tool import Invocation, Progress, Tool, ToolContext, ToolResult
from claw_acp.core.clock import Clock
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.core.events import PartContent, PlanChanged, PlanEntry, ToolCallChanged
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import TextPart, ToolCall
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace
from claw_acp.session.session import LAST_WORDS, Session

log = logging.getLogger(__name__)

INTERRUPTED = "The call was interrupted before it finished; it may have had effects."
PARALLEL = 8  # read-only calls at once


@dataclass(slots=True)
class _Prepared:
    call: ToolCall
    tool: Tool | None
    invocation: Invocation | None
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
        prepared = [await self._prepare(message_id, call) for call in calls]
        try:
            for group in _groups(prepared):
                await self._run_group(group)
        except BaseException:
            with anyio.move_on_after(LAST_WORDS, shield=True):
                for entry in prepared:
                    if not entry.done:
                        await self._fail(entry, INTERRUPTED)
            raise

    async def _run_group(self, group: Sequence[_Prepared]) -> None:
        if len(group) == 1:
            await self._run(group[0])
            return
        async with anyio.create_task_group() as tasks:
            for entry in group:
                tasks.start_soon(self._run, entry, name=entry.call.name)

    # ------------------------------------------------------------------ one call

    async def _prepare(self, message_id: str, call: ToolCall) -> _Prepared:
        entry = _Prepared(call, self._toolbox.get_tool(call.name), None)
        announcement = ToolCallChanged(
            item=call.id, message=message_id, name=call.name, arguments=call.arguments, title=call.name, kind="other",
            status="pending",
        )  # fmt: skip
        try:
            arguments = _parse(call)
            announcement = replace(announcement, raw_input=redacted_json(arguments, redactor=self._redactor))
            entry.invocation = self._bind(entry, arguments)
        except ToolError as error:
            await self._session.publish(announcement)
            await self._fail(entry, error.message)
            return entry
        view = entry.invocation.view
        await self._session.publish(
            replace(announcement, title=view.title, kind=view.kind, locations=view.locations or None)
        )
        return entry

    def _bind(self, entry: _Prepared, arguments: JsonObject) -> Invocation:
        if entry.tool is None:
            known = ", ".join(self._toolbox.tool_names())
            raise InvalidArguments(f"There is no tool named {entry.call.name}. There are: {known}.")
        return entry.tool.prepare(arguments, self._context(entry.call))

    def _context(self, call: ToolCall) -> ToolContext:
        async def progress(news: Progress) -> None:
            content = None if news.content is None else redacted_content(news.content, redactor=self._redactor)
            lasting = news.locations is not None or news.title is not None  # a picture of its output is not
            tell = self._session.publish if lasting else self._session.show
            await tell(ToolCallChanged(item=call.id, content=content, locations=news.locations, title=news.title))

        async def publish_plan(entries: Sequence[PlanEntry]) -> None:
            await self._session.publish(PlanChanged(item=self._session.id, entries=tuple(entries)))

        return ToolContext(
            session=self._session.id,
            call_id=call.id,
            workspace=self._desk.workspace,
            clock=self._clock,
            shelf=self._session.shelf,
            progress=progress,
            publish_plan=publish_plan,
            may_read=self._gate.reader(call.name),
            allowed_hosts=self._gate.allowed_hosts,
        )

    async def _run(self, entry: _Prepared) -> None:
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
        except Exception:
            incident = new_id("inc", clock=self._clock)
            log.exception("tool failed", extra={"tool": entry.call.name, "incident": incident})
            await self._fail(entry, f"{entry.call.name} failed unexpectedly; the log has it as {incident}.")
        else:
            await self._finish(entry, result)

    async def _admit(self, entry: _Prepared, invocation: Invocation) -> bool:
        decision = self._gate.decide(entry.call.name, invocation)
        if decision.verdict == "allow":
            return True
        if decision.verdict == "deny":
            await self._fail(entry, f"Not allowed: {decision.reason}")
            return False
        preview = redacted_content(await invocation.preview(), redactor=self._redactor)
        if preview:
            await self._session.publish(ToolCallChanged(item=entry.call.id, content=preview))
        title = invocation.view.title
        admission = await self._gate.ask(entry.call.id, decision, title=title, content=preview)
        if not admission.allowed:
            await self._fail(entry, admission.reason)
        return admission.allowed

    # ------------------------------------------------------------------ results

    async def _finish(self, entry: _Prepared, result: ToolResult) -> None:
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

    async def _fail(self, entry: _Prepared, reason: str) -> None:
        text = TextPart(text=self._redactor(reason))
        entry.done = True
        await self._session.publish(
            ToolCallChanged(item=entry.call.id, status="failed", content=(PartContent(part=text),), output=(text,))
        )


def _parse(call: ToolCall) -> JsonObject:
    try:
        arguments: JsonValue = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(f"The arguments of {call.name} are not valid JSON: {error}. Send them again.") from error
    if not isinstance(arguments, dict):
        raise InvalidArguments(f"The arguments of {call.name} must be a JSON object.")
    return arguments


def _groups(prepared: Sequence[_Prepared]) -> list[list[_Prepared]]:
    groups: list[list[_Prepared]] = []
    for entry in prepared:
        joins = entry.tool is not None and entry.tool.parallel
        if joins and groups and len(groups[-1]) < PARALLEL and _is_parallel(groups[-1]):
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return groups


def _is_parallel(group: Sequence[_Prepared]) -> bool:
    return all(entry.tool is not None and entry.tool.parallel for entry in group)
