"""Calls that a turn makes of itself, and that run only if nobody has to be asked."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from claw_acp.agent.call_audit import CallAudit
from claw_acp.agent.call_entry import CallEntry
from claw_acp.agent.call_hooks import CallHooks
from claw_acp.agent.gate import Gate
from claw_acp.agent.redacted import redacted_json
from claw_acp.audit.log import AuditUnwritable
from claw_acp.contracts.tool import Access, Invocation
from claw_acp.contracts.unasked_calls import UnaskedCalls
from claw_acp.core.clock import Clock
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ToolCall
from claw_acp.core.redaction import redact


class TurnUnaskedCalls(UnaskedCalls):
    """See `UnaskedCalls`. Rules, mode, hooks and the audit log know no difference to the calls of a model."""

    def __init__(self, *, gate: Gate, hooks: CallHooks, audit: CallAudit, clock: Clock) -> None:
        self._gate = gate
        self._hooks = hooks
        self._audit = audit
        self._clock = clock

    def allows(self, tool: str, accesses: Sequence[Access]) -> bool | None:
        """See `UnaskedCalls`."""
        return self._gate.allows(tool, accesses)

    async def run(self, tool: str, arguments: JsonObject, invocation: Invocation) -> bool:
        """See `UnaskedCalls`."""
        decision = self._gate.decide(tool, invocation)
        if decision.verdict != "allow":
            return False
        call = ToolCall(id=new_id("call", clock=self._clock), name=tool, arguments=json.dumps(arguments))
        entry = CallEntry(
            call=call, tool=None, invocation=invocation, arguments=redacted_json(arguments, redactor=redact)
        )
        heard = await self._hooks.before(entry)
        if heard.cancel is not None or heard.ask or entry.call is not call:
            return False
        try:
            await self._audit.begins(entry, decision, place="")
        except AuditUnwritable:
            return False
        entry.begun, entry.began = True, self._clock.monotonic()
        done = False
        try:
            await self._hooks.after(entry, await invocation.run())
            done = True
        finally:
            await self._audit.ended(entry, status="completed" if done else "failed", seconds=entry.took(self._clock))
        return True


if TYPE_CHECKING:
    _conforms: type[UnaskedCalls] = TurnUnaskedCalls
