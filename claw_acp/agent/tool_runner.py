"""The pipeline that every tool call passes: prepare, announce, decide, ask, record, run, bound, redact, keep.

Nothing else in the program calls `Invocation.run`. Whatever a tool raises or returns becomes the result of its call and
never ends more than that call; only a cancellation, and a journal that cannot be written, pass through.
"""

import logging
import math
from collections.abc import Sequence
from functools import partial
from typing import Final

import anyio

from claw_acp.agent.call_arguments import parse_arguments
from claw_acp.agent.call_audit import CallAudit
from claw_acp.agent.call_entry import CallEntry, groups
from claw_acp.agent.call_hooks import CallHooks
from claw_acp.agent.call_ports import LONGEST_CALL, CallPorts
from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.gate import Admission, Gate
from claw_acp.agent.incoming_text import accept, tell, with_marks
from claw_acp.agent.large_results import LARGEST_STORED, LargeResults
from claw_acp.agent.question import question_about
from claw_acp.agent.redacted import cleaned, redacted_content, redacted_json, redacted_parts
from claw_acp.agent.repetition import RepetitionGuard
from claw_acp.agent.results import bounded_result, broken_off, failed_result, sound, sound_result
from claw_acp.agent.toolbox import Toolbox
from claw_acp.agent.user_wait import UserWait
from claw_acp.contracts.bounded import MOST_TEXT
from claw_acp.contracts.questions import PermissionQuestion
from claw_acp.contracts.tool import Hindrance, Invocation, ToolContext, ToolResult
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, InvalidArguments, StoreError
from claw_acp.core.events import MessageStarted, PartContent, TextDelta, ToolCallChanged, ToolStatus
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ToolCall
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace
from claw_acp.registry.foreign_code import is_cancellation
from claw_acp.security.verdicts import Decision
from claw_acp.session.entries import INTERRUPTED, NEVER_RAN
from claw_acp.session.extension import NOTHING, SessionExtension
from claw_acp.session.session import Session

log = logging.getLogger(__name__)

CANCELLED: Final = "The user cancelled this call."
CANCELLED_BEFORE: Final = "The user cancelled this call before it began, so nothing was done."


class ToolRunner:
    """Runs the tool calls of one turn."""

    def __init__(
        self, session: Session, *, toolbox: Toolbox, gate: Gate, ports: ClientPorts, clock: Clock, redactor: Redactor,
        audit: CallAudit, hooks: CallHooks, extension: SessionExtension = NOTHING,
        results: LargeResults | None = None,
    ) -> None:  # fmt: skip
        self._session = session
        self._toolbox = toolbox
        self._gate = gate
        self._ports = ports
        self._clock = clock
        self._redactor = redactor
        self._audit = audit
        self._hooks = hooks
        self._extension = extension
        self._results = results
        self._waiting = UserWait(session)
        self.repetition = RepetitionGuard()
        """Watches the calls of the turn."""

    @property
    def waited(self) -> float:
        """The seconds in which no call could go on until a person answered."""
        return self._waiting.seconds

    async def run_all(self, message_id: str, calls: Sequence[ToolCall]) -> bool:
        """Run the calls of one answer, in order; adjacent calls that only read run together.

        Every call ends with a result in the session, also when this is cancelled.

        Returns:
            True if a call asked the person something in text, so that the turn is over.
        """
        entries = [CallEntry(call, self._toolbox.get_tool(call.name)) for call in calls]
        self.repetition.next_answer()
        self._gate.next_answer()
        try:
            for entry in entries:
                await self._announce(entry, message_id)
            for group in groups(entries):
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
        question = "\n\n".join(entry.asks for entry in entries if entry.asks)
        if question:  # the model knows it from its own call
            said = new_id("msg", clock=self._clock)
            await self._session.publish(MessageStarted(item=said, role="assistant", local_only=True))
            await self._session.publish(TextDelta(item=said, text=question))
        return bool(question)

    async def _run_group(self, group: Sequence[CallEntry]) -> None:
        with self._waiting.among(len(group)):
            if len(group) == 1:
                await self._run(group[0])
                return
            async with anyio.create_task_group() as tasks:
                for entry in group:
                    tasks.start_soon(self._run, entry, name=entry.call.name)

    # ------------------------------------------------------------------ one call

    async def _announce(self, entry: CallEntry, message_id: str) -> None:
        """Show the call, bound to its tool; one that cannot be bound ends here."""
        call = entry.call
        announcement = ToolCallChanged(
            item=call.id, message=message_id, name=call.name, title=call.name, kind="other", status="pending",
            arguments=self._redactor.without_known(call.arguments), extra=call.extra,
        )  # fmt: skip
        problem = None
        try:
            announcement = await self._bound(entry, announcement)
        except BaseException as error:  # noqa: BLE001 - the tool wall: a stranger's tool may raise anything; it is logged
            entry.invocation, announcement = None, replace(announcement, raw_input=entry.arguments)
            problem = self._told(entry, error)
        entry.announced = True
        self._session.work.call_begins(call.id, entry.scope, tell=partial(self._end_unbegun, entry))
        await self._session.publish(announcement)
        if problem is not None:
            problem = self._repeated(entry) or problem
            await self._finish(entry, await self._presentable(entry, failed_result(problem)))

    async def _bound(self, entry: CallEntry, change: ToolCallChanged) -> ToolCallChanged:
        """Bind a call to its tool, and return the change that shows how."""
        arguments = parse_arguments(entry.call, schema=None if entry.tool is None else entry.tool.spec.parameters)
        entry.arguments = await cleaned(redacted_json, arguments, redactor=self._redactor)
        entry.invocation = self._bind(entry, arguments)
        view = entry.invocation.view
        bound = replace(
            change, raw_input=entry.arguments, title=self._redactor(view.title), kind=view.kind,
            locations=view.locations or None,
        )  # fmt: skip
        return sound(bound) if entry.package else bound

    def _bind(self, entry: CallEntry, arguments: JsonObject) -> Invocation:
        if entry.tool is None:
            known = ", ".join(self._toolbox.tool_names())
            raise InvalidArguments(f"There is no tool named {entry.call.name}. There are: {known}.")
        return entry.tool.prepare(arguments, self._context(entry))

    def _context(self, entry: CallEntry) -> ToolContext:
        ports = CallPorts(
            self._session, entry.call.id, foreign=bool(entry.package), limit=entry.limit, waiting=self._waiting,
            asker=self._ports.asker, redactor=self._redactor, extension=self._extension, sandbox=lambda: entry.sandbox,
        )  # fmt: skip
        return ToolContext(
            session=self._session.id,
            call_id=entry.call.id,
            workspace=self._ports.workspace,
            clock=self._clock,
            state=self._session.tool_state,
            progress=ports.progress,
            may_read=self._gate.reader(entry.call.name),
            allowed_hosts=self._gate.allowed_hosts,
            strangers=lambda: self._session.history.foreign_sources,
            ports=ports.port,
        )

    async def _run(self, entry: CallEntry) -> None:
        entry.turn = True
        if entry.invocation is not None and not entry.done:
            await self._run_bound(entry, entry.invocation)
        await self._waiting.call_over()

    async def _run_bound(self, entry: CallEntry, invocation: Invocation) -> None:
        """Run one call to its end. The result is published where cancelling the call can no longer reach."""
        result = None
        if not entry.scope.cancel_called:
            with entry.scope:
                result = await self._result(entry, invocation)
        entry.release()
        if result is None:
            self._session.reset_cleanup()
            reason = CANCELLED if entry.begun else CANCELLED_BEFORE
            result = broken_off(reason, await self._so_far(entry))
            await self._end(entry, result, status="cancelled")
        else:
            await self._finish(entry, result)

    async def _result(self, entry: CallEntry, invocation: Invocation) -> ToolResult:
        try:
            obstacle = await self._obstacle(entry)
            if obstacle is not None:
                return await self._presentable(entry, obstacle)
            invocation = entry.invocation or invocation  # a hook may have changed it
            entry.begun, entry.began = True, self._clock.monotonic()
            await self._session.publish(ToolCallChanged(item=entry.call.id, status="in_progress"))
            entry.limit.deadline = math.inf if invocation.limits_itself else anyio.current_time() + LONGEST_CALL
            with entry.limit:
                while True:
                    result = await invocation.run()
                    if entry.aftermath is not None:
                        unasked = entry.decision is not None and entry.decision.verdict != "ask"
                        moves = self._gate.moves_aside and unasked and entry.sandbox is not None
                        result = await entry.aftermath.told(result, moves=moves)
                    if result.hindered is None or not await self._may_run_again(entry, invocation, result.hindered):
                        break
                return await self._presentable(entry, await self._hooks.after(entry, result))
            return failed_result(f"{entry.call.name} was stopped: it ran for more than {LONGEST_CALL / 60:g} minutes.")
        except BaseException as error:  # noqa: BLE001 - the tool wall: whatever a tool raises is a result; it is logged
            failed = failed_result(self._told(entry, error))
            return await self._presentable(entry, await self._hooks.after(entry, failed) if entry.begun else failed)

    async def _presentable(self, entry: CallEntry, result: ToolResult) -> ToolResult:
        """A result for the model, the client and the journal."""
        result = with_marks(entry, result, clock=self._clock)
        stored = self._results is not None and not entry.reads_file
        known = sound_result(result) if entry.package else result
        known = bounded_result(known, most_text=LARGEST_STORED if stored else MOST_TEXT)
        content = (
            None if known.content is None else await cleaned(redacted_content, known.content, redactor=self._redactor)
        )
        parts = await cleaned(redacted_parts, known.parts, redactor=self._redactor)
        return ToolResult(
            parts=await self._results.shortened(parts) if self._results is not None and stored else parts,
            content=content,
            raw=await cleaned(redacted_json, known.raw, redactor=self._redactor),
            failed=known.failed,
            asks=self._redactor(known.asks),
        )

    async def _obstacle(self, entry: CallEntry) -> ToolResult | None:
        """The result of a call that may not run; None when it may."""
        if (repeated := self._repeated(entry)) is not None:
            return failed_result(repeated)
        refused = partial(self._refused, entry)
        if self._hooks.ended:
            return refused("Not run: a hook ended the turn.", why="A hook ended the turn.")
        heard = await self._hooks.before(entry)
        if heard.cancel is not None:
            return refused(f"Not allowed: {heard.cancel}", why=f"A hook decided this: {heard.cancel}")
        if heard.arguments is not None:
            await self._session.publish(await self._bound(entry, ToolCallChanged(item=entry.call.id)))
        invocation = entry.invocation
        assert invocation is not None
        await self._gate.explore(invocation)
        decision = self._gate.decide(entry.call.name, invocation)
        if heard.ask and decision.verdict == "allow":
            reason = f"A hook wants you to look at it: {heard.ask}"
            decision = replace(decision, verdict="ask", reason=reason, remember=(), wider=())
        if decision.verdict == "ask":
            if (refusal := await self._refusal(entry, invocation, decision)) is not None:
                return refusal
            # the mode may have changed while a person thought
            decision = self._gate.decide(entry.call.name, invocation)
        if decision.verdict != "deny":
            await self._admit(entry, invocation, decision)
            return None
        built_in = "" if decision.rule else " No rule of yours decided this, but the mode or a built-in protection."
        return refused(f"Not allowed: {decision.reason}", why=f"{decision.reason}{built_in}")

    async def _refusal(self, entry: CallEntry, invocation: Invocation, decision: Decision) -> ToolResult | None:
        """Ask a person; returns the result of a call that they did not allow, or None."""
        preview = await invocation.preview()
        if preview:
            content = await cleaned(redacted_content, preview, redactor=self._redactor)
            await self._session.publish(ToolCallChanged(item=entry.call.id, content=content))
        arguments, place = parse_arguments(entry.call), self._gate.place(decision)
        question = question_about(invocation, decision, preview=preview, arguments=arguments, place=place)
        admission = await self._ask(entry, decision, question)
        await accept(self._session, admission.choice, sources=decision.because, call_id=entry.call.id)
        if admission.allowed:
            return None
        why = f"{admission.shown} A question was due, because: {decision.reason}"
        return self._refused(entry, admission.reason, shown=admission.shown, why=why)

    async def _admit(self, entry: CallEntry, invocation: Invocation, decision: Decision) -> None:
        """Record that a call is going to run, and make the sandbox of its commands."""
        await self._audit.begins(entry, decision, place=self._gate.place(decision))
        ask, record = partial(self._host_is_allowed, entry), partial(self._audit.connected, entry)
        await self._gate.admitted(entry.call.name, invocation)
        entry.decision = decision
        entry.sources = tuple(map(self._redactor, self._gate.sources(decision, invocation)))
        entry.sandbox = await self._gate.sandbox(decision, invocation, ask=ask, record=record)
        entry.aftermath = await self._gate.aftermath(decision)

    async def _host_is_allowed(self, entry: CallEntry, decision: Decision) -> bool:
        """Ask a person about an address that a running command wants to reach."""
        assert entry.invocation is not None
        question = question_about(entry.invocation, decision, preview=(), arguments=parse_arguments(entry.call))
        return (await self._ask(entry, decision, question)).allowed

    async def _ask(self, entry: CallEntry, decision: Decision, question: PermissionQuestion) -> Admission:
        """Ask a person, unless a hook refuses in their place."""
        if (refused := await self._hooks.before_question(entry)) is not None:
            return Admission(allowed=False, reason=f"Not allowed: {refused}", shown=f"A hook refused it: {refused}")
        async with self._waiting.for_person():
            admission = await self._gate.ask(question, call_id=entry.call.id)
        await self._audit.answered(entry, decision, admission.choice)
        return admission

    async def _may_run_again(self, entry: CallEntry, invocation: Invocation, hindrance: Hindrance) -> bool:
        """Return whether a command that failed because it may only read runs again; it then has a wider sandbox."""
        if entry.decision is None or entry.decision.reach != "reading":
            return False
        decision = self._gate.again(hindrance)
        entry.limit.deadline = math.inf
        refused = decision.verdict == "ask" and await self._refusal(entry, invocation, decision) is not None
        entry.limit.deadline = anyio.current_time() + LONGEST_CALL
        if refused or decision.verdict == "deny":
            entry.refusal = None  # it did run
            return False
        await self._admit(entry, invocation, decision)
        return True

    def _refused(self, entry: CallEntry, reason: str, *, why: str, shown: str = "") -> ToolResult:
        """The result of a call that is not run; `why` is kept for people."""
        entry.refusal = self._redactor(why)
        return failed_result(reason, shown=shown)

    def _repeated(self, entry: CallEntry) -> str | None:
        """The reason to refuse a call that was made too often, or None."""
        reason = self.repetition.refusal(entry.call.name, entry.call.arguments)
        entry.repeated = reason is not None
        if reason is not None:
            entry.refusal = f"A built-in protection decided this: {reason.removeprefix('Not run. ')}"
        return reason

    def _told(self, entry: CallEntry, error: BaseException) -> str:
        """The text for the model about an error that a tool raised.

        Raises:
            BaseException: `error`, when it is not the tool's: the call is cancelled, or the journal fails.
        """
        if is_cancellation(error) or isinstance(error, StoreError):
            raise error
        words = vars(error).get("message") if isinstance(error, ClawError) else None
        if isinstance(words, str):
            return words
        incident = new_id("inc", clock=self._clock)
        log.error("tool failed", exc_info=error, extra={"tool": entry.call.name, "incident": incident})
        whose = f" (of the package {entry.package})" if entry.package else ""
        kind = type(error).__name__
        return f"{entry.call.name}{whose} failed unexpectedly with {kind}; the log has it as {incident}."

    # ------------------------------------------------------------------ results

    async def _finish(self, entry: CallEntry, result: ToolResult) -> None:
        if not entry.repeated:
            changes, seconds = not result.failed and entry.may_change, entry.took(self._clock)
            call = entry.call
            result = self.repetition.watched(call.name, call.arguments, result, changes=changes, seconds=seconds)
        await self._end(entry, result, status="failed" if result.failed else "completed")

    async def _interrupt(self, entry: CallEntry, *, status: ToolStatus) -> None:
        """End a call together with its turn. The commit is not waited for: without it the history says the same."""
        known = None
        with self._session.cleanup_scope():
            known = await self._so_far(entry)
        with self._session.cleanup_scope():
            reason = INTERRUPTED if entry.begun else NEVER_RAN
            await self._end(entry, broken_off(reason, known), status=status, committed=False)

    async def _end_unbegun(self, entry: CallEntry) -> None:
        """End a call that was cancelled while it waited for those before it."""
        if not (entry.turn or entry.done):
            await self._end(entry, failed_result(CANCELLED_BEFORE), status="cancelled")

    async def _so_far(self, entry: CallEntry) -> ToolResult | None:
        try:
            known = None if entry.invocation is None else await entry.invocation.so_far()
            return None if known is None else await self._presentable(entry, known)
        except BaseException as error:  # noqa: BLE001 - the tool wall: it is logged, and the call ends without
            self._told(entry, error)
            return None

    async def _end(self, entry: CallEntry, result: ToolResult, *, status: ToolStatus, committed: bool = True) -> None:
        shown = result.content
        if shown is None:
            shown = tuple(PartContent(part=part) for part in result.parts)
        entry.done, entry.asks = True, result.asks
        self._session.work.call_ends(entry.call.id)
        change = ToolCallChanged(
            item=entry.call.id, status=status, content=shown, raw_output=result.raw, output=result.parts,
            refusal=entry.refusal, sources=entry.sources or None,
        )  # fmt: skip
        await self._audit.ended(entry, status=status, seconds=entry.took(self._clock))
        await tell(self._session, entry.sources, clock=self._clock)
        await self._session.publish(change, committed=committed)
